#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# The device commands against the driver: add, rm, ls, show, set, save, restore
# and stat, every bad value of every attribute, and removal while in use.
#
# modes: wall
# kernels: all
# programs: mkfs.ext2
# machine: --module ext4 --add configs
#
# shellcheck source=tests/tap.sh
. "$(dirname "$0")/../tap.sh"

TARE=${TARE:-tare}
config=/sys/kernel/config/tare
tmp=$(mktemp -d) || exit 1

# A file of configfs, "-" when it is not there.
value()
{
	cat "$config/$1/$2" 2> /dev/null || echo -
}

# Long enough that a test that waits for a holder can see it.
hold()
{
	sh -c 'exec 3< "$0"; exec sleep 60' "/dev/$1" &
	holder=$!
}

let_go()
{
	kill "$holder"
	wait "$holder" 2> /dev/null
}

devices()
{
	"$TARE" ls -o csv | tail -n +2 | cut -d, -f1 | tr '\n' ' '
}

add_and_remove()
{
	check "add" "$TARE" add t0
	check_is "its disk is there" "$([ -b /dev/t0 ] && echo yes)" yes
	check_is "it is on" "$(value t0 power)" 1
	check_exit 1 "a second one of the same name" "$TARE" add t0
	check_is "left the first alone" "$(value t0 power)" 1
	check "rm" "$TARE" rm t0
	check_is "its disk is gone" "$([ -e /dev/t0 ] && echo yes)" ""
	check_exit 1 "rm of nothing" "$TARE" rm t0
	check "add with attributes" "$TARE" add t1 size_mb=64 read_ns=5000 completion=complete
	check_is "size" "$(blockdev --getsize64 /dev/t1)" 67108864
	check_is "read_ns" "$(value t1 read_ns)" 5000
	check_is "completion" "$(value t1 completion)" complete
	check "add without power" "$TARE" add t2 --no-power
	check_is "is off" "$(value t2 power)" 0
	check_is "has no disk" "$([ -e /dev/t2 ] && echo yes)" ""
	check_is "ls knows both" "$(devices)" "t1 t2 "
	check "rm --all" "$TARE" rm --all
	check_is "nothing is left" "$(devices)" ""
}

profiles()
{
	for profile in $("$TARE" add --profiles); do
		check "profile $profile" "$TARE" add p -p "$profile"
		check "rm" "$TARE" rm p
	done
	check "the command line has the last word" "$TARE" add p -p null read_ns=7
	check_is "over the profile" "$(value p read_ns)" 7
	"$TARE" rm p
	"$TARE" add --dry-run p -p sata-ssd size_mb=33 > "$tmp/commands"
	check "--dry-run prints commands that work" sh -e "$tmp/commands"
	check_is "with the size" "$(value p size_mb)" 33
	check_is "and the profile" "$(value p write_ns)" 40883
	"$TARE" rm p
}

# Values that no attribute takes, written by hand: the kernel's own refusal.
bad_forms="+1 0x10 010 1.5 1e3 -0 word 99999999999999999999999 1k"

refuse()
{
	check_exit 2 "add refuses $1='$2'" "$TARE" add bad "$1=$2"
	check_is "nothing is left" "$([ -d "$config/bad" ] && echo yes)" ""
	before=$(value t0 "$1")
	if printf '%s' "$2" > "$config/t0/$1" 2> /dev/null; then
		tap_result 1 "the driver refuses $1='$2'"
	else
		tap_result 0 "the driver refuses $1='$2'"
	fi
	check_is "and keeps $1" "$(value t0 "$1")" "$before"
}

take()
{
	check "the driver takes $1=$2" sh -c "printf %s '$2' > $config/t0/$1"
	check_is "and reads it back" "$(value t0 "$1")" "$2"
}

one_attribute()
{
	attr=$1
	min=$2
	max=$3
	for form in $bad_forms; do
		refuse "$attr" "$form"
	done
	refuse "$attr" " 1"
	refuse "$attr" "1 "
	check_exit 2 "add refuses $attr=''" "$TARE" add bad "$attr="
	[ "$min" = - ] && return
	refuse "$attr" $((min - 1))
	refuse "$attr" $((max + 1))
	take "$attr" "$min"
	take "$attr" "$max"
}

bad_values()
{
	"$TARE" show --attributes -o csv | tail -n +2 > "$tmp/attributes"
	"$TARE" add t0 --no-power
	while IFS=, read -r attr default allowed change _; do
		[ "$change" = never ] && continue
		case $allowed in
		*…*) one_attribute "$attr" "${allowed%% …*}" "${allowed##*… }" ;;
		"0 or 1") one_attribute "$attr" 0 1 ;;
		*) one_attribute "$attr" - - ;;
		esac
		check "default of $attr" "$TARE" set t0 "$attr=$default"
	done < "$tmp/attributes"
	for size in 513 1000 1536 4095; do
		refuse block_size $size
	done
	refuse completion Timer
	check_exit 2 "store_pages cannot be set" "$TARE" set t0 store_pages=1
	check_exit 2 "an unknown attribute" "$TARE" set t0 colour=1
	check_is "features has every attribute" \
		"$(cut -d, -f1 "$tmp/attributes" | sort | tr '\n' ' ')" \
		"$(grep -v '^power$' "$config/features" | sort | tr '\n' ' ')"
	"$TARE" rm t0
}

# What has to fit together is refused before anything is made, or by the driver.
combinations()
{
	check_exit 2 "prealloc without memory_backed" "$TARE" add c prealloc=1
	check_exit 2 "a long wait with the CPU in hand" \
		"$TARE" add c completion=inline read_ns=1000001
	check_exit 2 "the same in two times" \
		"$TARE" add c completion=complete write_cache=1 write_ns=600000 flush_ns=600000
	check_exit 2 "a store that is too big" \
		"$TARE" add c memory_backed=1 size_mb=16777217
	check_says 1 submit_queues "more queues than CPUs: the kernel says why" \
		"$TARE" add c submit_queues=4096
	check_says 1 home_node "no such node: the kernel says why" \
		"$TARE" add c home_node=1023
	check_is "nothing is left" "$(devices)" ""
}

changing()
{
	"$TARE" add t0
	check "set a live one" "$TARE" set t0 read_ns=1 write_ns=2
	check_is "first" "$(value t0 read_ns)" 1
	check_is "second" "$(value t0 write_ns)" 2
	check_says 1 "size_mb" "one that needs power off" \
		"$TARE" set t0 read_ns=5 size_mb=10
	check_is "changed nothing" "$(value t0 read_ns)" 1
	check "off, changed, on" "$TARE" set t0 power=0 size_mb=10 power=1
	check_is "the disk has the size" "$(blockdev --getsize64 /dev/t0)" 10485760
	check "a mode" "$TARE" set t0 completion=inline
	check_exit 1 "what does not fit it" "$TARE" set t0 write_ns=3 read_ns=2000000
	check_is "what came before is put back" "$(value t0 write_ns)" 2
	check_exit 1 "power that cannot come back" \
		"$TARE" set t0 power=0 submit_queues=4096 power=1
	check_is "is put back: queues" "$(value t0 submit_queues)" 1
	check_is "is put back: power" "$(value t0 power)" 1
	check_says 0 10485760 "show says json" sh -c \
		"'$TARE' show t0 size_mb -o json | grep -q '\"value\": 10' && blockdev --getsize64 /dev/t0"
	check_exit 1 "show of nothing" "$TARE" show t9
	check_exit 2 "show of an unknown attribute" "$TARE" show t0 colour
	"$TARE" rm t0
}

in_use()
{
	"$TARE" add t0
	hold t0
	check_says 1 "sleep[$holder]" "rm while open names the holder" "$TARE" rm t0
	check_is "it stays" "$(value t0 power)" 1
	check_says 0 "sleep[$holder]" "ls names it" "$TARE" ls
	(sleep 1; kill "$holder") &
	check "rm waits for one that lets go" "$TARE" rm t0
	wait
	"$TARE" add t0 size_mb=64 memory_backed=1
	mkswap /dev/t0 > /dev/null && swapon /dev/t0 2> /dev/null
	if grep -q /dev/t0 /proc/swaps; then
		check_says 1 swap "rm of a swap" "$TARE" rm t0
		swapoff /dev/t0
	else
		skip "rm of a swap" "this kernel cannot swap to it"
	fi
	if mkfs.ext2 /dev/t0 > /dev/null 2>&1 &&
	   mkdir -p "$tmp/mount point" &&
	   mount -t ext4 /dev/t0 "$tmp/mount point" 2> /dev/null; then
		check_says 1 "$tmp/mount point" "rm of a mounted one" "$TARE" rm t0
		check_says 0 "$tmp/mount point" "ls says where" "$TARE" ls
		umount "$tmp/mount point"
	else
		skip "rm of a mounted one" "no mkfs or no file system here"
	fi
	check "rm at last" "$TARE" rm t0
	"$TARE" add t0
	"$TARE" add t1
	hold t0
	check_exit 1 "rm --all with one in use" "$TARE" rm --all
	check_is "removes the others" "$(devices)" "t0 "
	let_go
	check "rm" "$TARE" rm t0
}

# A holder of a partition holds the disk, which the kernel says of neither.
partitions()
{
	"$TARE" add t0 size_mb=64 memory_backed=1
	printf 'n\np\n1\n\n\nw\n' | fdisk /dev/t0 > /dev/null 2>&1
	if [ -b /dev/t0p1 ]; then
		hold t0p1
		check_says 1 "sleep[$holder]" "rm names who holds a partition" "$TARE" rm t0
		let_go
	else
		skip "rm names who holds a partition" "no partition was made"
	fi
	check "rm" "$TARE" rm t0
}

# Without devtmpfs the disk's node never comes.
no_node()
{
	hide="mount -t tmpfs none /dev && exec"
	if ! unshare -m sh -c "$hide true" 2> /dev/null; then
		skip "no node" "no mount name space here"
		return
	fi
	check_says 1 "has not appeared" "a node that does not come" \
		unshare -m sh -c "$hide '$TARE' add t0"
	check_is "leaves nothing" "$(devices)" ""
	check_says 1 interrupted "Ctrl-C while waiting for it" \
		unshare -m sh -c "$hide timeout -s INT 1 '$TARE' add t0"
	check_is "leaves nothing" "$(devices)" ""
}

# Ctrl-C and a kill at any time: a device is there and on, or not at all.
interrupted()
{
	for us in 0 1000 3000 5000 8000 12000 20000 40000 80000; do
		"$TARE" add t0 size_mb=20 read_ns=1 write_ns=2 -q 2> /dev/null &
		pid=$!
		usleep $us
		kill -INT $pid 2> /dev/null
		kill -TERM $pid 2> /dev/null
		wait $pid 2> /dev/null
		if [ -d "$config/t0" ]; then
			check_is "made whole when interrupted after $us us" \
				"$(value t0 power) $(value t0 write_ns)" "1 2"
			"$TARE" rm t0
		else
			tap_result 0 "not made when interrupted after $us us"
		fi
	done
}

# Two at once for one name: one of them makes it.
at_once()
{
	"$TARE" add t0 2> /dev/null &
	first=$!
	"$TARE" add t0 2> /dev/null &
	second=$!
	wait $first
	code=$?
	wait $second
	check_is "two at once: one makes it" $((code + $?)) 1
	check_is "and it is on" "$(value t0 power)" 1
	"$TARE" rm t0 2> /dev/null &
	first=$!
	"$TARE" rm t0 2> /dev/null &
	second=$!
	wait $first
	wait $second
	check_is "two at once remove it" "$(devices)" ""
}

# as_nobody COMMAND…, whose words hold no blanks.
as_nobody()
{
	su -s /bin/sh nobody -c "$*"
}

without_root()
{
	grep -q '^nobody:' /etc/passwd ||
		echo 'nobody:x:65534:65534::/:/bin/sh' >> /etc/passwd
	if ! as_nobody true 2> /dev/null; then
		skip "without root" "cannot become somebody else here"
		return
	fi
	"$TARE" add t0
	for command in "add t1" "rm t0" "set t0 read_ns=1" "stat t0"; do
		check_says 77 root "$command without root" as_nobody "$TARE" "$command"
	done
	check "ls without root" as_nobody "$TARE" ls
	check "show without root" as_nobody "$TARE" show t0
	check "save without root" as_nobody "$TARE" save -
	check_is "doctor without root" \
		"$(as_nobody "$TARE" doctor -o csv | head -n 1)" "topic,level,found,why,todo"
	"$TARE" rm t0
}

saving()
{
	"$TARE" add a size_mb=11 read_ns=123 completion=complete
	"$TARE" add b --no-power memory_backed=1 block_size=4096
	check "save" "$TARE" save "$tmp/saved"
	"$TARE" show -o csv > "$tmp/before"
	check_exit 1 "restore over devices" "$TARE" restore "$tmp/saved"
	"$TARE" set a power=0 size_mb=5 read_ns=9
	check "restore --replace" "$TARE" restore --replace "$tmp/saved"
	"$TARE" show -o csv > "$tmp/after"
	check "gives the same" cmp "$tmp/before" "$tmp/after"
	"$TARE" rm --all
	check "restore" "$TARE" restore "$tmp/saved"
	"$TARE" show -o csv > "$tmp/after"
	check "gives the same" cmp "$tmp/before" "$tmp/after"
	"$TARE" rm --all
	sed 's/"submit_queues": 1/"submit_queues": 4096/' "$tmp/saved" |
		sed 's/"power": false/"power": true/' > "$tmp/bad"
	check_exit 1 "one that the driver refuses" "$TARE" restore "$tmp/bad"
	check_is "leaves none" "$(devices)" ""
	sed '/"name": "b"/,$ s/"submit_queues": 1/"submit_queues": 4096/' "$tmp/saved" |
		sed 's/"power": false/"power": true/' > "$tmp/bad"
	check_exit 1 "the second that is refused" "$TARE" restore "$tmp/bad"
	check_is "takes the first with it" "$(devices)" ""
	"$TARE" add a size_mb=22
	check_exit 1 "the same with --replace" "$TARE" restore --replace "$tmp/bad"
	check_is "puts the old one back" "$(value a size_mb)" 22
	check_is "alone" "$(devices)" "a "
	"$TARE" rm --all
	check "through a pipe" sh -c "'$TARE' save - | '$TARE' restore -"
}

# The field of a line of the CSV tables: csv FILE HEAD-OF-LINE FIELD
csv()
{
	grep "^$2" "$1" | head -n 1 | cut -d, -f"$3"
}

statistics()
{
	"$TARE" add t0 -p null discard=1 write_cache=1
	sleep 1
	check "stat --reset" "$TARE" stat t0 --reset
	dd if=/dev/t0 of=/dev/null bs=4096 count=100 iflag=direct 2> /dev/null
	dd if=/dev/zero of=/dev/t0 bs=4096 count=50 oflag=direct 2> /dev/null
	check "stat" "$TARE" stat t0 -o csv
	cp "$tap_out" "$tmp/stat"
	check_is "reads" "$(csv "$tmp/stat" t0,read, 3)" 100
	check_is "bytes read" "$(csv "$tmp/stat" t0,read, 4)" 409600
	check_is "writes" "$(csv "$tmp/stat" t0,write, 3)" 50
	check_is "the rows' counts" "$(csv "$tmp/stat" t0,read,device 4)" 100
	check_is "a device that takes no time" "$(csv "$tmp/stat" t0,read,device 11)" 0
	check_is "the path" "$(sed -n '/^device,path_inline/{n;p;}' "$tmp/stat" | cut -d, -f2)" 150
	check_says 0 '"kind": "stat"' "as json" "$TARE" stat t0 -o json
	check_says 0 below_tsc "with histograms" "$TARE" stat --histogram -o csv
	check "of one CPU" "$TARE" stat t0 --cpu 0
	check_exit 2 "of a CPU that is not there" "$TARE" stat t0 --cpu 70000
	check "intervals" "$TARE" stat t0 -i 0.2 -n 2 -o csv
	check_is "two and the sum" "$(grep -c '^section,' "$tap_out")" 3
	"$TARE" stat t0 -i 60 > "$tmp/summary" &
	pid=$!
	sleep 1
	kill -INT $pid
	wait $pid
	check_is "Ctrl-C ends well" $? 0
	check "with a summary" grep -q "All intervals" "$tmp/summary"
	check "zero" "$TARE" stat t0 --reset
	check "and it is zero" "$TARE" stat t0 -o csv
	check_is "reads" "$(csv "$tap_out" t0,read, 3)" 0
	"$TARE" set t0 power=0
	check_exit 1 "of one that is off" "$TARE" stat t0
	check "of all leaves it out" "$TARE" stat
	"$TARE" rm t0
	check_exit 1 "of nothing" "$TARE" stat t0
}

# Readings are whole while requests end on every CPU, and resets lose nothing.
under_load()
{
	"$TARE" add t0 memory_backed=1 size_mb=8 completion="$1" read_ns=1000 write_ns=1000
	for _ in 1 2 3; do
		while dd if=/dev/zero of=/dev/t0 bs=4096 count=2000 oflag=direct; do
			:
		done 2> /dev/null &
		loads="$loads $!"
	done
	check "stat while it works, $1" "$TARE" stat t0 -i 0.1 -n 20 -o csv
	cp "$tap_out" "$tmp/load"
	check_is "something was written" \
		"$([ "$(csv "$tmp/load" t0,write, 3)" -gt 0 ] && echo yes)" yes
	wrong=0
	for _ in 1 2 3 4 5 6 7 8 9 10; do
		"$TARE" stat t0 --reset > /dev/null || wrong=$((wrong + 1))
	done
	check_is "stat --reset while it works" "$wrong" 0
	# shellcheck disable=SC2086 # words on purpose
	kill $loads
	# shellcheck disable=SC2086
	wait $loads 2> /dev/null
	loads=
	check_is "pages of the store" "$(value t0 store_pages)" 2000
	check "rm" "$TARE" rm t0
}

default_groups()
{
	rmmod tare_blk || return
	modprobe tare_blk nr_devices=2 size_mb=16 read_ns=77
	check_is "two from the parameters" "$(devices)" "tare0 tare1 "
	check_is "as they say" "$(value tare1 read_ns)" 77
	check "can be set" "$TARE" set tare0 read_ns=5
	check_says 1 "unload the module" "rm says what to do" "$TARE" rm tare0
	check_is "and switches off" "$(value tare0 power)" 0
	check "can be switched on again" "$TARE" set tare0 power=1
	check "save" "$TARE" save "$tmp/saved"
	"$TARE" set tare0 read_ns=6
	check "restore --replace" "$TARE" restore --replace "$tmp/saved"
	check_is "gives it back" "$(value tare0 read_ns)" 5
	check_exit 1 "rm --all" "$TARE" rm --all
}

without_driver()
{
	modprobe -r tare_blk
	check_says 77 "modprobe tare_blk" "without the driver" "$TARE" ls
}

modprobe tare_blk nr_devices=0 || exit 1
add_and_remove
profiles
bad_values
combinations
changing
in_use
partitions
no_node
interrupted
at_once
without_root
saving
statistics
loads=
under_load timer
under_load complete
under_load inline
default_groups
without_driver
rm -rf "$tmp"
tap_end

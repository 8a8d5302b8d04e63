#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# modes: wall
# kernels: all
# programs: mkfs.ext4 attrs load
#
# The driver's configuration: configfs and module parameters, every attribute,
# every refusal, and what the queue then looks like. Guarded: a value is taken
# as it stands or refused with one line that says why; nothing is clamped or
# rounded; a device in use stays; modules go when nobody uses them.
#
# shellcheck source=tests/guest/lib/driver.sh
. "$(dirname "$0")/lib/driver.sh"

long31=abcdefghijklmnopqrstuvwxyz01234

names()
{
	for name in Upper dot.ted "two words" pl+us "${long31}5" 'a!b' 'é'; do
		log_mark
		check_says 1 "Invalid argument" "the name '$name'" \
			mkdir "$config/$name"
		said "the name '$name'" "device name refused" "1 to 31"
	done
	for name in null tare; do
		log_mark
		check_says 1 "File exists" "the name $name, taken in /dev" \
			mkdir "$config/$name"
		said "the name $name" "there is a /dev/$name already"
	done
	check_says 1 "File exists" "the name of the features file" \
		mkdir "$config/features"
	for name in "$long31" - _ 0 a-b_c; do
		check "the name $name" mkdir "$config/$name"
		check_says 1 "File exists" "the name $name again" \
			mkdir "$config/$name"
		power "$name" 1
		check_is "its disk" "$([ -b "/dev/$name" ] && echo there)" there
		power "$name" 0
		check_is "its disk without power" "$([ -e "/dev/$name" ] && echo there)" ""
		check "rmdir $name" rmdir "$config/$name"
	done
	make late
	: > /dev/late
	log_mark
	check_is "a name taken before power came" "$(put late power 1)" EEXIST
	said "a name taken before power came" "there is a /dev/late already"
	rm /dev/late
	check_is "and when it is free again" "$(put late power 1)" 0
	del late
}

attributes()
{
	attrs list > "$tmp/attrs"
	check_is "features has every attribute, power last" \
		"$(cat "$config/features")" "$(cut -d' ' -f1 "$tmp/attrs"; echo power)"
	check_is "features cannot be written" \
		"$(echo 1 | attrs put "$config/features" 2>&1 | grep -c "denied")" 1
	make t
	check_is "a device has these files and no others" \
		"$(find "$config/t" -type f | sed 's:.*/::' | sort)" \
		"$(sort "$config/features")"
	check_is "power is off" "$(value t power)" 0
	subtests attrs defaults "$config/t"
	subtests attrs bad "$config/t"
	subtests attrs good "$config/t"
	for bad in 2 -1 "" 01 "1 " " 1" on '1\n\n' '1\0001'; do
		log_mark
		check_is "power='$bad'" "$(put t power "$bad\n")" EINVAL
		said "power='$bad'" power "0 or 1"
		check_is "it stays off" "$(value t power)" 0
	done
	for on in 1 '1\n'; do
		check_is "power on" "$(put t power "$on")" 0
		check_is "again" "$(put t power "$on")" 0
		check_is "reads 1" "$(value t power)" 1
		check_is "power off" "$(put t power 0)" 0
		check_is "again" "$(put t power '0\n')" 0
		check_is "reads 0" "$(value t power)" 0
	done
	power t 1
	subtests attrs powered "$config/t"
	check_says 1 "busy" "rmdir with power" rmdir "$config/t"
	del t
}

in_use()
{
	add t memory_backed=1 size_mb=64
	hold t
	check_is "power=0 while it is open" "$(put t power 0)" EBUSY
	check_is "it stays on" "$(value t power)" 1
	check "and works" dd if=/dev/t of=/dev/null bs=4096 count=1 iflag=direct
	let_go
	mkfs.ext4 -q /dev/t && mount -t ext4 /dev/t /mnt
	check_is "power=0 while it is mounted" "$(put t power 0)" EBUSY
	check "and its file system works" sh -c 'echo x > /mnt/x && sync'
	umount /mnt
	check_is "power=0 afterwards" "$(put t power 0)" 0
	check "rmdir" rmdir "$config/t"
}

# refused_together TEXT WORDS ATTR=VALUE…: each value is good, together not.
refused_together()
{
	text=$1
	words=$2
	shift 2
	make t "$@"
	log_mark
	check_is "$text" "$(put t power 1)" EINVAL
	said "$text" "$words"
	check_is "its disk" "$([ -e /dev/t ] && echo there)" ""
	power t 0
	rmdir "$config/t"
	rmmod tare_blk
	log_mark
	check_exit 1 "$text, as parameters" modprobe tare_blk "$@"
	said "$text, as parameters" "$words"
	check_is "nothing is left" "$(devices)$(grep -c ^tare_blk /proc/modules)" 0
}

combinations()
{
	rmmod tare_blk
	possible=$(sed 's/.*-//' /sys/devices/system/cpu/possible)
	refused_together "prealloc without memory_backed" prealloc prealloc=1
	refused_together "inline with 2 ms" completion \
		completion=inline read_ns=2000000
	refused_together "complete with a flush of 1.000001 ms" completion \
		completion=complete flush_ns=1000001
	refused_together "inline, FUA write takes write_ns + flush_ns" completion \
		completion=inline write_cache=1 write_ns=600000 flush_ns=600000
	refused_together "more queues than CPUs" submit_queues \
		submit_queues=$((possible + 2))
	refused_together "a node that is not there" home_node home_node=1023
	refused_together "a queue for each node and two" use_per_node_hctx \
		use_per_node_hctx=1 submit_queues=2
	refused_together "a store that is too big" size_mb \
		memory_backed=1 size_mb=16777217
	# The kernel rounds to whole blocks, and a block may be in as many pieces
	# as it has sectors: what cannot be had is refused.
	refused_together "max_sectors_kb=5 with 4096 byte blocks" max_sectors_kb \
		block_size=4096 max_sectors_kb=5
	refused_together "max_segments=7 with 4096 byte blocks" max_segments \
		block_size=4096 max_segments=7
	modprobe tare_blk nr_devices=0
	add t read_ns=2000000
	log_mark
	check_is "inline while a service time is 2 ms" \
		"$(put t completion inline)" EINVAL
	said "inline while a service time is 2 ms" completion
	check_is "the mode stays" "$(value t completion)" timer
	put t read_ns 1000000 > /dev/null
	check_is "inline with 1 ms" "$(put t completion inline)" 0
	log_mark
	check_is "more than 1 ms while inline" "$(put t read_ns 1000001)" EINVAL
	check_is "the time stays" "$(value t read_ns)" 1000000
	del t
	add t memory_backed=1 size_mb=16777216
	check_is "the largest store" "$(blockdev --getsize64 /dev/t)" 17592186044416
	check "its last block" dd if=/dev/zero of=/dev/t bs=4096 count=1 \
		seek=4294967295 oflag=direct
	check_is "takes one page" "$(value t store_pages)" 1
	del t
	add t size_mb=1073741824
	check_is "the largest disk" "$(blockdev --getsize64 /dev/t)" 1125899906842624
	del t
}

hardware_queues()
{
	if [ "$(value t use_per_node_hctx)" = 1 ]; then
		find /sys/devices/system/node -maxdepth 1 -name 'node[0-9]*' | wc -l
	else
		value t submit_queues
	fi
}

# limits ATTR=VALUE…: the queue says what was asked, defaults for the rest.
limits()
{
	add t "$@" || return
	bs=$(value t block_size)
	kb=$(value t max_sectors_kb)
	check_is "$*: logical_block_size" "$(queue t logical_block_size)" "$bs"
	check_is "$*: physical_block_size" "$(queue t physical_block_size)" "$bs"
	check_is "$*: max_sectors_kb" "$(queue t max_sectors_kb)" "$kb"
	check_is "$*: max_hw_sectors_kb" "$(queue t max_hw_sectors_kb)" "$kb"
	check_is "$*: max_segments" "$(queue t max_segments)" "$(value t max_segments)"
	check_is "$*: nr_requests" "$(queue t nr_requests)" "$(value t queue_depth)"
	check_is "$*: rotational" "$(queue t rotational)" "$(value t rotational)"
	case $(value t write_cache) in
	1) cache="write back" fua=$(value t fua) ;;
	*) cache="write through" fua=0 ;;
	esac
	check_is "$*: write_cache" "$(queue t write_cache)" "$cache"
	check_is "$*: fua" "$(queue t fua)" "$fua"
	offered=$(value t discard)
	for limit in discard_max_bytes discard_max_hw_bytes write_zeroes_max_bytes; do
		check_is "$*: $limit" "$(( $(queue t $limit) > 0 ))" "$offered"
	done
	[ "$offered" = 0 ] || check_is "$*: discard_granularity" \
		"$(queue t discard_granularity)" "$bs"
	if [ "$(value t no_sched)" = 1 ]; then
		check_is "$*: no scheduler can be had" "$(queue t scheduler | tr -d "[] ")" none
	else
		check_is "$*: scheduler" "$(queue t scheduler | grep -o '\[.*\]')" "[none]"
	fi
	check_is "$*: virt_boundary_mask" "$(queue t virt_boundary_mask)" \
		"$(( $(value t virt_boundary) * 4095 ))"
	for flag in no_sched=NO_SCHED blocking=BLOCKING \
		shared_tag_bitmap=TAG_HCTX_SHARED; do
		check_is "$*: flag ${flag#*=}" \
			"$(grep -cE "(^|[| ])${flag#*=}([|]|\$)" /sys/kernel/debug/block/t/hctx0/flags)" \
			"$(value t "${flag%%=*}")"
	done
	check_is "$*: hardware queues" \
		"$(find /sys/block/t/mq -mindepth 1 -maxdepth 1 | wc -l)" \
		"$(hardware_queues)"
	check_is "$*: size" "$(cat /sys/block/t/size)" \
		"$(( $(value t size_mb) * 2048 ))"
	check "$*: it reads" dd if=/dev/t of=/dev/null bs=64k count=2 iflag=direct
	del t
}

queues()
{
	limits
	limits block_size=4096 max_sectors_kb=4 max_segments=8 queue_depth=1
	limits max_sectors_kb=4 max_segments=1
	limits block_size=1024 max_sectors_kb=32768 max_segments=65535 \
		queue_depth=10240
	limits rotational=1 write_cache=1 discard=1 size_mb=1
	limits write_cache=1 fua=0 block_size=2048 discard=1
	possible=$(($(sed 's/.*-//' /sys/devices/system/cpu/possible) + 1))
	limits home_node=0 submit_queues=$possible
	limits use_per_node_hctx=1 virt_boundary=1
	limits no_sched=1 shared_tag_bitmap=1 submit_queues=$possible
	limits blocking=1 virt_boundary=1 max_sectors_kb=64
	for completion in inline complete timer; do
		add t blocking=1 memory_backed=1 virt_boundary=1 no_sched=1 \
			completion=$completion submit_queues=$possible
		check "blocking, $completion: it works" \
			load -o mix -n 50 -t 3 /dev/t
		del t
	done
	shared_depth
}

# However many queues there are, two requests are under way: 16 take 400 ms.
shared_depth()
{
	add t shared_tag_bitmap=1 submit_queues=$possible queue_depth=2 \
		read_ns=50000000
	start=$(awk '{ printf "%d", $1 * 1000 }' /proc/uptime)
	check "eight readers of a depth of two" load -n 2 -t 8 -c 0 /dev/t
	took=$(($(awk '{ printf "%d", $1 * 1000 }' /proc/uptime) - start))
	check_is "their time, $took ms, is not below 390" "$((took >= 390))" 1
	del t
}

default_devices()
{
	rmmod tare_blk
	modprobe tare_blk size_mb=16 read_ns=77
	check_is "one by default" "$(devices)" "tare0 "
	check_is "with power" "$(value tare0 power)" 1
	check_is "its size" "$(blockdev --getsize64 /dev/tare0)" 16777216
	check_is "its time" "$(value tare0 read_ns)" 77
	check_is "set with power" "$(put tare0 read_ns 78)" 0
	check_is "refused with power" "$(put tare0 size_mb 17)" EBUSY
	check_exit 1 "rmdir with power" rmdir "$config/tare0"
	hold tare0
	check_is "power=0 while it is open" "$(put tare0 power 0)" EBUSY
	check_exit 1 "rmmod while it is open" rmmod tare_blk
	let_go
	check_is "power=0" "$(put tare0 power 0)" 0
	check_is "its disk is gone" "$([ -e /dev/tare0 ] && echo there)" ""
	check_exit 1 "rmdir without power" rmdir "$config/tare0"
	check_is "set without power" "$(put tare0 size_mb 17)" 0
	check_is "power=1" "$(put tare0 power 1)" 0
	check_is "the new size" "$(blockdev --getsize64 /dev/tare0)" 17825792
	check_exit 1 "mkdir of its name" mkdir "$config/tare0"
	check "rmmod takes it along" rmmod tare_blk
	check_is "nothing is left" "$(devices)$(ls /dev/tare0 2> /dev/null)" ""
	modprobe tare_blk nr_devices=3 completion=complete
	check_is "three" "$(devices)" "tare0 tare1 tare2 "
	check_is "the third" "$(value tare2 completion)" complete
	power tare1 0
	check "rmmod with one off" rmmod tare_blk
	modprobe tare_blk nr_devices=0
	check_is "none" "$(devices)" ""
	rmmod tare_blk
	modprobe tare_blk nr_devices=64 size_mb=1
	check_is "sixty-four" "$(devices | wc -w)" 64
	check "rmmod" rmmod tare_blk
	log_mark
	check_exit 1 "nr_devices=65" modprobe tare_blk nr_devices=65
	said "nr_devices=65" nr_devices "0 to 64"
	for bad in -1 x ""; do
		check_exit 1 "nr_devices=$bad" modprobe tare_blk "nr_devices=$bad"
	done
	check_is "nothing is left" "$(devices)$(grep -c ^tare_blk /proc/modules)" 0
}

# Once with all defaults, once with all at their other end, then each refusal.
parameters()
{
	set --
	modprobe tare_blk nr_devices=0
	while read -r attr type class def min max; do
		if [ "$class" = RO ]; then
			check_is "$attr is no parameter" \
				"$([ -e "/sys/module/tare_blk/parameters/$attr" ] && echo is)" ""
			continue
		fi
		check_is "parameter $attr by default" \
			"$(cat "/sys/module/tare_blk/parameters/$attr")" "$def"
		other=$max
		[ "$other" = "$def" ] && other=$min
		set -- "$@" "$attr=$other"
	done < "$tmp/attrs"
	rmmod tare_blk
	modprobe tare_blk nr_devices=0 "$@"
	for set; do
		check_is "parameter $set" \
			"$(cat "/sys/module/tare_blk/parameters/${set%%=*}")" "${set#*=}"
	done
	rmmod tare_blk
	while read -r attr type class def min max; do
		[ "$class" = RO ] && continue
		case $type in
		ENUM | RANGES) bad="Timer 1" ;;
		*) bad="$((min - 1)) 0x1" ;;
		esac
		for value in $bad; do
			log_mark
			check_exit 1 "parameter $attr=$value" \
				modprobe tare_blk nr_devices=0 "$attr=$value"
			said "parameter $attr=$value" "tare_blk: $attr='$value' refused"
		done
	done < "$tmp/attrs"
	check_is "nothing is left" "$(devices)$(grep -c ^tare_blk /proc/modules)" 0
}

modules()
{
	check_is "only tare_core is there" "$(grep -o '^tare_[a-z]*' /proc/modules)" tare_core
	make t
	check_exit 1 "rmmod tare_core with a device" rmmod tare_core
	check_is "power=1 loads tare_blk" "$(put t power 1)" 0
	check_is "it is there" "$(grep -c ^tare_blk /proc/modules)" 1
	check_is "and makes no device of its own" "$(devices)" "t "
	check_exit 1 "rmmod tare_blk with a powered device" rmmod tare_blk
	check_exit 1 "rmmod tare_core under tare_blk" rmmod tare_core
	power t 0
	check "rmmod tare_blk with one that is off" rmmod tare_blk
	check_is "it is still there" "$(devices)" "t "
	check_is "power=1 loads tare_blk again" "$(put t power 1)" 0
	del t
	check "rmmod tare_blk" rmmod tare_blk
	sh -c 'exec 3< /dev/tare; echo > "$1"; exec sleep 600' x "$tmp/held" &
	holder=$!
	background=$holder
	until [ -e "$tmp/held" ]; do usleep 10000; done
	rm "$tmp/held"
	check_exit 1 "rmmod tare_core while /dev/tare is open" rmmod tare_core
	let_go
	check "rmmod tare_core" rmmod tare_core
	check_is "/dev/tare is gone" "$([ -e /dev/tare ] && echo there)" ""
	check_is "the tree is gone" "$([ -e $config ] && echo there)" ""
}

driver_start
names
attributes
no_splat
in_use
combinations
queues
no_splat
default_devices
parameters
modules
driver_end

# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=sh disable=SC2034
# shellcheck source=tests/tap.sh
# What the driver's guest tests share. Source it as
#   . "$(dirname "$0")/lib/driver.sh"
# and end with driver_end. Starts and ends with no device, and takes away
# whatever a test left when it is interrupted.

here=$(cd "$(dirname "$0")" && pwd)
. "$here/../tap.sh"

config=/sys/kernel/config/tare
mode=${TARE_LAB:-wall}
# How much of what takes time: busy time is dear where instructions are counted.
scale=1
[ "$mode" = wall ] && scale=4
tmp=$(mktemp -d) || exit 1
cpus=$(nproc)
# With its path: busybox's shell prefers its own, which knows less.
blkdiscard=$(which blkdiscard)
export blkdiscard

splat='BUG:|WARNING:|Oops|RIP:|Call Trace|general protection|refcount_t:|INFO: task|scheduling while atomic|circular locking'

# Everything that this script may have left. Says nothing, ends nothing else.
driver_clean()
{
	umount /mnt 2> /dev/null
	for holder in $background; do
		kill "$holder" 2> /dev/null
		wait "$holder" 2> /dev/null
	done
	background=
	for dir in "$config"/*/; do
		[ -d "$dir" ] || continue
		echo 0 2> /dev/null > "$dir/power"
		rmdir "$dir" 2> /dev/null
	done
	rmmod tare_blk 2> /dev/null
	rmmod tare_core 2> /dev/null
}

background=
trap 'driver_clean; rm -rf "$tmp" "$tap_out"' EXIT
trap 'exit 1' INT TERM HUP

# Modules there, no device. The log counts from here.
driver_start()
{
	driver_clean
	echo "test $$ starts" > /dev/kmsg
	modprobe tare_blk nr_devices=0 && [ -d "$config" ] && return
	echo "Bail out! no driver"
	exit 1
}

# Names of devices in configfs, and disks of ours in /sys/block.
devices()
{
	for dir in "$config"/*/; do
		[ -d "$dir" ] && basename "$dir"
	done | tr '\n' ' '
}

driver_end()
{
	no_splat
	check_is "no device is left" "$(devices)" ""
	driver_clean
	check_is "both modules go" "$(grep -c '^tare_' /proc/modules)" 0
	no_splat
	tap_end
}

log_all()
{
	dmesg | sed "1,/test $$ starts\$/d"
}

no_splat()
{
	check_is "no splat in the kernel log" \
		"$(log_all | grep -E "$splat" | head -n 5)" ""
}

# make NAME [ATTR=VALUE…]: a device without power.
make()
{
	made=$1
	mkdir "$config/$1" || return
	shift
	for set; do
		printf '%s' "${set#*=}" > "$config/$made/${set%%=*}" || return
	done
}

power()
{
	echo "$2" 2> /dev/null > "$config/$1/power"
}

# add NAME [ATTR=VALUE…]: with power; says so when it fails.
add()
{
	make "$@" && power "$1" 1 && return
	tap_result 1 "device $*"
	dmesg | tail -n 3 | sed 's/^/# /'
	return 1
}

del()
{
	power "$1" 0 && rmdir "$config/$1" && return
	tap_result 1 "device $1 goes"
	return 1
}

# put NAME ATTR VALUE: errno's name, or 0. The value passes printf %b.
put()
{
	printf '%b' "$3" | attrs put "$config/$1/$2"
}

value()
{
	cat "$config/$1/$2" 2> /dev/null || echo -
}

# queue NAME FILE
queue()
{
	cat "/sys/block/$1/queue/$2"
}

# log_mark; then log_since prints the driver's lines after it. The mark is a
# line of the log itself.
log_mark()
{
	log_marks=$((${log_marks:-0} + 1))
	echo "mark $$ $log_marks" > /dev/kmsg
}

log_since()
{
	dmesg | sed "1,/mark $$ $log_marks\$/d" | grep -o 'tare_[a-z]*: .*' |
		grep -v 'invalid for parameter'
}

# said TEXT WORDS…: one refusal in the log since the mark, which has each.
# The same line again is busybox's modprobe, which tries twice.
said()
{
	said_text=$1
	shift
	log_since | grep refused | sort -u > "$tmp/said"
	said_bad=0
	[ "$(grep -c . "$tmp/said")" = 1 ] || said_bad=1
	for words; do
		grep -qF -- "$words" "$tmp/said" || said_bad=1
	done
	tap_result $said_bad "$said_text: one line says $*"
	[ $said_bad = 0 ] || sed 's/^/# /' "$tmp/said"
}

# subtests COMMAND…: each line "ok …" or "not ok …" it prints is a test.
subtests()
{
	sub_n=0
	sub_code=0
	"$@" > "$tmp/sub" 2>&1 || sub_code=$?
	while IFS= read -r line; do
		case $line in
		"ok "*) tap_result 0 "${line#ok }" ;;
		"not ok "*) tap_result 1 "${line#not ok }" ;;
		*) echo "# $line"; continue ;;
		esac
		sub_n=$((sub_n + 1))
	done < "$tmp/sub"
	if [ $sub_code != 0 ] || [ $sub_n = 0 ]; then
		tap_result 1 "$* ends well (exit code $sub_code, $sub_n tests)"
	fi
}

# field NAME: of the "NAME=VALUE" words in $tmp/out.
field()
{
	tr ' ' '\n' < "$tmp/out" | sed -n "s/^$1=//p" | head -n 1
}

# Opens a disk for reading, in the background; let_go closes it.
hold()
{
	sh -c 'exec 3< "$0"; echo > "$1"; exec sleep 600' "/dev/$1" "$tmp/held" &
	holder=$!
	background="$background $holder"
	until [ -e "$tmp/held" ]; do usleep 10000; done
	rm "$tmp/held"
}

let_go()
{
	kill "$holder"
	wait "$holder" 2> /dev/null
}

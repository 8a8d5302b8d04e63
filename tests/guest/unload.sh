#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# modes: wall
# kernels: all
# programs: mkfs.ext4 attrs record load control
#
# Coming and going. Guarded: the modules load and unload again and again,
# whatever was done with them; power goes on and off with I/O between and with
# others looking on; nothing in use goes; no memory is left behind.
#
# shellcheck source=tests/guest/lib/driver.sh
. "$(dirname "$0")/lib/driver.sh"

# kB that a leak of ours would show in.
taken()
{
	awk '/^(SUnreclaim|Percpu|VmallocUsed):/ { n += $2 } END { print n }' \
		/proc/meminfo
}

# One use of the driver, another each time; ends with no device of its own.
use()
{
	case $(($1 % 10)) in
	0)	;;
	1)	add t; del t ;;
	2)	add t completion=inline read_ns=0; load -n 50 /dev/t > /dev/null; del t ;;
	3)	add t read_ns=2000000 submit_queues="$cpus"
		load -n 3 -t 4 /dev/t > /dev/null; del t ;;
	4)	add t memory_backed=1 size_mb=32 discard=1
		load -o write -n 50 /dev/t > /dev/null; del t ;;
	5)	add t; record t load -n 50 /dev/t > /dev/null; del t ;;
	6)	add t; echo 1 > /sys/kernel/tracing/events/tare/enable
		load -n 20 /dev/t > /dev/null
		echo 0 > /sys/kernel/tracing/events/tare/enable; del t ;;
	7)	make t size_mb=1; make u; rmdir "$config/t" "$config/u" ;;
	8)	add t memory_backed=1 size_mb=32 prealloc=1
		mkfs.ext4 -q /dev/t && mount -t ext4 /dev/t /mnt && umount /mnt
		del t ;;
	9)	make t; modprobe -r tare_blk; power t 1; power t 0; rmdir "$config/t" ;;
	esac
}

reloads()
{
	driver_clean
	bad=0
	before=$(taken)
	for i in $(seq 20); do
		modprobe tare_blk nr_devices=$((i % 3)) || bad=$((bad + 1))
		use "$i"
		rmmod tare_blk || bad=$((bad + 1))
		[ $((i % 2)) = 0 ] && continue
		rmmod tare_core || bad=$((bad + 1))
	done
	rmmod tare_core
	check_is "20 times loaded, used and unloaded: failures" $bad 0
	check_is "modules left" "$(grep -c '^tare_' /proc/modules)" 0
	after=$(taken)
	check_is "memory left behind below 4 MB ($before, $after kB)" \
		"$(( after - before < 4000 ))" 1
	modprobe tare_blk nr_devices=0
}

# Waits until a load on the disk is on its way; 5 s at most.
at_work()
{
	for i in $(seq 250); do
		[ "$(control count "$1" read)" -gt 10 ] && return
		usleep 20000
	done
}

# Neither module goes while a disk is at work; the load does not notice.
refused()
{
	add t read_ns=1000000
	load -s 1000 -t 2 /dev/t > "$tmp/load" &
	load=$!
	background=$load
	at_work t
	check_exit 1 "rmmod tare_blk under load" rmmod tare_blk
	check_exit 1 "rmmod tare_core under load" rmmod tare_core
	check_is "power=0 under load" "$(put t power 0)" EBUSY
	check_exit 1 "rmdir under load" rmdir "$config/t"
	wait $load
	check_is "the load ended well" $? 0
	check_is "and did something" "$(( $(cat "$tmp/load") > 10 ))" 1
	del t
	rmmod tare_blk
	modprobe tare_blk read_ns=1000000
	load -s 1000 /dev/tare0 > "$tmp/load" &
	load=$!
	background=$load
	at_work tare0
	check_exit 1 "rmmod tare_blk with its own device at work" rmmod tare_blk
	wait $load
	check "and after it" rmmod tare_blk
	modprobe tare_blk nr_devices=0
}

cycles()
{
	make t memory_backed=1 size_mb=8 completion="$1"
	bad=0
	# The first few grow slabs.
	for i in $(seq "$2"); do
		[ "$i" = 5 ] && before=$(taken)
		power t 1 && load -o mix -n 8 -t 2 /dev/t > /dev/null &&
			power t 0 || bad=$((bad + 1))
	done
	after=$(taken)
	check_is "$2 power cycles with I/O between, $1: failures" $bad 0
	check_is "memory left behind below 4 MB ($before, $after kB)" \
		"$(( after - before < 4000 ))" 1
	rmdir "$config/t"
}

# Power on and off while others open the disk, read attributes and statistics.
watched()
{
	make t completion=timer read_ns=20000
	sh -c 'while :; do dd if=/dev/t of=/dev/null bs=4096 count=2 iflag=direct; done' \
		> /dev/null 2>&1 &
	background=$!
	sh -c 'while :; do cat "$0"/t/*; echo 5 > "$0"/t/read_ns; control counters t
		control whole t; done' $config > /dev/null 2>&1 &
	background="$background $!"
	off=0
	busy=0
	for i in $(seq $((15 * scale))); do
		power t 1
		usleep 20000
		case $(put t power 0) in
		0) off=$((off + 1)) ;;
		EBUSY) busy=$((busy + 1)) ;;
		*) tap_result 1 "power=0 while others look on" ;;
		esac
	done
	for pid in $background; do
		kill "$pid"
		wait "$pid" 2> /dev/null
	done
	background=
	check_is "each power=0 worked or was busy ($off, $busy)" \
		"$((off + busy))" $((15 * scale))
	check_is "power=0 when nobody has it open" "$(put t power 0)" 0
	check "rmdir" rmdir "$config/t"
}

driver_start
reloads
no_splat
refused
cycles inline $((10 * scale))
cycles timer $((15 * scale))
no_splat
watched
driver_end

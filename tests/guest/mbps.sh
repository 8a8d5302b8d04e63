#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# modes: exact wall
# kernels: all
# programs: attrs control load record
#
# A limited bandwidth. Guarded: reads and writes of any size get together what
# was asked for, within 2 %; a request however large is not starved; the limit
# changes under load, and without one nothing waits.
#
# shellcheck source=tests/guest/lib/driver.sh
. "$(dirname "$0")/lib/driver.sh"

now()
{
	awk '{ printf "%d\n", $1 * 1000 }' /proc/uptime
}

# Both sides of 2 % of so many milliseconds, and the clock's 10 ms. A machine
# that has others to serve may be slower, but not the other way round.
within()
{
	check_is "$1: $2 ms, not below $3" "$(($2 * 100 >= $3 * 98 - 1000))" 1
	[ "$mode" = wall ] && return
	check_is "$1: $2 ms, not above $3" "$(($2 * 100 <= $3 * 102 + 1000))" 1
}

# rate MBPS BYTES COUNT THREADS: COUNT I/Os of each thread.
rate()
{
	for op in read write mix; do
		start=$(now)
		load -o $op -b "$2" -n "$3" -t "$4" /dev/t > /dev/null
		took=$(($(now) - start))
		within "$1 MiB/s, $op, $2 bytes, $4 threads" $took \
			$(($3 * $4 * ($2 / 512) * 1000 / 2048 / $1))
	done
}

rates()
{
	add t mbps=8 read_ns=1000 write_ns=1000 max_sectors_kb=1024
	rate 8 4096 1024 4
	rate 8 1048576 8 2
	put t mbps 64 > /dev/null
	rate 64 1048576 32 4
	rate 64 65536 512 4
	del t
}

# null_blk's never ends here: its budget of a tick is 20 KiB.
large()
{
	add t mbps=1 max_sectors_kb=1024
	start=$(now)
	check "1 MiB at 1 MiB/s ends" load -b 1048576 -n 3 /dev/t
	within "1 MiB/s, 1 MiB" $(($(now) - start)) 3000
	start=$(now)
	check_is "mbps=0 under way" "$(put t mbps 0)" 0
	check "and nothing waits any more" load -b 1048576 -n 20 /dev/t
	check_is "in $(($(now) - start)) ms" "$(($(now) - start < 10000))" 1
	del t
}

# Each request by itself: it is due no earlier than its bytes take.
alone()
{
	add t mbps=4 read_ns=0
	record t load -n 20 /dev/t > "$tmp/load" 2> "$tmp/err"
	tail -n 1 "$tmp/load" > "$tmp/out"
	check_is "alone: records, out of order, early" \
		"$(field n) $(field disorder) $(field early)" "20 0 0"
	control info > "$tmp/info"
	khz=$(tr ' ' '\n' < "$tmp/info" | sed -n 's/^tsc_khz=//p')
	check_is "alone: a read of 4 KiB takes a 256th of 250 ms" \
		"$(field read_device)" "$(awk -v khz="$khz" \
		'BEGIN { t = int((khz * 1000 + 3) / 4)
			 print int((4096 * t + 1048575) / 1048576) "x20" }')"
	del t
}

refused()
{
	make t mbps=1 completion=inline
	log_mark
	check_is "inline with mbps" "$(put t power 1)" EINVAL
	said "inline with mbps" completion mbps=1
	rmdir "$config/t"
	add t mbps=1
	check_is "inline while there is mbps" "$(put t completion inline)" EINVAL
	check_is "without it" "$(put t mbps 0)" 0
	check_is "inline" "$(put t completion inline)" 0
	check_is "mbps while inline" "$(put t mbps 1)" EINVAL
	del t
}

# More at once than a second holds, changed meanwhile: none is lost.
live()
{
	add t mbps=2 read_ns=1000 submit_queues="$cpus"
	load -b 65536 -n 8 -t 8 /dev/t > "$tmp/load" &
	background=$!
	for mbps in 1 50 3 0 9 20 65536; do
		usleep 100000
		put t mbps $mbps > /dev/null
	done
	wait $background
	background=
	check_is "changed under load: all ended" "$(cat "$tmp/load")" 64
	del t
}

driver_start
rates
large
alone
refused
live
driver_end

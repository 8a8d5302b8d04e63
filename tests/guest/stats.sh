#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# modes: exact wall
# kernels: all
# programs: blkdiscard attrs record load control
#
# Statistics, counters, records and /dev/tare. Guarded: every figure of the
# statistics is that of the records of the same requests; every histogram sums
# to its count, also while others read, reset and do I/O; a full ring counts
# what it lost; one recorder a device; bad calls get an error and nothing more.
#
# shellcheck disable=SC2016 # expanded by the inner shell
# shellcheck source=tests/guest/lib/driver.sh
. "$(dirname "$0")/lib/driver.sh"

# Every operation, small and large, in each mode: records and statistics agree.
agree()
{
	for completion in inline complete timer; do
		for ns in 0 7000; do
			text="$completion, $ns ns"
			add t completion=$completion read_ns=$ns write_ns=$ns \
				flush_ns=$ns discard_ns=$ns write_cache=1 discard=1 \
				submit_queues="$cpus"
			record t sh -c 'load -o mix -n 150 -t 3 /dev/t
				load -b 262144 -n 5 /dev/t
				load -y -o write -n 5 /dev/t
				"$blkdiscard" -o 4096 -l 65536 /dev/t
				"$blkdiscard" -z -l 65536 /dev/t' > "$tmp/load" 2>&1
			tail -n 1 "$tmp/load" > "$tmp/out"
			check_is "$text: no figure differs from the records'" \
				"$(field mismatch)" 0
			# blkdiscard reads a little itself.
			check_is "$text: all are there" \
				"$(( $(field read) + $(field write) >= 460 )),$(field discard),$(field lost)" \
				1,1,0
			check_is "$text: flushes and zeroes too" \
				"$(( $(field flush) > 0 )),$(field write_zeroes)" 1,1
			subtests control whole t
			del t
		done
	done
}

resetting()
{
	add t read_ns=0 completion=complete
	load -n 100 /dev/t > /dev/null
	control reset t
	check_is "reset" "$(control count t read)" 0
	control counters t > "$tmp/out"
	check_is "of counters too" \
		"$(tr ' ' '\n' < "$tmp/out" | grep -vc '=0$')" 0
	subtests control whole t
	load -o write -n 10 /dev/t > /dev/null
	check_is "it counts on" "$(control count t write)" 10
	power t 0
	power t 1
	check_is "power-on starts at 0" "$(control count t write)" 0
	check_is "flush is not offered" "$(control count t flush)" EOPNOTSUPP
	check_is "discard is not offered" "$(control count t discard)" EOPNOTSUPP
	del t
}

calls()
{
	add t
	subtests control bad t
	subtests control rings t
	rmdir "$config/t"
	add t read_ns=1000
	subtests control scribble t $((100 * scale))
	del t
	make t
	power t 1
	sh -c 'exec 3< /dev/tare; exec sleep 600' &
	holder=$!
	background=$holder
	del t
	let_go
}

# An open recorder does not keep the device: it goes, the record ends empty.
gone()
{
	add t
	record t sh -c 'load -n 5 /dev/t > /dev/null; echo 0 > "$0/power"; rmdir "$0"' \
		"$config/t" > "$tmp/out" 2>&1
	check_is "the recorded device can go" "$(devices)" ""
	check_is "the recorder says that it is not there" \
		"$(grep -c 'No such device' "$tmp/out")" 1
	add t
	load -o write -n 5 /dev/t > /dev/null
	check_is "another of its name counts from 0" "$(control count t write)" 5
	del t
}

storm()
{
	for completion in inline timer; do
		add t completion=$completion read_ns=1000 write_ns=0 \
			submit_queues="$cpus"
		load -o mix -s $((900 * scale)) -t 4 -c 0 /dev/t > "$tmp/load" &
		load=$!
		background=$load
		usleep 50000
		subtests control storm t $((600 * scale))
		wait $load
		check_is "$completion: the load went on" \
			"$(( $(cat "$tmp/load") > 100 ))" 1
		control reset t
		record t load -o mix -n 200 -t 2 /dev/t > "$tmp/load"
		tail -n 1 "$tmp/load" > "$tmp/out"
		check_is "$completion: afterwards no figure differs" \
			"$(field mismatch),$(field n)" 0,400
		subtests control whole t
		control counters t > "$tmp/out"
		check_is "$completion: none was left out" "$(field unsettled)" 0
		del t
	done
}

# A CPU that goes takes nothing along: its figures stay, its requests end.
offline()
{
	cpu1=/sys/devices/system/cpu/cpu1/online
	if [ ! -w $cpu1 ]; then
		skip "a CPU goes offline" "no second CPU that can"
		return
	fi
	add t read_ns=300000 submit_queues=2
	record t sh -c 'load -s 1500 -t 4 -c 0 /dev/t & load=$!
		usleep 300000; echo 0 > "$0"; usleep 300000; echo 1 > "$0"
		wait $load' $cpu1 > "$tmp/load"
	check_is "a CPU goes offline and comes back: every read ends" \
		"$(sed -n 's/^n=\([0-9]*\) lost=0 disorder=0 early=0 mismatch=0 .*/\1/p' "$tmp/load")" \
		"$(head -n 1 "$tmp/load")"
	echo 0 > $cpu1
	subtests control whole t
	check "reset with one offline" control reset t
	check_is "is complete" "$(control count t read)" 0
	del t
	add t
	check "a device made with one offline works" load -n 10 /dev/t
	del t
	echo 1 > $cpu1
}

driver_start
agree
no_splat
resetting
calls
gone
no_splat
storm
offline
driver_end

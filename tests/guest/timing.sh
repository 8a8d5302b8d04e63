#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# modes: exact softirq wall
# kernels: all
# programs: blkdiscard attrs record load control
#
# When requests finish, from the records of each one. Guarded: a request never
# fires before it is due, and is due exactly when it was asked for; stamps are
# in order; changing the service time or the completion mode under load loses
# none and obeys at once; each completion path is counted as what it is.
#
# shellcheck disable=SC2016 # expanded by the inner shell
# shellcheck source=tests/guest/lib/driver.sh
. "$(dirname "$0")/lib/driver.sh"

# ticks NS: the smallest number of ticks that lasts so long.
ticks()
{
	awk -v ns="$1" -v khz="$khz" \
		'BEGIN { t = ns * khz / 1e6; n = int(t); print n + (n < t) }'
}

# One record of each request, in order, with the statistics to match.
sound()
{
	check_is "$1: records" "$(field n)" "$2"
	check_is "$1: stamps out of order" "$(field disorder)" 0
	check_is "$1: fired before due" "$(field early)" 0
	check_is "$1: figures of the statistics that differ" "$(field mismatch)" 0
	check_is "$1: paths that do not fit the CPUs" "$(field badpath)" 0
	check_is "$1: errors and lost" "$(field errors)$(field lost)" 00
}

asked()
{
	for completion in inline complete timer; do
		times="0 1 999 10000 123456"
		[ "$completion" = timer ] && times="$times 1000001 20000000"
		add t completion="$completion"
		for ns in $times; do
			n=$((50 * scale))
			[ "$ns" -gt 1000000 ] && n=20
			text="$completion, $ns ns"
			check_is "$text: set" "$(put t read_ns "$ns")" 0
			record t load -n $n /dev/t > "$tmp/load" 2> "$tmp/err"
			cat "$tmp/err"
			tail -n 1 "$tmp/load" > "$tmp/out"
			sound "$text" $n
			check_is "$text: the device row of each" \
				"$(field read_device)" "$(ticks "$ns")x$n"
		done
		del t
	done
}

# Every operation has its own time.
operations()
{
	add t completion=timer write_cache=1 discard=1 read_ns=11000 \
		write_ns=12000 flush_ns=13000 discard_ns=14000
	record t sh -c 'load -n 10 /dev/t; load -o write -n 10 /dev/t
		load -y -o write -n 1 /dev/t
		"$blkdiscard" -l 65536 /dev/t; "$blkdiscard" -z -l 65536 /dev/t' > "$tmp/load"
	tail -n 1 "$tmp/load" > "$tmp/out"
	sound operations "$(field n)"
	# blkdiscard reads a little itself.
	check_is "reads" "$(field read_device | sed 's/x.*//')" "$(ticks 11000)"
	check_is "writes, and one with FUA" "$(field write_device)" \
		"$(ticks 12000)x10,$(( $(ticks 12000) + $(ticks 13000) ))x1"
	check_is "the FUA write is marked" "$(field fua)" 1
	check_is "flushes" "$(field flush_device | sed 's/x.*//')" "$(ticks 13000)"
	check_is "discards" "$(field discard_device)" "$(ticks 14000)x1"
	check_is "write-zeroes" "$(field write_zeroes_device)" "$(ticks 14000)x1"
	del t
}

# A service time set under load: one run of the old, then one of the new.
live()
{
	for completion in inline timer; do
		add t completion=$completion read_ns=100000
		record -n 65536 t sh -c 'load -s $((150 * $1)) /dev/t &
			usleep $((50000 * $1)); printf 200000 > "$0"; wait' \
			"$config/t/read_ns" $scale > "$tmp/load"
		tail -n 1 "$tmp/load" > "$tmp/out"
		sound "$completion, changed under load" "$(head -n 1 "$tmp/load")"
		check_is "$completion: the old time, then the new one" \
			"$(field read_device | sed 's/x[0-9]*//g')" \
			"$(ticks 100000),$(ticks 200000)"
		del t
	done
}

# Completion modes switched while requests come: none is lost.
switching()
{
	add t read_ns=20000 write_ns=20000 submit_queues="$1"
	record -n 65536 t sh -c 'load -o mix -s $((200 * $1)) -t 3 /dev/t & load=$!
		for i in 1 2 3 4 5 6; do for m in inline complete timer; do
			usleep $((7000 * $1)); echo $m > "$0"; done; done
		wait $load' "$config/t/completion" $scale > "$tmp/load"
	tail -n 1 "$tmp/load" > "$tmp/out"
	sound "mode switches, $1 queues" "$(head -n 1 "$tmp/load")"
	for completion in inline complete timer; do
		check_is "some were $completion" \
			"$(( $(field mode_$completion) > 10 ))" 1
	done
	check_is "each has its time" \
		"$(field read_device),$(field write_device)" \
		"$(ticks 20000)x$(field read),$(ticks 20000)x$(field write)"
	del t
}

# path_is TEXT PATH: all of the last run took it, by records and counters.
path_is()
{
	check_is "$1: $2" "$(field path_"$2")" "$(field n)"
	control counters t > "$tmp/out"
	check_is "$1: $2, counted" "$(field path_"$2")" 100
}

paths()
{
	# One CPU possible: called by blk_mq_complete_request itself. Two: one
	# hardware queue for several CPUs goes through the softirq.
	possible=$(cat /sys/devices/system/cpu/possible)
	case $possible in
	0) called=direct ;;
	*) called=softirq ;;
	esac
	[ "$mode" = exact ] || check_is "the kernel expects a second CPU" \
		"$possible" 0-1
	for completion in inline complete timer; do
		want=$called
		[ $completion = inline ] && want=inline
		add t completion=$completion
		record t load -n 100 -c 0 /dev/t > "$tmp/load"
		tail -n 1 "$tmp/load" > "$tmp/out"
		path_is "$completion" $want
		del t
	done
}

# The timer fires where the request was issued. Another CPU's request is issued
# here when a scheduler takes it off the list for both; rq_affinity=2 then
# sends its completion home, by an IPI.
ipi()
{
	if [ "$cpus" -lt 2 ]; then
		skip "IPIs" "one CPU"
		return
	fi
	add t read_ns=100000 queue_depth=4
	modprobe mq-deadline 2> /dev/null
	if ! echo mq-deadline 2> /dev/null > /sys/block/t/queue/scheduler; then
		skip "IPIs" "this kernel has no mq-deadline"
		del t
		return
	fi
	echo 2 > /sys/block/t/queue/rq_affinity
	record -n 65536 t load -s 1000 -t 8 -c 0 /dev/t > "$tmp/load"
	tail -n 1 "$tmp/load" > "$tmp/out"
	sound "two CPUs under mq-deadline" "$(head -n 1 "$tmp/load")"
	echo "# $(cat "$tmp/out")"
	check_is "some ended by IPI, on another CPU" "$(( $(field moved) > 0 ))" 1
	check_is "these and no others" "$(field path_ipi)" "$(field moved)"
	ipis=$(field path_ipi)
	control counters t > "$tmp/out"
	check_is "counted" "$(field path_ipi)" "$ipis"
	del t
}

# Two channels for four threads, wherever they run: by their due times no three
# requests are served at once, and none is due before it was served.
shared()
{
	add t channels=2 read_ns=500000 submit_queues="$cpus"
	record -d -n 65536 t load -s $((200 * scale)) -t 4 -c 0 /dev/t > "$tmp/records"
	grep -v ^record "$tmp/records" > "$tmp/load"
	tail -n 1 "$tmp/load" > "$tmp/out"
	sound "four threads at two channels" "$(head -n 1 "$tmp/load")"
	sed -n 's/^record .* start=\([0-9]*\) due=\([0-9]*\) .*/\2 \1/p' "$tmp/records" |
		sort -n > "$tmp/due"
	check_is "none is short, no three at once, most wait" "$(awk -v s="$(ticks 500000)" '
		$1 - $2 < s { bad++ }
		NR > 2 && $1 - before[NR % 2] < s { bad++ }
		{ before[NR % 2] = $1; waited += ($1 - $2 > s) }
		END { print bad + 0, (waited > NR / 2) }' "$tmp/due")" "0 1"
	del t
}

# Everything else of the service time model at once, under load and changes.
shaped()
{
	add t read_ns=20000 write_ns=20000 channels=4 tail_ppm=10000 tail_ns=50000 \
		read_ns_per_kb=100 seek_ns=100000 rpm=30000 submit_queues="$cpus"
	record -n 65536 t sh -c 'load -o mix -s $((400 * $1)) -t 3 /dev/t & load=$!
		for i in 1 2 3; do
			for d in uniform normal lognormal pareto fixed; do
				usleep $((7000 * $1)); echo $d > "$0/distribution"
				echo $i > "$0/seed"; echo $((5 - i)) > "$0/channels"
				echo $((i * 10)) > "$0/spread_pct"; done; done
		wait $load' "$config/t" $scale > "$tmp/load"
	tail -n 1 "$tmp/load" > "$tmp/out"
	sound "all of the model, changed under load" "$(head -n 1 "$tmp/load")"
	check_is "as it was set" "$(value t distribution) $(value t channels)" "fixed 2"
	del t
}

driver_start
control info > "$tmp/out"
khz=$(field tsc_khz)
echo "# $(cat "$tmp/out")"
asked
operations
no_splat
live
switching 1
switching "$cpus"
shared
shaped
no_splat
paths
ipi
driver_end

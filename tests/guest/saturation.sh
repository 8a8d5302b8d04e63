#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# modes: exact
# kernels: all
# programs: attrs record load control
#
# The service time model, weighed from outside. Guarded: a device of eight
# channels saturates as eight servers do, to 1 %; a KiB has its price to the
# tick; a tail is as frequent as asked; the same seed gives the same times; a
# disk takes as long as its arm and its turns say; what cannot be is refused.
#
# shellcheck source=tests/guest/lib/driver.sh
. "$(dirname "$0")/lib/driver.sh"

TARE=${TARE:-tare}

# near TEXT GOT WANTED PERCENT
near()
{
	check_is "$1 ($2, $3)" "$(awk -v a="$2" -v b="$3" -v p="$4" \
		'BEGIN { d = a - b; print (d < 0 ? -d : d) * 100 <= b * p ? "near" : "off" }')" near
}

# ticks NS: the smallest number of ticks that lasts so long.
ticks()
{
	awk -v ns="$1" -v khz="$khz" \
		'BEGIN { t = ns * khz / 1e6; n = int(t); print n + (n < t) }'
}

# From --raw, by the clock and not by the rows' means: how many I/Os began in a
# second, and how many were in the device, between the first counted I/O and
# the last. Then the rows' means: gross and device.
from_raw()
{
	awk -F, -v khz="$khz" '
		NR == 1 { next }
		{
			from[NR] = $18 + $9 + $10
			to[NR] = from[NR] + $11
		}
		$1 >= 0 {
			if (!n++)
				begin = $18
			end = $18
			gross += $8
			device += $11
		}
		END {
			for (i in from) {
				a = from[i] < begin ? begin : from[i]
				b = to[i] > end ? end : to[i]
				if (b > a)
					inside += b - a
			}
			printf "n=%d rate=%.3f inside=%.5f gross=%.3f device=%.3f\n",
				n, (n - 1) * khz * 1000 / (end - begin),
				inside / (end - begin), gross / n, device / n
		}' "$tmp/raw"
}

# A job of 4 KiB random reads, so many in flight.
job()
{
	printf '[saturation]\nrw=randread\nbs=4k\nsize=64m\ndirect=1\n'
	printf 'ioengine=io_uring\niodepth=%s\n' "$1"
}

at_depth()
{
	job "$1" > "$tmp/job.fio"
	# At the ends of the window as many as are in flight are off.
	check "depth $1: runs" "$TARE" run -q -o csv -d t --ios $((2000 + 300 * $1)) --warmup 500 \
		--raw "$tmp/raw" "$tmp/job.fio"
	busy=$(sed -n 's/^headline,busy_per_io_tsc,//p' "$tap_out")
	from_raw > "$tmp/out"
	rate=$(field rate)
	echo "# depth $1: $(cat "$tmp/out") busy_per_io=$busy"
	# The device row and the rest are gross.
	want=$(awk -v d="$1" -v g="$(field gross)" -v khz="$khz" -v s="$(ticks 400000)" \
		'BEGIN { a = d / g; b = 8 / s; print (a < b ? a : b) * khz * 1000 }')
	near "depth $1: reads a second" "$rate" "$want" 1
	near "depth $1: in the device" "$(field inside)" \
		"$(awk -v r="$rate" -v d="$(field device)" -v khz="$khz" \
			'BEGIN { print r * d / khz / 1000 }')" 1
	check_is "depth $1: the CPU is busy for less than 30 %" \
		"$(awk -v b="$busy" -v r="$rate" -v khz="$khz" \
			'BEGIN { print b * r < khz * 300 }')" 1
}

saturation()
{
	add t channels=8 read_ns=400000 queue_depth=128
	for depth in 1 2 4 8 12 16 32 64; do
		at_depth $depth
	done
	del t
}

# device_rows COMMAND…: the device row of each request, in order of issue.
device_rows()
{
	record -d t "$@" |
		sed -n 's/^record .* start=\([0-9]*\) due=\([0-9]*\) .*/\1 \2/p' |
		awk '{ printf "%.0f\n", $2 - $1 }'
}

bandwidth()
{
	add t read_ns=20000 read_ns_per_kb=137 write_ns=30000 write_ns_per_kb=1001
	for kb in 4 64 128; do
		record t load -b $((kb << 10)) -n 50 /dev/t > "$tmp/load"
		tail -n 1 "$tmp/load" > "$tmp/out"
		check_is "read of $kb KiB" "$(field read_device)" \
			"$(ticks $((20000 + kb * 137)))x50"
		record t load -o write -b $((kb << 10)) -n 50 /dev/t > "$tmp/load"
		tail -n 1 "$tmp/load" > "$tmp/out"
		check_is "write of $kb KiB" "$(field write_device)" \
			"$(ticks $((30000 + kb * 1001)))x50"
	done
	check_is "512 bytes" "$(device_rows load -b 512 -n 1 /dev/t)" "$(ticks 20069)"
	check_is "set under power" "$(put t read_ns_per_kb 0)" 0
	check_is "128 KiB at no price" "$(device_rows load -b 131072 -n 1 /dev/t)" \
		"$(ticks 20000)"
	del t
}

tail_counted()
{
	add t read_ns=10000 tail_ppm=50000 tail_ns=40000
	device_rows load -n 4000 /dev/t > "$tmp/rows"
	check_is "reads" "$(grep -c . "$tmp/rows")" 4000
	check_is "none between" "$(grep -cvx -e "$(ticks 10000)" -e "$(ticks 50000)" "$tmp/rows")" 0
	n=$(grep -cx "$(ticks 50000)" "$tmp/rows")
	# 200 are expected; four sigma of a binomial are 55.
	check_is "in the tail, of 200 ($n)" "$(( n >= 145 && n <= 255 ))" 1
	check_is "the statistics have as many" "$(control count t read)" 4000
	put t tail_ppm 1000000 > /dev/null
	check_is "all" "$(device_rows load -n 100 /dev/t | sort -u)" "$(ticks 50000)"
	put t tail_ppm 0 > /dev/null
	check_is "none" "$(device_rows load -n 100 /dev/t | sort -u)" "$(ticks 10000)"
	del t
}

# mean_near TEXT NS PERCENT: of the rows at hand.
mean_near()
{
	near "$1: the mean" "$(awk '{ s += $1 } END { print s / NR }' "$tmp/rows")" \
		"$(ticks "$2")" "$3"
}

distributions()
{
	add t read_ns=100000
	for distribution in uniform normal lognormal pareto; do
		check_is "$distribution" "$(put t distribution $distribution)" 0
		put t spread_pct 30 > /dev/null
		put t pareto_alpha_pct 400 > /dev/null
		device_rows load -n 3000 /dev/t > "$tmp/rows"
		# Three sigma of the widest, lognormal and pareto, are 2 %.
		mean_near $distribution 100000 2
		sort -n "$tmp/rows" > "$tmp/sorted"
		p50=$(sed -n 1500p "$tmp/sorted")
		case $distribution in
		lognormal) near "$distribution: p50" "$p50" "$(ticks 95600)" 2.5 ;;
		pareto) near "$distribution: p50" "$p50" "$(ticks 89190)" 2.5 ;;
		*) near "$distribution: p50" "$p50" "$(ticks 100000)" 2.5 ;;
		esac
	done
	del t
}

seeds()
{
	add t read_ns=10000 distribution=lognormal seed=7
	# After the kernel has looked for partitions.
	device_rows load -n 200 /dev/t > "$tmp/power"
	put t seed 7 > /dev/null
	device_rows load -n 200 /dev/t > "$tmp/first"
	device_rows load -n 200 /dev/t > "$tmp/on"
	check_is "it does not repeat by itself" "$(cmp -s "$tmp/first" "$tmp/on"; echo $?)" 1
	put t seed 7 > /dev/null
	device_rows load -n 200 /dev/t > "$tmp/rows"
	check "a write of the seed begins again" cmp "$tmp/first" "$tmp/rows"
	power t 0
	power t 1
	device_rows load -n 200 /dev/t > "$tmp/rows"
	check "power begins again" cmp "$tmp/power" "$tmp/rows"
	put t seed 8 > /dev/null
	device_rows load -n 200 /dev/t > "$tmp/rows"
	check_is "another seed, other times" "$(cmp -s "$tmp/first" "$tmp/rows"; echo $?)" 1
	del t
}

disk()
{
	check "the profile of a disk" "$TARE" add t -p hdd size_mb=4096
	device_rows load -n 1000 /dev/t > "$tmp/rows"
	# Controller, a seek of 8 / 15 of the stroke, half a turn; four sigma are 3 %.
	mean_near "random reads" "$((100000 + 8501000 + 4167000))" 3
	check_is "none is longer than stroke and turn" \
		"$(awk -v m="$(ticks $((100000 + 15940000 + 8333400)))" '$1 > m' "$tmp/rows")" ""
	device_rows load -o write -n 100 /dev/t > "$tmp/rows"
	check_is "a write that the cache takes" "$(sort -u "$tmp/rows")" "$(ticks 100000)"
	check "goes" "$TARE" rm t
}

refusals()
{
	add t read_ns=10000 channels=4
	log_mark
	check_is "inline with channels" "$(put t completion inline)" EINVAL
	said "inline with channels" completion=inline channels=4
	put t channels 0 > /dev/null
	check_is "inline without" "$(put t completion inline)" 0
	log_mark
	check_is "channels with inline" "$(put t channels 1)" EINVAL
	said "channels with inline" channels=1
	log_mark
	check_is "a bandwidth that is too low" "$(put t read_ns_per_kb 1000)" EINVAL
	said "a bandwidth that is too low" 1290000
	check_is "distributions with short ends" "$(put t distribution normal)" 0
	log_mark
	check_is "long ones" "$(put t distribution pareto)" EINVAL
	said "long ones" "service time"
	log_mark
	check_is "wider than the mean" "$(put t spread_pct 101)" EINVAL
	said "wider than the mean" spread_pct=101 100
	del t
}

driver_start
control info > "$tmp/out"
khz=$(field tsc_khz)
saturation
bandwidth
tail_counted
distributions
seeds
disk
refusals
driver_end

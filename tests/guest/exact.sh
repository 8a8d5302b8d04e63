#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# modes: exact
# kernels: all
# programs: attrs control gross
#
# What the driver costs: gross of a 4 KiB direct read, in instructions, on a
# disk that only starts and ends requests, on null_blk and on tare with every
# row counted. Guarded: tare is not above null_blk, which counts nothing, in
# p50 and mean; no row misses a request; the same again gives the same.
#
# shellcheck disable=SC2154 # assigned by eval
# shellcheck source=tests/guest/lib/driver.sh
. "$(dirname "$0")/lib/driver.sh"

n=5000
warmup=1000

# weigh DISK: p50 and mean, rounded down; the better of two.
weigh()
{
	gross pread "/dev/$1" 4096 $n > "$tmp/gross.1"
	gross pread "/dev/$1" 4096 $n > "$tmp/gross.2"
	sort -n "$tmp/gross.1" "$tmp/gross.2" | head -n 1 > "$tmp/gross"
	read -r p50 mean count < "$tmp/gross"
	echo "# $1: p50 $p50, mean $mean of $count"
	mean=${mean%.*}
	check_is "$1: all reads" "$count" $n
}

driver_start
modprobe tare_stub
rmmod null_blk 2> /dev/null
modprobe null_blk irqmode=0 nr_devices=1 gb=1 bs=512 submit_queues=1 hw_queue_depth=64
add t completion=inline read_ns=0
control reset t
for disk in tarestub nullb0 t; do
	weigh $disk
	eval "p50_$disk=$p50 mean_$disk=$mean"
done
check_is "p50 is not above null_blk's ($p50_t, $p50_nullb0)" \
	"$(( p50_t <= p50_nullb0 ))" 1
check_is "the mean is not above null_blk's ($mean_t, $mean_nullb0)" \
	"$(( mean_t <= mean_nullb0 ))" 1
check_is "the floor is below both ($p50_tarestub)" \
	"$(( p50_tarestub < p50_t && p50_tarestub < p50_nullb0 ))" 1
check_is "above the floor by less than 100 ($((p50_t - p50_tarestub)))" \
	"$(( p50_t - p50_tarestub < 100 ))" 1
check_is "every read was counted" "$(control count t read)" $((2 * (n + warmup)))
subtests control whole t
first=$p50_t
weigh t
off=$(( p50 > first ? p50 - first : first - p50 ))
check_is "again, within 16 instructions ($first, $p50)" "$(( off <= 16 ))" 1
del t
rmmod null_blk
rmmod tare_stub
driver_end

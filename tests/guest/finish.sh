#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# modes: exact wall
# kernels: all
# programs: fio record load
#
# The completion threads (spin), the timer that is set early and spins the rest,
# and polled queues: never early, in order, nothing lost, and what each is for.
#
# shellcheck source=tests/guest/lib/driver.sh
. "$(dirname "$0")/lib/driver.sh"

ios=5000
[ "$mode" = wall ] && ios=20000
out=$tmp/run.csv

driver_start

# weigh JOB ATTR=VALUE…: CSV into $out.
weigh()
{
	tare run "$@" --ios $ios --cpu 0 -o csv > "$out" 2> "$out.err" || {
		sed 's/^/# /' "$out.err"
		return 1
	}
}

# p50 ROW, figure NAME: of the last weigh.
p50()
{
	awk -F, -v row="$1" '$1 == row { print $3; exit }' "$out"
}

figure()
{
	awk -F, -v name="$1" '$2 == name { print $3; exit }' "$out"
}

no_errors()
{
	for error in residual unmatched not_monotonic lost failed; do
		check_is "$1: no I/O with an error: $error" "$(figure $error)" 0
	done
}

# The submitter's CPU is refused where it is the only one, unless it is shared.
shared=
if [ "$cpus" = 1 ]; then
	check_exit 1 "spin is refused on the only CPU" tare add -q only completion=spin
	check_says 1 "spin_shared" "with the reason" tare add only completion=spin
	shared=spin_shared=1
fi
check_exit 1 "a completion CPU that is not there" tare add -q none completion=spin completion_cpu=99 $shared

for latency in 0 10000 100000; do
	weigh read-4k completion=spin read_ns=$latency $shared
	tap_result $? "spin at $latency ns runs"
	no_errors "spin at $latency ns"
	near "$(figure row_mean_ns)" $latency $((latency / 100 + 1))
	tap_result $? "spin: the device took what was asked, $(figure row_mean_ns) of $latency ns"
done
spin=$(p50 delivery)
weigh read-4k completion=timer read_ns=100000
tap_result $? "timer runs"
timer=$(p50 delivery)
if [ "$cpus" = 1 ]; then
	skip "spin is less late than the timer" "one CPU: the thread shares it"
else
	[ "$spin" -lt "$timer" ]
	tap_result $? "spin is less late than the timer: $spin against $timer ticks"
fi
weigh read-4k completion=timer read_ns=100000 timer_slack_spin_ns=50000
tap_result $? "timer with slack runs"
no_errors "timer with slack"
slack=$(p50 delivery)
if [ "$mode" = exact ]; then
	[ "$slack" -lt 100 ] && [ "$slack" -lt "$timer" ]
	tap_result $? "a timer set early is not late: $slack against $timer ticks"
fi

# Modes follow each other under load; the thread is there only with spin.
tare add -q switch completion=timer size_mb=64 $shared
load_start()
{
	fio --name=load --filename=/dev/switch --rw=randrw --bs=4k --iodepth=8 \
		--ioengine=io_uring --direct=1 --size=64m --time_based --runtime=600 \
		--output=/dev/null > /dev/null 2>&1 &
	background=$!
}
load_start
good=0
for next in spin timer inline spin complete spin timer inline spin complete \
	spin inline timer spin inline complete spin timer complete timer; do
	tare set switch completion=$next && good=$((good + 1))
done
check_is "20 switches of the mode under load" $good 20
kill $background
wait $background 2> /dev/null
background=
# shellcheck disable=SC2009 # there is no pgrep in the guest
check_is "no completion thread without spin" "$(ps | grep -c '[t]are/switch')" 0
check "the device still answers" dd if=/dev/switch of=/dev/null bs=4k count=10 iflag=direct
check "and goes" tare rm -q switch

# Polled queues honour the service time, and fio's IOPOLL gets through.
tare add -q polled poll_queues=1 size_mb=64 memory_backed=1 read_ns=20000 write_ns=20000
check_is "io_poll is on" "$(cat /sys/block/polled/queue/io_poll)" 1
check_is "two hardware queues" "$(find /sys/block/polled/mq -mindepth 1 -maxdepth 1 | wc -l)" 2
check "fio --hipri verifies what it wrote" fio --name=poll --filename=/dev/polled \
	--rw=randwrite --bs=4k --ioengine=io_uring --hipri=1 --direct=1 --iodepth=4 \
	--size=8m --verify=crc32c --output=/dev/null
tare stat -q --reset polled > /dev/null
check "fio polls reads" fio --name=poll --filename=/dev/polled --rw=randread --bs=4k \
	--ioengine=io_uring --hipri=1 --direct=1 --iodepth=1 --size=64m \
	--number_ios=1000 --output="$tmp/fio"
tare stat polled -o csv > "$tmp/stat"
n=$(awk -F, '$2 == "read" && $3 == "device" { print $4; exit }' "$tmp/stat")
[ "${n:-0}" -ge 1000 ]
tap_result $? "they reached the device: ${n:-0}"
least=$(awk -F, '$2 == "read" && $3 == "device" { print $6; exit }' "$tmp/stat")
check "device row of a polled read is the service time: $least" test "${least:-0}" -ge \
	"$(awk -F, '/tsc_khz/ { printf "%d", $3 / 50; exit }' "$tmp/stat")"
check "a normal read beside it" dd if=/dev/polled of=/dev/null bs=4k count=100 iflag=direct
check "and it goes" tare rm -q polled

driver_end

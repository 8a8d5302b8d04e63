#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# modes: exact
# kernels: all
# programs: gross
#
# Net is the stack and nothing else: it equals the gross of a driver that does
# nothing, does not move with the device's latency, and grows by a known weight
# put above the device, in the row where it was put.
#
# shellcheck source=tests/tap.sh
. "$(dirname "$0")/../tap.sh"

out=$(mktemp) || exit 1
ios=20000

# shellcheck disable=SC2317 # called by the trap
cleanup()
{
	tare rm -q --all 2>/dev/null
	rmmod tare_weight tare_stub tare_blk tare_core 2>/dev/null
	rm -f "$out" "$tap_out"
}
trap cleanup EXIT

# weigh ATTR=VALUE…: runs the 4 KiB read, its CSV into $out.
weigh()
{
	tare run read-4k --ios $ios -o csv "$@" >"$out" 2>"$out.err" || {
		cat "$out.err" >&2
		: >"$out"
	}
	rm -f "$out.err"
}

# p50 ROW: of the last weigh; a run that failed gives nothing that compares.
p50()
{
	awk -F, -v row="$1" '$1 == row { print $3; n = 1; exit } END { if (!n) print "none" }' "$out"
}

check_near()
{
	near "$2" "$3" "$4"
	tap_result $? "$1: $2 against $3, at most $4 apart"
}

modprobe tare_blk nr_devices=0 || exit 1
modprobe tare_stub || exit 1

# Must show 2.
stub=$(gross pread /dev/tarestub 4096 $ios | cut -d' ' -f1)
weigh completion=inline read_ns=0
net=$(p50 net)
check_near "net is what a driver that does nothing leaves" "$net" "$stub" 15
check_is "every I/O was weighed" "$(awk -F, '$2 == "ios" { print $3 }' "$out")" $ios
for error in residual unmatched not_monotonic lost failed; do
	check_is "no I/O with an error: $error" \
		"$(awk -F, -v e=$error '$1 == "errors" && $2 == e { print $3 }' "$out")" 0
done

# Must show 3: 0.5 %.
for latency in 3224 40000; do
	weigh completion=inline read_ns=$latency
	check_near "net at inline $latency ns as at 0 ns" "$(p50 net)" "$net" $((net / 200))
	near "$(p50 device)" $latency 1
	tap_result $? "the device took the $latency ns that were asked: $(p50 device)"
done
weigh completion=timer read_ns=10000
timer=$(p50 net)
for latency in 40000 100000; do
	weigh completion=timer read_ns=$latency
	check_near "net at timer $latency ns as at 10000 ns" "$(p50 net)" "$timer" $((timer / 200))
done

# Must show 4: 1000 +- 20, before issue and after end.
modprobe tare_weight || exit 1
set_weight()
{
	echo "$1" >/sys/module/tare_weight/parameters/before
	echo "$2" >/sys/module/tare_weight/parameters/after
}
set_weight 0 0
weigh completion=inline read_ns=0
net0=$(p50 net) submit0=$(p50 submit) complete0=$(p50 complete)
set_weight 1000 0
weigh completion=inline read_ns=0
check_near "1000 before issue: net" "$(p50 net)" $((net0 + 1000)) 20
check_near "1000 before issue: submit" "$(p50 submit)" $((submit0 + 1000)) 20
check_near "1000 before issue: complete stays" "$(p50 complete)" "$complete0" 20
set_weight 0 1000
weigh completion=inline read_ns=0
check_near "1000 after end: net" "$(p50 net)" $((net0 + 1000)) 20
check_near "1000 after end: complete" "$(p50 complete)" $((complete0 + 1000)) 20
check_near "1000 after end: submit stays" "$(p50 submit)" "$submit0" 20
set_weight 0 0

check_is "the kernel log has no complaint" \
	"$(dmesg | grep -cE 'BUG|WARNING|Call Trace|Oops')" 0
tap_end

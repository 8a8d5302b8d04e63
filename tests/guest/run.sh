#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# tare run: every I/O is joined with its requests and cut into rows that add
# up, on the raw disk, ext4 and xfs, for every engine and completion mode; what
# cannot be weighed is refused; nothing is left behind however it ends.
#
# modes: exact softirq wall
# programs: fio
#
# shellcheck source=tests/tap.sh
. "$(dirname "$0")/../tap.sh"

TARE=${TARE:-tare}
tmp=$(mktemp -d) || exit 1
doc=$tmp/doc
raw=$tmp/raw
modprobe -q tare_blk nr_devices=0

exact()
{
	[ "$TARE_LAB" = exact ] || [ "$TARE_LAB" = softirq ]
}

# value SECTION NAME: of the last document.
value()
{
	awk -F, -v s="$1" -v n="$2" '$1 == s && $2 == n { print $3 }' "$doc"
}

# row NAME COLUMN: mean is 2, p50 3, max 6.
row()
{
	awk -F, -v n="$1" -v c="$2" '$1 == n && NF >= 7 { print $c }' "$doc"
}

# check_true TEXT A OP B
check_true()
{
	tap_text=$1
	shift
	if [ -n "$1" ] && test "$@"; then
		tap_result 0 "$tap_text"
	else
		tap_result 1 "$tap_text"
		echo "# not so: $*"
	fi
}

# weigh TEXT ARGUMENTS…: run, must end with 0; the document goes to $doc.
weigh()
{
	tap_text=$1
	shift
	tap_code=0
	"$TARE" run -q -o csv "$@" > "$doc" 2> "$tap_out" || tap_code=$?
	if [ $tap_code = 0 ]; then
		tap_result 0 "$tap_text"
	else
		tap_fail "$tap_text"
	fi
}

# What must be so for every run of the own engines. $1: I/Os asked for
sound()
{
	for sound_name in residual unmatched not_monotonic lost failed ambiguous; do
		check_is "  $sound_name" "$(value errors $sound_name)" 0
	done
	check_is "  I/Os" "$(value counts ios)" "$1"
}

# Independent of the tool: the rows of each line of --raw add up to gross, and
# net is the five rows that belong to the stack. $1: lines
adds_up()
{
	check_is "  every line of --raw adds up" "$(awk -F, '
		NR > 1 {
			sum = 0
			for (i = 9; i <= 16; i++)
				sum += $i
			net = $9 + $10 + $14 + $15 + $16
			lines++
			if (sum != $8 || net != $17 || $7 != 0)
				bad++
		}
		END { print lines, bad + 0 }' "$raw")" "$1 0"
}

every_io()
{
	n=100000
	weigh "raw disk, $n reads" read-4k --ios $n
	sound $n
	check_is "  one request each" "$(value counts requests_per_io)" 1.000
	for fs in ext4 xfs; do
		weigh "$fs, $n overwrites" sync-write-4k --fs $fs --ios $n
		sound $n
		check_is "  one request each" "$(value counts requests_per_io)" 1.000
		weigh "$fs, each I/O by itself" sync-write-4k --fs $fs --ios 3000 --warmup 100 --raw "$raw"
		adds_up 3100
	done
}

all_jobs()
{
	for job in sync-write-4k sync-write-4k-dsync sync-write-4k-fsync \
		first-write-4k read-4k randread-4k-qd32 randread-4k-qd64 \
		raw-read-128k; do
		for fs in "" "--fs ext4" "--fs xfs"; do
			# shellcheck disable=SC2086 # words on purpose
			weigh "$job ${fs:-raw}" $job $fs --ios 400 --warmup 50 write_cache=1
			sound 400
		done
	done
}

# odd TEXT OPTIONS ATTRIBUTES…: a job of its own, on everything.
odd()
{
	odd_text=$1
	printf '[x]\ndirect=1\nsize=16m\n%b' "$2" > "$tmp/odd.fio"
	shift 2
	for fs in "" "--fs ext4" "--fs xfs"; do
		# shellcheck disable=SC2086 # words on purpose
		weigh "$odd_text ${fs:-raw}" "$tmp/odd.fio" --ios 300 --warmup 30 $fs "$@"
		sound 300
	done
}

# What is easily joined wrongly: small, odd, huge, buffered, durable and deep.
odd_jobs()
{
	odd "512 bytes" 'rw=write\nbs=512\noverwrite=1\n'
	odd "1536 bytes" 'rw=randrw\nbs=1536\noverwrite=1\n'
	odd "1 MiB" 'rw=read\nbs=1m\n'
	odd "1 MiB in 256 requests" 'rw=read\nbs=1m\n' max_sectors_kb=4 queue_depth=16
	odd "buffered, fsync" 'rw=write\nbs=4k\ndirect=0\nfsync=1\noverwrite=1\n' write_cache=1
	odd "buffered, O_DSYNC" 'rw=randwrite\nbs=4k\ndirect=0\nsync=dsync\noverwrite=1\n' write_cache=1
	odd "buffered, O_SYNC, first write" 'rw=write\nbs=16k\ndirect=0\nsync=sync\n' write_cache=1
	odd "io_uring, O_DSYNC, no FUA" 'rw=randwrite\nbs=4k\nsync=dsync\nioengine=io_uring\niodepth=8\noverwrite=1\n' write_cache=1 fua=0
	odd "io_uring, into holes" 'rw=randwrite\nbs=4k\nioengine=io_uring\niodepth=8\nfallocate=none\n' write_cache=1
	odd "fdatasync after every fourth, into holes" 'rw=write\nbs=4k\nfdatasync=4\nfallocate=none\n' write_cache=1
	odd "from an offset" 'rw=read\nbs=4k\noffset=8m\n'
	odd "blocks of 4096" 'rw=randrw\nbs=8k\noverwrite=1\n' block_size=4096
	odd "the same blocks again and again" 'rw=randread\nbs=4k\nsize=64k\nnorandommap\nioengine=io_uring\niodepth=32\n'
}

completions()
{
	weigh "inline at 0 ns" read-4k --ios 2000 completion=inline read_ns=0
	sound 2000
	check_is "  no device" "$(row device 6)" 0
	check_is "  no delivery" "$(row delivery 6)" 0
	check_is "  no signal" "$(row signal 6)" 0
	check_is "  all inline" "$(value counts completed_inline)" 2000
	weigh "complete at 3224 ns" read-4k --ios 2000 completion=complete read_ns=3224
	sound 2000
	check_is "  none inline" "$(value counts completed_inline)" 0
	check_true "  the device takes no less" "$(row device 3)" -ge 3223
	weigh "timer at 50 us" read-4k --ios 2000 completion=timer read_ns=50000
	sound 2000
	check_true "  the device takes no less" "$(row device 3)" -ge 49999
	check_true "  delivery is seen" "$(row delivery 3)" -gt 0
}

# Only where a tick is an instruction can a figure be named.
known_values()
{
	if ! exact; then
		skip "known values" "not exact"
		return
	fi
	for ns in 3224 40000; do
		weigh "complete at $ns" read-4k --ios 500 completion=complete read_ns=$ns
		check_is "  the device takes what was asked" "$(row device 3)" $ns
		check_is "  each time" "$(row device 6)" $ns
	done
	net=
	for ns in 10000 40000 100000; do
		weigh "timer at $ns" read-4k --ios 2000 read_ns=$ns
		check_is "  the device takes what was asked" "$(row device 6)" $ns
		[ -n "$net" ] || net=$(value headline net_p50_tsc)
		check_true "  net is within 0.5 % of $net" "$((200 * ($(value headline net_p50_tsc) - net)))" -le "$net"
		check_true "  from below too" "$((200 * (net - $(value headline net_p50_tsc))))" -le "$net"
	done
	weigh "the same again" read-4k --ios 2000 read_ns=100000
	first=$(value headline net_p50_tsc)
	weigh "and again, three rounds" read-4k --ios 2000 read_ns=100000 --rounds 3
	sound 6000
	check_true "  16 instructions at most" "$((first - $(value headline net_p50_tsc)))" -le 16
	check_true "  either way" "$(($(value headline net_p50_tsc) - first))" -le 16
	check_true "  layout spread" "$(awk -F, '$1 == "net" && NF == 5 { print $5 }' "$doc")" -le 16
}

# For a reader: what is no real time is not called so, what is no row is explained.
in_words()
{
	"$TARE" run -q read-4k --ios 200 > "$doc" 2>&1
	check_is "text: ns in the headline" "$(grep -c '^net_.*_ns' "$doc")" "$(exact && echo 0 || echo 2)"
	check_is "text: busy_per_io is explained" "$(grep -c '; busy_per_io: ' "$doc")" 1
	check_is "text: hidden is explained" "$(grep -c '; hidden: ' "$doc")" "$(exact && echo 1 || echo 0)"
	weigh "csv has all of it" read-4k --ios 200
	check_true "  ns too" "$(value headline net_p50_ns | cut -d. -f1)" -gt 0
}

several_requests()
{
	weigh "128 KiB in two" raw-read-128k --ios 300 max_sectors_kb=64 --raw "$raw"
	sound 300
	check_is "  two requests" "$(value counts requests_per_io)" 2.000
	adds_up $((300 + 100))
	weigh "128 KiB in 32" raw-read-128k --ios 300 max_sectors_kb=4 queue_depth=8 --raw "$raw"
	sound 300
	check_is "  32 requests" "$(value counts requests_per_io)" 32.000
	adds_up $((300 + 100))
	weigh "write and fsync on ext4" sync-write-4k-fsync --fs ext4 --ios 500 write_cache=1 --raw "$raw"
	sound 500
	adds_up $((500 + 100))
	check_is "  500 data requests" "$(value counts data_requests)" 500
	check_true "  at least a flush each" "$(value counts helper_requests)" -ge 500
	check_true "  time between them" "$(row between 3)" -gt 0
	check_true "  the device has two" "$(row device 3)" -ge 19990
	weigh "first write and fsync on ext4" "$tmp/first-fsync.fio" --fs ext4 --ios 300 write_cache=1
	sound 300
	check_true "  data, journal and flush" "$(value counts helper_requests)" -ge 900
	# Without a cache there is nothing to flush: the same job must show less.
	weigh "the same without a cache" sync-write-4k-fsync --fs ext4 --ios 500 write_cache=0
	check_true "  less than a helper each" "$(value counts helper_requests)" -lt 500
}

uring()
{
	weigh "fixed buffers, registered file, batches" "$tmp/uring.fio" --ios 3000
	sound 3000
	weigh "the same on ext4" "$tmp/uring.fio" --ios 3000 --fs ext4
	sound 3000
	weigh "sequential writes, merged in the plug" "$tmp/uring-seq.fio" --ios 2000
	sound 2000
	weigh "psync at the io_uring engine" read-4k --engine io_uring --ios 500
	sound 500
	weigh "more records than a ring holds" "$tmp/uring.fio" --ios 120000 completion=inline read_ns=0 write_ns=0
	sound 120000
}

# Somebody else on the same device is seen, and taken for nobody's I/O.
others()
{
	"$TARE" add shared read_ns=10000 > /dev/null
	( while :; do dd if=/dev/shared of=/dev/null bs=4k count=64 skip=100000 iflag=direct; done > /dev/null 2>&1 ) &
	reader=$!
	weigh "with another reader" read-4k -d shared --ios 3000
	kill $reader
	wait $reader 2> /dev/null
	sound 3000
	check_true "  it is counted apart" "$(value counts others_read)" -gt 0
	check_is "  and not as ours" "$(value counts data_requests)" 3000
	sleep 1
	check "the device was not ours to remove" "$TARE" rm shared
}

# fio is a program of its own: the signal that only tare gets must reach it.
fio_interrupted()
{
	"$TARE" run -o csv read-4k --engine fio --ios 1000000 read_ns=100000 > "$doc" 2> "$tap_out" &
	pid=$!
	tries=300
	until [ "$(cat /sys/block/tare-run-*/stat 2> /dev/null | awk '{ print ($1 > 20) }')" = 1 ] || [ $tries = 0 ]; do
		tries=$((tries - 1))
		usleep 100000
	done
	check_true "fio, SIG$1: it was running" $tries -gt 0
	kill "-$1" $pid
	[ $# = 1 ] || kill "-$2" $pid
	tap_code=0
	wait $pid 2> /dev/null || tap_code=$?
	check_is "  it failed" $tap_code 1
	[ $# = 2 ] || check_true "  it says that it was interrupted" "$(grep -c interrupted "$tap_out")" -gt 0
	tries=100
	while [ -n "$(pidof fio)" ] && [ $tries != 0 ]; do
		tries=$((tries - 1))
		usleep 100000
	done
	check_is "  no fio is left" "$(pidof fio)" ""
	check_is "  no device is left" "$("$TARE" ls -o csv | tail -n +2)" ""
}

fio_engine()
{
	if ! command -v fio > /dev/null; then
		skip "fio as the engine" "no fio"
		return
	fi
	weigh "fio as the engine" read-4k --engine fio --ios 1000
	check_is "  I/Os" "$(value counts ios)" 1000
	check_is "  requests" "$(value counts data_requests)" 1000
	weigh "fio with fsync on ext4" sync-write-4k-fsync --engine fio --fs ext4 --ios 300 write_cache=1
	check_true "  fsyncs" "$(value counts fsyncs)" -ge 299
	check_true "  flushes are requests" "$(value counts requests)" -ge 599
	fio_interrupted INT
	fio_interrupted TERM
	fio_interrupted HUP
	fio_interrupted INT TERM
	check_exit 2 "fio has no windows" "$TARE" run read-4k --engine fio --window 5
}

refusals()
{
	check_says 2 "job.fio:3: ioengine=libaio" "libaio" "$TARE" run "$tmp/job.fio"
	check_says 2 "no section [x]" "no such section" "$TARE" run read-4k --section x
	check_exit 2 "no such file system" "$TARE" run read-4k --fs minix
	check_exit 2 "no such engine" "$TARE" run read-4k --engine posixaio
	check_exit 2 "no such job" "$TARE" run nosuchjob
	check_exit 2 "no I/Os" "$TARE" run read-4k --ios 0
	check_exit 2 "attributes for a device of somebody else" "$TARE" run read-4k -d x read_ns=1
	check_exit 1 "no such device" "$TARE" run read-4k -d nosuch
	check_exit 2 "bad attribute" "$TARE" run read-4k read_ns=-1
	check_exit 2 "no such profile" "$TARE" run read-4k -p nosuch
	check_exit 2 "a file system on what keeps nothing" "$TARE" run read-4k --fs ext4 memory_backed=0
	check_says 2 "the device has 1048576: give size_mb=64" "larger than the device" "$TARE" run read-4k size_mb=1
	check_says 2 "ext4 needs a disk of at least 8 MiB, this one has 1: give size_mb=136" \
		"too small for ext4" "$TARE" run read-4k --fs ext4 size_mb=1
	check_says 2 "xfs needs a disk of at least 300 MiB, this one has 20: give size_mb=300" \
		"too small for xfs" "$TARE" run read-4k --fs xfs size_mb=20
	check_says 2 "do not fit on the ext4 of this device: give size_mb=136" \
		"too small for the file" "$TARE" run read-4k --fs ext4 size_mb=65
	weigh "as large as said" read-4k --fs ext4 --ios 50 size_mb=136
	weigh "the smallest of xfs" read-4k --fs xfs --ios 50 size_mb=300
	check_says 2 "with --ios" "more I/Os than fit into memory" "$TARE" run read-4k --ios 100000000
	printf '[x]\ndirect=1\nbs=4k\noffset=1000\n' > "$tmp/odd.fio"
	check_says 2 "odd.fio:4: offset=1000: with direct=1 a multiple of 512" "an offset between blocks" "$TARE" run "$tmp/odd.fio"
	printf '[x]\ndirect=1\nbs=512\nsize=1m\n' > "$tmp/odd.fio"
	check_says 2 "odd.fio:3: bs=512: with direct=1 a multiple of 4096" "half a block" "$TARE" run "$tmp/odd.fio" block_size=4096
	check_says 2 "odd.fio:3: bs=512: with direct=1 a multiple of 4096" "in a file too" "$TARE" run "$tmp/odd.fio" --fs ext4 block_size=4096
	for name in null tare; do
		check_says 1 "/dev/$name is there already" "add $name" "$TARE" add $name
	done
	"$TARE" add off --no-power > /dev/null 2>&1
	check_says 1 "off is off: tare set off power=1" "a device that is off" "$TARE" run read-4k -d off
	"$TARE" rm off
	check_is "nothing is left" "$("$TARE" ls -o csv | tail -n +2)" ""
}

# ends TEXT SIGNAL [AGAIN]: a long run gets it; device and mount must go.
ends()
{
	"$TARE" run sync-write-4k --fs ext4 --ios 1000000 write_ns=1000000 > "$doc" 2> "$tap_out" &
	pid=$!
	# It locks its memory right before the first I/O.
	tries=300
	until grep -q 'VmLck:.*[1-9]' /proc/$pid/status || [ $tries = 0 ]; do
		tries=$((tries - 1))
		usleep 100000
	done
	check_true "$1: it was running" $tries -gt 0
	usleep 300000
	kill "-$2" $pid
	[ $# -lt 3 ] || kill "-$3" $pid
	tap_code=0
	wait $pid 2> /dev/null || tap_code=$?
	tries=100
	while [ -n "$("$TARE" ls -o csv | tail -n +2)" ] && [ $tries != 0 ]; do
		tries=$((tries - 1))
		usleep 100000
	done
	check_is "  no device is left" "$("$TARE" ls -o csv | tail -n +2)" ""
	check_is "  no mount is left" "$(grep tare-run /proc/mounts)" ""
	check_is "  no directory is left" "$(ls -d /tmp/tare-run-* 2> /dev/null)" ""
}

# The report must not land in the file of --raw, and not be lost silently.
output_lost()
{
	for format in text json csv; do
		check_says 1 "cannot write the output" "$format to a full disk" \
			sh -c "'$TARE' run -q read-4k --ios 10 -o $format > /dev/full"
	done
	check_says 1 "cannot write the output" "no standard output, but --raw" \
		sh -c "'$TARE' run -q read-4k --ios 10 --warmup 0 --raw '$raw' >&-"
	check_is "  only the I/Os are in the file" "$(wc -l < "$raw")" 11
}

interrupted()
{
	ends "SIGINT" INT
	check_is "  it failed" $tap_code 1
	check_is "  what was measured is printed" "$(grep -c '^gross ' "$doc")" 1
	check_is "  and that it is not all" "$(grep -c 'stopped early' "$doc")" 1
	ends "SIGTERM" TERM
	check_is "  it failed" $tap_code 1
	ends "SIGINT twice" INT INT
	check_is "  it failed" $tap_code 1
	ends "SIGKILL" KILL
	ends "SIGSEGV" SEGV
}

# Only the cut's own arithmetic can be checked from outside: gross less device.
windows()
{
	weigh "windows" read-4k --ios 1000 --warmup 10 --window 300
	sound 1000
	check_is "  four of them" "$(awk -F, '$1 ~ /^(300|600|900|1000)$/ && NF == 4 { n++ } END { print n + 0 }' "$doc")" 4
	check_is "as text, when they occur" "$("$TARE" run -q read-4k --ios 1000 --window 500 | grep -c '^gross average .*, total \(500\|1000\)$')" 2
	weigh "like blk_account" read-4k --ios 500 --like blk_account
	check_true "  a part of gross" "$(value like_blk_account device_mean_tsc | cut -d. -f1)" -lt "$(value like_blk_account gross_mean_tsc | cut -d. -f1)"
	check_true "  with the device in it" "$(value like_blk_account device_mean_tsc | cut -d. -f1)" -gt "$(row device 3)"
	weigh "from a profile, then changed" read-4k --ios 300 -p nvme-optane completion=timer
	check_is "  the profile's time" "$(value device asked_read_ns)" 3224
	weigh "with the CPUs kept awake" read-4k --ios 500 --hold-latency --cpu 0
	check_is "  on the CPU named" "$(value run cpu)" 0
}

printf '[x]\ndirect=1\nioengine=libaio\n' > "$tmp/job.fio"
printf '[x]\nrw=randrw\nbs=4k\nsize=32m\ndirect=1\noverwrite=1\nioengine=io_uring\niodepth=16\niodepth_batch=4\niodepth_batch_complete_min=2\nfixedbufs\nregisterfiles\n' > "$tmp/uring.fio"
printf '[x]\nrw=write\nbs=4k\nsize=32m\ndirect=1\noverwrite=1\nioengine=io_uring\niodepth=16\niodepth_batch=8\n' > "$tmp/uring-seq.fio"
printf '[x]\nrw=write\nbs=4k\nsize=16m\ndirect=1\nfsync=1\nfallocate=none\n' > "$tmp/first-fsync.fio"

# The softirq mode differs in the row signal alone: there the short ones do.
if [ "$TARE_LAB" != softirq ]; then
	every_io
	odd_jobs
fi
all_jobs
completions
known_values
in_words
several_requests
uring
others
fio_engine
refusals
output_lost
interrupted
windows
rm -rf "$tmp"
tap_end

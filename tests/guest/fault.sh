#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# modes: exact wall
# kernels: all
# programs: attrs control fault load
#
# Injected faults. Guarded: each status reaches the caller as its errno, once,
# and the device works afterwards; errors hit the operation, the place and the
# rate that was asked for, the same ones in each run; what is given back
# completes; a request that is stuck ends by its time-out, once, and keeps
# neither another one nor power-off for ever; bad sectors are where they were
# put, and what stands before them can be had.
#
# shellcheck source=tests/guest/lib/driver.sh
. "$(dirname "$0")/lib/driver.sh"

# counted TEXT NAME=VALUE…: counters since the last reset.
counted()
{
	counted_text=$1
	shift
	control counters t > "$tmp/out"
	for want; do
		check_is "$counted_text: ${want%%=*}" "$(field "${want%%=*}")" \
			"${want#*=}"
	done
}

# set_live ATTR VALUE…
set_live()
{
	while [ $# -gt 1 ]; do
		check_is "$1=$2" "$(put t "$1" "$2")" 0
		shift 2
	done
}

statuses()
{
	for completion in inline complete timer $spin; do
		add t completion="$completion"
		for pair in ioerr=EIO medium=ENODATA nospc=ENOSPC \
			timeout=ETIMEDOUT transport=ENOLINK target=EREMOTEIO \
			reservation=EBADE protection=EILSEQ resource=ENOMEM \
			notsupp=EOPNOTSUPP offline=ENODEV; do
			put t error_status "${pair%=*}" > /dev/null
			put t read_error_ppm 1000000 > /dev/null
			control reset t
			check_is "$completion: ${pair%=*}" \
				"$(fault try /dev/t read 8 8)" "${pair#*=}"
			check_is "$completion: ${pair%=*}: a write goes well" \
				"$(fault try /dev/t write 8 8)" 0
			counted "$completion: ${pair%=*}" errors=1 requeues=0 timeouts=0
			put t read_error_ppm 0 > /dev/null
			check_is "$completion: it reads after ${pair%=*}" \
				"$(fault try /dev/t read 8 8)" 0
			counted "$completion: after ${pair%=*}" errors=1
		done
		check_is "$completion: two reads each" "$(control count t read)" 2
		subtests control whole t
		del t
	done
}

# What fails when only OP is to.
operations()
{
	add t write_cache=1 discard=1 memory_backed=1 size_mb=64
	for op in read write flush discard; do
		put t "${op}_error_ppm" 1000000 > /dev/null
		got=
		for try in read write flush discard; do
			got="$got $(fault try /dev/t $try 0 8)"
		done
		want=$(echo " read write flush discard" |
			sed "s/ $op/ EIO/; s/ [a-z][a-z]*/ 0/g")
		check_is "only ${op}s fail" "$got" "$want"
		put t "${op}_error_ppm" 0 > /dev/null
	done
	# Some kernels write zeroes themselves where the device does not.
	put t discard_error_ppm 1000000 > /dev/null
	control reset t
	fault try /dev/t zeroes 0 8 > "$tmp/load"
	check_is "write-zeroes fail, or are written" \
		"$(grep -c -x -e EIO -e 0 "$tmp/load")" 1
	counted "write-zeroes that failed" errors=1
	put t discard_error_ppm 0 > /dev/null
	# Nothing was moved by a write that failed.
	fault fill /dev/t 11 0 8 > /dev/null
	put t write_error_ppm 1000000 > /dev/null
	check_is "a write that fails" "$(fault fill /dev/t 22 0 8)" EIO
	check_is "left what was there" "$(fault see /dev/t 0 2)" "11 11"
	del t
}

place()
{
	add t completion=inline read_ns=0
	set_live fault_first_sector 100 fault_last_sector 107 read_error_ppm 1000000
	for pair in 92=0 93=EIO 100=EIO 107=EIO 108=0; do
		check_is "8 sectors from ${pair%=*}" \
			"$(fault try /dev/t read "${pair%=*}" 8)" "${pair#*=}"
	done
	check_is "one sector before" "$(fault try /dev/t read 99 1)" 0
	check_is "one sector behind" "$(fault try /dev/t read 108 1)" 0
	log_mark
	check_is "first behind last" "$(put t fault_first_sector 108)" EINVAL
	said "first behind last" fault_first_sector fault_last_sector=107
	check_is "it stays" "$(value t fault_first_sector)" 100
	del t
}

rates()
{
	add t completion=inline read_ns=0
	set_live read_error_ppm 100000 fault_seed 7
	fault many /dev/t read 2000 > "$tmp/first"
	set_live fault_seed 7
	fault many /dev/t read 2000 > "$tmp/again"
	check_is "the same seed, the same errors" "$(cat "$tmp/again")" \
		"$(cat "$tmp/first")"
	set_live fault_seed 8
	fault many /dev/t read 2000 > "$tmp/other"
	check_is "another seed, other errors" \
		"$(cmp -s "$tmp/first" "$tmp/other" && echo same)" ""
	for run in first other; do
		cp "$tmp/$run" "$tmp/out"
		echo "# $(cat "$tmp/out")"
		# Five standard deviations of a binomial distribution.
		check_is "a tenth fails, $run" \
			"$(( $(field EIO) > 132 && $(field EIO) < 268 )),$(( $(field ok) + $(field EIO) ))" 1,2000
	done
	control reset t
	set_live fault_seed 7
	fault many /dev/t read 1000 4 > "$tmp/load"
	cp "$tmp/load" "$tmp/out"
	failed=$(field EIO)
	counted "four threads" "errors=$failed"
	check_is "four threads: each I/O ended once" "$(control count t read)" 4000
	set_live read_error_ppm 0 fault_seed 7
	check_is "off again" "$(fault many /dev/t read 200)" "ok=200 failed="
	del t
}

requeues()
{
	for completion in inline complete timer $spin; do
		add t completion="$completion" memory_backed=1 size_mb=64 \
			read_ns=1000 submit_queues="$cpus"
		set_live requeue_ppm 1000000
		control reset t
		check_is "$completion: each is given back once" \
			"$(fault many /dev/t write 100 3)" "ok=300 failed="
		counted "$completion" requeues=300 errors=0
		check_is "$completion: each ended once" "$(control count t write)" 300
		set_live requeue_ppm 300000
		check_is "$completion: three of ten" \
			"$(fault many /dev/t read 200 2)" "ok=400 failed="
		control counters t > "$tmp/out"
		check_is "$completion: counted" \
			"$(( $(field requeues) > 360 && $(field requeues) < 500 ))" 1
		subtests control whole t
		del t
	done
}

# now: in milliseconds.
now()
{
	awk '{ printf "%d\n", $1 * 1000 }' /proc/uptime
}

# The block layer looks for what is late every second or two.
timeouts()
{
	for completion in inline complete timer $spin; do
		add t completion="$completion" timeout_ms=1500 submit_queues="$cpus"
		check_is "$completion: io_timeout" "$(queue t io_timeout)" 1500
		control reset t
		set_live timeout_ppm 1000000
		start=$(now)
		check_is "$completion: a stuck read" \
			"$(fault try /dev/t read 0 8)" ETIMEDOUT
		took=$(($(now) - start))
		check_is "$completion: not before its time ($took ms), and not long after" \
			"$((took >= 1490 && took < 6000))" 1
		counted "$completion: a stuck read" timeouts=1 errors=1
		check_is "$completion: it ended once" "$(control count t read)" 1
		check_is "$completion: six at once" "$(fault many /dev/t write 1 6)" \
			"ok=0 ETIMEDOUT=6 failed=0"
		counted "$completion: six at once" timeouts=7 errors=7
		set_live timeout_ppm 0
		check_is "$completion: afterwards" "$(fault many /dev/t read 50 2)" \
			"ok=100 failed="
		set_live timeout_ppm 20000
		fault many /dev/t read 50 4 > "$tmp/load"
		cp "$tmp/load" "$tmp/out"
		echo "# $(cat "$tmp/out")"
		late=$(field ETIMEDOUT)
		check_is "$completion: some among others" \
			"$((${late:-0} > 0)),$(($(field ok) + ${late:-0}))" 1,200
		counted "$completion: some among others" timeouts=$((7 + late))
		check_is "$completion: each ended once" "$(control count t read)" 301
		subtests control whole t
		del t
	done
}

# What waits for a stuck request gets its turn when it has run out of time.
stuck()
{
	add t timeout_ms=1500
	set_live timeout_ppm 1000000
	fault try /dev/t read 0 8 > "$tmp/load" &
	background=$!
	usleep 200000
	check_is "power=0 while it is open" "$(put t power 0)" EBUSY
	# Draining the queue takes as long as the request does.
	check_is "the mode changes when it has ended" "$(put t completion inline)" 0
	check_is "and the mode is" "$(value t completion)" inline
	wait $background
	background=
	check_is "the request has ended" "$(cat "$tmp/load")" ETIMEDOUT
	check_is "power=0" "$(put t power 0)" 0
	# Power-on would read the partition table, stuck time after time.
	set_live timeout_ppm 0
	check_is "power=1" "$(put t power 1)" 0
	set_live timeout_ppm 1000000
	dd if=/dev/t of=/dev/null bs=4096 count=1 2> /dev/null &
	background=$!
	usleep 100000
	kill -9 $background
	tries=100
	until [ "$(put t power 0)" = 0 ] || [ $tries = 0 ]; do
		tries=$((tries - 1))
		usleep 200000
	done
	wait $background 2> /dev/null
	background=
	check_is "power=0 after its reader was killed" "$((tries > 0))" 1
	check "rmdir" rmdir "$config/t"
}

# bad TEXT WANTED SECTOR SECTORS: reads and writes these.
bad()
{
	for op in read write; do
		check_is "$1: $op" "$(fault try /dev/t $op "$3" "$4")" "$2"
	done
}

badblocks()
{
	add t memory_backed=1 size_mb=64 discard=1
	set_live badblocks +8-15 badblocks +20-20 error_status medium
	check_is "reads" "$(value t badblocks)" 8-15,20-20
	bad "in front" 0 0 8
	bad "the first" ENODATA 0 9
	bad "inside" ENODATA 10 1
	bad "the last" ENODATA 15 1
	bad "behind" 0 16 4
	bad "another" ENODATA 16 5
	check_is "discard" "$(fault try /dev/t discard 8 8)" ENODATA
	set_live badblocks '-9-30\n'
	check_is "reads" "$(value t badblocks)" 8-8
	bad "what is good again" 0 9 30
	for list in 0-2199023255551 none 5-5,7-7 '0-0\n'; do
		check_is "$list" "$(put t badblocks "$list")" 0
		check_is "reads the same" "$(value t badblocks)" \
			"$(printf '%b' "$list")"
	done
	set_live badblocks none
	bad "none" 0 0 9
	once
	partial
	full
	del t
}

once()
{
	set_live badblocks 8-15,20-20,40-49 badblocks_once 1
	check_is "once: fails" "$(fault try /dev/t read 10 1)" ENODATA
	check_is "once: reads" "$(value t badblocks)" 20-20,40-49
	check_is "once: is good again" "$(fault try /dev/t read 8 8)" 0
	check_is "once: over two" "$(fault try /dev/t read 16 40)" ENODATA
	check_is "once: the other is left" "$(value t badblocks)" 40-49
	check_is "once: over the other" "$(fault try /dev/t read 16 40)" ENODATA
	check_is "once: none is left" "$(value t badblocks)" none
	check_is "once: all is good" "$(fault try /dev/t read 16 40)" 0
	set_live badblocks_once 0
}

partial()
{
	fault fill /dev/t 11 0 8 > /dev/null
	set_live badblocks 3-4
	check_is "a write over bad ones" "$(fault fill /dev/t 22 0 8)" ENODATA
	set_live badblocks none
	check_is "nothing was written" "$(fault see /dev/t 0 8)" \
		"11 11 11 11 11 11 11 11"
	set_live badblocks 3-4 badblocks_partial_io 1
	check_is "a write over bad ones, in part" "$(fault fill /dev/t 33 0 8)" ENODATA
	set_live badblocks none
	check_is "the first three were written" "$(fault see /dev/t 0 8)" \
		"33 33 33 11 11 11 11 11"
	set_live badblocks 0-7
	check_is "bad from the first on" "$(fault fill /dev/t 44 0 8)" ENODATA
	set_live badblocks none badblocks_partial_io 0
	check_is "nothing was written" "$(fault see /dev/t 0 4)" "33 33 33 11"
}

full()
{
	list=$(seq 0 2 254 | sed 's/\(.*\)/\1-\1/' | tr '\n' ',')
	check_is "128 of them" "$(put t badblocks "${list%,}")" 0
	log_mark
	check_is "one more" "$(put t badblocks +1000-1000)" ENOSPC
	said "one more" badblocks "at most 128"
	check_is "they stay" "$(value t badblocks)" "${list%,}"
	set_live badblocks none
}

# A block of the device is bad as a whole.
blocks()
{
	add t memory_backed=1 size_mb=64 block_size=4096
	fault fill /dev/t 11 0 24 > /dev/null
	set_live badblocks 20-20 badblocks_partial_io 1
	check_is "4096: a write over a bad sector" "$(fault fill /dev/t 22 0 24)" EIO
	set_live badblocks none
	check_is "4096: the blocks before it were written" \
		"$(fault see /dev/t 0 24)" \
		"22 22 22 22 22 22 22 22 22 22 22 22 22 22 22 22 11 11 11 11 11 11 11 11"
	del t
}

# Changed while requests come: none is lost, and the list stays whole.
live()
{
	add t completion=inline read_ns=1000 memory_backed=1 size_mb=64
	fault many /dev/t read $((4000 * scale)) 3 > "$tmp/load" &
	background=$!
	n=0
	while kill -0 $background 2> /dev/null; do
		for set in badblocks=+80-95 read_error_ppm=50000 requeue_ppm=50000 \
			badblocks_once=1 badblocks=+0-8191 badblocks_once=0 \
			badblocks=-100-200 badblocks=none read_error_ppm=0 \
			requeue_ppm=0; do
			printf '%s' "${set#*=}" > "$config/t/${set%%=*}"
		done
		n=$((n + 1))
	done
	wait $background
	background=
	cp "$tmp/load" "$tmp/out"
	echo "# $n rounds, $(cat "$tmp/out")"
	check_is "changed under load: each I/O ended, some well, some not" \
		"$(($(field ok) > 0 && $(field EIO) > 0)),$(($(field ok) + $(field EIO)))" \
		"1,$((12000 * scale))"
	subtests control whole t
	del t
}

# The tool knows them as it knows the others.
tool()
{
	add t badblocks=0-7,100-107 error_status=offline read_error_ppm=5
	check "tare save" tare save "$tmp/saved"
	check "tare set, a change" tare set t badblocks=+8-9
	check_is "reads" "$(value t badblocks)" 0-9,100-107
	check "tare restore" tare restore --replace "$tmp/saved"
	check_is "as it was" \
		"$(value t badblocks) $(value t error_status) $(value t read_error_ppm)" \
		"0-7,100-107 offline 5"
	check_exit 2 "tare set, no range" tare set t badblocks=9-8
	del t
}

# A completion thread wants a CPU of its own.
spin=
[ "$cpus" -gt 1 ] && spin=spin

driver_start
statuses
operations
place
no_splat
rates
requeues
no_splat
timeouts
stuck
no_splat
badblocks
blocks
live
tool
driver_end

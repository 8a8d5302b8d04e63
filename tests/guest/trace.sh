#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# modes: exact
# kernels: all
# programs: blkdiscard attrs record load control gross
#
# The tracepoints. Guarded: each request gives one event of each kind, whose
# fields are those of its record; off, they cost what they cost before they
# were ever on.
#
# shellcheck disable=SC2016 # expanded by the inner shell
# shellcheck source=tests/guest/lib/driver.sh
. "$(dirname "$0")/lib/driver.sh"

tracing=/sys/kernel/tracing
events=$tracing/events/tare

switch()
{
	echo "$1" > $events/enable
}

# What is in the records and not in the trace, or the other way round.
compare()
{
	sort "$tmp/want" > "$tmp/want.sorted"
	sort "$tmp/got" > "$tmp/got.sorted"
	check_is "$1: one event for each request" \
		"$(wc -l < "$tmp/got")" "$(wc -l < "$tmp/want")"
	check "$1: the fields are the record's" \
		cmp "$tmp/want.sorted" "$tmp/got.sorted"
}

fields()
{
	add t completion="$1" read_ns=3000 write_ns=4000 write_cache=1 discard=1
	echo > $tracing/trace
	switch 1
	record -d t sh -c 'load -o mix -n 30 -t 2 /dev/t
		load -y -o write -n 5 /dev/t; "$blkdiscard" -o 65536 -l 65536 /dev/t
		"$blkdiscard" -z -l 65536 /dev/t' > "$tmp/load"
	switch 0
	grep 'tare_' $tracing/trace > "$tmp/trace"
	check_is "$1: there is something of each kind" \
		"$(grep -o 'tare_complete: [0-9,]* [a-z_]*' "$tmp/trace" |
		   sed 's/.* //' | sort -u | tr '\n' ' ')" \
		"discard flush read write write_zeroes "
	grep '^record ' "$tmp/load" | sed 's/^record op=//' > "$tmp/want"
	sed -n 's/.*tare_complete: [0-9]*,[0-9]* //p' "$tmp/trace" > "$tmp/got"
	compare "$1, tare_complete"
	sed -i 's/ error=[0-9-]* cpus=\([0-9]*\),[0-9,]*/ cpu=\1/; s/ ready=.*//' "$tmp/want"
	sed -n 's/.*tare_issue: [0-9]*,[0-9]* //p' "$tmp/trace" > "$tmp/got"
	compare "$1, tare_issue"
	check_is "$1: the device of reads and writes" \
		"$(grep -oE 'tare_[a-z]*: [0-9,]* (read|write) ' "$tmp/trace" |
		   cut -d' ' -f2 | sort -u)" "$(tr : , < /sys/block/t/dev)"
	check_is "$1: the device of every event" \
		"$(grep -o 'tare_[a-z]*: [0-9,]*' "$tmp/trace" | cut -d' ' -f2 |
		   sort -u)" "$(tr : , < /sys/block/t/dev)"
	echo 0 > /sys/block/t/queue/iostats
	echo > $tracing/trace
	switch 1
	load -n 3 /dev/t > /dev/null
	switch 0
	check_is "$1: the device without iostats" \
		"$(grep -o 'tare_[a-z]*: [0-9,]*' $tracing/trace | cut -d' ' -f2 |
		   sort -u)" "$(tr : , < /sys/block/t/dev)"
	echo > $tracing/trace
	load -n 3 /dev/t > /dev/null
	check_is "$1: off, no event" "$(grep -c tare_ $tracing/trace)" 0
	del t
}

p50()
{
	gross pread /dev/t 4096 2000 | cut -d' ' -f1
}

# Instructions are counted: what is left behind would be seen.
cost()
{
	if [ "$mode" = wall ]; then
		skip "the cost of tracepoints that are off" "only exact modes count it"
		return
	fi
	for completion in inline complete; do
		add t completion=$completion read_ns=0
		before=$(p50)
		switch 1
		on=$(p50)
		switch 0
		after=$(p50)
		check_is "$completion: on, they cost ($before, $on)" \
			"$(( on > before + 100 ))" 1
		# Two runs of the same agree to a few instructions.
		off=$(( after > before ? after - before : before - after ))
		check_is "$completion: off again, nothing is left ($before, $after)" \
			"$(( off <= 8 ))" 1
		del t
	done
}

driver_start
check_is "both events are there" \
	"$(find $events -mindepth 1 -maxdepth 1 -type d | sed 's:.*/::' | sort | tr '\n' ' ')" \
	"tare_complete tare_issue "
for completion in inline complete timer; do
	fields $completion
done
no_splat
cost
driver_end

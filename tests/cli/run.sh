#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# tare run where there is no driver: job files are judged before anything is
# made, refusals name file, line and option; and fio takes the jobs unchanged.
#
# shellcheck source=tests/tap.sh
. "$(dirname "$0")/../tap.sh"

TARE=${TARE:-tare}
jobs=$(cd "$(dirname "$0")/../../configs/jobs" && pwd)
tmp=$(mktemp -d) || exit 1

job()
{
	printf '%b' "$1" > "$tmp/job.fio"
}

# refused WORDS JOB: exit 2, says WORDS behind the path of the file.
refused()
{
	job "$2"
	check_says 2 "$tmp/job.fio$1" "refused: $1" "$TARE" run "$tmp/job.fio"
}

job_files()
{
	refused ":3: bs=4q" '[x]\ndirect=1\nbs=4q\n'
	refused ":2: nosuch" '[x]\nnosuch=1\n'
	refused ":3: ioengine=libaio" '[x]\ndirect=1\nioengine=libaio\n'
	refused ":3: numjobs=4" '[x]\ndirect=1\nnumjobs=4\n'
	refused ":3: verify=crc32c" '[x]\ndirect=1\nverify=crc32c\n'
	refused ":3: hipri" '[x]\ndirect=1\nhipri\n'
	refused ": no job section" '[global]\nbs=4k\n'
	refused ": [x]: direct=0" '[x]\nrw=read\n'
	refused " has 2 jobs" '[x]\ndirect=1\n[y]\ndirect=1\n'
	check_says 2 "there is no job" "a file that is not there" "$TARE" run "$tmp/none.fio"
	check_says 2 "there is no job" "a name that is none" "$TARE" run nosuch
	check_exit 2 "no job" "$TARE" run
	check_exit 2 "a bad number" "$TARE" run read-4k --ios 1x
	check_exit 2 "a bad attribute" "$TARE" run read-4k read_ns=x
	check_exit 2 "an unknown attribute" "$TARE" run read-4k nosuch=1
	check_says 2 "there is no CPU 60000 (online: 0" "a CPU that is none" "$TARE" run read-4k --cpu 60000
	job '[x]\ndirect=1\ncpus_allowed=3000\n'
	check_says 2 "there is no CPU 3000 (online: 0" "one of the job file" "$TARE" run "$tmp/job.fio"
	check_says 0 "Usage:" "help" "$TARE" run --help
}

no_driver()
{
	if [ -e /dev/tare ]; then
		skip "no driver" "there is one"
		return
	fi
	for path in "$jobs"/*.fio; do
		name=$(basename "$path" .fio)
		check_exit 77 "$name by name: only the driver is missing" "$TARE" run "$name"
		check_exit 77 "$name by path" "$TARE" run "$path"
	done
	# Only fio can run this one, and it may.
	job '[x]\ndirect=1\nioengine=libaio\nverify=crc32c\n'
	check_exit 77 "--engine fio takes what the own engines refuse" "$TARE" run "$tmp/job.fio" --engine fio
}

fio_takes_them()
{
	if ! command -v fio > /dev/null; then
		skip "fio runs the jobs" "no fio"
		return
	fi
	for path in "$jobs"/*.fio; do
		name=$(basename "$path")
		check "fio parses $name" fio --parse-only "$path"
		check "fio runs $name" fio --filename="$tmp/file" --number_ios=50 --fallocate=none "$path"
	done
}

job_files
no_driver
fio_takes_them
rm -rf "$tmp"
tap_end

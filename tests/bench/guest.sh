#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# In the exact lab: each load on the floor (a driver that starts and ends
# requests), on null_blk and on tare, one after the other in one boot. Rows for
# bench.json go to /results/rows. tare has all its statistics on; that they
# counted every I/O is checked after each run.
set -eu

ios=20000
warmup=1000	# of gross.c, counted by the driver too
kernel=$(uname -r)

# weigh LOAD…: "p50 mean count"
weigh()
{
	gross "$@"
}

# row NAME STATISTIC TARE PEER PEER_VALUE FLOOR
row()
{
	printf '{"name":"%s","mode":"exact","kernel":"%s","unit":"instructions/io","statistic":"%s","ios":%s,"tare":%s,"peer":"%s","peer_value":%s,"floor":%s}\n' \
		"$1" "$kernel" "$2" "$ios" "$3" "$4" "$5" "$6" >>/results/rows
}

rows()
{
	name=$1 peer=$2 tare=$3 other=$4 floor=$5
	if [ -z "$floor" ]; then
		floor='null null'
	fi
	row "$name" p50 "${tare%% *}" "$peer" "${other%% *}" "${floor%% *}"
	row "$name" mean "$(echo "$tare" | cut -d' ' -f2)" "$peer" \
		"$(echo "$other" | cut -d' ' -f2)" "$(echo "$floor" | cut -d' ' -f2)"
	printf '%-22s tare %-20s %s %-20s floor %s\n' "$name" "$tare" "$peer" "$other" "$floor"
}

# Every row of the operation that ran counted every I/O.
counted()
{
	tare stat "$1" -o csv | awk -F, -v op="$2" -v want=$((ios + warmup)) '
		$2 == op && $4 == want { n++ }
		END { exit n < 5 }' || {
		echo "bench: $1: not every row counted $((ios + warmup)) I/Os" >&2
		tare stat "$1" >&2
		exit 1
	}
}

# The stack to measure with: on the device, or on a file on ext4 on it.
ext4_file()
{
	mkfs.ext4 -q -E lazy_itable_init=0,lazy_journal_init=0,hash_seed=7e57ab1e-0000-4000-8000-000000000000 \
		-U 7e57ab1e-0000-4000-8000-000000000001 "/dev/$1"
	mkdir -p "/mnt/$1"
	mount -t ext4 "/dev/$1" "/mnt/$1"
	dd if=/dev/zero of="/mnt/$1/file" bs=1M count=64 conv=fsync 2>/dev/null
	sync
}

modprobe tare_blk nr_devices=0
modprobe tare_stub
tare add -q inline0 completion=inline read_ns=0 write_ns=0
modprobe null_blk nr_devices=0
null=/sys/kernel/config/nullb
null_add()
{
	mkdir $null/"$1"
	shift_name=$1
	shift
	for setting; do
		echo "${setting#*=}" >"$null/$shift_name/${setting%%=*}"
	done
	echo 1 >"$null/$shift_name/power"
}
null_add nullb0 irqmode=0 size=1024 queue_mode=2

floor=$(weigh pread /dev/tarestub 4096 $ios)
other=$(weigh pread /dev/nullb0 4096 $ios)
tare stat -q --reset inline0 >/dev/null
tare=$(weigh pread /dev/inline0 4096 $ios)
counted inline0 read
rows pread4k-raw null_blk "$tare" "$other" "$floor"

floor=$(weigh pwrite /dev/tarestub 4096 $ios)
other=$(weigh pwrite /dev/nullb0 4096 $ios)
tare stat -q --reset inline0 >/dev/null
tare=$(weigh pwrite /dev/inline0 4096 $ios)
counted inline0 write
rows pwrite4k-raw null_blk "$tare" "$other" "$floor"

floor=$(weigh uring /dev/tarestub 4096 $ios 32)
other=$(weigh uring /dev/nullb0 4096 $ios 32)
tare stat -q --reset inline0 >/dev/null
tare=$(weigh uring /dev/inline0 4096 $ios 32)
rows uring-randread4k-qd32 null_blk "$tare" "$other" "$floor"

tare add -q backed memory_backed=1 completion=inline read_ns=0 write_ns=0
null_add nullb1 irqmode=0 size=1024 memory_backed=1
ext4_file nullb1
other=$(weigh pwrite /mnt/nullb1/file 4096 $ios)
umount /mnt/nullb1
ext4_file backed
tare=$(weigh pwrite /mnt/backed/file 4096 $ios)
umount /mnt/backed
rows pwrite4k-ext4-memory null_blk "$tare" "$other" ""

null_add nullb2 irqmode=2 completion_nsec=10000 size=1024
tare add -q tare10us completion=timer read_ns=10000
other=$(weigh pread /dev/nullb2 4096 $ios)
tare=$(weigh pread /dev/tare10us 4096 $ios)
rows pread4k-timer-10us null_blk "$tare" "$other" ""

tare rm -q --all

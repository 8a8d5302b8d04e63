#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# modes: wall
# kernels: all
# programs: fio mkfs.ext4 mkfs.xfs blkdiscard attrs record load control mirror pressure
#
# The backing store and the write cache. Guarded: what was written is read,
# raw and through file systems, in every completion mode, at any size and
# place; discard and write-zeroes read zero and give the memory back; with no
# memory a write waits and is counted, nothing is lost; flush and FUA reach the
# device when it has a write cache, and only then.
#
# shellcheck source=tests/guest/lib/driver.sh
. "$(dirname "$0")/lib/driver.sh"

# kB: MemAvailable, and what lies in the CPUs' own lists of free pages, which
# it does not count.
available()
{
	awk '/^MemAvailable:/ { n += $2 } $1 == "count:" { n += 4 * $2 }
	     END { print n }' /proc/meminfo /proc/zoneinfo
}

# verify TEXT FILE SIZE BLOCK: fio writes at random, reads back, checks crc32c.
verify()
{
	check "$1" fio --name=verify --filename="$2" --size="$3" --bs="$4" \
		--rw=randwrite --direct=1 --verify=crc32c --do_verify=1 \
		--verify_fatal=1 --randseed=7 --thread
	check_is "$1: written and read back" \
		"$(grep -c 'err= 0' "$tap_out")" 1
}

file_system()
{
	kind=$1
	shift
	if ! mkfs."$kind" "$@" /dev/t > "$tmp/mkfs" 2>&1 ||
	   ! mount -t "$kind" /dev/t /mnt; then
		tap_result 1 "$kind can be made and mounted"
		sed 's/^/# /' "$tmp/mkfs"
		return
	fi
	verify "$completion, $size: $kind" /mnt/file 4m 8k
	md5sum < /mnt/file > "$tmp/before"
	umount /mnt
	mount -t "$kind" /dev/t /mnt
	check_is "$completion, $size: $kind, mounted again" \
		"$(md5sum < /mnt/file)" "$(cat "$tmp/before")"
	umount /mnt
}

kept()
{
	size=512
	for completion in inline complete timer; do
		add t memory_backed=1 size_mb=400 completion=$completion \
			block_size=$size read_ns=1000 write_ns=1000 discard=1 \
			write_cache=1 submit_queues="$cpus"
		verify "$completion, $size: raw" /dev/t 4m 4k
		if [ $completion = complete ]; then
			verify "$completion, $size: raw, one sector" /dev/t 512k $size
		fi
		file_system ext4 -q
		file_system xfs -q -f
		control counters t > "$tmp/out"
		check_is "$completion, $size: errors" "$(field errors)" 0
		del t
		size=4096
	done
}

images()
{
	for completion in inline timer; do
		for size in 512 1024 4096; do
			add t memory_backed=1 size_mb=4 block_size=$size discard=1 \
				completion=$completion read_ns=0 write_ns=0 discard_ns=0
			subtests mirror /dev/t 4 400 $size
			"$blkdiscard" /dev/t
			check_is "no page is left" "$(value t store_pages)" 0
			del t
		done
	done
	# The segments end in the middle of the store's pages.
	add t memory_backed=1 size_mb=4 discard=1 max_segments=3 max_sectors_kb=7 \
		completion=inline read_ns=0 write_ns=0
	subtests mirror /dev/t 4 300
	del t
}

survives()
{
	add t memory_backed=1 size_mb=8 write_cache=1 completion=inline
	subtests mirror -k /dev/t 8 "$tmp/image"
	check_is "the store holds every page" "$(value t store_pages)" 2048
	sync
	echo 3 > /proc/sys/vm/drop_caches
	check_is "power stays on while it is open" \
		"$(exec 3< /dev/t; put t power 0)" EBUSY
	put t completion timer > /dev/null
	put t write_ns 5 > /dev/null
	subtests mirror -c /dev/t 8 "$tmp/image"
	check_is "through the page cache too" \
		"$(md5sum < /dev/t)" "$(md5sum < "$tmp/image")"
	rm "$tmp/image"
	power t 0
	check_is "no pages without power" "$(value t store_pages)" 0
	power t 1
	check_is "empty after power" "$(value t store_pages)" 0
	check_is "reads zeroes" \
		"$(dd if=/dev/t bs=64k count=4 iflag=direct 2> /dev/null | tr -d '\000' | wc -c)" 0
	del t
}

memory()
{
	# Or what is available would follow the kernel's fight with fragments.
	boost=$(cat /proc/sys/vm/watermark_boost_factor)
	echo 0 > /proc/sys/vm/watermark_boost_factor
	add t memory_backed=1 size_mb=128 discard=1 completion=inline \
		read_ns=0 write_ns=0 discard_ns=0
	# Once before: what the free lists of the CPUs and slabs keep is there.
	dd if=/dev/zero of=/dev/t bs=1M count=96 oflag=direct 2> /dev/null
	"$blkdiscard" /dev/t
	echo 3 > /proc/sys/vm/drop_caches
	usleep 500000
	before=$(available)
	dd if=/dev/zero of=/dev/t bs=1M count=96 oflag=direct 2> /dev/null
	full=$(available)
	check_is "96 MiB are 24576 pages" "$(value t store_pages)" 24576
	check_is "and are missing ($before, $full kB)" \
		"$(( before - full > 90000 ))" 1
	"$blkdiscard" -o 1024 -l 2048 /dev/t
	check_is "a part of a page frees nothing" "$(value t store_pages)" 24576
	check "48 MiB written as zeroes" "$blkdiscard" -z -o 0 -l 50331648 /dev/t
	check_is "are 12288 pages less" "$(value t store_pages)" 12288
	check "the rest discarded" "$blkdiscard" /dev/t
	check_is "leaves none" "$(value t store_pages)" 0
	echo 3 > /proc/sys/vm/drop_caches
	usleep 500000
	after=$(available)
	off=$(( after > before ? after - before : before - after ))
	check_is "MemAvailable is back within 1 % ($before, $full, $after kB)" \
		"$(( off * 100 < before ))" 1
	del t
	add t memory_backed=1 size_mb=32 prealloc=1 discard=1 completion=inline
	check_is "prealloc fills it" "$(value t store_pages)" 8192
	check_is "with zeroes" \
		"$(dd if=/dev/t bs=1M iflag=direct 2> /dev/null | tr -d '\000' | wc -c)" 0
	dd if=/dev/zero of=/dev/t bs=1M count=8 oflag=direct 2> /dev/null
	check_is "writing takes no more" "$(value t store_pages)" 8192
	del t
	# More than there is: refused, and nothing killed for it. The first time
	# the kernel gives up caches that it does not take again at once.
	make t memory_backed=1 size_mb=8192 prealloc=1
	check_is "prealloc beyond memory" "$(put t power 1)" ENOMEM
	usleep 500000
	before=$(available)
	check_is "and again" "$(put t power 1)" ENOMEM
	usleep 500000
	check_is "is off" "$(value t power)" 0
	check_is "killed nothing" "$(log_all | grep -ci 'killed process')" 0
	after=$(available)
	check_is "and left nothing ($before, $after kB)" \
		"$(( (before - after) * 100 < before ))" 1
	put t prealloc 0 > /dev/null
	check_is "without prealloc it comes" "$(put t power 1)" 0
	del t
	echo "$boost" > /proc/sys/vm/watermark_boost_factor
}

without_memory()
{
	# Or what is available would follow the kernel's fight with fragments.
	boost=$(cat /proc/sys/vm/watermark_boost_factor)
	echo 0 > /proc/sys/vm/watermark_boost_factor
	add t memory_backed=1 size_mb=64 discard=1 completion="$1" write_ns=1000
	subtests pressure t 8
	check_is "$1: all pages are there" "$(value t store_pages)" 2048
	check_is "$1: killed nothing" "$(log_all | grep -ci 'killed process')" 0
	del t
}

# flushes WRITE_CACHE FUA: 10 writes with O_DSYNC, and one fsync.
flushes()
{
	add t write_cache="$1" fua="$2" memory_backed=1 size_mb=16 \
		write_ns=2000 flush_ns=3000
	record t sh -c 'load -y -o write -n 10 /dev/t
		dd if=/dev/zero of=/dev/t bs=4096 count=1 conv=fsync' \
		> "$tmp/load" 2> /dev/null
	tail -n 1 "$tmp/load" > "$tmp/out"
	check_is "write_cache=$1 fua=$2: statistics and records agree" \
		"$(field mismatch)" 0
	del t
}

caches()
{
	flushes 0 1
	check_is "no write cache: no flush" "$(field flush)" 0
	check_is "no FUA" "$(field fua)" 0
	flushes 1 1
	check_is "write cache: flushes reach the device" \
		"$(( $(field flush) > 0 ))" 1
	check_is "each write with O_DSYNC is FUA" "$(field fua)" 10
	with=$(field flush)
	flushes 1 0
	check_is "fua=0: no FUA" "$(field fua)" 0
	check_is "fua=0: a flush more for each write" "$(field flush)" $((with + 10))
}

driver_start
kept
no_splat
images
survives
memory
no_splat
without_memory inline
without_memory timer
caches
driver_end

#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# What `make demo` shows: the cost of a 4 KiB synchronous write, on the raw
# device and on ext4, to the instruction, in a throw-away virtual machine.
set -eu
cd "$(dirname "$0")/.."

echo "tare: building the tool"
make -s tool
echo "tare: fetching Linux 6.1 into the cache, if it is not there; nothing is installed"
build/tare lab fetch 6.1
echo "tare: building the kernel modules for it"
build/tare lab build --kernel 6.1 >/dev/null
cat <<'END'
tare: weighing in a virtual machine whose clock counts instructions.
tare: A 4 KiB write, O_DIRECT, on a device that takes 40 microseconds:
tare: first the raw device, then ext4 on it.

END
out=build/demo.out
build/tare lab run --exact --kernel 6.1 -- sh -c '
	modprobe tare_blk nr_devices=0 &&
	tare run sync-write-4k --ios 20000 completion=timer write_ns=40000 &&
	echo &&
	tare run sync-write-4k --ios 20000 --fs ext4 completion=timer write_ns=40000 memory_backed=1
' >$out || {
	cat $out
	exit 1
}
cat $out
awk '$1 == "net" { net[++n] = $3 }
	END {
		printf "\nThe Linux 6.1 storage stack above the device, for one 4 KiB write:\n"
		printf "  raw disk  %6d instructions (p50)\n", net[1]
		printf "  ext4      %6d instructions (p50)\n", net[2]
		if (net[1] > net[2])
			print "The raw write is the dearer one on 6.1: docs/raw-write.md says why."
		exit n != 2
	}' $out

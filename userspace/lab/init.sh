#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# First process of the lab's virtual machine. Runs /lab/command and sends
# everything home through virtio ports: 1 stdout, 2 stderr, 3 exit code and
# the DONE marker, 4 kernel log, 5 the files in /results.

export PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin
export HOME=/root TERM=dumb LC_ALL=C

port() {
	echo "/dev/vport0p$1"
}

# usleep and not sleep: in exact mode idle time is free, but not endless.
wait_for() {
	tries=5000
	until [ -e "$1" ]; do
		tries=$((tries - 1))
		if [ $tries -eq 0 ]; then
			echo "lab: $1 did not appear" >/dev/console
			return 1
		fi
		usleep 1000
	done
}

mount -t proc proc /proc
mount -t sysfs sys /sys
mount -t devtmpfs dev /dev
mkdir -p /dev/pts /dev/shm
mount -t devpts pts /dev/pts
ln -sf /proc/self/fd /dev/fd
ln -sf fd/0 /dev/stdin
ln -sf fd/1 /dev/stdout
ln -sf fd/2 /dev/stderr

modprobe -a virtio_pci virtio_console
wait_for "$(port 5)" || poweroff -f

modprobe configfs && mount -t configfs config /sys/kernel/config
mount -t debugfs debug /sys/kernel/debug
mount -t tracefs trace /sys/kernel/tracing

# A port can be open only once: pipes between, so that /dev/stdout works too.
mkfifo /run/out /run/err
{
	cat /run/out >"$(port 1)"
	: >/run/out.end
} &
{
	cat /run/err >"$(port 2)"
	: >/run/err.end
} &

(
	cd /work || exit 1
	# shellcheck source=/dev/null
	. /lab/command
	if ! command -v "$1" >/dev/null; then
		echo "tare: the guest has no $1: see --program and --add" >&2
		exit 127
	fi
	exec "$@"
) </dev/null >/run/out 2>/run/err
code=$?

# Something left in the background may hold the pipes: it has two seconds.
tries=200
until [ -e /run/out.end ] && [ -e /run/err.end ]; do
	tries=$((tries - 1))
	[ $tries -eq 0 ] && break
	usleep 10000
done

dmesg >"$(port 4)"
if [ -n "$(ls -A /results)" ]; then
	tar -C /results -cf "$(port 5)" .
fi
printf 'exit %s\nDONE\n' "$code" >"$(port 3)"
poweroff -f

#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# On the host: what `tare lab run` promises. Exit code, output, results, time
# limit, and that no fault of the guest's kernel goes unnoticed.
#
# shellcheck source=tests/tap.sh
. "$(dirname "$0")/../tap.sh"

TARE=${TARE:-build/tare}
dir=$(mktemp -d) || exit 1
trap 'rm -rf "$dir" "$tap_out"' EXIT

lab()
{
	"$TARE" lab run --wall --kernel 6.1 --no-modules --log "$dir/log" "$@"
}

check_exit 42 "the command's exit code is the lab's" lab -- sh -c 'exit 42'
check_exit 127 "a command that is not there" lab -- no-such-command
lab -- sh -c 'echo data; echo message >&2' >"$dir/out" 2>"$dir/err"
check_is "stdout comes back as stdout" "$(cat "$dir/out")" data
check_is "stderr comes back as stderr" "$(grep -c '^message$' "$dir/err")" 1
# shellcheck disable=SC2016 # it must not be expanded
lab -- printf '%s|' 'a b' "it's" '' '$HOME' '
' >"$dir/out" 2>/dev/null
check_is "arguments arrive as they are" "$(cat "$dir/out")" "a b|it's||\$HOME|
|"
check "files in /results come home" lab --results "$dir/results" -- \
	sh -c 'echo found >/results/file'
check_is "with their contents" "$(cat "$dir/results/file")" found
check_exit 1 "a warning in the kernel log is a failure" lab -- \
	sh -c 'echo "WARNING: CPU: 0 PID: 1 at planted.c:1 planted+0x1/0x2" >/dev/kmsg'
check "unless it is expected" lab --allow planted -- \
	sh -c 'echo "WARNING: CPU: 0 PID: 1 at planted.c:1 planted+0x1/0x2" >/dev/kmsg'
check_exit 1 "a panic is a failure" lab -- sh -c 'echo c >/proc/sysrq-trigger'
check_exit 1 "the time limit is a failure" lab --timeout 15 -- sleep 600
check_exit 2 "no command" "$TARE" lab run
check_exit 2 "a size that is none" "$TARE" lab run --mem 0 -- true
check_exit 2 "a mode of another kind of machine" "$TARE" lab run --exact --smp 2 -- true
check_exit 2 "a kernel version that is none" "$TARE" lab run --kernel ../6.1 -- true
check_is "no virtual machine is left" "$(pgrep -f "qemu-system.*$dir" | wc -l)" 0
tap_end

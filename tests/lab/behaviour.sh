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
# A cache of its own, to see what is left there.
cached=${TARE_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/tare}
mkdir "$dir/cache"
ln -s "$cached/kernels" "$dir/cache/kernels"
for when in 0.1 0.3; do
	check_says 143 interrupted "a signal after $when s ends it, with a message" \
		timeout --preserve-status -s TERM "$when" env TARE_CACHE="$dir/cache" \
		"$TARE" lab run --wall --kernel 6.1 --no-modules --log "$dir/log" -- sleep 9
	check_is "and leaves nothing in the cache" "$(ls -A "$dir/cache/runs")" ""
done
mkdir "$dir/bin"
printf '#!/bin/sh\nexec sleep 9\n' >"$dir/bin/apt-get"
chmod +x "$dir/bin/apt-get"
check_says 130 interrupted "Ctrl-C while a kernel is fetched" \
	timeout --preserve-status -s INT 2 env PATH="$dir/bin:$PATH" TARE_CACHE="$dir/new" \
	"$TARE" lab fetch 6.1
check_is "leaves nothing of it" "$(find "$dir/new" -type d -name '.new-*')" ""

# full MB COMMAND…: with $dir/small a file system of so many MB.
full()
{
	# shellcheck disable=SC2016,SC2317 # expanded inside; called by name
	unshare -m sh -c 'mount -t tmpfs -o size=$1m none "$2" && shift 2 &&
		{ "$@"; code=$?; ls -A "$TARE_CACHE/kernels" | grep -v lock; exit $code; }' \
		sh "$1" "$dir/small" env TARE_CACHE="$dir/small" "$TARE" lab fetch 6.1
}

mkdir "$dir/small"
if unshare -m mount -t tmpfs none "$dir/small" 2>/dev/null; then
	export TARE_CACHE="$dir/small"
	check_says 77 "$dir/small/kernels has 20 MB" "no room in the cache" full 20
	check_is "is all there is to say, and nothing is left" "$(wc -l <"$tap_out")" 1
	unset TARE_CACHE
else
	skip "no room in the cache" "no mount of its own here"
fi
echo >"$dir/file"
for cache in "$dir/file" /proc/tare /dev/null/tare; do
	check_says 77 "cannot write the cache $cache: " "a cache at $cache" \
		env TARE_CACHE="$cache" "$TARE" lab run --no-modules -- true
	check_says 77 "set TARE_CACHE to a directory of yours" "and the way out" \
		env TARE_CACHE="$cache" "$TARE" lab fetch 6.1
done
check_says 2 "TARE_CACHE=relative" "a cache that is relative" \
	env TARE_CACHE=relative "$TARE" lab fetch 6.1
check_is "is not made" "$(ls -d relative 2>/dev/null)" ""
check_says 2 "COMMAND is empty" "an empty command" "$TARE" lab run -- ''
check_says 2 "no '..'" "a path that leaves the guest's directory" \
	"$TARE" lab run --add x:../../x -- true
check_says 2 "exclude each other" "two modes" "$TARE" lab run --wall --exact -- true
check_exit 2 "no command" "$TARE" lab run
check_exit 2 "a size that is none" "$TARE" lab run --mem 0 -- true
check_exit 2 "a mode of another kind of machine" "$TARE" lab run --exact --smp 2 -- true
check_exit 2 "a kernel version that is none" "$TARE" lab run --kernel ../6.1 -- true
check_is "no virtual machine is left" "$(pgrep -f "qemu-system.*$dir" | wc -l)" 0
tap_end

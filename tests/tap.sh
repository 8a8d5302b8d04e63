# SPDX-License-Identifier: GPL-2.0-only
# shellcheck shell=sh
# For shell tests: prints TAP. Source it, check things, end with tap_end.
# Runs under dash and busybox.

tap_n=0
tap_failed=0
# What the last command of a check printed, both streams; $tap_code: its exit code.
tap_out=${TMPDIR:-/tmp}/tap.$$
tap_code=0
trap 'rm -f "$tap_out"' EXIT

# tap_result OK TEXT: OK is 0 when it went well.
tap_result()
{
	tap_n=$((tap_n + 1))
	if [ "$1" = 0 ]; then
		echo "ok $tap_n - $2"
	else
		echo "not ok $tap_n - $2"
		tap_failed=$((tap_failed + 1))
	fi
}

tap_run()
{
	tap_code=0
	"$@" > "$tap_out" 2>&1 || tap_code=$?
}

# tap_fail TEXT: not ok, with what the command printed.
tap_fail()
{
	tap_result 1 "$1"
	echo "# exit code $tap_code"
	head -n 20 "$tap_out" | sed 's/^/# /'
}

# check TEXT COMMAND…: ends with 0.
check()
{
	check_exit 0 "$@"
}

# check_exit CODE TEXT COMMAND…: ends with CODE.
check_exit()
{
	tap_want=$1
	tap_text=$2
	shift 2
	tap_run "$@"
	if [ "$tap_code" = "$tap_want" ]; then
		tap_result 0 "$tap_text"
	else
		tap_fail "$tap_text"
	fi
}

# check_says CODE WORDS TEXT COMMAND…: ends with CODE and prints WORDS.
check_says()
{
	tap_want=$1
	tap_words=$2
	tap_text=$3
	shift 3
	tap_run "$@"
	if [ "$tap_code" = "$tap_want" ] &&
	   grep -qF -- "$tap_words" "$tap_out"; then
		tap_result 0 "$tap_text"
	else
		tap_fail "$tap_text"
		echo "# wanted: $tap_words"
	fi
}

# check_is TEXT GOT WANTED
check_is()
{
	if [ "$2" = "$3" ]; then
		tap_result 0 "$1"
	else
		tap_result 1 "$1"
		echo "# got '$2', wanted '$3'"
	fi
}

# near A B LIMIT: both are numbers and differ by at most LIMIT.
near()
{
	awk -v a="$1" -v b="$2" -v limit="$3" 'BEGIN {
		if (a !~ /^[0-9.]+$/ || b !~ /^[0-9.]+$/) exit 1
		d = a - b; if (d < 0) d = -d
		exit d > limit
	}'
}

# skip TEXT REASON
skip()
{
	tap_n=$((tap_n + 1))
	echo "ok $tap_n - $1 # SKIP $2"
}

# The plan; ends the script.
tap_end()
{
	echo "1..$tap_n"
	[ "$tap_failed" = 0 ]
	exit
}

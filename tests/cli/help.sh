#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# Every command has a page, every option of --help is in it, and no page has an
# option that --help has not.
# shellcheck source=tests/tap.sh
. "$(dirname "$0")/../tap.sh"

TARE=${TARE:-build/tare}
pages=$(dirname "$0")/../../docs/man

# Long options in a text, sorted.
options()
{
	grep -o -- '--[a-z][a-z-]*' | sort -u
}

one_command()
{
	page=$pages/tare-$1.1.scd
	check "$1 --help" "$TARE" "$1" --help
	[ -f "$page" ] || {
		tap_result 1 "$1 has a page"
		return
	}
	check_is "options of $1 in the page but not in --help, or the reverse" \
		"$({ "$TARE" "$1" --help | options
		     sed -n '/^# OPTIONS/,/^# [^O]/p' "$page" | grep '^\*' | options
		   } | sort | uniq -u | tr '\n' ' ')" ""
	check_says 0 "tare-$1" "tare(1) names $1" grep -F "*tare-$1*(1)" "$pages/tare.1.scd"
}

for command in add rm ls show set save restore stat doctor; do
	one_command "$command"
done
for command in $("$TARE" --help | sed -n 's/^  \([a-z][a-z]*\)  *.*/\1/p'); do
	check "$command has a page" test -f "$pages/tare-$command.1.scd"
done
for page in "$pages"/*.scd; do
	check "$(basename "$page") is good scdoc" sh -c "scdoc < '$page'"
done
tap_end

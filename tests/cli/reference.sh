#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# The page tare-attributes(5) is what the program prints from its table.
# shellcheck source=tests/tap.sh
. "$(dirname "$0")/../tap.sh"

TARE=${TARE:-build/tare}
pages=$(dirname "$0")/../../docs/man

check "prints the page" sh -c "'$TARE' show --reference | diff - '$pages/tare-attributes.5.scd'"
"$TARE" show --attributes -o csv | tail -n +2 | cut -d, -f1 > "$tap_out.list"
check_is "every attribute is in it" \
	"$(sed 's/_/\\_/g' "$tap_out.list" | while read -r attr; do
		grep -qF "*$attr*" "$pages/tare-attributes.5.scd" || echo "$attr"
	done)" ""
rm -f "$tap_out.list"
tap_end

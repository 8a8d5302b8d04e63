#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# On the host: the same command in five fresh exact machines gives the same
# figures. p50 of every row within 16 instructions; the spread is printed.
#
# shellcheck source=tests/tap.sh
. "$(dirname "$0")/../tap.sh"

TARE=${TARE:-build/tare}
dir=$(mktemp -d) || exit 1
trap 'rm -rf "$dir" "$tap_out"' EXIT
rounds=5
limit=16

for i in $(seq $rounds); do
	"$TARE" lab run --exact --kernel 6.1 --log "$dir/log" -- sh -c '
		modprobe tare_blk nr_devices=0 &&
		tare run sync-write-4k --ios 5000 --fs ext4 -o csv completion=timer write_ns=40000' \
		>"$dir/run$i" 2>"$dir/err$i"
	tap_result $? "run $i"
done

# ROW SPREAD VALUES…
awk -F, '
	$1 == "row" { table = 1; next }
	table && NF < 6 { table = 0 }
	FNR == 1 { table = 0 }
	table && $3 ~ /^[0-9]+$/ {
		if (!($1 in n)) { order[++rows] = $1; min[$1] = max[$1] = $3 }
		n[$1]++
		if ($3 < min[$1]) min[$1] = $3
		if ($3 > max[$1]) max[$1] = $3
		all[$1] = all[$1] " " $3
	}
	END { for (i = 1; i <= rows; i++) { r = order[i]; print r, n[r], max[r] - min[r], all[r] } }
' "$dir"/run? >"$dir/spread"

check_is "all rows were reported" "$(wc -l <"$dir/spread")" 10
while read -r row n spread values; do
	[ "$n" = $rounds ] && [ "$spread" -le $limit ]
	tap_result $? "$row: spread $spread of p50 over $n runs:$values"
done <"$dir/spread"
tap_end

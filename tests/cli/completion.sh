#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# What bash offers after a line that was begun.
# shellcheck source=tests/tap.sh
. "$(dirname "$0")/../tap.sh"

TARE=${TARE:-build/tare}
script=$(dirname "$0")/../../docs/tare.bash-completion

# offers WORD…: the offers for the last word, sorted.
offers()
{
	# shellcheck disable=SC2016 # expanded by bash
	bash -c '
		. "$1"
		shift
		compopt() { :; }
		COMP_WORDS=("$@")
		COMP_CWORD=$(($# - 1))
		_tare
		printf "%s\n" "${COMPREPLY[@]}"
	' bash "$script" "$TARE" "$@" | sort | tr '\n' ' '
}

has()
{
	case " $(shift 2; offers "$@") " in
	*" $2 "*) tap_result 0 "$1" ;;
	*)
		tap_result 1 "$1"
		echo "# offers: $(shift 2; offers "$@")"
		;;
	esac
}

if ! command -v bash > /dev/null; then
	skip "completion" "no bash"
	tap_end
fi
check_is "commands by their beginning" "$(offers re)" "restore "
has "commands" doctor ""
has "options" --dry-run add --d
has "options with an argument" --profile= add --pr
check_is "formats" "$(offers ls -o '')" "csv json text "
has "profiles" nvme-optane add t0 -p ""
has "profiles after =" null add t0 --profile = nu
has "attributes" read_ns= add t0 re
check_is "not those that cannot be set" "$(offers add t0 store)" " "
check_is "modes" "$(offers add t0 completion = '')" "complete inline spin timer "
check_is "distributions" "$(offers set t0 distribution = '')" \
	"fixed lognormal normal pareto uniform "
check_is "switches" "$(offers set t0 fua =)" "0 1 "
check_is "no attribute before the name" "$(offers add re)" " "
has "attributes to show" read_ns show t0 re
"$TARE" --help | sed -n 's/^  \([a-z][a-z]*\)  *.*/\1/p' | sort | tr '\n' ' ' > "$tap_out.commands"
check_is "all commands" "$(offers '' | sed 's/--[a-z]* //g')" "$(cat "$tap_out.commands")"
rm -f "$tap_out.commands"
tap_end

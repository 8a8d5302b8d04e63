#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# All the tests: unit, cli, lab (on the host), guest (in the VM, for each
# kernel and mode). Each prints TAP; the last line is the sum of them all.
#
# run.sh [unit] [cli] [lab] [guest]    these kinds only
# KERNELS="6.1 6.12" MODES="exact softirq wall" TESTS="stats store" narrow it.
# shellcheck disable=SC2317 # the kinds are called by name
set -u
cd "$(dirname "$0")/.." || exit 1

KERNELS=${KERNELS:-6.1 6.12}
MODES=${MODES:-exact softirq wall}
out=build/test
passed=0 failed=0 skipped=0

say() {
	printf '== %s\n' "$*"
}

# count NAME FILE CODE: adds up a TAP file. A plan that is missing or not
# kept, and an exit code that no "not ok" explains, are failures too.
count() {
	local name=$1 file=$2 code=$3 ok bad skip plan
	ok=$(grep -c '^ok ' "$file")
	skip=$(grep -ciE '^ok .*# skip' "$file")
	bad=$(grep -c '^not ok ' "$file")
	plan=$(sed -n 's/^1\.\.\([0-9]*\).*/\1/p' "$file" | awk '{ n += $1 } END { print n + 0 }')
	if [ $((ok + bad)) != "$plan" ]; then
		echo "not ok - $name: $((ok + bad)) of $plan planned tests ran (exit code $code)"
		tail -n 15 "$file" | sed 's/^/   | /'
		bad=$((bad + 1))
	elif [ "$code" != 0 ] && [ "$bad" = 0 ]; then
		echo "not ok - $name: exit code $code"
		tail -n 15 "$file" | sed 's/^/   | /'
		bad=1
	fi
	grep -A 6 '^not ok ' "$file" | sed "s|^|$name: |"
	passed=$((passed + ok - skip))
	failed=$((failed + bad))
	skipped=$((skipped + skip))
	printf '   %-28s %4d passed %3d failed %3d skipped\n' "$name" $((ok - skip)) "$bad" "$skip"
}

# A unit test is one C file with a main of cmocka's.
unit_tests() {
	local test name
	say "unit tests, with sanitizers"
	make -s -C userspace TOP="$PWD" O="$PWD/build/san" SAN="-fsanitize=address,undefined -fno-sanitize-recover=all" "$PWD/build/san/libtest.a" || exit 1
	for test in tests/unit/test_*.c; do
		name=$(basename "$test" .c)
		gcc -std=gnu11 -O1 -g -Wall -Wextra -Werror -D_GNU_SOURCE \
			-fsanitize=address,undefined -fno-sanitize-recover=all \
			-DTARE_SOURCE_DIR="\"$PWD\"" -DTARE_VERSION='"test"' \
			-Iuserspace/lib -Iuserspace/cli -Iuserspace/engines -Iuserspace/lab -Idriver \
			-o "$out/$name" "$test" build/san/libtest.a \
			-lcmocka -ljansson -linih -luring -lm -lpthread || { failed=$((failed + 1)); continue; }
		CMOCKA_MESSAGE_OUTPUT=TAP TARE_SOURCE=$PWD "$out/$name" >"$out/$name.tap" 2>"$out/$name.err" </dev/null
		count "unit/$name" "$out/$name.tap" $?
	done
}

# shell_tests DIRECTORY: scripts that run on the host.
shell_tests() {
	local test name
	make -s tool man || exit 1
	for test in "tests/$1"/*.sh; do
		name=$(basename "$test" .sh)
		TARE=$PWD/build/tare sh "$test" >"$out/$name.tap" 2>"$out/$name.err" </dev/null
		count "$1/$name" "$out/$name.tap" $?
	done
}

cli_tests() {
	say "the command line, without a driver"
	shell_tests cli
}

lab_tests() {
	say "the lab itself, and that exact runs repeat"
	make -s tool && build/tare lab fetch 6.1 || exit 1
	shell_tests lab
}

# header FILE KEY: the words after "# KEY:" at the top of a test.
header() {
	sed -n "s/^# $2: *//p" "$1" | head -n 1
}

# One boot runs all tests of a kernel and mode that need no machine of their own.
guest_boot() {
	local kernel=$1 mode=$2 test list='' own='' programs='' name
	for test in tests/guest/*.sh; do
		name=$(basename "$test" .sh)
		case " ${TESTS:-$name} " in *" $name "*) ;; *) continue ;; esac
		case " $(header "$test" modes) " in *" $mode "*) ;; *) continue ;; esac
		case " $(header "$test" kernels) " in *" all "* | *" $kernel "* | "  ") ;; *) continue ;; esac
		if [ -n "$(header "$test" machine)" ]; then
			own="$own $name"
			continue
		fi
		programs="$programs $(header "$test" programs)"
		list="$list $name"
	done
	[ -z "$list" ] || guest_run "$kernel" "$mode" "$list" "$programs"
	for name in $own; do
		guest_run "$kernel" "$mode" "$name" "$(header "tests/guest/$name.sh" programs)" \
			"$(header "tests/guest/$name.sh" machine)"
	done
}

# QEMU 7.2's multi-threaded emulation loses track of the flags now and then, and
# the guest dies of a fault with EFLAGS beyond bit 21, which no CPU has. Nothing
# that a kernel does can set them.
emulator_fault() {
	grep -qE 'EFLAGS: ([0-9a-f]*[1-9a-f][0-9a-f]{6}|00[4-9a-f][0-9a-f]{5})$' "$1" 2>/dev/null
}

# guest_lab KERNEL MODE LOG ARGUMENTS OF LAB RUN…
guest_lab() {
	local kernel=$1 mode=$2 log=$3
	shift 3
	rm -rf "$log.results"
	build/tare lab run "--$mode" --kernel "$kernel" --timeout 1500 \
		--log "$log.dmesg" --results "$log.results" --add tests/guest --add tests/tap.sh \
		"$@" >"$log.out" 2>&1
}

# guest_run KERNEL MODE TESTS PROGRAMS [MORE ARGUMENTS OF LAB RUN]
guest_run() {
	local kernel=$1 mode=$2 list=$3 programs=$4 more=${5:-} args=() name program log
	log=$out/guest-$kernel-$mode$(echo "$list" | tr ' ' '-' | cut -c1-60)
	# shellcheck disable=SC2086 # words on purpose
	for program in $(printf '%s\n' $programs | sort -u); do
		if [ -x "build/prog/$program" ]; then
			args+=(--program "build/prog/$program")
		else
			args+=(--program "$program")
		fi
	done
	# shellcheck disable=SC2086 # words on purpose
	guest_lab "$kernel" "$mode" "$log" $more "${args[@]}" -- sh /work/guest/all.sh $list
	local code=$?
	if [ "$code" != 0 ] && emulator_fault "$log.dmesg"; then
		echo "   once more: the emulator gave EFLAGS bits that no CPU has, see $log.dmesg.1"
		mv "$log.dmesg" "$log.dmesg.1"
		# shellcheck disable=SC2086 # words on purpose
		guest_lab "$kernel" "$mode" "$log" $more "${args[@]}" -- sh /work/guest/all.sh $list
		code=$?
	fi
	for name in $list; do
		[ -f "$log.results/$name.tap" ] || : >"$log.results/$name.tap"
		count "guest/$kernel/$mode/$name" "$log.results/$name.tap" \
			"$(cat "$log.results/$name.code" 2>/dev/null || echo 255)"
	done
	if [ "$code" != 0 ]; then
		echo "not ok - guest/$kernel/$mode: the lab ended with $code, see $log.out"
		tail -n 15 "$log.out" | sed 's/^/   | /'
		failed=$((failed + 1))
	fi
}

guest_tests() {
	local kernel mode prog
	make -s tool || exit 1
	mkdir -p build/prog
	for prog in tests/guest/prog/*.c tests/bench/*.c; do
		[ -f "$prog" ] || continue
		gcc -O2 -Wall -Wextra -Werror -D_GNU_SOURCE -Idriver/uapi -o "build/prog/$(basename "$prog" .c)" \
			"$prog" -luring || exit 1
	done
	for kernel in $KERNELS; do
		say "in the lab: Linux $kernel"
		if ! build/tare lab fetch "$kernel" || ! build/tare lab build --kernel "$kernel" >/dev/null; then
			failed=$((failed + 1))
			continue
		fi
		for mode in $MODES; do
			guest_boot "$kernel" "$mode"
		done
	done
}

main() {
	local kind
	mkdir -p $out
	[ $# -gt 0 ] || set -- unit cli lab guest
	for kind; do
		case $kind in
		unit | cli | lab | guest) "${kind}_tests" ;;
		*) echo "run.sh: there are unit, cli, lab and guest tests, no $kind" >&2; exit 2 ;;
		esac
	done
	echo "$passed passed, $failed failed, $skipped skipped"
	[ $failed = 0 ]
	exit
}

main "$@"

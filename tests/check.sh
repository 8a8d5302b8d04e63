#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# What a machine can judge: checkpatch, W=1 and sparse on the driver, kernel-doc
# on what it exports, shellcheck, and the documentation against the table.
# The kernel's own scripts come from Debian's linux-source, kept in the cache.
set -u
cd "$(dirname "$0")/.." || exit 1
failed=0
cache=${TARE_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/tare}
scripts=$cache/kernel-scripts

verdict() {
	if [ "$1" = 0 ]; then
		echo "ok - $2"
	else
		echo "not ok - $2"
		failed=$((failed + 1))
	fi
}

# The scripts directory of Debian's newest linux-source for bookworm.
fetch_scripts() {
	local tmp
	[ -f "$scripts/checkpatch.pl" ] && return
	echo "tare: fetching the kernel's check scripts into the cache"
	mkdir -p "$cache"
	tmp=$(mktemp -d "$cache/scripts.XXXXXX") || return 1
	(
		cd "$tmp" &&
			apt-get -qq -o APT::Sandbox::User=root download linux-source-6.12 &&
			dpkg -x linux-source-6.12_*.deb . &&
			tar xJf usr/src/linux-source-6.12.tar.xz --strip-components=1 --wildcards \
				'*/scripts/checkpatch.pl' '*/scripts/spelling.txt' '*/scripts/kernel-doc' \
				'*/scripts/const_structs.checkpatch'
	) && mv "$tmp/scripts" "$scripts"
	local err=$?
	rm -rf "$tmp"
	return $err
}

check_style() {
	local out
	fetch_scripts || { verdict 1 "fetch checkpatch"; return; }
	# shellcheck disable=SC2046 # words on purpose
	out=$(perl "$scripts/checkpatch.pl" --no-tree --strict --terse --no-summary \
		-f $(git ls-files driver tests/guest/ko | grep "[.][ch]$" | grep -v trace.h) 2>&1
		# TRACE_EVENT is laid out as the kernel's own are.
		perl "$scripts/checkpatch.pl" --no-tree --strict --terse --no-summary \
			--ignore OPEN_ENDED_LINE,PARENTHESIS_ALIGNMENT -f driver/trace.h 2>&1)
	[ -z "$out" ] || echo "$out"
	[ -z "$out" ]
	verdict $? "checkpatch --strict on the driver"
	out=$(perl "$scripts/kernel-doc" -none driver/*.c driver/model.h driver/quantile.h 2>&1)
	[ -z "$out" ] || echo "$out"
	[ -z "$out" ]
	verdict $? "kernel-doc"
}

# Builds in a copy, so that two kernels do not share objects.
check_kernel() {
	local kernel=$1 headers dir out
	build/tare lab fetch "$kernel" || { verdict 1 "fetch $kernel"; return; }
	headers=$(echo "$cache"/kernels/"$kernel"*/usr/src/linux-headers-*-amd64)
	dir=build/check/$kernel
	rm -rf "$dir"
	mkdir -p "$dir"
	cp -r Kbuild driver "$dir"
	out=$(make -s -C "$headers" M="$PWD/$dir" W=1 C=2 CF=-D__CHECK_ENDIAN__ modules 2>&1 |
		grep -v '^Skipping BTF')
	# sparse stumbles over the kernel's own headers: only the driver counts.
	out=$(echo "$out" | grep -E "$dir/|driver/|ERROR|Error")
	[ -z "$out" ] || echo "$out"
	[ -z "$out" ]
	verdict $? "W=1 and sparse, Linux $kernel"
}

check_shell() {
	git ls-files | xargs grep -lE '^#!/bin/(ba|)sh' | xargs shellcheck -x
	verdict $? "shellcheck"
}

# Only compat.h may look at the kernel version.
check_house_rules() {
	! grep -lE 'LINUX_VERSION_CODE|KERNEL_VERSION' driver/*.[ch] driver/uapi/*.h | grep -v compat.h
	verdict $? "kernel versions in compat.h alone"
	! grep -nE '#include <linux/' driver/model.[ch] driver/quantile.[ch] | grep -vE 'linux/(types|compiler)\.h'
	verdict $? "model.c and quantile.c are pure"
}

make -s tool || exit 1
check_style
for kernel in ${KERNELS:-6.1 6.12}; do
	check_kernel "$kernel"
done
check_shell
check_house_rules
[ $failed = 0 ]

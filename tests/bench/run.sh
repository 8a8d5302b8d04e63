#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only
# tare beside its peers, in one run, in the exact lab: instructions per I/O.
# Writes build/bench.json. KERNELS="6.1 6.12" narrows it.
set -eu
cd "$(dirname "$0")/../.."
mkdir -p build/prog build/bench
gcc -O2 -Wall -Wextra -Werror -D_GNU_SOURCE -o build/prog/gross tests/bench/gross.c -luring

for kernel in ${KERNELS:-6.1 6.12}; do
	echo "tare: measuring on Linux $kernel, about two minutes"
	rm -rf "build/bench/$kernel"
	build/tare lab run --exact --kernel "$kernel" --program build/prog/gross \
		--add tests/bench/guest.sh --log "build/bench/$kernel.log" \
		--results "build/bench/$kernel" -- sh /work/guest.sh
done
sort -s -t'"' -k4,4 build/bench/*/rows | {
	printf '{"schema":1,"rows":[\n'
	sed '$!s/$/,/'
	printf ']}\n'
} >build/bench.json
echo "tare: build/bench.json"
cat build/bench.json

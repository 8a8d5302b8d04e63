#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# In the guest: runs the named tests one after the other. Each leaves its TAP
# and its exit code in /results.
cd /work/guest || exit 1
for name; do
	echo "test: $name begins" >/dev/kmsg
	sh "./$name.sh" >"/results/$name.tap" 2>"/results/$name.err" </dev/null
	echo $? >"/results/$name.code"
done

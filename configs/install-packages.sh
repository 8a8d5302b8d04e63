#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# Installs the packages of configs/packages that are missing. As root, or
# through sudo. Changes nothing when all are there.
set -eu
cd "$(dirname "$0")"

missing=
# shellcheck disable=SC2013 # one word a line
for package in $(sed '/^#/d' packages); do
	state=$(dpkg-query -W -f '${db:Status-Status}' "$package" 2>/dev/null) || state=
	[ "$state" = installed ] || missing="$missing $package"
done
# The lab downloads kernels: it needs to know which there are.
lists=yes
apt-cache show linux-headers-amd64 >/dev/null 2>&1 || lists=no
[ -n "$missing" ] || [ $lists = no ] || exit 0

if [ "$(id -u)" = 0 ]; then
	as_root=
elif command -v sudo >/dev/null; then
	as_root=sudo
else
	echo "tare: missing packages:$missing" >&2
	echo "tare: run this as root, or install sudo" >&2
	exit 77
fi
echo "tare: reading Debian's package lists"
$as_root apt-get -qq update
if [ -n "$missing" ]; then
	echo "tare: installing$missing"
	# shellcheck disable=SC2086 # words on purpose
	$as_root env DEBIAN_FRONTEND=noninteractive \
		apt-get -qq install -y --no-install-recommends $missing >/dev/null
fi

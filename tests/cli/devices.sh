#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# ls, show, set, save and restore on a plain directory instead of configfs.
# shellcheck source=tests/tap.sh
. "$(dirname "$0")/../tap.sh"

TARE=${TARE:-build/tare}
tmp=$(mktemp -d) || exit 1
TARE_CONFIGFS=$tmp/configfs
export TARE_CONFIGFS

fake()
{
	mkdir -p "$TARE_CONFIGFS/$1"
	"$TARE" show --attributes -o csv | tail -n +2 |
		while IFS=, read -r attr default _; do
			echo "$default" > "$TARE_CONFIGFS/$1/$attr"
		done
	echo 1 > "$TARE_CONFIGFS/$1/power"
}

value()
{
	cat "$TARE_CONFIGFS/$1/$2"
}

mkdir -p "$TARE_CONFIGFS"
check_is "ls of none has a heading" "$("$TARE" ls | wc -l)" 1
check "ls of none as json" sh -c "'$TARE' ls -o json | grep -q '\"devices\": \[\]'"
fake t0
fake t1
check_is "ls as csv" "$("$TARE" ls -o csv | sed -n 2p)" "t0,1,1024,timer,10000,10000,"
check_is "show as csv" "$("$TARE" show t1 read_ns -o csv | tail -n 1)" "t1,read_ns,10000,10000,live"
check_says 0 '"value": -1' "a number is a number in json" "$TARE" show t0 home_node -o json
check_exit 1 "show of nothing" "$TARE" show t9

check "set" "$TARE" set t0 read_ns=5 write_ns=6
check_is "is written" "$(value t0 read_ns) $(value t0 write_ns)" "5 6"
check_exit 1 "what needs power off" "$TARE" set t0 read_ns=9 size_mb=5
check_is "changes nothing" "$(value t0 read_ns)" 5
check "with power between" "$TARE" set t0 power=0 size_mb=5 power=1
check_is "does" "$(value t0 size_mb) $(value t0 power)" "5 1"
rm "$TARE_CONFIGFS/t0/write_ns"
ln -s /proc/sys/kernel/osrelease "$TARE_CONFIGFS/t0/write_ns"
check_exit 1 "one that cannot be written" "$TARE" set t0 read_ns=77 write_ns=6
check_is "what came before is put back" "$(value t0 read_ns)" 5
rm "$TARE_CONFIGFS/t0/write_ns"
echo 6 > "$TARE_CONFIGFS/t0/write_ns"

check "save" "$TARE" save "$tmp/saved"
check_exit 1 "restore over devices" "$TARE" restore "$tmp/saved"
echo 3 > "$TARE_CONFIGFS/t0/read_ns"
check "restore --replace" "$TARE" restore --replace "$tmp/saved"
check_is "gives it back" "$(value t0 read_ns)" 5
check "from standard input" sh -c "'$TARE' save - | '$TARE' restore -r -"
printf '{"schema":1,"kind":"devices","devices":[\n{"name":"t7","power":true,\n"attributes":{"colour":1}}]}' > "$tmp/bad"
check_says 2 "bad:3: there is no attribute 'colour'" "a bad file names the line" "$TARE" restore "$tmp/bad"
printf '{"schema":1,"kind":"devices","devices":[\n{"name":"sda","power":true,\n"attributes":{}}]}' > "$tmp/bad"
check_says 2 "bad:2: this name cannot be used" "restore of a name of the kernel's" "$TARE" restore "$tmp/bad"
check_is "and makes nothing" "$([ -e "$TARE_CONFIGFS/t7" ] && echo yes)" ""
check_exit 1 "a file that is not there" "$TARE" restore "$tmp/none"
check_exit 1 "a directory" "$TARE" restore "$tmp"
check_exit 1 "save where there is no directory" "$TARE" save "$tmp/none/saved"
check_exit 1 "save to a full disk" "$TARE" save /dev/full
check_says 1 "standard output: cannot be written" "save - to a full disk" sh -c "'$TARE' save - > /dev/full"
rm -rf "$tmp"
tap_end

#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only
# The device commands without a driver: what they refuse, in words and with the
# right exit code.
# shellcheck source=tests/tap.sh
. "$(dirname "$0")/../tap.sh"

TARE=${TARE:-build/tare}
esc=$(printf '\033')

check_exit 2 "no command" "$TARE"
check_exit 0 "--help" "$TARE" --help
check_exit 0 "--version" "$TARE" --version
check_says 2 "no command 'weigh'" "an unknown command" "$TARE" weigh
for command in add rm set save restore; do
	check_exit 2 "$command without arguments" "$TARE" "$command"
done
for command in add rm ls show set save restore stat doctor; do
	check_exit 2 "$command --no-such-option" "$TARE" "$command" --no-such-option
	check_exit 0 "$command --usage" "$TARE" "$command" --usage
done

check_exit 2 "-o of an unknown format" "$TARE" ls -o xml
check_exit 2 "-o of an empty format" "$TARE" ls -o ''
check_exit 2 "ls with an argument" "$TARE" ls t0
check_exit 2 "rm of a name and --all" "$TARE" rm t0 --all
check_exit 2 "two files" "$TARE" save a b
check_exit 2 "two files" "$TARE" restore a b
check_exit 2 "two disks" "$TARE" doctor a b
check_exit 2 "two names" "$TARE" stat a b
for interval in 0 -1 x 0x1 nan inf 1e3 '' ' 1' 1000000 1.2.3; do
	check_exit 2 "stat -i '$interval'" "$TARE" stat "-i$interval" t0
done
for count in 0 -1 x '' 99999999999999999999; do
	check_exit 2 "stat -n '$count'" "$TARE" stat -i 1 "-n$count" t0
done
check_exit 2 "stat -n without -i" "$TARE" stat -n 1
check_exit 2 "stat --reset with -i" "$TARE" stat --reset -i 1
for cpu in -1 x '' 99999999999; do
	check_exit 2 "stat --cpu='$cpu'" "$TARE" stat "--cpu=$cpu"
done

long=$(printf '%0100d' 0)
for name in '' ../x a/b . .. A 'a b' '%s%n' "$long" "$(printf 'a\377')" "${esc}[2J"; do
	check_exit 2 "add '$(printf %.20s "$name" | tr -d '\033\377')'" "$TARE" add "$name" --dry-run
done
# The kernel's own disks would collide with them later.
for name in loop0 sda sdab sdb1 ram0 vda nvme0n1 dm-0 md0 md_d0 zram0 nbd0 sr0 hda fd0 \
	mmcblk0 mmcblk0boot0 pmem0 nullb0 xvda xvda1 dasda; do
	check_says 2 "'$name' is what the kernel itself calls a disk" "add $name" "$TARE" add "$name" --dry-run
done
for name in loop sd s0 ram nvme md fd vdisk ssd sdisk1x sd-0 disk0 model0 dm0 hdd0x; do
	check "add $name" "$TARE" add "$name" --dry-run
done
check_says 2 "\\x1b[2J" "control characters are shown, not sent" "$TARE" add "${esc}[2J" --dry-run
check_says 2 "'%s%n' is no device name" "a format is only a text" "$TARE" add '%s%n' --dry-run

for value in '' ' 1' '1 ' +1 -1 01 0x10 1.5 1k x -0 10000000001 \
	1000000000000000000000000000000; do
	check_says 2 read_ns "read_ns='$value'" "$TARE" add t0 --dry-run "read_ns=$value"
	check_says 2 read_ns "set too" "$TARE" set t0 "read_ns=$value"
done
check_says 2 "0 … 10000000000" "a refusal says what is allowed" "$TARE" add t0 --dry-run read_ns=x
check_says 2 "inline, complete, timer or spin" "of modes too" "$TARE" add t0 --dry-run completion=x
check_says 2 "given twice" "an attribute twice" "$TARE" add t0 --dry-run read_ns=1 read_ns=1
check_says 2 colour "an unknown attribute" "$TARE" add t0 --dry-run colour=1
check_exit 2 "no attribute" "$TARE" add t0 --dry-run =1
check_exit 2 "no value" "$TARE" add t0 --dry-run read_ns
check_exit 2 "what cannot be set" "$TARE" add t0 --dry-run store_pages=1
check_exit 2 "power on add" "$TARE" add t0 --dry-run power=1
check_exit 2 "power=2 on set" "$TARE" set t0 power=2
check_exit 2 "what does not fit together" "$TARE" add t0 --dry-run prealloc=1
check_says 2 sata-ssd "an unknown profile lists those known" "$TARE" add t0 --dry-run -p nothing
check_exit 2 "a profile that is a directory" "$TARE" add t0 --dry-run -p /
check_exit 2 "an attribute to show that is unknown" "$TARE" show t0 colour

for profile in $("$TARE" add --profiles); do
	check_says 0 "mkdir " "profile $profile" "$TARE" add t0 --dry-run -p "$profile"
done
check_says 0 "echo 7 > /sys/kernel/config/tare/t0/read_ns" "the command line comes after the profile" \
	"$TARE" add t0 --dry-run -p sata-ssd read_ns=7
check_is "--no-power does not switch on" "$("$TARE" add t0 --dry-run --no-power | grep -c power)" 0

# A full disk is no success.
if [ -w /dev/full ]; then
	check_exit 1 "output to a full disk" sh -c "'$TARE' show --attributes > /dev/full"
	check_exit 1 "the same as json" sh -c "'$TARE' doctor -o json > /dev/full"
	for command in "" "run " "stat " "add "; do
		for option in --help --version; do
			check_says 1 "cannot write the output" "$command$option to a full disk" \
				sh -c "'$TARE' $command$option > /dev/full"
		done
	done
fi

# What was closed is not given to a file that is opened.
check_says 1 "cannot write the output" "no standard output" sh -c "'$TARE' show --attributes >&-"
check_exit 0 "no standard input" sh -c "'$TARE' show --attributes <&-"
check_exit 2 "no standard error" sh -c "'$TARE' nothing 2>&-"
check_exit 2 "none at all" sh -c "'$TARE' nothing <&- >&- 2>&-"
for option in -q -v -o --quiet --nothing; do
	check_says 2 "options come after the command" "$option before the command" "$TARE" $option ls
done

if [ -d /sys/kernel/config/tare ]; then
	skip "without the driver" "the driver is loaded"
else
	for command in "add t0" "rm t0" "rm --all" ls "show t0" show "set t0 read_ns=1" \
		"save -" stat "stat t0"; do
		# shellcheck disable=SC2086 # words on purpose
		check_says 77 modprobe "$command without the driver says what to do" "$TARE" $command
	done
fi
tap_end

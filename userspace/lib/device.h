/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Devices through configfs and /dev/tare. Everything that knows where they
 * live in the file system is here.
 */
#ifndef TARE_DEVICE_H
#define TARE_DEVICE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "uapi/tare.h"

#define CONFIGFS_TARE "/sys/kernel/config/tare"

/** What to do when the driver is not there; part of a message. */
#define LOAD_DRIVER_HINT \
	"load the driver with 'modprobe tare_blk' (from the source tree: " \
	"'make modules && make modules_install' first)"

/** One attribute assignment, e.g. from the command line ATTR=VALUE. */
struct assignment {
	char *attr;
	char *value;
};

/** A name that an attribute may have, by its number. */
struct enum_desc {
	const char *name, *help;
};
/** Static description of an attribute, made from TARE_ATTRS. */
enum attr_type { ATTR_NUM, ATTR_INT, ATTR_BOOL, ATTR_ENUM, ATTR_RANGES };
enum attr_class { ATTR_LIVE, ATTR_QUIESCE, ATTR_OFF, ATTR_RO };
struct attr_desc {
	const char *name;
	enum attr_type type;
	enum attr_class class;
	int64_t def, min, max;
	const char *help;
	const struct enum_desc *names;	/* of an ENUM, max + 1 of them */
};
extern const struct attr_desc attr_table[];
extern const size_t attr_count;
/** Is its value a number, and shown as one? */
bool attr_is_number(const struct attr_desc *attr);
/** @return the description or NULL. "power" is not in the table. */
const struct attr_desc *attr_find(const char *name);
/** Check a value against the table; prints what is wrong. @return 0 or -EINVAL. */
int attr_check(const struct attr_desc *attr, const char *value);
/** The same as text, freed by the caller; NULL: nothing is wrong. */
char *attr_problem(const struct attr_desc *attr, const char *value);
/**
 * The number behind a value; a name gives its place among the names, ranges
 * their number.
 * @return 0, -EINVAL, -ERANGE, -EDOM (no power of two) or -ENOSPC (too many)
 */
int attr_parse(const struct attr_desc *attr, const char *text, int64_t *value);
/** A number as the attribute's file shows it. The caller frees it. */
char *attr_format(const struct attr_desc *attr, int64_t value);
/** The allowed values in words: "1 … 4096", "0 or 1". The caller frees it. */
char *attr_range(const struct attr_desc *attr);

/** Split ATTR=VALUE and append it; prints what is wrong. @return 0 or -EINVAL. */
int assignments_parse(const char *text, struct assignment **set, size_t *n);
/** Append a copy. */
void assignments_add(struct assignment **set, size_t *n, const char *attr,
		     const char *value);
/** @return the last value of attr, or NULL. */
const char *assignments_get(const struct assignment *set, size_t n,
			    const char *attr);
void assignments_free(struct assignment *set, size_t n);
/** Unknown, read-only or a bad value: what is wrong, freed by the caller, or NULL. */
char *assignment_problem(const struct assignment *a);
/**
 * The same for all that a new device is to get (later ones win, the rest are
 * defaults), and what the kernel checks together when power is switched on.
 */
char *assignments_problem(const struct assignment *set, size_t n);

/** Root is needed. @return TARE_OK, or TARE_CANNOT with a message. */
int device_need_root(void);

/** [a-z0-9_-]{1,31}; prints what is wrong. @return 0 or -EINVAL. */
int device_name_check(const char *name);

/** The same for a device to be made: not a name of the kernel's own disks either. */
int device_name_check_new(const char *name);

/**
 * Is the driver loaded and configfs there? Prints what to do when not.
 * @return TARE_OK or TARE_CANNOT.
 */
int device_need_driver(void);

/** Names of all devices, sorted. @return their number or -errno. */
int device_list(char ***names);
void device_list_free(char **names, int n);
bool device_exists(const char *name);
/** @return 1 powered, 0 not, -errno. */
int device_powered(const char *name);

/**
 * mkdir, set, power on, wait until /dev/NAME is there. On failure, and on
 * Ctrl-C (-EINTR), nothing is left behind and the reason was printed, with
 * the kernel's own line when it can be read.
 * @return 0 or -errno
 */
int device_add(const char *name, const struct assignment *set, size_t n,
	       bool power);
/**
 * Switch on and wait for /dev/NAME, or off (retried for 5 s while somebody
 * holds the disk, then the holders are named). Prints the reason on failure.
 * @return 0 or -errno
 */
int device_power(const char *name, bool on);
/**
 * device_power(name, false), rmdir. Prints the reason on failure.
 * @return 0 or -errno; -EPERM: a device of the module's own, now switched off
 */
int device_remove(const char *name);
/**
 * Who uses /dev/NAME or a partition of it: mount points, swap, devices on top,
 * processes (those of others only as root). @return e.g. "/mnt, fio[123]",
 * freed by the caller; "" when nobody was found.
 */
char *device_users(const char *name);
/** @return the value ("power" too), freed by the caller, or NULL with errno set. */
char *device_get(const char *name, const char *attr);
/** Set one attribute, not power; prints the reason on failure. @return 0 or -errno. */
int device_set(const char *name, const char *attr, const char *value);

/** Its directory in configfs, freed by the caller. */
char *device_dir(const char *name);
/** "/dev/NAME", freed by the caller. */
char *device_path(const char *name);

/** Open /dev/tare. @return the fd or -errno, the reason printed. */
int control_open(void);
/** @return 0 or -errno for each. */
int control_info(int fd, struct tare_info *info);
int control_counters(int fd, const char *name, struct tare_counters *c);
/** @param cpu -1: all CPUs. stats is about 46 KiB. -EOPNOTSUPP: op not offered. */
int control_stats(int fd, const char *name, enum tare_op op, int cpu,
		  struct tare_op_stats *stats);
int control_reset(int fd, const char *name);

extern const char *const tare_op_names[TARE_NR_OPS];
extern const char *const tare_row_names[TARE_NR_ROWS];
extern const char *const tare_path_names[TARE_NR_PATHS];

/** What a device is: everything needed to make it again. */
struct device_config {
	char *name;
	bool power;
	struct assignment *set;		/* all that can be set, in table order */
	size_t n;
};
/** Read a device; prints the reason on failure. @return 0 or -errno. */
int device_config_read(const char *name, struct device_config *config);
/**
 * Make an existing device so: off, its attributes, then on when it says so.
 * Prints the reason on failure, which may leave it half way. @return 0 or -errno.
 */
int device_config_apply(const struct device_config *config);
void device_config_free(struct device_config *config);

/**
 * Append the assignments of a profile, each checked. Prints what is wrong.
 * @param name NAME of $TARE_SOURCE/configs/devices/NAME.ini, /etc/tare/devices,
 *	the source tree, share/tare/devices where tare is installed, or
 *	/usr/share/tare/devices; with a slash or ".ini": a path
 * @return 0 or -errno; what was appended before the error stays
 */
int profile_load(const char *name, struct assignment **set, size_t *n);
/** The names that profile_load() knows. @return their number; free each and the array. */
size_t profile_list(char ***names);

#endif

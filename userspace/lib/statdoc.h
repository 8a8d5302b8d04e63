/* SPDX-License-Identifier: GPL-2.0-only */
/* One reading of a device's statistics, and the report of it. */
#ifndef TARE_STATDOC_H
#define TARE_STATDOC_H

#include "device.h"
#include "output.h"

/** What the driver says of one device at one time. */
struct stat_reading {
	char *name;
	struct tare_counters counters;
	bool offered[TARE_NR_OPS];
	struct tare_op_stats op[TARE_NR_OPS];	/* about 230 KiB: on the heap */
};

/**
 * Read a powered device. @param cpu -1: all CPUs.
 * @return 0 or -errno (-ENODEV: no such device, or off), nothing printed
 */
int stat_read(int fd, const char *name, int cpu, struct stat_reading *r);
/** after - before. @return false when the statistics were reset between. */
bool stat_diff(const struct stat_reading *before,
	       const struct stat_reading *after, struct stat_reading *diff);
/**
 * Does every row's histogram sum to its operation's count? Prints each one
 * that does not. @return how many do not
 */
int stat_check(const struct stat_reading *r);

/** What a report shows. */
struct stat_view {
	const struct tare_info *info;
	double seconds;		/* above 0: rates over this time */
	bool histogram;
};
/** The report of n readings. @param title of the whole, NULL: none. */
struct out_doc *stat_doc(const struct stat_reading *const *readings, size_t n,
			 const struct stat_view *view, const char *title);

#endif

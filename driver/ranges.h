/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A sorted list of sector ranges, as text and as numbers. Pure C: user space
 * and the unit tests compile the same file.
 *
 * Text that is read, and that replaces the list when it is written:
 *	none			an empty list
 *	0-7,100-107		ascending, with a gap between neighbours
 * Text that changes the list:
 *	+FIRST-LAST		adds to it
 *	-FIRST-LAST		takes away from it
 */
#ifndef TARE_RANGES_H
#define TARE_RANGES_H

#ifdef __KERNEL__
#include <linux/types.h>
#else
#include <stdbool.h>
#include <stddef.h>
#include <linux/types.h>
typedef __u64 u64;
typedef __u32 u32;
#endif

/* As text they fit a page, which is what a configfs file holds. */
#define TARE_RANGES_MAX		128
#define TARE_RANGES_TEXT	4096

struct tare_range {
	u64 first;
	u64 last;
};

struct tare_ranges {
	u32 n;
	struct tare_range at[TARE_RANGES_MAX];
};

int tare_ranges_add(struct tare_ranges *ranges, u64 first, u64 last);
int tare_ranges_remove(struct tare_ranges *ranges, u64 first, u64 last);
const struct tare_range *tare_ranges_find(const struct tare_ranges *ranges,
					  u64 first, u64 last);
int tare_ranges_write(struct tare_ranges *ranges, const char *text, size_t len,
		      u64 max);
size_t tare_ranges_read(const struct tare_ranges *ranges, char *buf,
			size_t size);

#endif

/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Figures from the driver's per-operation statistics (struct tare_op_stats).
 * Count, sum, min and max are exact; a percentile is the midpoint of the
 * bucket that its nearest rank falls into, kept between min and max: at most
 * 1/64 (1.6 %) away, see TARE_HIST_SUB_BITS.
 */
#ifndef TARE_OPSTATS_H
#define TARE_OPSTATS_H

#include <stdbool.h>
#include <stdint.h>

#include "uapi/tare.h"

/** Of one row; times in tsc. All but count are 0 when count is 0. */
struct row_figures {
	uint64_t count;		/* what the histogram holds */
	uint64_t overflow;	/* of these, 2^40 and more: their size is unknown */
	uint64_t negative;	/* of these, below 0 and counted as 0 */
	double mean;
	uint64_t min, p50, p90, p99, p999, max;
};

void row_figures(const struct tare_row_stats *row, struct row_figures *f);

/**
 * Sum of a histogram. @return false when it does not fit 64 bits, which
 * happens when a bucket is broken.
 */
bool row_total(const struct tare_row_stats *row, uint64_t *total);

/**
 * What was added between two readings of the same statistics. min and max
 * cannot be subtracted: they are the edges of the lowest and highest bucket
 * that got something, unless the reading itself has a new extreme.
 * @return false when before is no earlier reading (a reset came between)
 */
bool op_stats_diff(const struct tare_op_stats *before,
		   const struct tare_op_stats *after,
		   struct tare_op_stats *diff);

#endif

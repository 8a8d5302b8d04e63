/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * From I/Os and records to figures: join, cut, and keep one value of every row
 * per I/O. Pure; the runs of several rounds or windows are added to one result.
 */
#ifndef TARE_WEIGH_H
#define TARE_WEIGH_H

#include <stddef.h>
#include <stdint.h>

#include "join.h"
#include "sweep.h"

/** Columns: one value per I/O. The rows come first, numbered as enum io_row. */
enum weigh_column {
	WEIGH_GROSS = IO_NR_ROWS,
	WEIGH_NET,
	WEIGH_ISSUE_TO_END,	/* first issue to last end, all that is the device's */
	WEIGH_NR_COLUMNS
};

struct weigh {
	uint64_t *column[WEIGH_NR_COLUMNS];	/* counter ticks */
	size_t n, room;		/* I/Os that are good and counted */
	uint64_t seen;		/* I/Os joined, warm-up and bad ones included */
	uint64_t requests;	/* of the counted I/Os, data and helpers */
	uint64_t data;
	uint64_t helpers;
	uint64_t service;	/* due - start of the data requests, summed */
	uint64_t covered;	/* the driver's work inside device, summed */
	uint64_t path[TARE_NR_PATHS];
	uint64_t early;		/* timer fired before due */
	/* of all I/Os, warm-up included */
	uint64_t shared;
	uint64_t ambiguous;
	uint64_t unmatched;
	uint64_t not_monotonic;
	uint64_t failed;
	uint64_t residual;	/* I/Os whose rows do not add up */
	struct join_others others;
};

/** Told of every I/O, good or not. cut is all 0 when wrong is not 0. */
typedef void weigh_each(void *ctx, const struct io *io,
			const struct io_cut *cut, size_t requests,
			unsigned int wrong);

/**
 * Weigh n I/Os and add them.
 * @param skip so many at the start are warm-up: checked, not counted
 * @param rec m records, put into the order of issue here
 * @param each NULL or told of every I/O
 * @return 0 or -EINVAL (I/Os not in the order of enter)
 */
int weigh_add(struct weigh *w, const struct io *io, size_t n, size_t skip,
	      struct tare_record *rec, size_t m, const struct fsmap *map,
	      weigh_each *each, void *ctx);

/** Everything that must be 0 for the figures to be worth printing. */
uint64_t weigh_errors(const struct weigh *w);

void weigh_free(struct weigh *w);

#endif

/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Per-CPU statistics: what a finished request leaves behind. A CPU writes its
 * own with interrupts off and nobody else writes them; a reader asks that CPU
 * by an interrupt, so it never sees half a request and costs the path nothing.
 */
#ifndef TARE_STATS_H
#define TARE_STATS_H

#include "tare.h"

/*
 * The last stamp of a request, `end`, comes after all bookkeeping, so the
 * driver row that it ends is booked by the CPU's next request. Until then it
 * waits here. A slot is busy (end is 0) from the booking to the stamp, a few
 * instructions; there are as many as contexts can be there at once: a task, a
 * softirq, an interrupt, and tasks that lost the CPU just then. When end
 * equals base nothing waits.
 */
#define TARE_PENDING_SLOTS 8

struct tare_pending {
	u64 end;
	u64 base;			/* driver row = end - base */
	struct tare_op_stats *op;
};

struct tare_cpu_stats {
	struct tare_op_stats *op[TARE_NR_OPS];	/* node-local; NULL: not offered */
	struct tare_pending pending[TARE_PENDING_SLOTS];
	u64 spill;			/* all slots busy: end goes here */
	u64 path[TARE_NR_PATHS];	/* inline: what the counts leave over */
	u64 early_fires;
	u64 rearms;
	u64 requeues;
	u64 errors;
	u64 unsettled;
	u64 timeouts;
};

/*
 * A new smallest or largest value. Values beyond the histogram never become
 * row->max, so that each of them comes here and the common way need not look
 * for them.
 */
static noinline __maybe_unused void tare_row_extreme(struct tare_row_stats *row,
						     u64 v)
{
	/* The counters of two CPUs are apart by more than it took: a zero. */
	if ((s64)v < 0) {
		row->negative++;
		return;
	}
	row->sum += v;
	row->min = min(row->min, v);
	if (v >> TARE_HIST_MAX_BITS) {
		row->huge = max(row->huge, v);
		row->bucket[TARE_HIST_OVERFLOW]++;
		return;
	}
	row->max = max(row->max, v);
	row->bucket[tare_hist_bucket(v)]++;
}

/* For values that are never 0. */
static __always_inline void tare_row_count(struct tare_row_stats *row, u64 v)
{
	if (unlikely(v < row->min || v > row->max)) {
		tare_row_extreme(row, v);
		return;
	}
	row->sum += v;
	row->bucket[tare_hist_bucket(v)]++;
}

/*
 * Zeros are what is left of the count when the buckets are added up: most rows
 * are zero in most requests.
 */
static __always_inline void tare_row_add(struct tare_row_stats *row, u64 v)
{
	if (v)
		tare_row_count(row, v);
}

/* Books what waits in a slot that is not busy, and lets a request wait there. */
static __always_inline u64 *tare_pending_use(struct tare_pending *slot,
					     struct tare_op_stats *op, u64 base)
{
	tare_row_add(&slot->op->row[TARE_ROW_DRIVER], slot->end - slot->base);
	slot->op = op;
	slot->base = base;
	WRITE_ONCE(slot->end, 0);
	return &slot->end;
}

/* Slot 0 is busy. With all of them busy the row is booked now, too short. */
static noinline __maybe_unused u64 *
tare_pending_other(struct tare_cpu_stats *cs, struct tare_op_stats *op, u64 base)
{
	int i;

	for (i = 1; i < TARE_PENDING_SLOTS; i++)
		if (READ_ONCE(cs->pending[i].end))
			return tare_pending_use(&cs->pending[i], op, base);
	cs->unsettled++;
	tare_row_add(&op->row[TARE_ROW_DRIVER], tare_stamp() - base);
	return &cs->spill;
}

/* Where the last stamp of a request goes. Interrupts are off. */
static __always_inline u64 *tare_pending_take(struct tare_cpu_stats *cs,
					      struct tare_op_stats *op, u64 base)
{
	if (unlikely(!READ_ONCE(cs->pending[0].end)))
		return tare_pending_other(cs, op, base);
	return tare_pending_use(&cs->pending[0], op, base);
}

int tare_stats_create(struct tare_device *dev);
void tare_stats_destroy(struct tare_device *dev);
int tare_stats_read(struct tare_device *dev, enum tare_op op, int cpu,
		    struct tare_op_stats *sum, struct tare_op_stats *scratch);
void tare_stats_counters(struct tare_device *dev, struct tare_counters *sum);
int tare_stats_reset(struct tare_device *dev);

#endif

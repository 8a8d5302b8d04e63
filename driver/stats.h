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
 * instructions; as many slots as contexts can be there at once: a task, a
 * softirq, an interrupt, and tasks that lost the CPU just then.
 */
#define TARE_PENDING_SLOTS 8

struct tare_pending {
	u64 end;
	u64 base;			/* driver row = end - base */
	struct tare_op_stats *op;	/* NULL: nothing waits */
};

struct tare_cpu_stats {
	struct tare_op_stats *op[TARE_NR_OPS];	/* node-local; NULL: not offered */
	struct tare_pending pending[TARE_PENDING_SLOTS];
	u64 path[TARE_NR_PATHS];
	u64 early_fires;
	u64 rearms;
	u64 requeues;
	u64 errors;
	u64 unsettled;			/* all slots busy: end taken too early */
};

static __always_inline void tare_row_add(struct tare_row_stats *row, u64 v)
{
	/*
	 * Zeros are what is left of the count when the buckets are added up:
	 * most rows are zero in most requests.
	 */
	if (!v)
		return;
	row->sum += v;
	if (unlikely(v < row->min))
		row->min = v;
	if (unlikely(v > row->max))
		row->max = v;
	row->bucket[tare_hist_bucket(v)]++;
}

static __always_inline void tare_pending_settle(struct tare_pending *slot)
{
	if (likely(slot->op))
		tare_row_add(&slot->op->row[TARE_ROW_DRIVER],
			     slot->end - slot->base);
}

/* A slot whose end is not being waited for, or NULL. Interrupts are off. */
static __always_inline struct tare_pending *
tare_pending_get(struct tare_cpu_stats *cs)
{
	struct tare_pending *slot = cs->pending;

	while (unlikely(!READ_ONCE(slot->end)))
		if (++slot == cs->pending + TARE_PENDING_SLOTS)
			return NULL;
	return slot;
}

int tare_stats_create(struct tare_device *dev);
void tare_stats_destroy(struct tare_device *dev);
int tare_stats_read(struct tare_device *dev, enum tare_op op, int cpu,
		    struct tare_op_stats *sum, struct tare_op_stats *scratch);
void tare_stats_counters(struct tare_device *dev, struct tare_counters *sum);
void tare_stats_reset(struct tare_device *dev);

#endif

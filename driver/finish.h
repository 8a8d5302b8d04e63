/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * How a request finishes: waiting for its due time, and booking it. Inlined
 * into each front end, so that no call through a pointer stands in the path.
 */
#ifndef TARE_FINISH_H
#define TARE_FINISH_H

#include <linux/hrtimer.h>
#include <linux/preempt.h>

#include "record.h"
#include "shape.h"
#include "spin.h"
#include "stats.h"
#include "store.h"
#include "tare.h"
#include "trace.h"

/* A read, write or flush has the same number here as in the kernel. */
static_assert(TARE_READ == (__force int)REQ_OP_READ);
static_assert(TARE_WRITE == (__force int)REQ_OP_WRITE);
static_assert(TARE_FLUSH == (__force int)REQ_OP_FLUSH);
static_assert(TARE_DISCARD == (__force int)REQ_OP_DISCARD);

/*
 * Kernel operation to ours: those below TARE_WRITE_ZEROES are the same, which
 * tare_op_common() tells, and forced unit access is not among them.
 */
static __always_inline bool tare_op_common(blk_opf_t flags)
{
	return !(flags & ((REQ_OP_MASK & ~(__force blk_opf_t)TARE_DISCARD) |
			  REQ_FUA));
}

/* TARE_NR_OPS for what the device does not do. */
static inline u8 tare_op_of(const struct request *rq)
{
	unsigned int op = (__force unsigned int)req_op(rq);

	if (op <= TARE_DISCARD)
		return op;
	return op == (__force unsigned int)REQ_OP_WRITE_ZEROES ?
	       TARE_WRITE_ZEROES : TARE_NR_OPS;
}

/* Service time of a request in tsc. */
static __always_inline u64 tare_service(const struct tare_device *dev, u8 op,
					const struct request *rq)
{
	const u64 *service = dev->model.service_tsc;

	if (unlikely(rq->cmd_flags & REQ_FUA) && op == TARE_WRITE)
		return READ_ONCE(service[TARE_SERVICE_WRITE_FUA]);
	return READ_ONCE(service[op]);
}

/* When the modelled device is finished. */
static __always_inline u64 tare_due(struct tare_device *dev, u8 op,
				    const struct request *rq, u64 start)
{
	if (unlikely(READ_ONCE(dev->shaped)))
		return tare_shape_due(dev, op, rq, start);
	return start + tare_service(dev, op, rq);
}

/* Moves or erases the data of a memory-backed device. */
static inline blk_status_t tare_store_do(struct tare_store *store, u8 op,
					 struct request *rq)
{
	switch (op) {
	case TARE_READ:
	case TARE_WRITE:
		return tare_store_transfer(store, rq, blk_rq_bytes(rq));
	case TARE_DISCARD:
	case TARE_WRITE_ZEROES:
		tare_store_erase(store, rq);
		return BLK_STS_OK;
	default:
		return BLK_STS_OK;
	}
}

/* A request that is to fail moves what stands before the bad block. */
static inline void tare_store_part(struct tare_cmd *cmd, struct request *rq)
{
	struct tare_store *store = cmd->dev->store;

	if (cmd->status != BLK_STS_OK && store && cmd->move_bytes &&
	    cmd->op <= TARE_WRITE)
		tare_store_transfer(store, rq, cmd->move_bytes);
}

/*
 * Waits until the request is due; returns the first stamp that is not before.
 * A counter that has gone back, as on a machine that was suspended, ends the
 * wait, which would last for ever.
 */
static inline u64 tare_wait(const struct tare_cmd *cmd)
{
	for (;;) {
		u64 now = tare_stamp();

		if (now >= cmd->due)
			return now;
		if (unlikely(now < cmd->start))
			return cmd->due;
		cpu_relax();
	}
}

/*
 * Arms the request's timer and stamps `ready`. With interrupts off the timer,
 * pinned to this CPU, cannot fire in between: after that the request may be
 * gone. Only where its callback for the tag's last request has not returned
 * yet does it stay on that CPU and may fire at once; then the stamp comes
 * first. The clock is read after the counter, so that the timer is late by
 * the difference rather than early.
 */
static inline void tare_timer_arm(struct tare_cmd *cmd)
{
	unsigned long flags;
	ktime_t expires;
	u64 now, wait_until;

	local_irq_save(flags);
	now = tare_stamp();
	expires = ktime_get();
	wait_until = cmd->due - READ_ONCE(cmd->dev->timer_slack_tsc);
	if (now < wait_until)
		expires += tare_tsc_to_ns(tare_clock.scale,
					  wait_until - now);
	if (unlikely(hrtimer_callback_running(&cmd->timer))) {
		cmd->ready = tare_stamp();
		hrtimer_start(&cmd->timer, expires, HRTIMER_MODE_ABS_PINNED);
	} else {
		hrtimer_start(&cmd->timer, expires, HRTIMER_MODE_ABS_PINNED);
		cmd->ready = tare_stamp();
	}
	local_irq_restore(flags);
}

/*
 * The timer has fired: stamps `fire`, not before due. A timer that is early by
 * more than what may be spun in an interrupt is to be started again.
 */
static inline bool tare_timer_early(struct tare_cmd *cmd)
{
	u64 due = cmd->due;
	u64 now = tare_stamp();

	if (unlikely(now < due)) {
		if (now >= cmd->start &&
		    due - now > tare_clock.early_spin_tsc) {
			this_cpu_inc(cmd->dev->stats->rearms);
			hrtimer_forward_now(&cmd->timer,
					    tare_tsc_to_ns(tare_clock.scale,
							   due - now));
			return true;
		}
		if (!READ_ONCE(cmd->dev->timer_slack_tsc))
			cmd->flags = TARE_REC_EARLY;
		now = tare_wait(cmd);
	}
	cmd->fire = now;
	cmd->fire_cpu = raw_smp_processor_id();
	return false;
}

/*
 * Which way ->complete was reached. The block layer's softirq and the timer
 * interrupt can be told apart by the context; another CPU means an IPI.
 */
static __always_inline enum tare_path tare_path_now(const struct tare_cmd *cmd)
{
	if (cmd->fire_cpu != raw_smp_processor_id())
		return TARE_PATH_IPI;
	if (in_serving_softirq() && !in_hardirq())
		return TARE_PATH_SOFTIRQ;
	return TARE_PATH_DIRECT;
}

/* The record of a finished request, but for its end; NULL: nobody records. */
static inline struct tare_record *
tare_record_make(const struct tare_cmd *cmd, const struct request *rq, u64 cmpl,
		 enum tare_path path)
{
	struct tare_record *r;

	if (!cmd->dev->recorder)
		return NULL;
	r = tare_record_get(cmd->dev->recorder);
	if (!r)
		return NULL;
	r->issue = cmd->issue;
	r->start = cmd->start;
	r->due = cmd->due;
	r->ready = cmd->ready;
	r->fire = cmd->fire;
	r->done = cmd->done;
	r->cmpl = cmpl;
	r->sector = cmd->op == TARE_FLUSH ? 0 : blk_rq_pos(rq);
	r->bytes = blk_rq_bytes(rq);
	r->op = cmd->op;
	r->path = path;
	r->flags = cmd->flags;
	if (rq->cmd_flags & REQ_FUA)
		r->flags |= TARE_REC_FUA;
	r->error = -blk_status_to_errno(cmd->status);
	r->issue_cpu = cmd->issue_cpu;
	r->fire_cpu = cmd->fire_cpu;
	r->cmpl_cpu = raw_smp_processor_id();
	r->hw_queue = rq->mq_hctx->queue_num;
	r->completion = cmd->dev->completion;
	return r;
}

/*
 * Where the last stamp goes: a slot of this CPU, and the record, or the slot
 * again where there is none: a second store costs less than asking.
 */
struct tare_end {
	u64 *slot;
	u64 *record;
};

/* Books a finished request, all but its last stamp. */
static noinline __maybe_unused struct tare_end
tare_book(struct tare_cmd *cmd, struct request *rq, u64 cmpl,
	  enum tare_path path)
{
	u64 avail = max(cmd->due, cmd->ready);
	struct tare_record *record = NULL;
	struct tare_cpu_stats *cs;
	struct tare_op_stats *op;
	unsigned long flags;
	u64 *slot;

	local_irq_save(flags);
	cs = this_cpu_ptr(cmd->dev->stats);
	op = cs->op[cmd->op];
	op->count++;
	op->bytes += blk_rq_bytes(rq);
	cs->path[path]++;
	if (unlikely(cmd->flags & TARE_REC_EARLY))
		cs->early_fires++;
	if (unlikely(cmd->status != BLK_STS_OK))
		cs->errors++;
	tare_row_add(&op->row[TARE_ROW_START], cmd->start - cmd->issue);
	tare_row_add(&op->row[TARE_ROW_DEVICE], cmd->due - cmd->start);
	tare_row_add(&op->row[TARE_ROW_DELIVERY], cmd->fire - avail);
	tare_row_add(&op->row[TARE_ROW_SIGNAL], cmpl - cmd->done);
	if (static_branch_unlikely(&tare_recording))
		record = tare_record_make(cmd, rq, cmpl, path);
	/* driver row: due -> avail, fire -> done, cmpl -> end */
	slot = tare_pending_take(cs, op, cmpl - (cmd->done - cmd->fire) -
				 (avail - cmd->due));
	local_irq_restore(flags);
	return (struct tare_end) {
		.slot = slot,
		.record = record ? &record->end : slot,
	};
}

/*
 * The same, with interrupts off, for a request that took no time: due when it
 * was started, and ended there. The rows that are zero are not booked.
 */
static __always_inline u64 *
tare_book_at_once(const struct tare_device *dev, const struct request *rq,
		  u8 op_nr, u64 issue, u64 start)
{
	struct tare_cpu_stats *cs = this_cpu_ptr(dev->stats);
	struct tare_op_stats *op = cs->op[op_nr];

	op->count++;
	op->bytes += blk_rq_bytes(rq);
	tare_row_count(&op->row[TARE_ROW_START], start - issue);
	return tare_pending_take(cs, op, start);
}

/* The last stamp, and then nothing but the call that tells the block layer. */
static __always_inline void tare_stamp_end(struct tare_end end)
{
	u64 now = tare_stamp();

	WRITE_ONCE(*end.slot, now);
	/* Whoever sees end sees the rest of the record. */
	smp_store_release(end.record, now);
}

#endif

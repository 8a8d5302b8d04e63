/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Tracepoints of every request. Times are tsc values. `end` follows the
 * tare_complete event at once and is therefore not in it; the records have it.
 */
#undef TRACE_SYSTEM
#define TRACE_SYSTEM tare

#if !defined(TARE_TRACE_H) || defined(TRACE_HEADER_MULTI_READ)
#define TARE_TRACE_H

#include <linux/tracepoint.h>

#include "tare.h"

/* A tracepoint that is on sends every request the long way, past it. */
int tare_trace_reg(void);
void tare_trace_unreg(void);

TRACE_DEFINE_ENUM(TARE_READ);
TRACE_DEFINE_ENUM(TARE_WRITE);
TRACE_DEFINE_ENUM(TARE_FLUSH);
TRACE_DEFINE_ENUM(TARE_DISCARD);
TRACE_DEFINE_ENUM(TARE_WRITE_ZEROES);

#define show_tare_op(op)						\
	__print_symbolic(op,						\
		{ TARE_READ, "read" }, { TARE_WRITE, "write" },		\
		{ TARE_FLUSH, "flush" }, { TARE_DISCARD, "discard" },	\
		{ TARE_WRITE_ZEROES, "write_zeroes" })

TRACE_EVENT_FN(tare_issue,

	TP_PROTO(const struct tare_cmd *cmd, const struct request *rq),

	TP_ARGS(cmd, rq),

	TP_STRUCT__entry(
		__field(dev_t, dev)
		__field(u64, issue)
		__field(u64, start)
		__field(u64, due)
		__field(u64, sector)
		__field(u32, bytes)
		__field(u16, cpu)
		__field(u8, op)
	),

	TP_fast_assign(
		__entry->dev = disk_devt(rq->q->disk);
		__entry->issue = cmd->issue;
		__entry->start = cmd->start;
		__entry->due = cmd->due;
		__entry->sector = cmd->op == TARE_FLUSH ? 0 : blk_rq_pos(rq);
		__entry->bytes = blk_rq_bytes(rq);
		__entry->cpu = cmd->issue_cpu;
		__entry->op = cmd->op;
	),

	TP_printk("%d,%d %s sector=%llu bytes=%u cpu=%u issue=%llu start=%llu due=%llu",
		  MAJOR(__entry->dev), MINOR(__entry->dev),
		  show_tare_op(__entry->op), __entry->sector, __entry->bytes,
		  __entry->cpu, __entry->issue, __entry->start, __entry->due),

	tare_trace_reg, tare_trace_unreg
);

TRACE_EVENT_FN(tare_complete,

	TP_PROTO(const struct tare_cmd *cmd, const struct request *rq, u64 cmpl),

	TP_ARGS(cmd, rq, cmpl),

	TP_STRUCT__entry(
		__field(dev_t, dev)
		__field(u64, issue)
		__field(u64, start)
		__field(u64, due)
		__field(u64, ready)
		__field(u64, fire)
		__field(u64, done)
		__field(u64, cmpl)
		__field(u64, sector)
		__field(u32, bytes)
		__field(int, error)
		__field(u16, issue_cpu)
		__field(u16, fire_cpu)
		__field(u16, cmpl_cpu)
		__field(u8, op)
	),

	TP_fast_assign(
		__entry->dev = disk_devt(rq->q->disk);
		__entry->issue = cmd->issue;
		__entry->start = cmd->start;
		__entry->due = cmd->due;
		__entry->ready = cmd->ready;
		__entry->fire = cmd->fire;
		__entry->done = cmd->done;
		__entry->cmpl = cmpl;
		__entry->sector = cmd->op == TARE_FLUSH ? 0 : blk_rq_pos(rq);
		__entry->bytes = blk_rq_bytes(rq);
		__entry->error = blk_status_to_errno(cmd->status);
		__entry->issue_cpu = cmd->issue_cpu;
		__entry->fire_cpu = cmd->fire_cpu;
		__entry->cmpl_cpu = raw_smp_processor_id();
		__entry->op = cmd->op;
	),

	TP_printk("%d,%d %s sector=%llu bytes=%u error=%d cpus=%u,%u,%u issue=%llu start=%llu due=%llu ready=%llu fire=%llu done=%llu cmpl=%llu",
		  MAJOR(__entry->dev), MINOR(__entry->dev),
		  show_tare_op(__entry->op), __entry->sector, __entry->bytes,
		  __entry->error, __entry->issue_cpu, __entry->fire_cpu,
		  __entry->cmpl_cpu, __entry->issue, __entry->start,
		  __entry->due, __entry->ready, __entry->fire, __entry->done,
		  __entry->cmpl),

	tare_trace_reg, tare_trace_unreg
);

#endif

#undef TRACE_INCLUDE_PATH
#define TRACE_INCLUDE_PATH .
#undef TRACE_INCLUDE_FILE
#define TRACE_INCLUDE_FILE trace
#include <trace/define_trace.h>

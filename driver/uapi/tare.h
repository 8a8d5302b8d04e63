/* SPDX-License-Identifier: GPL-2.0-only WITH Linux-syscall-note */
/*
 * What user space shares with tare_core.ko: /dev/tare (root only) gives
 * statistics, counters and per-request records.
 *
 * All times are CPU timestamp-counter values ("tsc", tare_info.tsc_khz a
 * millisecond). The names of stamps and rows are those of docs/method.md.
 */
#ifndef UAPI_TARE_H
#define UAPI_TARE_H

#include <linux/ioctl.h>
#include <linux/types.h>

#include "tare_attrs.h"

#define TARE_DEV_PATH	"/dev/tare"
#define TARE_ABI	1

enum tare_op {
	TARE_READ,
	TARE_WRITE,
	TARE_FLUSH,
	TARE_DISCARD,
	TARE_WRITE_ZEROES,
	TARE_NR_OPS
};

/* The rows that the driver can see; the caller's rows need enter and exit. */
enum tare_row {
	TARE_ROW_START,		/* issue -> start */
	TARE_ROW_DEVICE,	/* start -> due */
	TARE_ROW_DELIVERY,	/* max(due, ready) -> fire */
	TARE_ROW_DRIVER,	/* due -> max(due, ready), fire -> done, cmpl -> end */
	TARE_ROW_SIGNAL,	/* done -> cmpl */
	TARE_NR_ROWS
};

/* How the block layer's ->complete was reached. */
enum tare_path {
	TARE_PATH_INLINE,	/* not at all: ended in queue_rq */
	TARE_PATH_DIRECT,	/* called by blk_mq_complete_request itself */
	TARE_PATH_SOFTIRQ,	/* on the same CPU, from the block softirq */
	TARE_PATH_IPI,		/* on another CPU */
	TARE_NR_PATHS
};

/*
 * Log-linear histogram: values below 64 exactly; above, each octave has 32
 * buckets, so a bucket is at most 1/32 of its value wide and its midpoint is
 * at most 1/64 (1.6 %) away from what was counted. Values of 2^40 and more
 * share the last bucket.
 */
#define TARE_HIST_SUB_BITS	5
#define TARE_HIST_MAX_BITS	40
#define TARE_HIST_OVERFLOW	((TARE_HIST_MAX_BITS - TARE_HIST_SUB_BITS + 1) \
				 << TARE_HIST_SUB_BITS)
#define TARE_HIST_BUCKETS	(TARE_HIST_OVERFLOW + 1)

/* For values below 2^40. */
static inline __u64 tare_hist_bucket(__u64 v)
{
	/* The octave above 64 is the first with a shift; below there is none. */
	__u64 shift = 63 - TARE_HIST_SUB_BITS -
		__builtin_clzll(v | (1ULL << TARE_HIST_SUB_BITS));

	return (shift << TARE_HIST_SUB_BITS) + (v >> shift);
}

/* Smallest value of a bucket; that of bucket + 1 ends it. */
static inline __u64 tare_hist_low(unsigned int bucket)
{
	unsigned int shift;

	if (bucket < (2U << TARE_HIST_SUB_BITS))
		return bucket;
	shift = (bucket >> TARE_HIST_SUB_BITS) - 1;
	return (__u64)(bucket - (shift << TARE_HIST_SUB_BITS)) << shift;
}

struct tare_row_stats {
	__u64 sum;		/* tsc */
	__u64 min;		/* tsc; ~0 when nothing was counted */
	__u64 max;		/* tsc */
	__u64 huge;		/* the driver's: largest value of 2^40 and more */
	__u64 negative;		/* counted as 0: two CPUs' counters were apart */
	__u64 bucket[TARE_HIST_BUCKETS];
};

struct tare_op_stats {
	__u64 count;		/* requests ended */
	__u64 bytes;
	struct tare_row_stats row[TARE_NR_ROWS];
};

struct tare_counters {
	__u64 path[TARE_NR_PATHS];
	__u64 early_fires;	/* timer before due: spun, at most 1 ms each */
	__u64 rearms;		/* timer early by more than that: armed again */
	__u64 requeues;		/* given back: no memory for the store, or injected */
	__u64 errors;		/* ended with a status other than OK */
	__u64 unsettled;	/* driver row booked some instructions too short */
	__u64 store_pages;	/* pages in use now; not reset */
	__u64 timeouts;		/* injected: ended by the block layer's time-out */
};

#define TARE_REC_FUA		0x01	/* forced unit access */
#define TARE_REC_EARLY		0x02	/* the timer fired before due */
#define TARE_REC_POLLED		0x04

/*
 * One finished request. The driver writes `end` last: a slot of the ring whose
 * end is 0 is not complete yet.
 */
struct tare_record {
	__u64 issue;
	__u64 start;
	__u64 due;
	__u64 ready;
	__u64 fire;
	__u64 done;
	__u64 cmpl;
	__u64 end;
	__u64 sector;		/* of 512 bytes; 0 for a flush */
	__u32 bytes;
	__u8 op;		/* enum tare_op */
	__u8 path;		/* enum tare_path */
	__u8 flags;		/* TARE_REC_* */
	__u8 error;		/* errno, 0: none */
	__u16 issue_cpu;	/* issue, start, ready */
	__u16 fire_cpu;		/* fire, done */
	__u16 cmpl_cpu;		/* cmpl, end */
	__u16 hw_queue;
	__u32 completion;	/* enum tare_completion in force */
	__u32 reserved[9];
};

/*
 * Ring of one CPU, mapped at offset cpu * tare_record_req.stride. The header
 * fills the first page; the records follow. The reader takes slots
 * tail & (entries - 1) while their end is not 0, sets end to 0, then moves
 * tail. Nothing is overwritten: with no room a request is counted in `lost`.
 */
struct tare_ring {
	__u64 head;		/* slots taken by the driver, ever */
	__u64 lost;
	__u64 entries;		/* a power of two */
	__u64 pad[5];
	__u64 tail;		/* slots given back by the reader, ever */
};

#define TARE_RING_HEADER	4096

#define TARE_TSC_CONSTANT	0x1	/* same rate at every frequency */
#define TARE_TSC_NONSTOP	0x2	/* goes on in deep idle states */
#define TARE_TSC_STABLE		0x4	/* not marked unstable by the kernel */
#define TARE_TSC_TRUSTED	0x8	/* all of these, or an exact lab VM */

struct tare_info {
	__u32 abi;		/* TARE_ABI */
	__u32 tsc_flags;	/* TARE_TSC_* */
	__u32 tsc_khz;
	__u32 stamp_cost;	/* tsc per stamp, smallest of many pairs */
	__u32 stamp_cost_median;
	__u32 nr_cpu_ids;	/* rings and CPU numbers are below this */
};

struct tare_name_req {
	char name[TARE_NAME_MAX + 1];
};

struct tare_counters_req {
	char name[TARE_NAME_MAX + 1];
	struct tare_counters counters;	/* out */
};

struct tare_stats_req {
	char name[TARE_NAME_MAX + 1];
	__u32 op;		/* enum tare_op */
	__s32 cpu;		/* one CPU, or -1: all added up */
	__u64 stats;		/* user pointer to struct tare_op_stats */
	__u64 size;		/* of that structure, as user space knows it */
};

struct tare_record_req {
	char name[TARE_NAME_MAX + 1];
	__u64 entries;		/* per CPU, a power of two, 64 … 4194304 */
	__u64 stride;		/* out: bytes of one ring, header included */
	__u32 nr_rings;		/* out: nr_cpu_ids */
	__u32 reserved;
};

#define TARE_IOC_INFO		_IOR('t', 0xb0, struct tare_info)
/* -ENODEV: no such device, or its power is 0. */
#define TARE_IOC_COUNTERS	_IOWR('t', 0xb1, struct tare_counters_req)
/* -EOPNOTSUPP: the device does not offer this operation. */
#define TARE_IOC_STATS		_IOWR('t', 0xb2, struct tare_stats_req)
#define TARE_IOC_RESET		_IOW('t', 0xb3, struct tare_name_req)
/*
 * Record this device's requests until the file is closed. One recorder a
 * device (-EBUSY), one device a file (-EBUSY). Drains the queue once.
 */
#define TARE_IOC_RECORD		_IOWR('t', 0xb4, struct tare_record_req)

#endif

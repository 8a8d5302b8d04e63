/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The only place that looks at the kernel version: one name for what differs
 * between 6.1 and now.
 */
#ifndef TARE_COMPAT_H
#define TARE_COMPAT_H

#include <linux/blk-mq.h>
#include <linux/blkdev.h>
#include <linux/hrtimer.h>
#include <linux/percpu_counter.h>
#include <linux/slab.h>
#include <linux/version.h>

#define TARE_KERNEL(a, b) (LINUX_VERSION_CODE >= KERNEL_VERSION(a, b, 0))

#if TARE_KERNEL(6, 9) && !TARE_KERNEL(6, 11)
#error "Linux 6.9 and 6.10 had queue limits of their own and are not supported"
#endif

/* What the front end asks of the queue, whatever the kernel calls it. */
struct tare_limits {
	unsigned int block_size;
	unsigned int max_sectors;
	unsigned short max_segments;
	unsigned int max_discard_sectors;	/* 0: not offered */
	unsigned long virt_boundary_mask;	/* 0: none */
	bool rotational;
	bool write_cache;
	bool fua;
};

#if TARE_KERNEL(6, 11)
static inline struct gendisk *tare_alloc_disk(struct blk_mq_tag_set *set,
					      const struct tare_limits *want,
					      void *data)
{
	struct queue_limits lim = {
		.logical_block_size	= want->block_size,
		.physical_block_size	= want->block_size,
		.max_hw_sectors		= want->max_sectors,
		.max_user_sectors	= want->max_sectors,
		.max_segments		= want->max_segments,
		.max_hw_discard_sectors	= want->max_discard_sectors,
		.max_write_zeroes_sectors = want->max_discard_sectors,
		.virt_boundary_mask	= want->virt_boundary_mask,
	};

	if (want->max_discard_sectors)
		lim.discard_granularity = want->block_size;
	if (want->rotational)
		lim.features |= BLK_FEAT_ROTATIONAL;
	if (want->write_cache)
		lim.features |= BLK_FEAT_WRITE_CACHE;
	if (want->write_cache && want->fua)
		lim.features |= BLK_FEAT_FUA;
	return blk_mq_alloc_disk(set, &lim, data);
}
#else
static inline struct gendisk *tare_alloc_disk(struct blk_mq_tag_set *set,
					      const struct tare_limits *want,
					      void *data)
{
	struct gendisk *disk = blk_mq_alloc_disk(set, data);
	struct request_queue *q;

	if (IS_ERR(disk))
		return disk;
	q = disk->queue;
	blk_queue_logical_block_size(q, want->block_size);
	blk_queue_physical_block_size(q, want->block_size);
	blk_queue_max_hw_sectors(q, want->max_sectors);
	/* The setter stops at the kernel's default; what was asked for holds. */
	q->limits.max_sectors = want->max_sectors;
	blk_queue_max_segments(q, want->max_segments);
	if (want->virt_boundary_mask)
		blk_queue_virt_boundary(q, want->virt_boundary_mask);
	if (want->max_discard_sectors) {
		q->limits.discard_granularity = want->block_size;
		blk_queue_max_discard_sectors(q, want->max_discard_sectors);
		blk_queue_max_write_zeroes_sectors(q, want->max_discard_sectors);
	}
	if (!want->rotational)
		blk_queue_flag_set(QUEUE_FLAG_NONROT, q);
	blk_queue_write_cache(q, want->write_cache,
			      want->write_cache && want->fua);
	return disk;
}
#endif

/* Merging became unconditional in 6.14. */
#if TARE_KERNEL(6, 14)
#define TARE_MQ_FLAGS	BLK_MQ_F_NO_SCHED_BY_DEFAULT
#else
#define TARE_MQ_FLAGS	(BLK_MQ_F_SHOULD_MERGE | BLK_MQ_F_NO_SCHED_BY_DEFAULT)
#endif

/* Since 6.14 every queue of a disk may have a scheduler. */
#if TARE_KERNEL(6, 14)
#define TARE_MQ_NO_SCHED	0
#else
#define TARE_MQ_NO_SCHED	BLK_MQ_F_NO_SCHED
#endif

/* Got its name in 6.5. */
#if TARE_KERNEL(6, 5)
#define TARE_BLK_STS_RESERVATION	BLK_STS_RESV_CONFLICT
#else
#define TARE_BLK_STS_RESERVATION	BLK_STS_NEXUS
#endif

/* ->open got the disk instead of the block device in 6.5. */
#if TARE_KERNEL(6, 5)
#define TARE_OPEN_ARGS		struct gendisk *disk, blk_mode_t mode
#define TARE_OPEN_DISK(disk)	(disk)
#else
#define TARE_OPEN_ARGS		struct block_device *disk, fmode_t mode
#define TARE_OPEN_DISK(disk)	((disk)->bd_disk)
#endif

/* Lists of requests got a type in 6.13, which the 6.12 stable series took over. */
#if LINUX_VERSION_CODE >= KERNEL_VERSION(6, 12, 2)
#define TARE_RQ_LIST	struct rq_list
#else
#define TARE_RQ_LIST	struct request *
#endif

/*
 * A driver that takes requests off ->queue_rqs() had to enter them into the
 * tag's table itself, where the time-out looks for them; blk_mq_start_request()
 * has done it since. Entering one twice does no harm.
 */
static inline void tare_rq_taken(struct request *rq)
{
#if !TARE_KERNEL(6, 9)
	rq->mq_hctx->tags->rqs[rq->tag] = rq;
#endif
}

#if TARE_KERNEL(6, 13)
static inline void tare_timer_setup(struct hrtimer *timer,
				    enum hrtimer_restart (*fn)(struct hrtimer *))
{
	hrtimer_setup(timer, fn, CLOCK_MONOTONIC, HRTIMER_MODE_ABS_PINNED);
}
#else
static inline void tare_timer_setup(struct hrtimer *timer,
				    enum hrtimer_restart (*fn)(struct hrtimer *))
{
	hrtimer_init(timer, CLOCK_MONOTONIC, HRTIMER_MODE_ABS_PINNED);
	timer->function = fn;
}
#endif

/* Freezing returns the allocation context to restore since 6.14. */
#if TARE_KERNEL(6, 14)
#define tare_freeze(q)			blk_mq_freeze_queue(q)
#define tare_unfreeze(q, memflags)	blk_mq_unfreeze_queue(q, memflags)
#else
static inline unsigned int tare_freeze(struct request_queue *q)
{
	blk_mq_freeze_queue(q);
	return 0;
}

static inline void tare_unfreeze(struct request_queue *q, unsigned int memflags)
{
	blk_mq_unfreeze_queue(q);
}
#endif

#ifndef CONFIG_X86
#include <linux/clocksource.h>
#if defined(CONFIG_ARM64)
#include <asm/arch_timer.h>
static inline u32 tare_arch_clock_khz(void)
{
	return arch_timer_get_cntfrq() / 1000;
}
#else
static inline u32 tare_arch_clock_khz(void)
{
	return 0;
}
#endif
#endif

#endif

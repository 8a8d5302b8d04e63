// SPDX-License-Identifier: GPL-2.0-only
/*
 * The blk-mq front end: turns requests of a disk into the engine's, and tells
 * the block layer when they are finished. It knows no device behaviour.
 */
#include <linux/blk-mq.h>
#include <linux/blkdev.h>
#include <linux/module.h>

#include "blk.h"
#include "finish.h"

/*
 * A write that found no memory comes back after so many milliseconds, and so
 * many times, about a second in all, before it fails.
 */
#define BLK_RETRY_MS		3
#define BLK_RETRIES		300

/* Erasing frees page after page in one go: 64 MiB are 16384 of them. */
#define BLK_DISCARD_MAX_KB	(64 << 10)

/* A polled hardware queue: its requests in the order in which they are due. */
struct tare_poll_queue {
	spinlock_t lock;		/* of heap */
	struct tare_due_heap heap;
};

struct tare_blk {
	struct tare_device *dev;
	struct gendisk *disk;
	struct blk_mq_tag_set tags;
};

/*
 * Books a request whose stamps are in its cmd, and ends it. A small function
 * of its own: what its callers saved on the stack is restored before, not
 * after `end`, where it would count as the block layer's.
 */
static noinline void blk_end(struct tare_cmd *cmd, struct request *rq,
			     u64 cmpl, enum tare_path path)
{
	struct tare_end end;

	trace_tare_complete(cmd, rq, cmpl);
	end = tare_book(cmd, rq, cmpl, path);
	tare_stamp_end(end);
	blk_mq_end_request(rq, cmd->status);
}

/* ->complete: the block layer hands the request back, on the right CPU. */
static void tare_blk_complete(struct request *rq)
{
	u64 cmpl = tare_stamp();
	struct tare_cmd *cmd = blk_mq_rq_to_pdu(rq);

	blk_end(cmd, rq, cmpl, tare_path_now(cmd));
}

/* Stamps `ready`, waits until due, stamps `fire`. */
static __always_inline void blk_wait(struct tare_cmd *cmd)
{
	cmd->ready = tare_stamp();
	cmd->fire = cmd->ready;
	if (cmd->ready < cmd->due)
		cmd->fire = tare_wait(cmd);
	cmd->fire_cpu = raw_smp_processor_id();
}

static __always_inline void blk_finish_inline(struct tare_cmd *cmd, struct request *rq)
{
	blk_wait(cmd);
	cmd->done = cmd->fire;
	blk_end(cmd, rq, cmd->done, TARE_PATH_INLINE);
}

static void blk_finish_complete(struct tare_cmd *cmd, struct request *rq)
{
	blk_wait(cmd);
	cmd->done = tare_stamp();
	blk_mq_complete_request(rq);
}

static enum hrtimer_restart tare_blk_timer(struct hrtimer *timer)
{
	struct tare_cmd *cmd = container_of(timer, struct tare_cmd, timer);

	if (tare_timer_early(cmd))
		return HRTIMER_RESTART;
	cmd->done = tare_stamp();
	blk_mq_complete_request(blk_mq_rq_from_pdu(cmd));
	return HRTIMER_NORESTART;
}

/*
 * The store had no memory: the block layer offers the request again soon. It
 * fails in the end, since somebody waits for it who may hold what is missing.
 */
static bool blk_retry_later(struct tare_cmd *cmd, struct request *rq)
{
	struct request_queue *q = rq->q;

	if (cmd->retries == BLK_RETRIES) {
		cmd->status = BLK_STS_NOSPC;
		return false;
	}
	cmd->retries++;
	this_cpu_inc(cmd->dev->stats->requeues);
	blk_mq_requeue_request(rq, false);
	blk_mq_delay_kick_requeue_list(q, BLK_RETRY_MS);
	return true;
}

/* A completion thread has it from here on; it may be gone on return. */
static void blk_spin_later(struct tare_cmd *cmd, struct request *rq)
{
	cmd->ready = tare_stamp();
	tare_spin_add(cmd->dev->spin, cmd, rq->mq_hctx->queue_num);
}

/* It waits until somebody polls. */
static void blk_poll_later(struct tare_cmd *cmd, struct request *rq)
{
	struct tare_poll_queue *queue = rq->mq_hctx->driver_data;

	cmd->ready = tare_stamp();
	spin_lock(&queue->lock);
	WARN_ON_ONCE(!tare_due_add(&queue->heap, cmd->due, cmd));
	spin_unlock(&queue->lock);
}

/* True: the request goes no further now. */
static noinline bool blk_fault(struct tare_cmd *cmd, struct request *rq)
{
	switch (tare_fault_judge(cmd, rq)) {
	case TARE_GIVEN_BACK:
		this_cpu_inc(cmd->dev->stats->requeues);
		blk_mq_requeue_request(rq, true);
		return true;
	case TARE_NEVER_ENDS:
		/* With its stamps; the time-out may run on another CPU. */
		smp_store_release(&cmd->stuck, true);
		return true;
	case TARE_GOES_ON:
		tare_store_part(cmd, rq);
	}
	return false;
}

/* There are data to move, time to pass, or somebody who looks on. */
static noinline void blk_issue_long(struct request *rq, u64 issue, u64 start)
{
	struct tare_cmd *cmd = blk_mq_rq_to_pdu(rq);
	struct tare_device *dev = cmd->dev;
	u8 op = tare_op_of(rq);

	/* The block layer keeps back what the device does not offer. */
	if (WARN_ON_ONCE(op == TARE_NR_OPS)) {
		blk_mq_end_request(rq, BLK_STS_NOTSUPP);
		return;
	}
	cmd->issue = issue;
	cmd->start = start;
	cmd->due = tare_due(dev, op, rq, start);
	cmd->issue_cpu = raw_smp_processor_id();
	cmd->op = op;
	cmd->flags = 0;
	cmd->status = BLK_STS_OK;
	trace_tare_issue(cmd, rq);
	if (unlikely(READ_ONCE(dev->fault.on)) && !cmd->retries &&
	    blk_fault(cmd, rq))
		return;
	if (dev->store && likely(cmd->status == BLK_STS_OK)) {
		cmd->status = tare_store_do(dev->store, op, rq);
		if (unlikely(cmd->status == BLK_STS_RESOURCE) &&
		    blk_retry_later(cmd, rq))
			return;
	}
	/* From here on it ends: the tag's next request has its own. */
	cmd->retries = 0;
	cmd->given_back = false;
	if (dev->config.poll_queues && rq->mq_hctx->type == HCTX_TYPE_POLL)
		blk_poll_later(cmd, rq);
	else if (dev->completion == TARE_SPIN)
		blk_spin_later(cmd, rq);
	else if (dev->completion == TARE_TIMER)
		tare_timer_arm(cmd);
	else if (dev->completion == TARE_INLINE)
		blk_finish_inline(cmd, rq);
	else
		blk_finish_complete(cmd, rq);
}

/*
 * The shortest way: the request takes no time and ends here, nobody looks on,
 * and its rows are booked from registers. ->queue_rq runs with interrupts on,
 * since the block layer calls it from a task: they need no saving.
 *
 * Out of line, so that what it saves on the stack comes after `start` and not
 * before `issue`, where it would count as the block layer's.
 */
static noinline void blk_issue(struct request *rq, u64 issue, u64 start)
{
	struct tare_cmd *cmd = blk_mq_rq_to_pdu(rq);
	struct tare_device *dev = cmd->dev;
	blk_opf_t flags = rq->cmd_flags;
	u8 op = (__force u8)flags;
	u64 *end;

	if (unlikely(READ_ONCE(dev->long_way)) || static_branch_unlikely(&tare_watched) ||
	    unlikely(!tare_op_common(flags)) ||
	    unlikely(READ_ONCE(dev->model.service_tsc[op]))) {
		blk_issue_long(rq, issue, start);
		return;
	}
	local_irq_disable();
	end = tare_book_at_once(dev, rq, op, issue, start);
	local_irq_enable();
	WRITE_ONCE(*end, tare_stamp());
	blk_mq_end_request(rq, BLK_STS_OK);
}

static blk_status_t tare_blk_queue_rq(struct blk_mq_hw_ctx *hctx,
				      const struct blk_mq_queue_data *bd)
{
	u64 issue = tare_stamp();
	struct request *rq = bd->rq;

	blk_mq_start_request(rq);
	blk_issue(rq, issue, tare_stamp());
	return BLK_STS_OK;
}

static void tare_blk_queue_rqs(TARE_RQ_LIST *list)
{
	struct request *rq;

	while ((rq = rq_list_pop(list))) {
		u64 issue = tare_stamp(), start;

		blk_mq_start_request(rq);
		start = tare_stamp();
		tare_rq_taken(rq);
		blk_issue(rq, issue, start);
	}
}

static void blk_book_polled(struct request *rq)
{
	struct tare_cmd *cmd = blk_mq_rq_to_pdu(rq);

	trace_tare_complete(cmd, rq, cmd->done);
	tare_stamp_end(tare_book(cmd, rq, cmd->done, TARE_PATH_DIRECT));
}

/*
 * Ends what polling found due. The requests of a batch have ends of their own:
 * what is booked for those behind counts as their completion.
 */
static void blk_end_batch(struct io_comp_batch *iob)
{
	struct request *rq;

	rq_list_for_each(&iob->req_list, rq)
		blk_book_polled(rq);
	blk_mq_end_request_batch(iob);
}

static void blk_finish_polled(struct tare_cmd *cmd, struct io_comp_batch *iob,
			      u64 now)
{
	struct request *rq = blk_mq_rq_from_pdu(cmd);
	blk_status_t status = cmd->status;

	cmd->fire = now;
	cmd->fire_cpu = raw_smp_processor_id();
	cmd->flags |= TARE_REC_POLLED;
	cmd->done = tare_stamp();
	blk_mq_set_request_complete(rq);
	if (blk_mq_add_to_batch(rq, iob, status != BLK_STS_OK, blk_end_batch))
		return;
	blk_book_polled(rq);
	blk_mq_end_request(rq, status);
}

static int tare_blk_poll(struct blk_mq_hw_ctx *hctx, struct io_comp_batch *iob)
{
	struct tare_poll_queue *queue = hctx->driver_data;
	int found = 0;

	for (;;) {
		u64 now = tare_stamp();
		struct tare_cmd *cmd;

		spin_lock(&queue->lock);
		cmd = tare_due_take(&queue->heap, now);
		spin_unlock(&queue->lock);
		if (!cmd)
			return found;
		blk_finish_polled(cmd, iob, now);
		found++;
	}
}

static int tare_blk_init_hctx(struct blk_mq_hw_ctx *hctx, void *data,
			      unsigned int index)
{
	struct tare_blk *blk = data;
	const struct tare_config *c = &blk->dev->config;
	struct tare_poll_queue *queue;

	if (index < tare_submit_queues(c))
		return 0;
	queue = kzalloc_node(sizeof(*queue), GFP_KERNEL, hctx->numa_node);
	if (!queue)
		return -ENOMEM;
	spin_lock_init(&queue->lock);
	queue->heap.room = c->queue_depth;
	queue->heap.slot = kvcalloc(c->queue_depth, sizeof(*queue->heap.slot),
				    GFP_KERNEL);
	if (!queue->heap.slot) {
		kfree(queue);
		return -ENOMEM;
	}
	hctx->driver_data = queue;
	return 0;
}

static void tare_blk_exit_hctx(struct blk_mq_hw_ctx *hctx, unsigned int index)
{
	struct tare_poll_queue *queue = hctx->driver_data;

	if (!queue)
		return;
	kvfree(queue->heap.slot);
	kfree(queue);
	hctx->driver_data = NULL;
}

/* No queues of their own for reads; the polled ones come last. */
static void tare_blk_map_queues(struct blk_mq_tag_set *set)
{
	struct tare_blk *blk = set->driver_data;
	const struct tare_config *c = &blk->dev->config;
	unsigned int submit = tare_submit_queues(c);
	unsigned int i;

	for (i = 0; i < set->nr_maps; i++) {
		struct blk_mq_queue_map *map = &set->map[i];

		map->nr_queues = i == HCTX_TYPE_DEFAULT ? submit :
				 i == HCTX_TYPE_POLL ? c->poll_queues : 0;
		map->queue_offset = i == HCTX_TYPE_DEFAULT ? 0 : submit;
		if (map->nr_queues)
			blk_mq_map_queues(map);
	}
}

/*
 * A request that is not due yet is no failure: waiting for a lock or a CPU
 * does not lose it, it ends by itself. One that is stuck ends here and nowhere
 * else, so that none can end twice.
 */
static enum blk_eh_timer_return tare_blk_timeout(struct request *rq)
{
	struct tare_cmd *cmd = blk_mq_rq_to_pdu(rq);

	/* Pairs with blk_fault(). */
	if (unlikely(smp_load_acquire(&cmd->stuck))) {
		cmd->stuck = false;
		tare_fault_expire(cmd);
		blk_mq_complete_request(rq);
		return BLK_EH_DONE;
	}
	/* Nobody may be polling any more: what is due then ends here. */
	if (rq->mq_hctx->type == HCTX_TYPE_POLL && cmd->due <= tare_stamp()) {
		tare_blk_poll(rq->mq_hctx, NULL);
		return BLK_EH_DONE;
	}
	return BLK_EH_RESET_TIMER;
}

static int tare_blk_init_request(struct blk_mq_tag_set *set, struct request *rq,
				 unsigned int hctx_idx, unsigned int node)
{
	struct tare_blk *blk = set->driver_data;
	struct tare_cmd *cmd = blk_mq_rq_to_pdu(rq);

	cmd->dev = blk->dev;
	tare_timer_setup(&cmd->timer, tare_blk_timer);
	return 0;
}

/* The callback may still be on its way out when its request has ended. */
static void tare_blk_exit_request(struct blk_mq_tag_set *set,
				  struct request *rq, unsigned int hctx_idx)
{
	struct tare_cmd *cmd = blk_mq_rq_to_pdu(rq);

	hrtimer_cancel(&cmd->timer);
}

static const struct blk_mq_ops tare_blk_mq_ops = {
	.queue_rq	= tare_blk_queue_rq,
	.queue_rqs	= tare_blk_queue_rqs,
	.complete	= tare_blk_complete,
	.timeout	= tare_blk_timeout,
	.poll		= tare_blk_poll,
	.map_queues	= tare_blk_map_queues,
	.init_hctx	= tare_blk_init_hctx,
	.exit_hctx	= tare_blk_exit_hctx,
	.init_request	= tare_blk_init_request,
	.exit_request	= tare_blk_exit_request,
};

/* Under the disk's open_mutex, as the claim is. */
static int tare_blk_open(TARE_OPEN_ARGS)
{
	struct tare_device *dev = TARE_OPEN_DISK(disk)->private_data;

	return dev->claimed ? -ENXIO : 0;
}

static const struct block_device_operations tare_blk_fops = {
	.owner	= THIS_MODULE,
	.open	= tare_blk_open,
};

static void blk_limits(const struct tare_config *c, struct tare_limits *lim)
{
	*lim = (struct tare_limits) {
		.block_size	= c->block_size,
		.max_sectors	= c->max_sectors_kb << 1,
		.max_segments	= c->max_segments,
		.max_discard_sectors = c->discard ? BLK_DISCARD_MAX_KB << 1 : 0,
		.virt_boundary_mask = c->virt_boundary ? PAGE_SIZE - 1 : 0,
		.rotational	= c->rotational,
		.write_cache	= c->write_cache,
		.fua		= c->fua,
	};
}

static unsigned int blk_flags(const struct tare_config *c)
{
	unsigned int flags = TARE_MQ_FLAGS;

	if (c->no_sched)
		flags |= TARE_MQ_NO_SCHED;
	if (c->blocking)
		flags |= BLK_MQ_F_BLOCKING;
	if (c->shared_tag_bitmap)
		flags |= BLK_MQ_F_TAG_HCTX_SHARED;
	return flags;
}

static int blk_tags_create(struct tare_blk *blk, const struct tare_config *c)
{
	unsigned int queues = tare_submit_queues(c) + c->poll_queues;
	struct blk_mq_tag_set *set = &blk->tags;
	int err;

	set->ops = &tare_blk_mq_ops;
	set->nr_hw_queues = queues;
	set->nr_maps = c->poll_queues ? HCTX_MAX_TYPES : 1;
	set->queue_depth = c->queue_depth;
	set->numa_node = c->home_node;
	set->timeout = msecs_to_jiffies(c->timeout_ms);
	set->cmd_size = sizeof(struct tare_cmd);
	set->flags = blk_flags(c);
	set->driver_data = blk;
	err = blk_mq_alloc_tag_set(set);
	if (err)
		return err;
	/* Where memory is short the block layer makes do with less. */
	if (set->queue_depth == c->queue_depth &&
	    set->nr_hw_queues == queues)
		return 0;
	blk_mq_free_tag_set(set);
	return -ENOMEM;
}

static int blk_disk_add(struct tare_blk *blk, struct tare_device *dev)
{
	struct gendisk *disk = blk->disk;

	disk->fops = &tare_blk_fops;
	disk->private_data = dev;
	strscpy(disk->disk_name, tare_name(dev), sizeof(disk->disk_name));
	set_capacity(disk, dev->config.size_mb << (20 - SECTOR_SHIFT));
	return add_disk(disk);
}

static int tare_blk_create(struct tare_device *dev)
{
	struct tare_limits lim;
	struct tare_blk *blk;
	int err;

	blk = kzalloc_node(sizeof(*blk), GFP_KERNEL, dev->config.home_node);
	if (!blk)
		return -ENOMEM;
	blk->dev = dev;
	err = blk_tags_create(blk, &dev->config);
	if (err)
		goto err_free;
	blk_limits(&dev->config, &lim);
	blk->disk = tare_alloc_disk(&blk->tags, &lim, dev);
	if (IS_ERR(blk->disk)) {
		err = PTR_ERR(blk->disk);
		goto err_tags;
	}
	dev->fe_data = blk;
	err = blk_disk_add(blk, dev);
	if (err)
		goto err_disk;
	return 0;

err_disk:
	dev->fe_data = NULL;
	put_disk(blk->disk);
err_tags:
	blk_mq_free_tag_set(&blk->tags);
err_free:
	kfree(blk);
	return err;
}

static int tare_blk_claim(struct tare_device *dev)
{
	struct tare_blk *blk = dev->fe_data;
	int err = 0;

	mutex_lock(&blk->disk->open_mutex);
	if (disk_openers(blk->disk))
		err = -EBUSY;
	else
		dev->claimed = true;
	mutex_unlock(&blk->disk->open_mutex);
	return err;
}

static void tare_blk_destroy(struct tare_device *dev)
{
	struct tare_blk *blk = dev->fe_data;

	del_gendisk(blk->disk);
	put_disk(blk->disk);
	blk_mq_free_tag_set(&blk->tags);
	dev->fe_data = NULL;
	kfree(blk);
}

static unsigned int tare_blk_quiesce(struct tare_device *dev)
{
	struct tare_blk *blk = dev->fe_data;
	unsigned int cookie;

	cookie = tare_freeze(blk->disk->queue);
	/* A request may have ended while its submitter is still on the way out. */
	blk_mq_quiesce_queue(blk->disk->queue);
	blk_mq_unquiesce_queue(blk->disk->queue);
	return cookie;
}

static void tare_blk_unquiesce(struct tare_device *dev, unsigned int cookie)
{
	struct tare_blk *blk = dev->fe_data;

	tare_unfreeze(blk->disk->queue, cookie);
}

const struct tare_frontend tare_blk_frontend = {
	.name		= "blk",
	.owner		= THIS_MODULE,
	.create		= tare_blk_create,
	.claim		= tare_blk_claim,
	.destroy	= tare_blk_destroy,
	.quiesce	= tare_blk_quiesce,
	.unquiesce	= tare_blk_unquiesce,
};

// SPDX-License-Identifier: GPL-2.0-only
/*
 * The kernel's side of the service time model: memory, random numbers, and the
 * lock around what requests share. See shape.h; the arithmetic is in model.c.
 */
#include <linux/export.h>
#include <linux/mm.h>
#include <linux/percpu.h>

#include "shape.h"

/**
 * tare_shape_conf() - a device's attributes as the model wants them
 * @c: from the user
 * @conf: out
 */
void tare_shape_conf(const struct tare_config *c, struct tare_model_conf *conf)
{
	*conf = (struct tare_model_conf) {
		.read_ns = c->read_ns,
		.write_ns = c->write_ns,
		.flush_ns = c->flush_ns,
		.discard_ns = c->discard_ns,
		.tail_ns = c->tail_ns,
		.seek_ns = c->seek_ns,
		.read_ns_per_kb = c->read_ns_per_kb,
		.write_ns_per_kb = c->write_ns_per_kb,
		.distribution = c->distribution,
		.spread_pct = c->spread_pct,
		.pareto_alpha_pct = c->pareto_alpha_pct,
		.tail_ppm = c->tail_ppm,
		.rpm = c->rpm,
		.size_mb = c->size_mb,
		.max_sectors_kb = c->max_sectors_kb,
		.channels = c->channels,
		.mbps = c->mbps,
		.write_cache = c->write_cache,
		.fua = c->fua,
	};
}

/**
 * tare_shape_create() - memory for a device that is switched on
 * @dev: its attributes are in force from tare_shape_apply() on
 *
 * Return: 0 or -ENOMEM.
 */
int tare_shape_create(struct tare_device *dev)
{
	struct tare_shape *shape;

	shape = kvzalloc_node(sizeof(*shape), GFP_KERNEL,
			      dev->config.home_node);
	if (!shape)
		return -ENOMEM;
	shape->stream = alloc_percpu(u64);
	if (!shape->stream) {
		kvfree(shape);
		return -ENOMEM;
	}
	raw_spin_lock_init(&shape->lock);
	dev->shape = shape;
	tare_shape_restart(dev);
	return 0;
}

/**
 * tare_shape_destroy() - the device has no power any more
 * @dev: no request is in it
 */
void tare_shape_destroy(struct tare_device *dev)
{
	free_percpu(dev->shape->stream);
	kvfree(dev->shape);
	dev->shape = NULL;
}

/**
 * tare_shape_restart() - random numbers and arm at their beginning
 * @dev: no request is in it
 */
void tare_shape_restart(struct tare_device *dev)
{
	struct tare_shape *shape = dev->shape;
	int cpu;

	for_each_possible_cpu(cpu)
		*per_cpu_ptr(shape->stream, cpu) =
			tare_stream_start(dev->config.seed, cpu);
	tare_queue_init(&shape->queue, dev->config.channels);
	atomic64_set(&shape->link_free, 0);
}

/* Before the model says that they are used. */
static void apply_spread(struct tare_shape *shape,
			 const struct tare_model_conf *conf)
{
	const struct tare_spread spread = {
		.distribution = conf->distribution,
		.spread_pct = conf->spread_pct,
		.pareto_alpha_pct = conf->pareto_alpha_pct,
	};

	if (!memcmp(&spread, &shape->spread, sizeof(spread)))
		return;
	tare_quantiles_make(&shape->quantiles, &spread);
	shape->spread = spread;
}

/**
 * tare_shape_apply() - take over changed attributes
 * @dev: in use, but for a change of channels
 */
void tare_shape_apply(struct tare_device *dev)
{
	struct tare_shape *shape = dev->shape;
	struct tare_model_conf conf;

	tare_shape_conf(&dev->config, &conf);
	apply_spread(shape, &conf);
	tare_model_set(&dev->model, &conf, tare_clock.khz);
	/* What is under way at the old rate does not hold up what comes. */
	if (shape->mbps != conf.mbps)
		atomic64_set(&shape->link_free, 0);
	shape->mbps = conf.mbps;
	if (shape->queue.channels != conf.channels)
		tare_queue_init(&shape->queue, conf.channels);
}

static u8 service_of(u8 op, const struct request *rq)
{
	return op == TARE_WRITE && (rq->cmd_flags & REQ_FUA) ?
	       TARE_SERVICE_WRITE_FUA : op;
}

/* When all of it has gone through the link that all requests share. */
static u64 link_due(struct tare_shape *shape, u64 tsc_per_mb, u32 bytes,
		    u64 start)
{
	s64 free = atomic64_read(&shape->link_free);
	u64 next;

	do {
		next = tare_link_free(free, start, tsc_per_mb, bytes);
	} while (!atomic64_try_cmpxchg(&shape->link_free, &free, next));
	return next;
}

static u64 served_due(struct tare_device *dev, u8 op, const struct request *rq,
		      u64 start)
{
	struct tare_shape *shape = dev->shape;
	struct tare_work work = {
		.start = start,
		.service = service_of(op, rq),
	};
	unsigned long flags;
	u64 random, due;

	if (op != TARE_FLUSH) {
		work.sector = blk_rq_pos(rq);
		work.sectors = blk_rq_sectors(rq);
	}
	random = tare_random(this_cpu_add_return(*shape->stream,
						 TARE_STREAM_STEP));
	tare_model_draw(&dev->model, &shape->quantiles, random, &work);
	if (!READ_ONCE(dev->model.shared))
		return start + work.before + work.after;
	raw_spin_lock_irqsave(&shape->lock, flags);
	due = tare_queue_due(&shape->queue, &dev->model, &work);
	raw_spin_unlock_irqrestore(&shape->lock, flags);
	return due;
}

/**
 * tare_shape_due() - when the modelled device is finished
 * @dev: of the request
 * @op: an enum tare_op
 * @rq: for its place and size
 * @start: its stamp
 *
 * For a device that is shaped; else it is start and a constant.
 * Return: tsc.
 */
u64 tare_shape_due(struct tare_device *dev, u8 op, const struct request *rq,
		   u64 start)
{
	u64 due = served_due(dev, op, rq, start);
	u64 tsc_per_mb = READ_ONCE(dev->model.link_tsc_per_mb);

	if (!tsc_per_mb || op > TARE_WRITE)
		return due;
	return max(due, link_due(dev->shape, tsc_per_mb, blk_rq_bytes(rq), start));
}
EXPORT_SYMBOL_GPL(tare_shape_due);

// SPDX-License-Identifier: GPL-2.0-only
/*
 * Memory of the per-CPU statistics, reading and reset; see stats.h.
 */
#include <linux/cpu.h>
#include <linux/delay.h>
#include <linux/module.h>
#include <linux/smp.h>

#include "stats.h"
#include "store.h"

/* 46 KiB an operation: five operations and the rest stay below 350 KiB a CPU. */
static_assert(TARE_NR_OPS * sizeof(struct tare_op_stats) +
	      sizeof(struct tare_cpu_stats) <= 350 * 1024);

/* A stamp is at most a few instructions away; a preempted task takes longer. */
#define SNAPSHOT_TRIES 200

static bool op_offered(const struct tare_config *c, int op)
{
	switch (op) {
	case TARE_FLUSH:
		return c->write_cache;
	case TARE_DISCARD:
	case TARE_WRITE_ZEROES:
		return c->discard;
	default:
		return true;
	}
}

static void clear_op(struct tare_op_stats *op)
{
	int row;

	memset(op, 0, sizeof(*op));
	for (row = 0; row < TARE_NR_ROWS; row++)
		op->row[row].min = U64_MAX;
}

static void clear_cpu(struct tare_cpu_stats *cs)
{
	int i;

	for (i = 0; i < TARE_NR_OPS; i++)
		if (cs->op[i])
			clear_op(cs->op[i]);
	memset(cs->path, 0, sizeof(cs->path));
	cs->early_fires = 0;
	cs->rearms = 0;
	cs->requeues = 0;
	cs->errors = 0;
	cs->unsettled = 0;
	cs->timeouts = 0;
}

/* A CPU's statistics lie on its own node. */
static int create_cpu(struct tare_device *dev, int cpu)
{
	struct tare_cpu_stats *cs = per_cpu_ptr(dev->stats, cpu);
	int i;

	for (i = 0; i < TARE_NR_OPS; i++) {
		if (!op_offered(&dev->config, i))
			continue;
		cs->op[i] = kvmalloc_node(sizeof(*cs->op[i]), GFP_KERNEL,
					  cpu_to_node(cpu));
		if (!cs->op[i])
			return -ENOMEM;
	}
	for (i = 0; i < TARE_PENDING_SLOTS; i++) {
		cs->pending[i].end = 1;
		cs->pending[i].base = 1;
	}
	clear_cpu(cs);
	return 0;
}

/**
 * tare_stats_create() - memory for the operations that the device offers
 * @dev: not powered yet
 *
 * Return: 0 or -ENOMEM, with nothing left behind.
 */
int tare_stats_create(struct tare_device *dev)
{
	int cpu, err;

	dev->stats = alloc_percpu(struct tare_cpu_stats);
	if (!dev->stats)
		return -ENOMEM;
	for_each_possible_cpu(cpu) {
		err = create_cpu(dev, cpu);
		if (err) {
			tare_stats_destroy(dev);
			return err;
		}
	}
	return 0;
}

/**
 * tare_stats_destroy() - free what tare_stats_create() made
 * @dev: without a disk
 */
void tare_stats_destroy(struct tare_device *dev)
{
	int cpu, i;

	for_each_possible_cpu(cpu)
		for (i = 0; i < TARE_NR_OPS; i++)
			kvfree(per_cpu_ptr(dev->stats, cpu)->op[i]);
	free_percpu(dev->stats);
	dev->stats = NULL;
}

/* One visit to a CPU's statistics, made on that CPU with interrupts off. */
struct visit {
	struct tare_cpu_stats *cs;
	struct tare_op_stats *copy;	/* NULL: clear instead */
	enum tare_op op;
	bool busy;
};

/* False when a request is between its booking and its last stamp. */
static bool settle_all(struct tare_cpu_stats *cs)
{
	int i;

	for (i = 0; i < TARE_PENDING_SLOTS; i++)
		if (!READ_ONCE(cs->pending[i].end))
			return false;
	for (i = 0; i < TARE_PENDING_SLOTS; i++) {
		struct tare_pending *slot = &cs->pending[i];

		tare_row_add(&slot->op->row[TARE_ROW_DRIVER],
			     slot->end - slot->base);
		slot->base = slot->end;
	}
	return true;
}

static void visit_fn(void *data)
{
	struct visit *v = data;

	v->busy = !settle_all(v->cs);
	if (v->busy)
		return;
	if (v->copy)
		memcpy(v->copy, v->cs->op[v->op], sizeof(*v->copy));
	else
		clear_cpu(v->cs);
}

static void visit_once(int cpu, struct visit *v)
{
	unsigned long flags;

	/* Fails when the CPU is offline: then nobody writes there. */
	if (!smp_call_function_single(cpu, visit_fn, v, true))
		return;
	local_irq_save(flags);
	visit_fn(v);
	local_irq_restore(flags);
}

static int visit_cpu(int cpu, struct visit *v)
{
	int tries;

	for (tries = 0; tries < SNAPSHOT_TRIES; tries++) {
		visit_once(cpu, v);
		if (!v->busy)
			return 0;
		if (msleep_interruptible(1))
			return -EINTR;
	}
	return -EAGAIN;
}

/* The rows' zeros are not booked one by one: they are what is missing. */
static void fill_zeros(struct tare_op_stats *op)
{
	int row, i;

	for (row = 0; row < TARE_NR_ROWS; row++) {
		struct tare_row_stats *rs = &op->row[row];
		u64 booked = 0;

		for (i = 1; i < TARE_HIST_BUCKETS; i++)
			booked += rs->bucket[i];
		rs->bucket[0] = op->count - booked;
		if (rs->bucket[0])
			rs->min = 0;
	}
}

static void add_op(struct tare_op_stats *sum, const struct tare_op_stats *op)
{
	int row, i;

	sum->count += op->count;
	sum->bytes += op->bytes;
	for (row = 0; row < TARE_NR_ROWS; row++) {
		struct tare_row_stats *to = &sum->row[row];
		const struct tare_row_stats *from = &op->row[row];

		to->sum += from->sum;
		to->min = min(to->min, from->min);
		to->max = max3(to->max, from->max, from->huge);
		to->negative += from->negative;
		for (i = 0; i < TARE_HIST_BUCKETS; i++)
			to->bucket[i] += from->bucket[i];
	}
}

/**
 * tare_stats_read() - one operation's statistics
 * @dev: powered, its lock held
 * @op: an operation
 * @cpu: a CPU, or -1 for all CPUs added up
 * @sum: out
 * @scratch: room for one CPU's copy
 *
 * Each CPU's part is whole: every histogram sums to its count.
 *
 * Return: 0; -EOPNOTSUPP when the device does not offer @op; -EINVAL for a bad
 * @cpu; -EINTR; -EAGAIN when a request did not end within its last step.
 */
int tare_stats_read(struct tare_device *dev, enum tare_op op, int cpu,
		    struct tare_op_stats *sum, struct tare_op_stats *scratch)
{
	struct visit v = { .copy = scratch, .op = op };
	int err = 0, i;

	if (!op_offered(&dev->config, op))
		return -EOPNOTSUPP;
	if (cpu != -1 && (cpu < 0 || cpu >= nr_cpu_ids || !cpu_possible(cpu)))
		return -EINVAL;
	clear_op(sum);
	cpus_read_lock();
	for_each_possible_cpu(i) {
		if (cpu != -1 && cpu != i)
			continue;
		v.cs = per_cpu_ptr(dev->stats, i);
		err = visit_cpu(i, &v);
		if (err)
			break;
		add_op(sum, scratch);
		cond_resched();
	}
	cpus_read_unlock();
	fill_zeros(sum);
	return err;
}

/* Requests ended, as far as one can tell without asking their CPU. */
static u64 count_all(const struct tare_cpu_stats *cs)
{
	u64 count = 0;
	int i;

	for (i = 0; i < TARE_NR_OPS; i++)
		if (cs->op[i])
			count += READ_ONCE(cs->op[i]->count);
	return count;
}

static void add_counters(struct tare_counters *sum,
			 const struct tare_cpu_stats *cs)
{
	u64 elsewhere = 0, all;
	int i;

	for (i = TARE_PATH_DIRECT; i < TARE_NR_PATHS; i++) {
		u64 n = READ_ONCE(cs->path[i]);

		sum->path[i] += n;
		elsewhere += n;
	}
	/* The two are not read at once: a busy device may be one ahead. */
	all = count_all(cs);
	sum->path[TARE_PATH_INLINE] += max(all, elsewhere) - elsewhere;
	sum->early_fires += READ_ONCE(cs->early_fires);
	sum->rearms += READ_ONCE(cs->rearms);
	sum->requeues += READ_ONCE(cs->requeues);
	sum->errors += READ_ONCE(cs->errors);
	sum->unsettled += READ_ONCE(cs->unsettled);
	sum->timeouts += READ_ONCE(cs->timeouts);
}

/**
 * tare_stats_counters() - counters of a device, all CPUs added up
 * @dev: powered, its lock held
 * @sum: out
 */
void tare_stats_counters(struct tare_device *dev, struct tare_counters *sum)
{
	int cpu;

	memset(sum, 0, sizeof(*sum));
	for_each_possible_cpu(cpu)
		add_counters(sum, per_cpu_ptr(dev->stats, cpu));
	sum->store_pages = tare_store_pages(dev->store);
}

/**
 * tare_stats_reset() - forget everything counted so far
 * @dev: powered, its lock held
 *
 * Requests in the driver at that moment count when they end.
 *
 * Return: 0, -EINTR or -EAGAIN as tare_stats_read().
 */
int tare_stats_reset(struct tare_device *dev)
{
	struct visit v = { };
	int cpu, err = 0;

	cpus_read_lock();
	for_each_possible_cpu(cpu) {
		v.cs = per_cpu_ptr(dev->stats, cpu);
		err = visit_cpu(cpu, &v);
		if (err)
			break;
	}
	cpus_read_unlock();
	return err;
}

// SPDX-License-Identifier: GPL-2.0-only
/*
 * Injected faults, see fault.h. Each request takes a turn, and what is drawn
 * for it depends on the seed and that turn alone: with one request at a time
 * a run can be repeated, with several the same turns fail, whosever they are.
 */
#include <linux/module.h>

#include "chance.h"
#include "fault.h"
#include "stats.h"
#include "tare.h"

enum { DRAW_REQUEUE, DRAW_TIMEOUT, DRAW_ERROR };

static const blk_status_t statuses[TARE_NR_ERROR_STATUSES] = {
	[TARE_STS_IOERR]	= BLK_STS_IOERR,
	[TARE_STS_MEDIUM]	= BLK_STS_MEDIUM,
	[TARE_STS_NOSPC]	= BLK_STS_NOSPC,
	[TARE_STS_TIMEOUT]	= BLK_STS_TIMEOUT,
	[TARE_STS_TRANSPORT]	= BLK_STS_TRANSPORT,
	[TARE_STS_TARGET]	= BLK_STS_TARGET,
	[TARE_STS_RESERVATION]	= TARE_BLK_STS_RESERVATION,
	[TARE_STS_PROTECTION]	= BLK_STS_PROTECTION,
	[TARE_STS_RESOURCE]	= BLK_STS_RESOURCE,
	[TARE_STS_NOTSUPP]	= BLK_STS_NOTSUPP,
	[TARE_STS_OFFLINE]	= BLK_STS_OFFLINE,
};

/**
 * tare_fault_init() - nothing goes wrong
 * @fault: of a new device
 */
void tare_fault_init(struct tare_fault *fault)
{
	spin_lock_init(&fault->bad_lock);
	atomic64_set(&fault->turn, 0);
}

static bool any_set(const struct tare_config *c)
{
	return c->read_error_ppm || c->write_error_ppm || c->flush_error_ppm ||
	       c->discard_error_ppm || c->requeue_ppm || c->timeout_ppm ||
	       READ_ONCE(c->badblocks.n);
}

/**
 * tare_fault_apply() - take over the attributes
 * @dev: its requests may be under way
 */
void tare_fault_apply(struct tare_device *dev)
{
	const struct tare_config *c = &dev->config;
	struct tare_fault *f = &dev->fault;
	u64 discard = tare_chance(c->discard_error_ppm);

	WRITE_ONCE(f->bad_once, c->badblocks_once);
	WRITE_ONCE(f->bad_partial, c->badblocks_partial_io);
	WRITE_ONCE(f->status, statuses[c->error_status]);
	WRITE_ONCE(f->error[TARE_READ], tare_chance(c->read_error_ppm));
	WRITE_ONCE(f->error[TARE_WRITE], tare_chance(c->write_error_ppm));
	WRITE_ONCE(f->error[TARE_FLUSH], tare_chance(c->flush_error_ppm));
	WRITE_ONCE(f->error[TARE_DISCARD], discard);
	WRITE_ONCE(f->error[TARE_WRITE_ZEROES], discard);
	WRITE_ONCE(f->requeue, tare_chance(c->requeue_ppm));
	WRITE_ONCE(f->timeout, tare_chance(c->timeout_ppm));
	WRITE_ONCE(f->first_sector, c->fault_first_sector);
	WRITE_ONCE(f->last_sector, c->fault_last_sector);
	WRITE_ONCE(f->on, any_set(c));
}

/**
 * tare_fault_reseed() - the draws begin again
 * @dev: its requests may be under way
 */
void tare_fault_reseed(struct tare_device *dev)
{
	WRITE_ONCE(dev->fault.seed, dev->config.fault_seed);
	atomic64_set(&dev->fault.turn, 0);
}

/**
 * tare_fault_write_bad() - what the user wrote to badblocks
 * @dev: its lock is held
 * @text: see ranges.h
 * @len: its length
 *
 * Return: 0, -EINVAL or -ENOSPC, see tare_ranges_write().
 */
int tare_fault_write_bad(struct tare_device *dev, const char *text, size_t len)
{
	unsigned long flags;
	int err;

	spin_lock_irqsave(&dev->fault.bad_lock, flags);
	err = tare_ranges_write(&dev->config.badblocks, text, len,
				tare_attrs[TARE_ATTR_badblocks].max);
	spin_unlock_irqrestore(&dev->fault.bad_lock, flags);
	return err;
}

/**
 * tare_fault_read_bad() - the list, which badblocks_once makes shorter
 * @dev: its lock is held
 * @page: out
 *
 * Return: length of the text.
 */
int tare_fault_read_bad(struct tare_device *dev, char *page)
{
	unsigned long flags;
	int len;

	spin_lock_irqsave(&dev->fault.bad_lock, flags);
	len = tare_attr_format_ranges(&dev->config.badblocks, page);
	spin_unlock_irqrestore(&dev->fault.bad_lock, flags);
	return len;
}

/* Does it touch the sectors where faults by rate happen? A flush always does. */
static bool in_reach(const struct tare_fault *f, const struct tare_cmd *cmd,
		     const struct request *rq)
{
	u64 sector = blk_rq_pos(rq);

	if (cmd->op == TARE_FLUSH)
		return true;
	return sector <= READ_ONCE(f->last_sector) &&
	       sector + blk_rq_sectors(rq) > READ_ONCE(f->first_sector);
}

static bool happens(const struct tare_fault *f, u64 turn, u32 kind,
		    const u64 *chance)
{
	u64 below = READ_ONCE(*chance);

	return below && tare_draw(READ_ONCE(f->seed), turn, kind) < below;
}

static void fail(struct tare_cmd *cmd, u64 move_bytes)
{
	cmd->status = READ_ONCE(cmd->dev->fault.status);
	cmd->move_bytes = move_bytes;
}

/*
 * The first bad range that the request touches; where badblocks_once is set
 * it is good from now on.
 */
static bool bad_take(struct tare_device *dev, const struct request *rq,
		     struct tare_range *found)
{
	struct tare_ranges *bad = &dev->config.badblocks;
	struct tare_fault *f = &dev->fault;
	u64 first = blk_rq_pos(rq);
	const struct tare_range *hit;
	unsigned long flags;
	bool is_bad;

	spin_lock_irqsave(&f->bad_lock, flags);
	hit = tare_ranges_find(bad, first, first + blk_rq_sectors(rq) - 1);
	is_bad = hit;
	if (is_bad)
		*found = *hit;
	/* A whole range: the list does not get longer, it cannot fail. */
	if (is_bad && READ_ONCE(f->bad_once))
		tare_ranges_remove(bad, found->first, found->last);
	spin_unlock_irqrestore(&f->bad_lock, flags);
	return is_bad;
}

static void check_bad(struct tare_cmd *cmd, const struct request *rq)
{
	struct tare_device *dev = cmd->dev;
	struct tare_range bad;
	u64 before = 0;

	if (cmd->op == TARE_FLUSH || !READ_ONCE(dev->config.badblocks.n) ||
	    !bad_take(dev, rq, &bad))
		return;
	/* A block that has a bad sector is bad. */
	if (READ_ONCE(dev->fault.bad_partial) && bad.first > blk_rq_pos(rq))
		before = round_down((bad.first - blk_rq_pos(rq)) << SECTOR_SHIFT,
				    dev->config.block_size);
	fail(cmd, before);
}

/**
 * tare_fault_judge() - what is to become of a request
 * @cmd: with its op; status, move_bytes and given_back are changed
 * @rq: just offered
 */
enum tare_verdict tare_fault_judge(struct tare_cmd *cmd,
				   const struct request *rq)
{
	struct tare_fault *f = &cmd->dev->fault;
	u64 turn = atomic64_inc_return(&f->turn);
	bool reach = in_reach(f, cmd, rq);

	/* Once only: what comes back goes on. */
	if (!cmd->given_back && reach &&
	    happens(f, turn, DRAW_REQUEUE, &f->requeue)) {
		cmd->given_back = true;
		return TARE_GIVEN_BACK;
	}
	cmd->given_back = false;
	if (reach && happens(f, turn, DRAW_TIMEOUT, &f->timeout))
		return TARE_NEVER_ENDS;
	if (reach && happens(f, turn, DRAW_ERROR, &f->error[cmd->op]))
		fail(cmd, 0);
	else
		check_bad(cmd, rq);
	return TARE_GOES_ON;
}
EXPORT_SYMBOL_GPL(tare_fault_judge);

/**
 * tare_fault_expire() - a request that never ends has run out of time
 * @cmd: nobody else completes it; ready to be completed afterwards
 *
 * The device had it all the time: it is due now.
 */
void tare_fault_expire(struct tare_cmd *cmd)
{
	u64 now = tare_stamp();

	this_cpu_inc(cmd->dev->stats->timeouts);
	cmd->status = BLK_STS_TIMEOUT;
	cmd->due = now;
	cmd->ready = now;
	cmd->fire = now;
	cmd->fire_cpu = raw_smp_processor_id();
	cmd->done = now;
}
EXPORT_SYMBOL_GPL(tare_fault_expire);

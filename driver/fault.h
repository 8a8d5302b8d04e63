/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What shall go wrong: errors by operation, rate, place or bad sector,
 * requests that are given back, and requests that never end by themselves.
 * Without any of it ->on is false, and nobody asks further.
 */
#ifndef TARE_FAULT_H
#define TARE_FAULT_H

#include <linux/atomic.h>
#include <linux/blk_types.h>
#include <linux/spinlock.h>
#include <linux/types.h>

#include "uapi/tare.h"

struct request;
struct tare_cmd;
struct tare_device;

/* As the path reads it; made from the attributes, each value by itself. */
struct tare_fault {
	bool on;
	bool bad_once;
	bool bad_partial;
	blk_status_t status;		/* of injected errors */
	u64 error[TARE_NR_OPS];		/* chances, see chance.h */
	u64 requeue;
	u64 timeout;
	u64 first_sector;		/* where the three above happen */
	u64 last_sector;
	u64 seed;
	atomic64_t turn;
	spinlock_t bad_lock;		/* also holds config.badblocks */
};

/* What is to become of a request. */
enum tare_verdict {
	TARE_GOES_ON,		/* with cmd->status and cmd->move_bytes */
	TARE_GIVEN_BACK,	/* the block layer offers it again */
	TARE_NEVER_ENDS,	/* until the block layer's time-out */
};

void tare_fault_init(struct tare_fault *fault);
void tare_fault_apply(struct tare_device *dev);
void tare_fault_reseed(struct tare_device *dev);
int tare_fault_write_bad(struct tare_device *dev, const char *text, size_t len);
int tare_fault_read_bad(struct tare_device *dev, char *page);
enum tare_verdict tare_fault_judge(struct tare_cmd *cmd,
				   const struct request *rq);
void tare_fault_expire(struct tare_cmd *cmd);

#endif

/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What shapes the service time of a device that is not one constant: random
 * numbers, and the channels and the arm that requests share.
 */
#ifndef TARE_SHAPE_H
#define TARE_SHAPE_H

#include <linux/spinlock.h>

#include "quantile.h"
#include "tare.h"

/* The queue comes first: its lock is next to what it guards. */
struct tare_shape {
	raw_spinlock_t lock;
	struct tare_queue queue;
	struct tare_spread spread;	/* that quantiles were made from */
	struct tare_quantiles quantiles;
	u32 mbps;			/* that link_free was counted with */
	atomic64_t link_free;		/* tsc */
	u64 __percpu *stream;		/* position of each CPU's random numbers */
};

int tare_shape_create(struct tare_device *dev);
void tare_shape_destroy(struct tare_device *dev);
void tare_shape_apply(struct tare_device *dev);
void tare_shape_restart(struct tare_device *dev);
void tare_shape_conf(const struct tare_config *c, struct tare_model_conf *conf);
u64 tare_shape_due(struct tare_device *dev, u8 op, const struct request *rq,
		   u64 start);

#endif

/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Service time and clock arithmetic. Pure C, no kernel call: the host's unit
 * tests compile the same file. Fixed point, no floating point, and no division
 * where a request passes.
 */
#ifndef TARE_MODEL_H
#define TARE_MODEL_H

#ifdef __KERNEL__
#include <linux/types.h>
#else
#include <stdbool.h>
#include <linux/types.h>
typedef __u64 u64;
typedef __u32 u32;
#endif

#include "uapi/tare.h"

/* A write with forced unit access has a service time of its own. */
enum tare_service {
	TARE_SERVICE_WRITE_FUA = TARE_NR_OPS,
	TARE_NR_SERVICES
};

/* Service times in tsc, indexed by enum tare_op or enum tare_service. */
struct tare_model {
	u64 service_tsc[TARE_NR_SERVICES];
};

/* The service times that a user sets. */
struct tare_model_ns {
	u64 read_ns;
	u64 write_ns;
	u64 flush_ns;
	u64 discard_ns;
};

/* tsc to ns as a multiplication and a shift: ns = tsc * mult >> shift. */
struct tare_scale {
	u32 mult;
	u32 shift;
};

u64 tare_ns_to_tsc(u64 ns, u32 tsc_khz);
struct tare_scale tare_scale_make(u32 tsc_khz);

/**
 * tare_tsc_to_ns() - duration in ns, never less than the true one
 * @scale: made for this clock by tare_scale_make()
 * @tsc: duration in tsc
 *
 * Rounds up, so that a timer set with it does not fire before its time.
 */
static inline u64 tare_tsc_to_ns(struct tare_scale scale, u64 tsc)
{
	return (u64)(((unsigned __int128)tsc * scale.mult) >> scale.shift) + 1;
}

void tare_model_set(struct tare_model *model, const struct tare_model_ns *ns,
		    u32 tsc_khz);

#endif

// SPDX-License-Identifier: GPL-2.0-only
/*
 * Service time and clock arithmetic, see model.h.
 */
#include "model.h"

#ifdef __KERNEL__
#include <linux/compiler.h>
#else
#define WRITE_ONCE(x, v) __atomic_store_n(&(x), (v), __ATOMIC_RELAXED)
#endif

/**
 * tare_ns_to_tsc() - smallest number of tsc ticks that last at least @ns
 * @ns: duration, up to 2^44 ns (about five hours)
 * @tsc_khz: ticks per millisecond, 1 to 2^24
 */
u64 tare_ns_to_tsc(u64 ns, u32 tsc_khz)
{
	/* Split at a millisecond: the product of the rest stays below 2^64. */
	u64 ms = ns / 1000000;
	u64 rest = ns % 1000000;

	return ms * tsc_khz + (rest * tsc_khz + 999999) / 1000000;
}

/**
 * tare_scale_make() - multiplier and shift for tare_tsc_to_ns()
 * @tsc_khz: ticks per millisecond, 1 to 2^32 - 1
 *
 * The largest shift whose multiplier, rounded up, fits in 32 bits: relative
 * error below 2^-30, and never too short.
 */
struct tare_scale tare_scale_make(u32 tsc_khz)
{
	struct tare_scale scale = { .shift = 0 };
	u64 mult = 0;
	u32 shift;

	for (shift = 0; shift <= 43; shift++) {
		u64 next = ((1000000ULL << shift) + tsc_khz - 1) / tsc_khz;

		if (next >> 32)
			break;
		mult = next;
		scale.shift = shift;
	}
	scale.mult = mult;
	return scale;
}

/**
 * tare_model_set() - take over new service times
 * @model: in use by requests at the same time; each value changes at once
 * @ns: what the user asked for
 * @tsc_khz: ticks per millisecond
 */
void tare_model_set(struct tare_model *model, const struct tare_model_ns *ns,
		    u32 tsc_khz)
{
	u64 write = tare_ns_to_tsc(ns->write_ns, tsc_khz);
	u64 flush = tare_ns_to_tsc(ns->flush_ns, tsc_khz);
	u64 discard = tare_ns_to_tsc(ns->discard_ns, tsc_khz);

	WRITE_ONCE(model->service_tsc[TARE_READ],
		   tare_ns_to_tsc(ns->read_ns, tsc_khz));
	WRITE_ONCE(model->service_tsc[TARE_WRITE], write);
	WRITE_ONCE(model->service_tsc[TARE_FLUSH], flush);
	WRITE_ONCE(model->service_tsc[TARE_DISCARD], discard);
	WRITE_ONCE(model->service_tsc[TARE_WRITE_ZEROES], discard);
	/* Through the cache to the medium: both, one after the other. */
	WRITE_ONCE(model->service_tsc[TARE_SERVICE_WRITE_FUA], write + flush);
}

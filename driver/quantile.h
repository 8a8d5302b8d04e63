/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * How service times spread: a table of quantiles, made when a distribution is
 * set. A request costs a random number, a look-up and two multiplications,
 * whatever the distribution. Pure C as model.h.
 */
#ifndef TARE_QUANTILE_H
#define TARE_QUANTILE_H

#include "model.h"

/* A factor of 1. */
#define TARE_FACTOR_SHIFT	16
#define TARE_FACTOR_ONE		65536U

/*
 * The table is as fine as the statistics' histogram, 32 steps to each octave of
 * the distance from the nearer end, down to 2^-32: a line between two entries
 * is within 0.04 % of the widest curve.
 */
#define TARE_QUANTILE_BITS	31
#define TARE_QUANTILES		(((TARE_QUANTILE_BITS - TARE_HIST_SUB_BITS + 1) \
				  << TARE_HIST_SUB_BITS) + 1)

enum tare_side { TARE_BELOW, TARE_ABOVE, TARE_NR_SIDES };

/* What makes a table; the units are those of the attributes. */
struct tare_spread {
	u32 distribution;	/* enum tare_distribution */
	u32 spread_pct;
	u32 pareto_alpha_pct;
};

/*
 * factor[side][i]: as many 2^-32 as tare_hist_low(i) and a half of all values
 * lie beyond it on that side of the median.
 */
struct tare_quantiles {
	u32 factor[TARE_NR_SIDES][TARE_QUANTILES];
};

void tare_quantiles_make(struct tare_quantiles *q,
			 const struct tare_spread *spread);
u32 tare_quantile_max(const struct tare_spread *spread);
u32 tare_quantile_draw(const struct tare_quantiles *q, u32 random);

#endif

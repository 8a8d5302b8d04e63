// SPDX-License-Identifier: GPL-2.0-only
/*
 * Tables of quantiles, see quantile.h. Fixed point: Q32 means that 2^32 is one.
 * Everything but tare_quantile_draw() runs when an attribute is set.
 */
#include "quantile.h"

#ifdef __KERNEL__
#include <linux/compiler.h>
#else
#define READ_ONCE(x) __atomic_load_n(&(x), __ATOMIC_RELAXED)
#define WRITE_ONCE(x, v) __atomic_store_n(&(x), (v), __ATOMIC_RELAXED)
#endif

#define LN2_Q62		3196577161300663915ULL
#define LOG2E_Q32	6196328019LL
#define INV_SQRT_2PI_Q32 1713444047ULL

/* A probability is counted in parts of 2^-33, so that half a 2^-32 is one. */
#define PROB_BITS	33
#define PROB_ONE	(2ULL << (PROB_BITS - 1))

/* The normal curve is followed from here, in steps of 1/256, to the middle. */
#define WALK_STEP_BITS	8
#define WALK_FROM	(8 << WALK_STEP_BITS)

static u64 mul_shift(u64 a, u64 b, u32 shift)
{
	return (unsigned __int128)a * b >> shift;
}

/* 2^(fraction / 2^32), in Q62: the series of e^(fraction ln 2). */
static u64 exp2_fraction(u32 fraction)
{
	u64 y = mul_shift(fraction, LN2_Q62, 32);
	u64 term = 1ULL << 62;
	u64 sum = term;
	u32 k;

	for (k = 1; term && k < 20; k++) {
		term = mul_shift(term, y, 62) / k;
		sum += term;
	}
	return sum;
}

/* 2^x of a Q32, as so many fraction bits (up to 62) say; too large: ~0. */
static u64 exp2_q32(s64 x, int bits)
{
	int shift = 62 - bits - (int)(x >> 32);
	u64 mantissa = exp2_fraction((u32)x);

	if (shift < 0)
		return ~0ULL;
	if (shift == 0)
		return mantissa;
	if (shift > 63)
		return 0;
	return (mantissa + (1ULL << (shift - 1))) >> shift;
}

/* log2 of a whole number, Q32: each squaring gives a bit of the fraction. */
static u64 log2_q32(u64 v)
{
	u32 whole = 63 - __builtin_clzll(v);
	u64 m = v << (63 - whole) >> 1;		/* Q62, from 1 to below 2 */
	u64 log = whole;
	int i;

	for (i = 0; i < 32; i++) {
		m = mul_shift(m, m, 62);
		log <<= 1;
		if (m >> 63) {
			log |= 1;
			m >>= 1;
		}
	}
	return log;
}

/* Where the walk along the normal curve stands: what lies beyond `at`, Q62. */
struct walk {
	u32 at;		/* steps from the middle */
	u64 density;	/* there, Q62 */
	u64 beyond;
	u64 before;	/* beyond at + 1 */
};

static u64 normal_density(u32 at)
{
	/* e^(-z^2 / 2) is 2^(-z^2 / 2 log2 e) */
	s64 x = -(s64)((u64)at * at * LOG2E_Q32 >> (2 * WALK_STEP_BITS + 1));

	return mul_shift(exp2_q32(x, 62), INV_SQRT_2PI_Q32, 32);
}

static void walk_start(struct walk *w)
{
	w->at = WALK_FROM;
	w->density = normal_density(WALK_FROM);
	w->beyond = 0;
	w->before = 0;
}

/* One step to the middle; the area is a trapezium's. */
static void walk_step(struct walk *w)
{
	u64 density = normal_density(--w->at);

	w->before = w->beyond;
	w->beyond += (w->density + density) >> (WALK_STEP_BITS + 1);
	w->density = density;
}

/* The z that a part @prob of a normal distribution lies beyond, Q24. */
static u64 walk_to(struct walk *w, u64 prob)
{
	u64 want = prob << (62 - PROB_BITS);
	u64 over, width;

	while (w->beyond < want && w->at)
		walk_step(w);
	if (w->beyond <= want)
		return (u64)w->at << (24 - WALK_STEP_BITS);
	over = w->beyond - want;
	width = w->beyond - w->before;
	while (width >> 47) {
		width >>= 1;
		over >>= 1;
	}
	return ((u64)w->at << (24 - WALK_STEP_BITS)) +
	       (over << (24 - WALK_STEP_BITS)) / width;
}

static s64 clamp_s64(s64 v, s64 low, s64 high)
{
	return v < low ? low : v > high ? high : v;
}

static s64 uniform_factor(const struct tare_spread *s, s64 sign, u64 prob)
{
	u64 width = ((u64)s->spread_pct << TARE_FACTOR_SHIFT) / 100;

	return TARE_FACTOR_ONE +
	       sign * (s64)mul_shift(width, PROB_ONE - 2 * prob, PROB_BITS);
}

/* Cut off alike on both sides, so that the mean stays. */
static s64 normal_factor(const struct tare_spread *s, s64 sign, u64 z)
{
	s64 off = (s64)(z * s->spread_pct / 100) >> (24 - TARE_FACTOR_SHIFT);

	return clamp_s64(TARE_FACTOR_ONE + sign * off, 0, 2 * TARE_FACTOR_ONE);
}

/* e^(sigma z - sigma^2 / 2), whose mean is 1. */
static s64 lognormal_factor(const struct tare_spread *s, s64 sign, u64 z)
{
	s64 sigma_z = (s64)(z * s->spread_pct / 100);
	s64 half = ((s64)s->spread_pct * s->spread_pct << 24) / 20000;
	s64 x = (sign * sigma_z - half) * (LOG2E_Q32 >> 8) >> 16;

	return (s64)exp2_q32(x, TARE_FACTOR_SHIFT);
}

/* (1 - 1 / alpha) beyond^(-1 / alpha), whose mean is 1. */
static s64 pareto_factor(const struct tare_spread *s, u64 beyond)
{
	u32 alpha = s->pareto_alpha_pct;
	u64 log = ((u64)PROB_BITS << 32) - log2_q32(beyond);
	u64 power = exp2_q32((s64)(log * 100 / alpha), TARE_FACTOR_SHIFT + 8);

	return (s64)(mul_shift(power, ((u64)(alpha - 100) << 32) / alpha, 40));
}

/* The factor that a part @prob of all lies beyond on that side. */
static u32 factor_at(const struct tare_spread *s, enum tare_side side,
		     u64 prob, u64 z)
{
	s64 sign = side == TARE_ABOVE ? 1 : -1;
	s64 factor;

	switch (s->distribution) {
	case TARE_UNIFORM:
		factor = uniform_factor(s, sign, prob);
		break;
	case TARE_NORMAL:
		factor = normal_factor(s, sign, z);
		break;
	case TARE_LOGNORMAL:
		factor = lognormal_factor(s, sign, z);
		break;
	case TARE_PARETO:
		factor = pareto_factor(s, side == TARE_ABOVE ? prob :
							       PROB_ONE - prob);
		break;
	default:
		factor = TARE_FACTOR_ONE;
		break;
	}
	return (u32)clamp_s64(factor, 0, ~0U);
}

/**
 * tare_quantiles_make() - the table of a distribution
 * @q: may be in use: a request sees the old or the new value of an entry, and
 *	its factor lies between two of them
 * @spread: what it shall be
 */
void tare_quantiles_make(struct tare_quantiles *q,
			 const struct tare_spread *spread)
{
	struct walk w;
	u32 i;

	walk_start(&w);
	for (i = 0; i < TARE_QUANTILES; i++) {
		u64 prob = i + 1 < TARE_QUANTILES ?
			   2 * tare_hist_low(i) + 1 : PROB_ONE / 2;
		u64 z = walk_to(&w, prob);

		WRITE_ONCE(q->factor[TARE_BELOW][i],
			   factor_at(spread, TARE_BELOW, prob, z));
		WRITE_ONCE(q->factor[TARE_ABOVE][i],
			   factor_at(spread, TARE_ABOVE, prob, z));
	}
}

/**
 * tare_quantile_max() - the largest factor of a distribution
 * @spread: what makes the table
 */
u32 tare_quantile_max(const struct tare_spread *spread)
{
	struct walk w;

	walk_start(&w);
	return factor_at(spread, TARE_ABOVE, 1, walk_to(&w, 1));
}

/**
 * tare_quantile_draw() - a factor
 * @q: the table
 * @random: evenly distributed
 *
 * Return: in parts of TARE_FACTOR_ONE.
 */
u32 tare_quantile_draw(const struct tare_quantiles *q, u32 random)
{
	const u32 *factor = q->factor[random >> TARE_QUANTILE_BITS];
	u32 v = random & ((1U << TARE_QUANTILE_BITS) - 1);
	u32 i = tare_hist_bucket(v);
	u32 shift = i >> TARE_HIST_SUB_BITS;
	s64 here = READ_ONCE(factor[i]);
	s64 next = READ_ONCE(factor[i + 1]);

	/* The width of a bucket is a power of two: no division. */
	shift -= !!shift;
	return here + ((next - here) * (s64)(v - tare_hist_low(i)) >> shift);
}

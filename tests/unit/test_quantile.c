// SPDX-License-Identifier: GPL-2.0-only
/*
 * The driver's quantile.c: every distribution against its formula, in floating
 * point. 2^20 draws from a stream are within 1 % of it (3 sigma of the widest
 * percentile); 2^20 evenly spaced ones, free of chance, within 0.05 %.
 */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "quantile.h"

#define DRAWS (1u << 20)
#define BY_CHANCE 0.01
#define EVENLY 0.0005

static const struct tare_spread cases[] = {
	{ TARE_FIXED, 10, 250 },      { TARE_UNIFORM, 0, 250 },
	{ TARE_UNIFORM, 30, 250 },    { TARE_UNIFORM, 100, 250 },
	{ TARE_NORMAL, 1, 250 },      { TARE_NORMAL, 10, 250 },
	{ TARE_NORMAL, 33, 250 },     { TARE_LOGNORMAL, 10, 250 },
	{ TARE_LOGNORMAL, 50, 250 },  { TARE_LOGNORMAL, 100, 250 },
	{ TARE_PARETO, 10, 250 },     { TARE_PARETO, 10, 400 },
	{ TARE_PARETO, 10, 10000 },
};

#define FOR_EACH(p, array) \
	for (p = array; p < array + sizeof(array) / sizeof(array[0]); p++)

static struct tare_quantiles table;
static u32 factor[DRAWS];

/* z of the percentiles looked at. */
static double z_of(int pct)
{
	switch (pct) {
	case 1: return -2.3263478740408408;
	case 10: return -1.2815515655446004;
	case 50: return 0;
	case 90: return 1.2815515655446004;
	default: return 2.3263478740408408;
	}
}

static double formula(const struct tare_spread *s, int pct)
{
	double width = s->spread_pct / 100.0, alpha = s->pareto_alpha_pct / 100.0;

	switch (s->distribution) {
	case TARE_UNIFORM:
		return 1 + width * (2 * pct / 100.0 - 1);
	case TARE_NORMAL:
		return 1 + width * z_of(pct);
	case TARE_LOGNORMAL:
		return exp(width * z_of(pct) - width * width / 2);
	case TARE_PARETO:
		return (1 - 1 / alpha) * pow(1 - pct / 100.0, -1 / alpha);
	default:
		return 1;
	}
}

static int by_size(const void *a, const void *b)
{
	u32 x = *(const u32 *)a, y = *(const u32 *)b;

	return x < y ? -1 : x > y;
}

static void near(const struct tare_spread *s, const char *what, double got,
		 double want, double bound)
{
	/* A factor is a multiple of 2^-16. */
	if (fabs(got - want) > bound * want + 2.0 / TARE_FACTOR_ONE)
		fail_msg("distribution %u, %u %%, alpha %u: %s is %f, not %f",
			 s->distribution, s->spread_pct, s->pareto_alpha_pct,
			 what, got, want);
}

/* @from: the lowest percentile looked at; near 0 chance alone is over 1 %. */
static void check_draws(const struct tare_spread *s, double bound, int from)
{
	static const int percentiles[] = { 1, 10, 50, 90, 99 };
	const int *pct;
	double sum = 0;

	for (u32 i = 0; i < DRAWS; i++)
		sum += factor[i];
	near(s, "mean", sum / DRAWS / TARE_FACTOR_ONE, 1, bound);
	qsort(factor, DRAWS, sizeof(factor[0]), by_size);
	FOR_EACH(pct, percentiles) {
		char what[8];

		if (*pct < from)
			continue;
		snprintf(what, sizeof(what), "p%d", *pct);
		near(s, what,
		     (double)factor[(u64)DRAWS * *pct / 100] / TARE_FACTOR_ONE,
		     formula(s, *pct), bound);
	}
}

static void test_by_chance(void **state)
{
	const struct tare_spread *s;

	(void)state;
	FOR_EACH(s, cases) {
		u64 at = tare_stream_start(7, 0);

		tare_quantiles_make(&table, s);
		for (u32 i = 0; i < DRAWS; i++)
			factor[i] = tare_quantile_draw(&table,
				tare_random(at += TARE_STREAM_STEP) >> 32);
		check_draws(s, BY_CHANCE, 50);
	}
}

static void test_evenly(void **state)
{
	const struct tare_spread *s;

	(void)state;
	FOR_EACH(s, cases) {
		tare_quantiles_make(&table, s);
		for (u32 i = 0; i < DRAWS; i++)
			factor[i] = tare_quantile_draw(&table, (i << 12) + 2048);
		check_draws(s, EVENLY, 1);
	}
}

/* The mean of all 2^32 draws, from the table's lines. */
static double table_mean(void)
{
	double sum = 0;

	for (int side = 0; side < TARE_NR_SIDES; side++)
		for (u32 i = 0; i + 1 < TARE_QUANTILES; i++)
			sum += (table.factor[side][i] / 2.0 +
				table.factor[side][i + 1] / 2.0) *
			       (double)(tare_hist_low(i + 1) - tare_hist_low(i));
	return sum / 4294967296.0 / TARE_FACTOR_ONE;
}

/* At the ends of the ranges too, where draws would have to be very many. */
static void test_mean(void **state)
{
	static const struct tare_spread extremes[] = {
		{ TARE_NORMAL, 100, 250 },
		{ TARE_LOGNORMAL, 200, 250 },
		{ TARE_PARETO, 10, 150 },
		{ TARE_PARETO, 10, 200 },
	};
	const struct tare_spread *s;

	(void)state;
	FOR_EACH(s, cases) {
		tare_quantiles_make(&table, s);
		near(s, "the table's mean", table_mean(), 1, 0.0003);
	}
	FOR_EACH(s, extremes) {
		tare_quantiles_make(&table, s);
		near(s, "the table's mean", table_mean(), 1, 0.002);
	}
}

/* Far out: one in a million, and one in a thousand million. */
static void test_far_out(void **state)
{
	struct tare_spread s = { TARE_NORMAL, 10, 250 };

	(void)state;
	tare_quantiles_make(&table, &s);
	near(&s, "z of 1e-6",
	     tare_quantile_draw(&table, (1u << 31) + 4294) / 65536.0,
	     1.4753424, 0.0002);
	near(&s, "z of 1e-9", tare_quantile_draw(&table, (1u << 31) + 4) / 65536.0,
	     1 + 0.1 * 5.978, 0.002);
	near(&s, "z of 1e-6 below", tare_quantile_draw(&table, 4294) / 65536.0,
	     1 - 0.4753424, 0.0002);
	s.distribution = TARE_PARETO;
	tare_quantiles_make(&table, &s);
	near(&s, "1e-6", tare_quantile_draw(&table, (1u << 31) + 4294) / 65536.0,
	     0.6 * pow((4294 + 0.5) / 4294967296.0, -0.4), EVENLY);
}

static void test_monotone(void **state)
{
	const struct tare_spread *s;

	(void)state;
	FOR_EACH(s, cases) {
		u32 max = tare_quantile_max(s), last_below = 0, last_above = ~0u;

		tare_quantiles_make(&table, s);
		for (u64 v = 0; v < 1ULL << 31; v += 1 + (v >> 9)) {
			u32 below = tare_quantile_draw(&table, v);
			u32 above = tare_quantile_draw(&table, v | 1u << 31);

			assert_true(below >= last_below);
			assert_true(above <= last_above);
			assert_true(below <= above && above <= max);
			last_below = below;
			last_above = above;
		}
		/* The sides meet in the middle. */
		assert_true(last_above - last_below <=
			    last_above / 50 + 2);
	}
}

static void test_ends(void **state)
{
	struct tare_spread s = { TARE_UNIFORM, 100, 250 };

	(void)state;
	assert_int_equal(tare_quantile_max(&s), 2 * TARE_FACTOR_ONE - 1);
	tare_quantiles_make(&table, &s);
	assert_in_range(tare_quantile_draw(&table, 0), 0, 1);
	s.distribution = TARE_NORMAL;
	assert_int_equal(tare_quantile_max(&s), 2 * TARE_FACTOR_ONE);
	tare_quantiles_make(&table, &s);
	assert_int_equal(tare_quantile_draw(&table, 0), 0);
	s.distribution = TARE_FIXED;
	assert_int_equal(tare_quantile_max(&s), TARE_FACTOR_ONE);
	/* The longest tail does not run over. */
	s.distribution = TARE_LOGNORMAL;
	s.spread_pct = 200;
	assert_in_range(tare_quantile_max(&s), 30000u << 16, 65535u << 16);
	s.distribution = TARE_PARETO;
	s.pareto_alpha_pct = 150;
	assert_int_equal(tare_quantile_max(&s), ~0u);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_by_chance),
		cmocka_unit_test(test_evenly),
		cmocka_unit_test(test_mean),
		cmocka_unit_test(test_far_out),
		cmocka_unit_test(test_monotone),
		cmocka_unit_test(test_ends),
	};

	return cmocka_run_group_tests_name("quantile", tests, NULL, NULL);
}

// SPDX-License-Identifier: GPL-2.0-only
/*
 * The driver's chance.h, compiled for the host: a chance comes as often as it
 * says, never at 0 and always at a million, whatever else is drawn.
 */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <math.h>

#include "chance.h"

#define TURNS 1000000

static u64 count(u64 seed, u32 kind, u32 ppm)
{
	u64 below = tare_chance(ppm), n = 0;

	for (u64 turn = 1; turn <= TURNS; turn++)
		n += tare_draw(seed, turn, kind) < below;
	return n;
}

static void test_ends(void **state)
{
	(void)state;
	for (u64 seed = 0; seed < 5; seed++) {
		assert_int_equal(count(seed, 0, 0), 0);
		assert_int_equal(count(seed, 0, TARE_PPM), TURNS);
	}
}

static void test_rate(void **state)
{
	static const u32 ppm[] = { 1, 100, 10000, 250000, 500000, 999000 };

	(void)state;
	for (size_t i = 0; i < sizeof(ppm) / sizeof(ppm[0]); i++)
		for (u64 seed = 1; seed < 4; seed++) {
			double p = ppm[i] / 1e6;
			double off = count(seed, 1, ppm[i]) - p * TURNS;

			/* Five standard deviations, and one for the rare. */
			assert_true(fabs(off) < 5 * sqrt(TURNS * p * (1 - p)) + 1);
		}
}

/* Two kinds, or two seeds, hit the same turn as often as chance has it. */
static void test_independent(void **state)
{
	u64 half = tare_chance(TARE_PPM / 2), kinds = 0, seeds = 0, next = 0;

	(void)state;
	for (u64 turn = 1; turn <= TURNS; turn++) {
		bool hit = tare_draw(1, turn, 0) < half;

		kinds += hit && tare_draw(1, turn, 1) < half;
		seeds += hit && tare_draw(2, turn, 0) < half;
		next += hit && tare_draw(1, turn + 1, 0) < half;
	}
	assert_in_range(kinds, TURNS / 4 - 2200, TURNS / 4 + 2200);
	assert_in_range(seeds, TURNS / 4 - 2200, TURNS / 4 + 2200);
	assert_in_range(next, TURNS / 4 - 2200, TURNS / 4 + 2200);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_ends),
		cmocka_unit_test(test_rate),
		cmocka_unit_test(test_independent),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

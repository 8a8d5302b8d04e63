// SPDX-License-Identifier: GPL-2.0-only
/*
 * The driver's model.c, compiled for the host: a service time is never too
 * short, and a timer set from the counter never too early.
 */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include "model.h"

/* Clocks that there are: exact lab, old and new PCs, a slow generic counter. */
static const u32 clocks_khz[] = {
	1000000, 2500000, 2599993, 2893202, 4700123, 24000, 62500, 1, 16777215,
};

#define FOR_EACH(p, array) \
	for (p = array; p < array + sizeof(array) / sizeof(array[0]); p++)

static void test_ns_to_tsc_known(void **state)
{
	(void)state;
	assert_int_equal(tare_ns_to_tsc(0, 2500000), 0);
	assert_int_equal(tare_ns_to_tsc(40000, 1000000), 40000);
	/* Source text 000: 102207 cycles at 2.5 GHz are 40883 ns. */
	assert_int_equal(tare_ns_to_tsc(40883, 2500000), 102208);
	assert_int_equal(tare_ns_to_tsc(3224, 3000000), 9672);
	assert_int_equal(tare_ns_to_tsc(10000000000, 2500000), 25000000000);
	/* Rounds up: a third of a tick is a tick. */
	assert_int_equal(tare_ns_to_tsc(1, 333333), 1);
}

static void test_ns_to_tsc_never_short(void **state)
{
	const u32 *khz;

	(void)state;
	FOR_EACH(khz, clocks_khz) {
		for (u64 ns = 0; ns < 20000000000ULL; ns = ns * 3 + 7) {
			u64 tsc = tare_ns_to_tsc(ns, *khz);
			unsigned __int128 want = (unsigned __int128)ns * *khz;

			/* tsc is the smallest that lasts at least ns. */
			assert_true((unsigned __int128)tsc * 1000000 >= want);
			assert_true(tsc == 0 || (unsigned __int128)(tsc - 1) *
				    1000000 < want);
		}
	}
}

static void test_tsc_to_ns_never_early(void **state)
{
	const u32 *khz;

	(void)state;
	FOR_EACH(khz, clocks_khz) {
		struct tare_scale scale = tare_scale_make(*khz);

		for (u64 tsc = 0; tsc < 100000000000ULL; tsc = tsc * 3 + 11) {
			u64 ns = tare_tsc_to_ns(scale, tsc);
			unsigned __int128 exact = (unsigned __int128)tsc *
						  1000000 / *khz;

			assert_true(ns > exact);
			/* At most 2 ns and one part in 2^30 late. */
			assert_true(ns <= exact + 2 + (exact >> 30));
		}
	}
}

static void test_model_set(void **state)
{
	const struct tare_model_ns ns = {
		.read_ns = 100, .write_ns = 200, .flush_ns = 1000,
		.discard_ns = 50,
	};
	struct tare_model model;

	(void)state;
	tare_model_set(&model, &ns, 2000000);
	assert_int_equal(model.service_tsc[TARE_READ], 200);
	assert_int_equal(model.service_tsc[TARE_WRITE], 400);
	assert_int_equal(model.service_tsc[TARE_FLUSH], 2000);
	assert_int_equal(model.service_tsc[TARE_DISCARD], 100);
	assert_int_equal(model.service_tsc[TARE_WRITE_ZEROES], 100);
	assert_int_equal(model.service_tsc[TARE_SERVICE_WRITE_FUA], 2400);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_ns_to_tsc_known),
		cmocka_unit_test(test_ns_to_tsc_never_short),
		cmocka_unit_test(test_tsc_to_ns_never_early),
		cmocka_unit_test(test_model_set),
	};

	return cmocka_run_group_tests_name("model", tests, NULL, NULL);
}

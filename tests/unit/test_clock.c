// SPDX-License-Identifier: GPL-2.0-only
/* The counter goes forward, its cost is sane, conversions do not overflow. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "clock.h"

static void test_counter_goes_forward(void **state)
{
	uint64_t last = clock_enter();

	(void)state;
	for (int i = 0; i < 10000; i++) {
		uint64_t enter = clock_enter();
		uint64_t exit = clock_exit();

		assert_true(enter >= last);
		assert_true(exit >= enter);
		last = exit;
	}
}

static void test_calibration(void **state)
{
	struct clock_cost cost = { 0 };

	(void)state;
	clock_calibrate(&cost);
	assert_true(cost.min <= cost.median);
	/* A pair takes tens of cycles; a system call would be hundreds. */
	assert_true(cost.median < 100000);
}

static void test_conversion(void **state)
{
	(void)state;
	assert_int_equal(clock_from_ns(3224, 1000000), 3224);
	assert_int_equal(clock_from_ns(10000, 2500000), 25000);
	assert_int_equal(clock_to_ns(102207, 2500000), 40883);
	assert_int_equal(clock_to_ns(0, 2500000), 0);
	/* 2.5 ticks round up, 2.4 down */
	assert_int_equal(clock_from_ns(1, 2500000), 3);
	assert_int_equal(clock_from_ns(1, 2400000), 2);
	/* ten seconds and more than 2^64 in between */
	assert_int_equal(clock_from_ns(10000000000ull, 4000000), 40000000000ull);
	assert_int_equal(clock_to_ns(UINT64_MAX, 1000000), UINT64_MAX);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_counter_goes_forward),
		cmocka_unit_test(test_calibration),
		cmocka_unit_test(test_conversion),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

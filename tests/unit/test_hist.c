// SPDX-License-Identifier: GPL-2.0-only
/* The histogram that driver and tool share: its error bound, checked. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include "uapi/tare.h"

#define LIMIT (1ULL << TARE_HIST_MAX_BITS)

static void test_small_values_exact(void **state)
{
	(void)state;
	for (__u64 v = 0; v < 64; v++) {
		assert_int_equal(tare_hist_bucket(v), v);
		assert_int_equal(tare_hist_low(v), v);
		assert_int_equal(tare_hist_low(v + 1), v + 1);
	}
}

/* Every bucket begins where the one before ends, and holds its own bounds. */
static void test_buckets_adjoin(void **state)
{
	(void)state;
	for (unsigned int b = 0; b < TARE_HIST_OVERFLOW; b++) {
		__u64 low = tare_hist_low(b), next = tare_hist_low(b + 1);

		assert_true(low < next);
		assert_int_equal(tare_hist_bucket(low), b);
		assert_int_equal(tare_hist_bucket(next - 1), b);
	}
	assert_int_equal(tare_hist_low(TARE_HIST_OVERFLOW), LIMIT);
	assert_int_equal(tare_hist_bucket(LIMIT - 1), TARE_HIST_OVERFLOW - 1);
}

/* A bucket's midpoint is at most 1/64 (1.6 %) off any value in it. */
static void test_error_bound(void **state)
{
	(void)state;
	for (unsigned int b = 64; b < TARE_HIST_OVERFLOW; b++) {
		__u64 low = tare_hist_low(b), last = tare_hist_low(b + 1) - 1;
		__u64 mid = low + (last - low) / 2;

		assert_true((mid - low) * 64 <= low);
		assert_true((last - mid) * 64 <= last);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_small_values_exact),
		cmocka_unit_test(test_buckets_adjoin),
		cmocka_unit_test(test_error_bound),
	};

	return cmocka_run_group_tests_name("hist", tests, NULL, NULL);
}

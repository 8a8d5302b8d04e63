// SPDX-License-Identifier: GPL-2.0-only
/* Exact percentiles, means and spreads against values worked out by hand. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "samples.h"

#include <stdlib.h>

static void test_sort_orders_all_digits(void **state)
{
	uint64_t v[] = { UINT64_MAX, 0, 256, 255, 1ull << 40, 1, 65536,
			 1ull << 63, 1, 0 };
	uint64_t want[] = { 0, 0, 1, 1, 255, 256, 65536, 1ull << 40,
			    1ull << 63, UINT64_MAX };

	(void)state;
	samples_sort(v, 10);
	assert_memory_equal(v, want, sizeof(want));
}

static int compare(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return (x > y) - (x < y);
}

static void test_sort_agrees_with_qsort(void **state)
{
	uint64_t seed = 88172645463325252ull;

	(void)state;
	for (size_t n = 0; n < 300; n += 7) {
		uint64_t a[300], b[300];

		for (size_t i = 0; i < n; i++) {
			seed ^= seed << 13;
			seed ^= seed >> 7;
			seed ^= seed << 17;
			a[i] = b[i] = seed >> seed % 60;
		}
		samples_sort(a, n);
		qsort(b, n, sizeof(*b), compare);
		assert_memory_equal(a, b, n * sizeof(*a));
	}
}

static void test_nearest_rank(void **state)
{
	uint64_t v[] = { 15, 20, 35, 40, 50 };

	(void)state;
	/* The textbook's example of the nearest-rank method. */
	assert_int_equal(samples_rank(v, 5, 50), 15);
	assert_int_equal(samples_rank(v, 5, 300), 20);
	assert_int_equal(samples_rank(v, 5, 400), 20);
	assert_int_equal(samples_rank(v, 5, 500), 35);
	assert_int_equal(samples_rank(v, 5, 1000), 50);
	assert_int_equal(samples_rank(v, 1, 1), 15);
	assert_int_equal(samples_rank(v, 1, 1000), 15);
	assert_int_equal(samples_rank(v, 4, 500), 20);
}

static void test_summary(void **state)
{
	uint64_t v[1000];
	struct summary s;

	(void)state;
	for (size_t i = 0; i < 1000; i++)
		v[i] = 1000 - i;
	samples_summary(v, 1000, &s);
	assert_int_equal(s.n, 1000);
	assert_true(s.mean == 500.5);
	assert_int_equal(s.min, 1);
	assert_int_equal(s.p50, 500);
	assert_int_equal(s.p90, 900);
	assert_int_equal(s.p99, 990);
	assert_int_equal(s.p999, 999);
	assert_int_equal(s.max, 1000);
	/* The caller's order stays. */
	assert_int_equal(v[0], 1000);
}

static void test_summary_of_large_values(void **state)
{
	uint64_t v[] = { UINT64_MAX, UINT64_MAX, UINT64_MAX };
	struct summary s;

	(void)state;
	samples_summary(v, 3, &s);
	assert_true(s.mean == (double)UINT64_MAX);
}

static void test_summary_of_nothing(void **state)
{
	struct summary s;

	(void)state;
	samples_summary(NULL, 0, &s);
	assert_int_equal(s.n, 0);
	assert_int_equal(s.max, 0);
}

static void test_spread(void **state)
{
	uint64_t v[] = { 4229, 4237, 4221 };

	(void)state;
	assert_int_equal(samples_spread(v, 3), 16);
	assert_int_equal(samples_spread(v, 1), 0);
	assert_int_equal(samples_spread(NULL, 0), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_sort_orders_all_digits),
		cmocka_unit_test(test_sort_agrees_with_qsort),
		cmocka_unit_test(test_nearest_rank),
		cmocka_unit_test(test_summary),
		cmocka_unit_test(test_summary_of_large_values),
		cmocka_unit_test(test_summary_of_nothing),
		cmocka_unit_test(test_spread),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

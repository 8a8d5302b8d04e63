// SPDX-License-Identifier: GPL-2.0-only
/* Figures from histograms against the values that went in. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "opstats.h"

#include <stdlib.h>
#include <string.h>

#include "util.h"

static void row_clear(struct tare_row_stats *row)
{
	memset(row, 0, sizeof(*row));
	row->min = UINT64_MAX;
}

/* As the driver counts, which knows only values below 2^40 in its buckets. */
static void row_add(struct tare_row_stats *row, uint64_t v)
{
	row->sum += v;
	if (v < row->min)
		row->min = v;
	if (v > row->max)
		row->max = v;
	row->bucket[v >> TARE_HIST_MAX_BITS ? TARE_HIST_OVERFLOW :
					      tare_hist_bucket(v)]++;
}

static void test_nothing(void **state)
{
	struct tare_row_stats row;
	struct row_figures f;

	(void)state;
	row_clear(&row);
	row_figures(&row, &f);
	assert_true(f.count == 0 && f.min == 0 && f.max == 0 && f.p50 == 0);
}

static void test_one(void **state)
{
	struct tare_row_stats row;
	struct row_figures f;

	(void)state;
	row_clear(&row);
	row_add(&row, 1000003);
	row_figures(&row, &f);
	assert_true(f.count == 1 && f.mean == 1000003.0);
	/* Between min and max there is only the value itself. */
	assert_true(f.min == 1000003 && f.p50 == 1000003 && f.p999 == 1000003);
}

static void test_small_values_are_exact(void **state)
{
	struct tare_row_stats row;
	struct row_figures f;

	(void)state;
	row_clear(&row);
	for (uint64_t v = 0; v < 64; v++)
		row_add(&row, v);
	row_figures(&row, &f);
	assert_true(f.count == 64 && f.mean == 31.5);
	assert_true(f.p50 == 31 && f.p90 == 57 && f.p99 == 63 && f.max == 63);
}

/* Nearest rank over 1..n: the value p is known; the error bound is 1/64. */
static void test_error_bound(void **state)
{
	struct tare_row_stats *row = xmalloc(sizeof(*row));
	struct row_figures f;
	const uint64_t n = 1000000;

	(void)state;
	row_clear(row);
	for (uint64_t v = 1; v <= n; v++)
		row_add(row, v);
	row_figures(row, &f);
	assert_true(f.count == n && f.mean == 500000.5);
	assert_true(llabs((long long)f.p50 - 500000) <= 500000 / 64);
	assert_true(llabs((long long)f.p90 - 900000) <= 900000 / 64);
	assert_true(llabs((long long)f.p99 - 990000) <= 990000 / 64);
	assert_true(llabs((long long)f.p999 - 999000) <= 999000 / 64);
	free(row);
}

static void test_overflow(void **state)
{
	struct tare_row_stats row;
	struct row_figures f;
	uint64_t total;

	(void)state;
	row_clear(&row);
	row_add(&row, 1ULL << 50);
	row_figures(&row, &f);
	assert_true(f.overflow == 1 && f.max == 1ULL << 50);
	assert_true(f.p50 == 1ULL << 50);
	row.bucket[3] = UINT64_MAX;
	assert_false(row_total(&row, &total));
}

static void test_huge_counts(void **state)
{
	struct tare_row_stats row;
	struct row_figures f;

	(void)state;
	row_clear(&row);
	row_add(&row, 1);
	row_add(&row, 2);
	row.bucket[1] = UINT64_MAX / 2;
	row.bucket[2] = UINT64_MAX / 2;
	row_figures(&row, &f);
	assert_true(f.p50 == 1 && f.p90 == 2 && f.p999 == 2);
}

static void fill(struct tare_op_stats *op, uint64_t first, uint64_t last)
{
	for (uint64_t v = first; v <= last; v++) {
		op->count++;
		op->bytes += 4096;
		for (int r = 0; r < TARE_NR_ROWS; r++)
			row_add(&op->row[r], v);
	}
}

static struct tare_op_stats *op_new(void)
{
	struct tare_op_stats *op = xcalloc(1, sizeof(*op));

	for (int r = 0; r < TARE_NR_ROWS; r++)
		row_clear(&op->row[r]);
	return op;
}

static void test_diff(void **state)
{
	struct tare_op_stats *before = op_new(), *after = op_new();
	struct tare_op_stats *diff = op_new();
	struct row_figures f;

	(void)state;
	fill(before, 100, 199);
	memcpy(after, before, sizeof(*after));
	assert_true(op_stats_diff(before, after, diff));
	row_figures(&diff->row[0], &f);
	assert_true(diff->count == 0 && f.count == 0);
	/* New extremes are exact. */
	fill(after, 10, 10);
	fill(after, 5000, 5000);
	assert_true(op_stats_diff(before, after, diff));
	row_figures(&diff->row[0], &f);
	assert_true(diff->count == 2 && diff->bytes == 8192 && f.count == 2);
	assert_true(f.min == 10 && f.max == 5000 && f.mean == 2505.0);
	/* Others are edges of buckets, within what was ever seen. */
	memcpy(before, after, sizeof(*after));
	fill(after, 1000, 1000);
	assert_true(op_stats_diff(before, after, diff));
	row_figures(&diff->row[0], &f);
	assert_true(f.min <= 1000 && f.min >= 1000 - 32);
	assert_true(f.max >= 1000 && f.max <= 1000 + 32);
	assert_false(op_stats_diff(after, before, diff));
	free(before);
	free(after);
	free(diff);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_nothing),
		cmocka_unit_test(test_one),
		cmocka_unit_test(test_small_values_are_exact),
		cmocka_unit_test(test_error_bound),
		cmocka_unit_test(test_overflow),
		cmocka_unit_test(test_huge_counts),
		cmocka_unit_test(test_diff),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

// SPDX-License-Identifier: GPL-2.0-only
/*
 * The driver's ranges.c, compiled for the host: a list has one form, what does
 * not fit leaves it as it was, and it says of each sector what a plain table
 * of sectors says.
 */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ranges.h"

#define MAX 2199023255551ULL
#define SECTORS 200

static int put(struct tare_ranges *r, const char *text)
{
	return tare_ranges_write(r, text, strlen(text), MAX);
}

static void assert_reads(const struct tare_ranges *r, const char *want)
{
	char text[TARE_RANGES_TEXT];
	size_t len = tare_ranges_read(r, text, sizeof(text));

	assert_string_equal(text, want);
	assert_int_equal(len, strlen(want));
}

static void step(struct tare_ranges *r, const char *text, const char *want)
{
	assert_int_equal(put(r, text), 0);
	assert_reads(r, want);
}

static void test_changes(void **state)
{
	struct tare_ranges r = { .n = 0 };

	(void)state;
	assert_reads(&r, "none");
	step(&r, "+8-15", "8-15");
	step(&r, "+0-3\n", "0-3,8-15");
	step(&r, "+4-7", "0-15");
	step(&r, "-4-7", "0-3,8-15");
	step(&r, "-0-0", "1-3,8-15");
	step(&r, "+16-16", "1-3,8-16");
	step(&r, "+100-200", "1-3,8-16,100-200");
	step(&r, "+2-150", "1-200");
	step(&r, "-300-400", "1-200");
	step(&r, "-0-1000", "none");
	step(&r, "-0-1000", "none");
	step(&r, "+2199023255551-2199023255551", "2199023255551-2199023255551");
	step(&r, "+0-2199023255551", "0-2199023255551");
	step(&r, "none", "none");
}

static void test_lists(void **state)
{
	struct tare_ranges r = { .n = 0 };

	(void)state;
	step(&r, "0-0", "0-0");
	step(&r, "0-7,100-107", "0-7,100-107");
	step(&r, "5-5,7-7,9-2199023255551\n", "5-5,7-7,9-2199023255551");
	step(&r, "none\n", "none");
}

static void test_refused(void **state)
{
	static const char *const bad[] = {
		"", "\n", " ", "1", "1-", "-1", "1-0", "+1", "+", "-", "0-1,",
		",0-1", "0-1,1-2", "0-1,2-3", "4-5,0-1", "0-1 ,4-5", " 0-1",
		"0-1 ", "00-1", "0-01", "0x0-1", "+0-1,4-5", "--0-1", "+-0-1",
		"none,0-1", "nonee", "non", "None", "none\n\n", "0-1\n\n",
		"0-2199023255552", "+0-99999999999999999999999999999999999",
		"18446744073709551616-18446744073709551617", "0-1;4-5", "0--1",
	};
	struct tare_ranges r = { .n = 0 };

	(void)state;
	step(&r, "3-4,8-9", "3-4,8-9");
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		if (put(&r, bad[i]) != -EINVAL)
			fail_msg("'%s' was taken", bad[i]);
		assert_reads(&r, "3-4,8-9");
	}
	/* A NUL inside is a character like others. */
	assert_int_equal(tare_ranges_write(&r, "0-1\0", 4, MAX), -EINVAL);
	assert_int_equal(tare_ranges_write(&r, "none\0", 5, MAX), -EINVAL);
	assert_reads(&r, "3-4,8-9");
}

static void test_full(void **state)
{
	struct tare_ranges r = { .n = 0 }, before;
	char text[2 * TARE_RANGES_TEXT], back[TARE_RANGES_TEXT];
	size_t len = 0;

	(void)state;
	for (u64 i = 0; i < TARE_RANGES_MAX; i++) {
		u64 first = MAX - 1000 * (TARE_RANGES_MAX - i);

		assert_int_equal(tare_ranges_add(&r, first, first + 9), 0);
	}
	/* The largest text there is fits and makes the same list again. */
	len = tare_ranges_read(&r, back, sizeof(back));
	assert_true(len < TARE_RANGES_TEXT - 1);
	before = r;
	assert_int_equal(put(&r, back), 0);
	assert_memory_equal(&r, &before, sizeof(r));

	assert_int_equal(put(&r, "+0-0"), -ENOSPC);
	assert_memory_equal(&r, &before, sizeof(r));
	snprintf(text, sizeof(text), "0-0,%s", back);
	assert_int_equal(put(&r, text), -ENOSPC);
	assert_memory_equal(&r, &before, sizeof(r));
	/* In the middle of one it would become two. */
	assert_int_equal(tare_ranges_remove(&r, MAX - 1000 + 4, MAX - 1000 + 5),
			 -ENOSPC);
	assert_memory_equal(&r, &before, sizeof(r));
	assert_int_equal(tare_ranges_remove(&r, MAX - 1000, MAX - 1000), 0);
	assert_int_equal(tare_ranges_add(&r, 0, MAX), 0);
	assert_reads(&r, "0-2199023255551");
}

static bool table[SECTORS + 2];

/* Sorted, with gaps, and the same sectors as in the table. */
static void assert_same(const struct tare_ranges *r)
{
	for (u32 i = 0; i < r->n; i++) {
		assert_true(r->at[i].first <= r->at[i].last);
		assert_true(!i || r->at[i].first > r->at[i - 1].last + 1);
	}
	for (u64 s = 0; s < SECTORS; s++)
		assert_true(!!tare_ranges_find(r, s, s) == table[s]);
}

static void assert_finds_first(const struct tare_ranges *r, u64 first, u64 last)
{
	const struct tare_range *found = tare_ranges_find(r, first, last);
	u64 s = first;

	while (s <= last && !table[s])
		s++;
	assert_true(!!found == (s <= last));
	if (found)
		assert_true(found->first <= s && s <= found->last &&
			    (found->first >= first ? found->first == s : 1));
}

static void test_random(void **state)
{
	struct tare_ranges r = { .n = 0 };

	(void)state;
	srandom(1);
	memset(table, 0, sizeof(table));
	for (int i = 0; i < 20000; i++) {
		u64 first = (u64)random() % SECTORS;
		u64 last = first + (u64)random() % (random() % 20 ? 4 : 60);
		bool add = random() & 1;

		if (last >= SECTORS)
			last = SECTORS - 1;
		assert_int_equal(add ? tare_ranges_add(&r, first, last) :
				       tare_ranges_remove(&r, first, last), 0);
		for (u64 s = first; s <= last; s++)
			table[s] = add;
		assert_same(&r);
		assert_finds_first(&r, (u64)random() % 100,
				   100 + (u64)random() % 100);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_changes),
		cmocka_unit_test(test_lists),
		cmocka_unit_test(test_refused),
		cmocka_unit_test(test_full),
		cmocka_unit_test(test_random),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

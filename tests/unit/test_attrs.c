// SPDX-License-Identifier: GPL-2.0-only
/* What an attribute's value may be, and what has to fit together. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "device.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "util.h"

static void assert_value(const char *name, const char *text, int want)
{
	const struct attr_desc *attr = attr_find(name);
	int64_t v;
	int got;

	assert_non_null(attr);
	got = attr_parse(attr, text, &v);
	if (got != want)
		fail_msg("%s='%s' gave %d, not %d", name, text, got, want);
	if (!got) {
		char *back = attr_format(attr, v);

		assert_string_equal(back, text);
		free(back);
	}
	assert_int_equal(attr_check(attr, text),
			 want || attr->class == ATTR_RO ? -EINVAL : 0);
}

static void test_table(void **state)
{
	(void)state;
	for (size_t i = 0; i < attr_count; i++) {
		const struct attr_desc *attr = &attr_table[i];
		char *def = attr_format(attr, attr->def);
		int64_t v;

		assert_ptr_equal(attr_find(attr->name), attr);
		assert_int_equal(attr_parse(attr, def, &v), 0);
		assert_true(v == attr->def);
		assert_true(attr->help[0] != '\0');
		free(def);
	}
	assert_null(attr_find("power"));
	assert_null(attr_find(""));
}

static void test_bounds(void **state)
{
	(void)state;
	for (size_t i = 0; i < attr_count; i++) {
		const struct attr_desc *attr = &attr_table[i];
		char *text;
		int64_t v;

		if (!attr_is_number(attr))
			continue;
		text = xasprintf("%lld", (long long)attr->max + 1);
		assert_int_equal(attr_parse(attr, text, &v), -ERANGE);
		free(text);
		text = xasprintf("%lld", (long long)attr->min - 1);
		assert_true(attr_parse(attr, text, &v) < 0);
		free(text);
	}
}

static void test_forms(void **state)
{
	static const char *const bad[] = {
		"", " ", " 1", "1 ", "+1", "-1", "-0", "01", "010", "0x10",
		"1.0", "1e3", "1k", "one", "1\n", "\xff", "%s", "--1", "-",
		"0-1", "٣",
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(bad); i++) {
		assert_value("read_ns", bad[i], -EINVAL);
		assert_value("rotational", bad[i], -EINVAL);
		assert_value("completion", bad[i], -EINVAL);
		if (strcmp(bad[i], "-1"))
			assert_value("home_node", bad[i], -EINVAL);
	}
	assert_value("read_ns", "0", 0);
	assert_value("read_ns", "18446744073709551616", -ERANGE);
	assert_value("read_ns", "18446744073709551615", -ERANGE);
	assert_value("read_ns", "9223372036854775808", -ERANGE);
	assert_value("read_ns", "1000000000000000000000000000000", -ERANGE);
	assert_value("home_node", "-1", 0);
	assert_value("home_node", "-2", -ERANGE);
	assert_value("home_node", "-1000000000000000000000000000000", -ERANGE);
	assert_value("rotational", "2", -ERANGE);
	assert_value("block_size", "512", 0);
	assert_value("block_size", "513", -EDOM);
	assert_value("block_size", "1536", -EDOM);
	assert_value("block_size", "8192", -ERANGE);
	assert_value("completion", "inline", 0);
	assert_value("completion", "Inline", -EINVAL);
	assert_value("completion", "0", -EINVAL);
	assert_value("distribution", "lognormal", 0);
	assert_value("distribution", "timer", -EINVAL);
	assert_value("distribution", "1", -EINVAL);
	assert_value("channels", "256", 0);
	assert_value("channels", "257", -ERANGE);
	assert_value("store_pages", "0", 0);
	assert_value("error_status", "protection", 0);
	assert_value("error_status", "EIO", -EINVAL);
	assert_value("error_status", "", -EINVAL);
}

/* The same text as the driver takes; it does not come back from a number. */
static void test_sector_ranges(void **state)
{
	static const struct {
		const char *text;
		int want;
	} cases[] = {
		{ "none", 0 }, { "0-7", 0 }, { "0-7,100-107", 0 },
		{ "+8-15", 0 }, { "-8-15", 0 }, { "0-2199023255551", 0 },
		{ "", -EINVAL }, { "8", -EINVAL }, { "7-0", -EINVAL },
		{ "0-7\n", -EINVAL }, { "0-7,8-9", -EINVAL },
		{ "0-2199023255552", -EINVAL }, { "+0-7,8-9", -EINVAL },
	};
	const struct attr_desc *attr = attr_find("badblocks");
	int64_t v;

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		assert_int_equal(attr_parse(attr, cases[i].text, &v),
				 cases[i].want);
		assert_int_equal(attr_check(attr, cases[i].text),
				 cases[i].want);
	}
}

static void test_long_value(void **state)
{
	char *text = xmalloc(100001);

	(void)state;
	memset(text, '9', 100000);
	text[100000] = '\0';
	assert_value("read_ns", text, -ERANGE);
	assert_value("completion", text, -EINVAL);
	free(text);
}

static void test_ranges(void **state)
{
	char *range = attr_range(attr_find("block_size"));

	(void)state;
	assert_string_equal(range, "512 … 4096");
	free(range);
	range = attr_range(attr_find("fua"));
	assert_string_equal(range, "0 or 1");
	free(range);
	range = attr_range(attr_find("completion"));
	assert_string_equal(range, "inline, complete, timer or spin");
	free(range);
}

static void test_enum_ranges(void **state)
{
	char *range = attr_range(attr_find("distribution"));

	(void)state;
	assert_string_equal(range,
			    "fixed, uniform, normal, lognormal or pareto");
	free(range);
}

static void test_assignments(void **state)
{
	struct assignment *set = NULL;
	size_t n = 0;

	(void)state;
	assert_int_equal(assignments_parse("a=1", &set, &n), 0);
	assert_int_equal(assignments_parse("b=", &set, &n), 0);
	assert_int_equal(assignments_parse("a=x=y", &set, &n), 0);
	assert_int_equal(assignments_parse("=1", &set, &n), -EINVAL);
	assert_int_equal(assignments_parse("a", &set, &n), -EINVAL);
	assert_int_equal(assignments_parse("", &set, &n), -EINVAL);
	assert_int_equal(n, 3);
	assert_string_equal(assignments_get(set, n, "a"), "x=y");
	assert_string_equal(assignments_get(set, n, "b"), "");
	assert_null(assignments_get(set, n, "c"));
	assignments_free(set, n);
}

/* Is what a blank-separated list of assignments says possible together? */
static bool fits(const char *text)
{
	char *copy = xstrdup(text), *rest = copy, *word, *problem;
	struct assignment *set = NULL;
	size_t n = 0;

	while ((word = strsep(&rest, " ")))
		if (*word)
			assert_int_equal(assignments_parse(word, &set, &n), 0);
	problem = assignments_problem(set, n);
	free(problem);
	assignments_free(set, n);
	free(copy);
	return !problem;
}

static void test_combinations(void **state)
{
	(void)state;
	assert_true(fits(""));
	assert_true(fits("completion=inline"));
	assert_true(fits("completion=inline read_ns=1000000"));
	assert_false(fits("completion=inline read_ns=1000001"));
	assert_false(fits("completion=complete write_ns=1000001"));
	assert_false(fits("completion=complete flush_ns=1000001"));
	assert_false(fits("completion=complete discard_ns=1000001"));
	assert_true(fits("completion=timer read_ns=1000001"));
	/* A FUA write takes both times, but only where there is one. */
	assert_true(fits("completion=inline write_ns=600000 flush_ns=600000"));
	assert_false(fits("completion=inline write_ns=600000 flush_ns=600000 write_cache=1"));
	assert_true(fits("completion=inline write_ns=600000 flush_ns=600000 write_cache=1 fua=0"));
	/* The last one counts. */
	assert_true(fits("completion=inline read_ns=2000000 read_ns=1"));
	assert_false(fits("prealloc=1"));
	assert_true(fits("prealloc=1 memory_backed=1"));
	assert_true(fits("size_mb=16777216 memory_backed=1"));
	assert_false(fits("size_mb=16777217 memory_backed=1"));
	assert_true(fits("size_mb=16777217"));
	assert_true(fits("mbps=1"));
	assert_true(fits("mbps=1 completion=spin channels=8 read_ns=2000000"));
	assert_false(fits("mbps=1 completion=inline"));
	assert_true(fits("use_per_node_hctx=1 submit_queues=1"));
	assert_false(fits("use_per_node_hctx=1 submit_queues=2"));
	assert_true(fits("fault_first_sector=8 fault_last_sector=8"));
	assert_false(fits("fault_first_sector=9 fault_last_sector=8"));
	assert_false(fits("colour=1"));
	assert_false(fits("store_pages=1"));
	assert_false(fits("power=1"));
	assert_false(fits("read_ns=x"));
}

/* The longest service that could be drawn is what the CPU would wait for. */
static void test_shapes(void **state)
{
	(void)state;
	assert_true(fits("channels=8"));
	assert_false(fits("completion=inline channels=8"));
	assert_true(fits("completion=inline read_ns=100 read_ns_per_kb=700"));
	assert_false(fits("completion=inline read_ns=100 read_ns_per_kb=800"));
	assert_true(fits("completion=inline write_ns_per_kb=800 max_sectors_kb=128"));
	assert_false(fits("completion=complete tail_ns=1000000 tail_ppm=1"));
	assert_true(fits("completion=complete tail_ns=1000000"));
	assert_true(fits("completion=inline distribution=normal"));
	assert_false(fits("completion=inline distribution=normal read_ns=900000"));
	assert_false(fits("completion=inline distribution=pareto"));
	assert_true(fits("distribution=pareto"));
	assert_true(fits("completion=inline seek_ns=900000"));
	assert_false(fits("completion=inline rpm=30000"));
	assert_true(fits("distribution=uniform spread_pct=100"));
	assert_false(fits("distribution=uniform spread_pct=101"));
	assert_false(fits("distribution=normal spread_pct=101"));
	assert_true(fits("distribution=lognormal spread_pct=200"));
	assert_true(fits("spread_pct=200"));
}

static void test_names(void **state)
{
	static const char *const bad[] = {
		"", "../x", "a/b", ".", "..", "A", "a b", "%s%n", "a\n",
		"gr\xf6\xdf" "e", "größe", "-.", "aaaaaaaaaabbbbbbbbbbccccccccccdd",
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(bad); i++)
		assert_int_equal(device_name_check(bad[i]), -EINVAL);
	assert_int_equal(device_name_check("tare0"), 0);
	assert_int_equal(device_name_check("a-b_c"), 0);
	assert_int_equal(device_name_check("aaaaaaaaaabbbbbbbbbbccccccccccd"),
			 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_table),
		cmocka_unit_test(test_bounds),
		cmocka_unit_test(test_forms),
		cmocka_unit_test(test_sector_ranges),
		cmocka_unit_test(test_long_value),
		cmocka_unit_test(test_ranges),
		cmocka_unit_test(test_enum_ranges),
		cmocka_unit_test(test_assignments),
		cmocka_unit_test(test_combinations),
		cmocka_unit_test(test_shapes),
		cmocka_unit_test(test_names),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

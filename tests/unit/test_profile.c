// SPDX-License-Identifier: GPL-2.0-only
/* Profiles: where they are found, and files that are none. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "device.h"

#include <errno.h>
#include <sys/stat.h>

#include "scratch.h"

static char *dir;

/* Load DIR/x.ini with this text. @return as profile_load(), *n the assignments. */
static int load(const char *text, struct assignment **set, size_t *n)
{
	char *path = xasprintf("%s/x.ini", dir);
	int err;

	*set = NULL;
	*n = 0;
	scratch_text(dir, "x.ini", text);
	err = profile_load(path, set, n);
	free(path);
	return err;
}

static void assert_load(const char *text, int want, size_t want_n)
{
	struct assignment *set;
	size_t n;
	int err = load(text, &set, &n);

	if (err != want || (!err && n != want_n))
		fail_msg("'%.60s' gave %d and %zu", text, err, n);
	assignments_free(set, n);
}

static void test_good(void **state)
{
	struct assignment *set;
	size_t n;

	(void)state;
	assert_int_equal(load("; c\n# c\n[device]\nread_ns = 5 ; c\n"
			      "completion=inline\n", &set, &n), 0);
	assert_int_equal(n, 2);
	assert_string_equal(set[0].attr, "read_ns");
	assert_string_equal(set[0].value, "5");
	assert_string_equal(assignments_get(set, n, "completion"), "inline");
	assignments_free(set, n);
}

static void test_bad(void **state)
{
	char long_line[400];

	(void)state;
	assert_load("", -EINVAL, 0);
	assert_load("[device]\n", -EINVAL, 0);
	assert_load("read_ns=1\n", -EINVAL, 0);
	assert_load("[disk]\nread_ns=1\n", -EINVAL, 0);
	assert_load("[device]\ncolour=1\n", -EINVAL, 0);
	assert_load("[device]\nread_ns=01\n", -EINVAL, 0);
	assert_load("[device]\nread_ns=\n", -EINVAL, 0);
	assert_load("[device]\nread_ns\n", -EINVAL, 0);
	assert_load("[device\nread_ns=1\n", -EINVAL, 0);
	assert_load("[device]\nread_ns=1\nread_ns=1\n", -EINVAL, 0);
	assert_load("[device]\nread_ns=1\n  2\n", -EINVAL, 0);
	assert_load("[device]\nstore_pages=1\n", -EINVAL, 0);
	assert_load("[device]\npower=1\n", -EINVAL, 0);
	assert_load("[device]\nread_ns=1\n[other]\nx=1\n", -EINVAL, 0);
	assert_load("\x7f" "ELF\xff\xfe", -EINVAL, 0);
	/* What inih would take for two lines. */
	memset(long_line, 'x', sizeof(long_line));
	long_line[0] = ';';
	memcpy(long_line + 300, "\n[device]\nread_ns=1\n", 21);
	assert_load(long_line, -EINVAL, 0);
}

static void test_bytes(void **state)
{
	static const char zeros[1000];
	static const char hidden[] = "[device]\nread_ns=1\0\nwrite_ns=2\n";
	char *path = xasprintf("%s/z.ini", dir);
	struct assignment *set = NULL;
	size_t n = 0;

	(void)state;
	scratch_bytes(dir, "z.ini", zeros, sizeof(zeros));
	assert_int_equal(profile_load(path, &set, &n), -EINVAL);
	scratch_bytes(dir, "z.ini", hidden, sizeof(hidden) - 1);
	assert_int_equal(profile_load(path, &set, &n), -EINVAL);
	assert_int_equal(profile_load(dir, &set, &n), -EINVAL);
	assert_int_equal(profile_load("/nowhere/x.ini", &set, &n), -ENOENT);
	assert_int_equal(profile_load("/dev/zero", &set, &n), -EINVAL);
	assignments_free(set, n);
	free(path);
}

static void test_no_name(void **state)
{
	struct assignment *set = NULL;
	size_t n = 0;

	(void)state;
	assert_int_equal(profile_load("no-such-profile", &set, &n), -ENOENT);
	assert_int_equal(profile_load("", &set, &n), -ENOENT);
	assert_int_equal(profile_load("%s%n\x1b", &set, &n), -ENOENT);
	assert_null(set);
}

/* What is appended comes behind what is there, whose names do not clash. */
static void test_appends(void **state)
{
	char *path = xasprintf("%s/x.ini", dir);
	struct assignment *set = NULL;
	size_t n = 0;

	(void)state;
	scratch_text(dir, "x.ini", "[device]\nread_ns=1\n");
	assert_int_equal(profile_load(path, &set, &n), 0);
	assert_int_equal(profile_load(path, &set, &n), 0);
	assert_int_equal(n, 2);
	assignments_free(set, n);
	free(path);
}

static void test_own_tree(void **state)
{
	struct assignment *set = NULL;
	size_t n = 0, names;
	char **list;
	bool found = false;

	(void)state;
	scratch_text(dir, "configs/devices/mine.ini", "[device]\nread_ns=1\n");
	assert_int_equal(profile_load("mine", &set, &n), 0);
	assert_int_equal(n, 1);
	assignments_free(set, n);
	names = profile_list(&list);
	for (size_t i = 0; i < names; i++) {
		found |= !strcmp(list[i], "mine");
		free(list[i]);
	}
	free(list);
	assert_true(found);
}

/* Every profile of the project makes a device that fits together. */
static void test_ours(void **state)
{
	static const char *const ours[] = { "null", "sata-ssd", "nvme-optane",
					    "hdd" };

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(ours); i++) {
		struct assignment *set = NULL;
		size_t n = 0;

		assert_int_equal(profile_load(ours[i], &set, &n), 0);
		assert_null(assignments_problem(set, n));
		assignments_free(set, n);
	}
}

static int setup(void **state)
{
	(void)state;
	dir = scratch_make();
	setenv("TARE_SOURCE", dir, 1);
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	scratch_remove(dir);
	return 0;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_good),
		cmocka_unit_test(test_bad),
		cmocka_unit_test(test_bytes),
		cmocka_unit_test(test_no_name),
		cmocka_unit_test(test_appends),
		cmocka_unit_test(test_own_tree),
		cmocka_unit_test(test_ours),
	};

	return cmocka_run_group_tests(tests, setup, teardown);
}

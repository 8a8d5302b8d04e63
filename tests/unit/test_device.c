// SPDX-License-Identifier: GPL-2.0-only
/*
 * Making, setting and removing devices, in a plain directory instead of
 * configfs: mkdir() and rmdir() here do what the kernel does there. An
 * attribute that is a link to /dev/full cannot be written.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "device.h"

#include <errno.h>
#include <sys/stat.h>
#include <sys/syscall.h>

#include "scratch.h"

static char *root;
static const char *broken;	/* attribute that new devices cannot write */

static bool in_root(const char *path)
{
	return root && !strncmp(path, root, strlen(root)) &&
	       path[strlen(root)] == '/';
}

int mkdir(const char *path, mode_t mode)
{
	int err = (int)syscall(SYS_mkdirat, -100, path, mode);

	if (err || !in_root(path))
		return err;
	for (size_t i = 0; i < attr_count; i++) {
		char *def = attr_format(&attr_table[i], attr_table[i].def);

		scratch_text(path, attr_table[i].name, def);
		free(def);
	}
	scratch_text(path, "power", "0\n");
	if (broken) {
		char *file = xasprintf("%s/%s", path, broken);

		unlink(file);
		assert_int_equal(symlink("/dev/full", file), 0);
		free(file);
	}
	return 0;
}

int rmdir(const char *path)
{
	if (!in_root(path))
		return (int)syscall(SYS_unlinkat, -100, path, 0x200);
	if (strstr(path, "default")) {
		errno = EPERM;
		return -1;
	}
	return rm_rf(path) ? -1 : 0;
}

static void assert_attr(const char *name, const char *attr, const char *want)
{
	char *got = device_get(name, attr);

	assert_non_null(got);
	assert_string_equal(got, want);
	free(got);
}

static void test_add(void **state)
{
	const struct assignment set[] = { { "read_ns", "5" },
					  { "read_ns", "6" } };

	(void)state;
	assert_int_equal(device_add("a", set, 2, true), 0);
	assert_true(device_exists("a"));
	assert_attr("a", "read_ns", "6");
	assert_attr("a", "write_ns", "10000");
	assert_int_equal(device_powered("a"), 1);
	assert_int_equal(device_add("a", NULL, 0, true), -EEXIST);
	assert_attr("a", "read_ns", "6");
	assert_int_equal(device_add("b", NULL, 0, false), 0);
	assert_int_equal(device_powered("b"), 0);
	assert_int_equal(device_remove("a"), 0);
	assert_false(device_exists("a"));
	assert_int_equal(device_remove("a"), -ENOENT);
	assert_int_equal(device_remove("b"), 0);
}

/* What fails at an attribute or at power leaves nothing behind. */
static void test_add_undone(void **state)
{
	const struct assignment set[] = { { "read_ns", "5" },
					  { "write_ns", "6" } };

	(void)state;
	broken = "write_ns";
	assert_true(device_add("a", set, 2, true) < 0);
	assert_false(device_exists("a"));
	broken = "power";
	assert_true(device_add("a", set, 2, true) < 0);
	assert_false(device_exists("a"));
	broken = NULL;
}

static void test_list(void **state)
{
	char **names;
	int n;

	(void)state;
	assert_int_equal(device_list(&names), 0);
	device_list_free(names, 0);
	scratch_text(root, "features", "read_ns\n");
	device_add("b", NULL, 0, false);
	device_add("a", NULL, 0, false);
	n = device_list(&names);
	assert_int_equal(n, 2);
	assert_string_equal(names[0], "a");
	assert_string_equal(names[1], "b");
	device_list_free(names, n);
	device_remove("a");
	device_remove("b");
}

static void test_default_group(void **state)
{
	(void)state;
	if (geteuid())
		skip();
	device_add("default0", NULL, 0, true);
	assert_int_equal(device_remove("default0"), -EPERM);
	assert_int_equal(device_powered("default0"), 0);
}

static void test_config(void **state)
{
	struct device_config before, after;

	(void)state;
	device_add("a", NULL, 0, true);
	assert_int_equal(device_config_read("a", &before), 0);
	assert_true(before.power);
	assert_null(assignments_get(before.set, before.n, "store_pages"));
	assert_int_equal(device_set("a", "read_ns", "1"), 0);
	assert_int_equal(device_power("a", false), 0);
	assert_int_equal(device_config_apply(&before), 0);
	assert_int_equal(device_config_read("a", &after), 0);
	assert_int_equal(before.n, after.n);
	for (size_t i = 0; i < before.n; i++)
		assert_string_equal(before.set[i].value, after.set[i].value);
	assert_int_equal(after.power, before.power);
	device_config_free(&before);
	device_config_free(&after);
	device_remove("a");
	assert_int_equal(device_config_read("a", &before), -ENOENT);
}

static void test_set_what_is_not_there(void **state)
{
	(void)state;
	device_add("a", NULL, 0, false);
	assert_int_equal(device_set("a", "colour", "1"), -ENOENT);
	assert_int_equal(device_set("b", "read_ns", "1"), -ENOENT);
	assert_null(device_get("a", "colour"));
	device_remove("a");
}

static void test_need_driver(void **state)
{
	(void)state;
	assert_int_equal(device_need_driver(), TARE_OK);
	setenv("TARE_CONFIGFS", "/nowhere", 1);
	assert_int_equal(device_need_driver(), TARE_CANNOT);
	setenv("TARE_CONFIGFS", root, 1);
}

static void test_users_of_nothing(void **state)
{
	char *users = device_users("no-such-disk");

	(void)state;
	assert_string_equal(users, "");
	free(users);
}

static int setup(void **state)
{
	(void)state;
	root = scratch_make();
	setenv("TARE_CONFIGFS", root, 1);
	return 0;
}

static int teardown(void **state)
{
	char *path = root;

	(void)state;
	root = NULL;
	scratch_remove(path);
	return 0;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_add),
		cmocka_unit_test(test_add_undone),
		cmocka_unit_test(test_list),
		cmocka_unit_test(test_config),
		cmocka_unit_test(test_set_what_is_not_there),
		cmocka_unit_test(test_need_driver),
		cmocka_unit_test(test_users_of_nothing),
		cmocka_unit_test(test_default_group),
	};

	return cmocka_run_group_tests(tests, setup, teardown);
}

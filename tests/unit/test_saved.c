// SPDX-License-Identifier: GPL-2.0-only
/* Files of tare save: written whole or not at all, read only when all is right. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "saved.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>

#include "scratch.h"

static char *dir, *file;

#define HEAD "{\"schema\":1,\"kind\":\"devices\",\"devices\":["

/* Read the text as a file. @return as saved_read(), with the number of devices. */
static int read_text(const char *text, size_t *n)
{
	struct device_config *devices;
	int err;

	scratch_text(dir, "file", text);
	err = saved_read(file, &devices, n);
	saved_free(devices, *n);
	return err;
}

/* What the reader says on stderr, freed by the caller. */
static char *complaint(const char *text)
{
	char *path = xasprintf("%s/stderr", dir), *said;
	int old = dup(STDERR_FILENO);
	int fd = open(path, O_CREAT | O_TRUNC | O_WRONLY, 0600);
	size_t n;

	dup2(fd, STDERR_FILENO);
	assert_int_equal(read_text(text, &n), -EINVAL);
	assert_int_equal(n, 0);
	dup2(old, STDERR_FILENO);
	close(old);
	close(fd);
	said = file_read(path);
	free(path);
	return said;
}

static void assert_wrong(const char *text, const char *words)
{
	char *said = complaint(text);

	if (!strstr(said, words))
		fail_msg("'%.80s': '%s' does not say '%s'", text, said, words);
	free(said);
}

static void test_round_trip(void **state)
{
	struct assignment set[] = { { "size_mb", "5" }, { "home_node", "-1" },
				    { "completion", "inline" },
				    { "badblocks", "0-7,100-107" } };
	const struct device_config devices[] = {
		{ "a", true, set, 4 }, { "b", false, NULL, 0 },
	};
	struct device_config *back;
	size_t n;

	(void)state;
	assert_int_equal(saved_write(file, devices, 2), 0);
	assert_int_equal(saved_read(file, &back, &n), 0);
	assert_int_equal(n, 2);
	assert_string_equal(back[0].name, "a");
	assert_true(back[0].power);
	assert_int_equal(back[0].n, 4);
	for (size_t i = 0; i < 4; i++) {
		assert_string_equal(back[0].set[i].attr, set[i].attr);
		assert_string_equal(back[0].set[i].value, set[i].value);
	}
	assert_false(back[1].power);
	assert_int_equal(back[1].n, 0);
	saved_free(back, n);
}

static void test_none(void **state)
{
	size_t n;

	(void)state;
	assert_int_equal(saved_write(file, NULL, 0), 0);
	assert_int_equal(read_text(HEAD "]}", &n), 0);
	assert_int_equal(n, 0);
}

static void test_head(void **state)
{
	(void)state;
	assert_wrong("", ":1:");
	assert_wrong("{}", "schema");
	assert_wrong("[]", "schema");
	assert_wrong("{\"schema\":2,\"kind\":\"devices\",\"devices\":[]}",
		     "schema is 2");
	assert_wrong("{\n\"kind\":\"devices\",\n\"schema\":99,\"devices\":[]}",
		     ":3: schema is 99");
	assert_wrong("{\"schema\":\"1\",\"kind\":\"devices\",\"devices\":[]}",
		     "schema");
	assert_wrong("{\"schema\":1,\"kind\":\"stat\",\"devices\":[]}", "kind");
	assert_wrong("{\"schema\":1,\"kind\":\"devices\"}", "no array");
	assert_wrong("{\"schema\":1,\"kind\":\"devices\",\"devices\":[],\n"
		     "\"more\":1}", ":2: 'more' is not known");
	assert_wrong("{\"schema\":1,\"schema\":1}", "duplicate");
}

static void test_devices(void **state)
{
	(void)state;
	assert_wrong(HEAD "3]}", "is an object");
	assert_wrong(HEAD "{\"power\":true,\"attributes\":{}}]}", "name");
	assert_wrong(HEAD "{\"name\":\"../x\",\"power\":true,\"attributes\":{}}]}",
		     "cannot be used");
	assert_wrong(HEAD "{\"name\":\"a\",\"attributes\":{}}]}", "power");
	assert_wrong(HEAD "{\"name\":\"a\",\"power\":1,\"attributes\":{}}]}",
		     "power");
	assert_wrong(HEAD "{\"name\":\"a\",\"power\":true}]}", "attributes");
	assert_wrong(HEAD "{\"name\":\"a\",\"power\":true,\"attributes\":[]}]}",
		     "attributes");
	assert_wrong(HEAD "\n{\"name\":\"a\",\"power\":true,\"attributes\":{}},\n"
		     "{\"name\":\"a\",\"power\":true,\"attributes\":{}}]}",
		     ":3: a is there twice");
	assert_wrong(HEAD "{\"name\":\"a\",\"power\":true,\"attributes\":{},\n"
		     "\"colour\":1}]}", ":2: 'colour'");
}

#define ATTRS HEAD "{\"name\":\"a\",\"power\":true,\n\"attributes\":{\n"

static void test_attributes(void **state)
{
	(void)state;
	assert_wrong(ATTRS "\"read_ns\":1,\n\"colour\":1}}]}",
		     ":4: there is no attribute 'colour'");
	assert_wrong(ATTRS "\"read_ns\":-1}}]}", ":3: read_ns");
	assert_wrong(ATTRS "\"read_ns\":\"1\"}}]}", ":3: read_ns");
	assert_wrong(ATTRS "\"read_ns\":1.0}}]}", ":3: read_ns");
	assert_wrong(ATTRS "\"read_ns\":null}}]}", ":3: read_ns");
	assert_wrong(ATTRS "\"read_ns\":1000000000000000000000000000000}}]}",
		     ":3:");
	assert_wrong(ATTRS "\"completion\":0}}]}", ":3: completion");
	assert_wrong(ATTRS "\"completion\":\"fast\"}}]}", ":3: completion");
	assert_wrong(ATTRS "\"store_pages\":0}}]}", ":3: store_pages");
	assert_wrong(ATTRS "\"power\":1}}]}", ":3: there is no");
	assert_wrong(ATTRS "\"prealloc\":1}}]}", "prealloc");
	assert_wrong(ATTRS "\"\\u001b[2J%s\":1}}]}", "\\x1b[2J%s");
}

/* A look-alike in a string, brackets in strings, and the line all the same. */
static void test_lines(void **state)
{
	(void)state;
	assert_wrong("{\"schema\":1,\"kind\":\"devices\",\n"
		     "\"devices\":[\n"
		     "{\"attributes\":{\"read_ns\":1},\"power\":true,\"name\":\"a\"},\n"
		     "{\"attributes\":\n"
		     "{\"completion\":\"timer\",\n"
		     "\"read_ns\":\"]}{[\\\"\"},\"power\":true,\"name\":\"b\"}]}",
		     ":6: read_ns");
}

static char *nested(size_t depth)
{
	char *text = xcalloc(depth + 1, 1);

	memset(text, '[', depth);
	return text;
}

static void test_damaged(void **state)
{
	static const char whole[] =
		ATTRS "\"read_ns\":1,\"completion\":\"timer\"}}]}";
	char *deep = nested(1000000);
	size_t n;

	(void)state;
	assert_wrong(deep, "depth");
	free(deep);
	assert_int_equal(read_text(whole, &n), 0);
	/* Cut anywhere, it is refused and nothing is read past its end. */
	for (size_t i = 0; i + 1 < sizeof(whole); i++) {
		char *cut = strndup(whole, i);

		assert_int_equal(read_text(cut, &n), -EINVAL);
		free(cut);
	}
	scratch_bytes(dir, "file", "{\0}", 3);
	assert_int_equal(saved_read(file, &(struct device_config *){ 0 }, &n),
			 -EINVAL);
	scratch_bytes(dir, "file", "\xff\xfe", 2);
	assert_int_equal(saved_read(file, &(struct device_config *){ 0 }, &n),
			 -EINVAL);
	assert_wrong(HEAD "]} more", "end of file");
}

static void test_unreadable(void **state)
{
	struct device_config *devices;
	size_t n;

	(void)state;
	assert_int_equal(saved_read("/nowhere/file", &devices, &n), -ENOENT);
	assert_int_equal(saved_read(dir, &devices, &n), -EISDIR);
	assert_int_equal(saved_read("/dev/zero", &devices, &n), -EFBIG);
}

static size_t entries(const char *path)
{
	DIR *d = opendir(path);
	size_t n = 0;

	while (readdir(d))
		n++;
	closedir(d);
	return n;
}

/* A write that fails leaves the old file, and nothing beside it. */
static void test_full_disk(void **state)
{
	const struct device_config device = { "a", true, NULL, 0 };
	struct rlimit old, tiny;
	struct device_config *devices;
	size_t n, before;

	(void)state;
	assert_int_equal(saved_write(file, &device, 1), 0);
	before = entries(dir);
	signal(SIGXFSZ, SIG_IGN);
	getrlimit(RLIMIT_FSIZE, &old);
	tiny = old;
	tiny.rlim_cur = 10;
	setrlimit(RLIMIT_FSIZE, &tiny);
	assert_true(saved_write(file, &device, 1) < 0);
	setrlimit(RLIMIT_FSIZE, &old);
	assert_int_equal(entries(dir), before);
	assert_int_equal(saved_read(file, &devices, &n), 0);
	assert_int_equal(n, 1);
	saved_free(devices, n);
	assert_true(saved_write("/nowhere/file", &device, 1) < 0);
	assert_true(saved_write("/dev/full", &device, 1) < 0);
}

static void test_keeps_mode_and_link(void **state)
{
	char *link = xasprintf("%s/link", dir);
	struct stat st;

	(void)state;
	scratch_text(dir, "file", "old");
	assert_int_equal(chmod(file, 0640), 0);
	assert_int_equal(symlink("file", link), 0);
	assert_int_equal(saved_write(link, NULL, 0), 0);
	assert_int_equal(lstat(link, &st), 0);
	assert_true(S_ISLNK(st.st_mode));
	assert_int_equal(stat(file, &st), 0);
	assert_int_equal(st.st_mode & 0777, 0640);
	assert_true(st.st_size > 10);
	unlink(link);
	free(link);
}

static int setup(void **state)
{
	(void)state;
	dir = scratch_make();
	file = xasprintf("%s/file", dir);
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	scratch_remove(dir);
	free(file);
	return 0;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_round_trip),
		cmocka_unit_test(test_none),
		cmocka_unit_test(test_head),
		cmocka_unit_test(test_devices),
		cmocka_unit_test(test_attributes),
		cmocka_unit_test(test_lines),
		cmocka_unit_test(test_damaged),
		cmocka_unit_test(test_unreadable),
		cmocka_unit_test(test_full_disk),
		cmocka_unit_test(test_keeps_mode_and_link),
	};

	return cmocka_run_group_tests(tests, setup, teardown);
}

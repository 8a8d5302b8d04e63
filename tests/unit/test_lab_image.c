// SPDX-License-Identifier: GPL-2.0-only
/* The lab's initramfs: libraries, modules, quoting, the archive itself. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "lab.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static void test_ldd(void **state)
{
	static const char text[] =
		"\tlinux-vdso.so.1 (0x00007ffc)\n"
		"\tlibc.so.6 => /lib/x86_64-linux-gnu/libc.so.6 (0x00007f39)\n"
		"\tlibc.so.6 => /lib/x86_64-linux-gnu/libc.so.6 (0x00007f39)\n"
		"\t/lib64/ld-linux-x86-64.so.2 (0x00007f39)\n";
	struct strlist libs = {};
	char *missing = NULL;

	(void)state;
	assert_int_equal(ldd_parse(text, &libs, &missing), 0);
	assert_int_equal(libs.n, 2);
	assert_string_equal(libs.v[0], "/lib/x86_64-linux-gnu/libc.so.6");
	assert_string_equal(libs.v[1], "/lib64/ld-linux-x86-64.so.2");
	assert_null(missing);
	strlist_free(&libs);
}

static void test_add(void **state)
{
	char *host, *guest;

	(void)state;
	add_split("no-such-file:../x", &host, &guest);
	assert_string_equal(host, "no-such-file");
	assert_string_equal(guest, "../x");
	free(host);
	free(guest);
	add_split("no-such-file:", &host, &guest);
	assert_string_equal(host, "no-such-file");
	assert_null(guest);
	free(host);
	assert_true(path_climbs(".."));
	assert_true(path_climbs("/a/../b"));
	assert_true(path_climbs("a/.."));
	assert_false(path_climbs("/a/..b/c../...//x"));
	assert_false(path_climbs(""));
}

static void test_ldd_missing(void **state)
{
	struct strlist libs = {};
	char *missing = NULL;

	(void)state;
	assert_int_equal(ldd_parse("\tlibx.so.1 => not found\n", &libs,
				   &missing), -ENOENT);
	assert_string_equal(missing, "libx.so.1");
	free(missing);
	missing = NULL;
	assert_int_equal(ldd_parse("\tstatically linked\n", &libs, &missing), 0);
	assert_int_equal(libs.n, 0);
}

static const char dep[] =
	"kernel/fs/ext4/ext4.ko: kernel/fs/mbcache.ko kernel/fs/jbd2/jbd2.ko\n"
	"kernel/fs/mbcache.ko:\n"
	"kernel/lib/crc-t10dif.ko.xz:\n"
	"kernel/fs/jbd2/jbd2.ko:\n";

static void test_closure(void **state)
{
	struct strlist paths = {};

	(void)state;
	assert_int_equal(modules_closure(dep, "ext4", &paths), 0);
	assert_int_equal(paths.n, 3);
	assert_string_equal(paths.v[0], "kernel/fs/ext4/ext4.ko");
	assert_string_equal(paths.v[2], "kernel/fs/jbd2/jbd2.ko");
	/* Nothing twice. */
	assert_int_equal(modules_closure(dep, "jbd2", &paths), 0);
	assert_int_equal(paths.n, 3);
	/* The kernel does not tell - from _. */
	assert_int_equal(modules_closure(dep, "crc_t10dif", &paths), 0);
	assert_int_equal(paths.n, 4);
	assert_int_equal(modules_closure(dep, "ext", &paths), -ENOENT);
	assert_int_equal(modules_closure(dep, "ext4x", &paths), -ENOENT);
	assert_int_equal(modules_closure("", "ext4", &paths), -ENOENT);
	strlist_free(&paths);
}

static void check_quote(const char *plain, const char *quoted)
{
	char *got = shell_quote(plain);

	assert_string_equal(got, quoted);
	free(got);
}

static void test_quote(void **state)
{
	(void)state;
	check_quote("", "''");
	check_quote("a b", "'a b'");
	check_quote("it's", "'it'\\''s'");
	check_quote("$HOME \"\\\n", "'$HOME \"\\\n'");
}

/* The names in an archive, found by walking its headers. */
static void read_names(const char *path, struct strlist *names)
{
	FILE *f = fopen(path, "r");
	char header[111], name[256];

	assert_non_null(f);
	for (;;) {
		unsigned int size, len;

		assert_int_equal(fread(header, 1, 110, f), 110);
		header[110] = '\0';
		assert_memory_equal(header, "070701", 6);
		assert_int_equal(sscanf(header + 54, "%8x", &size), 1);
		assert_int_equal(sscanf(header + 94, "%8x", &len), 1);
		assert_in_range(len, 2, sizeof(name));
		assert_int_equal(fread(name, 1, len, f), len);
		assert_int_equal(name[len - 1], 0);
		if (!strcmp(name, "TRAILER!!!"))
			break;
		strlist_add(names, name);
		fseek(f, (4 - ftell(f) % 4) % 4, SEEK_CUR);
		fseek(f, (size + 3) / 4 * 4, SEEK_CUR);
	}
	fclose(f);
}

static void test_cpio(void **state)
{
	static const char *const expected[] = {
		"usr", "usr/lib", "usr/lib/a", "etc", "etc/x", "etc/x/y", "sbin",
	};
	char path[] = "/tmp/tare-cpio-XXXXXX";
	struct strlist names = {};
	struct cpio *c;
	int fd = mkstemp(path);

	(void)state;
	assert_true(fd >= 0);
	close(fd);
	c = cpio_create(path);
	assert_non_null(c);
	cpio_data(c, "/lib/a", 0644, "12345", 5);
	cpio_data(c, "/usr/lib/a", 0644, "other", 5);
	cpio_data(c, "/etc/x/y", 0644, "", 0);
	cpio_dir(c, "/etc/x");
	cpio_link(c, "/sbin", "usr/sbin");
	assert_int_equal(cpio_file(c, "/etc/z", "does-not-exist"), -ENOENT);
	assert_int_equal(cpio_close(c), 0);
	read_names(path, &names);
	unlink(path);
	assert_int_equal(names.n, ARRAY_SIZE(expected));
	for (size_t i = 0; i < names.n; i++)
		assert_string_equal(names.v[i], expected[i]);
	strlist_free(&names);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_ldd),
		cmocka_unit_test(test_ldd_missing),
		cmocka_unit_test(test_add),
		cmocka_unit_test(test_closure),
		cmocka_unit_test(test_quote),
		cmocka_unit_test(test_cpio),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

// SPDX-License-Identifier: GPL-2.0-only
/* The lab's kernels: names of versions and packages, the ELF in a bzImage. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "lab.h"

#include <stdlib.h>
#include <string.h>

static void test_series(void **state)
{
	(void)state;
	assert_true(kernel_is_series("6.1"));
	assert_true(kernel_is_series("6.12"));
	assert_false(kernel_is_series("6.1.0-57-amd64"));
	assert_false(kernel_is_series("6"));
	assert_false(kernel_is_series("6."));
	assert_false(kernel_is_series(""));
	assert_false(kernel_is_series("-6.1"));
	assert_false(kernel_is_series("6.1x"));
}

static void test_matches(void **state)
{
	(void)state;
	assert_true(kernel_matches("6.1.0-57-amd64", "6.1"));
	assert_true(kernel_matches("6.12.117+deb12-amd64", "6.12"));
	/* 6.12 begins with the characters of 6.1 and is not of its series. */
	assert_false(kernel_matches("6.12.117+deb12-amd64", "6.1"));
	assert_true(kernel_matches("6.1.0-57-amd64", "6.1.0-57-amd64"));
	assert_false(kernel_matches("6.1.0-57-amd64", "6.1.0-5"));
}

static void check_abi(const char *package, const char *abi)
{
	char *got = kernel_package_abi(package);

	if (abi)
		assert_string_equal(got, abi);
	else
		assert_null(got);
	free(got);
}

static void test_package_abi(void **state)
{
	(void)state;
	check_abi("linux-image-6.1.0-57-amd64", "6.1.0-57-amd64");
	check_abi("linux-image-6.1.0-57-amd64-unsigned", "6.1.0-57-amd64");
	check_abi("linux-image-6.12.117+deb12-amd64", "6.12.117+deb12-amd64");
	check_abi("linux-image-6.1.0-57-amd64-dbg", NULL);
	check_abi("linux-image-6.1.0-57-cloud-amd64", NULL);
	check_abi("linux-image-6.1.0-57-cloud-amd64-unsigned", NULL);
	check_abi("linux-image-6.1.0-57-rt-amd64", NULL);
	check_abi("linux-image-amd64", NULL);
	check_abi("linux-image-6.1.0-57-arm64", NULL);
	check_abi("linux-headers-6.1.0-57-amd64", NULL);
}

static void test_depends(void **state)
{
	static const char show[] =
		"Package: linux-headers-6.12.117+deb12-amd64\n"
		"Version: 6.12.117-1\n"
		"Depends: linux-base (>= 4.12~), linux-headers-6.12.117+deb12-common (= 6.12.117-1), linux-image-6.12.117+deb12-amd64 (= 1) | linux-image-6.12.117+deb12-amd64-unsigned (= 1), linux-kbuild-6.12.117+deb12, gcc-12\n"
		"Description: linux-headers-wrong, linux-kbuild-wrong\n";
	struct strlist names = {};

	(void)state;
	kernel_depends(show, "linux-headers-", &names);
	kernel_depends(show, "linux-kbuild-", &names);
	assert_int_equal(names.n, 2);
	assert_string_equal(names.v[0], "linux-headers-6.12.117+deb12-common");
	assert_string_equal(names.v[1], "linux-kbuild-6.12.117+deb12");
	strlist_free(&names);
	kernel_depends("Package: x\n", "linux-", &names);
	assert_int_equal(names.n, 0);
}

/* A header with its kernel of 64 bytes right after two sectors. */
static void make_bzimage(unsigned char image[2048])
{
	memset(image, 0, 2048);
	image[0x1f1] = 1;
	memcpy(image + 0x202, "HdrS", 4);
	image[0x206] = 0x0f;
	image[0x207] = 0x02;
	image[0x248] = 16;
	image[0x24c] = 64;
	memcpy(image + 1024 + 16, "\xfd""7zXZ", 6);
}

static void test_bzimage(void **state)
{
	unsigned char image[2048];
	size_t offset, length;

	(void)state;
	make_bzimage(image);
	assert_string_equal(bzimage_payload(image, sizeof(image), &offset,
					    &length), "xz");
	assert_int_equal(offset, 1040);
	assert_int_equal(length, 60);
	memcpy(image + 1040, "\x28\xb5\x2f\xfd", 4);
	assert_string_equal(bzimage_payload(image, sizeof(image), &offset,
					    &length), "zstd");
}

static void test_bzimage_damaged(void **state)
{
	unsigned char image[2048];
	size_t offset, length;

	(void)state;
	make_bzimage(image);
	assert_null(bzimage_payload(image, 100, &offset, &length));
	assert_null(bzimage_payload(image, 1050, &offset, &length));
	image[0x24c] = 4;
	assert_null(bzimage_payload(image, sizeof(image), &offset, &length));
	make_bzimage(image);
	memset(image + 0x248, 0xff, 8);
	assert_null(bzimage_payload(image, sizeof(image), &offset, &length));
	make_bzimage(image);
	image[0x206] = 7;
	assert_null(bzimage_payload(image, sizeof(image), &offset, &length));
	make_bzimage(image);
	image[0x202] = 'X';
	assert_null(bzimage_payload(image, sizeof(image), &offset, &length));
	make_bzimage(image);
	image[1040] = 0;
	assert_null(bzimage_payload(image, sizeof(image), &offset, &length));
}

static void test_room(void **state)
{
	(void)state;
	assert_int_equal(kernel_package_room("Package: x\nInstalled-Size: 4\n"
					     "Size: 100\n"), 4196);
	assert_int_equal(kernel_package_room("Package: x\n"), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_series),
		cmocka_unit_test(test_matches),
		cmocka_unit_test(test_package_abi),
		cmocka_unit_test(test_depends),
		cmocka_unit_test(test_bzimage),
		cmocka_unit_test(test_bzimage_damaged),
		cmocka_unit_test(test_room),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

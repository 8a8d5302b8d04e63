// SPDX-License-Identifier: GPL-2.0-only
/* The job file handed to fio, and what is read from its JSON. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "fio.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static void test_file_is_replaced(void **state)
{
	char *text = fio_job_text("[global]\nrw=read\nfilename=/a\n"
				  "  directory = /b\n[x]\nfilename_format=q\n"
				  "loops=3\n[xy]\nbs=4k",
				  "x", "/dev/t0", 0, 4096);

	(void)state;
	assert_string_equal(text, "[global]\nrw=read\n[x]\nfilename=/dev/t0\nthread=1\n"
				  "filename_format=q\nloops=3\n[xy]\nbs=4k\n");
	free(text);
}

static void test_number_is_replaced(void **state)
{
	char *text = fio_job_text("[x]\nloops=3\nio_size=1m\nnumber_ios=1\n",
				  "x", "f", 500, 4096);

	(void)state;
	assert_string_equal(text, "[x]\nfilename=f\nthread=1\nnumber_ios=500\nio_size=2048000\n");
	free(text);
}

static void test_json(void **state)
{
	static const char json[] =
		"fio: a warning {}"
		"\n{\"fio version\":\"fio-3.33\",\"jobs\":[{\"error\":0,"
		"\"read\":{\"total_ios\":0},"
		"\"write\":{\"total_ios\":10,\"lat_ns\":{\"mean\":100.5},"
		"\"clat_ns\":{\"max\":900,\"percentile\":{\"50.000000\":90,"
		"\"90.000000\":95,\"99.000000\":99}}},"
		"\"sync\":{\"total_ios\":5,\"lat_ns\":{\"mean\":40}}}]}";
	struct fio_result r;

	(void)state;
	/* The brace of the warning opens a document that holds no job. */
	assert_int_equal(fio_parse(json, &r), -EINVAL);
	assert_int_equal(fio_parse(strchr(json, '\n'), &r), 0);
	assert_string_equal(r.version, "fio-3.33");
	assert_int_equal(r.ios, 10);
	assert_true(r.lat_mean_ns == 100.5);
	assert_int_equal(r.syncs, 5);
	assert_true(r.gross_mean_ns == 120.5);
	assert_int_equal(r.p50_ns, 90);
	assert_int_equal(r.max_ns, 900);
}

static void test_two_directions(void **state)
{
	static const char json[] =
		"{\"jobs\":[{\"read\":{\"total_ios\":30,"
		"\"lat_ns\":{\"mean\":10},\"clat_ns\":{\"max\":20,"
		"\"percentile\":{\"50.000000\":9}}},"
		"\"write\":{\"total_ios\":10,\"lat_ns\":{\"mean\":50},"
		"\"clat_ns\":{\"max\":60,\"percentile\":{\"50.000000\":49}}}}]}";
	struct fio_result r;

	(void)state;
	assert_int_equal(fio_parse(json, &r), 0);
	assert_int_equal(r.ios, 40);
	assert_true(r.lat_mean_ns == 20);
	assert_int_equal(r.p50_ns, 9);
	assert_int_equal(r.max_ns, 60);
}

static void test_what_is_no_result(void **state)
{
	static const char *const bad[] = {
		"", "fio: out of memory", "{", "{}", "{\"jobs\":[]}",
		"{\"jobs\":[{\"error\":5,\"read\":{\"total_ios\":1}}]}",
		"{\"jobs\":[{\"read\":{\"total_ios\":0}}]}",
		"{\"jobs\":[1]}", "{\"jobs\":7}",
	};
	struct fio_result r;

	(void)state;
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		assert_int_equal(fio_parse(bad[i], &r), -EINVAL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_file_is_replaced),
		cmocka_unit_test(test_number_is_replaced),
		cmocka_unit_test(test_json),
		cmocka_unit_test(test_two_directions),
		cmocka_unit_test(test_what_is_no_result),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

// SPDX-License-Identifier: GPL-2.0-only
/* fio job files: what is understood, ignored with a note, refused by name. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "jobfile.h"
#include "util.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* What was printed on stderr while f ran goes to a file and back. */
static char *said(int (*parse)(struct jobfile *, const char *, const char *),
		  struct jobfile *file, const char *text, int *err)
{
	char *message = calloc(1, 4096);
	FILE *to = tmpfile();
	int old = dup(2);

	assert_non_null(to);
	dup2(fileno(to), 2);
	*err = parse(file, "job.fio", text);
	dup2(old, 2);
	close(old);
	rewind(to);
	message[fread(message, 1, 4095, to)] = '\0';
	fclose(to);
	return message;
}

static void parse_ok(struct jobfile *file, const char *text)
{
	assert_int_equal(jobfile_parse(file, "job.fio", text), 0);
}

static void parse_fails(const char *text, const char *reason)
{
	struct jobfile file;
	int err;
	char *message = said(jobfile_parse, &file, text, &err);

	if (err != -EINVAL || !strstr(message, reason))
		print_error("%s\nsaid: %s\nwanted: %s\n", text, message,
			    reason);
	assert_int_equal(err, -EINVAL);
	assert_non_null(strstr(message, reason));
	free(message);
}

static void test_understood(void **state)
{
	struct jobfile file;
	const struct job *job;

	(void)state;
	parse_ok(&file,
		 "; a comment\n"
		 "[global]\n"
		 "  rw = randrw   # mixed\n"
		 "rwmixread=70\n"
		 "bs=8k\n"
		 "direct=1\n"
		 "\n"
		 "[first job]\n"
		 "size=16m\nio_size=1m\nnumber_ios=77\nloops=2\noffset=4k\n"
		 "filename=/dev/x\ndirectory=/mnt\nsync=dsync\nend_fsync=1\n"
		 "overwrite\nfallocate=none\niodepth=32\niodepth_batch=8\n"
		 "iodepth_batch_complete_min=4\nioengine=io_uring\n"
		 "fixedbufs\nregisterfiles=1\nrandseed=99\nnorandommap\n"
		 "cpus_allowed=3\nruntime=1m\n"
		 "[second]\n"
		 "bs=4096\nfsync=1\nioengine=psync\niodepth=8\n");
	assert_int_equal(file.n, 2);
	job = &file.job[0];
	assert_string_equal(job->name, "first job");
	assert_true(job->random);
	assert_int_equal(job->dir, JOB_MIXED);
	assert_int_equal(job->mix_read_percent, 70);
	assert_int_equal(job->bs, 8192);
	assert_true(job->direct);
	assert_int_equal(job->size, 16 << 20);
	assert_int_equal(job->io_size, 1 << 20);
	assert_int_equal(job->number_ios, 77);
	assert_int_equal(job->loops, 2);
	assert_int_equal(job->offset, 4096);
	assert_string_equal(job->filename, "/dev/x");
	assert_string_equal(job->directory, "/mnt");
	assert_int_equal(job->sync, JOB_SYNC_DSYNC);
	assert_true(job->end_fsync);
	assert_true(job->overwrite);
	assert_false(job->fallocate);
	assert_int_equal(job->iodepth, 32);
	assert_int_equal(job->batch, 8);
	assert_int_equal(job->batch_complete, 4);
	assert_int_equal(job->engine, JOB_IO_URING);
	assert_true(job->fixedbufs);
	assert_true(job->registerfiles);
	assert_int_equal(job->randseed, 99);
	assert_true(job->norandommap);
	assert_int_equal(job->cpu, 3);
	assert_int_equal(job->runtime_us, 60000000);
	assert_int_equal(job->refused.n, 0);

	job = &file.job[1];
	assert_string_equal(job->name, "second");
	assert_int_equal(job->bs, 4096);
	assert_int_equal(job->fsync, 1);
	assert_int_equal(job->engine, JOB_PSYNC);
	assert_null(job->filename);
	/* one at a time, whatever the file says, as in fio */
	assert_int_equal(job->iodepth, 1);
	jobfile_free(&file);
}

static void test_defaults_are_fios(void **state)
{
	struct jobfile file;

	(void)state;
	parse_ok(&file, "[j]\ndirect=1\n");
	assert_int_equal(file.job[0].bs, 4096);
	assert_int_equal(file.job[0].dir, JOB_READ);
	assert_int_equal(file.job[0].iodepth, 1);
	assert_int_equal(file.job[0].engine, JOB_PSYNC);
	assert_true(file.job[0].fallocate);
	assert_int_equal(file.job[0].cpu, -1);
	jobfile_free(&file);
}

static void test_ignored_with_a_note(void **state)
{
	struct jobfile file;

	(void)state;
	parse_ok(&file, "[j]\ndirect=1\ngroup_reporting\nthread=1\ninvalidate=1\n");
	assert_int_equal(file.job[0].notes.n, 3);
	assert_int_equal(file.job[0].notes.remark[1].line, 4);
	assert_non_null(strstr(file.job[0].notes.remark[1].text, "thread"));
	assert_int_equal(file.job[0].refused.n, 0);
	jobfile_free(&file);
}

/* Parses, but the own engines refuse it by name and line. */
static void own_refuses(const char *line, const char *reason)
{
	struct jobfile file;
	char text[256];

	snprintf(text, sizeof(text), "[j]\ndirect=1\n%s\n", line);
	parse_ok(&file, text);
	if (file.job[0].refused.n != 1)
		print_error("%s: refused %zu times\n", line,
			    file.job[0].refused.n);
	assert_int_equal(file.job[0].refused.n, 1);
	assert_int_equal(file.job[0].refused.remark[0].line, 3);
	assert_non_null(strstr(file.job[0].refused.remark[0].text, reason));
	jobfile_free(&file);
}

static void test_refused_by_own_engines(void **state)
{
	(void)state;
	own_refuses("ioengine=libaio", "libaio");
	own_refuses("numjobs=2", "numjobs");
	own_refuses("verify=crc32c", "verify");
	own_refuses("hipri=1", "hipri");
	own_refuses("hipri", "hipri");
	own_refuses("bsrange=4k-8k", "bsrange");
	own_refuses("bs=4k,8k", "bs");
	own_refuses("rw=randtrim", "rw");
	own_refuses("rw=write:4k", "rw");
	own_refuses("size=50%", "size");
	own_refuses("filename=/a:/b", "filename");
	own_refuses("rate_iops=100", "rate_iops");
	own_refuses("cpus_allowed=0-3", "cpus_allowed");
}

static void test_not_refused(void **state)
{
	struct jobfile file;

	(void)state;
	parse_ok(&file, "[j]\ndirect=1\nhipri=0\nnumjobs=1\ndo_verify=0\n");
	assert_int_equal(file.job[0].refused.n, 0);
	jobfile_free(&file);
}

static void test_buffered(void **state)
{
	static const struct {
		const char *options;
		size_t refused;
	} cases[] = {
		{ "rw=read", 1 },
		{ "rw=write", 1 },
		{ "rw=write\nfsync=1", 0 },
		{ "rw=write\nfsync=2", 1 },
		{ "rw=write\nfdatasync=1", 0 },
		{ "rw=write\nsync=1", 0 },
		{ "rw=rw\nsync=1", 1 },
		{ "rw=write\nbuffered=0", 0 },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		struct jobfile file;
		char *text = xasprintf("[j]\n%s\n", cases[i].options);

		parse_ok(&file, text);
		assert_int_equal(file.job[0].refused.n, cases[i].refused);
		jobfile_free(&file);
		free(text);
	}
}

static void test_errors_name_line_and_option(void **state)
{
	(void)state;
	parse_fails("[j]\nnosuch=1\n", "job.fio:2: nosuch");
	parse_fails("[j]\n\n# x\nbs=4q\n", "job.fio:4: bs=4q");
	parse_fails("[j]\nbs=0\n", "job.fio:2: bs=0");
	parse_fails("[j]\nbs=1000\n", "job.fio:2: bs=1000");
	parse_fails("[j]\nbs\n", "job.fio:2: bs");
	parse_fails("[j]\nsize=99999999999999999999\n", "job.fio:2: size");
	parse_fails("[j]\nsize=-1\n", "job.fio:2: size");
	parse_fails("[j]\ndirect=2\n", "job.fio:2: direct=2");
	parse_fails("[j]\nrw=fly\n", "job.fio:2: rw=fly");
	parse_fails("[j]\nsync=maybe\n", "job.fio:2: sync");
	parse_fails("[j]\nloops=0\n", "job.fio:2: loops");
	parse_fails("[j]\nruntime=soon\n", "job.fio:2: runtime");
	parse_fails("[j]\nfilename=${X}\n", "job.fio:2: filename");
	parse_fails("[j]\niodepth=0\nioengine=io_uring\n", "iodepth=0");
	parse_fails("rw=read\n", "job.fio:1: option before");
	parse_fails("[global]\nrw=read\n", "no job section");
	parse_fails("", "no job section");
	parse_fails("[j\nrw=read\n", "job.fio:1");
	parse_fails("[]\nrw=read\n", "job.fio:1: section without");
	parse_fails("[j]\nrw: read\n", "job.fio:2: option without");
	parse_fails("[j]\nsize=1k\nbs=4k\n", "smaller than one block");
}

static void test_long_line_is_refused(void **state)
{
	char *text = xcalloc(1, 10000);

	(void)state;
	strcpy(text, "[j]\nfilename=");
	memset(text + strlen(text), 'x', 6000);
	parse_fails(text, "job.fio:2: line too long");
	free(text);
}

static void test_sizes(void **state)
{
	static const struct {
		const char *text;
		uint64_t bytes;
		int err;
	} cases[] = {
		{ "4096", 4096, 0 },	{ "4k", 4096, 0 },
		{ "4K", 4096, 0 },	{ "4kb", 4096, 0 },
		{ "4kB", 4096, 0 },	{ "4ki", 4000, 0 },
		{ "4KiB", 4000, 0 },	{ "1m", 1 << 20, 0 },
		{ "1g", 1 << 30, 0 },	{ "1t", 1ull << 40, 0 },
		{ "1p", 1ull << 50, 0 }, { "0x1000", 4096, 0 },
		{ "512b", 512, 0 },	{ "010", 10, 0 },
		{ "", 0, -EINVAL },	{ "k", 0, -EINVAL },
		{ "-1", 0, -EINVAL },	{ "+1", 0, -EINVAL },
		{ "4kk", 0, -EINVAL },	{ "4 k", 0, -EINVAL },
		{ "18446744073709551616", 0, -ERANGE },
		{ "16384p", 0, -ERANGE },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		uint64_t v = 0;
		int err = job_size_parse(cases[i].text, &v);

		if (err != cases[i].err || v != cases[i].bytes)
			print_error("'%s': %d, %llu\n", cases[i].text, err,
				    (unsigned long long)v);
		assert_int_equal(err, cases[i].err);
		assert_int_equal(v, cases[i].bytes);
	}
}

static void test_times(void **state)
{
	uint64_t us = 0;

	(void)state;
	assert_int_equal(job_time_parse("30", &us), 0);
	assert_int_equal(us, 30000000);
	assert_int_equal(job_time_parse("5ms", &us), 0);
	assert_int_equal(us, 5000);
	assert_int_equal(job_time_parse("2H", &us), 0);
	assert_int_equal(us, 7200000000ull);
	assert_int_equal(job_time_parse("2x", &us), -EINVAL);
	assert_int_equal(job_time_parse("", &us), -EINVAL);
	assert_int_equal(job_time_parse("99999999999999999d", &us), -ERANGE);
}

/* Noise and mangled files: whatever comes of it, no crash and no leak. */
static void test_noise(void **state)
{
	static const char good[] =
		"[global]\nrw=randread\nbs=4k\ndirect=1\n[a]\nsize=1m\n"
		"filename=x\nioengine=io_uring\niodepth=4\n[b]\nverify=md5\n";
	uint64_t seed = 42;

	(void)state;
	for (int round = 0; round < 3000; round++) {
		char text[sizeof(good) + 64];
		struct jobfile file;
		char *message;
		int err;

		memcpy(text, good, sizeof(good));
		for (int i = 0; i < 1 + round % 12; i++) {
			seed = seed * 6364136223846793005ull + 1442695040888963407ull;
			text[(seed >> 33) % (sizeof(good) - 1)] =
				round % 3 ? (char)(seed >> 20) :
					    "=[]\n;#: \0kK0"[(seed >> 20) % 12];
		}
		message = said(jobfile_parse, &file, text, &err);
		if (!err)
			jobfile_free(&file);
		free(message);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_understood),
		cmocka_unit_test(test_defaults_are_fios),
		cmocka_unit_test(test_ignored_with_a_note),
		cmocka_unit_test(test_refused_by_own_engines),
		cmocka_unit_test(test_not_refused),
		cmocka_unit_test(test_buffered),
		cmocka_unit_test(test_errors_name_line_and_option),
		cmocka_unit_test(test_long_line_is_refused),
		cmocka_unit_test(test_sizes),
		cmocka_unit_test(test_times),
		cmocka_unit_test(test_noise),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

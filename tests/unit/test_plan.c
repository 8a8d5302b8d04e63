// SPDX-License-Identifier: GPL-2.0-only
/* The list of I/Os that a job becomes. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "plan.h"

#include <stdlib.h>
#include <string.h>

static struct job job4k(void)
{
	return (struct job){ .bs = 4096, .loops = 1, .dir = JOB_READ,
			     .randseed = 7, .mix_read_percent = 50 };
}

static void test_length(void **state)
{
	struct job job = job4k();

	(void)state;
	assert_int_equal(plan_length(&job, 1048576), 256);
	assert_int_equal(plan_length(&job, 1048576 + 4095), 256);
	job.loops = 3;
	assert_int_equal(plan_length(&job, 1048576), 768);
	job.io_size = 8192;
	assert_int_equal(plan_length(&job, 1048576), 2);
	job.number_ios = 1;
	assert_int_equal(plan_length(&job, 1048576), 1);
	job.number_ios = 100;
	assert_int_equal(plan_length(&job, 1048576), 2);
}

static void test_sequential_starts_over(void **state)
{
	struct job job = job4k();
	struct io io[6];

	(void)state;
	job.offset = 65536;
	plan_make(io, 6, &job, 4 * 4096 + 100);
	for (size_t i = 0; i < 6; i++) {
		assert_int_equal(io[i].offset, 65536 + i % 4 * 4096);
		assert_int_equal(io[i].bytes, 4096);
		assert_int_equal(io[i].op, TARE_READ);
		assert_int_equal(io[i].flags, 0);
	}
}

/* Every block once before any twice, for sizes that are no power of two. */
static void random_is_permutation(size_t blocks)
{
	struct io *io = calloc(2 * blocks, sizeof(*io));
	unsigned char *seen = calloc(blocks, 1);
	struct job job = job4k();

	job.random = true;
	plan_make(io, 2 * blocks, &job, blocks * 4096);
	for (size_t i = 0; i < 2 * blocks; i++) {
		size_t block = io[i].offset / 4096;

		assert_true(block < blocks);
		assert_int_equal(seen[block], i / blocks);
		seen[block]++;
	}
	free(io);
	free(seen);
}

static void test_random_is_permutation(void **state)
{
	static const size_t sizes[] = { 1, 2, 3, 5, 16, 17, 100, 4095, 4097 };

	(void)state;
	for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++)
		random_is_permutation(sizes[i]);
}

static void test_random_is_no_run(void **state)
{
	struct job job = job4k();
	struct io io[1000];
	size_t next = 0;

	(void)state;
	job.random = true;
	plan_make(io, 1000, &job, 1000 * 4096);
	for (size_t i = 1; i < 1000; i++)
		next += io[i].offset == io[i - 1].offset + 4096;
	assert_true(next < 20);
}

static void test_seed_repeats(void **state)
{
	struct job job = job4k();
	struct io a[100], b[100];

	(void)state;
	job.random = true;
	job.dir = JOB_MIXED;
	plan_make(a, 100, &job, 1000 * 4096);
	plan_make(b, 100, &job, 1000 * 4096);
	assert_memory_equal(a, b, sizeof(a));
	job.randseed++;
	plan_make(b, 100, &job, 1000 * 4096);
	assert_memory_not_equal(a, b, sizeof(a));
	job.norandommap = true;
	plan_make(a, 100, &job, 1000 * 4096);
	assert_memory_not_equal(a, b, sizeof(a));
}

static void test_mix(void **state)
{
	struct job job = job4k();
	struct io io[10000];
	size_t reads = 0;

	(void)state;
	job.dir = JOB_MIXED;
	job.mix_read_percent = 70;
	plan_make(io, 10000, &job, 1000 * 4096);
	for (size_t i = 0; i < 10000; i++)
		reads += io[i].op == TARE_READ;
	assert_in_range(reads, 6800, 7200);
}

static void test_flags(void **state)
{
	struct job job = job4k();
	struct io io[6];

	(void)state;
	job.dir = JOB_WRITE;
	job.fsync = 2;
	job.fdatasync = 3;
	job.sync = JOB_SYNC_DSYNC;
	plan_make(io, 6, &job, 1048576);
	assert_int_equal(io[0].flags, IO_SYNC);
	assert_int_equal(io[1].flags, IO_SYNC | IO_FSYNC);
	assert_int_equal(io[2].flags, IO_SYNC | IO_FDATASYNC);
	assert_int_equal(io[5].flags, IO_SYNC | IO_FSYNC | IO_FDATASYNC);
	/* reads are not followed by fsync */
	job.dir = JOB_READ;
	plan_make(io, 6, &job, 1048576);
	assert_int_equal(io[1].flags, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_length),
		cmocka_unit_test(test_sequential_starts_over),
		cmocka_unit_test(test_random_is_permutation),
		cmocka_unit_test(test_random_is_no_run),
		cmocka_unit_test(test_seed_repeats),
		cmocka_unit_test(test_mix),
		cmocka_unit_test(test_flags),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

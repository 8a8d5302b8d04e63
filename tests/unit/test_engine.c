// SPDX-License-Identifier: GPL-2.0-only
/* The engines on an ordinary file: stamps, data, errors, stopping. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "clock.h"
#include "engine.h"
#include "plan.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define BLOCKS	64
#define N	200

static volatile sig_atomic_t stop;

struct bench {
	struct job job;
	struct records records;	/* no rings: nobody records here */
	struct engine_ctx ctx;
	struct io io[N];
};

static int file_of(size_t bytes)
{
	char name[] = "tare-engine-XXXXXX";
	int fd = mkstemp(name);

	assert_true(fd >= 0);
	unlink(name);
	assert_int_equal(ftruncate(fd, bytes), 0);
	return fd;
}

static void set_up(struct bench *b, enum job_dir dir, uint64_t depth)
{
	memset(b, 0, sizeof(*b));
	stop = 0;
	b->job = (struct job){ .bs = 4096, .loops = 1, .dir = dir,
			       .iodepth = depth, .batch = 1,
			       .batch_complete = 1, .random = true };
	b->records.entries = 65536;
	b->ctx = (struct engine_ctx){ .job = &b->job, .io = b->io,
				      .records = &b->records, .stop = &stop,
				      .fd = file_of(BLOCKS * 4096) };
	plan_make(b->io, N, &b->job, BLOCKS * 4096);
}

/* Skips the test where the kernel or a sandbox has no io_uring. */
static void start(struct bench *b, const struct engine *engine)
{
	int err = engine_open(&b->ctx, engine);

	if (engine == &engine_uring && (err == -ENOSYS || err == -EPERM)) {
		close(b->ctx.fd);
		skip();
	}
	assert_int_equal(err, 0);
}

static void tear_down(struct bench *b)
{
	engine_close(&b->ctx);
	close(b->ctx.fd);
}

static void check_stamps(const struct bench *b, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		assert_int_equal(b->io[i].error, 0);
		assert_true(b->io[i].enter > 0);
		assert_true(b->io[i].exit > b->io[i].enter);
		if (i)
			assert_true(b->io[i].enter >= b->io[i - 1].enter);
	}
}

static void test_psync(void **state)
{
	struct bench b;

	(void)state;
	set_up(&b, JOB_WRITE, 1);
	b.job.fsync = 3;
	plan_make(b.io, N, &b.job, BLOCKS * 4096);
	start(&b, &engine_psync);
	assert_int_equal(b.ctx.engine->run(&b.ctx, 0, 50), 50);
	assert_int_equal(b.io[50].enter, 0);
	assert_int_equal(b.ctx.engine->run(&b.ctx, 50, N), N);
	check_stamps(&b, N);
	for (size_t i = 1; i < N; i++)
		assert_true(b.io[i].enter >= b.io[i - 1].exit);
	tear_down(&b);
}

static void test_psync_reads_what_is_there(void **state)
{
	unsigned char data[4096];
	struct bench b;

	(void)state;
	set_up(&b, JOB_READ, 1);
	memset(data, 0x37, sizeof(data));
	assert_int_equal(pwrite(b.ctx.fd, data, sizeof(data),
				(off_t)b.io[0].offset), sizeof(data));
	start(&b, &engine_psync);
	assert_int_equal(b.ctx.engine->run(&b.ctx, 0, 1), 1);
	assert_memory_equal(b.ctx.buffer, data, sizeof(data));
	tear_down(&b);
}

static void uring_at(enum job_dir dir, uint64_t depth, uint64_t batch,
		     bool registered)
{
	unsigned char data[4096];
	struct bench b;

	set_up(&b, dir, depth);
	b.job.batch = batch;
	b.job.batch_complete = batch;
	b.job.fixedbufs = registered;
	b.job.registerfiles = registered;
	b.job.mix_read_percent = 50;
	plan_make(b.io, N, &b.job, BLOCKS * 4096);
	start(&b, &engine_uring);
	assert_int_equal(b.ctx.engine->run(&b.ctx, 0, 30), 30);
	assert_int_equal(b.ctx.engine->run(&b.ctx, 30, N), N);
	check_stamps(&b, N);
	/* No block of zeros where a write went. */
	for (size_t i = 0; dir == JOB_WRITE && i < N; i++) {
		assert_int_equal(pread(b.ctx.fd, data, sizeof(data),
				       (off_t)b.io[i].offset), sizeof(data));
		assert_int_not_equal(data[0] | data[1] | data[2] | data[4095],
				     0);
	}
	tear_down(&b);
}

static void test_uring(void **state)
{
	(void)state;
	uring_at(JOB_WRITE, 1, 1, false);
	uring_at(JOB_MIXED, 8, 1, false);
	uring_at(JOB_WRITE, 32, 4, true);
	uring_at(JOB_MIXED, 32, 8, true);
	uring_at(JOB_READ, 64, 64, false);
}

static void fails(const struct engine *engine, uint64_t depth)
{
	struct bench b;

	set_up(&b, JOB_READ, depth);
	/* Behind the end of the file a read is short. */
	b.io[20].offset = (BLOCKS + 5) * 4096;
	start(&b, engine);
	assert_in_range(b.ctx.engine->run(&b.ctx, 0, N), 21, 21 + depth);
	assert_int_equal(b.io[20].error, EIO);
	assert_int_equal(b.io[19].error, 0);
	tear_down(&b);
}

static void test_failed_io_ends_psync(void **state)
{
	(void)state;
	fails(&engine_psync, 1);
}

static void test_failed_io_ends_uring(void **state)
{
	(void)state;
	fails(&engine_uring, 4);
}

static void stops(const struct engine *engine)
{
	struct bench b;

	set_up(&b, JOB_READ, 4);
	start(&b, engine);
	b.ctx.deadline = clock_exit();
	assert_in_range(b.ctx.engine->run(&b.ctx, 0, N), 1, 4);
	b.ctx.deadline = 0;
	stop = 1;
	assert_in_range(b.ctx.engine->run(&b.ctx, 10, N), 10, 11);
	tear_down(&b);
}

static void test_stop_psync(void **state)
{
	(void)state;
	stops(&engine_psync);
}

static void test_stop_uring(void **state)
{
	(void)state;
	stops(&engine_uring);
}

/* A ring must not fill up between two looks, even if an I/O is many requests. */
static void test_stride(void **state)
{
	struct bench b;

	(void)state;
	set_up(&b, JOB_READ, 1);
	assert_int_equal(engine_stride(&b.ctx), 252);
	b.records.entries = 64;
	assert_int_equal(engine_stride(&b.ctx), 1);
	b.records.entries = 65536;
	b.job.bs = 64 << 20;
	assert_int_equal(engine_stride(&b.ctx), 1);
	close(b.ctx.fd);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_psync),
		cmocka_unit_test(test_psync_reads_what_is_there),
		cmocka_unit_test(test_uring),
		cmocka_unit_test(test_failed_io_ends_psync),
		cmocka_unit_test(test_failed_io_ends_uring),
		cmocka_unit_test(test_stop_psync),
		cmocka_unit_test(test_stop_uring),
		cmocka_unit_test(test_stride),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

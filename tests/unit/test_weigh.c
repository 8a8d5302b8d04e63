// SPDX-License-Identifier: GPL-2.0-only
/* From I/Os and records to columns: what is counted and what is left out. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "weigh.h"

#include <errno.h>
#include <string.h>

static struct fsmap disk = { .identity = true };

/* I/O number i at 1000 * i, with its request in the middle. */
static void make(struct io *io, struct tare_record *rec, size_t n)
{
	memset(rec, 0, n * sizeof(*rec));
	for (size_t i = 0; i < n; i++) {
		uint64_t t = 1000 * i;

		io[i] = (struct io){ .enter = t, .exit = t + 500 + i,
				     .op = TARE_READ, .bytes = 4096,
				     .offset = 4096 * i };
		rec[i].issue = t + 100;
		rec[i].start = t + 110;
		rec[i].due = t + 210;
		rec[i].ready = t + 120;
		rec[i].fire = t + 230;
		rec[i].done = t + 235;
		rec[i].cmpl = t + 245;
		rec[i].end = t + 250;
		rec[i].sector = 8 * i;
		rec[i].bytes = 4096;
		rec[i].op = TARE_READ;
		rec[i].path = TARE_PATH_SOFTIRQ;
	}
}

static void swap(struct tare_record *a, struct tare_record *b)
{
	struct tare_record t = *a;

	*a = *b;
	*b = t;
}

static void test_columns(void **state)
{
	struct tare_record rec[10];
	struct weigh w = { 0 };
	struct io io[10];

	(void)state;
	make(io, rec, 10);
	/* The order of the records is not trusted. */
	swap(&rec[1], &rec[8]);
	assert_int_equal(weigh_add(&w, io, 10, 4, rec, 10, &disk, NULL, NULL),
			 0);
	assert_int_equal(w.n, 6);
	assert_int_equal(w.seen, 10);
	assert_int_equal(w.data, 6);
	assert_int_equal(w.requests, 6);
	assert_int_equal(w.path[TARE_PATH_SOFTIRQ], 6);
	assert_int_equal(w.service, 600);
	assert_int_equal(w.covered, 60);
	assert_int_equal(weigh_errors(&w), 0);
	for (size_t i = 0; i < 6; i++) {
		assert_int_equal(w.column[WEIGH_GROSS][i], 504 + i);
		assert_int_equal(w.column[IO_SUBMIT][i], 100);
		assert_int_equal(w.column[IO_DEVICE][i], 100);
		assert_int_equal(w.column[IO_DELIVERY][i], 20);
		assert_int_equal(w.column[IO_DRIVER][i], 10);
		assert_int_equal(w.column[IO_SIGNAL][i], 10);
		assert_int_equal(w.column[IO_COMPLETE][i], 254 + i);
		assert_int_equal(w.column[WEIGH_NET][i],
				 100 + 10 + 10 + 254 + i);
		assert_int_equal(w.column[WEIGH_ISSUE_TO_END][i], 150);
	}
	weigh_free(&w);
}

static void test_rounds_are_added(void **state)
{
	struct tare_record rec[5];
	struct weigh w = { 0 };
	struct io io[5];

	(void)state;
	for (size_t round = 0; round < 3; round++) {
		make(io, rec, 5);
		assert_int_equal(weigh_add(&w, io, 5, 1, rec, 5, &disk, NULL,
					   NULL), 0);
	}
	assert_int_equal(w.n, 12);
	assert_int_equal(w.seen, 15);
	assert_int_equal(w.column[WEIGH_GROSS][4], 501);
	assert_int_equal(w.column[WEIGH_GROSS][11], 504);
	weigh_free(&w);
}

struct told {
	size_t n, wrong, requests;
};

static void tell(void *ctx, const struct io *io, const struct io_cut *cut,
		 size_t requests, unsigned int wrong)
{
	struct told *told = ctx;

	told->n++;
	told->wrong += !!wrong;
	told->requests += requests;
	if (wrong)
		assert_int_equal(cut->gross, 0);
	else
		assert_int_equal(cut->gross, io->exit - io->enter);
}

/* Bad ones are counted, told, and in no column; those of the warm-up as well. */
static void test_errors_are_left_out(void **state)
{
	struct tare_record rec[10];
	struct told told = { 0 };
	struct weigh w = { 0 };
	struct io io[10];

	(void)state;
	make(io, rec, 10);
	rec[0].sector = 12345;		/* warm-up */
	rec[4].bytes = 8192;
	rec[5].due = rec[5].fire + 1;
	rec[6].error = EIO;
	io[7].error = EIO;
	assert_int_equal(weigh_add(&w, io, 10, 2, rec, 10, &disk, tell, &told),
			 0);
	assert_int_equal(w.n, 4);
	assert_int_equal(w.unmatched, 2);
	assert_int_equal(w.not_monotonic, 1);
	assert_int_equal(w.failed, 2);
	assert_int_equal(weigh_errors(&w), 5);
	assert_int_equal(w.others.count[TARE_READ], 2);
	assert_int_equal(told.n, 10);
	assert_int_equal(told.wrong, 5);
	assert_int_equal(told.requests, 8);
	weigh_free(&w);
}

static void test_counter_that_went_back(void **state)
{
	struct tare_record rec[3];
	struct weigh w = { 0 };
	struct io io[3];

	(void)state;
	make(io, rec, 3);
	io[1].enter = 5000;
	assert_int_equal(weigh_add(&w, io, 3, 0, rec, 3, &disk, NULL, NULL),
			 -EINVAL);
	assert_int_equal(w.n, 0);
	weigh_free(&w);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_columns),
		cmocka_unit_test(test_rounds_are_added),
		cmocka_unit_test(test_errors_are_left_out),
		cmocka_unit_test(test_counter_that_went_back),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

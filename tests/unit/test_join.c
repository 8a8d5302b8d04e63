// SPDX-License-Identifier: GPL-2.0-only
/* Right joins are found, wrong ones refused. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "join.h"
#include "sweep.h"

#include <errno.h>
#include <string.h>

#define N(a) (sizeof(a) / sizeof((a)[0]))

static struct fsmap disk = { .identity = true };

/* An I/O of 4 KiB at block `block`. */
static struct io io4k(uint64_t enter, uint64_t exit, uint8_t op,
		      uint64_t block)
{
	return (struct io){ .enter = enter, .exit = exit, .op = op,
			    .offset = block * 4096, .bytes = 4096 };
}

/* A request issued at `issue` that ends 100 later. */
static struct tare_record rec(uint64_t issue, uint8_t op, uint64_t sector,
			      uint32_t bytes)
{
	return (struct tare_record){
		.issue = issue, .start = issue + 10, .due = issue + 60,
		.ready = issue + 20, .fire = issue + 70, .done = issue + 80,
		.cmpl = issue + 90, .end = issue + 100,
		.sector = sector, .bytes = bytes, .op = op,
	};
}

static void test_one_in_flight(void **state)
{
	struct io io[] = {
		io4k(1000, 1200, TARE_READ, 7),
		io4k(1300, 1500, TARE_WRITE, 0),
	};
	struct tare_record r[] = {
		rec(1050, TARE_READ, 56, 4096),
		rec(1350, TARE_WRITE, 0, 4096),
	};
	struct join join;

	(void)state;
	assert_int_equal(join_run(&join, io, N(io), r, N(r), &disk), 0);
	assert_int_equal(join.data, 2);
	assert_int_equal(join.unmatched, 0);
	assert_int_equal(join.first[1] - join.first[0], 1);
	assert_ptr_equal(join.rec[0], &r[0]);
	assert_ptr_equal(join.rec[1], &r[1]);
	assert_int_equal(join.wrong[0] | join.wrong[1], 0);
	join_free(&join);
}

/* One I/O, one request that must not be taken for it. */
static void refused(struct tare_record r, uint8_t wrong)
{
	struct io io = io4k(1000, 1200, TARE_WRITE, 7);
	struct join join;

	assert_int_equal(join_run(&join, &io, 1, &r, 1, &disk), 0);
	assert_int_equal(join.data, 0);
	assert_int_equal(join.unmatched, 1);
	assert_int_equal(join.wrong[0], wrong);
	assert_int_equal(join.first[1], 0);
	join_free(&join);
}

static void test_wrong_joins_are_refused(void **state)
{
	(void)state;
	refused(rec(1050, TARE_WRITE, 64, 4096), JOIN_MISSING); /* sector */
	refused(rec(1050, TARE_WRITE, 55, 4096), JOIN_MISSING); /* one off */
	refused(rec(1050, TARE_READ, 56, 4096), JOIN_MISSING); /* operation */
	refused(rec(1050, TARE_WRITE, 56, 8192), JOIN_MISSING); /* too long */
	refused(rec(999, TARE_WRITE, 56, 4096), JOIN_MISSING); /* before */
	refused(rec(1101, TARE_WRITE, 56, 4096), JOIN_MISSING); /* ends after */
	refused(rec(1050, TARE_DISCARD, 56, 4096), JOIN_MISSING);
	refused(rec(1050, TARE_WRITE, 56, 0), JOIN_MISSING);
}

static void test_short_request_is_missing_bytes(void **state)
{
	struct io io = io4k(1000, 1200, TARE_WRITE, 7);
	struct tare_record r = rec(1050, TARE_WRITE, 56, 2048);
	struct join join;

	(void)state;
	assert_int_equal(join_run(&join, &io, 1, &r, 1, &disk), 0);
	assert_int_equal(join.wrong[0], JOIN_MISSING);
	assert_int_equal(join.unmatched, 1);
	join_free(&join);
}

static void test_doubled_requests(void **state)
{
	struct io io = io4k(1000, 1400, TARE_WRITE, 7);
	struct tare_record twice[] = {
		rec(1050, TARE_WRITE, 56, 4096),
		rec(1200, TARE_WRITE, 56, 4096),
	};
	/* the right number of bytes, but the first half twice */
	struct tare_record half[] = {
		rec(1050, TARE_WRITE, 56, 2048),
		rec(1200, TARE_WRITE, 56, 2048),
	};
	struct join join;

	(void)state;
	assert_int_equal(join_run(&join, &io, 1, twice, 2, &disk), 0);
	assert_int_equal(join.wrong[0], JOIN_DOUBLE);
	assert_int_equal(join.unmatched, 1);
	join_free(&join);
	assert_int_equal(join_run(&join, &io, 1, half, 2, &disk), 0);
	assert_true(join.wrong[0] & JOIN_DOUBLE);
	join_free(&join);
	/* the same for a durable I/O */
	io.flags = IO_FSYNC;
	assert_int_equal(join_run(&join, &io, 1, half, 2, &disk), 0);
	assert_true(join.wrong[0] & JOIN_DOUBLE);
	join_free(&join);
}

static void test_split(void **state)
{
	struct io io = { .enter = 1000, .exit = 2000, .op = TARE_READ,
			 .offset = 131072, .bytes = 131072 };
	struct tare_record r[] = {
		rec(1100, TARE_READ, 384, 65536),
		rec(1400, TARE_READ, 256, 65536),
	};
	struct join join;

	(void)state;
	assert_int_equal(join_run(&join, &io, 1, r, 2, &disk), 0);
	assert_int_equal(join.wrong[0], 0);
	assert_int_equal(join.first[1], 2);
	assert_int_equal(join.data, 2);
	join_free(&join);
}

static void test_helpers_of_a_durable_io(void **state)
{
	struct io io[] = {
		io4k(1000, 2000, TARE_WRITE, 1),
		io4k(3000, 4000, TARE_WRITE, 2),
	};
	struct tare_record r[] = {
		rec(900, TARE_WRITE, 9000, 4096),	/* before the run */
		rec(1100, TARE_WRITE, 8, 4096),		/* data */
		rec(1300, TARE_WRITE, 9000, 8192),	/* journal */
		rec(1500, TARE_FLUSH, 0, 0),
		rec(1950, TARE_WRITE, 9100, 4096),	/* not waited for */
		rec(2500, TARE_FLUSH, 0, 0),		/* between the I/Os */
		rec(3100, TARE_WRITE, 16, 4096),
		rec(3300, TARE_WRITE, 9008, 8192),	/* not a durable one's */
		rec(4100, TARE_FLUSH, 0, 0),		/* after the run */
	};
	struct join join;

	(void)state;
	io[0].flags = IO_FSYNC;
	assert_int_equal(join_run(&join, io, N(io), r, N(r), &disk), 0);
	assert_int_equal(join.data, 2);
	assert_int_equal(join.helpers, 2);
	assert_int_equal(join.first[1], 3);
	assert_int_equal(join.is_data[0], 1);
	assert_int_equal(join.is_data[1], 0);
	assert_int_equal(join.first[2], 4);
	assert_int_equal(join.others.count[TARE_WRITE], 2);
	assert_int_equal(join.others.bytes[TARE_WRITE], 4096 + 8192);
	assert_int_equal(join.others.count[TARE_FLUSH], 1);
	assert_int_equal(join.unmatched, 0);
	join_free(&join);
}

static void test_many_in_flight(void **state)
{
	struct io io[] = {
		io4k(1000, 1600, TARE_READ, 5),
		io4k(1010, 1700, TARE_READ, 9),
		io4k(1010, 1500, TARE_READ, 3),
	};
	struct tare_record r[] = {
		rec(1100, TARE_READ, 24, 4096),
		rec(1110, TARE_READ, 40, 4096),
		rec(1120, TARE_READ, 72, 4096),
	};
	struct join join;

	(void)state;
	assert_int_equal(join_run(&join, io, N(io), r, N(r), &disk), 0);
	assert_int_equal(join.unmatched, 0);
	assert_int_equal(join.ambiguous, 0);
	assert_ptr_equal(join.rec[0], &r[1]);
	assert_ptr_equal(join.rec[1], &r[2]);
	assert_ptr_equal(join.rec[2], &r[0]);
	join_free(&join);
}

static void test_same_block_twice_in_flight(void **state)
{
	struct io io[] = {
		io4k(1000, 1600, TARE_READ, 5),
		io4k(1010, 1700, TARE_READ, 5),
	};
	struct tare_record r[] = {
		rec(1100, TARE_READ, 40, 4096),
		rec(1200, TARE_READ, 40, 4096),
	};
	struct join join;

	(void)state;
	assert_int_equal(join_run(&join, io, N(io), r, N(r), &disk), 0);
	assert_int_equal(join.unmatched, 0);
	assert_int_equal(join.ambiguous, 1);
	assert_ptr_equal(join.rec[0], &r[0]);
	assert_ptr_equal(join.rec[1], &r[1]);
	join_free(&join);
}

static void test_merged_request(void **state)
{
	struct io io[] = {
		io4k(1000, 1600, TARE_READ, 5),
		io4k(1000, 1700, TARE_READ, 6),
	};
	struct tare_record both = rec(1100, TARE_READ, 40, 8192);
	struct join join;

	(void)state;
	assert_int_equal(join_run(&join, io, N(io), &both, 1, &disk), 0);
	assert_int_equal(join.unmatched, 0);
	assert_int_equal(join.data, 1);
	assert_int_equal(join.shared, 1);
	assert_int_equal(join.first[1], 1);
	assert_int_equal(join.first[2], 2);
	join_free(&join);
}

static void test_file_extents(void **state)
{
	struct fsmap map = { 0 };
	struct io io[] = {
		{ .enter = 1000, .exit = 1500, .op = TARE_WRITE,
		  .offset = 4096, .bytes = 8192 },	/* across two extents */
		{ .enter = 2000, .exit = 2500, .op = TARE_WRITE,
		  .offset = 65536, .bytes = 4096 },	/* in a hole */
	};
	struct tare_record r[] = {
		rec(1100, TARE_WRITE, 2056, 4096),
		rec(1300, TARE_WRITE, 800, 4096),
		rec(2100, TARE_WRITE, 128, 4096),
	};
	struct join join;

	(void)state;
	assert_int_equal(fsmap_add(&map, 0, 1048576, 8192), 0);
	assert_int_equal(fsmap_add(&map, 8192, 409600, 8192), 0);
	assert_int_equal(join_run(&join, io, N(io), r, N(r), &map), 0);
	assert_int_equal(join.wrong[0], 0);
	assert_int_equal(join.first[1], 2);
	assert_int_equal(join.wrong[1], JOIN_UNMAPPED | JOIN_MISSING);
	assert_int_equal(join.unmatched, 1);
	join_free(&join);
	fsmap_free(&map);
}

static void test_bad_stamps_and_failures(void **state)
{
	struct io io[] = {
		io4k(1000, 1200, TARE_READ, 7),
		io4k(1300, 1500, TARE_READ, 8),
		io4k(1600, 1800, TARE_READ, 9),
	};
	struct tare_record r[] = {
		rec(1050, TARE_READ, 56, 4096),
		rec(1350, TARE_READ, 64, 4096),
		rec(1650, TARE_READ, 72, 4096),
	};
	struct join join;

	(void)state;
	r[0].due = r[0].fire + 1;
	r[1].error = EIO;
	io[2].error = EIO;
	assert_int_equal(join_run(&join, io, N(io), r, N(r), &disk), 0);
	assert_int_equal(join.wrong[0], JOIN_STAMPS);
	assert_int_equal(join.wrong[1], JOIN_FAILED);
	assert_int_equal(join.wrong[2], JOIN_FAILED);
	assert_int_equal(join.not_monotonic, 1);
	assert_int_equal(join.failed, 2);
	assert_int_equal(join.unmatched, 0);
	join_free(&join);
}

static void test_order_is_demanded(void **state)
{
	struct io io[] = {
		io4k(1300, 1500, TARE_READ, 8),
		io4k(1000, 1200, TARE_READ, 7),
	};
	struct tare_record r[] = {
		rec(1350, TARE_READ, 64, 4096),
		rec(1050, TARE_READ, 56, 4096),
	};
	struct join join;

	(void)state;
	assert_int_equal(join_run(&join, io, 2, r, 0, &disk), -EINVAL);
	assert_int_equal(join_run(&join, io, 1, r, 2, &disk), -EINVAL);
	assert_int_equal(join_run(&join, io, 0, r, 1, &disk), 0);
	assert_int_equal(join.n, 0);
	join_free(&join);
}

static uint64_t next(uint64_t *seed, uint64_t below)
{
	*seed ^= *seed << 13;
	*seed ^= *seed >> 7;
	*seed ^= *seed << 17;
	return *seed % below;
}

/* Random I/Os, each split at random: all are found, and their rows add up. */
static void test_random_runs_add_up(void **state)
{
	uint64_t seed = 0x2545f4914f6cdd1dull;
	struct sweep_scratch scratch = { 0 };

	(void)state;
	for (int round = 0; round < 100; round++) {
		struct io io[40];
		struct tare_record r[160];
		size_t m = 0;
		uint64_t t = 1000;
		struct join join;

		for (size_t i = 0; i < N(io); i++) {
			uint32_t sectors = 8 + 8 * next(&seed, 4);
			uint64_t block = next(&seed, 1000) * 40;

			io[i] = (struct io){ .enter = t, .op = TARE_READ,
					     .offset = block * 512,
					     .bytes = sectors * 512 };
			t += next(&seed, 50);
			for (uint32_t s = 0; s < sectors; s += 8) {
				r[m++] = rec(t, TARE_READ, block + s, 4096);
				t += next(&seed, 200);
			}
			t += 110;
			io[i].exit = t;
		}
		assert_int_equal(join_run(&join, io, N(io), r, m, &disk), 0);
		assert_int_equal(join.unmatched, 0);
		assert_int_equal(join.data, m);
		for (size_t i = 0; i < N(io); i++) {
			struct io_cut cut;

			assert_int_equal(sweep_cut(io[i].enter, io[i].exit,
						   join.rec + join.first[i],
						   join.first[i + 1] -
							   join.first[i],
						   &scratch, &cut), 0);
			assert_int_equal(cut.gross, io[i].exit - io[i].enter);
		}
		join_free(&join);
	}
	sweep_scratch_free(&scratch);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_one_in_flight),
		cmocka_unit_test(test_wrong_joins_are_refused),
		cmocka_unit_test(test_short_request_is_missing_bytes),
		cmocka_unit_test(test_doubled_requests),
		cmocka_unit_test(test_split),
		cmocka_unit_test(test_helpers_of_a_durable_io),
		cmocka_unit_test(test_many_in_flight),
		cmocka_unit_test(test_same_block_twice_in_flight),
		cmocka_unit_test(test_merged_request),
		cmocka_unit_test(test_file_extents),
		cmocka_unit_test(test_bad_stamps_and_failures),
		cmocka_unit_test(test_order_is_demanded),
		cmocka_unit_test(test_random_runs_add_up),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

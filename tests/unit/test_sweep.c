// SPDX-License-Identifier: GPL-2.0-only
/* The cut of one I/O into rows, against cases worked out by hand. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "sweep.h"

#include <errno.h>
#include <string.h>

#define CUT(enter, exit, recs, cut) \
	cut_array(enter, exit, recs, sizeof(recs) / sizeof((recs)[0]), cut)

static int cut_array(uint64_t enter, uint64_t exit,
		     const struct tare_record *recs, size_t n,
		     struct io_cut *cut)
{
	const struct tare_record *list[64];
	struct sweep_scratch scratch = { 0 };
	int err;

	assert_true(n <= 64);
	for (size_t i = 0; i < n; i++)
		list[i] = &recs[i];
	err = sweep_cut(enter, exit, list, n, &scratch, cut);
	sweep_scratch_free(&scratch);
	return err;
}

/* The stamps of a request in the order of DESIGN section 1. */
static struct tare_record request(uint64_t issue, uint64_t start, uint64_t due,
				  uint64_t ready, uint64_t fire, uint64_t done,
				  uint64_t cmpl, uint64_t end)
{
	return (struct tare_record){
		.issue = issue, .start = start, .due = due, .ready = ready,
		.fire = fire, .done = done, .cmpl = cmpl, .end = end,
	};
}

static void expect(const struct io_cut *cut, uint64_t submit, uint64_t start,
		   uint64_t device, uint64_t delivery, uint64_t driver,
		   uint64_t signal, uint64_t between, uint64_t complete)
{
	assert_int_equal(cut->row[IO_SUBMIT], submit);
	assert_int_equal(cut->row[IO_START], start);
	assert_int_equal(cut->row[IO_DEVICE], device);
	assert_int_equal(cut->row[IO_DELIVERY], delivery);
	assert_int_equal(cut->row[IO_DRIVER], driver);
	assert_int_equal(cut->row[IO_SIGNAL], signal);
	assert_int_equal(cut->row[IO_BETWEEN], between);
	assert_int_equal(cut->row[IO_COMPLETE], complete);
	assert_int_equal(cut->net,
			 submit + start + signal + between + complete);
	assert_int_equal(cut->gross, submit + start + device + delivery +
					     driver + signal + between +
					     complete);
}

static void test_one_request(void **state)
{
	struct tare_record r[] = {
		request(1100, 1110, 2110, 1130, 2150, 2157, 2160, 2165),
	};
	struct io_cut cut;

	(void)state;
	assert_int_equal(CUT(1000, 2400, r, &cut), 0);
	/* driver: fire -> done 7, cmpl -> end 5 */
	expect(&cut, 100, 10, 1000, 40, 12, 3, 0, 235);
}

static void test_copy_longer_than_service(void **state)
{
	/* due at 1200, the copy is ready at 1500: 300 of it are the driver's */
	struct tare_record r[] = {
		request(1100, 1100, 1200, 1500, 1510, 1510, 1510, 1520),
	};
	struct io_cut cut;

	(void)state;
	assert_int_equal(CUT(1000, 1600, r, &cut), 0);
	expect(&cut, 100, 0, 100, 10, 310, 0, 0, 80);
}

static void test_inline_without_latency(void **state)
{
	/* every stamp of the driver the same: the marks alone must part it */
	struct tare_record r[] = {
		request(50, 50, 50, 50, 50, 50, 50, 50),
	};
	struct io_cut cut;

	(void)state;
	assert_int_equal(CUT(0, 70, r, &cut), 0);
	expect(&cut, 50, 0, 0, 0, 0, 0, 0, 20);
}

static void test_split_read_in_series(void **state)
{
	struct tare_record r[] = {
		request(500, 510, 600, 515, 600, 605, 605, 610),
		request(100, 110, 200, 115, 200, 205, 205, 210),
	};
	struct io_cut cut;

	(void)state;
	assert_int_equal(CUT(0, 700, r, &cut), 0);
	/* between the end at 210 and the issue at 500 */
	expect(&cut, 100, 20, 180, 0, 20, 0, 290, 90);
}

static void test_split_read_in_parallel(void **state)
{
	/* The second is sent while the first is served: its start costs nothing. */
	struct tare_record r[] = {
		request(100, 110, 1110, 120, 1130, 1135, 1140, 1150),
		request(150, 160, 1160, 170, 1170, 1175, 1180, 1190),
	};
	struct io_cut cut;

	(void)state;
	assert_int_equal(CUT(0, 1300, r, &cut), 0);
	/*
	 * device 110 … 1160; of the first one's end only nothing is left, since
	 * the second's device covers it; 1160 … 1170 delivery, 1170 … 1175 and
	 * 1180 … 1190 driver, 1175 … 1180 signal.
	 */
	expect(&cut, 100, 10, 1050, 10, 15, 5, 0, 110);
}

static void test_data_journal_flush(void **state)
{
	struct tare_record r[] = {
		request(1000, 1010, 2010, 1020, 2020, 2030, 2040, 2050),
		request(3000, 3010, 4010, 3020, 4030, 4040, 4050, 4060),
		request(5000, 5010, 6010, 5020, 6040, 6050, 6060, 6070),
	};
	struct io_cut cut;

	(void)state;
	assert_int_equal(CUT(0, 7000, r, &cut), 0);
	/* between: 2050 … 3000 and 4060 … 5000 */
	expect(&cut, 1000, 30, 3000, 10 + 20 + 30, 3 * 20, 3 * 10, 950 + 940,
	       930);
}

static void test_precedence(void **state)
{
	/*
	 * The first is in delivery 200 … 300 while the second starts 210 … 230
	 * and is served 230 … 260: its device beats delivery, which beats start.
	 */
	struct tare_record r[] = {
		request(100, 110, 200, 120, 300, 310, 320, 330),
		request(210, 230, 260, 235, 290, 315, 325, 340),
	};
	struct io_cut cut;

	(void)state;
	assert_int_equal(CUT(0, 400, r, &cut), 0);
	/*
	 * device 110…200, 230…260; delivery 200…230, 260…300;
	 * driver 300…315 (the second's fire -> done), 320…340
	 * signal 315…320
	 */
	expect(&cut, 100, 10, 120, 70, 35, 5, 0, 60);
}

static void test_under_anothers_device(void **state)
{
	/* A flush done wholly while the data request is served leaves no trace. */
	struct tare_record r[] = {
		request(100, 110, 1000, 120, 1000, 1000, 1000, 1010),
		request(300, 310, 400, 320, 410, 420, 430, 440),
	};
	struct io_cut cut;

	(void)state;
	assert_int_equal(CUT(0, 1100, r, &cut), 0);
	expect(&cut, 100, 10, 890, 0, 10, 0, 0, 90);
}

static void test_cut_off_at_the_window(void **state)
{
	struct tare_record r[] = {
		request(50, 60, 200, 70, 260, 270, 280, 290),
	};
	struct io_cut cut;

	(void)state;
	assert_int_equal(CUT(100, 250, r, &cut), 0);
	expect(&cut, 0, 0, 100, 50, 0, 0, 0, 0);
}

static void test_no_request(void **state)
{
	struct sweep_scratch scratch = { 0 };
	struct io_cut cut;

	(void)state;
	assert_int_equal(sweep_cut(10, 90, NULL, 0, &scratch, &cut), 0);
	expect(&cut, 80, 0, 0, 0, 0, 0, 0, 0);
	assert_int_equal(sweep_cut(10, 10, NULL, 0, &scratch, &cut), 0);
	assert_int_equal(cut.gross, 0);
	sweep_scratch_free(&scratch);
}

static void test_impossible_stamps_are_refused(void **state)
{
	const struct tare_record good =
		request(10, 20, 30, 25, 40, 50, 60, 70);
	struct io_cut cut;

	(void)state;
	assert_int_equal(sweep_check(&good), 0);
	/* Bring each stamp, in turn, before the one that precedes it. */
	for (size_t i = 1; i < 8; i++) {
		static const uint64_t before[] = { 0, 9, 19, 19, 29, 39, 49, 59 };
		struct tare_record bad = good;

		(&bad.issue)[i] = before[i];
		assert_int_equal(sweep_check(&bad), -EINVAL);
		assert_int_equal(cut_array(0, 100, &bad, 1, &cut), -EINVAL);
	}
	/* due after fire: a completion before the device was finished */
	struct tare_record early = good;

	early.due = 41;
	assert_int_equal(cut_array(0, 100, &early, 1, &cut), -EINVAL);
	assert_int_equal(cut_array(100, 0, &good, 1, &cut), -EINVAL);
}

static uint64_t next(uint64_t *seed, uint64_t below)
{
	*seed ^= *seed << 13;
	*seed ^= *seed >> 7;
	*seed ^= *seed << 17;
	return *seed % below;
}

static struct tare_record random_request(uint64_t *seed)
{
	struct tare_record r = { 0 };

	r.issue = next(seed, 5000);
	r.start = r.issue + next(seed, 30);
	r.due = r.start + next(seed, 400);
	r.ready = r.start + next(seed, 400);
	r.fire = (r.due > r.ready ? r.due : r.ready) + next(seed, 60);
	r.done = r.fire + next(seed, 20);
	r.cmpl = r.done + next(seed, 20);
	r.end = r.cmpl + next(seed, 20);
	return r;
}

/* What covers the cycle that begins at t: the definition, not the algorithm. */
static enum io_row slow_owner(const struct tare_record *r, size_t n,
			      uint64_t t)
{
	uint64_t first = UINT64_MAX, last = 0;
	int found[IO_NR_ROWS] = { 0 };

	for (size_t i = 0; i < n; i++) {
		uint64_t served = r[i].due > r[i].ready ? r[i].due : r[i].ready;

		first = r[i].issue < first ? r[i].issue : first;
		last = r[i].end > last ? r[i].end : last;
		found[IO_DEVICE] |= t >= r[i].start && t < r[i].due;
		found[IO_DELIVERY] |= t >= served && t < r[i].fire;
		found[IO_DRIVER] |= (t >= r[i].due && t < served) ||
				    (t >= r[i].fire && t < r[i].done) ||
				    (t >= r[i].cmpl && t < r[i].end);
		found[IO_START] |= t >= r[i].issue && t < r[i].start;
		found[IO_SIGNAL] |= t >= r[i].done && t < r[i].cmpl;
	}
	if (found[IO_DEVICE])
		return IO_DEVICE;
	if (found[IO_DELIVERY])
		return IO_DELIVERY;
	if (found[IO_DRIVER])
		return IO_DRIVER;
	if (found[IO_START])
		return IO_START;
	if (found[IO_SIGNAL])
		return IO_SIGNAL;
	if (t < first)
		return IO_SUBMIT;
	return t < last ? IO_BETWEEN : IO_COMPLETE;
}

/* Random requests: every cycle where the definition puts it, sums exact. */
static void test_agrees_with_the_definition(void **state)
{
	uint64_t seed = 0x9e3779b97f4a7c15ull;

	(void)state;
	for (int round = 0; round < 300; round++) {
		struct tare_record r[64];
		uint64_t want[IO_NR_ROWS] = { 0 }, sum = 0;
		uint64_t enter = next(&seed, 2000);
		uint64_t exit = enter + next(&seed, 6000);
		size_t n = next(&seed, round % 8 ? 5 : 64);
		struct io_cut cut;

		for (size_t i = 0; i < n; i++)
			r[i] = random_request(&seed);
		for (uint64_t t = enter; n && t < exit; t++)
			want[slow_owner(r, n, t)]++;
		if (!n)
			want[IO_SUBMIT] = exit - enter;
		assert_int_equal(cut_array(enter, exit, r, n, &cut), 0);
		for (size_t i = 0; i < IO_NR_ROWS; i++) {
			assert_int_equal(cut.row[i], want[i]);
			sum += cut.row[i];
		}
		assert_int_equal(sum, exit - enter);
		assert_int_equal(cut.gross, exit - enter);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_one_request),
		cmocka_unit_test(test_copy_longer_than_service),
		cmocka_unit_test(test_inline_without_latency),
		cmocka_unit_test(test_split_read_in_series),
		cmocka_unit_test(test_split_read_in_parallel),
		cmocka_unit_test(test_data_journal_flush),
		cmocka_unit_test(test_precedence),
		cmocka_unit_test(test_under_anothers_device),
		cmocka_unit_test(test_cut_off_at_the_window),
		cmocka_unit_test(test_no_request),
		cmocka_unit_test(test_impossible_stamps_are_refused),
		cmocka_unit_test(test_agrees_with_the_definition),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

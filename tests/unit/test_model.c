// SPDX-License-Identifier: GPL-2.0-only
/*
 * The driver's model.c, compiled for the host: a service time is never too
 * short, and a timer set from the counter never too early; channels, arm and
 * tail do what their attributes say.
 */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <math.h>

#include "model.h"
#include "quantile.h"

static struct tare_quantiles quantiles;

/* Clocks that there are: exact lab, old and new PCs, a slow generic counter. */
static const u32 clocks_khz[] = {
	1000000, 2500000, 2599993, 2893202, 4700123, 24000, 62500, 1, 16777215,
};

#define FOR_EACH(p, array) \
	for (p = array; p < array + sizeof(array) / sizeof(array[0]); p++)

static void test_ns_to_tsc_known(void **state)
{
	(void)state;
	assert_int_equal(tare_ns_to_tsc(0, 2500000), 0);
	assert_int_equal(tare_ns_to_tsc(40000, 1000000), 40000);
	/* Source text 000: 102207 cycles at 2.5 GHz are 40883 ns. */
	assert_int_equal(tare_ns_to_tsc(40883, 2500000), 102208);
	assert_int_equal(tare_ns_to_tsc(3224, 3000000), 9672);
	assert_int_equal(tare_ns_to_tsc(10000000000, 2500000), 25000000000);
	/* Rounds up: a third of a tick is a tick. */
	assert_int_equal(tare_ns_to_tsc(1, 333333), 1);
}

static void test_ns_to_tsc_never_short(void **state)
{
	const u32 *khz;

	(void)state;
	FOR_EACH(khz, clocks_khz) {
		for (u64 ns = 0; ns < 20000000000ULL; ns = ns * 3 + 7) {
			u64 tsc = tare_ns_to_tsc(ns, *khz);
			unsigned __int128 want = (unsigned __int128)ns * *khz;

			/* tsc is the smallest that lasts at least ns. */
			assert_true((unsigned __int128)tsc * 1000000 >= want);
			assert_true(tsc == 0 || (unsigned __int128)(tsc - 1) *
				    1000000 < want);
		}
	}
}

static void test_tsc_to_ns_never_early(void **state)
{
	const u32 *khz;

	(void)state;
	FOR_EACH(khz, clocks_khz) {
		struct tare_scale scale = tare_scale_make(*khz);

		for (u64 tsc = 0; tsc < 100000000000ULL; tsc = tsc * 3 + 11) {
			u64 ns = tare_tsc_to_ns(scale, tsc);
			unsigned __int128 exact = (unsigned __int128)tsc *
						  1000000 / *khz;

			assert_true(ns > exact);
			/* At most 2 ns and one part in 2^30 late. */
			assert_true(ns <= exact + 2 + (exact >> 30));
		}
	}
}

static struct tare_model_conf plain(void)
{
	return (struct tare_model_conf) {
		.read_ns = 100, .write_ns = 200, .flush_ns = 1000,
		.discard_ns = 50, .size_mb = 1024, .max_sectors_kb = 1280,
		.spread_pct = 10, .pareto_alpha_pct = 250,
		.write_cache = true, .fua = true,
	};
}

static void test_model_set(void **state)
{
	struct tare_model_conf conf = plain();
	struct tare_model model = { 0 };

	(void)state;
	tare_model_set(&model, &conf, 2000000);
	assert_int_equal(model.service_tsc[TARE_READ], 200);
	assert_int_equal(model.service_tsc[TARE_WRITE], 400);
	assert_int_equal(model.service_tsc[TARE_FLUSH], 2000);
	assert_int_equal(model.service_tsc[TARE_DISCARD], 100);
	assert_int_equal(model.service_tsc[TARE_WRITE_ZEROES], 100);
	assert_int_equal(model.service_tsc[TARE_SERVICE_WRITE_FUA], 2400);
	assert_false(model.shaped);
}

/* The hot path stays as it is unless one of these is used. */
static void test_shaped(void **state)
{
	struct tare_model_conf conf;
	struct tare_model model = { 0 };

	(void)state;
#define SHAPES(...)						\
	do {							\
		conf = plain();					\
		__VA_ARGS__;					\
		tare_model_set(&model, &conf, 1000000);		\
	} while (0)
	SHAPES(conf.read_ns_per_kb = 1);
	assert_true(model.shaped && !model.shared && !model.spread);
	SHAPES(conf.write_ns_per_kb = 1);
	assert_true(model.shaped && !model.shared && !model.spread);
	SHAPES(conf.distribution = TARE_PARETO);
	assert_true(model.shaped && !model.shared && model.spread);
	SHAPES(conf.tail_ppm = 1, conf.tail_ns = 1);
	assert_true(model.shaped && !model.shared && !model.spread);
	SHAPES(conf.tail_ns = 1);
	assert_false(model.shaped);
	SHAPES(conf.channels = 1);
	assert_true(model.shaped && model.shared && !model.arm);
	SHAPES(conf.seek_ns = 1);
	assert_true(model.shaped && model.shared);
	assert_int_equal(model.arm, 1 << TARE_READ | 1 << TARE_SERVICE_WRITE_FUA);
	SHAPES(conf.rpm = 7200, conf.write_cache = false);
	assert_true(model.shaped && model.shared);
	assert_int_equal(model.arm, 1 << TARE_READ | 1 << TARE_WRITE |
				    1 << TARE_SERVICE_WRITE_FUA);
#undef SHAPES
}

static u64 drawn(const struct tare_model *model, u8 service, u32 sectors,
		 u64 random)
{
	struct tare_work work = { .service = service, .sectors = sectors };

	tare_model_draw(model, &quantiles, random, &work);
	return work.before + work.after;
}

/* A KiB has its price in both directions, half of it a sector. */
static void test_transfer(void **state)
{
	struct tare_model_conf conf = plain();
	struct tare_model model = { 0 };
	const u32 *khz;

	(void)state;
	conf.read_ns_per_kb = 1000;
	conf.write_ns_per_kb = 501;
	tare_model_set(&model, &conf, 1000000);
	assert_int_equal(drawn(&model, TARE_READ, 256, 0), 100 + 128000);
	assert_int_equal(drawn(&model, TARE_READ, 1, 0), 100 + 500);
	assert_int_equal(drawn(&model, TARE_WRITE, 2, 0), 200 + 501);
	assert_int_equal(drawn(&model, TARE_WRITE, 1, 0), 200 + 251);
	assert_int_equal(drawn(&model, TARE_SERVICE_WRITE_FUA, 2, 0),
			 1200 + 501);
	assert_int_equal(drawn(&model, TARE_DISCARD, 4096, 0), 50);
	assert_int_equal(drawn(&model, TARE_FLUSH, 0, 0), 1000);
	FOR_EACH(khz, clocks_khz) {
		conf.read_ns_per_kb = 977;
		tare_model_set(&model, &conf, *khz);
		for (u32 sectors = 1; sectors <= 65536; sectors *= 2) {
			u64 base = tare_ns_to_tsc(100, *khz);
			u64 got = drawn(&model, TARE_READ, sectors, 0) - base;
			unsigned __int128 want = (unsigned __int128)977 *
						 sectors * *khz;

			/* Never short, and by less than two ticks too long. */
			assert_true((unsigned __int128)got * 2000000 >= want);
			assert_true((unsigned __int128)got * 2000000 <
				    want + 2 * 2000000);
		}
	}
}

static void test_tail(void **state)
{
	struct tare_model_conf conf = plain();
	struct tare_model model = { 0 };
	static const u32 ppm[] = { 0, 1, 1000, 10000, 500000, 999999, 1000000 };
	const u32 *p;

	(void)state;
	conf.tail_ns = 5000;
	FOR_EACH(p, ppm) {
		u64 at = tare_stream_start(1, 0), n = 1 << 22, tail = 0;
		double want = n * (*p / 1e6);

		conf.tail_ppm = *p;
		tare_model_set(&model, &conf, 1000000);
		for (u64 i = 0; i < n; i++) {
			u64 t = drawn(&model, TARE_READ, 8,
				      tare_random(at += TARE_STREAM_STEP));

			assert_true(t == 100 || t == 5100);
			tail += t == 5100;
		}
		/* Four sigma of a binomial. */
		assert_true(fabs(tail - want) <=
			    4 * sqrt(want * (1 - *p / 1e6)) + 0.5);
	}
}

/* Who has a long service time is no likelier to have a tail. */
static void test_tail_independent(void **state)
{
	struct tare_model_conf conf = plain();
	struct tare_model model = { 0 };
	struct tare_spread spread = { TARE_UNIFORM, 50, 250 };
	u64 at = tare_stream_start(3, 0), long_ones = 0, tail = 0;

	(void)state;
	conf.read_ns = 1000;
	conf.distribution = TARE_UNIFORM;
	conf.tail_ns = 5000;
	conf.tail_ppm = 100000;
	tare_quantiles_make(&quantiles, &spread);
	tare_model_set(&model, &conf, 1000000);
	for (int i = 0; i < 1 << 20; i++) {
		u64 t = drawn(&model, TARE_READ, 8,
			      tare_random(at += TARE_STREAM_STEP));

		tail += t >= 5000;
		long_ones += t >= 6000;
	}
	/* Half of some 104858, sigma 162. */
	assert_true(fabs(tail / 2.0 - long_ones) < 4 * 162);
}

static void test_repeatable(void **state)
{
	static u64 first[1000];
	u64 at = tare_stream_start(42, 3);

	(void)state;
	for (int i = 0; i < 1000; i++)
		first[i] = tare_random(at += TARE_STREAM_STEP);
	at = tare_stream_start(42, 3);
	for (int i = 0; i < 1000; i++)
		assert_true(first[i] == tare_random(at += TARE_STREAM_STEP));
}

/* Streams of other CPUs and other seeds: no common number, no correlation. */
static void test_independent(void **state)
{
	static const struct { u64 seed; u32 cpu; } others[] = {
		{ 1, 1 }, { 1, 2 }, { 1, 1023 }, { 2, 0 }, { 0, 0 },
		{ 4294967295, 0 }, { 0, 1 }, { 2, 1 },
	};
	const u64 n = 1 << 20;

	(void)state;
	for (size_t k = 0; k < sizeof(others) / sizeof(others[0]); k++) {
		u64 a = tare_stream_start(1, 0), same = 0;
		u64 b = tare_stream_start(others[k].seed, others[k].cpu);
		double sum = 0;

		for (u64 i = 0; i < n; i++) {
			u64 x = tare_random(a += TARE_STREAM_STEP);
			u64 y = tare_random(b += TARE_STREAM_STEP);

			same += x == y;
			sum += ((double)(x >> 11) / (1ULL << 53) - 0.5) *
			       ((double)(y >> 11) / (1ULL << 53) - 0.5);
		}
		assert_int_equal(same, 0);
		/* Its sigma is 1 / sqrt(n). */
		assert_true(fabs(sum / n * 12) < 4 / sqrt(n));
	}
}

/* ---- channels ---- */

static struct tare_queue queue, other;

/* The same with a look at every channel. */
static u64 brute_due(u64 *free, u32 channels, u64 start, u64 service)
{
	u32 first = 0;

	for (u32 i = 1; i < channels; i++)
		if (free[i] < free[first])
			first = i;
	free[first] = (free[first] > start ? free[first] : start) + service;
	return free[first];
}

static void check_channels(u32 channels, u32 gap)
{
	struct tare_model model = { .max_tsc = 60000000000 };
	u64 free[TARE_CHANNELS_MAX] = { 0 };
	u64 now = 1000000, at = tare_stream_start(channels, gap);

	tare_queue_init(&queue, channels);
	for (int i = 0; i < 30000; i++) {
		u64 random = tare_random(at += TARE_STREAM_STEP);
		struct tare_work work = {
			.before = random % 1000, .after = random >> 32 & 0xff,
		};
		u64 due;

		now += (random >> 40) % gap;
		/* CPUs come to the lock out of order, a little. */
		work.start = now - (random >> 20) % 16;
		due = tare_queue_due(&queue, &model, &work);
		assert_true(due == brute_due(free, channels, work.start,
					     work.before + work.after));
		assert_true(due >= work.start + work.before + work.after);
	}
}

static void test_channels(void **state)
{
	static const u32 channels[] = { 1, 2, 3, 7, 8, 64, 255, 256 };
	static const u32 gaps[] = { 1, 3, 20, 100, 2000 };
	const u32 *c, *gap;

	(void)state;
	FOR_EACH(c, channels)
		FOR_EACH(gap, gaps)
			check_channels(*c, *gap);
}

/* Eight at a time: the ninth waits for the first. */
static void test_saturation(void **state)
{
	struct tare_model model = { .max_tsc = 60000000000 };
	struct tare_work work = { .start = 5000, .before = 400 };

	(void)state;
	tare_queue_init(&queue, 8);
	for (int i = 0; i < 64; i++)
		assert_int_equal(tare_queue_due(&queue, &model, &work),
				 5000 + 400 * (i / 8 + 1));
	work.start = 1000000;
	assert_int_equal(tare_queue_due(&queue, &model, &work), 1000400);
	/* Without channels nobody waits. */
	tare_queue_init(&queue, 0);
	for (int i = 0; i < 64; i++)
		assert_int_equal(tare_queue_due(&queue, &model, &work), 1000400);
}

/* A counter that begins anew must not keep requests for ever. */
static void test_counter_back(void **state)
{
	struct tare_model model = { .max_tsc = 60000000000 };
	struct tare_work work = { .start = 1ULL << 50, .before = 400 };

	(void)state;
	tare_queue_init(&queue, 1);
	tare_queue_due(&queue, &model, &work);
	work.start -= 10;	/* two CPUs, a little apart */
	assert_int_equal(tare_queue_due(&queue, &model, &work),
			 (1ULL << 50) + 800);
	work.start = 1000;
	assert_int_equal(tare_queue_due(&queue, &model, &work), 1400);
}

/* ---- the arm ---- */

static u64 seek_to(const struct tare_model *model, u64 from, u64 to)
{
	struct tare_work work = { .sectors = 8, .sector = to };

	tare_queue_init(&other, 0);
	other.track = from >> TARE_TRACK_SHIFT;
	return tare_queue_due(&other, model, &work);
}

static void test_seek(void **state)
{
	static const u32 sizes[] = { 1, 2, 3, 1000, 1024, 1048576, 1073741824 };
	struct tare_model_conf conf = plain();
	struct tare_model model = { 0 };
	const u32 *size;

	(void)state;
	conf.seek_ns = 16000000;
	FOR_EACH(size, sizes) {
		u64 last = 0, sectors = (u64)*size << TARE_TRACK_SHIFT;

		conf.size_mb = *size;
		tare_model_set(&model, &conf, 1000000);
		assert_int_equal(seek_to(&model, 0, 0), 0);
		assert_int_equal(seek_to(&model, 0, 2047), 0);
		for (u64 to = 1; to < sectors; to += 1 + to / 64) {
			u64 t = seek_to(&model, 0, to);
			double part = (double)(to >> 11) / *size;

			assert_true(t >= last && t <= 16000000);
			assert_true(fabs(t - 16e6 * sqrt(part)) <= 16e6 / 60000);
			assert_true(t == seek_to(&model, to, 0));
			last = t;
		}
	}
}

/* The arm goes from where it stands; a write that the cache takes leaves it. */
static void test_arm_moves(void **state)
{
	struct tare_model_conf conf = plain();
	struct tare_model model = { 0 };
	struct tare_work half = { .sector = 512 << 11, .sectors = 2048 };
	struct tare_work back = { .sector = 512 << 11, .sectors = 8 };
	struct tare_work cached = { .sectors = 8, .service = TARE_WRITE };

	(void)state;
	conf.seek_ns = 16000000;
	tare_model_set(&model, &conf, 1000000);
	tare_queue_init(&queue, 0);
	assert_int_equal(tare_queue_due(&queue, &model, &half),
			 16000000ULL * 46340 / 65536);
	assert_int_equal(queue.track, 513);
	assert_int_equal(tare_queue_due(&queue, &model, &cached), 0);
	assert_int_equal(queue.track, 513);
	/* One track of 1024: a thirty-second of the whole way. */
	assert_int_equal(tare_queue_due(&queue, &model, &back), 500000);
	assert_int_equal(tare_queue_due(&queue, &model, &back), 0);
	cached.service = TARE_SERVICE_WRITE_FUA;
	assert_int_equal(tare_queue_due(&queue, &model, &cached),
			 16000000ULL * 46340 / 65536);
	assert_int_equal(queue.track, 0);
}

/* Less than a turn, and then the sector is there. */
static void test_rotation(void **state)
{
	static const u32 rpm[] = { 1, 60, 5400, 7200, 15000, 30000 };
	struct tare_model_conf conf = plain();
	struct tare_model model = { 0 };
	u64 at = tare_stream_start(9, 9);
	const u32 *khz, *r;

	(void)state;
	FOR_EACH(khz, clocks_khz) FOR_EACH(r, rpm) {
		double sum = 0;
		u64 turn;

		conf.rpm = *r;
		tare_model_set(&model, &conf, *khz);
		turn = model.turn_tsc;
		assert_true(turn == tare_ns_to_tsc(60000000000 / *r, *khz));
		for (int i = 0; i < 20000; i++) {
			u64 random = tare_random(at += TARE_STREAM_STEP);
			struct tare_work work = {
				.start = random >> 4,
				.sector = random & 0xffffffff, .sectors = 8,
			};
			u64 due, left;

			tare_queue_init(&queue, 0);
			due = tare_queue_due(&queue, &model, &work);
			assert_true(due - work.start < turn);
			sum += due - work.start;
			/* Off by less than a sector, or by the last tick. */
			left = (work.sector << 53) - due * model.turn_inverse;
			assert_true(turn < 16 || left + (1ULL << 53) <
				    (1ULL << 53) + 2 * model.turn_inverse +
				    2 * turn);
		}
		/* Half a turn in the mean. */
		if (turn > 1000)
			assert_true(fabs(sum / 20000 / turn - 0.5) < 0.01);
	}
}

/* Who reads on at the speed of the medium waits once. */
static void test_sequential(void **state)
{
	struct tare_model_conf conf = plain();
	struct tare_model model = { 0 };
	struct tare_work work = { .start = 123456789, .sectors = 256 };

	(void)state;
	conf.read_ns = 0;
	conf.read_ns_per_kb = 60000000000 / 7200 / 1024;
	conf.rpm = 7200;
	conf.seek_ns = 0;
	conf.channels = 1;
	tare_model_set(&model, &conf, 2893202);
	tare_queue_init(&queue, 1);
	for (int i = 0; i < 8000; i++) {
		u64 due, before = queue.free[0];

		tare_model_draw(&model, &quantiles, 0, &work);
		due = tare_queue_due(&queue, &model, &work);
		if (i)
			assert_true(due - before < work.after + model.turn_tsc / 1000);
		work.sector += work.sectors;
	}
}

/* ---- the ends of all ranges at once ---- */

static void test_bounds(void **state)
{
	struct tare_model_conf conf = {
		.read_ns = 10000000000, .write_ns = 10000000000,
		.flush_ns = 10000000000, .discard_ns = 10000000000,
		.tail_ns = 10000000000, .seek_ns = 1000000000,
		.read_ns_per_kb = 1000000, .write_ns_per_kb = 1000000,
		.distribution = TARE_PARETO, .spread_pct = 200,
		.pareto_alpha_pct = 150, .tail_ppm = 1000000, .rpm = 1,
		.size_mb = 1073741824, .max_sectors_kb = 32768,
		.channels = 1, .write_cache = true, .fua = true,
	};
	struct tare_spread spread = { TARE_PARETO, 200, 150 };
	struct tare_model model = { 0 };
	struct tare_work work = {
		.start = 1ULL << 62, .sectors = 65536,
		.sector = (1ULL << 41) - 65536,
		.service = TARE_SERVICE_WRITE_FUA,
	};
	const u32 *khz;

	(void)state;
	assert_true(tare_model_longest_ns(&conf) == 60000000000 + 32768000000 +
		    10000000000 + 1000000000 + 60000000000);
	tare_quantiles_make(&quantiles, &spread);
	FOR_EACH(khz, clocks_khz) {
		double ms = *khz;
		u64 due;

		tare_model_set(&model, &conf, *khz);
		tare_model_draw(&model, &quantiles, 1ULL << 63, &work);
		assert_true(work.before == (u64)*khz * 60000);
		assert_true(work.after >= 42768 * ms &&
			    work.after <= 42768 * ms + 2);
		tare_queue_init(&queue, 1);
		due = tare_queue_due(&queue, &model, &work) - work.start;
		assert_true(due >= work.before + work.after + 999.9 * ms);
		assert_true(due <= work.before + work.after + 61000 * ms);
		/* Without a distribution a FUA write takes its twenty seconds. */
		conf.distribution = TARE_FIXED;
		tare_model_set(&model, &conf, *khz);
		tare_model_draw(&model, &quantiles, 0, &work);
		assert_true(work.before == (u64)*khz * 20000);
		conf.distribution = TARE_PARETO;
	}
}

/* The largest factor times the base does not fit 64 bits: no short time of it. */
static void test_longest_does_not_wrap(void **state)
{
	struct tare_model_conf conf = plain();

	(void)state;
	conf.distribution = TARE_PARETO;
	conf.pareto_alpha_pct = 150;
	conf.read_ns = 4294967298;
	assert_true(tare_model_longest_ns(&conf) >= 60000000000);
}

static void test_longest(void **state)
{
	struct tare_model_conf conf = plain();

	(void)state;
	assert_int_equal(tare_model_longest_ns(&conf), 1200);
	conf.fua = false;
	assert_int_equal(tare_model_longest_ns(&conf), 1000);
	conf.read_ns_per_kb = 3;
	assert_int_equal(tare_model_longest_ns(&conf), 1000 + 3840);
	conf.tail_ns = 77;
	assert_int_equal(tare_model_longest_ns(&conf), 1000 + 3840);
	conf.tail_ppm = 1;
	assert_int_equal(tare_model_longest_ns(&conf), 1000 + 3840 + 77);
	conf.distribution = TARE_NORMAL;
	/* 6.338 sigma are 2^-33. */
	assert_int_equal(tare_model_longest_ns(&conf), 1633 + 3840 + 77);
	conf.rpm = 30000;
	conf.seek_ns = 1000;
	assert_int_equal(tare_model_longest_ns(&conf), 1633 + 3840 + 77 +
			 1000 + 2000000);
}

/* A link that is asked for more than it has runs at its rate, for any size. */
static void test_link(void **state)
{
	static const u32 sizes[] = { 512, 4096, 131072, 1 << 20, 32 << 20 };
	static const u32 rates[] = { 1, 3, 100, 2500, 65536 };
	const u32 *khz, *size, *rate;

	(void)state;
	FOR_EACH(khz, clocks_khz) {
		if (*khz < 1000000)
			continue;
		FOR_EACH(rate, rates) {
			struct tare_model_conf conf = plain();
			struct tare_model model = { 0 };

			conf.mbps = *rate;
			tare_model_set(&model, &conf, *khz);
			assert_true(model.shaped);
			FOR_EACH(size, sizes) {
				u64 free = 0, n = 10000;
				double want = (double)n * *size / (1 << 20) /
					      *rate * *khz * 1000;

				for (u64 i = 0; i < n; i++)
					free = tare_link_free(free, 17 + i,
							      model.link_tsc_per_mb,
							      *size);
				/* Never faster; a tick or two of rounding each. */
				assert_true((double)(free - 17) >= want * 0.999999);
				assert_true((double)(free - 17) <=
					    want * 1.0001 + 2.0 * (double)n);
			}
		}
	}
	/* Idle time is not saved up. */
	assert_int_equal(tare_link_free(100, 5000, 1 << 20, 10), 5010);
	assert_int_equal(tare_link_free(0, 0, 0, 4096), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_ns_to_tsc_known),
		cmocka_unit_test(test_ns_to_tsc_never_short),
		cmocka_unit_test(test_tsc_to_ns_never_early),
		cmocka_unit_test(test_model_set),
		cmocka_unit_test(test_shaped),
		cmocka_unit_test(test_transfer),
		cmocka_unit_test(test_tail),
		cmocka_unit_test(test_tail_independent),
		cmocka_unit_test(test_repeatable),
		cmocka_unit_test(test_independent),
		cmocka_unit_test(test_channels),
		cmocka_unit_test(test_saturation),
		cmocka_unit_test(test_counter_back),
		cmocka_unit_test(test_seek),
		cmocka_unit_test(test_arm_moves),
		cmocka_unit_test(test_rotation),
		cmocka_unit_test(test_sequential),
		cmocka_unit_test(test_bounds),
		cmocka_unit_test(test_longest),
		cmocka_unit_test(test_longest_does_not_wrap),
		cmocka_unit_test(test_link),
	};

	return cmocka_run_group_tests_name("model", tests, NULL, NULL);
}

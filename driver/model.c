// SPDX-License-Identifier: GPL-2.0-only
/*
 * Service time and clock arithmetic, see model.h.
 */
#include "model.h"
#include "quantile.h"

#ifdef __KERNEL__
#include <linux/compiler.h>
#else
#define READ_ONCE(x) __atomic_load_n(&(x), __ATOMIC_RELAXED)
#define WRITE_ONCE(x, v) __atomic_store_n(&(x), (v), __ATOMIC_RELAXED)
#endif

/* Fraction bits of the time that a sector takes. */
#define SECTOR_FRACTION	21
#define SECTOR_ROUND	((1ULL << SECTOR_FRACTION) - 1)

/**
 * tare_ns_to_tsc() - smallest number of tsc ticks that last at least @ns
 * @ns: duration, up to 2^44 ns (about five hours)
 * @tsc_khz: ticks per millisecond, 1 to 2^24
 */
u64 tare_ns_to_tsc(u64 ns, u32 tsc_khz)
{
	/* Split at a millisecond: the product of the rest stays below 2^64. */
	u64 ms = ns / 1000000;
	u64 rest = ns % 1000000;

	return ms * tsc_khz + (rest * tsc_khz + 999999) / 1000000;
}

/**
 * tare_scale_make() - multiplier and shift for tare_tsc_to_ns()
 * @tsc_khz: ticks per millisecond, 1 to 2^32 - 1
 *
 * The largest shift whose multiplier, rounded up, fits in 32 bits: relative
 * error below 2^-30, and never too short.
 */
struct tare_scale tare_scale_make(u32 tsc_khz)
{
	struct tare_scale scale = { .shift = 0 };
	u64 mult = 0;
	u32 shift;

	for (shift = 0; shift <= 43; shift++) {
		u64 next = ((1000000ULL << shift) + tsc_khz - 1) / tsc_khz;

		if (next >> 32)
			break;
		mult = next;
		scale.shift = shift;
	}
	scale.mult = mult;
	return scale;
}

static void set_services(struct tare_model *model,
			 const struct tare_model_conf *conf, u32 tsc_khz)
{
	u64 write = tare_ns_to_tsc(conf->write_ns, tsc_khz);
	u64 flush = tare_ns_to_tsc(conf->flush_ns, tsc_khz);
	u64 discard = tare_ns_to_tsc(conf->discard_ns, tsc_khz);

	WRITE_ONCE(model->service_tsc[TARE_READ],
		   tare_ns_to_tsc(conf->read_ns, tsc_khz));
	WRITE_ONCE(model->service_tsc[TARE_WRITE], write);
	WRITE_ONCE(model->service_tsc[TARE_FLUSH], flush);
	WRITE_ONCE(model->service_tsc[TARE_DISCARD], discard);
	WRITE_ONCE(model->service_tsc[TARE_WRITE_ZEROES], discard);
	/* Through the cache to the medium: both, one after the other. */
	WRITE_ONCE(model->service_tsc[TARE_SERVICE_WRITE_FUA], write + flush);
}

/* 2^-21 tsc for a sector, rounded up; exact where a tick is a nanosecond. */
static u64 sector_rate(u64 ns_per_kb, u32 tsc_khz)
{
	return tare_ns_to_tsc(ns_per_kb << (SECTOR_FRACTION - 1), tsc_khz);
}

static void set_transfer(struct tare_model *model,
			 const struct tare_model_conf *conf, u32 tsc_khz)
{
	u64 write = sector_rate(conf->write_ns_per_kb, tsc_khz);

	WRITE_ONCE(model->sector_q21[TARE_READ],
		   sector_rate(conf->read_ns_per_kb, tsc_khz));
	WRITE_ONCE(model->sector_q21[TARE_WRITE], write);
	WRITE_ONCE(model->sector_q21[TARE_SERVICE_WRITE_FUA], write);
}

static u64 turn_ns(const struct tare_model_conf *conf)
{
	return conf->rpm ? 60000000000ULL / conf->rpm : 0;
}

/* Reads go to the medium, and writes that no cache takes. */
static u32 arm_services(const struct tare_model_conf *conf)
{
	u32 arm = 1U << TARE_READ | 1U << TARE_SERVICE_WRITE_FUA;

	if (!conf->seek_ns && !conf->rpm)
		return 0;
	if (!conf->write_cache)
		arm |= 1U << TARE_WRITE;
	return arm;
}

static void set_arm(struct tare_model *model,
		    const struct tare_model_conf *conf, u32 tsc_khz)
{
	u64 turn = tare_ns_to_tsc(turn_ns(conf), tsc_khz);

	WRITE_ONCE(model->seek_tsc, tare_ns_to_tsc(conf->seek_ns, tsc_khz));
	WRITE_ONCE(model->stroke_inverse, (1ULL << 63) / conf->size_mb);
	WRITE_ONCE(model->turn_inverse, turn ? ~0ULL / turn : 0);
	WRITE_ONCE(model->turn_tsc, turn);
	WRITE_ONCE(model->arm, arm_services(conf));
}

/**
 * tare_model_set() - take over new service times
 * @model: in use by requests at the same time; each value changes at once
 * @conf: what the user asked for
 * @tsc_khz: ticks per millisecond
 */
void tare_model_set(struct tare_model *model,
		    const struct tare_model_conf *conf, u32 tsc_khz)
{
	bool spread = conf->distribution != TARE_FIXED;
	bool shared = conf->channels || arm_services(conf);

	set_services(model, conf, tsc_khz);
	set_transfer(model, conf, tsc_khz);
	set_arm(model, conf, tsc_khz);
	WRITE_ONCE(model->max_tsc, tare_ns_to_tsc(TARE_SERVICE_MAX_NS, tsc_khz));
	WRITE_ONCE(model->tail_tsc, tare_ns_to_tsc(conf->tail_ns, tsc_khz));
	WRITE_ONCE(model->tail_below, ((u64)conf->tail_ppm << 32) / 1000000);
	WRITE_ONCE(model->link_tsc_per_mb,
		   conf->mbps ? (tsc_khz * 1000ULL + conf->mbps - 1) / conf->mbps : 0);
	WRITE_ONCE(model->spread, spread);
	WRITE_ONCE(model->shared, shared);
	WRITE_ONCE(model->shaped, spread || shared || conf->mbps ||
		   conf->read_ns_per_kb ||
		   conf->write_ns_per_kb || (conf->tail_ns && conf->tail_ppm));
}

static u64 max_u64(u64 a, u64 b)
{
	return a > b ? a : b;
}

static u64 longest_base_ns(const struct tare_model_conf *conf)
{
	u64 ns = max_u64(max_u64(conf->read_ns, conf->write_ns),
			 max_u64(conf->flush_ns, conf->discard_ns));

	/* A FUA write takes both. */
	if (conf->write_cache && conf->fua)
		ns = max_u64(ns, conf->write_ns + conf->flush_ns);
	return ns;
}

/**
 * tare_model_longest_ns() - the longest time that one request can take
 * @conf: what the user asked for
 *
 * Waiting for a channel is not in it.
 */
u64 tare_model_longest_ns(const struct tare_model_conf *conf)
{
	const struct tare_spread spread = {
		.distribution = conf->distribution,
		.spread_pct = conf->spread_pct,
		.pareto_alpha_pct = conf->pareto_alpha_pct,
	};
	u64 ns = longest_base_ns(conf);
	u64 kb_ns = max_u64(conf->read_ns_per_kb, conf->write_ns_per_kb);

	ns = (unsigned __int128)ns * tare_quantile_max(&spread) >>
	     TARE_FACTOR_SHIFT;
	if (conf->distribution != TARE_FIXED && ns > TARE_SERVICE_MAX_NS)
		ns = TARE_SERVICE_MAX_NS;
	ns += kb_ns * conf->max_sectors_kb;
	ns += conf->tail_ppm ? conf->tail_ns : 0;
	return ns + conf->seek_ns + turn_ns(conf);
}

/* The base service time, stretched by a random factor. */
static u64 stretched(const struct tare_model *model,
		     const struct tare_quantiles *quantiles, u32 random,
		     u64 base)
{
	u64 factor = tare_quantile_draw(quantiles, random);
	u64 max = READ_ONCE(model->max_tsc);
	u64 tsc = (unsigned __int128)base * factor >> TARE_FACTOR_SHIFT;

	return tsc < max ? tsc : max;
}

/**
 * tare_model_draw() - how long a request takes, but for the arm
 * @model: of the device
 * @quantiles: of its distribution
 * @random: 64 random bits; the same give the same times
 * @work: service and sectors are in, before and after are out
 */
void tare_model_draw(const struct tare_model *model,
		     const struct tare_quantiles *quantiles, u64 random,
		     struct tare_work *work)
{
	u64 rate = READ_ONCE(model->sector_q21[work->service]);

	work->before = READ_ONCE(model->service_tsc[work->service]);
	if (READ_ONCE(model->spread))
		work->before = stretched(model, quantiles, random >> 32,
					 work->before);
	work->after = (work->sectors * rate + SECTOR_ROUND) >> SECTOR_FRACTION;
	if ((u32)random < READ_ONCE(model->tail_below))
		work->after += READ_ONCE(model->tail_tsc);
}

/**
 * tare_queue_init() - nothing is being served, the arm is at the first track
 * @queue: nobody else uses it
 * @channels: requests served at a time, 0: no limit
 */
void tare_queue_init(struct tare_queue *queue, u32 channels)
{
	u32 i;

	queue->last = 0;
	queue->track = 0;
	queue->channels = channels;
	for (i = 0; i < TARE_CHANNELS_MAX; i++)
		queue->free[i] = 0;
}

/* Square root of a Q32 up to 1, rounded down, Q16. */
static u32 root_q32(u64 v)
{
	u32 root = 0;
	int bit;

	for (bit = 16; bit >= 0; bit--) {
		u64 next = root | 1U << bit;

		if (next * next <= v)
			root = next;
	}
	return root;
}

/* Square root of the part of the disk that the arm crosses. */
static u64 seek_tsc(const struct tare_model *model, u64 from, u64 to)
{
	u64 tracks = from < to ? to - from : from - to;
	u64 part = tracks * READ_ONCE(model->stroke_inverse) >> 31;

	return READ_ONCE(model->seek_tsc) * root_q32(part) >> 16;
}

/*
 * How long until the sector comes by. Angles are parts of 2^64 of a turn, so
 * that whole turns drop out by themselves. A sector that has begun to pass is
 * still caught: else a rounded tick would cost a whole turn.
 */
static u64 turn_tsc(const struct tare_model *model, u64 sector, u64 now)
{
	const u64 grace = 1ULL << (64 - TARE_TRACK_SHIFT);
	u64 angle = sector << (64 - TARE_TRACK_SHIFT);
	u64 ahead = angle - now * READ_ONCE(model->turn_inverse) + grace;

	if (ahead < grace)
		return 0;
	return (unsigned __int128)(ahead - grace) *
	       READ_ONCE(model->turn_tsc) >> 64;
}

/* The arm goes to the request and waits for it to come by. */
static u64 arm_tsc(struct tare_queue *queue, const struct tare_model *model,
		   const struct tare_work *work, u64 from)
{
	u64 track = work->sector >> TARE_TRACK_SHIFT;
	u64 seek = seek_tsc(model, queue->track, track);

	queue->track = (work->sector + work->sectors) >> TARE_TRACK_SHIFT;
	return seek + turn_tsc(model, work->sector, from + seek);
}

/* The channel at the heap's root is taken until @until: it sinks. */
static void channel_take(struct tare_queue *queue, u64 until)
{
	u64 *free = queue->free;
	u32 at = 0;

	for (;;) {
		u32 below = 2 * at + 1;

		if (below + 1 < queue->channels && free[below + 1] < free[below])
			below++;
		if (below >= queue->channels || free[below] >= until)
			break;
		free[at] = free[below];
		at = below;
	}
	free[at] = until;
}

/**
 * tare_queue_due() - when a request is finished that shares a channel or an arm
 * @queue: for this caller alone
 * @model: of the device
 * @work: from tare_model_draw(), with its start and place
 *
 * First come, first served: it begins when it starts or, later, when the first
 * channel gets free.
 */
u64 tare_queue_due(struct tare_queue *queue, const struct tare_model *model,
		   const struct tare_work *work)
{
	u64 due = work->start;

	/* The counter went back, as a suspended machine's does: begin anew. */
	if (work->start + READ_ONCE(model->max_tsc) < queue->last)
		tare_queue_init(queue, queue->channels);
	queue->last = work->start;
	if (queue->channels)
		due = max_u64(due, queue->free[0]);
	due += work->before;
	if (READ_ONCE(model->arm) >> work->service & 1)
		due += arm_tsc(queue, model, work, due);
	due += work->after;
	if (queue->channels)
		channel_take(queue, due);
	return due;
}

/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Service time and clock arithmetic. Pure C, no kernel call: the host's unit
 * tests compile the same file. Fixed point, no floating point, and no division
 * where a request passes.
 */
#ifndef TARE_MODEL_H
#define TARE_MODEL_H

#ifdef __KERNEL__
#include <linux/types.h>
#else
#include <stdbool.h>
#include <linux/types.h>
typedef __u64 u64;
typedef __u32 u32;
typedef __u8 u8;
typedef __s64 s64;
#endif

#include "uapi/tare.h"

/* A write with forced unit access has a service time of its own. */
enum tare_service {
	TARE_SERVICE_WRITE_FUA = TARE_NR_OPS,
	TARE_NR_SERVICES
};

/*
 * What a user sets. Each member that is an attribute's has its name.
 */
struct tare_model_conf {
	u64 read_ns;
	u64 write_ns;
	u64 flush_ns;
	u64 discard_ns;
	u64 tail_ns;
	u64 seek_ns;
	u32 read_ns_per_kb;
	u32 write_ns_per_kb;
	u32 distribution;
	u32 spread_pct;
	u32 pareto_alpha_pct;
	u32 tail_ppm;
	u32 rpm;
	u32 size_mb;
	u32 max_sectors_kb;
	u32 channels;
	u32 mbps;
	bool write_cache;
	bool fua;
};

/*
 * The same in tsc, indexed by enum tare_op or enum tare_service. In use by
 * requests while it changes: any mixture of old and new is a possible device.
 */
struct tare_model {
	u64 service_tsc[TARE_NR_SERVICES];
	bool shaped;		/* anything below is used */
	bool spread;		/* service times are stretched by a factor */
	bool shared;		/* requests wait for each other or move an arm */
	u64 link_tsc_per_mb;	/* the way in and out; 0: as fast as one likes */
	u32 arm;		/* bit of each service that moves it */
	u64 sector_q21[TARE_NR_SERVICES];	/* 2^-21 tsc for 512 bytes */
	u64 max_tsc;		/* no stretched service time is longer */
	u64 tail_tsc;
	u64 tail_below;		/* of 2^32 random numbers */
	u64 seek_tsc;
	u64 stroke_inverse;	/* 2^63 / tracks */
	u64 turn_tsc;		/* 0: does not turn */
	u64 turn_inverse;	/* 2^64 / turn_tsc */
};

/* A track of the model has 1 MiB, 2^11 sectors, all over the disk. */
#define TARE_TRACK_SHIFT	11

/* A request as the model sees it. */
struct tare_work {
	u64 start;		/* tsc */
	u64 sector;
	u32 sectors;
	u8 service;		/* enum tare_op or enum tare_service */
	/* tare_model_draw() fills these in, tsc: */
	u64 before;		/* what comes before the arm moves */
	u64 after;		/* transfer and tail */
};

/*
 * What requests share: one at a time may have it. free is a heap: a channel
 * is free no later than the two below it.
 */
struct tare_queue {
	u64 last;		/* start of the last request, tsc */
	u64 track;		/* where the arm stands */
	u32 channels;		/* 0: no limit */
	u64 free[TARE_CHANNELS_MAX];	/* tsc */
};

struct tare_quantiles;

/* tsc to ns as a multiplication and a shift: ns = tsc * mult >> shift. */
struct tare_scale {
	u32 mult;
	u32 shift;
};

u64 tare_ns_to_tsc(u64 ns, u32 tsc_khz);
struct tare_scale tare_scale_make(u32 tsc_khz);

/**
 * tare_tsc_to_ns() - duration in ns, never less than the true one
 * @scale: made for this clock by tare_scale_make()
 * @tsc: duration in tsc
 *
 * Rounds up, so that a timer set with it does not fire before its time.
 */
static inline u64 tare_tsc_to_ns(struct tare_scale scale, u64 tsc)
{
	return (u64)(((unsigned __int128)tsc * scale.mult) >> scale.shift) + 1;
}

/**
 * tare_link_free() - when the way to the device is free again
 * @free: when it was to be free until now, tsc
 * @start: of a request, tsc
 * @tsc_per_mb: what a MiB takes, below 2^36
 * @bytes: of the request, below 2^27
 *
 * The request is not due before that. However large it is, it takes its time
 * and no more: there is no budget that it could be too large for.
 */
static inline u64 tare_link_free(u64 free, u64 start, u64 tsc_per_mb, u32 bytes)
{
	u64 takes = (bytes * tsc_per_mb + (1 << 20) - 1) >> 20;

	return (free > start ? free : start) + takes;
}

/* The step of a CPU's stream of random numbers; see tare_random(). */
#define TARE_STREAM_STEP	0x9e3779b97f4a7c15ULL

/**
 * tare_random() - a random number from the position in a stream
 * @position: of TARE_STREAM_STEP more than the last one's
 *
 * A CPU's next number costs it an addition that nothing can interrupt, and no
 * lock. The mixing is that of splitmix64.
 */
static inline u64 tare_random(u64 position)
{
	position = (position ^ (position >> 30)) * 0xbf58476d1ce4e5b9ULL;
	position = (position ^ (position >> 27)) * 0x94d049bb133111ebULL;
	return position ^ (position >> 31);
}

/**
 * tare_stream_start() - where a CPU's stream begins
 * @seed: of the device
 * @cpu: each has a stream of its own
 */
static inline u64 tare_stream_start(u64 seed, u32 cpu)
{
	return tare_random(tare_random(seed + 1) + cpu);
}

void tare_model_set(struct tare_model *model,
		    const struct tare_model_conf *conf, u32 tsc_khz);
u64 tare_model_longest_ns(const struct tare_model_conf *conf);
void tare_model_draw(const struct tare_model *model,
		     const struct tare_quantiles *quantiles, u64 random,
		     struct tare_work *work);
void tare_queue_init(struct tare_queue *queue, u32 channels);
u64 tare_queue_due(struct tare_queue *queue, const struct tare_model *model,
		   const struct tare_work *work);

#endif

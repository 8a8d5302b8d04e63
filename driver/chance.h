/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Draws that can be repeated: what falls out depends on the seed, the turn and
 * what is drawn for, and on nothing else. Pure C, as model.h.
 */
#ifndef TARE_CHANCE_H
#define TARE_CHANCE_H

#include "model.h"

#define TARE_PPM	1000000

/* A draw below this happens so many times in a million. */
static inline u64 tare_chance(u32 ppm)
{
	return ((u64)ppm << 32) / TARE_PPM;
}

/**
 * tare_draw() - a number below 2^32, all of them equally likely
 * @seed: of the whole run
 * @turn: counts the requests
 * @kind: below 16; draws of different kinds are independent
 */
static inline u64 tare_draw(u64 seed, u64 turn, u32 kind)
{
	return tare_random(tare_random(seed + 1) + turn * 16 + kind) >> 32;
}

#endif

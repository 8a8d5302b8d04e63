// SPDX-License-Identifier: GPL-2.0-only
#include "clock.h"

#include "samples.h"
#include "util.h"

#include <stdlib.h>

void clock_calibrate(struct clock_cost *cost)
{
	uint64_t *pair = xcalloc(CLOCK_PAIRS, sizeof(*pair));

	for (size_t i = 0; i < CLOCK_PAIRS; i++) {
		uint64_t enter = clock_enter();

		pair[i] = clock_exit() - enter;
	}
	samples_sort(pair, CLOCK_PAIRS);
	cost->min = pair[0];
	cost->median = samples_rank(pair, CLOCK_PAIRS, 500);
	free(pair);
}

static uint64_t scale(uint64_t v, uint64_t by, uint64_t over)
{
	return (uint64_t)(((unsigned __int128)v * by + over / 2) / over);
}

uint64_t clock_to_ns(uint64_t ticks, uint32_t khz)
{
	return scale(ticks, 1000000, khz);
}

uint64_t clock_from_ns(uint64_t ns, uint32_t khz)
{
	return scale(ns, khz, 1000000);
}

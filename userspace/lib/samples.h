/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Statistics over one value per I/O. Percentiles are exact: the nearest rank
 * in the sorted values (the smallest value that at least p of them do not
 * exceed), never a bucket's edge and never a mean of two values.
 */
#ifndef TARE_SAMPLES_H
#define TARE_SAMPLES_H

#include <stddef.h>
#include <stdint.h>

/** All in the unit of the values. All 0 when n is 0. */
struct summary {
	size_t n;
	double mean;
	uint64_t min;
	uint64_t p50;
	uint64_t p90;
	uint64_t p99;
	uint64_t p999;
	uint64_t max;
};

/** Sort ascending, in time linear in n (radix, so that 10^7 values are no trouble). */
void samples_sort(uint64_t *v, size_t n);

/**
 * Nearest rank in sorted values.
 * @param n at least 1
 * @param permille 1 … 1000; 500 is the median
 */
uint64_t samples_rank(const uint64_t *sorted, size_t n, unsigned int permille);

/** Summary of n values, which are left as they are. */
void samples_summary(const uint64_t *v, size_t n, struct summary *s);

/**
 * Layout spread: max - min of one figure over rounds, each with a fresh load of
 * the device and file system. A difference below it says nothing.
 * @return 0 when n is less than 2
 */
uint64_t samples_spread(const uint64_t *v, size_t n);

#endif

// SPDX-License-Identifier: GPL-2.0-only
#include "samples.h"

#include "util.h"

#include <stdlib.h>
#include <string.h>

#define DIGIT_BITS	8
#define DIGITS		(1 << DIGIT_BITS)
#define PASSES		(64 / DIGIT_BITS)

/* How often each digit occurs at each place. */
static void count_digits(const uint64_t *v, size_t n,
			 size_t count[PASSES][DIGITS])
{
	memset(count, 0, sizeof(size_t) * PASSES * DIGITS);
	for (size_t i = 0; i < n; i++)
		for (unsigned int pass = 0; pass < PASSES; pass++)
			count[pass][v[i] >> (pass * DIGIT_BITS) &
				    (DIGITS - 1)]++;
}

static void counts_to_places(size_t *count)
{
	size_t place = 0;

	for (unsigned int d = 0; d < DIGITS; d++) {
		size_t here = count[d];

		count[d] = place;
		place += here;
	}
}

void samples_sort(uint64_t *v, size_t n)
{
	size_t count[PASSES][DIGITS];
	uint64_t *from = v, *to, *spare;

	if (n < 2)
		return;
	to = spare = xcalloc(n, sizeof(*spare));
	count_digits(v, n, count);
	for (unsigned int pass = 0; pass < PASSES; pass++) {
		unsigned int shift = pass * DIGIT_BITS;
		size_t *place = count[pass];
		uint64_t *swap;

		/* The same digit everywhere: nothing would move. */
		if (place[from[0] >> shift & (DIGITS - 1)] == n)
			continue;
		counts_to_places(place);
		for (size_t i = 0; i < n; i++)
			to[place[from[i] >> shift & (DIGITS - 1)]++] = from[i];
		swap = from;
		from = to;
		to = swap;
	}
	if (from != v)
		memcpy(v, from, n * sizeof(*v));
	free(spare);
}

uint64_t samples_rank(const uint64_t *sorted, size_t n, unsigned int permille)
{
	/* ceil(n * permille / 1000), in parts so that it cannot overflow */
	size_t rank = n / 1000 * permille + (n % 1000 * permille + 999) / 1000;

	return sorted[rank ? rank - 1 : 0];
}

void samples_summary(const uint64_t *v, size_t n, struct summary *s)
{
	unsigned __int128 sum = 0;
	uint64_t *sorted;

	memset(s, 0, sizeof(*s));
	if (n == 0)
		return;
	sorted = xmalloc(n * sizeof(*sorted));
	memcpy(sorted, v, n * sizeof(*sorted));
	samples_sort(sorted, n);
	for (size_t i = 0; i < n; i++)
		sum += v[i];
	s->n = n;
	s->mean = (double)sum / (double)n;
	s->min = sorted[0];
	s->p50 = samples_rank(sorted, n, 500);
	s->p90 = samples_rank(sorted, n, 900);
	s->p99 = samples_rank(sorted, n, 990);
	s->p999 = samples_rank(sorted, n, 999);
	s->max = sorted[n - 1];
	free(sorted);
}

uint64_t samples_spread(const uint64_t *v, size_t n)
{
	uint64_t min, max;

	if (n < 2)
		return 0;
	min = max = v[0];
	for (size_t i = 1; i < n; i++) {
		if (v[i] < min)
			min = v[i];
		if (v[i] > max)
			max = v[i];
	}
	return max - min;
}

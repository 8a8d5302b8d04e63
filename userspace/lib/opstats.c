// SPDX-License-Identifier: GPL-2.0-only
#include "opstats.h"

#include <string.h>

bool row_total(const struct tare_row_stats *row, uint64_t *total)
{
	*total = 0;
	for (unsigned int b = 0; b < TARE_HIST_BUCKETS; b++)
		if (__builtin_add_overflow(*total, row->bucket[b], total))
			return false;
	return true;
}

static uint64_t clamp(uint64_t v, uint64_t min, uint64_t max)
{
	if (v < min)
		return min;
	return v > max ? max : v;
}

/* Nearest rank of permille of count: 1 … count, without overflow. */
static uint64_t rank_of(uint64_t count, unsigned int permille)
{
	uint64_t rank = count / 1000 * permille +
			(count % 1000 * permille + 999) / 1000;

	return rank ? rank : 1;
}

/* Middle of a bucket; the last one has no upper end. */
static uint64_t bucket_middle(unsigned int bucket)
{
	uint64_t low = tare_hist_low(bucket);

	if (bucket >= TARE_HIST_OVERFLOW)
		return low;
	return low + (tare_hist_low(bucket + 1) - 1 - low) / 2;
}

static uint64_t percentile(const struct tare_row_stats *row, uint64_t count,
			   unsigned int permille)
{
	uint64_t rank = rank_of(count, permille), seen = 0;
	unsigned int b = 0;

	while (b < TARE_HIST_OVERFLOW && seen + row->bucket[b] < rank)
		seen += row->bucket[b++];
	return clamp(bucket_middle(b), row->min, row->max);
}

void row_figures(const struct tare_row_stats *row, struct row_figures *f)
{
	memset(f, 0, sizeof(*f));
	if (!row_total(row, &f->count) || !f->count)
		return;
	f->overflow = row->bucket[TARE_HIST_OVERFLOW];
	f->negative = row->negative;
	f->mean = (double)row->sum / (double)f->count;
	f->min = row->min;
	f->max = row->max;
	f->p50 = percentile(row, f->count, 500);
	f->p90 = percentile(row, f->count, 900);
	f->p99 = percentile(row, f->count, 990);
	f->p999 = percentile(row, f->count, 999);
}

static bool subtract(uint64_t before, uint64_t after, __u64 *diff)
{
	return !__builtin_sub_overflow(after, before, diff);
}

/* Last value that falls into a bucket, as far as is known. */
static uint64_t bucket_high(unsigned int bucket, uint64_t max)
{
	return bucket < TARE_HIST_OVERFLOW ? tare_hist_low(bucket + 1) - 1 :
					     max;
}

static void diff_extremes(const struct tare_row_stats *before,
			  const struct tare_row_stats *after,
			  struct tare_row_stats *diff)
{
	diff->min = UINT64_MAX;
	diff->max = 0;
	for (unsigned int b = 0; b < TARE_HIST_BUCKETS; b++) {
		if (!diff->bucket[b])
			continue;
		if (diff->min == UINT64_MAX)
			diff->min = tare_hist_low(b);
		diff->max = bucket_high(b, after->max);
	}
	if (diff->min == UINT64_MAX)
		return;
	if (after->min < before->min)
		diff->min = after->min;
	if (after->max > before->max)
		diff->max = after->max;
	diff->min = clamp(diff->min, after->min, after->max);
	diff->max = clamp(diff->max, after->min, after->max);
}

static bool row_diff(const struct tare_row_stats *before,
		     const struct tare_row_stats *after,
		     struct tare_row_stats *diff)
{
	bool ok = subtract(before->sum, after->sum, &diff->sum) &
		  subtract(before->negative, after->negative, &diff->negative);

	for (unsigned int b = 0; b < TARE_HIST_BUCKETS; b++)
		ok &= subtract(before->bucket[b], after->bucket[b],
			       &diff->bucket[b]);
	if (ok)
		diff_extremes(before, after, diff);
	return ok;
}

bool op_stats_diff(const struct tare_op_stats *before,
		   const struct tare_op_stats *after,
		   struct tare_op_stats *diff)
{
	bool ok = subtract(before->count, after->count, &diff->count) &
		  subtract(before->bytes, after->bytes, &diff->bytes);

	for (int r = 0; r < TARE_NR_ROWS; r++)
		ok &= row_diff(&before->row[r], &after->row[r], &diff->row[r]);
	return ok;
}

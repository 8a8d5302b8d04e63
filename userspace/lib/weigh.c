// SPDX-License-Identifier: GPL-2.0-only
#include "weigh.h"

#include "records.h"
#include "util.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static void make_room(struct weigh *w, size_t n)
{
	if (w->n + n <= w->room)
		return;
	w->room = w->n + n;
	for (size_t i = 0; i < WEIGH_NR_COLUMNS; i++)
		w->column[i] = xrealloc(w->column[i],
					w->room * sizeof(uint64_t));
}

/* First issue to last end: what the device and its driver had it for. */
static uint64_t issue_to_end(const struct tare_record *const *rec, size_t n)
{
	uint64_t first = UINT64_MAX, last = 0;

	for (size_t i = 0; i < n; i++) {
		first = rec[i]->issue < first ? rec[i]->issue : first;
		last = rec[i]->end > last ? rec[i]->end : last;
	}
	return n ? last - first : 0;
}

static void count_requests(struct weigh *w, const struct join *join, size_t i)
{
	for (size_t k = join->first[i]; k < join->first[i + 1]; k++) {
		const struct tare_record *rec = join->rec[k];

		w->requests++;
		/* Copying, arming the timer; or waiting with the CPU in hand. */
		w->covered += (rec->ready < rec->due ? rec->ready : rec->due) -
			      rec->start;
		if (join->is_data[k]) {
			w->data++;
			w->service += rec->due - rec->start;
		} else {
			w->helpers++;
		}
		if (rec->path < TARE_NR_PATHS)
			w->path[rec->path]++;
		w->early += !!(rec->flags & TARE_REC_EARLY);
	}
}

static void keep(struct weigh *w, const struct join *join, size_t i,
		 const struct io_cut *cut)
{
	size_t first = join->first[i];

	for (size_t row = 0; row < IO_NR_ROWS; row++)
		w->column[row][w->n] = cut->row[row];
	w->column[WEIGH_GROSS][w->n] = cut->gross;
	w->column[WEIGH_NET][w->n] = cut->net;
	w->column[WEIGH_ISSUE_TO_END][w->n] =
		issue_to_end(join->rec + first, join->first[i + 1] - first);
	w->n++;
	count_requests(w, join, i);
}

static void add_counts(struct weigh *w, const struct join *join)
{
	w->seen += join->n;
	w->shared += join->shared;
	w->ambiguous += join->ambiguous;
	w->unmatched += join->unmatched;
	w->not_monotonic += join->not_monotonic;
	w->failed += join->failed;
	for (size_t op = 0; op < TARE_NR_OPS; op++) {
		w->others.count[op] += join->others.count[op];
		w->others.bytes[op] += join->others.bytes[op];
	}
}

int weigh_add(struct weigh *w, const struct io *io, size_t n, size_t skip,
	      struct tare_record *rec, size_t m, const struct fsmap *map,
	      weigh_each *each, void *ctx)
{
	struct sweep_scratch scratch = { 0 };
	struct join join;
	int err;

	records_sort(rec, m);
	err = join_run(&join, io, n, rec, m, map);
	if (err)
		return err;
	make_room(w, n);
	for (size_t i = 0; i < n; i++) {
		size_t requests = join.first[i + 1] - join.first[i];
		unsigned int wrong = join.wrong[i];
		struct io_cut cut = { 0 };

		if (!wrong && sweep_cut(io[i].enter, io[i].exit,
					join.rec + join.first[i], requests,
					&scratch, &cut)) {
			w->residual++;
			wrong = JOIN_STAMPS;
		}
		if (!wrong && i >= skip)
			keep(w, &join, i, &cut);
		if (each)
			each(ctx, &io[i], &cut, requests, wrong);
	}
	add_counts(w, &join);
	sweep_scratch_free(&scratch);
	join_free(&join);
	return 0;
}

uint64_t weigh_errors(const struct weigh *w)
{
	return w->unmatched + w->not_monotonic + w->failed + w->residual;
}

void weigh_free(struct weigh *w)
{
	for (size_t i = 0; i < WEIGH_NR_COLUMNS; i++)
		free(w->column[i]);
	memset(w, 0, sizeof(*w));
}

// SPDX-License-Identifier: GPL-2.0-only
#include "sweep.h"

#include "util.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

const char *const io_row_names[IO_NR_ROWS] = {
	[IO_SUBMIT] = "submit",	  [IO_START] = "start",
	[IO_DEVICE] = "device",	  [IO_DELIVERY] = "delivery",
	[IO_DRIVER] = "driver",	  [IO_SIGNAL] = "signal",
	[IO_BETWEEN] = "between", [IO_COMPLETE] = "complete",
};

/* Who gets a cycle that several cover: the first of these. */
static const enum io_row precedence[] = {
	IO_DEVICE, IO_DELIVERY, IO_DRIVER, IO_START, IO_SIGNAL,
};

/* One end of an interval: from here on `row` is covered once more or once less. */
struct sweep_edge {
	uint64_t at;
	uint8_t row;
	int8_t step;
};

/* start, device, delivery, signal and three pieces of driver */
#define EDGES_PER_REQUEST (2 * 7)
/* first issue and last end, where what nobody covers changes its name */
#define MARKS 2

static uint64_t max_u64(uint64_t a, uint64_t b)
{
	return a > b ? a : b;
}

static uint64_t min_u64(uint64_t a, uint64_t b)
{
	return a < b ? a : b;
}

void sweep_scratch_free(struct sweep_scratch *scratch)
{
	free(scratch->edge);
	memset(scratch, 0, sizeof(*scratch));
}

int sweep_check(const struct tare_record *rec)
{
	if (rec->issue > rec->start || rec->start > rec->due ||
	    rec->start > rec->ready ||
	    max_u64(rec->due, rec->ready) > rec->fire ||
	    rec->fire > rec->done || rec->done > rec->cmpl ||
	    rec->cmpl > rec->end)
		return -EINVAL;
	return 0;
}

/* The edges of one I/O while they are collected. */
struct edges {
	struct sweep_edge *edge;
	size_t n;
	uint64_t enter;
	uint64_t exit;
};

static void add(struct edges *e, enum io_row row, uint64_t from, uint64_t to)
{
	from = max_u64(from, e->enter);
	to = min_u64(to, e->exit);
	if (from >= to)
		return;
	e->edge[e->n++] = (struct sweep_edge){ from, row, 1 };
	e->edge[e->n++] = (struct sweep_edge){ to, row, -1 };
}

static void add_request(struct edges *e, const struct tare_record *rec)
{
	uint64_t served = max_u64(rec->due, rec->ready);

	add(e, IO_START, rec->issue, rec->start);
	add(e, IO_DEVICE, rec->start, rec->due);
	/* A copy that takes longer than the service time runs over. */
	add(e, IO_DRIVER, rec->due, served);
	add(e, IO_DELIVERY, served, rec->fire);
	add(e, IO_DRIVER, rec->fire, rec->done);
	add(e, IO_SIGNAL, rec->done, rec->cmpl);
	add(e, IO_DRIVER, rec->cmpl, rec->end);
}

/* An edge that covers nothing, so that no stretch reaches across it. */
static void add_mark(struct edges *e, uint64_t at)
{
	if (at > e->enter && at < e->exit)
		e->edge[e->n++] = (struct sweep_edge){ at, IO_BETWEEN, 0 };
}

static int by_time(const void *a, const void *b)
{
	const struct sweep_edge *x = a, *y = b;

	return (x->at > y->at) - (x->at < y->at);
}

/*
 * Nearly all I/Os have one to three requests, and the edges of a request come
 * in order, so insertion is linear there; many requests are left to qsort().
 */
static void sort_edges(struct sweep_edge *edge, size_t n)
{
	if (n > 4 * EDGES_PER_REQUEST) {
		qsort(edge, n, sizeof(*edge), by_time);
		return;
	}
	for (size_t i = 1; i < n; i++) {
		struct sweep_edge e = edge[i];
		size_t k = i;

		for (; k > 0 && edge[k - 1].at > e.at; k--)
			edge[k] = edge[k - 1];
		edge[k] = e;
	}
}

/* The row of a stretch that begins at `at`, given what covers it. */
static enum io_row owner(const size_t *covered, uint64_t at,
			 uint64_t first_issue, uint64_t last_end)
{
	for (size_t i = 0; i < ARRAY_SIZE(precedence); i++)
		if (covered[precedence[i]])
			return precedence[i];
	if (at < first_issue)
		return IO_SUBMIT;
	return at < last_end ? IO_BETWEEN : IO_COMPLETE;
}

static void walk(const struct edges *e, uint64_t first_issue,
		 uint64_t last_end, struct io_cut *cut)
{
	size_t covered[IO_NR_ROWS] = { 0 };
	uint64_t at = e->enter;

	for (size_t i = 0; i < e->n; i++) {
		const struct sweep_edge *edge = &e->edge[i];

		if (edge->at > at) {
			cut->row[owner(covered, at, first_issue, last_end)] +=
				edge->at - at;
			at = edge->at;
		}
		covered[edge->row] += edge->step;
	}
	cut->row[owner(covered, at, first_issue, last_end)] += e->exit - at;
}

/* The rows must add up to gross. They do by construction; see that they do. */
static int settle(struct io_cut *cut)
{
	uint64_t sum = 0;

	for (size_t i = 0; i < IO_NR_ROWS; i++)
		sum += cut->row[i];
	cut->net = cut->row[IO_SUBMIT] + cut->row[IO_START] +
		   cut->row[IO_SIGNAL] + cut->row[IO_BETWEEN] +
		   cut->row[IO_COMPLETE];
	return sum == cut->gross ? 0 : -EDOM;
}

static void make_room(struct sweep_scratch *scratch, size_t n)
{
	if (n <= scratch->room)
		return;
	scratch->room = n;
	scratch->edge = xrealloc(scratch->edge, n * sizeof(*scratch->edge));
}

int sweep_cut(uint64_t enter, uint64_t exit,
	      const struct tare_record *const *rec, size_t n,
	      struct sweep_scratch *scratch, struct io_cut *cut)
{
	uint64_t first_issue = exit, last_end = enter;
	struct edges e = { .enter = enter, .exit = exit };

	memset(cut, 0, sizeof(*cut));
	if (exit < enter)
		return -EINVAL;
	make_room(scratch, n * EDGES_PER_REQUEST + MARKS);
	e.edge = scratch->edge;
	for (size_t i = 0; i < n; i++) {
		if (sweep_check(rec[i]))
			return -EINVAL;
		first_issue = min_u64(first_issue, rec[i]->issue);
		last_end = max_u64(last_end, rec[i]->end);
		add_request(&e, rec[i]);
	}
	add_mark(&e, first_issue);
	add_mark(&e, last_end);
	sort_edges(e.edge, e.n);
	cut->gross = exit - enter;
	walk(&e, first_issue, last_end, cut);
	return settle(cut);
}

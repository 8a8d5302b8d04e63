// SPDX-License-Identifier: GPL-2.0-only
#include "statdoc.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>

#include "clock.h"
#include "opstats.h"
#include "util.h"

#define READ_TRIES 5

/* EAGAIN: a request was just about to end. */
static int read_op(int fd, const char *name, enum tare_op op, int cpu,
		   struct tare_op_stats *stats)
{
	int err = -EAGAIN;

	for (int tries = 0; err == -EAGAIN && tries < READ_TRIES; tries++)
		err = control_stats(fd, name, op, cpu, stats);
	return err;
}

int stat_read(int fd, const char *name, int cpu, struct stat_reading *r)
{
	int err = control_counters(fd, name, &r->counters);

	for (int op = 0; op < TARE_NR_OPS && !err; op++) {
		err = read_op(fd, name, op, cpu, &r->op[op]);
		r->offered[op] = !err;
		if (err == -EOPNOTSUPP)
			err = 0;
	}
	return err;
}

/* Readers do not stop the device: a counter may be one behind for a moment. */
static __u64 grown(__u64 before, __u64 after)
{
	return after > before ? after - before : 0;
}

static void counters_diff(const struct tare_counters *before,
			  const struct tare_counters *after,
			  struct tare_counters *diff)
{
	for (int p = 0; p < TARE_NR_PATHS; p++)
		diff->path[p] = grown(before->path[p], after->path[p]);
	diff->early_fires = grown(before->early_fires, after->early_fires);
	diff->rearms = grown(before->rearms, after->rearms);
	diff->requeues = grown(before->requeues, after->requeues);
	diff->errors = grown(before->errors, after->errors);
	diff->unsettled = grown(before->unsettled, after->unsettled);
	diff->timeouts = grown(before->timeouts, after->timeouts);
	diff->store_pages = after->store_pages;
}

bool stat_diff(const struct stat_reading *before,
	       const struct stat_reading *after, struct stat_reading *diff)
{
	bool ok = true;

	counters_diff(&before->counters, &after->counters, &diff->counters);
	diff->name = after->name;
	for (int op = 0; op < TARE_NR_OPS; op++) {
		diff->offered[op] = after->offered[op];
		if (before->offered[op] != after->offered[op])
			ok = false;
		else if (after->offered[op])
			ok &= op_stats_diff(&before->op[op], &after->op[op],
					    &diff->op[op]);
	}
	return ok;
}

static int check_op(const struct stat_reading *r, int op)
{
	const struct tare_op_stats *s = &r->op[op];
	int wrong = 0;

	for (int row = 0; row < TARE_NR_ROWS; row++) {
		uint64_t total;
		bool fits = row_total(&s->row[row], &total);

		if (fits && total == s->count)
			continue;
		wrong++;
		msg_error("%s: WRONG STATISTICS: %s, row %s: the histogram holds %" PRIu64 "%s, counted are %" PRIu64,
			  r->name, tare_op_names[op], tare_row_names[row],
			  total, fits ? "" : " (it overflowed)",
			  (uint64_t)s->count);
	}
	return wrong;
}

int stat_check(const struct stat_reading *r)
{
	int wrong = 0;

	for (int op = 0; op < TARE_NR_OPS; op++)
		if (r->offered[op])
			wrong += check_op(r, op);
	return wrong;
}

/* ---- the report ---- */

static void add_driver(struct out_doc *doc, const struct stat_view *view,
		       const char *title)
{
	const struct tare_info *info = view->info;
	struct out_sec *sec = out_values(doc, "driver", title);

	out_value_u64(sec, "tsc_khz", info->tsc_khz);
	out_value_u64(sec, "stamp_cost_tsc", info->stamp_cost);
	out_value_u64(sec, "stamp_cost_median_tsc", info->stamp_cost_median);
	out_value_bool(sec, "tsc_constant",
		       info->tsc_flags & TARE_TSC_CONSTANT);
	out_value_bool(sec, "tsc_nonstop", info->tsc_flags & TARE_TSC_NONSTOP);
	out_value_bool(sec, "tsc_stable", info->tsc_flags & TARE_TSC_STABLE);
	out_value_bool(sec, "tsc_trusted", info->tsc_flags & TARE_TSC_TRUSTED);
	if (view->seconds > 0)
		out_value_f64(sec, "interval_s", view->seconds, 3);
}

static void columns(struct out_sec *table, const char *const *names, size_t n)
{
	for (size_t i = 0; i < n; i++)
		out_column(table, names[i]);
}

static void add_counters(struct out_doc *doc,
			 const struct stat_reading *const *readings, size_t n)
{
	static const char *const names[] = { "early_fires", "rearms",
					     "requeues", "errors",
					     "timeouts", "unsettled",
					     "store_pages" };
	struct out_sec *table = out_table(doc, "counters", "Counters");

	out_column(table, "device");
	for (int p = 0; p < TARE_NR_PATHS; p++) {
		char *name = xasprintf("path_%s", tare_path_names[p]);

		out_column(table, name);
		free(name);
	}
	columns(table, names, ARRAY_SIZE(names));
	for (size_t i = 0; i < n; i++) {
		const struct tare_counters *c = &readings[i]->counters;

		out_row(table);
		out_cell_str(table, readings[i]->name);
		for (int p = 0; p < TARE_NR_PATHS; p++)
			out_cell_u64(table, c->path[p]);
		out_cell_u64(table, c->early_fires);
		out_cell_u64(table, c->rearms);
		out_cell_u64(table, c->requeues);
		out_cell_u64(table, c->errors);
		out_cell_u64(table, c->timeouts);
		out_cell_u64(table, c->unsettled);
		out_cell_u64(table, c->store_pages);
	}
}

static void add_ops(struct out_doc *doc,
		    const struct stat_reading *const *readings, size_t n,
		    double seconds)
{
	static const char *const names[] = { "device", "op", "count", "bytes" };
	static const char *const rates[] = { "count_per_s", "bytes_per_s" };
	struct out_sec *table = out_table(doc, "operations", "Operations");

	columns(table, names, ARRAY_SIZE(names));
	if (seconds > 0)
		columns(table, rates, ARRAY_SIZE(rates));
	for (size_t i = 0; i < n; i++)
		for (int op = 0; op < TARE_NR_OPS; op++) {
			const struct tare_op_stats *s = &readings[i]->op[op];

			if (!readings[i]->offered[op])
				continue;
			out_row(table);
			out_cell_str(table, readings[i]->name);
			out_cell_str(table, tare_op_names[op]);
			out_cell_u64(table, s->count);
			out_cell_u64(table, s->bytes);
			if (seconds > 0) {
				out_cell_f64(table, s->count / seconds, 1);
				out_cell_f64(table, s->bytes / seconds, 1);
			}
		}
}

/* A unit of time: the counter itself, or nanoseconds made from it. */
struct unit {
	const char *name;
	uint32_t khz;		/* 0: the counter itself */
};

static void time_cell(struct out_sec *table, uint64_t tsc,
		      const struct unit *unit)
{
	out_cell_u64(table, unit->khz ? clock_to_ns(tsc, unit->khz) : tsc);
}

static void add_row(struct out_sec *table, const struct stat_reading *r,
		    int op, int row, const struct unit *unit)
{
	struct row_figures f;

	row_figures(&r->op[op].row[row], &f);
	out_row(table);
	out_cell_str(table, r->name);
	out_cell_str(table, tare_op_names[op]);
	out_cell_str(table, tare_row_names[row]);
	out_cell_u64(table, f.count);
	if (!f.count)
		return;
	out_cell_f64(table, unit->khz ? f.mean * 1e6 / unit->khz : f.mean, 1);
	time_cell(table, f.min, unit);
	time_cell(table, f.p50, unit);
	time_cell(table, f.p90, unit);
	time_cell(table, f.p99, unit);
	time_cell(table, f.p999, unit);
	time_cell(table, f.max, unit);
	out_cell_u64(table, f.overflow);
	out_cell_u64(table, f.negative);
}

static void add_rows(struct out_doc *doc,
		     const struct stat_reading *const *readings, size_t n,
		     const struct unit *unit)
{
	static const char *const figures[] = { "mean", "min", "p50", "p90",
					       "p99", "p99_9", "max" };
	static const char *const names[] = { "device", "op", "row", "count" };
	char *key = xasprintf("rows_%s", unit->name);
	char *title = xasprintf("Rows in %s", unit->name);
	struct out_sec *table = out_table(doc, key, title);

	columns(table, names, ARRAY_SIZE(names));
	for (size_t i = 0; i < ARRAY_SIZE(figures); i++) {
		char *name = xasprintf("%s_%s", figures[i], unit->name);

		out_column(table, name);
		free(name);
	}
	out_column(table, "overflow");
	out_column(table, "negative");
	for (size_t i = 0; i < n; i++)
		for (int op = 0; op < TARE_NR_OPS; op++)
			for (int row = 0;
			     row < TARE_NR_ROWS && readings[i]->offered[op];
			     row++)
				add_row(table, readings[i], op, row, unit);
	free(title);
	free(key);
}

static void add_buckets(struct out_sec *table, const struct stat_reading *r,
			int op, int row, uint32_t khz)
{
	const struct tare_row_stats *s = &r->op[op].row[row];

	for (unsigned int b = 0; b < TARE_HIST_BUCKETS; b++) {
		uint64_t low = tare_hist_low(b);

		if (!s->bucket[b])
			continue;
		out_row(table);
		out_cell_str(table, r->name);
		out_cell_str(table, tare_op_names[op]);
		out_cell_str(table, tare_row_names[row]);
		out_cell_u64(table, low);
		if (b < TARE_HIST_OVERFLOW)
			out_cell_u64(table, tare_hist_low(b + 1));
		else
			out_cell_none(table);
		if (khz)
			out_cell_f64(table, low * 1e6 / khz, 1);
		else
			out_cell_none(table);
		out_cell_u64(table, s->bucket[b]);
	}
}

static void add_histogram(struct out_doc *doc,
			  const struct stat_reading *const *readings, size_t n,
			  uint32_t khz)
{
	static const char *const names[] = { "device", "op", "row", "from_tsc",
					     "below_tsc", "from_ns", "count" };
	struct out_sec *table = out_table(doc, "histogram", "Histograms");

	columns(table, names, ARRAY_SIZE(names));
	for (size_t i = 0; i < n; i++)
		for (int op = 0; op < TARE_NR_OPS; op++)
			for (int row = 0;
			     row < TARE_NR_ROWS && readings[i]->offered[op];
			     row++)
				add_buckets(table, readings[i], op, row, khz);
}

static void add_notes(struct out_doc *doc, const struct stat_view *view)
{
	if (!(view->info->tsc_flags & TARE_TSC_TRUSTED))
		out_note(doc, "The driver does not trust this machine's time stamp counter: keep to one pinned CPU; 'tare doctor' says more.");
	out_note(doc, "Percentiles are middles of buckets: at most 1.6 %% off. Count, mean, min and max are exact%s.",
		 view->seconds > 0 ?
			 "; min and max of an interval are edges of buckets" :
			 "");
}

struct out_doc *stat_doc(const struct stat_reading *const *readings, size_t n,
			 const struct stat_view *view, const char *title)
{
	const struct unit tsc = { "tsc", 0 };
	const struct unit ns = { "ns", view->info->tsc_khz };
	struct out_doc *doc = out_new("stat");

	add_driver(doc, view, title);
	add_counters(doc, readings, n);
	add_ops(doc, readings, n, view->seconds);
	add_rows(doc, readings, n, &tsc);
	if (ns.khz)
		add_rows(doc, readings, n, &ns);
	if (view->histogram)
		add_histogram(doc, readings, n, ns.khz);
	add_notes(doc, view);
	return doc;
}

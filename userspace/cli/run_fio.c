// SPDX-License-Identifier: GPL-2.0-only
/*
 * tare run --engine fio: gross is fio's, the device's part is the driver's
 * statistics. Nothing joins the two, so means are subtracted and there are no
 * percentiles of net: percentiles do not subtract.
 */
#include "run.h"

#include "fio.h"
#include "guard.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* What the driver counted, all operations together. */
struct driver_sums {
	uint64_t requests;
	uint64_t data;
	double row[TARE_NR_ROWS];	/* ticks */
};

static int read_sums(const char *device, struct driver_sums *sums)
{
	struct tare_op_stats *s = xcalloc(1, sizeof(*s));
	int fd = control_open(), err = fd < 0 ? fd : 0;

	memset(sums, 0, sizeof(*sums));
	for (int op = 0; op < TARE_NR_OPS && !err; op++) {
		err = control_stats(fd, device, op, -1, s);
		if (err == -EOPNOTSUPP) {
			err = 0;
			continue;
		}
		sums->requests += s->count;
		if (op == TARE_READ || op == TARE_WRITE)
			sums->data += s->count;
		for (int row = 0; row < TARE_NR_ROWS; row++)
			sums->row[row] += (double)s->row[row].sum;
	}
	if (fd >= 0)
		close(fd);
	free(s);
	return err;
}

static int reset(const char *device)
{
	int fd = control_open(), err = fd < 0 ? fd : control_reset(fd, device);

	if (fd >= 0)
		close(fd);
	return err;
}

static double ticks(const struct run *run, double ns)
{
	return ns * run->info.tsc_khz / 1e6;
}

static void row(struct out_sec *t, const char *name, double mean, double gross)
{
	out_row(t);
	out_cell_str(t, name);
	out_cell_f64(t, mean, 1);
	for (int i = 0; i < 4; i++)
		out_cell_none(t);
	out_cell_f64(t, gross > 0 ? 100 * mean / gross : 0, 1);
}

static void gross_row(const struct run *run, struct out_sec *t,
		      const struct fio_result *f, double gross)
{
	uint32_t khz = run->info.tsc_khz;

	out_row(t);
	out_cell_str(t, "gross");
	out_cell_f64(t, gross, 1);
	out_cell_u64(t, clock_from_ns(f->p50_ns, khz));
	out_cell_u64(t, clock_from_ns(f->p90_ns, khz));
	out_cell_u64(t, clock_from_ns(f->p99_ns, khz));
	out_cell_u64(t, clock_from_ns(f->max_ns, khz));
	out_cell_f64(t, 100, 1);
}

/* What is not the stack's, per I/O, in ticks. */
static double not_net(const struct driver_sums *sums, double ios)
{
	return (sums->row[TARE_ROW_DEVICE] + sums->row[TARE_ROW_DELIVERY] +
		sums->row[TARE_ROW_DRIVER]) / ios;
}

static void rows(const struct run *run, struct out_doc *doc,
		 const struct fio_result *f, const struct driver_sums *sums)
{
	static const char *const columns[] = {
		"row",	   "mean_tsc", "p50_tsc", "p90_tsc",
		"p99_tsc", "max_tsc",  "share_percent",
	};
	char *title = xasprintf("Means of fio and of the driver's statistics, in %s",
				machine_unit(run->mode));
	struct out_sec *t = out_table(doc, "rows", title);
	double gross = ticks(run, f->gross_mean_ns), ios = (double)f->ios;

	for (size_t i = 0; i < ARRAY_SIZE(columns); i++)
		out_column(t, columns[i]);
	gross_row(run, t, f, gross);
	for (int i = 0; i < TARE_NR_ROWS; i++)
		row(t, tare_row_names[i], sums->row[i] / ios, gross);
	row(t, "net", gross - not_net(sums, ios), gross);
	free(title);
}

static void headline(const struct run *run, struct out_doc *doc,
		     const struct fio_result *f,
		     const struct driver_sums *sums)
{
	double net = ticks(run, f->gross_mean_ns) -
		     not_net(sums, (double)f->ios);
	char *title = xasprintf("Net: mean %.0f %s an I/O, fio's own part included",
				net, machine_unit(run->mode));
	struct out_sec *sec = out_values(doc, "headline", title);

	out_value_f64(sec, "net_mean_tsc", net, 1);
	if (report_has_ns(run))
		out_value_f64(sec, "net_mean_ns",
			      net * 1e6 / run->info.tsc_khz, 1);
	free(title);
}

static void counts(struct out_doc *doc, const struct fio_result *f,
		   const struct driver_sums *sums)
{
	struct out_sec *sec = out_values(doc, "counts", "Counts");

	out_value_str(sec, "fio_version", f->version);
	out_value_u64(sec, "ios", f->ios);
	out_value_u64(sec, "fsyncs", f->syncs);
	out_value_u64(sec, "requests", sums->requests);
	out_value_u64(sec, "data_requests", sums->data);
	out_value_f64(sec, "requests_per_io",
		      (double)sums->requests / (double)f->ios, 3);
}

static void notes(const struct run *run, struct out_doc *doc,
		  const struct fio_result *f, const struct driver_sums *sums)
{
	if (guard_stop)
		out_note(doc, "stopped early: fio was interrupted after %" PRIu64 " I/Os",
			 f->ios);
	out_note(doc, "means subtract, percentiles do not: none are given for net; those of gross are fio's clat, from its buckets");
	out_note(doc, "all requests of the device are taken for fio's; the own engines can tell");
	if (f->syncs)
		out_note(doc, "gross is lat plus the share of the fsyncs, which fio reports apart; its percentiles are without");
	if (sums->requests > f->ios && !f->syncs)
		out_note(doc, "several requests an I/O: where they overlap, the rows count the time twice and net is too small");
	if (run->job->iodepth > 1)
		out_note(doc, "several I/Os in flight: net holds the waiting for each other");
}

static void report(const struct run *run, const struct fio_result *f,
		   const struct driver_sums *sums, struct out_doc *doc)
{
	report_head(run, doc);
	headline(run, doc, f, sums);
	rows(run, doc, f, sums);
	counts(doc, f, sums);
	report_run(run, doc);
	report_obtained(run, doc);
	notes(run, doc, f, sums);
}

static int weigh(struct run *run, const struct target *t)
{
	struct driver_sums sums;
	struct fio_result f;
	struct out_doc *doc;
	int code;

	run_device_read(&run->device, t->device);
	if (reset(t->device))
		return msg_error("cannot reset the statistics of %s",
				 t->device);
	code = fio_run(&run->file, run->job, t->path, run->o.ios, &f);
	if (code)
		return code;
	if (read_sums(t->device, &sums))
		return msg_error("cannot read the statistics of %s", t->device);
	doc = out_new("run");
	report(run, &f, &sums, doc);
	code = guard_stop ? msg_error("interrupted") : TARE_OK;
	code = report_print(run, doc, code);
	out_free(doc);
	return code;
}

int run_fio(struct run *run)
{
	struct target_options want = {
		.device = run->o.device, .fs = run->o.fs,
		.set = run->o.set, .nr_set = run->o.nr_set,
		.job_file = run->file.path,
	};
	struct target t;
	int code, end;

	if (run->o.window || run->o.rounds > 1 || run->o.raw ||
	    run->o.like_blk_account)
		return msg_usage("--engine fio has no --rounds, --window, --raw or --like: fio reports the whole run only");
	code = target_setup(&t, &want, run->job);
	if (code)
		return code;
	code = weigh(run, &t);
	end = target_teardown(&t);
	return code ? code : end;
}

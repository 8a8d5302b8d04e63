// SPDX-License-Identifier: GPL-2.0-only
/* tare run: the document. */
#include "run.h"

#include "guard.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* Rows as printed: gross, what it is made of, net. */
static const unsigned int printed[] = {
	WEIGH_GROSS, IO_SUBMIT, IO_START,   IO_DEVICE,	 IO_DELIVERY,
	IO_DRIVER,   IO_SIGNAL, IO_BETWEEN, IO_COMPLETE, WEIGH_NET,
};

static const char *engine_name(const struct run *run)
{
	if (run->o.engine)
		return run->o.engine;
	return run->job->engine == JOB_IO_URING ? "io_uring" : "psync";
}

char *report_context(const struct run *run)
{
	const struct run_device *d = &run->device;
	char *kernel = machine_kernel();
	char *line = xasprintf(
		"%s, completion %s, %" PRIu64 " queue%s, scheduler %s, Linux %s, %s, job %s",
		machine_mode_names[run->mode], d->completion, d->queues,
		d->queues == 1 ? "" : "s", d->scheduler, kernel,
		run->o.fs ? run->o.fs : "raw disk", run->job->name);

	free(kernel);
	return line;
}

void report_head(const struct run *run, struct out_doc *doc)
{
	char *title = report_context(run);
	struct out_sec *sec = out_values(doc, "context", title);

	out_value_str(sec, "mode", machine_mode_names[run->mode]);
	out_value_str(sec, "unit", machine_unit(run->mode));
	free(title);
}

void report_run(const struct run *run, struct out_doc *doc)
{
	const struct run_device *d = &run->device;
	struct out_sec *sec = out_values(doc, "run", "What was run");
	char *kernel = machine_kernel();

	out_value_str(sec, "completion", d->completion);
	out_value_u64(sec, "queues", d->queues);
	out_value_u64(sec, "queue_depth", d->queue_depth);
	out_value_str(sec, "scheduler", d->scheduler);
	out_value_str(sec, "kernel", kernel);
	out_value_str(sec, "file_system", run->o.fs ? run->o.fs : "none");
	out_value_str(sec, "job", run->job->name);
	out_value_str(sec, "job_file", run->file.path);
	out_value_str(sec, "device", d->name);
	out_value_bool(sec, "memory_backed", d->memory_backed);
	out_value_bool(sec, "write_cache", d->write_cache);
	out_value_str(sec, "engine", run->engine_detail ? run->engine_detail :
							  engine_name(run));
	out_value_u64(sec, "iodepth", run->job->iodepth);
	out_value_u64(sec, "block_bytes", run->job->bs);
	out_value_u64(sec, "cpu", (uint64_t)run->cpu);
	free(kernel);
}

/* An instruction is no real time: who reads the text would take it for one. */
bool report_has_ns(const struct run *run)
{
	return run->o.common.format != OUT_TEXT || !machine_is_exact(run->mode);
}

static double to_ns(const struct run *run, double ticks)
{
	return ticks * 1e6 / run->info.tsc_khz;
}

/* Busy CPU of the measured stretch per I/O, in ticks; below 0: not known. */
static double busy_per_io(const struct run *run)
{
	double idle;

	if (!run->span_ios)
		return -1;
	if (!machine_is_exact(run->mode))
		return (double)run->cpu_ns * run->info.tsc_khz / 1e6 /
		       (double)run->span_ios;
	if (!run->idle_known)
		return -1;
	idle = (double)run->idle_ns * run->info.tsc_khz / 1e6;
	return ((double)run->span_ticks - idle) / (double)run->span_ios;
}

/*
 * CPU work of the stack while the device was busy: device and delivery less
 * the idle time and less the driver's own work in there. Only exact mode knows
 * idle to the instruction, and only with one in flight does idle fall into
 * these rows alone. Below 0: not known.
 */
static double hidden_mean(const struct run *run, double device, double delivery)
{
	const struct weigh *w = &run->weigh;
	double idle, hidden;

	/* The other completions wait with the CPU in hand: nothing can hide. */
	if (!machine_is_exact(run->mode) || !run->idle_known ||
	    strcmp(run->device.completion, "timer") ||
	    run->job->iodepth > 1 || !run->span_ios || !w->n)
		return -1;
	idle = (double)run->idle_ns * run->info.tsc_khz / 1e6;
	hidden = device + delivery - idle / (double)run->span_ios -
		 (double)w->covered / (double)w->n;
	/* Idle time outside of the I/Os would make it too small. */
	return hidden > 0 ? hidden : 0;
}

static void headline(const struct run *run, struct out_doc *doc,
		     const struct summary *net)
{
	const char *unit = machine_unit(run->mode);
	double busy = busy_per_io(run);
	bool deep = run->job->iodepth > 1;
	char *title;
	struct out_sec *sec;

	if (deep && busy >= 0)
		title = xasprintf("Busy CPU: %.0f %s an I/O (several in flight: rows overlap)",
				  busy, unit);
	else
		title = xasprintf("Net: %" PRIu64 " %s an I/O (p50), mean %.0f%s",
				  net->p50, unit, net->mean,
				  busy < 0 ? "" :
				  machine_is_exact(run->mode) ?
				  "; busy_per_io: all time in which the CPU was not idle" :
				  "; busy_per_io: the CPU time of this process");
	sec = out_values(doc, "headline", title);
	out_value_u64(sec, "net_p50_tsc", net->p50);
	out_value_f64(sec, "net_mean_tsc", net->mean, 1);
	if (report_has_ns(run)) {
		out_value_f64(sec, "net_p50_ns", to_ns(run, (double)net->p50), 1);
		out_value_f64(sec, "net_mean_ns", to_ns(run, net->mean), 1);
	}
	if (busy >= 0)
		out_value_f64(sec, "busy_per_io_tsc", busy, 1);
	free(title);
}

static void waterfall_row(struct out_sec *t, const char *name,
			  const struct summary *s, double gross)
{
	out_row(t);
	out_cell_str(t, name);
	out_cell_f64(t, s->mean, 1);
	out_cell_u64(t, s->p50);
	out_cell_u64(t, s->p90);
	out_cell_u64(t, s->p99);
	out_cell_u64(t, s->max);
	if (gross > 0)
		out_cell_f64(t, 100 * s->mean / gross, 1);
	else
		out_cell_none(t);
}

/* Only its mean is known. */
static void hidden_row(struct out_sec *t, double hidden, double gross)
{
	if (hidden < 0)
		return;
	out_row(t);
	out_cell_str(t, "hidden");
	out_cell_f64(t, hidden, 1);
	for (int i = 0; i < 4; i++)
		out_cell_none(t);
	if (gross > 0)
		out_cell_f64(t, 100 * hidden / gross, 1);
	else
		out_cell_none(t);
}

static void waterfall(const struct run *run, struct out_doc *doc,
		      const struct summary *s)
{
	static const char *const columns[] = {
		"row",	   "mean_tsc", "p50_tsc", "p90_tsc",
		"p99_tsc", "max_tsc",  "share_percent",
	};
	double gross = s[WEIGH_GROSS].mean;
	double hidden = hidden_mean(run, s[IO_DEVICE].mean,
				    s[IO_DELIVERY].mean);
	char *title = xasprintf("Where the time of an I/O goes, in %s%s",
				machine_unit(run->mode),
				hidden < 0 ? "" :
				"; hidden: the stack's work while the device was busy, not in net");
	struct out_sec *t = out_table(doc, "rows", title);

	for (size_t i = 0; i < ARRAY_SIZE(columns); i++)
		out_column(t, columns[i]);
	for (size_t i = 0; i < ARRAY_SIZE(printed); i++)
		waterfall_row(t, run_column_names[printed[i]], &s[printed[i]],
			      gross);
	hidden_row(t, hidden, gross);
	free(title);
}

static void counts(const struct run *run, struct out_doc *doc)
{
	const struct weigh *w = &run->weigh;
	struct out_sec *sec = out_values(doc, "counts", "Counts");
	double n = w->n ? (double)w->n : 1;

	out_value_u64(sec, "ios", w->n);
	out_value_u64(sec, "ios_with_warmup", w->seen);
	out_value_f64(sec, "requests_per_io", (double)w->requests / n, 3);
	out_value_u64(sec, "data_requests", w->data);
	out_value_u64(sec, "helper_requests", w->helpers);
	out_value_u64(sec, "shared_requests", w->shared);
	for (int op = 0; op < TARE_NR_OPS; op++) {
		char *name = xasprintf("others_%s", tare_op_names[op]);

		if (w->others.count[op] || op <= TARE_FLUSH)
			out_value_u64(sec, name, w->others.count[op]);
		free(name);
	}
	for (int p = 0; p < TARE_NR_PATHS; p++) {
		char *name = xasprintf("completed_%s", tare_path_names[p]);

		out_value_u64(sec, name, w->path[p]);
		free(name);
	}
	out_value_u64(sec, "early_timers", w->early);
}

/* Everything here must be 0. */
static void errors(const struct run *run, struct out_doc *doc)
{
	const struct weigh *w = &run->weigh;
	struct out_sec *sec = out_values(doc, "errors",
					 "Errors (all must be 0)");

	out_value_u64(sec, "residual", w->residual);
	out_value_u64(sec, "unmatched", w->unmatched);
	out_value_u64(sec, "not_monotonic", w->not_monotonic);
	out_value_u64(sec, "lost", run->lost);
	out_value_u64(sec, "failed", w->failed);
	out_value_u64(sec, "ambiguous", w->ambiguous);
}

/* What the device was asked to take, and what it took. */
static void device(const struct run *run, struct out_doc *doc,
		   const struct summary *s)
{
	const struct run_device *d = &run->device;
	struct out_sec *sec = out_values(doc, "device",
					 "Device: asked for and achieved");
	double data = run->weigh.data ? (double)run->weigh.data : 1;

	for (int op = 0; op <= TARE_FLUSH; op++) {
		char *name = xasprintf("asked_%s_ns", tare_op_names[op]);

		out_value_u64(sec, name, d->service_ns[op]);
		free(name);
	}
	out_value_str(sec, "asked_distribution", d->distribution);
	out_value_u64(sec, "asked_channels", d->channels);
	/* Per data request; the row is per I/O and may hold several. */
	out_value_f64(sec, "taken_by_a_data_request_ns",
		      to_ns(run, (double)run->weigh.service / data), 1);
	out_value_f64(sec, "row_mean_ns", to_ns(run, s[IO_DEVICE].mean), 1);
	out_value_u64(sec, "delivery_p50_tsc", s[IO_DELIVERY].p50);
	out_value_u64(sec, "delivery_p99_tsc", s[IO_DELIVERY].p99);
}

/* Timer ticks: interrupts of the local timer less the device's own. */
static uint64_t timer_ticks(const struct run *run)
{
	uint64_t own = 0;

	if (!strcmp(run->device.completion, "timer")) {
		own = run->weigh.requests;
		for (int op = 0; op < TARE_NR_OPS; op++)
			own += run->weigh.others.count[op];
	}
	return run->timer_interrupts > own ? run->timer_interrupts - own : 0;
}

static void noise(const struct run *run, struct out_doc *doc)
{
	struct out_sec *sec = out_values(doc, "noise",
					 "What else happened meanwhile");
	uint64_t ticks = timer_ticks(run);

	if (run->interrupts_known) {
		out_value_u64(sec, "timer_interrupts", run->timer_interrupts);
		out_value_u64(sec, "timer_ticks", ticks);
	}
	out_value_u64(sec, "page_faults", run->faults);
	out_value_u64(sec, "preempted", run->switches);
	if (machine_is_exact(run->mode) && ticks)
		out_note(doc, "up to %" PRIu64 " of %zu I/Os were hit by a timer tick, which pulls the mean up: compare p50",
			 ticks, run->weigh.n);
}

static void probe(const struct run *run, struct out_doc *doc)
{
	struct out_sec *sec = out_values(doc, "probe",
					 "Cost of the probe, in every figure");

	out_value_u64(sec, "pair_min_tsc", run->probe.min);
	out_value_u64(sec, "pair_median_tsc", run->probe.median);
	out_value_u64(sec, "driver_stamp_min_tsc", run->info.stamp_cost);
	out_value_u64(sec, "driver_stamp_median_tsc",
		      run->info.stamp_cost_median);
}

static size_t round_end(const struct run *run, size_t round)
{
	return round + 1 < run->rounds ? run->round_start[round + 1] :
					 run->weigh.n;
}

/* p50 of every row in every round, and how far they lie apart. */
static void spread(const struct run *run, struct out_doc *doc)
{
	struct out_sec *t;
	uint64_t *p50;

	if (run->rounds < 2)
		return;
	t = out_table(doc, "layout_spread",
		      "Layout spread: p50 of each round; no smaller difference says anything");
	out_column(t, "row");
	for (size_t r = 0; r < run->rounds; r++) {
		char *name = xasprintf("round%zu_p50_tsc", r + 1);

		out_column(t, name);
		free(name);
	}
	out_column(t, "spread_tsc");
	p50 = xcalloc(run->rounds, sizeof(*p50));
	for (size_t i = 0; i < ARRAY_SIZE(printed); i++) {
		out_row(t);
		out_cell_str(t, run_column_names[printed[i]]);
		for (size_t r = 0; r < run->rounds; r++) {
			size_t from = run->round_start[r];
			struct summary s;

			samples_summary(run->weigh.column[printed[i]] + from,
					round_end(run, r) - from, &s);
			p50[r] = s.p50;
			out_cell_u64(t, s.p50);
		}
		out_cell_u64(t, samples_spread(p50, run->rounds));
	}
	free(p50);
}

static void windows(const struct run *run, struct out_doc *doc)
{
	struct out_sec *t;

	/* As text they were printed when they occurred. */
	if (!run->nr_windows || run->o.common.format == OUT_TEXT)
		return;
	t = out_table(doc, "windows", "Running averages");
	out_column(t, "total_ios");
	out_column(t, "gross_mean_tsc");
	out_column(t, "device_mean_tsc");
	out_column(t, "net_mean_tsc");
	for (size_t i = 0; i < run->nr_windows; i++) {
		const struct run_window *w = &run->window[i];

		out_row(t);
		out_cell_u64(t, w->total);
		out_cell_f64(t, w->gross_mean, 1);
		out_cell_f64(t, w->device_mean, 1);
		out_cell_f64(t, w->net_mean, 1);
	}
}

/* The study's cut, as near as it can be had without tracing. */
static void like_blk_account(const struct run *run, struct out_doc *doc,
			     const struct summary *s)
{
	struct out_sec *sec;

	if (!run->o.like_blk_account)
		return;
	sec = out_values(doc, "like_blk_account",
			 "Cut as in the SCSI write-cost study, nearly");
	out_value_f64(sec, "gross_mean_tsc", s[WEIGH_GROSS].mean, 1);
	out_value_f64(sec, "device_mean_tsc", s[WEIGH_ISSUE_TO_END].mean, 1);
	out_value_f64(sec, "net_mean_tsc",
		      s[WEIGH_GROSS].mean - s[WEIGH_ISSUE_TO_END].mean, 1);
	out_note(doc, "like_blk_account: the study's device time runs from the allocation of the request to its accounting; here from issue to end, so the block layer's way from allocation to issue is in net and not in device");
}

void report_obtained(const struct run *run, struct out_doc *doc)
{
	struct out_sec *sec = out_values(doc, "obtained",
					 "How it was obtained");
	char *cpu = machine_cpu_model(), *cmdline = machine_command_line();
	char *clock = machine_clock_source(), *debug = machine_debug_options();
	const char *off = strstr(cmdline, "mitigations=");

	out_value_str(sec, "tare_version", TARE_VERSION);
	out_value_str(sec, "cpu_model", cpu);
	out_value_u64(sec, "tsc_khz", run->info.tsc_khz);
	out_value_bool(sec, "tsc_trusted",
		       (run->info.tsc_flags & TARE_TSC_TRUSTED) ||
			       machine_is_exact(run->mode));
	out_value_str(sec, "clock_source", clock);
	if (off) {
		char *m = xasprintf("%.*s", (int)strcspn(off + 12, " "),
				    off + 12);

		out_value_str(sec, "mitigations", m);
		free(m);
	} else {
		out_value_str(sec, "mitigations", "kernel default");
	}
	out_value_str(sec, "debug_options", debug);
	out_value_str(sec, "command", run->command);
	out_value_str(sec, "kernel_command_line", cmdline);
	free(cpu);
	free(cmdline);
	free(clock);
	free(debug);
}

static void notes(const struct run *run, struct out_doc *doc)
{
	if (run->stopped || guard_stop)
		out_note(doc, "stopped early: of %zu I/Os a round, %" PRIu64 " were run in %zu",
			 run->planned, run->weigh.seen, run->rounds);
	for (size_t i = 0; i < run->job->notes.n; i++)
		out_note(doc, "job file line %u: %s",
			 run->job->notes.remark[i].line,
			 run->job->notes.remark[i].text);
	if (run->job->iodepth > 1)
		out_note(doc, "several in flight: the rows of an I/O hold its waiting for others, so the busy figure is the stack's; the driver's and the engine's own instructions are in it");
	if (run->device.memory_backed)
		out_note(doc, "memory_backed: the copy of the data is in the rows device and driver");
	if (run->mode == MACHINE_WALL)
		out_note(doc, "an emulated machine in real time: only ratios of interleaved runs mean anything");
}

int report_print(const struct run *run, const struct out_doc *doc, int code)
{
	if (out_print(doc, stdout, run->o.common.format))
		return msg_error("cannot write the output");
	return code;
}

/* Why the figures must not be used, on stderr too. */
static int verdict(const struct run *run)
{
	const struct weigh *w = &run->weigh;

	if (weigh_errors(w) || run->lost)
		return msg_error("NOT TO BE TRUSTED: %" PRIu64 " unmatched, %" PRIu64 " not monotonic, %" PRIu64 " with a residual, %" PRIu64 " failed I/Os, %" PRIu64 " lost records; none of these is in the figures",
				 w->unmatched, w->not_monotonic, w->residual,
				 w->failed, run->lost);
	if (guard_stop)
		return msg_error("interrupted");
	if (!w->n)
		return msg_error("no I/O was weighed");
	return TARE_OK;
}

int run_report(const struct run *run)
{
	struct out_doc *doc = out_new("run");
	struct summary s[WEIGH_NR_COLUMNS];
	int code;

	for (size_t i = 0; i < WEIGH_NR_COLUMNS; i++)
		samples_summary(run->weigh.column[i], run->weigh.n, &s[i]);
	report_head(run, doc);
	headline(run, doc, &s[WEIGH_NET]);
	waterfall(run, doc, s);
	spread(run, doc);
	windows(run, doc);
	like_blk_account(run, doc, s);
	counts(run, doc);
	errors(run, doc);
	device(run, doc, s);
	noise(run, doc);
	probe(run, doc);
	report_run(run, doc);
	report_obtained(run, doc);
	notes(run, doc);
	code = verdict(run);
	code = report_print(run, doc, code);
	out_free(doc);
	return code;
}

// SPDX-License-Identifier: GPL-2.0-only
/*
 * tare run: run a job and print where the time went. This file: the rounds;
 * run_options.c reads the command line, target.c makes the device and the
 * file, run_report.c prints.
 */
#include "run.h"

#include "command.h"
#include "guard.h"
#include "plan.h"
#include "run_options.h"

#include <errno.h>
#include <inttypes.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

const char *const run_column_names[WEIGH_NR_COLUMNS] = {
	[IO_SUBMIT] = "submit",	      [IO_START] = "start",
	[IO_DEVICE] = "device",	      [IO_DELIVERY] = "delivery",
	[IO_DRIVER] = "driver",	      [IO_SIGNAL] = "signal",
	[IO_BETWEEN] = "between",     [IO_COMPLETE] = "complete",
	[WEIGH_GROSS] = "gross",      [WEIGH_NET] = "net",
	[WEIGH_ISSUE_TO_END] = "issue_to_end",
};

/* What one round works with. */
struct round {
	struct run *run;
	struct target target;
	struct engine_ctx ctx;
	struct records records;
	struct io *io;
	size_t n;
	size_t weighed;		/* I/Os given to weigh_add() so far */
};

static void raw_head(FILE *raw)
{
	fputs("io,round,op,offset,bytes,requests,wrong,gross", raw);
	for (size_t i = 0; i < IO_NR_ROWS; i++)
		fprintf(raw, ",%s", io_row_names[i]);
	fputs(",net,enter\n", raw);
}

/* weigh_each: one line per I/O, warm-up included (numbered below 0). */
static void raw_line(void *arg, const struct io *io, const struct io_cut *cut,
		     size_t requests, unsigned int wrong)
{
	struct round *r = arg;
	FILE *raw = r->run->raw;
	int64_t index = (int64_t)(io - r->io) - (int64_t)r->run->warmup;

	fprintf(raw, "%" PRId64 ",%zu,%s,%" PRIu64 ",%u,%zu,%u,%" PRIu64,
		index, r->run->rounds, tare_op_names[io->op], io->offset,
		io->bytes, requests, wrong, cut->gross);
	for (size_t i = 0; i < IO_NR_ROWS; i++)
		fprintf(raw, ",%" PRIu64, cut->row[i]);
	fprintf(raw, ",%" PRIu64 ",%" PRIu64 "\n", cut->net, io->enter);
}

/* Weigh what was run since the last time. @return enum tare_exit */
static int weigh_new(struct round *r, size_t done)
{
	struct run *run = r->run;
	size_t from = r->weighed;
	size_t skip = from < run->warmup ? run->warmup - from : 0;
	struct fsmap map;
	int err;

	records_drain(&r->records);
	if (target_map(&r->target, r->ctx.fd, &map))
		return TARE_FAILED;
	err = weigh_add(&run->weigh, r->io + from, done - from, skip,
			r->records.rec, r->records.n, &map,
			run->raw ? raw_line : NULL, r);
	fsmap_free(&map);
	records_clear(&r->records);
	r->weighed = done;
	return err ? msg_error("the counter went backwards between two I/Os") :
		     TARE_OK;
}

static double mean(const uint64_t *v, size_t n)
{
	double sum = 0;

	for (size_t i = 0; i < n; i++)
		sum += (double)v[i];
	return n ? sum / (double)n : 0;
}

static void print_window(const struct run *run, const struct run_window *now)
{
	if (run->nr_windows == 1) {
		char *context = report_context(run);

		puts(context);
		free(context);
	}
	printf("gross average %.0f, device average %.0f, net average %.0f %s, total %" PRIu64 "\n",
	       now->gross_mean, now->device_mean, now->net_mean,
	       machine_unit(run->mode), now->total);
	fflush(stdout);
}

/* Running averages, as they occur: text at once, else kept for the document. */
static void add_window(struct run *run)
{
	const struct weigh *w = &run->weigh;
	struct run_window now = {
		.total = w->n,
		.gross_mean = mean(w->column[WEIGH_GROSS], w->n),
		.device_mean = mean(w->column[IO_DEVICE], w->n),
		.net_mean = mean(w->column[WEIGH_NET], w->n),
	};

	run->window = xrealloc(run->window, (run->nr_windows + 1) *
						    sizeof(*run->window));
	run->window[run->nr_windows++] = now;
	if (run->o.common.format == OUT_TEXT)
		print_window(run, &now);
}

static void add_time(struct run *run, const struct machine_time *from,
		     const struct machine_time *to, size_t ios)
{
	run->span_ticks += to->counter - from->counter;
	run->span_ios += ios;
	run->idle_known = from->idle_known && to->idle_known;
	run->idle_ns += to->idle_ns - from->idle_ns;
	run->interrupts_known = from->interrupts_known && to->interrupts_known;
	run->timer_interrupts += to->timer_interrupts - from->timer_interrupts;
	run->cpu_ns += to->cpu_ns - from->cpu_ns;
	run->faults += to->faults - from->faults;
	run->switches += to->switches - from->switches;
}

/* Where the next stretch ends: the warm-up, a window, or all of it. */
static size_t next_end(const struct round *r, size_t at)
{
	const struct run *run = r->run;
	size_t end = r->n;

	if (at < run->warmup)
		return run->warmup;
	if (end - at > RUN_STRETCH_MAX)
		end = at + RUN_STRETCH_MAX;
	if (run->o.window && end - at > run->o.window)
		end = at + run->o.window;
	return end;
}

static int run_ios(struct round *r)
{
	struct run *run = r->run;
	bool stopped = false;
	size_t done = 0;
	int code = TARE_OK;

	while (done < r->n && !code && !stopped) {
		struct machine_time before, after;
		size_t from = done, end = next_end(r, from);

		machine_time_begin(&before, run->cpu);
		done = r->ctx.engine->run(&r->ctx, from, end);
		machine_time_end(&after, run->cpu);
		if (from >= run->warmup)
			add_time(run, &before, &after, done - from);
		stopped = done < end;
		if (from >= run->warmup || done == r->n || stopped)
			code = weigh_new(r, done);
		if (run->o.window && from >= run->warmup && !code)
			add_window(run);
	}
	run->stopped |= stopped;
	return code;
}

static void say_failed_io(const struct round *r)
{
	for (size_t i = 0; i < r->weighed; i++) {
		if (!r->io[i].error)
			continue;
		msg_error("I/O %zu (%s of %u bytes at %" PRIu64 "): %s", i,
			  tare_op_names[r->io[i].op], r->io[i].bytes,
			  r->io[i].offset, strerror(r->io[i].error));
		return;
	}
}

/* The deadline of `runtime`, from now on. */
static uint64_t deadline(const struct run *run)
{
	if (!run->job->runtime_us)
		return 0;
	return clock_exit() +
	       clock_from_ns(run->job->runtime_us * 1000, run->info.tsc_khz);
}

static const struct engine *choose_engine(const struct run *run)
{
	return run->job->engine == JOB_IO_URING ? &engine_uring : &engine_psync;
}

/* How many I/Os a round has: as asked, else as the job says, within bounds. */
static size_t choose_length(struct run *run, uint64_t size)
{
	const struct job *job = run->job;
	uint64_t n = plan_length(job, size), once = size / job->bs;

	if (run->o.ios)
		n = run->o.ios;
	else if (n > RUN_IOS_DEFAULT)
		n = RUN_IOS_DEFAULT;
	run->warmup = run->o.warmup;
	if (!run->o.warmup_given) {
		run->warmup = n * RUN_WARMUP_PERCENT / 100;
		if (run->warmup < RUN_WARMUP_MIN)
			run->warmup = RUN_WARMUP_MIN;
		/* The warm-up comes on top of what was asked for. */
		if (run->o.ios)
			n += run->warmup;
		else if (run->warmup > n / 2)
			run->warmup = n / 2;
	} else if (run->o.ios) {
		n += run->warmup;
	}
	if (job->dir == JOB_WRITE && !job->overwrite && n > once) {
		msg_warn("only %" PRIu64 " I/Os: the second pass over %" PRIu64 " bytes would be no first write; give the job a larger size",
			 once, size);
		n = once;
	}
	if (run->warmup >= n)
		run->warmup = n / 2;
	return n;
}

static int start_engine(struct round *r)
{
	struct run *run = r->run;
	int err;

	r->ctx.job = run->job;
	r->ctx.io = r->io;
	r->ctx.records = &r->records;
	r->ctx.stop = &guard_stop;
	err = engine_open(&r->ctx, choose_engine(run));
	if (err == -ENOSYS || err == -EPERM)
		return msg_cannot("this kernel offers no %s: %s",
				  choose_engine(run)->name, strerror(-err));
	if (err)
		return msg_error("engine %s: %s", choose_engine(run)->name,
				 strerror(-err));
	free(run->engine_detail);
	run->engine_detail = xstrdup(r->ctx.detail);
	return TARE_OK;
}

static int start_records(struct round *r)
{
	int err = records_open(&r->records, r->target.device);

	if (err == -EBUSY)
		return msg_error("somebody else records %s",
				 r->target.device);
	if (err)
		return msg_error("cannot record %s: %s", r->target.device,
				 strerror(-err));
	/* As many as the I/Os are likely to need, so that none is allocated between. */
	records_reserve(&r->records, 4096 + (r->n < RUN_STRETCH_MAX ?
						     2 * r->n :
						     2 * RUN_STRETCH_MAX));
	return TARE_OK;
}

/* Everything in memory, so that no fault falls into a window. */
static void lock_memory(void)
{
	if (mlockall(MCL_CURRENT | MCL_FUTURE) < 0)
		msg_warn("cannot lock memory (%s): page faults may fall into the figures",
			 strerror(errno));
}

static int with_records(struct round *r)
{
	struct run *run = r->run;
	int code;

	code = start_engine(r);
	if (code)
		return code;
	if (isatty(STDERR_FILENO))
		msg_info("weighing %zu I/Os after %zu of warm-up",
			 r->n - run->warmup, run->warmup);
	lock_memory();
	r->ctx.deadline = deadline(run);
	code = run_ios(r);
	say_failed_io(r);
	run->lost += records_lost(&r->records);
	munlockall();
	engine_close(&r->ctx);
	return code;
}

static int with_file(struct round *r)
{
	int code;

	code = start_records(r);
	if (code)
		return code;
	code = with_records(r);
	records_close(&r->records);
	if (!code && r->run->job->end_fsync && fsync(r->ctx.fd) < 0)
		code = msg_error("fsync: %s", strerror(errno));
	return code;
}

/* An I/O, its figures in every column, of all rounds: known before it runs out. */
static int check_memory(const struct run *run, size_t n)
{
	uint64_t io = sizeof(struct io) + WEIGH_NR_COLUMNS * sizeof(uint64_t) *
						  run->o.rounds;
	uint64_t need = (io * n) >> 20, free_mb;

	if (!machine_memory_mb(&free_mb) || need < free_mb)
		return TARE_OK;
	return msg_usage("%zu I/Os a round need %" PRIu64 " MiB of memory, %" PRIu64 " MiB are free: give fewer with --ios%s",
			 n, need, free_mb,
			 run->o.rounds > 1 ? " or --rounds" : "");
}

static int with_target(struct round *r)
{
	struct run *run = r->run;
	int code;

	r->n = choose_length(run, r->target.size);
	code = check_memory(run, r->n);
	if (code)
		return code;
	run->planned = r->n;
	r->io = xcalloc(r->n, sizeof(*r->io));
	plan_make(r->io, r->n, run->job, r->target.size);
	run_device_read(&run->device, r->target.device);
	r->ctx.fd = target_open(&r->target, run->job);
	code = r->ctx.fd < 0 ? TARE_FAILED : with_file(r);
	if (r->ctx.fd >= 0)
		close(r->ctx.fd);
	free(r->io);
	return code;
}

static int one_round(struct run *run)
{
	struct target_options want = {
		.device = run->o.device, .fs = run->o.fs,
		.set = run->o.set, .nr_set = run->o.nr_set,
		.job_file = run->file.path,
	};
	struct round r = { .run = run };
	int code, end;

	run->round_start = xrealloc(run->round_start,
				    (run->rounds + 1) * sizeof(size_t));
	run->round_start[run->rounds] = run->weigh.n;
	code = target_setup(&r.target, &want, run->job);
	if (code)
		return code;
	code = with_target(&r);
	run->rounds++;
	end = target_teardown(&r.target);
	return code ? code : end;
}

static int rounds(struct run *run)
{
	int code = TARE_OK;

	for (uint64_t i = 0; i < run->o.rounds && !code &&
			     !run->weigh.failed && !guard_stop; i++) {
		if (run->o.rounds > 1)
			msg_info("round %" PRIu64 " of %" PRIu64, i + 1,
				 run->o.rounds);
		code = one_round(run);
	}
	return code;
}

/* The job that runs: the section asked for, or the only one. */
static int choose_job(struct run *run)
{
	for (size_t i = 0; run->o.section && i < run->file.n; i++)
		if (!strcmp(run->file.job[i].name, run->o.section))
			run->job = &run->file.job[i];
	if (run->o.section && !run->job)
		return msg_usage("%s has no section [%s]", run->file.path,
				 run->o.section);
	if (!run->job && run->file.n > 1)
		return msg_usage("%s has %zu jobs; choose one with --section",
				 run->file.path, run->file.n);
	if (!run->job)
		run->job = &run->file.job[0];
	return TARE_OK;
}

/* --engine replaces what the job says, and with it a refusal of that. */
static int apply_engine(struct run *run)
{
	struct job *job = run->job;
	const char *name = run->o.engine;

	if (name && !strcmp(name, "fio"))
		return TARE_OK;
	if (name && job->engine == JOB_OTHER)
		return msg_usage("%s: ioengine=%s is left to --engine fio",
				 run->file.path, job->ioengine);
	if (name) {
		job->engine = !strcmp(name, "io_uring") ? JOB_IO_URING :
							  JOB_PSYNC;
		if (job->engine == JOB_PSYNC)
			job->iodepth = 1;
		else if (job->fsync || job->fdatasync)
			return msg_usage("%s: the own io_uring engine has no fsync or fdatasync",
					 run->file.path);
	}
	return job_check_own(&run->file, job) ? TARE_USAGE : TARE_OK;
}

static int load_job(struct run *run)
{
	char *path = run_job_path(run->o.job);
	int code = TARE_OK;

	if (access(path, F_OK))
		code = msg_usage("there is no job '%s': neither a file nor one that comes with tare",
				 path);
	else if (jobfile_load(&run->file, path))
		code = TARE_USAGE;
	free(path);
	if (!code)
		code = choose_job(run);
	if (!code)
		code = apply_engine(run);
	if (code)
		return code;
	for (size_t i = 0; i < run->job->notes.n; i++)
		msg_debug("%s:%u: %s", run->file.path,
			  run->job->notes.remark[i].line,
			  run->job->notes.remark[i].text);
	return TARE_OK;
}

/* The CPU that was asked for must be one; else it is the current one. */
static int choose_cpu(struct run *run)
{
	int64_t asked = run->o.cpu >= 0 ? run->o.cpu : run->job->cpu;
	char *online;
	int code = TARE_OK;

	run->cpu = asked >= 0 ? (int)asked : sched_getcpu();
	if (run->cpu < 0)
		return msg_error("cannot find out the current CPU");
	if (asked < 0)
		return TARE_OK;
	online = machine_cpus_online();
	if (*online && !machine_cpu_in(online, run->cpu))
		code = msg_usage("there is no CPU %d (online: %s)", run->cpu,
				 online);
	free(online);
	return code;
}

static int pin(struct run *run)
{
	int err = machine_pin(run->cpu);

	return err ? msg_error("cannot run on CPU %d: %s", run->cpu,
			       strerror(-err)) : TARE_OK;
}

static int need(struct run *run)
{
	int code = device_need_driver();
	int fd, err;

	if (!code)
		code = device_need_root();
	if (code)
		return code;
	if (!CLOCK_IS_DRIVERS)
		return msg_cannot("on this processor user space cannot read the counter that the driver stamps with");
	fd = control_open();
	if (fd < 0)
		return TARE_FAILED;
	err = control_info(fd, &run->info);
	close(fd);
	if (err)
		return msg_error("/dev/tare: %s", strerror(-err));
	/* Exact mode's counter is right by construction; QEMU does not say so. */
	if (!(run->info.tsc_flags & TARE_TSC_TRUSTED) &&
	    !machine_is_exact(run->mode))
		msg_warn("the timestamp counter cannot be trusted here ('tare doctor' says why): figures hold for one pinned CPU at most");
	return TARE_OK;
}

/* All that needs the job and the driver. @return enum tare_exit */
static int weigh_job(struct run *run)
{
	int code = pin(run), held = -1;

	if (code)
		return code;
	if (guard_start())
		return msg_error("cannot start the guard process: %s",
				 strerror(errno));
	if (run->o.hold_latency) {
		held = machine_hold_latency();
		if (held < 0)
			msg_warn("/dev/cpu_dma_latency: %s", strerror(-held));
	}
	clock_calibrate(&run->probe);
	if (run->o.engine && !strcmp(run->o.engine, "fio")) {
		code = run_fio(run);
	} else {
		code = rounds(run);
		if (run->weigh.seen) {
			int printed = run_report(run);

			code = code ? code : printed;
		}
	}
	if (held >= 0)
		close(held);
	guard_end();
	return code;
}

static void run_free(struct run *run)
{
	weigh_free(&run->weigh);
	run_device_free(&run->device);
	jobfile_free(&run->file);
	assignments_free(run->o.set, run->o.nr_set);
	free(run->round_start);
	free(run->engine_detail);
	free(run->window);
	free(run->command);
}

static int open_raw(struct run *run)
{
	if (!run->o.raw)
		return TARE_OK;
	run->raw = fopen(run->o.raw, "we");
	if (!run->raw)
		return msg_error("%s: %s", run->o.raw, strerror(errno));
	raw_head(run->raw);
	return TARE_OK;
}

static int close_raw(struct run *run, int code)
{
	if (!run->raw)
		return code;
	if (ferror(run->raw) | fclose(run->raw))
		return msg_error("cannot write %s", run->o.raw);
	return code;
}

/* The command as it was given, for the report. */
static char *join_words(int argc, char **argv)
{
	char *line = xstrdup(argv[0]);

	for (int i = 1; i < argc; i++) {
		char *longer = xasprintf("%s %s", line, argv[i]);

		free(line);
		line = longer;
	}
	return line;
}

int cmd_run(int argc, char **argv)
{
	struct run run = { .o = { .cpu = -1, .rounds = 1 } };
	int code;

	run.command = join_words(argc, argv);
	code = run_options_parse(argc, argv, &run.o);
	run.mode = machine_mode();
	if (!code)
		code = load_job(&run);
	if (!code)
		code = choose_cpu(&run);
	if (!code)
		code = need(&run);
	if (!code)
		code = open_raw(&run);
	if (!code)
		code = weigh_job(&run);
	code = close_raw(&run, code);
	run_free(&run);
	return code;
}

// SPDX-License-Identifier: GPL-2.0-only
/* tare stat: the driver's statistics, once or every few seconds. */
#include <errno.h>
#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "command.h"
#include "devices.h"
#include "options.h"
#include "statdoc.h"

enum { OPT_RESET = 256, OPT_HISTOGRAM, OPT_CPU };

#define INTERVAL_MAX_S 86400.0

struct stat_args {
	char *name;		/* NULL: all powered devices */
	double interval_s;	/* 0: once */
	uint64_t count;		/* of intervals; 0: until Ctrl-C */
	bool reset, histogram;
	int cpu;		/* -1: all */
};

/* All devices at one time. */
struct snapshot {
	struct stat_reading *readings;
	size_t n;
	struct timespec when;
};

static const struct argp_option stat_options[] = {
	{ "interval", 'i', "SECONDS", 0,
	  "Show what was added every SECONDS, until Ctrl-C; then all of it", 0 },
	{ "count", 'n', "N", 0, "End after N intervals", 0 },
	{ "reset", OPT_RESET, NULL, 0, "Show, then set to zero", 0 },
	{ "histogram", OPT_HISTOGRAM, NULL, 0, "Show the histograms too", 0 },
	{ "cpu", OPT_CPU, "N", 0,
	  "Operations and rows of one CPU (counters are always of all)", 0 },
	{ 0 }
};

/* A plain decimal number above 0; strtod alone takes "nan", "0x1" and " 1". */
static int parse_seconds(const char *text, double *seconds)
{
	char *end;

	if (!*text || strspn(text, "0123456789.") != strlen(text))
		return -EINVAL;
	*seconds = strtod(text, &end);
	return *end || !(*seconds > 0) || *seconds > INTERVAL_MAX_S ? -EINVAL :
								      0;
}

static void take_cpu(const char *arg, int *cpu, struct argp_state *state)
{
	uint64_t v;

	if (parse_u64(arg, &v) || v > INT32_MAX)
		argp_error(state, "--cpu: '%s' is no CPU number", arg);
	*cpu = (int)v;
}

static void check_args(const struct stat_args *args, struct argp_state *state)
{
	if (args->count && !args->interval_s)
		argp_error(state, "--count needs --interval");
	if (args->reset && args->interval_s)
		argp_error(state, "--reset does not go with --interval, which shows differences");
}

static error_t stat_parse(int key, char *arg, struct argp_state *state)
{
	struct stat_args *args = state->input;

	switch (key) {
	case 'i':
		if (parse_seconds(arg, &args->interval_s))
			argp_error(state, "--interval: '%s' is no time above 0 and up to a day in seconds",
				   arg);
		return 0;
	case 'n':
		if (parse_u64(arg, &args->count) || !args->count)
			argp_error(state, "--count: '%s' is no number above 0",
				   arg);
		return 0;
	case OPT_RESET:
		args->reset = true;
		return 0;
	case OPT_HISTOGRAM:
		args->histogram = true;
		return 0;
	case OPT_CPU:
		take_cpu(arg, &args->cpu, state);
		return 0;
	case ARGP_KEY_ARG:
		if (args->name)
			argp_error(state, "only one NAME can be given");
		args->name = arg;
		return 0;
	case ARGP_KEY_END:
		check_args(args, state);
		return 0;
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

static const struct argp stat_argp = {
	.options = stat_options,
	.parser = stat_parse,
	.args_doc = "[NAME]",
	.doc = "Show what the driver counted and timed: of one device, or of all that are on.",
};

/* ---- reading ---- */

static void snapshot_free(struct snapshot *s)
{
	for (size_t i = 0; i < s->n; i++)
		free(s->readings[i].name);
	free(s->readings);
	memset(s, 0, sizeof(*s));
}

/* One that is switched off meanwhile is left out when all are asked for. */
static int snapshot_take(int fd, const struct stat_args *args,
			 const struct device_names *found, struct snapshot *s)
{
	memset(s, 0, sizeof(*s));
	s->readings = xcalloc(found->n, sizeof(*s->readings));
	clock_gettime(CLOCK_MONOTONIC, &s->when);
	for (int i = 0; i < found->n; i++) {
		const char *name = found->names[i];
		int err = stat_read(fd, name, args->cpu, &s->readings[s->n]);

		if (err == -ENODEV && !args->name)
			continue;
		if (err) {
			snapshot_free(s);
			if (err == -ENODEV)
				return msg_error("%s is off; 'tare set %s power=1' switches it on",
						 name, name);
			return msg_error("%s: %s", name, strerror(-err));
		}
		s->readings[s->n++].name = xstrdup(name);
	}
	return TARE_OK;
}

static int snapshot_check(const struct snapshot *s)
{
	int wrong = 0;

	for (size_t i = 0; i < s->n; i++)
		wrong += stat_check(&s->readings[i]);
	return wrong ? TARE_FAILED : TARE_OK;
}

static const struct stat_reading *reading_of(const struct snapshot *s,
					     const char *name)
{
	for (size_t i = 0; i < s->n; i++)
		if (!strcmp(s->readings[i].name, name))
			return &s->readings[i];
	return NULL;
}

/* after - before, device by device; one that is new has no difference yet. */
static void snapshot_diff(const struct snapshot *before,
			  const struct snapshot *after, struct snapshot *diff)
{
	memset(diff, 0, sizeof(*diff));
	diff->readings = xcalloc(after->n, sizeof(*diff->readings));
	for (size_t i = 0; i < after->n; i++) {
		const struct stat_reading *now = &after->readings[i];
		const struct stat_reading *then = reading_of(before, now->name);

		if (!then)
			continue;
		if (!stat_diff(then, now, &diff->readings[diff->n])) {
			msg_warn("%s: the statistics were set to zero meanwhile; this interval is not shown",
				 now->name);
			continue;
		}
		diff->readings[diff->n].name = xstrdup(now->name);
		diff->n++;
	}
}

static double seconds_between(const struct timespec *a,
			      const struct timespec *b)
{
	return (double)(b->tv_sec - a->tv_sec) +
	       (double)(b->tv_nsec - a->tv_nsec) / 1e9;
}

/* ---- showing ---- */

static int show(const struct snapshot *s, const struct stat_view *view,
		const char *title, const struct options *common)
{
	const struct stat_reading **list = xcalloc(s->n, sizeof(*list));
	int code;

	for (size_t i = 0; i < s->n; i++)
		list[i] = &s->readings[i];
	code = options_print(stat_doc(list, s->n, view, title), common);
	free(list);
	return code;
}

static int show_diff(const struct snapshot *before,
		     const struct snapshot *after, struct stat_view view,
		     const char *title, const struct options *common)
{
	struct snapshot diff;
	int code;

	view.seconds = seconds_between(&before->when, &after->when);
	snapshot_diff(before, after, &diff);
	code = show(&diff, &view, title, common);
	snapshot_free(&diff);
	return code;
}

static int reset_all(int fd, const struct snapshot *s)
{
	int code = TARE_OK;

	for (size_t i = 0; i < s->n; i++) {
		int err = control_reset(fd, s->readings[i].name);

		if (err)
			code = msg_error("%s: cannot be set to zero: %s",
					 s->readings[i].name, strerror(-err));
	}
	return code;
}

static int show_once(int fd, const struct stat_args *args,
		     const struct device_names *found,
		     const struct stat_view *view,
		     const struct options *common)
{
	struct snapshot s;
	int code = snapshot_take(fd, args, found, &s);
	int check;

	if (code)
		return code;
	check = snapshot_check(&s);
	code = show(&s, view, NULL, common);
	if (!code && args->reset)
		code = reset_all(fd, &s);
	snapshot_free(&s);
	return code ? code : check;
}

/* ---- every few seconds ---- */

static volatile sig_atomic_t interrupted;

static void on_signal(int sig)
{
	(void)sig;
	interrupted = 1;
}

static void catch_signals(void)
{
	struct sigaction action = { .sa_handler = on_signal };

	sigemptyset(&action.sa_mask);
	sigaction(SIGINT, &action, NULL);
	sigaction(SIGTERM, &action, NULL);
}

/* Until an absolute time, so that intervals do not drift. False: interrupted. */
static bool sleep_until(const struct timespec *start, double seconds)
{
	double whole = floor(seconds);
	struct timespec until = {
		.tv_sec = start->tv_sec + (time_t)whole,
		.tv_nsec = start->tv_nsec + (long)((seconds - whole) * 1e9),
	};

	if (until.tv_nsec >= 1000000000L) {
		until.tv_sec++;
		until.tv_nsec -= 1000000000L;
	}
	while (!interrupted)
		if (!clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &until,
				     NULL))
			return true;
	return false;
}

struct watch {
	int fd;
	const struct stat_args *args;
	const struct device_names *found;
	const struct stat_view *view;
	const struct options *common;
	struct snapshot first, last;
	int check;		/* the worst snapshot_check() */
};

/* One more reading becomes the last one, what it adds is shown. */
static int watch_step(struct watch *w)
{
	struct snapshot now;
	int code = snapshot_take(w->fd, w->args, w->found, &now);

	if (code)
		return code;
	if (snapshot_check(&now))
		w->check = TARE_FAILED;
	code = show_diff(&w->last, &now, *w->view, "Interval", w->common);
	/* The next report is set off on a screen. */
	if (w->common->format == OUT_TEXT)
		putchar('\n');
	if (w->last.readings != w->first.readings)
		snapshot_free(&w->last);
	w->last = now;
	return code;
}

/* The whole time, with the part after the last full interval. */
static int watch_summary(struct watch *w)
{
	struct snapshot now;
	int code = snapshot_take(w->fd, w->args, w->found, &now);

	if (code)
		return code;
	code = show_diff(&w->first, &now, *w->view, "All intervals",
			 w->common);
	snapshot_free(&now);
	return code;
}

static int watch_all(struct watch *w)
{
	const struct stat_args *args = w->args;
	uint64_t i = 0;
	int code = snapshot_take(w->fd, args, w->found, &w->first);

	if (code)
		return code;
	w->last = w->first;
	while (!code && (!args->count || i < args->count) &&
	       sleep_until(&w->first.when, (double)++i * args->interval_s))
		code = watch_step(w);
	if (!code)
		code = watch_summary(w);
	if (w->last.readings != w->first.readings)
		snapshot_free(&w->last);
	snapshot_free(&w->first);
	return code ? code : w->check;
}

static int stat_devices(int fd, const struct stat_args *args,
			const struct device_names *found,
			const struct options *common)
{
	struct tare_info info;
	struct stat_view view = { .info = &info, .histogram = args->histogram };
	struct watch watch = { .fd = fd, .args = args, .found = found,
			       .view = &view, .common = common };
	int err = control_info(fd, &info);

	if (err)
		return msg_error(TARE_DEV_PATH ": %s", strerror(-err));
	if (args->cpu >= 0 && (uint32_t)args->cpu >= info.nr_cpu_ids)
		return msg_usage("--cpu: this machine has CPUs 0 to %u",
				 info.nr_cpu_ids - 1);
	if (!args->interval_s)
		return show_once(fd, args, found, &view, common);
	catch_signals();
	return watch_all(&watch);
}

int cmd_stat(int argc, char **argv)
{
	struct stat_args args = { .cpu = -1 };
	struct options common = { 0 };
	struct device_names found = { 0 };
	int code = options_parse(&stat_argp, argc, argv, &args, &common);
	int fd = -1;

	if (!code)
		code = devices_need_all();
	if (!code)
		code = devices_find(&args.name, args.name ? 1 : 0, &found);
	if (!code) {
		fd = control_open();
		if (fd < 0)
			code = fd == -EPROTO ? TARE_FAILED : TARE_CANNOT;
	}
	if (!code)
		code = stat_devices(fd, &args, &found, &common);
	if (fd >= 0)
		close(fd);
	devices_free(&found);
	return code;
}

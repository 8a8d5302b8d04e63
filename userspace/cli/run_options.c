// SPDX-License-Identifier: GPL-2.0-only
/* tare run: the command line. */
#include "run_options.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum {
	KEY_FS = 256, KEY_CPU, KEY_IOS, KEY_ROUNDS, KEY_WINDOW, KEY_WARMUP,
	KEY_ENGINE, KEY_HOLD, KEY_LIKE, KEY_RAW, KEY_SECTION,
};

static const struct argp_option options[] = {
	{ "device", 'd', "NAME", 0,
	  "Use this device; else one is made with ATTR=VALUE and removed", 0 },
	{ "fs", KEY_FS, "TYPE", 0,
	  "Make a file system (ext4 or xfs) and run on a file in it", 0 },
	{ "section", KEY_SECTION, "NAME", 0,
	  "The job to run when the file has several", 0 },
	{ "engine", KEY_ENGINE, "ENGINE", 0,
	  "psync, io_uring or fio, whatever the job says", 0 },
	{ "cpu", KEY_CPU, "N", 0,
	  "Run on this CPU (default: the job's, else the current one)", 0 },
	{ "ios", KEY_IOS, "N", 0,
	  "I/Os to weigh in each round (default: as the job says, at most 20000)",
	  0 },
	{ "warmup", KEY_WARMUP, "N", 0,
	  "I/Os before those (default: 5 %, at least 100)", 0 },
	{ "rounds", KEY_ROUNDS, "N", 0,
	  "Repeat on a fresh device and file system, print the layout spread",
	  0 },
	{ "window", KEY_WINDOW, "N", 0,
	  "Print running averages every N I/Os", 0 },
	{ "hold-latency", KEY_HOLD, NULL, 0,
	  "Keep the CPUs out of sleep states meanwhile", 0 },
	{ "like", KEY_LIKE, "CUT", 0,
	  "blk_account: also as the SCSI write-cost study cut it", 0 },
	{ "raw", KEY_RAW, "FILE", 0, "Write one CSV line per I/O", 0 },
	{ 0 }
};

static uint64_t number(struct argp_state *state, const char *name,
		       const char *arg, uint64_t min, uint64_t max)
{
	uint64_t v;

	if (parse_u64(arg, &v) || v < min || v > max)
		argp_error(state, "--%s '%s': a number from %llu to %llu is wanted",
			   name, arg, (unsigned long long)min,
			   (unsigned long long)max);
	return v;
}

#define IOS_MAX 100000000u

static error_t parse_number(int key, const char *arg, struct argp_state *state)
{
	struct run_options *o = state->input;

	switch (key) {
	case KEY_CPU:
		o->cpu = (int64_t)number(state, "cpu", arg, 0, 65535);
		return 0;
	case KEY_IOS:
		o->ios = number(state, "ios", arg, 1, IOS_MAX);
		return 0;
	case KEY_WARMUP:
		o->warmup = number(state, "warmup", arg, 0, IOS_MAX);
		o->warmup_given = true;
		return 0;
	case KEY_ROUNDS:
		o->rounds = number(state, "rounds", arg, 1, 1000);
		return 0;
	case KEY_WINDOW:
		o->window = number(state, "window", arg, 1, IOS_MAX);
		return 0;
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

static void parse_engine(struct run_options *o, const char *arg,
			 struct argp_state *state)
{
	if (strcmp(arg, "psync") && strcmp(arg, "io_uring") &&
	    strcmp(arg, "fio"))
		argp_error(state, "--engine '%s': psync, io_uring or fio", arg);
	o->engine = arg;
}

static error_t parse_name(int key, char *arg, struct argp_state *state)
{
	struct run_options *o = state->input;

	switch (key) {
	case 'd':
		if (device_name_check(arg))
			return EINVAL;
		o->device = arg;
		return 0;
	case KEY_FS:
		if (!target_fs_known(arg))
			argp_error(state, "--fs '%s': ext4 or xfs", arg);
		o->fs = arg;
		return 0;
	case KEY_SECTION:
		o->section = arg;
		return 0;
	case KEY_ENGINE:
		parse_engine(o, arg, state);
		return 0;
	case KEY_LIKE:
		if (strcmp(arg, "blk_account"))
			argp_error(state, "--like '%s': only blk_account", arg);
		o->like_blk_account = true;
		return 0;
	case KEY_RAW:
		o->raw = arg;
		return 0;
	case KEY_HOLD:
		o->hold_latency = true;
		return 0;
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

static error_t parse_arg(struct run_options *o, char *arg)
{
	if (o->job)
		return assignments_parse(arg, &o->set, &o->nr_set) ? EINVAL : 0;
	o->job = arg;
	return 0;
}

static error_t parse(int key, char *arg, struct argp_state *state)
{
	struct run_options *o = state->input;

	if (key == ARGP_KEY_ARG)
		return parse_arg(o, arg);
	if (key == ARGP_KEY_END && !o->job)
		argp_error(state, "JOB is missing");
	if (key == ARGP_KEY_END && o->device && o->nr_set)
		argp_error(state, "ATTR=VALUE is for a device that is made; change an existing one with 'tare set'");
	if (parse_number(key, arg, state) == 0)
		return 0;
	return parse_name(key, arg, state);
}

static const struct argp run_argp = {
	.options = options,
	.parser = parse,
	.args_doc = "JOB [ATTR=VALUE…]",
	.doc = "Run a fio job file, JOB, and print where the time of its I/Os went: the device's, the driver's and the stack's part. JOB is a path or the name of a job in configs/jobs.",
};

int run_options_parse(int argc, char **argv, struct run_options *o)
{
	return options_parse(&run_argp, argc, argv, o, &o->common);
}

/* A job of that name in one directory, or NULL. Frees dir. */
static char *job_in(char *dir, const char *name)
{
	char *path = xasprintf("%s/%s.fio", dir, name);

	free(dir);
	if (access(path, R_OK) == 0)
		return path;
	free(path);
	return NULL;
}

char *run_job_path(const char *name)
{
	const char *source = getenv("TARE_SOURCE");
	char *path = NULL;

	if (strchr(name, '/') || access(name, R_OK) == 0)
		return xstrdup(name);
	if (source)
		path = job_in(xasprintf("%s/configs/jobs", source), name);
	if (!path)
		path = job_in(xstrdup("/etc/tare/jobs"), name);
	if (!path)
		path = job_in(xstrdup(TARE_SOURCE_DIR "/configs/jobs"), name);
	if (!path)
		path = job_in(xstrdup("/usr/local/share/tare/jobs"), name);
	if (!path)
		path = job_in(xstrdup("/usr/share/tare/jobs"), name);
	return path ? path : xstrdup(name);
}

// SPDX-License-Identifier: GPL-2.0-only
/* tare run: the command line. */
#include "run_options.h"

#include "paths.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* The smallest disk that mkfs.xfs accepts is 300 MB. */
#define FS_DISK_MB "512"

enum {
	KEY_FS = 256, KEY_CPU, KEY_IOS, KEY_ROUNDS, KEY_WINDOW, KEY_WARMUP,
	KEY_ENGINE, KEY_HOLD, KEY_LIKE, KEY_RAW, KEY_SECTION,
};

static const struct argp_option options[] = {
	{ "device", 'd', "NAME", 0,
	  "Use this device; else one is made with ATTR=VALUE and removed", 0 },
	{ "profile", 'p', "PROFILE", 0,
	  "Make the device from this profile, then ATTR=VALUE", 0 },
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
	case 'p':
		o->profile = arg;
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
	if (key == ARGP_KEY_END && o->device && (o->nr_set || o->profile))
		argp_error(state, "a profile and ATTR=VALUE are for a device that is made; change an existing one with 'tare set'");
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

/* What the new device gets: the profile's, then the command line's. */
static int collect(struct run_options *o)
{
	struct assignment *set = NULL;
	const char *backed;
	size_t n = 0;
	char *problem;

	if (o->fs) {
		assignments_add(&set, &n, "memory_backed", "1");
		assignments_add(&set, &n, "size_mb", FS_DISK_MB);
	}
	if (o->profile && profile_load(o->profile, &set, &n)) {
		assignments_free(set, n);
		return TARE_USAGE;
	}
	for (size_t i = 0; i < o->nr_set; i++)
		assignments_add(&set, &n, o->set[i].attr, o->set[i].value);
	assignments_free(o->set, o->nr_set);
	o->set = set;
	o->nr_set = n;
	problem = assignments_problem(set, n);
	if (problem) {
		msg_usage("%s", problem);
		free(problem);
		return TARE_USAGE;
	}
	backed = assignments_get(set, n, "memory_backed");
	if (o->fs && backed && strcmp(backed, "1"))
		return msg_usage("--fs needs memory_backed=1");
	return TARE_OK;
}

int run_options_parse(int argc, char **argv, struct run_options *o)
{
	int code = options_parse(&run_argp, argc, argv, o, &o->common);

	return code || o->device ? code : collect(o);
}

char *run_job_path(const char *name)
{
	char *file, *path;

	if (strchr(name, '/') || access(name, R_OK) == 0)
		return xstrdup(name);
	file = xasprintf("%s.fio", name);
	path = path_find("jobs", file);
	free(file);
	return path ? path : xstrdup(name);
}

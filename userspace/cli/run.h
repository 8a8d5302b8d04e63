/* SPDX-License-Identifier: GPL-2.0-only */
/* tare run: what its parts share. */
#ifndef TARE_RUN_H
#define TARE_RUN_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "clock.h"
#include "engine.h"
#include "jobfile.h"
#include "machine.h"
#include "options.h"
#include "samples.h"
#include "target.h"
#include "weigh.h"

#define RUN_IOS_DEFAULT		20000u
#define RUN_WARMUP_PERCENT	5u
#define RUN_WARMUP_MIN		100u
/* I/Os whose records are kept at a time: 64 MB of them, if each is one request. */
#define RUN_STRETCH_MAX		500000u

struct run_options {
	struct options common;
	const char *job;
	const char *section;	/* NULL: the only one */
	const char *device;
	const char *profile;
	const char *fs;
	const char *engine;	/* NULL: as the job says */
	const char *raw;	/* file for one line per I/O; NULL: none */
	bool like_blk_account;
	bool hold_latency;
	int64_t cpu;		/* -1: the job's, else the current one */
	uint64_t ios;		/* 0: not given */
	uint64_t rounds;
	uint64_t window;	/* 0: none */
	uint64_t warmup;
	bool warmup_given;
	struct assignment *set;
	size_t nr_set;
};

/** The device as it was during the run; strings are empty when unknown. */
struct run_device {
	char *name;
	char *scheduler;
	char *completion;
	char *distribution;
	uint64_t channels;
	uint64_t queues;
	uint64_t queue_depth;
	uint64_t service_ns[TARE_NR_OPS];	/* asked for */
	bool memory_backed;
	bool write_cache;
};

/** One line of --window. */
struct run_window {
	uint64_t total;		/* I/Os so far */
	double gross_mean, device_mean, net_mean;	/* of all so far */
};

/** Percentages and percentiles come later; this is what happened. */
struct run {
	struct run_options o;
	char *command;			/* as it was given */
	struct jobfile file;
	struct job *job;
	enum machine_mode mode;
	int cpu;
	struct tare_info info;		/* the driver's */
	struct clock_cost probe;	/* a pair in user space, ticks */
	struct weigh weigh;
	size_t *round_start;		/* first value of each round */
	size_t rounds;			/* done, the last perhaps not wholly */
	size_t planned;			/* I/Os a round, warm-up included */
	size_t warmup;
	uint64_t lost;			/* records */
	bool stopped;		/* a round ended before all of its I/Os */
	struct run_device device;
	char *engine_detail;
	/* of the measured parts of all rounds, warm-up left out */
	uint64_t span_ticks;
	uint64_t span_ios;
	uint64_t idle_ns;
	bool idle_known;
	uint64_t timer_interrupts;
	bool interrupts_known;
	uint64_t cpu_ns;
	uint64_t faults;
	uint64_t switches;
	struct run_window *window;
	size_t nr_windows;
	FILE *raw;
};

/** Names of all columns of struct weigh. */
extern const char *const run_column_names[WEIGH_NR_COLUMNS];

/**
 * run_fio.c: the whole of --engine fio, from making the device to the report.
 * @return enum tare_exit
 */
int run_fio(struct run *run);

/** run_report.c: print the document. @return enum tare_exit */
int run_report(const struct run *run);
/** What may be compared with what, in one line. Freed by the caller. */
char *report_context(const struct run *run);
/** Sections that every kind of run has: context, what ran, how it was obtained. */
void report_head(const struct run *run, struct out_doc *doc);
void report_run(const struct run *run, struct out_doc *doc);
void report_obtained(const struct run *run, struct out_doc *doc);
/** Are the ticks of the headline to be given in ns as well? */
bool report_has_ns(const struct run *run);
/** Render to stdout. @return enum tare_exit */
int report_print(const struct run *run, const struct out_doc *doc, int code);

/** run_device.c: read and free what the report says about the device. */
void run_device_read(struct run_device *d, const char *name);
void run_device_free(struct run_device *d);

#endif

/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What a job runs on: a device, perhaps a file system on it, and the file or
 * the disk itself, laid out as the job wants to find it.
 */
#ifndef TARE_TARGET_H
#define TARE_TARGET_H

#include <stdbool.h>
#include <stdint.h>

#include "device.h"
#include "fsmap.h"
#include "jobfile.h"

struct target_options {
	const char *device;	/* an existing one; NULL: make one */
	const char *fs;		/* "ext4", "xfs"; NULL: the disk itself */
	const char *job_file;	/* for messages */
	const struct assignment *set;	/* for a device that is made */
	size_t nr_set;
};

struct target {
	char *device;
	char *disk;		/* /dev/NAME */
	const char *fs;		/* NULL: none */
	char *dir;		/* mount point, NULL: none */
	char *path;		/* the job's file or disk */
	uint64_t size;		/* bytes the job works on, from job->offset on */
	bool own_device;
	bool mounted;
};

/** Is fs one that target_setup() can make? */
bool target_fs_known(const char *fs);

/**
 * Make everything. Prints what is wrong. On failure nothing is left.
 * @return enum tare_exit
 */
int target_setup(struct target *t, const struct target_options *o,
		 const struct job *job);

/** Take everything back, what was only half made too. @return enum tare_exit */
int target_teardown(struct target *t);

/** Open the file or disk as the job wants it. @return fd or -errno, reason printed */
int target_open(const struct target *t, const struct job *job);

/** The map of the open file or disk. @return 0 or -errno, reason printed */
int target_map(const struct target *t, int fd, struct fsmap *map);

#endif

/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * fio itself as the engine: the job file with its file name replaced goes in,
 * latencies of the caller come out. fio does not say which request belonged to
 * which I/O, so only means can be subtracted from what it reports.
 */
#ifndef TARE_FIO_H
#define TARE_FIO_H

#include <stdint.h>

#include "jobfile.h"

/** What fio reports of one job, reads and writes together. */
struct fio_result {
	char version[32];
	uint64_t ios;
	double lat_mean_ns;	/* submission and completion, without fsync */
	uint64_t syncs;
	double sync_mean_ns;	/* of each fsync */
	double gross_mean_ns;	/* per I/O, its share of the fsyncs included */
	uint64_t p50_ns, p90_ns, p99_ns, max_ns;	/* clat, from buckets */
};

/**
 * The text of a job file for fio: the given one with every filename and
 * directory taken out and the file named in the section; with ios not 0 also
 * that number of I/Os of bs bytes, in place of what it says about that. Freed
 * by the caller.
 */
char *fio_job_text(const char *text, const char *section, const char *file,
		   uint64_t ios, uint64_t bs);

/** Read fio's JSON. @return 0 or -EINVAL with the reason printed */
int fio_parse(const char *json, struct fio_result *r);

/**
 * Run fio on a section of a job file. Prints what is wrong.
 * It inherits the CPU that this process is pinned to.
 * @return enum tare_exit; TARE_CANNOT when fio is not installed
 */
int fio_run(const struct jobfile *file, const struct job *job,
	    const char *path, uint64_t ios, struct fio_result *r);

#endif

/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * fio job files. One file is run by fio and by tare's own engines, so every
 * option of it is one of three things: understood; known to make no difference
 * here, and noted; or refused by name with its line, because ignoring it would
 * weigh something else than what the file says. What only fio can do is refused
 * for the own engines and left to --engine fio.
 */
#ifndef TARE_JOBFILE_H
#define TARE_JOBFILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum job_dir { JOB_READ, JOB_WRITE, JOB_MIXED };
enum job_sync { JOB_SYNC_NONE, JOB_SYNC_SYNC, JOB_SYNC_DSYNC };
enum job_engine { JOB_PSYNC, JOB_IO_URING, JOB_OTHER };

/** A remark about one option: ignored, or why the own engines refuse it. */
struct job_remark {
	unsigned int line;
	char *text;
};

struct job_remarks {
	struct job_remark *remark;
	size_t n;
};

/** One job section with what [global] gave it. Sizes in bytes; 0: not given. */
struct job {
	char *name;
	bool random;
	enum job_dir dir;
	uint64_t mix_read_percent;	/* of a mixed job */
	uint64_t bs;
	unsigned int bs_line;		/* where they stand; 0: not given */
	unsigned int offset_line;
	uint64_t size;
	uint64_t io_size;
	uint64_t number_ios;
	uint64_t offset;
	uint64_t loops;
	char *filename;			/* NULL: not given */
	char *directory;		/* NULL: not given */
	bool direct;
	enum job_sync sync;
	uint64_t fsync;			/* fsync() every n writes; 0: never */
	uint64_t fdatasync;
	bool end_fsync;
	bool overwrite;			/* lay the file out before */
	bool fallocate;			/* fio's default: allocate, unwritten */
	uint64_t iodepth;
	uint64_t batch;			/* iodepth_batch, submit at once */
	uint64_t batch_complete;	/* iodepth_batch_complete_min */
	enum job_engine engine;
	char *ioengine;			/* its name in the file */
	bool fixedbufs;
	bool registerfiles;
	uint64_t randseed;
	bool norandommap;
	int64_t cpu;			/* cpus_allowed, -1: not given */
	uint64_t runtime_us;		/* 0: not given */
	struct job_remarks notes;
	struct job_remarks refused;	/* by the own engines */
};

struct jobfile {
	char *path;
	struct job *job;
	size_t n;
};

/**
 * Read a job file. Prints what is wrong as "PATH:LINE: …": syntax, unknown
 * options, values that cannot be.
 * @return 0, -EINVAL, or -errno when it cannot be read; free with jobfile_free()
 */
int jobfile_load(struct jobfile *file, const char *path);

/** The same for a text. @param path for messages */
int jobfile_parse(struct jobfile *file, const char *path, const char *text);

void jobfile_free(struct jobfile *file);

/**
 * A size as fio reads it: decimal or 0x, then b, k, m, g, t, p, with an
 * optional b (powers of 1024) or i, ib (powers of 1000: fio's kb_base=1024).
 * @return 0, -EINVAL or -ERANGE
 */
int job_size_parse(const char *text, uint64_t *bytes);

/** A time as fio reads it, seconds without a unit; d h m s ms us. In us. */
int job_time_parse(const char *text, uint64_t *us);

/**
 * Can the own engines run this job? Prints every refusal with its line.
 * @return 0 or -EINVAL
 */
int job_check_own(const struct jobfile *file, const struct job *job);

#endif

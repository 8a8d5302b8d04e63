/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The I/Os of a job, all worked out before the run: where, which way, with an
 * fsync or not. The same job and seed give the same list, so that a run can be
 * repeated, and the measured loop has nothing to think about.
 */
#ifndef TARE_PLAN_H
#define TARE_PLAN_H

#include <stddef.h>

#include "io.h"
#include "jobfile.h"

/**
 * How many I/Os the job asks for: number_ios, or io_size or size and loops.
 * @param size bytes of the file that the job works on
 * number_ios beyond that repeats nothing, as in fio.
 */
uint64_t plan_length(const struct job *job, uint64_t size);

/**
 * Fill offset, bytes, op and flags of n I/Os.
 * Sequential jobs start over at the end; random ones visit every block once
 * before any twice (a permutation), with norandommap they draw each anew.
 * @param size bytes from job->offset on, at least job->bs
 */
void plan_make(struct io *io, size_t n, const struct job *job, uint64_t size);

#endif

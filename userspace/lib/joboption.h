/* SPDX-License-Identifier: GPL-2.0-only */
/* The options of a job section: what each means to tare. Used by jobfile.c. */
#ifndef TARE_JOBOPTION_H
#define TARE_JOBOPTION_H

#include "jobfile.h"

/**
 * Set one option of a job.
 * @param value NULL when the line has none
 * @param why what is wrong with it, freed by the caller
 * @return 0 or -EINVAL
 */
int job_option_set(struct job *job, unsigned int line, const char *name,
		   const char *value, char **why);

/**
 * What only the whole section shows: combinations that cannot be weighed are
 * added to job->refused.
 * @return NULL, or what makes the job impossible, freed by the caller
 */
char *job_option_check(struct job *job);

/** Append a remark; owns text from now on. */
void job_remark(struct job_remarks *list, unsigned int line, char *text);

#endif

/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef TARE_RUN_OPTIONS_H
#define TARE_RUN_OPTIONS_H

#include "run.h"

/** Read the command line of tare run. @return enum tare_exit, reason printed */
int run_options_parse(int argc, char **argv, struct run_options *o);

/**
 * Where a job is: the path itself when it has a / or exists, else NAME.fio among
 * the jobs that come with tare (path_find()). Freed by the caller.
 */
char *run_job_path(const char *name);

#endif

/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The commands of tare. One file per command; the table in main.c lists them.
 */
#ifndef TARE_COMMAND_H
#define TARE_COMMAND_H

#include "output.h"
#include "util.h"

/** One subcommand. run() gets argv[0] = "tare NAME" and returns enum tare_exit. */
struct command {
	const char *name;
	const char *summary;
	int (*run)(int argc, char **argv);
};

int cmd_add(int argc, char **argv);
int cmd_doctor(int argc, char **argv);
int cmd_lab(int argc, char **argv);
int cmd_ls(int argc, char **argv);
int cmd_restore(int argc, char **argv);
int cmd_rm(int argc, char **argv);
int cmd_run(int argc, char **argv);
int cmd_save(int argc, char **argv);
int cmd_set(int argc, char **argv);
int cmd_show(int argc, char **argv);
int cmd_stat(int argc, char **argv);

#endif

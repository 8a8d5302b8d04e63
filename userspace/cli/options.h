/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The options that every command has: -o text|json|csv, -v, -q.
 */
#ifndef TARE_OPTIONS_H
#define TARE_OPTIONS_H

#include <argp.h>

#include "output.h"
#include "util.h"

/** What the common options were set to; zero it before options_parse(). */
struct options {
	enum out_format format;		/* -o; text when not given */
};

/**
 * Parse a command line with the command's own argp and the common options.
 * -v and -q set tare_verbosity. --help prints and exits 0; a bad option or
 * argp_error() prints and exits TARE_USAGE.
 * @param argp the command's own options, positional arguments and texts
 * @param input becomes state->input of argp->parser
 * @param common filled; NULL: the command reports nothing and takes no -o
 * @return TARE_OK, or TARE_USAGE when argp->parser returned an error (which
 *	it has printed)
 */
int options_parse(const struct argp *argp, int argc, char **argv, void *input,
		  struct options *common);

/**
 * Print a document on stdout in the format asked for, and free it.
 * @return TARE_OK, or TARE_FAILED with a message
 */
int options_print(struct out_doc *doc, const struct options *common);

#endif

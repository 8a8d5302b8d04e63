/* SPDX-License-Identifier: GPL-2.0-only */
/* Where files that come with tare are looked for. */
#ifndef TARE_PATHS_H
#define TARE_PATHS_H

#include <stddef.h>

/** Directories that are looked through, best first. */
#define PATH_DIRS 5

/**
 * The i-th directory for a kind of file ("devices", "jobs"), i < PATH_DIRS.
 * @return its path, freed by the caller, or NULL: there is none here
 */
char *path_dir(size_t i, const char *kind);

/**
 * A file that came with tare: $TARE_SOURCE/configs/KIND/NAME, /etc/tare/KIND,
 * configs/KIND of the source tree, share/tare/KIND beside the directory of this
 * program, /usr/share/tare/KIND; the first that is there.
 * @return its path, freed by the caller, or NULL
 */
char *path_find(const char *kind, const char *name);

#endif

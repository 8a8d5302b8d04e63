/* SPDX-License-Identifier: GPL-2.0-only */
/* A directory of a test's own, and files in it. */
#ifndef TEST_SCRATCH_H
#define TEST_SCRATCH_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "util.h"

/* The directory's path, freed by scratch_remove(). */
static inline char *scratch_make(void)
{
	const char *tmp = getenv("TMPDIR");
	char *path = xasprintf("%s/tare-test.XXXXXX", tmp ? tmp : "/tmp");

	if (!mkdtemp(path)) {
		perror(path);
		exit(1);
	}
	return path;
}

static inline void scratch_remove(char *path)
{
	rm_rf(path);
	free(path);
}

/* Write len bytes to DIR/NAME, with the directories on the way. */
static inline void scratch_bytes(const char *dir, const char *name,
				 const void *data, size_t len)
{
	char *path = xasprintf("%s/%s", dir, name);
	char *slash = strrchr(path, '/');
	FILE *file;

	*slash = '\0';
	mkdir_p(path);
	*slash = '/';
	file = fopen(path, "w");
	if (!file || fwrite(data, 1, len, file) != len || fclose(file)) {
		perror(path);
		exit(1);
	}
	free(path);
}

static inline void scratch_text(const char *dir, const char *name,
				const char *text)
{
	scratch_bytes(dir, name, text, strlen(text));
}

#endif

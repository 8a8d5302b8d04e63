// SPDX-License-Identifier: GPL-2.0-only
#include "paths.h"

#include "util.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* "share/tare" beside the "bin" that this program lies in. */
static char *installed_dir(void)
{
	char *self = realpath("/proc/self/exe", NULL);
	char *slash = self ? strrchr(self, '/') : NULL;
	char *dir = NULL;

	if (slash) {
		*slash = '\0';
		dir = xasprintf("%s/../share/tare", self);
	}
	free(self);
	return dir;
}

static char *base_dir(size_t i)
{
	const char *source = getenv("TARE_SOURCE");

	switch (i) {
	case 0:
		return source && *source ? xasprintf("%s/configs", source) :
					   NULL;
	case 1:
		return xstrdup("/etc/tare");
	case 2:
		return xstrdup(TARE_SOURCE_DIR "/configs");
	case 3:
		return installed_dir();
	default:
		return xstrdup("/usr/share/tare");
	}
}

char *path_dir(size_t i, const char *kind)
{
	char *base = base_dir(i);
	char *dir = base ? xasprintf("%s/%s", base, kind) : NULL;

	free(base);
	return dir;
}

char *path_find(const char *kind, const char *name)
{
	for (size_t i = 0; i < PATH_DIRS; i++) {
		char *dir = path_dir(i, kind);
		char *path = dir ? xasprintf("%s/%s", dir, name) : NULL;

		free(dir);
		if (path && access(path, R_OK) == 0)
			return path;
		free(path);
	}
	return NULL;
}

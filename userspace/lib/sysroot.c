// SPDX-License-Identifier: GPL-2.0-only
#include "sysroot.h"

#include <ctype.h>
#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "util.h"

/* "SYSROOT/path" of a format and its arguments. */
static char *full_path(const struct sysroot *m, const char *fmt, va_list ap)
{
	char *path, *full;
	int n = vasprintf(&path, fmt, ap);

	if (n < 0)
		return xstrdup("");
	full = xasprintf("%s%s", m->dir, path);
	free(path);
	return full;
}

#define FULL_PATH(m, fmt, path)				\
	do {						\
		va_list ap;				\
							\
		va_start(ap, fmt);			\
		path = full_path(m, fmt, ap);		\
		va_end(ap);				\
	} while (0)

char *sysroot_read(const struct sysroot *m, const char *fmt, ...)
{
	char *path, *text;

	FULL_PATH(m, fmt, path);
	text = file_read(path);
	free(path);
	return text;
}

long sysroot_number(const struct sysroot *m, long fallback, const char *fmt,
		    ...)
{
	char *path, *text, *end;
	long v;

	FULL_PATH(m, fmt, path);
	text = file_read(path);
	free(path);
	if (!text)
		return fallback;
	v = strtol(text, &end, 10);
	if (end == text)
		v = fallback;
	free(text);
	return v;
}

bool sysroot_has(const struct sysroot *m, const char *fmt, ...)
{
	char *path;
	bool yes;

	FULL_PATH(m, fmt, path);
	yes = access(path, F_OK) == 0;
	free(path);
	return yes;
}

static bool is_number(const char *s)
{
	return *s && strspn(s, "0123456789") == strlen(s);
}

static int by_version(const void *a, const void *b)
{
	return strverscmp(*(char *const *)a, *(char *const *)b);
}

size_t sysroot_list(const struct sysroot *m, const char *dir,
		    const char *prefix, bool numbered, char ***names)
{
	char *path = xasprintf("%s%s", m->dir, dir);
	DIR *d = opendir(path);
	struct dirent *entry;
	size_t n = 0;

	free(path);
	*names = NULL;
	while (d && (entry = readdir(d))) {
		const char *name = entry->d_name;

		if (name[0] == '.' || strncmp(name, prefix, strlen(prefix)) ||
		    (numbered && !is_number(name + strlen(prefix))))
			continue;
		*names = xrealloc(*names, (n + 1) * sizeof(**names));
		(*names)[n++] = xstrdup(name);
	}
	if (d)
		closedir(d);
	if (n)
		qsort(*names, n, sizeof(**names), by_version);
	return n;
}

void sysroot_list_free(char **names, size_t n)
{
	for (size_t i = 0; i < n; i++)
		free(names[i]);
	free(names);
}

/* One record a read; a file of a test comes as a whole. */
bool sysroot_log_has(const struct sysroot *m, const char *text)
{
	char record[8193];
	char *path = xasprintf("%s/dev/kmsg", m->dir);
	int fd = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
	bool found = false;
	ssize_t n;

	free(path);
	if (fd < 0)
		return false;
	while (!found && (n = read(fd, record, sizeof(record) - 1)) > 0) {
		record[n] = '\0';
		found = strstr(record, text) != NULL;
	}
	close(fd);
	return found;
}

/* The next blank-separated word at or after *p, its length in *len. */
static const char *next_word(const char *p, size_t *len)
{
	p += strspn(p, " \t\n");
	*len = strcspn(p, " \t\n");
	return *len ? p : NULL;
}

bool has_word(const char *text, const char *word)
{
	size_t len;

	for (const char *p = text; (p = next_word(p, &len)); p += len)
		if (len == strlen(word) && !strncmp(p, word, len))
			return true;
	return false;
}

/* The last one on the line is the one that counts. */
char *sysroot_parameter(const struct sysroot *m, const char *word)
{
	char *line = sysroot_read(m, "/proc/cmdline"), *value = NULL;
	size_t len, n = strlen(word);

	for (const char *p = line; p && (p = next_word(p, &len)); p += len) {
		if (len < n || strncmp(p, word, n) ||
		    (len > n && p[n] != '='))
			continue;
		free(value);
		value = len > n ? strndup(p + n + 1, len - n - 1) : xstrdup("");
	}
	free(line);
	return value;
}

/* ---- the kernel's configuration ---- */

static char *config_gz(const struct sysroot *m)
{
	char *path = xasprintf("%s/proc/config.gz", m->dir);
	char *argv[] = { "gzip", "-dc", path, NULL };
	char *text = NULL;

	if (access(path, R_OK) == 0 && run_program(argv, &text) != 0) {
		free(text);
		text = NULL;
	}
	free(path);
	return text;
}

static char *config_text(const struct sysroot *m)
{
	char *release = sysroot_read(m, "/proc/sys/kernel/osrelease");
	char *text = NULL;

	if (release)
		text = sysroot_read(m, "/boot/config-%s", release);
	if (release && !text)
		text = sysroot_read(m, "/lib/modules/%s/config", release);
	if (!text)
		text = config_gz(m);
	free(release);
	return text;
}

/* Read once: a report asks for a dozen options. */
static const char *config_cached(const struct sysroot *m)
{
	static char *text, *sysroot;

	if (sysroot && !strcmp(sysroot, m->dir))
		return text;
	free(text);
	free(sysroot);
	sysroot = xstrdup(m->dir);
	text = config_text(m);
	return text;
}

char *sysroot_config(const struct sysroot *m, const char *option)
{
	const char *text = config_cached(m);
	size_t n = strlen(option);

	if (!text || !strstr(text, "CONFIG_"))
		return NULL;
	for (const char *p = text; p; p = strchr(p, '\n')) {
		p += *p == '\n';
		if (strncmp(p, option, n) || p[n] != '=')
			continue;
		p += n + 1;
		return strndup(p, strcspn(p, "\n"));
	}
	return xstrdup("n");
}

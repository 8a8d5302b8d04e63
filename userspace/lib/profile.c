// SPDX-License-Identifier: GPL-2.0-only
/* Device profiles: ini files with one section, [device]. */
#include <dirent.h>
#include <errno.h>
#include <ini.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "device.h"
#include "output.h"
#include "paths.h"
#include "util.h"

#define SUFFIX ".ini"

/* ---- where they are ---- */

static bool has_suffix(const char *name)
{
	size_t len = strlen(name);

	return len > strlen(SUFFIX) &&
	       !strcmp(name + len - strlen(SUFFIX), SUFFIX);
}

/* A path as it is, a name from the first directory that has it, or NULL. */
static char *profile_path(const char *name)
{
	if (strchr(name, '/') || has_suffix(name))
		return xstrdup(name);
	for (size_t i = 0; i < PATH_DIRS; i++) {
		char *dir = path_dir(i, "devices");
		char *path;

		if (!dir)
			continue;
		path = xasprintf("%s/%s" SUFFIX, dir, name);
		free(dir);
		if (access(path, F_OK) == 0)
			return path;
		free(path);
	}
	return NULL;
}

static int is_profile(const struct dirent *entry)
{
	return entry->d_name[0] != '.' && has_suffix(entry->d_name);
}

static bool listed(char **names, size_t n, const char *name)
{
	for (size_t i = 0; i < n; i++)
		if (!strcmp(names[i], name))
			return true;
	return false;
}

static void list_dir(const char *dir, char ***names, size_t *n)
{
	struct dirent **entries;
	int found = scandir(dir, &entries, is_profile, alphasort);

	for (int i = 0; i < found; i++) {
		char *name = entries[i]->d_name;

		name[strlen(name) - strlen(SUFFIX)] = '\0';
		if (!listed(*names, *n, name)) {
			*names = xrealloc(*names, (*n + 1) * sizeof(**names));
			(*names)[(*n)++] = xstrdup(name);
		}
		free(entries[i]);
	}
	if (found >= 0)
		free(entries);
}

size_t profile_list(char ***names)
{
	size_t n = 0;

	*names = NULL;
	for (size_t i = 0; i < PATH_DIRS; i++) {
		char *dir = path_dir(i, "devices");

		if (dir)
			list_dir(dir, names, &n);
		free(dir);
	}
	return n;
}

/* ---- reading one ---- */

struct reader {
	FILE *file;
	struct assignment **set;
	size_t *n;
	size_t first;		/* of this file in *set */
	char *problem;		/* the first one; NULL: none */
};

static void problem(struct reader *r, char *text)
{
	if (r->problem)
		free(text);
	else
		r->problem = text;
}

/*
 * fgets for inih. A line that does not fit would be taken for two, and a NUL
 * would hide the rest of its line: both end the reading.
 */
static char *read_line(char *to, int size, void *stream)
{
	struct reader *r = stream;
	int n = 0, c = EOF;

	while (n < size - 1 && (c = getc(r->file)) != EOF && c != '\0') {
		to[n++] = (char)c;
		if (c == '\n')
			break;
	}
	to[n] = '\0';
	if (c == '\0')
		problem(r, xstrdup("this is no text file"));
	else if (n == size - 1 && c != '\n')
		problem(r, xasprintf("a line is longer than %d bytes", size - 2));
	else if (ferror(r->file))
		problem(r, xasprintf("cannot be read: %s", strerror(errno)));
	else
		return n ? to : NULL;
	return NULL;
}

/* What is wrong with one line, or NULL. */
static char *line_problem(const struct reader *r, const char *section,
			  const struct assignment *a)
{
	char *quoted, *text;

	if (strcmp(section, "device")) {
		quoted = out_quote(section);
		text = xasprintf("section %s: only [device] is known", quoted);
		free(quoted);
		return text;
	}
	text = assignment_problem(a);
	if (!text && assignments_get(*r->set + r->first, *r->n - r->first,
				     a->attr))
		text = xasprintf("%s is there twice", a->attr);
	return text;
}

/* Called by inih for each line; 0 makes it remember the line's number. */
static int take_line(void *user, const char *section, const char *name,
		     const char *value)
{
	struct reader *r = user;
	const struct assignment a = { (char *)name, (char *)value };
	char *text;

	if (r->problem)
		return 0;
	text = line_problem(r, section, &a);
	if (text) {
		problem(r, text);
		return 0;
	}
	assignments_add(r->set, r->n, name, value);
	return 1;
}

/* @return 0, or -EINVAL when the file is wrong, which has been printed. */
static int parse(struct reader *r, const char *path)
{
	int line = ini_parse_stream(read_line, r, take_line, r);

	if (line > 0)
		msg_usage("%s:%d: %s", path, line,
			  r->problem ? r->problem : "is not NAME = VALUE");
	else if (r->problem || line < 0)
		msg_usage("%s: %s", path,
			  r->problem ? r->problem : "cannot be read");
	else if (*r->n == r->first)
		msg_usage("%s: there is no [device] section with attributes",
			  path);
	else
		return 0;
	return -EINVAL;
}

static void no_profile(const char *name)
{
	char *quoted = out_quote(name);
	char **names;
	size_t n = profile_list(&names);
	char *text = xstrdup("");

	for (size_t i = 0; i < n; i++) {
		char *more = xasprintf("%s %s", text, names[i]);

		free(text);
		free(names[i]);
		text = more;
	}
	free(names);
	msg_usage("there is no profile %s; known:%s", quoted,
		  *text ? text : " none");
	free(quoted);
	free(text);
}

int profile_load(const char *name, struct assignment **set, size_t *n)
{
	struct reader r = { .set = set, .n = n, .first = *n };
	char *path = profile_path(name);
	int err;

	if (!path) {
		no_profile(name);
		return -ENOENT;
	}
	r.file = fopen(path, "re");
	if (r.file) {
		err = parse(&r, path);
		fclose(r.file);
	} else {
		err = -errno;
		msg_usage("%s: %s", path, strerror(-err));
	}
	free(r.problem);
	free(path);
	return err;
}

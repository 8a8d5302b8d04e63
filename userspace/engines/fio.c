// SPDX-License-Identifier: GPL-2.0-only
#include "fio.h"

#include "util.h"

#include <errno.h>
#include <jansson.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Is this line the option `name`, whatever its value? */
static bool is_option(const char *line, const char *name)
{
	size_t len = strlen(name);

	line += strspn(line, " \t");
	if (strncmp(line, name, len))
		return false;
	line += len;
	line += strspn(line, " \t\r");
	return *line == '=' || *line == '\n' || *line == '\0';
}

static bool replaced(const char *line, uint64_t ios)
{
	if (is_option(line, "filename") || is_option(line, "directory") ||
	    is_option(line, "thread"))
		return true;
	return ios && (is_option(line, "number_ios") ||
		       is_option(line, "io_size") ||
		       is_option(line, "io_limit") || is_option(line, "loops"));
}

static bool is_section(const char *line, const char *section)
{
	size_t len = strlen(section);

	line += strspn(line, " \t");
	return line[0] == '[' && !strncmp(line + 1, section, len) &&
	       line[1 + len] == ']';
}

char *fio_job_text(const char *text, const char *section, const char *file,
		   uint64_t ios, uint64_t bs)
{
	char *out = NULL;
	size_t size;
	FILE *to = open_memstream(&out, &size);

	if (!to)
		return NULL;
	while (*text) {
		size_t len = strcspn(text, "\n");

		if (!replaced(text, ios))
			fprintf(to, "%.*s\n", (int)len, text);
		if (is_section(text, section)) {
			/* As a process a job has its own session: no signal to fio ends it. */
			fprintf(to, "filename=%s\nthread=1\n", file);
			if (ios)
				/* Without io_size, size would end it before. */
				fprintf(to, "number_ios=%llu\nio_size=%llu\n",
					(unsigned long long)ios,
					(unsigned long long)(ios * bs));
		}
		text += len + (text[len] == '\n');
	}
	fclose(to);
	return out;
}

static double number(const json_t *object, const char *key)
{
	return json_number_value(json_object_get(object, key));
}

static uint64_t percentile(const json_t *clat, const char *key)
{
	return (uint64_t)number(json_object_get(clat, "percentile"), key);
}

/* Add one direction of a job; percentiles of two cannot be added: keep the bigger part's. */
static void add_direction(struct fio_result *r, const json_t *dir)
{
	const json_t *clat = json_object_get(dir, "clat_ns");
	uint64_t ios = (uint64_t)number(dir, "total_ios"), max;

	if (!ios)
		return;
	r->lat_mean_ns = (r->lat_mean_ns * (double)r->ios +
			  number(json_object_get(dir, "lat_ns"), "mean") *
				  (double)ios) / (double)(r->ios + ios);
	if (ios > r->ios) {
		r->p50_ns = percentile(clat, "50.000000");
		r->p90_ns = percentile(clat, "90.000000");
		r->p99_ns = percentile(clat, "99.000000");
	}
	max = (uint64_t)number(clat, "max");
	r->max_ns = max > r->max_ns ? max : r->max_ns;
	r->ios += ios;
}

static int read_job(const json_t *root, struct fio_result *r)
{
	const json_t *job =
		json_array_get(json_object_get(root, "jobs"), 0);
	const json_t *sync = json_object_get(job, "sync");
	const char *version =
		json_string_value(json_object_get(root, "fio version"));

	if (!json_is_object(job)) {
		msg_error("fio reported no job");
		return -EINVAL;
	}
	if (number(job, "error") != 0) {
		msg_error("fio reported error %.0f", number(job, "error"));
		return -EINVAL;
	}
	snprintf(r->version, sizeof(r->version), "%s", version ? version : "");
	add_direction(r, json_object_get(job, "read"));
	add_direction(r, json_object_get(job, "write"));
	r->syncs = (uint64_t)number(sync, "total_ios");
	r->sync_mean_ns = number(json_object_get(sync, "lat_ns"), "mean");
	if (!r->ios) {
		msg_error("fio reported no I/O");
		return -EINVAL;
	}
	r->gross_mean_ns = r->lat_mean_ns +
			   r->sync_mean_ns * (double)r->syncs / (double)r->ios;
	return 0;
}

int fio_parse(const char *json, struct fio_result *r)
{
	/* fio prints its warnings on stdout too, before the document. */
	const char *start = strchr(json, '{');
	json_error_t error;
	json_t *root;
	int err;

	memset(r, 0, sizeof(*r));
	root = start ? json_loads(start, JSON_DISABLE_EOF_CHECK, &error) : NULL;
	if (!root) {
		msg_error("fio printed no JSON%s%s", start ? ": " : "",
			  start ? error.text : "");
		return -EINVAL;
	}
	err = read_job(root, r);
	json_decref(root);
	return err;
}

/* @return the path of a temporary file with that text, or NULL */
static char *temporary(const char *text)
{
	const char *tmp = getenv("TMPDIR");
	char *path = xasprintf("%s/tare-job-XXXXXX", tmp && *tmp ? tmp : "/tmp");
	int fd = mkstemp(path);
	ssize_t len = (ssize_t)strlen(text);

	if (fd >= 0 && write(fd, text, (size_t)len) == len &&
	    close(fd) == 0)
		return path;
	msg_error("%s: %s", path, strerror(errno));
	free(path);
	return NULL;
}

static int run_on(const char *job_path, const char *section,
		  struct fio_result *r)
{
	char *only = xasprintf("--section=%s", section), *json = NULL;
	char *argv[] = { "fio", "--output-format=json", only,
			 (char *)job_path, NULL };
	int code = run_program(argv, &json);

	free(only);
	if (code == 127 || code == -ENOENT)
		code = msg_cannot("fio is not installed");
	else if (code == -EINTR)
		/* Stopped, it still says what it did, if it came to that. */
		code = json && strchr(json, '{') && !fio_parse(json, r) ?
			       TARE_OK :
			       msg_error("interrupted before fio reported anything");
	else if (code)
		code = msg_error("fio failed (%d)%s%s", code,
				 json && *json ? ": " : "", json ? json : "");
	else if (fio_parse(json, r))
		code = TARE_FAILED;
	free(json);
	return code;
}

int fio_run(const struct jobfile *file, const struct job *job,
	    const char *path, uint64_t ios, struct fio_result *r)
{
	char *text = file_read(file->path), *changed, *temp;
	int code;

	if (!text)
		return msg_error("%s: %s", file->path, strerror(errno));
	changed = fio_job_text(text, job->name, path, ios, job->bs);
	temp = changed ? temporary(changed) : NULL;
	code = temp ? run_on(temp, job->name, r) : TARE_FAILED;
	if (temp)
		unlink(temp);
	free(temp);
	free(changed);
	free(text);
	return code;
}

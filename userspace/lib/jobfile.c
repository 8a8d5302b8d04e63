// SPDX-License-Identifier: GPL-2.0-only
#include "jobfile.h"

#include "joboption.h"
#include "util.h"

#include <ctype.h>
#include <errno.h>
#include <ini.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Longest line; inih wants room for "\r\n" and the end. */
#define LINE_MAX_BYTES 4096

/* State while one file is read. */
struct parser {
	struct jobfile *file;
	const char *next;	/* rest of the text */
	unsigned int line;
	struct job global;
	struct job *job;	/* the section at hand; NULL: none yet */
	int err;
};

static void job_init(struct job *job)
{
	memset(job, 0, sizeof(*job));
	job->mix_read_percent = 50;
	job->bs = 4096;
	job->loops = 1;
	job->fallocate = true;
	job->iodepth = 1;
	job->batch = 1;
	job->batch_complete = 1;
	job->cpu = -1;
	job->randseed = 0x89;
}

static char *dup_or_null(const char *s)
{
	return s ? xstrdup(s) : NULL;
}

void job_remark(struct job_remarks *list, unsigned int line, char *text)
{
	list->remark = xrealloc(list->remark,
				(list->n + 1) * sizeof(*list->remark));
	list->remark[list->n++] = (struct job_remark){ line, text };
}

static void copy_remarks(struct job_remarks *to, const struct job_remarks *from)
{
	memset(to, 0, sizeof(*to));
	for (size_t i = 0; i < from->n; i++)
		job_remark(to, from->remark[i].line,
			   xstrdup(from->remark[i].text));
}

static void free_remarks(struct job_remarks *list)
{
	for (size_t i = 0; i < list->n; i++)
		free(list->remark[i].text);
	free(list->remark);
}

static void job_copy(struct job *to, const struct job *from, const char *name)
{
	*to = *from;
	to->name = xstrdup(name);
	to->filename = dup_or_null(from->filename);
	to->directory = dup_or_null(from->directory);
	to->ioengine = dup_or_null(from->ioengine);
	copy_remarks(&to->notes, &from->notes);
	copy_remarks(&to->refused, &from->refused);
}

static void job_free(struct job *job)
{
	free(job->name);
	free(job->filename);
	free(job->directory);
	free(job->ioengine);
	free_remarks(&job->notes);
	free_remarks(&job->refused);
}

/* inih sections do not announce themselves, so the lines are watched here. */
static void enter_section(struct parser *p, const char *name)
{
	struct jobfile *file = p->file;

	if (!strcmp(name, "global")) {
		p->job = &p->global;
		return;
	}
	file->job = xrealloc(file->job, (file->n + 1) * sizeof(*file->job));
	job_copy(&file->job[file->n], &p->global, name);
	p->job = &file->job[file->n++];
}

static int complain(struct parser *p, const char *text)
{
	msg_usage("%s:%u: %s", p->file->path, p->line, text);
	p->err = -EINVAL;
	return -EINVAL;
}

/* "[name]" with nothing but blanks around. */
static void watch_section(struct parser *p, const char *line)
{
	char name[LINE_MAX_BYTES];
	const char *end;

	line += strspn(line, " \t");
	if (*line != '[')
		return;
	end = strchr(line, ']');
	if (!end)
		return;		/* inih complains */
	if (end == line + 1) {
		complain(p, "section without a name");
		return;
	}
	snprintf(name, sizeof(name), "%.*s", (int)(end - line - 1), line + 1);
	enter_section(p, name);
}

/*
 * One line for inih. fio's comments may begin with # or ; anywhere, inih wants
 * a blank before: cut them off here.
 */
static char *read_line(char *buf, int size, void *stream)
{
	struct parser *p = stream;
	size_t len = strcspn(p->next, "\n");
	size_t keep;

	if (!*p->next)
		return NULL;
	p->line++;
	keep = strcspn(p->next, "\n;#");
	if (keep + 3 > (size_t)size) {
		complain(p, "line too long");
		keep = 0;
	}
	memcpy(buf, p->next, keep);
	/* Blanks at the start would make inih go on with the line before. */
	while (keep && isspace((unsigned char)buf[0]))
		memmove(buf, buf + 1, --keep);
	if (buf[0] != '[' && memchr(buf, ':', keep) && !memchr(buf, '=', keep))
		complain(p, "option without '='");
	buf[keep] = '\n';
	buf[keep + 1] = '\0';
	p->next += len + (p->next[len] == '\n');
	watch_section(p, buf);
	return buf;
}

static int handle(void *user, const char *section, const char *name,
		  const char *value)
{
	struct parser *p = user;
	char *why = NULL;

	(void)section;
	if (!name)
		return 1;
	if (!p->job) {
		complain(p, "option before the first section");
		return 0;
	}
	if (job_option_set(p->job, p->line, name, value, &why)) {
		complain(p, why);
		free(why);
		return 0;
	}
	return 1;
}

/* inih's switches are global; profiles want them as they were. */
static int run_inih(struct parser *p)
{
	bool no_value = ini_allow_no_value, multiline = ini_allow_multiline;
	bool stack = ini_use_stack, inline_comments = ini_allow_inline_comments;
	bool stop = ini_stop_on_first_error;
	int max_line = ini_max_line, alloc = ini_initial_alloc, line;

	ini_allow_no_value = true;
	ini_allow_multiline = false;
	ini_allow_inline_comments = false;
	ini_use_stack = false;
	ini_stop_on_first_error = true;
	ini_max_line = LINE_MAX_BYTES;
	ini_initial_alloc = LINE_MAX_BYTES;
	line = ini_parse_stream(read_line, p, handle, p);
	ini_allow_no_value = no_value;
	ini_allow_multiline = multiline;
	ini_allow_inline_comments = inline_comments;
	ini_use_stack = stack;
	ini_stop_on_first_error = stop;
	ini_max_line = max_line;
	ini_initial_alloc = alloc;
	return line;
}

static int check_jobs(struct parser *p)
{
	struct jobfile *file = p->file;

	for (size_t i = 0; i < file->n && !p->err; i++) {
		char *why = job_option_check(&file->job[i]);

		if (!why)
			continue;
		msg_usage("%s: [%s]: %s", file->path, file->job[i].name, why);
		free(why);
		p->err = -EINVAL;
	}
	return p->err;
}

int jobfile_parse(struct jobfile *file, const char *path, const char *text)
{
	struct parser p = { .file = file, .next = text };
	int line;

	memset(file, 0, sizeof(*file));
	file->path = xstrdup(path);
	job_init(&p.global);
	line = run_inih(&p);
	if (line && !p.err) {
		p.line = line > 0 ? (unsigned int)line : p.line;
		complain(&p, "neither a [section] nor an option");
	}
	if (!p.err && file->n == 0) {
		msg_usage("%s: no job section", path);
		p.err = -EINVAL;
	}
	check_jobs(&p);
	job_free(&p.global);
	if (p.err)
		jobfile_free(file);
	return p.err;
}

int jobfile_load(struct jobfile *file, const char *path)
{
	char *text = file_read(path);
	int err;

	memset(file, 0, sizeof(*file));
	if (!text) {
		err = -errno;
		msg_error("%s: %s", path, strerror(-err));
		return err;
	}
	err = jobfile_parse(file, path, text);
	free(text);
	return err;
}

void jobfile_free(struct jobfile *file)
{
	for (size_t i = 0; i < file->n; i++)
		job_free(&file->job[i]);
	free(file->job);
	free(file->path);
	memset(file, 0, sizeof(*file));
}

int job_check_own(const struct jobfile *file, const struct job *job)
{
	for (size_t i = 0; i < job->refused.n; i++) {
		const struct job_remark *r = &job->refused.remark[i];

		if (r->line)
			msg_usage("%s:%u: %s", file->path, r->line, r->text);
		else
			msg_usage("%s: [%s]: %s", file->path, job->name,
				  r->text);
	}
	return job->refused.n ? -EINVAL : 0;
}

// SPDX-License-Identifier: GPL-2.0-only
/* tare doctor: can the figures of this machine be trusted? */
#include "doctor.h"

#include <errno.h>
#include <stdlib.h>

#include "command.h"
#include "devices.h"
#include "options.h"

static error_t doctor_parse(int key, char *arg, struct argp_state *state)
{
	const char **disk = state->input;

	if (key != ARGP_KEY_ARG)
		return ARGP_ERR_UNKNOWN;
	if (*disk)
		argp_error(state, "only one DISK can be given");
	*disk = arg;
	return 0;
}

static const struct argp doctor_argp = {
	.parser = doctor_parse,
	.args_doc = "[DISK]",
	.doc = "Say whether the figures of this machine can be trusted, and what to do about it. Looks at the queue of one disk, or of all tare devices that are on. Exits 1 when something is bad.",
};

/* Without the driver there are none, and that is no fault here. */
static void examine_devices(const struct sysroot *m, struct findings *f)
{
	char **names;
	int n = device_list(&names);

	if (n < 0)
		return;
	for (int i = 0; i < n; i++)
		doctor_disk(m, names[i], f);
	device_list_free(names, n);
}

static int examine(const struct sysroot *m, const char *disk,
		   struct findings *f)
{
	doctor_cpu(m, f);
	doctor_kernel(m, f);
	doctor_noise(m, f);
	if (!disk)
		examine_devices(m, f);
	else if (doctor_disk(m, disk, f)) {
		char *quoted = out_quote(disk);

		msg_error("%s: there is no such disk in /sys/block", quoted);
		free(quoted);
		return TARE_FAILED;
	}
	return TARE_OK;
}

static void add_summary(struct out_doc *doc, const struct findings *f)
{
	struct out_sec *sec = out_values(doc, "summary", NULL);

	for (int level = FINDING_OK; level <= FINDING_UNKNOWN; level++)
		out_value_u64(sec, finding_level_names[level],
			      findings_count(f, level));
}

static void add_table(struct out_doc *doc, const struct findings *f)
{
	static const char *const columns[] = { "topic", "level", "found",
					       "why", "todo" };
	struct out_sec *table = out_table(doc, "findings", NULL);

	for (size_t i = 0; i < ARRAY_SIZE(columns); i++)
		out_column(table, columns[i]);
	for (size_t i = 0; i < f->n; i++) {
		out_row(table);
		out_cell_str(table, f->v[i].topic);
		out_cell_str(table, finding_level_names[f->v[i].level]);
		out_cell_str(table, f->v[i].found);
		out_cell_str(table, f->v[i].why);
		out_cell_str(table, f->v[i].todo);
	}
}

/*
 * Five columns do not fit a screen: as text, a paragraph for each finding. Why
 * something matters that is in order is left to -v.
 */
static void add_paragraphs(struct out_doc *doc, const struct findings *f)
{
	for (size_t i = 0; i < f->n; i++) {
		const struct finding *one = &f->v[i];
		char *title = xasprintf("%s: %s", one->topic,
					finding_level_names[one->level]);
		struct out_sec *sec = out_values(doc, one->topic, title);

		out_value_str(sec, "  found", one->found);
		if (one->level != FINDING_OK || tare_verbosity > 1)
			out_value_str(sec, "  why", one->why);
		if (one->todo)
			out_value_str(sec, "  todo", one->todo);
		free(title);
	}
}

int cmd_doctor(int argc, char **argv)
{
	const struct sysroot here = { .dir = "" };
	struct options common = { 0 };
	struct findings f = { 0 };
	const char *disk = NULL;
	struct out_doc *doc;
	int code = options_parse(&doctor_argp, argc, argv, &disk, &common);

	if (!code)
		code = examine(&here, disk, &f);
	if (!code) {
		doc = out_new("doctor");
		if (common.format == OUT_TEXT)
			add_paragraphs(doc, &f);
		else
			add_table(doc, &f);
		add_summary(doc, &f);
		code = options_print(doc, &common);
	}
	if (!code && findings_count(&f, FINDING_BAD))
		code = TARE_FAILED;
	findings_free(&f);
	return code;
}

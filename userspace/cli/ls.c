// SPDX-License-Identifier: GPL-2.0-only
/* tare ls: one line for each device. */
#include <errno.h>
#include <stdlib.h>

#include "command.h"
#include "devices.h"
#include "options.h"

/* The attributes that a line shows. */
static const char *const shown[] = { "size_mb", "completion", "read_ns",
				     "write_ns" };

static error_t ls_parse(int key, char *arg, struct argp_state *state)
{
	if (key != ARGP_KEY_ARG)
		return ARGP_ERR_UNKNOWN;
	argp_error(state, "'%s': takes no arguments", arg);
	return EINVAL;
}

static const struct argp ls_argp = {
	.parser = ls_parse,
	.doc = "List the devices, and who uses them (as root: also which processes of others).",
};

static void add_line(struct out_sec *table, const char *name)
{
	char *users = device_users(name);

	out_row(table);
	out_cell_str(table, name);
	device_cell(table, name, "power");
	for (size_t i = 0; i < ARRAY_SIZE(shown); i++)
		device_cell(table, name, shown[i]);
	out_cell_str(table, *users ? users : NULL);
	free(users);
}

int cmd_ls(int argc, char **argv)
{
	struct options common = { 0 };
	struct device_names found = { 0 };
	int code = options_parse(&ls_argp, argc, argv, NULL, &common);
	struct out_sec *table;
	struct out_doc *doc;

	if (!code)
		code = devices_find(NULL, 0, &found);
	if (code)
		return code;
	doc = out_new("ls");
	table = out_table(doc, "devices", NULL);
	out_column(table, "name");
	out_column(table, "power");
	for (size_t i = 0; i < ARRAY_SIZE(shown); i++)
		out_column(table, shown[i]);
	out_column(table, "used_by");
	for (int i = 0; i < found.n; i++)
		add_line(table, found.names[i]);
	code = options_print(doc, &common);
	devices_free(&found);
	return code;
}

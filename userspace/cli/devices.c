// SPDX-License-Identifier: GPL-2.0-only
/* What the commands about devices share. */
#include "devices.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "util.h"

int devices_need_all(void)
{
	int code = device_need_driver();

	return code ? code : device_need_root();
}

static int find_all(struct device_names *found)
{
	int n = device_list(&found->names);

	if (n < 0)
		return msg_error("cannot list the devices: %s", strerror(-n));
	found->n = n;
	return TARE_OK;
}

static int find_one(const char *name, struct device_names *found)
{
	if (device_name_check(name))
		return TARE_USAGE;
	if (!device_exists(name))
		return msg_error("%s: there is no such device", name);
	found->names = xrealloc(found->names,
				(found->n + 1) * sizeof(*found->names));
	found->names[found->n++] = xstrdup(name);
	return TARE_OK;
}

int devices_find(char *const *names, size_t n, struct device_names *found)
{
	int code = device_need_driver();

	memset(found, 0, sizeof(*found));
	if (!code && !n)
		code = find_all(found);
	for (size_t i = 0; i < n && !code; i++)
		code = find_one(names[i], found);
	if (code)
		devices_free(found);
	return code;
}

void devices_free(struct device_names *found)
{
	device_list_free(found->names, found->n);
	memset(found, 0, sizeof(*found));
}

void device_cell(struct out_sec *table, const char *name, const char *attr)
{
	const struct attr_desc *desc = attr_find(attr);
	char *value = device_get(name, attr);
	bool number = !desc || attr_is_number(desc);
	uint64_t v;

	if (value && number && *value == '-' && !parse_u64(value + 1, &v))
		out_cell_i64(table, -(int64_t)v);
	else if (value && number && !parse_u64(value, &v))
		out_cell_u64(table, v);
	else
		out_cell_str(table, value);
	free(value);
}

/* What is wrong with the last assignment of the line, or NULL. */
static char *last_problem(const struct device_line *line)
{
	const struct assignment *a = &line->set[line->n - 1];

	/* A switch, no attribute, but written like one. */
	if (line->allow_power && !strcmp(a->attr, "power")) {
		if (!strcmp(a->value, "0") || !strcmp(a->value, "1"))
			return NULL;
		return xstrdup("power: allowed: 0 or 1");
	}
	if (assignments_get(line->set, line->n - 1, a->attr))
		return xasprintf("%s is given twice", a->attr);
	return assignment_problem(a);
}

error_t device_line_arg(struct device_line *line, const char *arg)
{
	char *problem;

	if (!line->name) {
		line->name = arg;
		/* tare set, which allows power, is for devices that are there. */
		if (line->allow_power)
			return device_name_check(arg) ? EINVAL : 0;
		return device_name_check_new(arg) ? EINVAL : 0;
	}
	if (assignments_parse(arg, &line->set, &line->n))
		return EINVAL;
	problem = last_problem(line);
	if (!problem)
		return 0;
	msg_usage("%s", problem);
	free(problem);
	return EINVAL;
}

void device_line_free(struct device_line *line)
{
	assignments_free(line->set, line->n);
}

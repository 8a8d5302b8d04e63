// SPDX-License-Identifier: GPL-2.0-only
/* tare set: change attributes of a device, all of them or none. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "command.h"
#include "devices.h"
#include "options.h"

static error_t set_parse(int key, char *arg, struct argp_state *state)
{
	struct device_line *line = state->input;

	switch (key) {
	case ARGP_KEY_ARG:
		return device_line_arg(line, arg);
	case ARGP_KEY_END:
		if (!line->n)
			argp_error(state, "NAME and ATTRIBUTE=VALUE are needed");
		return 0;
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

static const struct argp set_argp = {
	.parser = set_parse,
	.args_doc = "NAME ATTRIBUTE=VALUE…",
	.doc = "Change attributes in the order given, all of them or none. power=0 and power=1 may be among them.",
};

static bool is_power(const struct assignment *a)
{
	return !strcmp(a->attr, "power");
}

static int write_one(const char *name, const char *attr, const char *value)
{
	if (!strcmp(attr, "power"))
		return device_power(name, strcmp(value, "0") != 0);
	return device_set(name, attr, value);
}

/* An attribute for a device that is off, while it will be on: say so before. */
static int check_power(const struct device_line *line)
{
	int on = device_powered(line->name);

	if (on < 0)
		return msg_error("%s: cannot read power: %s", line->name,
				 strerror(-on));
	for (size_t i = 0; i < line->n; i++) {
		const struct assignment *a = &line->set[i];

		if (is_power(a))
			on = strcmp(a->value, "0") != 0;
		else if (on && attr_find(a->attr)->class == ATTR_OFF)
			return msg_error("%s can only change while the device is off: 'tare set %s power=0 %s=%s power=1'; nothing was changed",
					 a->attr, line->name, a->attr,
					 a->value);
	}
	return TARE_OK;
}

/* Put back the first n, last one first. */
static void put_back(const struct device_line *line, char *const *before,
		     size_t n)
{
	int err = 0;

	if (!n)
		return;
	for (size_t i = n; i-- > 0;)
		if (write_one(line->name, line->set[i].attr, before[i]))
			err = -EIO;
	if (err)
		msg_error("%s: not everything could be put back", line->name);
	else
		msg_error("%s: what was changed before that is put back",
			  line->name);
}

static int set_all(const struct device_line *line)
{
	char **before = xcalloc(line->n, sizeof(*before));
	int err = 0;
	size_t i;

	for (i = 0; i < line->n && !err; i++) {
		const struct assignment *a = &line->set[i];

		before[i] = device_get(line->name, a->attr);
		if (!before[i]) {
			err = -errno;
			msg_error("%s: cannot read %s: %s", line->name,
				  a->attr, strerror(-err));
		} else {
			err = write_one(line->name, a->attr, a->value);
		}
	}
	if (err)
		put_back(line, before, i - 1);
	for (i = 0; i < line->n; i++)
		free(before[i]);
	free(before);
	return err ? TARE_FAILED : TARE_OK;
}

int cmd_set(int argc, char **argv)
{
	struct device_line line = { .allow_power = true };
	struct device_names found = { 0 };
	int code = options_parse(&set_argp, argc, argv, &line, NULL);

	if (!code)
		code = devices_find((char *const *)&line.name, 1, &found);
	if (!code)
		code = device_need_root();
	if (!code)
		code = check_power(&line);
	if (!code)
		code = set_all(&line);
	devices_free(&found);
	device_line_free(&line);
	return code;
}

// SPDX-License-Identifier: GPL-2.0-only
/* tare add: make a device and switch it on. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "command.h"
#include "devices.h"
#include "options.h"

enum { OPT_NO_POWER = 256, OPT_DRY_RUN, OPT_PROFILES };

struct add {
	struct device_line line;
	const char *profile;
	bool no_power, dry_run, profiles;
};

static const struct argp_option add_options[] = {
	{ "profile", 'p', "PROFILE", 0,
	  "Start from a device profile: a name or a file", 0 },
	{ "no-power", OPT_NO_POWER, NULL, 0, "Leave the device off", 0 },
	{ "dry-run", OPT_DRY_RUN, NULL, 0,
	  "Only print the shell commands that do the same", 0 },
	{ "profiles", OPT_PROFILES, NULL, 0,
	  "List the profiles that have a name", 0 },
	{ 0 }
};

static error_t add_parse(int key, char *arg, struct argp_state *state)
{
	struct add *add = state->input;

	switch (key) {
	case 'p':
		add->profile = arg;
		return 0;
	case OPT_NO_POWER:
		add->no_power = true;
		return 0;
	case OPT_DRY_RUN:
		add->dry_run = true;
		return 0;
	case OPT_PROFILES:
		add->profiles = true;
		return 0;
	case ARGP_KEY_ARG:
		return device_line_arg(&add->line, arg);
	case ARGP_KEY_END:
		if (!add->line.name && !add->profiles)
			argp_error(state, "NAME is missing");
		return 0;
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

static const struct argp add_argp = {
	.options = add_options,
	.parser = add_parse,
	.args_doc = "NAME [ATTRIBUTE=VALUE…]",
	.doc = "Make a device, set its attributes and switch it on. The disk is /dev/NAME.",
};

static int list_profiles(void)
{
	char **names;
	size_t n = profile_list(&names);

	for (size_t i = 0; i < n; i++) {
		puts(names[i]);
		free(names[i]);
	}
	free(names);
	return TARE_OK;
}

/* The profile first, so that the command line has the last word. */
static int collect(const struct add *add, struct assignment **set, size_t *n)
{
	char *problem;

	if (add->profile && profile_load(add->profile, set, n))
		return TARE_USAGE;
	for (size_t i = 0; i < add->line.n; i++)
		assignments_add(set, n, add->line.set[i].attr,
				add->line.set[i].value);
	problem = assignments_problem(*set, *n);
	if (!problem)
		return TARE_OK;
	msg_usage("%s", problem);
	free(problem);
	return TARE_USAGE;
}

/* Names and values were checked: nothing in them needs quotation marks. */
static void print_commands(const struct add *add, const struct assignment *set,
			   size_t n)
{
	const char *name = add->line.name;

	printf("mkdir %s/%s\n", CONFIGFS_TARE, name);
	for (size_t i = 0; i < n; i++)
		printf("echo %s > %s/%s/%s\n", set[i].value, CONFIGFS_TARE,
		       name, set[i].attr);
	if (!add->no_power)
		printf("echo 1 > %s/%s/power\n", CONFIGFS_TARE, name);
}

static int add_device(const struct add *add, const struct assignment *set,
		      size_t n)
{
	int code = devices_need_all();

	if (code)
		return code;
	if (device_add(add->line.name, set, n, !add->no_power))
		return TARE_FAILED;
	if (add->no_power)
		msg_info("%s is there, off", add->line.name);
	else
		msg_info("/dev/%s is there", add->line.name);
	return TARE_OK;
}

int cmd_add(int argc, char **argv)
{
	struct add add = { 0 };
	struct assignment *set = NULL;
	size_t n = 0;
	int code = options_parse(&add_argp, argc, argv, &add, NULL);

	if (!code && add.profiles)
		code = list_profiles();
	else if (!code)
		code = collect(&add, &set, &n);
	if (!code && !add.profiles) {
		if (add.dry_run)
			print_commands(&add, set, n);
		else
			code = add_device(&add, set, n);
	}
	assignments_free(set, n);
	device_line_free(&add.line);
	return code;
}

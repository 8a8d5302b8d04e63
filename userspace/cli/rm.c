// SPDX-License-Identifier: GPL-2.0-only
/* tare rm: switch devices off and remove them. */
#include <stdlib.h>

#include "command.h"
#include "devices.h"
#include "options.h"

struct rm {
	char **names;		/* in argv */
	size_t n;
	bool all;
};

static const struct argp_option rm_options[] = {
	{ "all", 'a', NULL, 0, "Every device", 0 },
	{ 0 }
};

static error_t rm_parse(int key, char *arg, struct argp_state *state)
{
	struct rm *rm = state->input;

	switch (key) {
	case 'a':
		rm->all = true;
		return 0;
	case ARGP_KEY_ARG:
		rm->names = xrealloc(rm->names,
				     (rm->n + 1) * sizeof(*rm->names));
		rm->names[rm->n++] = arg;
		return 0;
	case ARGP_KEY_END:
		if (!rm->n == !rm->all)
			argp_error(state, "give either NAME… or --all");
		return 0;
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

static const struct argp rm_argp = {
	.options = rm_options,
	.parser = rm_parse,
	.args_doc = "NAME…\n--all",
	.doc = "Switch devices off and remove them. A disk that is in use is tried for 5 seconds; then its users are named.",
};

/* One that cannot be removed does not keep the others. */
static int remove_each(const struct device_names *found)
{
	int code = TARE_OK;

	for (int i = 0; i < found->n; i++) {
		if (device_remove(found->names[i]))
			code = TARE_FAILED;
		else
			msg_debug("%s is removed", found->names[i]);
	}
	return code;
}

int cmd_rm(int argc, char **argv)
{
	struct rm rm = { 0 };
	struct device_names found = { 0 };
	int code = options_parse(&rm_argp, argc, argv, &rm, NULL);

	if (!code)
		code = devices_find(rm.names, rm.n, &found);
	if (!code)
		code = device_need_root();
	if (!code)
		code = remove_each(&found);
	devices_free(&found);
	free(rm.names);
	return code;
}

// SPDX-License-Identifier: GPL-2.0-only
/* tare save: write all devices to a file. */
#include <errno.h>
#include <stdlib.h>

#include "command.h"
#include "devices.h"
#include "options.h"
#include "saved.h"

static error_t save_parse(int key, char *arg, struct argp_state *state)
{
	const char **path = state->input;

	switch (key) {
	case ARGP_KEY_ARG:
		if (*path)
			argp_error(state, "only one FILE can be given");
		*path = arg;
		return 0;
	case ARGP_KEY_END:
		if (!*path)
			argp_error(state, "FILE is missing; - is standard output");
		return 0;
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

static const struct argp save_argp = {
	.parser = save_parse,
	.args_doc = "FILE",
	.doc = "Write all devices to FILE as JSON, for 'tare restore'. - is standard output.",
};

int cmd_save(int argc, char **argv)
{
	struct device_names found = { 0 };
	struct device_config *devices;
	const char *path = NULL;
	int n = 0;
	int code = options_parse(&save_argp, argc, argv, &path, NULL);

	if (!code)
		code = devices_find(NULL, 0, &found);
	if (code)
		return code;
	devices = xcalloc(found.n, sizeof(*devices));
	while (n < found.n && !device_config_read(found.names[n], &devices[n]))
		n++;
	if (n < found.n || saved_write(path, devices, n))
		code = TARE_FAILED;
	saved_free(devices, n);
	devices_free(&found);
	return code;
}

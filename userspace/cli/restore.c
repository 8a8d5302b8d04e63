// SPDX-License-Identifier: GPL-2.0-only
/* tare restore: make the devices of a file, all of them or none. */
#include <errno.h>
#include <signal.h>
#include <stdlib.h>

#include "command.h"
#include "devices.h"
#include "options.h"
#include "saved.h"

struct restore {
	const char *path;
	bool replace;
	struct device_config *devices;
	size_t n;
	/* What was there under the same name; name is NULL: nothing was. */
	struct device_config *before;
};

static const struct argp_option restore_options[] = {
	{ "replace", 'r', NULL, 0,
	  "Change a device that is there already: off, the file's values, on again",
	  0 },
	{ 0 }
};

static error_t restore_parse(int key, char *arg, struct argp_state *state)
{
	struct restore *r = state->input;

	switch (key) {
	case 'r':
		r->replace = true;
		return 0;
	case ARGP_KEY_ARG:
		if (r->path)
			argp_error(state, "only one FILE can be given");
		r->path = arg;
		return 0;
	case ARGP_KEY_END:
		if (!r->path)
			argp_error(state, "FILE is missing; - is standard input");
		return 0;
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

static const struct argp restore_argp = {
	.options = restore_options,
	.parser = restore_parse,
	.args_doc = "FILE",
	.doc = "Make the devices of a file that 'tare save' has written, all of them or none. - is standard input.",
};

/* Look at what is there before anything is touched. */
static int look(struct restore *r)
{
	for (size_t i = 0; i < r->n; i++) {
		const char *name = r->devices[i].name;

		if (!device_exists(name))
			continue;
		if (!r->replace)
			return msg_error("%s: there is a device of this name ('tare rm %s', or --replace); nothing was changed",
					 name, name);
		if (device_config_read(name, &r->before[i]))
			return TARE_FAILED;
	}
	return TARE_OK;
}

static int make_one(const struct restore *r, size_t i)
{
	const struct device_config *c = &r->devices[i];

	if (!r->before[i].name)
		return device_add(c->name, c->set, c->n, c->power);
	return device_config_apply(c);
}

/* A device that was only changed half way is put back as a whole. */
static void undo(const struct restore *r, size_t n)
{
	int err = 0;

	for (size_t i = n; i-- > 0;) {
		if (r->before[i].name)
			err |= device_config_apply(&r->before[i]);
		else if (device_exists(r->devices[i].name))
			err |= device_remove(r->devices[i].name);
	}
	if (err)
		msg_error("not everything could be put back; see 'tare ls'");
	else
		msg_error("nothing was changed: what was made is removed, what was changed is put back");
}

static int make_all(const struct restore *r)
{
	for (size_t i = 0; i < r->n; i++) {
		if (!make_one(r, i))
			continue;
		undo(r, i + 1);
		return TARE_FAILED;
	}
	return TARE_OK;
}

/* Ctrl-C waits until all is made or undone; device_add() looks for it itself. */
static int make_all_held(const struct restore *r)
{
	sigset_t held, before;
	int code;

	sigemptyset(&held);
	sigaddset(&held, SIGINT);
	sigaddset(&held, SIGTERM);
	sigaddset(&held, SIGHUP);
	sigprocmask(SIG_BLOCK, &held, &before);
	code = make_all(r);
	sigprocmask(SIG_SETMASK, &before, NULL);
	return code;
}

static int read_file(struct restore *r)
{
	int err = saved_read(r->path, &r->devices, &r->n);

	if (err)
		return err == -EINVAL ? TARE_USAGE : TARE_FAILED;
	r->before = xcalloc(r->n, sizeof(*r->before));
	return TARE_OK;
}

int cmd_restore(int argc, char **argv)
{
	struct restore r = { 0 };
	int code = options_parse(&restore_argp, argc, argv, &r, NULL);

	if (!code)
		code = read_file(&r);
	if (!code)
		code = devices_need_all();
	if (!code)
		code = look(&r);
	if (!code)
		code = make_all_held(&r);
	if (!code)
		msg_info("%zu devices restored", r.n);
	if (r.before)
		saved_free(r.before, r.n);
	saved_free(r.devices, r.n);
	return code;
}

// SPDX-License-Identifier: GPL-2.0-only
/* The options that every command has, as an argp child of the command's own. */
#include "options.h"

#include <string.h>

const char *argp_program_version = "tare " TARE_VERSION;

static const struct argp_option format_options[] = {
	{ "output", 'o', "FORMAT", 0, "Print as text (default), json or csv",
	  0 },
	{ 0 }
};

static const struct argp_option talk_options[] = {
	{ "verbose", 'v', NULL, 0, "Say more on standard error", 0 },
	{ "quiet", 'q', NULL, 0, "Only errors and warnings", 0 },
	{ 0 }
};

static error_t parse_format(int key, char *arg, struct argp_state *state)
{
	struct options *common = state->input;

	if (key != 'o')
		return ARGP_ERR_UNKNOWN;
	if (out_format_parse(arg, &common->format))
		argp_error(state, "'%s' is no format: text, json or csv", arg);
	return 0;
}

static error_t parse_talk(int key, char *arg, struct argp_state *state)
{
	(void)arg;
	(void)state;
	switch (key) {
	case 'v':
		tare_verbosity = 2;
		return 0;
	case 'q':
		tare_verbosity = 0;
		return 0;
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

/* The root parser only hands each child its input. */
static error_t parse_root(int key, char *arg, struct argp_state *state)
{
	void **inputs = state->input;

	(void)arg;
	if (key != ARGP_KEY_INIT)
		return ARGP_ERR_UNKNOWN;
	for (size_t i = 0; state->root_argp->children[i].argp; i++)
		state->child_inputs[i] = inputs[i];
	return 0;
}

int options_parse(const struct argp *argp, int argc, char **argv, void *input,
		  struct options *common)
{
	static const struct argp talk = { talk_options, parse_talk, NULL,
					  NULL, NULL, NULL, NULL };
	static const struct argp format = { format_options, parse_format, NULL,
					    NULL, NULL, NULL, NULL };
	struct argp_child children[4] = {
		{ argp, 0, NULL, 0 },
		{ &talk, 0, NULL, 0 },
		{ common ? &format : NULL, 0, NULL, 0 },
	};
	void *inputs[] = { input, NULL, common };
	struct argp root = { .parser = parse_root, .children = children };

	argp_err_exit_status = TARE_USAGE;
	return argp_parse(&root, argc, argv, 0, NULL, inputs) ? TARE_USAGE :
								 TARE_OK;
}

int options_print(struct out_doc *doc, const struct options *common)
{
	int err = out_print(doc, stdout, common->format);

	out_free(doc);
	return err ? msg_error("cannot write the output") : TARE_OK;
}

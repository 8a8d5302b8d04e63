// SPDX-License-Identifier: GPL-2.0-only
/* tare lab: kernels, the cache, and running commands in a virtual machine. */
#include "command.h"
#include "lab.h"
#include "options.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* ---- kernels ---- */

static const struct argp kernels_argp = {
	NULL, NULL, NULL,
	"List the kernels that Debian has packaged and those in the cache.",
	NULL, NULL, NULL
};

static bool has_modules(const char *abi)
{
	char *source = host_source();
	char *stamp = source ? xasprintf("%s/build/modules/%s/.stamp", source,
					 abi) : NULL;
	bool built = stamp && !access(stamp, F_OK);

	free(source);
	free(stamp);
	return built;
}

static void kernel_row(struct out_sec *table, const char *cache,
		       const char *series, const char *abi, bool cached)
{
	char *path = xasprintf("%s/kernels/%s", cache, abi);

	out_row(table);
	out_cell_str(table, series);
	out_cell_str(table, abi);
	out_cell_str(table, cached ? "yes" : "no");
	if (cached)
		out_cell_u64(table, host_tree_size(path) >> 20);
	else
		out_cell_none(table);
	out_cell_str(table, has_modules(abi) ? "yes" : "no");
	free(path);
}

/* One series: its cached kernels, and the newest packaged one. */
static void series_rows(struct out_sec *table, const char *cache,
			const char *series, struct strlist *cached)
{
	char *newest = kernel_newest_packaged(series);

	for (size_t i = 0; i < cached->n; i++)
		if (kernel_matches(cached->v[i], series))
			kernel_row(table, cache, series, cached->v[i], true);
	if (newest && !strlist_has(cached, newest))
		kernel_row(table, cache, series, newest, false);
	free(newest);
}

static bool in_a_series(const char *abi)
{
	for (size_t i = 0; i < lab_nr_series; i++)
		if (kernel_matches(abi, lab_series[i]))
			return true;
	return false;
}

static int lab_kernels(int argc, char **argv)
{
	struct options common = {};
	struct strlist cached = {};
	struct out_sec *table;
	struct out_doc *doc;
	char *cache;
	int code = options_parse(&kernels_argp, argc, argv, NULL, &common);

	if (code)
		return code;
	code = host_cache_path(&cache);
	if (code)
		return code;
	doc = out_new("lab-kernels");
	table = out_table(doc, "kernels", NULL);
	out_column(table, "series");
	out_column(table, "kernel");
	out_column(table, "cached");
	out_column(table, "size_mb");
	out_column(table, "modules_built");
	kernel_cached(cache, &cached);
	for (size_t i = 0; i < lab_nr_series; i++)
		series_rows(table, cache, lab_series[i], &cached);
	for (size_t i = 0; i < cached.n; i++)
		if (!in_a_series(cached.v[i]))
			kernel_row(table, cache, "-", cached.v[i], true);
	strlist_free(&cached);
	free(cache);
	return options_print(doc, &common);
}

/* ---- fetch and build ---- */

static error_t parse_version(int key, char *arg, struct argp_state *state)
{
	const char **version = state->input;

	if (key == ARGP_KEY_ARG && !*version) {
		*version = arg;
		return 0;
	}
	if (key == ARGP_KEY_ARG)
		argp_error(state, "one VERSION only");
	if (key == ARGP_KEY_NO_ARGS)
		argp_error(state, "which VERSION? 6.1, 6.12 or a full name");
	return ARGP_ERR_UNKNOWN;
}

static const struct argp fetch_argp = {
	NULL, parse_version, "VERSION",
	"Unpack a packaged kernel and its headers into the cache.\v"
	"VERSION is a series (6.1, 6.12: the newest packaged) or a full name "
	"such as 6.1.0-57-amd64. Nothing is installed, no root is needed.",
	NULL, NULL, NULL
};

static int lab_fetch(int argc, char **argv)
{
	const char *version = NULL;
	struct lab_kernel kernel;
	int code = options_parse(&fetch_argp, argc, argv, &version, NULL);

	if (!code)
		code = kernel_get(version, true, &kernel);
	if (!code) {
		msg_info("kernel %s is in the cache", kernel.abi);
		kernel_put(&kernel);
	}
	return code;
}

static const struct argp_option build_options[] = {
	{ "kernel", 'k', "VERSION", 0,
	  "6.1 (default), 6.12 or a full name such as 6.1.0-57-amd64", 0 },
	{ 0 }
};

static error_t parse_build(int key, char *arg, struct argp_state *state)
{
	const char **version = state->input;

	if (key != 'k')
		return ARGP_ERR_UNKNOWN;
	*version = arg;
	return 0;
}

static const struct argp build_argp = {
	build_options, parse_build, NULL,
	"Build the project's kernel modules for a kernel of the lab.",
	NULL, NULL, NULL
};

static int lab_build(int argc, char **argv)
{
	const char *version = "6.1";
	struct lab_kernel kernel = {};
	struct strlist kos = {};
	int code = options_parse(&build_argp, argc, argv, &version, NULL);
	int lock = -1;

	if (!code)
		code = kernel_get(version, false, &kernel);
	if (!code)
		code = kbuild_modules(&kernel, &kos, &lock);
	if (lock >= 0)
		close(lock);
	for (size_t i = 0; !code && i < kos.n; i++)
		puts(kos.v[i]);
	strlist_free(&kos);
	kernel_put(&kernel);
	return code;
}

/* ---- clean ---- */

static const struct argp clean_argp = {
	NULL, NULL, NULL, "Empty the cache of kernels.", NULL, NULL, NULL
};

static int lab_clean(int argc, char **argv)
{
	int code = options_parse(&clean_argp, argc, argv, NULL, NULL);
	unsigned long long bytes = 0;
	char *cache, *kvm;
	int err;

	if (code)
		return code;
	code = host_cache(&cache);
	if (code)
		return code;
	/* By name: TARE_CACHE may point at a directory with other things. */
	err = kernel_remove_all(cache, &bytes);
	if (err)
		code = msg_error("cannot clean %s: %s", cache, strerror(-err));
	lab_sweep(cache);
	kvm = xasprintf("%s/kvm", cache);
	unlink(kvm);
	msg_info("removed %llu MB from the cache", bytes >> 20);
	free(kvm);
	free(cache);
	return code;
}

/* ---- lab ---- */

static const struct command subcommands[] = {
	{ "kernels", "list packaged and cached kernels", lab_kernels },
	{ "fetch", "get a kernel into the cache", lab_fetch },
	{ "build", "build the project's modules for a kernel", lab_build },
	{ "run", "run a command in the virtual machine", cmd_lab_run },
	{ "clean", "empty the cache", lab_clean },
};

static void usage(FILE *to)
{
	fputs("Usage: tare lab COMMAND [OPTION…]\n"
	      "Weigh in a throw-away virtual machine: no root, any packaged kernel.\n\n",
	      to);
	for (size_t i = 0; i < ARRAY_SIZE(subcommands); i++)
		fprintf(to, "  %-9s %s\n", subcommands[i].name,
			subcommands[i].summary);
	fputs("\n'tare lab COMMAND --help' explains a command.\n", to);
}

/* The exit code of a command that a signal may have ended. */
static int ended(int code)
{
	int signal = host_signal();

	if (!signal || code == 128 + signal)
		return code;
	msg_error("interrupted by signal %d (%s)", signal, strsignal(signal));
	return 128 + signal;
}

int cmd_lab(int argc, char **argv)
{
	static char name[64];

	if (argc < 2) {
		usage(stderr);
		return TARE_USAGE;
	}
	if (!strcmp(argv[1], "--help") || !strcmp(argv[1], "-h") ||
	    !strcmp(argv[1], "help") || !strcmp(argv[1], "-?")) {
		usage(stdout);
		return TARE_OK;
	}
	for (size_t i = 0; i < ARRAY_SIZE(subcommands); i++) {
		if (strcmp(argv[1], subcommands[i].name))
			continue;
		snprintf(name, sizeof(name), "%s %s", argv[0], argv[1]);
		argv[1] = name;
		host_catch_signals();
		return ended(subcommands[i].run(argc - 1, argv + 1));
	}
	return msg_usage("there is no command 'lab %s'; see 'tare lab --help'",
			 argv[1]);
}

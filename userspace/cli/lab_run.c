// SPDX-License-Identifier: GPL-2.0-only
/* tare lab run: the command line. */
#include "command.h"
#include "lab.h"
#include "options.h"

#include <stdlib.h>
#include <string.h>

enum {
	KEY_EXACT = 256,
	KEY_SOFTIRQ,
	KEY_WALL,
	KEY_KERNEL,
	KEY_SMP,
	KEY_MEM,
	KEY_APPEND,
	KEY_ADD,
	KEY_PROGRAM,
	KEY_MODULE,
	KEY_RESULTS,
	KEY_LOG,
	KEY_ALLOW,
	KEY_TIMEOUT,
	KEY_NO_MODULES,
	KEY_KEEP,
};

static const struct argp_option run_options[] = {
	{ NULL, 0, NULL, 0, "How time passes, one of:", 1 },
	{ "exact", KEY_EXACT, NULL, 0,
	  "One nanosecond an instruction, one CPU (default)", 1 },
	{ "softirq", KEY_SOFTIRQ, NULL, 0,
	  "The same on a kernel that expects a second CPU, so that completions take the softirq path",
	  1 },
	{ "wall", KEY_WALL, NULL, 0,
	  "Real time: KVM where a stock kernel boots on it, else emulated", 1 },
	{ NULL, 0, NULL, 0, "The machine:", 2 },
	{ "kernel", KEY_KERNEL, "VERSION", 0,
	  "6.1 (default), 6.12 or a full name such as 6.1.0-57-amd64", 2 },
	{ "smp", KEY_SMP, "N", 0, "Number of CPUs, --wall only (default 2)", 2 },
	{ "mem", KEY_MEM, "MB", 0, "Memory (default 1024)", 2 },
	{ "append", KEY_APPEND, "ARGS", 0, "More kernel arguments", 2 },
	{ NULL, 0, NULL, 0, "What it holds:", 3 },
	{ "add", KEY_ADD, "FILE[:PATH]", 0,
	  "A file or directory, at PATH or below /work; may be repeated", 3 },
	{ "program", KEY_PROGRAM, "PROG", 0,
	  "A program of this machine with its libraries; may be repeated", 3 },
	{ "module", KEY_MODULE, "NAME", 0,
	  "One more kernel module; may be repeated", 3 },
	{ "no-modules", KEY_NO_MODULES, NULL, 0,
	  "Neither build nor pack the project's modules", 3 },
	{ NULL, 0, NULL, 0, "What comes back:", 4 },
	{ "results", KEY_RESULTS, "DIR", 0,
	  "Copy the files in the guest's /results here", 4 },
	{ "log", KEY_LOG, "FILE", 0,
	  "The guest's kernel log (default build/lab/last.log, of the run that ended last)", 4 },
	{ "allow", KEY_ALLOW, "REGEX", 0,
	  "A fault in the kernel log that is expected; may be repeated", 4 },
	{ "timeout", KEY_TIMEOUT, "S", 0, "Time limit (default 600)", 4 },
	{ "keep", KEY_KEEP, NULL, 0,
	  "Show QEMU's command line and keep its files", 4 },
	{ 0 }
};

static unsigned int number(struct argp_state *state, const char *option,
			   const char *arg, uint64_t min, uint64_t max)
{
	uint64_t value;

	if (parse_u64(arg, &value) || value < min || value > max)
		argp_error(state, "--%s '%s': a number from %llu to %llu",
			   option, arg, (unsigned long long)min,
			   (unsigned long long)max);
	return value;
}

static void set_mode(struct argp_state *state, struct lab_request *r,
		     enum lab_mode mode, bool *chosen)
{
	if (*chosen && r->mode != mode)
		argp_error(state, "--exact, --softirq and --wall exclude each other");
	r->mode = mode;
	*chosen = true;
}

static void check_add(struct argp_state *state, const char *arg)
{
	char *host, *guest;

	add_split(arg, &host, &guest);
	if (guest && path_climbs(guest))
		argp_error(state, "--add %s: no '..' in the guest's path", arg);
	free(host);
	free(guest);
}

static void check(struct argp_state *state, const struct lab_request *r)
{
	for (size_t i = 0; i < r->adds.n; i++)
		check_add(state, r->adds.v[i]);
	if (r->command && !**r->command)
		argp_error(state, "the COMMAND is empty");
	if (!r->command)
		argp_error(state, "what shall it run? Give a COMMAND after --");
	if (r->mode != LAB_WALL && r->smp > 1)
		argp_error(state, "--smp %u needs --wall: exact counting has one CPU",
			   r->smp);
}

static error_t parse_content(int key, char *arg, struct lab_request *r)
{
	switch (key) {
	case KEY_ADD:
		strlist_add(&r->adds, arg);
		return 0;
	case KEY_PROGRAM:
		strlist_add(&r->programs, arg);
		return 0;
	case KEY_MODULE:
		strlist_add(&r->modules, arg);
		return 0;
	case KEY_NO_MODULES:
		r->no_modules = true;
		return 0;
	case KEY_RESULTS:
		r->results = arg;
		return 0;
	case KEY_LOG:
		r->log = arg;
		return 0;
	case KEY_ALLOW:
		strlist_add(&r->allow, arg);
		return 0;
	case KEY_KEEP:
		r->keep = true;
		return 0;
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

static error_t parse_run(int key, char *arg, struct argp_state *state)
{
	struct lab_request *r = state->input;
	static bool mode_chosen;

	switch (key) {
	case KEY_EXACT:
		set_mode(state, r, LAB_EXACT, &mode_chosen);
		return 0;
	case KEY_SOFTIRQ:
		set_mode(state, r, LAB_SOFTIRQ, &mode_chosen);
		return 0;
	case KEY_WALL:
		set_mode(state, r, LAB_WALL, &mode_chosen);
		return 0;
	case KEY_KERNEL:
		r->kernel = arg;
		return 0;
	case KEY_SMP:
		r->smp = number(state, "smp", arg, 1, 64);
		return 0;
	case KEY_MEM:
		r->mem_mb = number(state, "mem", arg, 256, 1 << 20);
		return 0;
	case KEY_TIMEOUT:
		r->timeout_s = number(state, "timeout", arg, 1, 1000000);
		return 0;
	case KEY_APPEND:
		r->append = arg;
		return 0;
	case ARGP_KEY_ARGS:
		r->command = state->argv + state->next;
		return 0;
	case ARGP_KEY_END:
		check(state, r);
		return 0;
	default:
		return parse_content(key, arg, r);
	}
}

static const struct argp run_argp = {
	run_options, parse_run, "-- COMMAND [ARG…]",
	"Run a command in a throw-away virtual machine.\v"
	"The command's output and exit code are tare's own. A kernel fault in "
	"the guest, its end before the command's, or the time limit: exit code 1.",
	NULL, NULL, NULL
};

int cmd_lab_run(int argc, char **argv)
{
	struct lab_request r = {
		.kernel = "6.1", .mem_mb = 1024, .timeout_s = 600,
	};
	int code = options_parse(&run_argp, argc, argv, &r, NULL);

	if (!code)
		code = lab_run(&r);
	strlist_free(&r.modules);
	strlist_free(&r.programs);
	strlist_free(&r.adds);
	strlist_free(&r.allow);
	return code;
}

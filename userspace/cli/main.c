// SPDX-License-Identifier: GPL-2.0-only
/* tare: find the subcommand and run it. */
#include "command.h"

#include <stdio.h>
#include <string.h>

#ifndef TARE_VERSION
#error "TARE_VERSION comes from the Makefile"
#endif

static const struct command commands[] = {
	{ "add", "create a device and switch it on", cmd_add },
	{ "rm", "switch devices off and remove them", cmd_rm },
	{ "ls", "list the devices", cmd_ls },
	{ "show", "show the attributes of a device", cmd_show },
	{ "set", "change attributes of a device", cmd_set },
	{ "save", "write all devices to a file", cmd_save },
	{ "restore", "create the devices of a file", cmd_restore },
	{ "stat", "show the driver's statistics", cmd_stat },
	{ "doctor", "say whether this machine's figures can be trusted",
	  cmd_doctor },
	{ "run", "run a job and print where the time went", cmd_run },
	{ "lab", "do all this in a throw-away virtual machine", cmd_lab },
};

static void usage(FILE *to)
{
	fputs("Usage: tare COMMAND [OPTION…]\n"
	      "Weigh what the Linux storage stack costs above the device.\n\n",
	      to);
	for (size_t i = 0; i < ARRAY_SIZE(commands); i++)
		fprintf(to, "  %-9s %s\n", commands[i].name,
			commands[i].summary);
	fputs("\n'tare COMMAND --help' explains a command, 'man tare' the whole.\n"
	      "Exit codes: 0 done, 1 failed, 2 usage, 77 cannot be done here.\n",
	      to);
}

/* A result that did not reach its reader is no success. */
static int finish(int code)
{
	if (fflush(stdout) != 0 || ferror(stdout))
		return code ? code : msg_error("cannot write the output");
	return code;
}

int main(int argc, char **argv)
{
	static char name[64];

	if (argc < 2) {
		usage(stderr);
		return TARE_USAGE;
	}
	if (!strcmp(argv[1], "--help") || !strcmp(argv[1], "-h") ||
	    !strcmp(argv[1], "help")) {
		usage(stdout);
		return finish(TARE_OK);
	}
	if (!strcmp(argv[1], "--version") || !strcmp(argv[1], "-V")) {
		puts("tare " TARE_VERSION);
		return finish(TARE_OK);
	}
	for (size_t i = 0; i < ARRAY_SIZE(commands); i++) {
		if (strcmp(argv[1], commands[i].name))
			continue;
		snprintf(name, sizeof(name), "tare %s", commands[i].name);
		argv[1] = name;
		return finish(commands[i].run(argc - 1, argv + 1));
	}
	return msg_usage("there is no command '%s'; see 'tare --help'", argv[1]);
}

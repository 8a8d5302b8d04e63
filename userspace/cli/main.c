// SPDX-License-Identifier: GPL-2.0-only
/* tare: find the subcommand and run it. */
#include "command.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

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

/* A result that did not reach its reader is no success; argp's --help exits by itself. */
static void finish(int code, void *arg)
{
	(void)arg;
	if ((fflush(stdout) != 0 || ferror(stdout)) && code == TARE_OK)
		_exit(msg_error("cannot write the output"));
}

/*
 * A descriptor that the caller has closed would be given to the next file that
 * is opened, and what is printed would land in it. Nothing can be written to
 * what stands in for it, so that a lost output is still an error.
 */
static void hold_descriptors(void)
{
	for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; fd++)
		if (fcntl(fd, F_GETFD) < 0 && open("/dev/null", O_RDONLY) != fd)
			_exit(TARE_FAILED);
}

int main(int argc, char **argv)
{
	static char name[64];

	hold_descriptors();
	on_exit(finish, NULL);
	if (argc < 2) {
		usage(stderr);
		return TARE_USAGE;
	}
	if (!strcmp(argv[1], "--help") || !strcmp(argv[1], "-h") ||
	    !strcmp(argv[1], "help")) {
		usage(stdout);
		return TARE_OK;
	}
	if (!strcmp(argv[1], "--version") || !strcmp(argv[1], "-V")) {
		puts("tare " TARE_VERSION);
		return TARE_OK;
	}
	for (size_t i = 0; i < ARRAY_SIZE(commands); i++) {
		if (strcmp(argv[1], commands[i].name))
			continue;
		snprintf(name, sizeof(name), "tare %s", commands[i].name);
		argv[1] = name;
		return commands[i].run(argc - 1, argv + 1);
	}
	if (argv[1][0] == '-')
		return msg_usage("options come after the command: tare COMMAND %s",
				 argv[1]);
	return msg_usage("there is no command '%s'; see 'tare --help'", argv[1]);
}

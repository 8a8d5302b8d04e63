/* SPDX-License-Identifier: GPL-2.0-only */
/* What the commands about devices share. */
#ifndef TARE_DEVICES_H
#define TARE_DEVICES_H

#include <argp.h>

#include "device.h"
#include "output.h"

/** Names on a command line, and the devices they mean. */
struct device_names {
	char **names;
	int n;
};

/**
 * The devices that are named, each checked to exist; all when none is named.
 * Needs the driver. Prints what is wrong.
 * @param names pointers into argv
 * @param found receives copies, freed with devices_free()
 * @return enum tare_exit
 */
int devices_find(char *const *names, size_t n, struct device_names *found);
void devices_free(struct device_names *found);

/** Driver and root, as every command that changes something needs. @return enum tare_exit. */
int devices_need_all(void);

/** A cell with an attribute's (or power's) value: a number, a mode's name, or none. */
void device_cell(struct out_sec *table, const char *name, const char *attr);

/** A command line NAME ATTR=VALUE…; zero it first, free it after. */
struct device_line {
	bool allow_power;	/* "power" is taken too, as often as it comes */
	const char *name;
	struct assignment *set;
	size_t n;
};
/**
 * Take the next positional argument: the first is the name, the others are
 * assignments. Prints what is wrong. @return 0 or EINVAL, as argp wants it
 */
error_t device_line_arg(struct device_line *line, const char *arg);
void device_line_free(struct device_line *line);

#endif

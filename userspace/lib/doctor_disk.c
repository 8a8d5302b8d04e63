// SPDX-License-Identifier: GPL-2.0-only
/* The doctor looks at the queue of a disk. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "doctor.h"

static void examine_scheduler(const struct sysroot *m, const char *disk,
			      struct findings *f)
{
	static const char why[] = "a scheduler is a part of the stack: mq-deadline nearly triples the instructions of a read";
	char *text = sysroot_read(m, "/sys/block/%s/queue/scheduler", disk);
	char *todo = xasprintf("echo none > /sys/block/%s/queue/scheduler",
			       disk);
	bool none = text && (strstr(text, "[none]") || !strcmp(text, "none"));

	if (!text)
		finding_add(f, "scheduler", FINDING_UNKNOWN, why, todo,
			    "%s: cannot be read", disk);
	else
		finding_add(f, "scheduler", none ? FINDING_OK : FINDING_WARN,
			    why, none ? NULL : todo, "%s: %s", disk, text);
	free(todo);
	free(text);
}

/* One number of the queue: what it should be, and what to do when it is not. */
struct queue_rule {
	const char *file;
	long wanted;
	const char *why;
};

static const struct queue_rule rules[] = {
	{ "iostats", 0,
	  "accounting reads the clock twice for every request" },
	{ "wbt_lat_usec", 0,
	  "writeback throttling looks at every request, and delays some" },
	{ "nomerges", 2,
	  "a merge joins two I/Os into one request; looking for one costs even when there is none" },
	{ "rq_affinity", 1,
	  "it says on which CPU a request completes: 0 where the interrupt is, 2 always where it was submitted" },
	{ "add_random", 0,
	  "every completion feeds the random number generator" },
};

/* Defaults that belong to the stack as everybody has it are no fault. */
static enum finding_level rule_level(const struct queue_rule *rule, long value)
{
	if (value == rule->wanted)
		return FINDING_OK;
	return !strcmp(rule->file, "nomerges") && value == 0 ? FINDING_OK :
							       FINDING_WARN;
}

static void examine_rule(const struct sysroot *m, const char *disk,
			 const struct queue_rule *rule, struct findings *f)
{
	long value = sysroot_number(m, -2, "/sys/block/%s/queue/%s", disk,
				    rule->file);
	enum finding_level level = rule_level(rule, value);
	char *todo = xasprintf("echo %ld > /sys/block/%s/queue/%s",
			       rule->wanted, disk, rule->file);

	/* A queue without this file, or with writeback throttling compiled out. */
	if (value != -2)
		finding_add(f, rule->file, level, rule->why,
			    level == FINDING_OK ? NULL : todo, "%s: %ld", disk,
			    value);
	free(todo);
}

int doctor_disk(const struct sysroot *m, const char *disk, struct findings *f)
{
	if (!*disk || strchr(disk, '/') || disk[0] == '.' ||
	    !sysroot_has(m, "/sys/block/%s", disk))
		return -ENODEV;
	examine_scheduler(m, disk, f);
	for (size_t i = 0; i < ARRAY_SIZE(rules); i++)
		examine_rule(m, disk, &rules[i], f);
	return 0;
}

// SPDX-License-Identifier: GPL-2.0-only
/* The doctor looks at what else runs on the machine. */
#include <stdlib.h>
#include <string.h>

#include "doctor.h"

/* Above it somebody else wants a CPU. */
#define LOAD_MAX 0.5

static void examine_load(const struct sysroot *m, struct findings *f)
{
	static const char why[] = "other tasks take the CPU, the cache and the memory's bandwidth";
	char *text = sysroot_read(m, "/proc/loadavg");
	char *end = text;
	double load = text ? strtod(text, &end) : 0;

	if (end == text)
		finding_add(f, "load", FINDING_UNKNOWN, why, "see 'uptime'",
			    "cannot be read");
	else
		finding_add(f, "load",
			    load > LOAD_MAX ? FINDING_WARN : FINDING_OK, why,
			    load > LOAD_MAX ? "stop what else runs ('top'), and wait a minute" :
					      NULL,
			    "%.2f over the last minute", load);
	free(text);
}

/* The next range of a list like "0-3,7"; false at its end. */
static bool next_range(const char **p, long *first, long *last)
{
	char *end;

	*p += strspn(*p, ", ");
	*first = strtol(*p, &end, 10);
	if (end == *p)
		return false;
	*last = *first;
	*p = end;
	if (**p == '-') {
		*last = strtol(*p + 1, &end, 10);
		*p = end;
	}
	return true;
}

/* Do two such lists have a CPU in common? */
static bool lists_meet(const char *a, const char *b)
{
	long first, last, from, to;

	while (next_range(&a, &first, &last))
		for (const char *p = b; next_range(&p, &from, &to);)
			if (first <= to && from <= last)
				return true;
	return false;
}

/* Interrupts that may come to the isolated CPUs. */
static size_t count_interrupts(const struct sysroot *m, const char *isolated)
{
	char **irqs;
	size_t n = sysroot_list(m, "/proc/irq", "", true, &irqs), count = 0;

	for (size_t i = 0; i < n; i++) {
		char *cpus = sysroot_read(m,
			"/proc/irq/%s/effective_affinity_list", irqs[i]);

		if (!cpus || !*cpus) {
			free(cpus);
			cpus = sysroot_read(m, "/proc/irq/%s/smp_affinity_list",
					    irqs[i]);
		}
		count += cpus && lists_meet(cpus, isolated);
		free(cpus);
	}
	sysroot_list_free(irqs, n);
	return count;
}

static void examine_interrupts(const struct sysroot *m, const char *isolated,
			       struct findings *f)
{
	static const char why[] = "an interrupt in the middle of an I/O is counted as the stack's";
	size_t count = count_interrupts(m, isolated);

	if (count)
		finding_add(f, "interrupts", FINDING_WARN, why,
			    "write the other CPUs to /proc/irq/N/smp_affinity_list",
			    "%zu may come to the isolated CPUs %s", count,
			    isolated);
	else
		finding_add(f, "interrupts", FINDING_OK, why, NULL,
			    "none comes to the isolated CPUs %s", isolated);
}

static void examine_isolation(const struct sysroot *m, struct findings *f)
{
	static const char why[] = "the scheduler puts other tasks, and the tick, on the CPU that is measured";
	char *isolated = sysroot_read(m, "/sys/devices/system/cpu/isolated");
	char *nohz = sysroot_read(m, "/sys/devices/system/cpu/nohz_full");
	bool tickless = nohz && *nohz && !strstr(nohz, "null");

	if (!isolated) {
		finding_add(f, "isolation", FINDING_UNKNOWN, why,
			    "see /proc/cmdline for isolcpus=",
			    "cannot be read");
	} else if (!*isolated) {
		finding_add(f, "isolation", FINDING_WARN, why,
			    "boot with isolcpus=N nohz_full=N irqaffinity=OTHERS and run on CPU N ('tare run --cpu N')",
			    "no CPU is set apart");
	} else {
		finding_add(f, "isolation", FINDING_OK, why, NULL,
			    "CPUs %s are isolated; without the tick: %s",
			    isolated, tickless ? nohz : "none");
		examine_interrupts(m, isolated, f);
	}
	free(isolated);
	free(nohz);
}

static bool is_running(const struct sysroot *m, const char *program)
{
	char **pids;
	size_t n = sysroot_list(m, "/proc", "", true, &pids);
	bool found = false;

	for (size_t i = 0; i < n && !found; i++) {
		char *comm = sysroot_read(m, "/proc/%s/comm", pids[i]);

		found = comm && !strcmp(comm, program);
		free(comm);
	}
	sysroot_list_free(pids, n);
	return found;
}

static void examine_irqbalance(const struct sysroot *m, struct findings *f)
{
	static const char why[] = "it moves interrupts between CPUs while something is measured";

	if (is_running(m, "irqbalance"))
		finding_add(f, "irqbalance", FINDING_WARN, why,
			    "systemctl stop irqbalance", "running");
	else
		finding_add(f, "irqbalance", FINDING_OK, why, NULL,
			    "not running");
}

/* A switch of /proc/sys that is better off, and exists on some machines only. */
static void examine_switch(const struct sysroot *m, struct findings *f,
			   const char *topic, const char *file, const char *why)
{
	long on = sysroot_number(m, -1, "/proc/sys/%s", file);
	char *todo = xasprintf("echo 0 > /proc/sys/%s", file);

	if (on >= 0)
		finding_add(f, topic, on ? FINDING_WARN : FINDING_OK, why,
			    on ? todo : NULL, on ? "on" : "off");
	free(todo);
}

void doctor_noise(const struct sysroot *m, struct findings *f)
{
	examine_load(m, f);
	examine_isolation(m, f);
	examine_irqbalance(m, f);
	examine_switch(m, f, "nmi-watchdog", "kernel/nmi_watchdog",
		       "it interrupts every CPU now and then, and takes a performance counter");
	examine_switch(m, f, "numa-balancing", "kernel/numa_balancing",
		       "it takes pages away to see who uses them: page faults in the middle of an I/O");
}

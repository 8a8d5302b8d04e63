// SPDX-License-Identifier: GPL-2.0-only
/* The doctor looks at the counter, the frequency, idle states and SMT. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "doctor.h"

#define CPU_DIR "/sys/devices/system/cpu"
#define CLOCKSOURCE_DIR "/sys/devices/system/clocksource/clocksource0"

/* A state that takes longer to leave shows in a weighing of microseconds. */
#define IDLE_EXIT_MAX_US 2

/* The first "flags" (x86) line of /proc/cpuinfo; NULL: there is none. */
static char *cpu_flags(const struct sysroot *m)
{
	char *text = sysroot_read(m, "/proc/cpuinfo");
	char *line = text ? strstr(text, "\nflags") : NULL;
	char *flags = NULL;

	if (line) {
		line += strcspn(line, ":");
		if (*line)
			flags = strndup(line + 1, strcspn(line, "\n") - 1);
	}
	free(text);
	return flags;
}

static bool tsc_vouched_for(const struct sysroot *m)
{
	char *tsc = sysroot_parameter(m, "tsc");
	bool yes = tsc && !strcmp(tsc, "reliable");

	free(tsc);
	return yes;
}

static void examine_tsc(const struct sysroot *m, struct findings *f)
{
	static const char why[] = "stamps are taken with the time stamp counter; one that changes its rate or stops in idle measures nothing";
	char *flags = cpu_flags(m);
	bool constant, nonstop, vouched = tsc_vouched_for(m);

	if (!flags) {
		finding_add(f, "tsc", FINDING_UNKNOWN, why,
			    "see whether the driver trusts the counter: 'tare stat'",
			    "/proc/cpuinfo has no x86 flags");
		return;
	}
	constant = has_word(flags, "constant_tsc");
	nonstop = has_word(flags, "nonstop_tsc");
	if (constant && nonstop)
		finding_add(f, "tsc", FINDING_OK, why, NULL,
			    "constant rate, goes on in idle");
	else
		finding_add(f, "tsc", vouched ? FINDING_WARN : FINDING_BAD, why,
			    vouched ? "only trust it in the exact lab ('tare lab run --exact')" :
				      "use another CPU, or the exact lab ('tare lab run --exact'); keep to one pinned CPU at a fixed frequency",
			    "%s%s%s%s",
			    constant ? "" : "constant_tsc is missing",
			    constant || nonstop ? "" : ", ",
			    nonstop ? "" : "nonstop_tsc is missing",
			    vouched ? "; tsc=reliable vouches for it" : "");
	free(flags);
}

static void examine_stable(const struct sysroot *m, struct findings *f)
{
	static const char why[] = "a counter that the kernel found unstable differs between CPUs";

	if (sysroot_log_has(m, "Marking TSC unstable") ||
	    sysroot_log_has(m, "Marking clocksource 'tsc"))
		finding_add(f, "tsc-stable", FINDING_BAD, why,
			    "see 'dmesg | grep -i tsc'; update the firmware; keep to one pinned CPU",
			    "the kernel log says that the TSC is unstable");
	else if (sysroot_has(m, "/proc/cpuinfo"))
		finding_add(f, "tsc-stable", FINDING_OK, why, NULL,
			    "no complaint that could be read in the kernel log");
}

static void examine_clocksource(const struct sysroot *m, struct findings *f)
{
	static const char why[] = "the block layer reads the clock for every request; a slow clock source is part of what is weighed";
	char *now = sysroot_read(m, CLOCKSOURCE_DIR "/current_clocksource");
	char *all = sysroot_read(m, CLOCKSOURCE_DIR "/available_clocksource");
	bool tsc = now && !strcmp(now, "tsc");

	if (!now || !all)
		finding_add(f, "clocksource", FINDING_UNKNOWN, why,
			    "see 'dmesg | grep clocksource'",
			    "cannot be read");
	else if (tsc)
		finding_add(f, "clocksource", FINDING_OK, why, NULL, "tsc");
	else if (has_word(all, "tsc"))
		finding_add(f, "clocksource", FINDING_WARN, why,
			    "echo tsc > " CLOCKSOURCE_DIR "/current_clocksource",
			    "%s, though tsc is available", now);
	else
		finding_add(f, "clocksource", FINDING_WARN, why,
			    "see 'dmesg | grep -i tsc'; in a virtual machine let the host offer an invariant TSC",
			    "%s; tsc is not available", now);
	free(now);
	free(all);
}

/* How many CPUs have a governor, and how many of them another than performance. */
static void count_governors(const struct sysroot *m, size_t *all,
			    size_t *other, char **example)
{
	char **cpus;
	size_t n = sysroot_list(m, CPU_DIR, "cpu", true, &cpus);

	*all = *other = 0;
	*example = NULL;
	for (size_t i = 0; i < n; i++) {
		char *governor = sysroot_read(m,
			CPU_DIR "/%s/cpufreq/scaling_governor", cpus[i]);

		*all += governor != NULL;
		if (governor && strcmp(governor, "performance")) {
			++*other;
			free(*example);
			*example = governor;
		} else {
			free(governor);
		}
	}
	sysroot_list_free(cpus, n);
}

static void examine_governor(const struct sysroot *m, struct findings *f)
{
	static const char why[] = "a CPU that changes its frequency takes different time for the same instructions";
	size_t all, other;
	char *example;

	count_governors(m, &all, &other, &example);
	if (!all)
		finding_add(f, "governor", FINDING_UNKNOWN, why,
			    "fix the frequency in the firmware or on the host",
			    "the kernel does not control the frequency");
	else if (!other)
		finding_add(f, "governor", FINDING_OK, why, NULL,
			    "performance on %zu CPUs", all);
	else
		finding_add(f, "governor", FINDING_WARN, why,
			    "echo performance | tee " CPU_DIR "/cpu*/cpufreq/scaling_governor",
			    "%s, on %zu of %zu CPUs", example, other, all);
	free(example);
}

static void examine_turbo(const struct sysroot *m, struct findings *f)
{
	static const char why[] = "turbo depends on heat and on what other CPUs do; the TSC does not follow it, so cycles per I/O change";
	long no_turbo = sysroot_number(m, -1,
				       CPU_DIR "/intel_pstate/no_turbo");
	long boost = sysroot_number(m, -1, CPU_DIR "/cpufreq/boost");

	if (no_turbo < 0 && boost < 0)
		finding_add(f, "turbo", FINDING_UNKNOWN, why,
			    "switch it off in the firmware or on the host",
			    "the kernel does not control it");
	else if (no_turbo == 1 || (no_turbo < 0 && boost == 0))
		finding_add(f, "turbo", FINDING_OK, why, NULL, "off");
	else
		finding_add(f, "turbo", FINDING_WARN, why,
			    no_turbo == 0 ?
				    "echo 1 > " CPU_DIR "/intel_pstate/no_turbo" :
				    "echo 0 > " CPU_DIR "/cpufreq/boost",
			    "on");
}

/* The slowest idle state of CPU 0 that is not disabled, in µs; -1: none. */
static long slowest_idle(const struct sysroot *m, char **name)
{
	char **states;
	size_t n = sysroot_list(m, CPU_DIR "/cpu0/cpuidle", "state", true,
				&states);
	long slowest = -1;

	*name = NULL;
	for (size_t i = 0; i < n; i++) {
		const char *dir = CPU_DIR "/cpu0/cpuidle";
		long us = sysroot_number(m, 0, "%s/%s/latency", dir, states[i]);

		if (sysroot_number(m, 0, "%s/%s/disable", dir, states[i]) ||
		    us <= slowest)
			continue;
		slowest = us;
		free(*name);
		*name = sysroot_read(m, "%s/%s/name", dir, states[i]);
	}
	sysroot_list_free(states, n);
	return slowest;
}

/* What /dev/cpu_dma_latency is held at, in µs; -1: cannot be read. */
static long held_latency(const struct sysroot *m)
{
	char *path = xasprintf("%s/dev/cpu_dma_latency", m->dir);
	FILE *file = fopen(path, "re");
	int us = -1;

	if (file && fread(&us, sizeof(us), 1, file) != 1)
		us = -1;
	if (file)
		fclose(file);
	free(path);
	return us;
}

static void examine_idle(const struct sysroot *m, struct findings *f)
{
	static const char why[] = "a waiting I/O lets its CPU idle; leaving a deep state delays the completion by microseconds";
	long held = held_latency(m);
	char *name;
	long us = slowest_idle(m, &name);

	if (us < 0)
		finding_add(f, "idle", FINDING_OK, why, NULL,
			    "the kernel knows no idle states");
	else if (us <= IDLE_EXIT_MAX_US)
		finding_add(f, "idle", FINDING_OK, why, NULL,
			    "slowest state in use is %s, %ld µs to leave",
			    name ? name : "?", us);
	else if (held >= 0 && held <= IDLE_EXIT_MAX_US)
		finding_add(f, "idle", FINDING_OK, why, NULL,
			    "/dev/cpu_dma_latency is held at %ld µs", held);
	else
		finding_add(f, "idle", FINDING_WARN, why,
			    "let 'tare run' hold /dev/cpu_dma_latency (see tare-run(1)), or boot with cpuidle.off=1 idle=poll",
			    "state %s takes %ld µs to leave",
			    name ? name : "?", us);
	free(name);
}

static void examine_smt(const struct sysroot *m, struct findings *f)
{
	static const char why[] = "the sibling of the measured CPU takes its execution units and cache";
	long active = sysroot_number(m, -1, CPU_DIR "/smt/active");

	if (active < 0)
		finding_add(f, "smt", FINDING_UNKNOWN, why,
			    "see 'lscpu -e'", "cannot be read");
	else if (!active)
		finding_add(f, "smt", FINDING_OK, why, NULL, "off");
	else
		finding_add(f, "smt", FINDING_WARN, why,
			    "echo off > " CPU_DIR "/smt/control (or keep the sibling idle)",
			    "on");
}

void doctor_cpu(const struct sysroot *m, struct findings *f)
{
	examine_tsc(m, f);
	examine_stable(m, f);
	examine_clocksource(m, f);
	examine_governor(m, f);
	examine_turbo(m, f);
	examine_idle(m, f);
	examine_smt(m, f);
}

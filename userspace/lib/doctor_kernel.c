// SPDX-License-Identifier: GPL-2.0-only
/* The doctor looks at the kernel, and at what it runs on. */
#include <stdlib.h>
#include <string.h>

#include "doctor.h"

#define VULNERABILITIES "/sys/devices/system/cpu/vulnerabilities"

static void examine_version(const struct sysroot *m, struct findings *f)
{
	static const char why[] = "figures are those of one kernel; a report names it";
	char *release = sysroot_read(m, "/proc/sys/kernel/osrelease");

	finding_add(f, "kernel", release ? FINDING_OK : FINDING_UNKNOWN, why,
		    release ? NULL : "see 'uname -r'", "%s",
		    release ? release : "cannot be read");
	free(release);
}

/* "a, b" of those options that the kernel was built with; NULL: config unknown. */
static char *options_set(const struct sysroot *m, const char *const *options,
			 size_t n)
{
	char *list = xstrdup("");

	for (size_t i = 0; i < n; i++) {
		char *value = sysroot_config(m, options[i]), *more;
		bool set = value && !strcmp(value, "y");

		if (!value) {
			free(list);
			return NULL;
		}
		free(value);
		if (!set)
			continue;
		more = xasprintf("%s%s%s", list, *list ? ", " : "",
				 options[i]);
		free(list);
		list = more;
	}
	return list;
}

/* Those that multiply the cost of a path. */
static const char *const heavy[] = {
	"CONFIG_LOCKDEP", "CONFIG_PROVE_LOCKING", "CONFIG_DEBUG_LOCK_ALLOC",
	"CONFIG_LOCK_STAT", "CONFIG_KASAN", "CONFIG_KCSAN", "CONFIG_KMSAN",
	"CONFIG_KCOV", "CONFIG_GCOV_KERNEL", "CONFIG_SLUB_DEBUG_ON",
	"CONFIG_DEBUG_PAGEALLOC_ENABLE_DEFAULT",
	"CONFIG_DEBUG_OBJECTS_ENABLE_DEFAULT",
};

/* Those that add some per cent. */
static const char *const light[] = {
	"CONFIG_DEBUG_KMEMLEAK", "CONFIG_DEBUG_OBJECTS",
	"CONFIG_DEBUG_PREEMPT", "CONFIG_DEBUG_ATOMIC_SLEEP",
	"CONFIG_DEBUG_SPINLOCK", "CONFIG_DEBUG_MUTEXES", "CONFIG_UBSAN_BOUNDS",
	"CONFIG_DEBUG_VM", "CONFIG_TRACE_IRQFLAGS", "CONFIG_PREEMPT_TRACER",
	"CONFIG_IRQSOFF_TRACER",
};

static void examine_debug(const struct sysroot *m, struct findings *f)
{
	static const char why[] = "debug options can multiply the cost of every lock, allocation and memory access";
	static const char todo[] = "boot a kernel without them";
	bool lockdep = sysroot_has(m, "/proc/lockdep");
	char *bad = options_set(m, heavy, ARRAY_SIZE(heavy));
	char *some = options_set(m, light, ARRAY_SIZE(light));

	if (lockdep || (bad && *bad))
		finding_add(f, "debug", FINDING_BAD, why, todo, "%s%s%s",
			    lockdep ? "/proc/lockdep is there" : "",
			    lockdep && bad && *bad ? ", " : "", bad ? bad : "");
	else if (!bad)
		finding_add(f, "debug", FINDING_UNKNOWN, why,
			    "install the kernel's config as /boot/config-VERSION, or boot a kernel with CONFIG_IKCONFIG_PROC",
			    "no lockdep, but the kernel's configuration cannot be read");
	else if (some && *some)
		finding_add(f, "debug", FINDING_WARN, why, todo, "%s", some);
	else
		finding_add(f, "debug", FINDING_OK, why, NULL,
			    "no costly debug options");
	free(bad);
	free(some);
}

static void examine_kmemleak(const struct sysroot *m, struct findings *f)
{
	if (sysroot_has(m, "/sys/kernel/debug/kmemleak"))
		finding_add(f, "kmemleak", FINDING_BAD,
			    "it looks at every allocation, and scans memory now and then",
			    "echo off > /sys/kernel/debug/kmemleak (until the next boot), or boot with kmemleak=off",
			    "built in, and may be at work");
}

static void examine_tracing(const struct sysroot *m, struct findings *f)
{
	static const char why[] = "a tracer or an event adds hundreds of instructions each time";
	char *tracer = sysroot_read(m, "/sys/kernel/tracing/current_tracer");
	char *enable = sysroot_read(m, "/sys/kernel/tracing/events/enable");
	/* 0, 1, or X: some. */
	bool some = enable && *enable && *enable != '0';

	if (!tracer)
		finding_add(f, "tracing", FINDING_UNKNOWN, why,
			    "run it as root", "cannot be read");
	else if (strcmp(tracer, "nop") || some)
		finding_add(f, "tracing", FINDING_BAD, why,
			    "echo nop > /sys/kernel/tracing/current_tracer; echo 0 > /sys/kernel/tracing/events/enable",
			    "tracer %s, %s", tracer,
			    some ? "events are switched on" : "no events");
	else
		finding_add(f, "tracing", FINDING_OK, why, NULL, "off");
	free(enable);
	free(tracer);
}

/* The mode of PREEMPT_DYNAMIC that is in brackets: "none (voluntary) full". */
static char *dynamic_mode(const struct sysroot *m)
{
	char *text = sysroot_read(m, "/sys/kernel/debug/sched/preempt");
	char *open = text ? strchr(text, '(') : NULL;
	char *mode = NULL;

	if (open)
		mode = strndup(open + 1, strcspn(open + 1, ")"));
	free(text);
	return mode;
}

static char *preemption(const struct sysroot *m, const char *version)
{
	char *mode;

	if (strstr(version, "PREEMPT_RT"))
		return xstrdup("PREEMPT_RT");
	if (!strstr(version, "PREEMPT_DYNAMIC"))
		return xstrdup(strstr(version, "PREEMPT") ? "full" :
							    "none or voluntary");
	mode = dynamic_mode(m);
	if (!mode)
		mode = sysroot_parameter(m, "preempt");
	return mode ? mode : xstrdup("dynamic, the kernel's default");
}

static void examine_preemption(const struct sysroot *m, struct findings *f)
{
	static const char why[] = "the preemption model changes the cost of every lock; PREEMPT_RT completes I/O in threads";
	char *version = sysroot_read(m, "/proc/version");
	char *model;

	if (!version) {
		finding_add(f, "preemption", FINDING_UNKNOWN, why,
			    "see 'uname -v'", "cannot be read");
		return;
	}
	model = preemption(m, version);
	finding_add(f, "preemption", FINDING_OK, why, NULL, "%s", model);
	free(model);
	free(version);
}

static void examine_mitigations(const struct sysroot *m, struct findings *f)
{
	static const char why[] = "mitigations are part of the cost of system calls and interrupts: compare only with machines that have the same";
	char **names;
	size_t n = sysroot_list(m, VULNERABILITIES, "", false, &names);
	char *parameter = sysroot_parameter(m, "mitigations");
	char *list = xstrdup("");

	for (size_t i = 0; i < n; i++) {
		char *state = sysroot_read(m, VULNERABILITIES "/%s", names[i]);
		char *more;

		if (state && !strncmp(state, "Mitigation", 10)) {
			more = xasprintf("%s%s%s", list, *list ? ", " : "",
					 names[i]);
			free(list);
			list = more;
		}
		free(state);
	}
	if (!n)
		finding_add(f, "mitigations", FINDING_UNKNOWN, why,
			    "see 'lscpu'", "cannot be read");
	else
		finding_add(f, "mitigations", FINDING_OK, why, NULL, "%s%s%s%s",
			    *list ? "against " : "none", list,
			    parameter ? "; booted with mitigations=" : "",
			    parameter ? parameter : "");
	sysroot_list_free(names, n);
	free(parameter);
	free(list);
}

/* The hypervisor's name as far as it tells; the caller frees it. */
static char *hypervisor(const struct sysroot *m)
{
	char *type = sysroot_read(m, "/sys/hypervisor/type");
	char *vendor = sysroot_read(m, "/sys/class/dmi/id/sys_vendor");
	char *product = sysroot_read(m, "/sys/class/dmi/id/product_name");
	char *name;

	if (type)
		name = xstrdup(type);
	else if (vendor || product)
		name = xasprintf("%s%s%s", vendor ? vendor : "",
				 vendor && product ? " " : "",
				 product ? product : "");
	else
		name = xstrdup("it does not tell its name");
	free(type);
	free(vendor);
	free(product);
	return name;
}

/* The CPUID hypervisor bit, as a word of the flags line. */
static bool is_virtual(const struct sysroot *m)
{
	char *cpuinfo = sysroot_read(m, "/proc/cpuinfo");
	bool yes = (cpuinfo && has_word(cpuinfo, "hypervisor")) ||
		   sysroot_has(m, "/sys/hypervisor/type");

	free(cpuinfo);
	return yes;
}

static void examine_virtual(const struct sysroot *m, struct findings *f)
{
	static const char why[] = "interrupts, timers and idle leave the guest, and the host takes the CPU away unseen: live figures are not those of a bare machine";
	char *name;

	if (!sysroot_has(m, "/proc/cpuinfo")) {
		finding_add(f, "virtual", FINDING_UNKNOWN, why,
			    "see 'systemd-detect-virt'", "cannot be read");
		return;
	}
	if (!is_virtual(m)) {
		finding_add(f, "virtual", FINDING_OK, why, NULL,
			    "no hypervisor");
		return;
	}
	name = hypervisor(m);
	finding_add(f, "virtual", FINDING_WARN, why,
		    "measure on a bare machine, or count instructions ('tare lab run --exact')",
		    "a virtual machine: %s", name);
	free(name);
}

void doctor_kernel(const struct sysroot *m, struct findings *f)
{
	examine_version(m, f);
	examine_debug(m, f);
	examine_kmemleak(m, f);
	examine_tracing(m, f);
	examine_preemption(m, f);
	examine_mitigations(m, f);
	examine_virtual(m, f);
}

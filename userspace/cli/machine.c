// SPDX-License-Identifier: GPL-2.0-only
#include "machine.h"

#include "clock.h"
#include "util.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/utsname.h>
#include <time.h>
#include <unistd.h>

const char *const machine_mode_names[] = {
	[MACHINE_LIVE] = "live",
	[MACHINE_EXACT] = "exact",
	[MACHINE_SOFTIRQ] = "softirq",
	[MACHINE_WALL] = "wall",
};

enum machine_mode machine_mode(void)
{
	const char *lab = getenv("TARE_LAB");

	for (int mode = MACHINE_EXACT; lab && mode <= MACHINE_WALL; mode++)
		if (!strcmp(lab, machine_mode_names[mode]))
			return mode;
	return MACHINE_LIVE;
}

const char *machine_unit(enum machine_mode mode)
{
	return machine_is_exact(mode) ? "instructions" : "cycles";
}

char *machine_kernel(void)
{
	struct utsname u;

	return xstrdup(uname(&u) < 0 ? "" : u.release);
}

static char *read_or_empty(const char *path)
{
	char *text = file_read(path);

	return text ? text : xstrdup("");
}

char *machine_command_line(void)
{
	return read_or_empty("/proc/cmdline");
}

char *machine_clock_source(void)
{
	return read_or_empty("/sys/devices/system/clocksource/clocksource0/current_clocksource");
}

/* The value behind "KEY<blanks>:" or "KEY=" at the start of a line. */
static char *line_value(const char *text, const char *key)
{
	size_t len = strlen(key);

	for (const char *p = text; *p; p += strcspn(p, "\n"), p += *p == '\n') {
		const char *v = p + len;

		if (strncmp(p, key, len))
			continue;
		v += strspn(v, " \t:");
		return xasprintf("%.*s", (int)strcspn(v, "\n"), v);
	}
	return xstrdup("");
}

char *machine_cpu_model(void)
{
	char *text = read_or_empty("/proc/cpuinfo");
	char *model = line_value(text, "model name");

	free(text);
	return model;
}

char *machine_debug_options(void)
{
	static const struct {
		const char *path;
		const char *name;
	} signs[] = {
		{ "/proc/lockdep_stats", "lockdep" },
		{ "/proc/lock_stat", "lock_stat" },
		{ "/sys/module/kasan", "kasan" },
		{ "/sys/kernel/debug/kmemleak", "kmemleak" },
		{ "/sys/kernel/debug/debug_objects", "debug_objects" },
		{ "/sys/kernel/debug/kcsan", "kcsan" },
	};
	char *found = xstrdup("");

	for (size_t i = 0; i < ARRAY_SIZE(signs); i++) {
		char *more;

		if (access(signs[i].path, F_OK))
			continue;
		more = xasprintf("%s%s%s", found, *found ? " " : "",
				 signs[i].name);
		free(found);
		found = more;
	}
	if (!*found) {
		free(found);
		found = xstrdup("none found");
	}
	return found;
}

char *machine_scheduler(const char *disk)
{
	char *path = xasprintf("/sys/block/%s/queue/scheduler", disk);
	char *text = read_or_empty(path);
	char *open = strchr(text, '['), *end = open ? strchr(open, ']') : NULL;
	char *name = end ? xasprintf("%.*s", (int)(end - open - 1), open + 1) :
			   xstrdup("");

	free(text);
	free(path);
	return name;
}

/* Sum of what stands behind a name at every CPU, in ns. */
static bool sum_of(const char *text, const char *key, uint64_t *ns)
{
	bool found = false;

	for (const char *p = text; (p = strstr(p, key)); p += strlen(key)) {
		const char *v = p + strcspn(p, ":\n");

		if (*v == ':') {
			*ns += strtoull(v + 1, NULL, 10);
			found = true;
		}
	}
	return found;
}

/* A CPU that is idle while a task waits for I/O counts apart, but is idle too. */
static bool read_idle(uint64_t *ns)
{
	char *text = file_read("/proc/timer_list");
	bool found;

	*ns = 0;
	if (!text)
		return false;
	found = sum_of(text, "idle_sleeptime", ns) &&
		sum_of(text, "iowait_sleeptime", ns);
	free(text);
	return found;
}

/* Column of a CPU in the heading of /proc/interrupts, -1 when it is off. */
static int interrupt_column(const char *text, int cpu)
{
	const char *end = text + strcspn(text, "\n");
	int column = 0;

	for (const char *p = text; (p = strstr(p, "CPU")) && p < end; column++) {
		p += 3;
		if (atoi(p) == cpu)
			return column;
	}
	return -1;
}

/* Local timer interrupts of one CPU: ticks, and the device's own timers. */
static bool read_timer_interrupts(int cpu, uint64_t *count)
{
	char *text = file_read("/proc/interrupts");
	char *p = text ? strstr(text, "LOC:") : NULL;
	int column = text ? interrupt_column(text, cpu) : -1;

	*count = 0;
	if (p && column >= 0) {
		p += 4;
		for (int i = 0; i <= column; i++)
			*count = strtoull(p, &p, 10);
	}
	free(text);
	return p && column >= 0;
}

static uint64_t ns_of(const struct timeval *tv)
{
	return (uint64_t)tv->tv_sec * 1000000000u +
	       (uint64_t)tv->tv_usec * 1000u;
}

static uint64_t cpu_time(const struct rusage *ru)
{
	struct timespec ts;

	if (clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &ts) < 0)
		return ns_of(&ru->ru_utime) + ns_of(&ru->ru_stime);
	return (uint64_t)ts.tv_sec * 1000000000u + (uint64_t)ts.tv_nsec;
}

static void read_files(struct machine_time *t, int cpu)
{
	t->idle_known = read_idle(&t->idle_ns);
	t->interrupts_known = read_timer_interrupts(cpu, &t->timer_interrupts);
}

static void read_clocks(struct machine_time *t)
{
	struct rusage ru = { 0 };

	getrusage(RUSAGE_SELF, &ru);
	t->faults = (uint64_t)(ru.ru_minflt + ru.ru_majflt);
	t->switches = (uint64_t)ru.ru_nivcsw;
	t->cpu_ns = cpu_time(&ru);
}

void machine_time_begin(struct machine_time *t, int cpu)
{
	read_files(t, cpu);
	read_clocks(t);
	t->counter = clock_exit();
}

void machine_time_end(struct machine_time *t, int cpu)
{
	t->counter = clock_exit();
	read_clocks(t);
	read_files(t, cpu);
}

int machine_pin(int cpu)
{
	cpu_set_t *set = CPU_ALLOC(cpu + 1);
	size_t size = CPU_ALLOC_SIZE(cpu + 1);
	int err = 0;

	if (!set)
		return -ENOMEM;
	CPU_ZERO_S(size, set);
	CPU_SET_S(cpu, size, set);
	if (sched_setaffinity(0, size, set) < 0)
		err = -errno;
	CPU_FREE(set);
	return err;
}

bool machine_memory_mb(uint64_t *mb)
{
	char *text = read_or_empty("/proc/meminfo");
	char *value = line_value(text, "MemAvailable");
	bool known = *value != '\0';

	*mb = strtoull(value, NULL, 10) >> 10;
	free(value);
	free(text);
	return known;
}

char *machine_cpus_online(void)
{
	return read_or_empty("/sys/devices/system/cpu/online");
}

bool machine_cpu_in(const char *list, int cpu)
{
	for (const char *p = list; *p; p += *p == ',') {
		char *end;
		long first = strtol(p, &end, 10), last = first;

		if (*end == '-')
			last = strtol(end + 1, &end, 10);
		if (cpu >= first && cpu <= last)
			return true;
		p = end + strcspn(end, ",");
	}
	return false;
}

int machine_hold_latency(void)
{
	int32_t none = 0;
	int fd = open("/dev/cpu_dma_latency", O_WRONLY | O_CLOEXEC);
	int err;

	if (fd < 0)
		return -errno;
	if (write(fd, &none, sizeof(none)) == sizeof(none))
		return fd;
	err = -errno;
	close(fd);
	return err;
}

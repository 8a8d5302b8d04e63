/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What the small programs of the guest tests share. Each prints one line for
 * each thing it looked at, "ok TEXT" or "not ok TEXT", which the script counts
 * as a test of its own.
 */
#ifndef PROG_H
#define PROG_H

#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "tare.h"

#define ARRAY_SIZE(a) (sizeof(a) / sizeof((a)[0]))

__attribute__((format(printf, 1, 2), noreturn))
static inline void die(const char *format, ...)
{
	int err = errno;
	va_list args;

	va_start(args, format);
	vfprintf(stderr, format, args);
	va_end(args);
	fprintf(stderr, ": %s\n", strerror(err));
	exit(1);
}

__attribute__((format(printf, 2, 3)))
static inline void result(int good, const char *format, ...)
{
	va_list args;

	printf(good ? "ok " : "not ok ");
	va_start(args, format);
	vprintf(format, args);
	va_end(args);
	printf("\n");
	fflush(stdout);
}

/* The outcome of a call that returns -1 and sets errno, as a number or errno. */
#define outcome(call) ((call) < 0 ? errno : 0)

static inline void result_errno(int got, int want, const char *text)
{
	if (got == want)
		result(1, "%s: %s", text, want ? strerror(want) : "taken");
	else
		result(0, "%s: wanted %s, got %s", text,
		       want ? strerror(want) : "success",
		       got ? strerror(got) : "success");
}

static inline void name_set(char *to, const char *name)
{
	memset(to, 0, TARE_NAME_MAX + 1);
	memcpy(to, name, strnlen(name, TARE_NAME_MAX));
}

static inline int control_open(void)
{
	int fd = open(TARE_DEV_PATH, O_RDWR | O_CLOEXEC);

	if (fd < 0)
		die("%s", TARE_DEV_PATH);
	return fd;
}

static inline struct tare_info control_info(int fd)
{
	struct tare_info info;

	if (ioctl(fd, TARE_IOC_INFO, &info))
		die("TARE_IOC_INFO");
	return info;
}

/* Returns 0 or an errno. */
static inline int stats_get(int fd, const char *name, int op, int cpu,
			    struct tare_op_stats *stats)
{
	struct tare_stats_req req = {
		.op = op, .cpu = cpu, .stats = (uintptr_t)stats,
		.size = sizeof(*stats),
	};

	name_set(req.name, name);
	return outcome(ioctl(fd, TARE_IOC_STATS, &req));
}

static inline int stats_reset(int fd, const char *name)
{
	struct tare_name_req req;

	name_set(req.name, name);
	return outcome(ioctl(fd, TARE_IOC_RESET, &req));
}

static const char *const op_names[TARE_NR_OPS] = {
	"read", "write", "flush", "discard", "write_zeroes",
};
static const char *const row_names[TARE_NR_ROWS] = {
	"start", "device", "delivery", "driver", "signal",
};
static const char *const path_names[TARE_NR_PATHS] = {
	"inline", "direct", "softirq", "ipi",
};

static inline int number_of(const char *name, const char *const *names, int n)
{
	for (int i = 0; i < n; i++)
		if (!strcmp(name, names[i]))
			return i;
	errno = EINVAL;
	die("%s", name);
}

/* xorshift: the same sequence in every run. */
static inline uint64_t next_random(uint64_t *state)
{
	uint64_t x = *state;

	x ^= x << 13;
	x ^= x >> 7;
	x ^= x << 17;
	return *state = x;
}

#endif

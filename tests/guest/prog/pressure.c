// SPDX-License-Identifier: GPL-2.0-only
/*
 * Writes to a memory-backed device while the kernel has no page to give
 * without waiting: /proc/sys/vm/min_free_kbytes is raised above what is free,
 * which ends atomic allocations at once, and put back as soon as requests were
 * given back, at most two seconds later. Nothing here needs memory meanwhile: a
 * thread writes, from pages that are locked.
 *
 * pressure NAME MB
 */
#include "prog.h"

#include <pthread.h>
#include <sys/mman.h>
#include <time.h>

#define MIN_FREE "/proc/sys/vm/min_free_kbytes"

static int min_free;

static void min_free_set(const char *kb)
{
	if (pwrite(min_free, kb, strlen(kb), 0) < 0)
		die(MIN_FREE);
}

static uint64_t now_ms(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * 1000ULL + t.tv_nsec / 1000000;
}

static int disk;
static size_t bytes;
static char *buf;
static volatile int ended;

static int write_to(size_t end)
{
	for (size_t at = 0; at < end; at += 1 << 18)
		if (pwrite(disk, buf, 1 << 18, at) != 1 << 18)
			return 1;
	return 0;
}

static void *writer(void *arg)
{
	(void)arg;
	usleep(100000);
	ended = 1 + write_to(bytes);
	return NULL;
}

static uint64_t requeues(int fd, struct tare_counters_req *req)
{
	if (ioctl(fd, TARE_IOC_COUNTERS, req))
		die("TARE_IOC_COUNTERS");
	return req->counters.requeues;
}

int main(int argc, char **argv)
{
	struct tare_counters_req req = {};
	char before[32] = "", path[64];
	uint64_t begin, seen = 0;
	int fd = control_open();
	pthread_t thread;

	if (argc < 3)
		return 2;
	name_set(req.name, argv[1]);
	bytes = strtoul(argv[2], NULL, 10) << 20;
	snprintf(path, sizeof(path), "/dev/%s", argv[1]);
	disk = open(path, O_RDWR | O_DIRECT);
	min_free = open(MIN_FREE, O_RDWR);
	if (disk < 0 || min_free < 0 || read(min_free, before, 31) < 1)
		die("%s", path);
	if (posix_memalign((void **)&buf, 4096, 1 << 18))
		die("memory");
	memset(buf, 0x5a, 1 << 18);
	/* One write first: what the way down allocates once is there. */
	if (write_to(1 << 18))
		die("write");
	if (pthread_create(&thread, NULL, writer, NULL))
		die("pthread_create");
	if (mlockall(MCL_CURRENT | MCL_FUTURE))
		die("mlockall");
	min_free_set("100000000");
	begin = now_ms();
	while (now_ms() - begin < 2000 && !seen) {
		usleep(20000);
		seen = requeues(fd, &req);
	}
	/* Some more rounds of giving back. */
	usleep(50000);
	seen = requeues(fd, &req);
	begin = ended;
	min_free_set(before);
	result(!begin, "the writer waits for memory");
	result(seen > 0, "requests are given back and counted: %llu",
	       (unsigned long long)seen);
	begin = now_ms();
	while (!ended && now_ms() - begin < 10000)
		usleep(20000);
	result(ended == 1, "the writer ends when there is memory again");
	seen = requeues(fd, &req);
	usleep(50000);
	result(requeues(fd, &req) == seen, "and nothing is given back any more");
	result(req.counters.errors == 0, "no error");
	return 0;
}

// SPDX-License-Identifier: GPL-2.0-only
/*
 * Direct I/O at random places, and nothing else.
 *
 * load [-o read|write|mix] [-b BYTES] [-n COUNT | -s MS] [-t THREADS]
 *      [-c CPU] [-y] DISK
 *
 * COUNT and MS are of each thread. Thread i runs on CPU + i (modulo the CPUs)
 * when -c is given. -y: write with O_DSYNC. Prints how many I/Os were done,
 * each of which gave what was asked.
 */
#include "prog.h"

#include <pthread.h>
#include <sched.h>
#include <sys/stat.h>
#include <linux/fs.h>
#include <time.h>

static const char *path, *what = "read";
static size_t bytes = 4096;
static long count = -1, ms = -1, cpu = -1;
static int flags = O_DIRECT;

static uint64_t now_ms(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * 1000ULL + t.tv_nsec / 1000000;
}

static void pin(long id)
{
	cpu_set_t set;

	CPU_ZERO(&set);
	CPU_SET((cpu + id) % sysconf(_SC_NPROCESSORS_ONLN), &set);
	if (sched_setaffinity(0, sizeof(set), &set))
		die("sched_setaffinity");
}

static void *work(void *arg)
{
	long id = (long)arg, n = 0;
	uint64_t state = 88172645463325252ULL + id, size, end;
	int fd = open(path, (strcmp(what, "read") ? O_RDWR : O_RDONLY) | flags);
	void *buf;

	if (fd < 0 || ioctl(fd, BLKGETSIZE64, &size))
		die("%s", path);
	if (posix_memalign(&buf, 4096, bytes))
		die("memory");
	memset(buf, 0x5a, bytes);
	if (cpu >= 0)
		pin(id);
	end = now_ms() + ms;
	while (count >= 0 ? n < count : now_ms() < end) {
		uint64_t at = next_random(&state) % (size / bytes) * bytes;
		int write = !strcmp(what, "write") ||
			    (!strcmp(what, "mix") && next_random(&state) & 1);
		ssize_t r = write ? pwrite(fd, buf, bytes, at) :
				    pread(fd, buf, bytes, at);

		if (r != (ssize_t)bytes)
			die("%s at %llu", write ? "write" : "read",
			    (unsigned long long)at);
		n++;
	}
	close(fd);
	free(buf);
	return (void *)n;
}

int main(int argc, char **argv)
{
	pthread_t thread[64];
	long threads = 1, done = 0;
	int opt;

	while ((opt = getopt(argc, argv, "o:b:n:s:t:c:y")) != -1) {
		switch (opt) {
		case 'o':
			what = optarg;
			break;
		case 'b':
			bytes = strtoul(optarg, NULL, 10);
			break;
		case 'n':
			count = atol(optarg);
			break;
		case 's':
			ms = atol(optarg);
			break;
		case 't':
			threads = atol(optarg);
			break;
		case 'c':
			cpu = atol(optarg);
			break;
		case 'y':
			flags |= O_DSYNC;
			break;
		default:
			return 2;
		}
	}
	path = argv[optind];
	if (!path || threads > 64 || (count < 0 && ms < 0))
		return 2;
	for (long i = 0; i < threads; i++)
		if (pthread_create(&thread[i], NULL, work, (void *)i))
			die("pthread_create");
	for (long i = 0; i < threads; i++) {
		void *n;

		pthread_join(thread[i], &n);
		done += (long)n;
	}
	printf("%ld\n", done);
	return 0;
}

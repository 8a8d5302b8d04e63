// SPDX-License-Identifier: GPL-2.0-only
/*
 * Gross of single I/Os on any block device or file: what tare's own engines
 * cannot do, since they want a tare device. For the bench, where the peers
 * stand beside tare.
 *
 * gross pread|pwrite FILE BYTES COUNT      each system call, stamped around
 * gross uring FILE BYTES COUNT DEPTH       random reads, the whole window
 *
 * Prints "p50 mean count" in ticks of the counter per I/O.
 */
#include <errno.h>
#include <fcntl.h>
#include <liburing.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <linux/fs.h>
#include <unistd.h>
#include <x86intrin.h>

#define WARMUP 1000

static inline uint64_t stamp(void)
{
	unsigned int cpu;
	uint64_t t = __rdtscp(&cpu);

	_mm_lfence();
	return t;
}

static void die(const char *what)
{
	fprintf(stderr, "gross: %s: %s\n", what, strerror(errno));
	exit(1);
}

static uint64_t size_of(int fd)
{
	struct stat st;
	uint64_t bytes;

	if (fstat(fd, &st))
		die("fstat");
	if (!S_ISBLK(st.st_mode))
		return st.st_size;
	if (ioctl(fd, BLKGETSIZE64, &bytes))
		die("BLKGETSIZE64");
	return bytes;
}

static int compare(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return x < y ? -1 : x > y;
}

static void report(uint64_t *took, size_t n)
{
	double sum = 0;

	for (size_t i = 0; i < n; i++)
		sum += took[i];
	qsort(took, n, sizeof(*took), compare);
	printf("%llu %.1f %zu\n", (unsigned long long)took[n / 2], sum / n, n);
}

/* Same sequence for every device: xorshift from a fixed seed. */
static uint64_t *offsets(size_t n, uint64_t blocks, size_t bytes)
{
	uint64_t *at = malloc(n * sizeof(*at)), x = 88172645463325252ULL;

	for (size_t i = 0; i < n; i++) {
		x ^= x << 13;
		x ^= x >> 7;
		x ^= x << 17;
		at[i] = x % blocks * bytes;
	}
	return at;
}

static void sync_loop(int fd, int write, char *buf, size_t bytes,
		      const uint64_t *at, size_t n)
{
	uint64_t *took = calloc(n, sizeof(*took));

	memset(took, 1, n * sizeof(*took));
	for (size_t i = 0; i < n; i++) {
		uint64_t enter = stamp();
		ssize_t r = write ? pwrite(fd, buf, bytes, at[i]) :
				    pread(fd, buf, bytes, at[i]);

		took[i] = stamp() - enter;
		if (r != (ssize_t)bytes)
			die("I/O");
	}
	report(took + WARMUP, n - WARMUP);
	free(took);
}

/* A window of one batch per depth: busy ticks per I/O over the whole run. */
static void uring_loop(int fd, char *buf, size_t bytes, const uint64_t *at,
		       size_t n, unsigned int depth)
{
	size_t rounds = n / depth, done = 0;
	uint64_t *took = calloc(rounds, sizeof(*took));
	struct io_uring_cqe *cqe;
	struct io_uring ring;

	if (io_uring_queue_init(depth, &ring, 0))
		die("io_uring_queue_init");
	for (size_t r = 0; r < rounds; r++) {
		uint64_t enter = stamp();

		for (unsigned int i = 0; i < depth; i++) {
			struct io_uring_sqe *sqe = io_uring_get_sqe(&ring);

			io_uring_prep_read(sqe, fd, buf + i * bytes, bytes,
					   at[done + i]);
		}
		if (io_uring_submit_and_wait(&ring, depth) != (int)depth)
			die("io_uring_submit_and_wait");
		for (unsigned int i = 0; i < depth; i++) {
			if (io_uring_wait_cqe(&ring, &cqe) ||
			    cqe->res != (int)bytes)
				die("completion");
			io_uring_cqe_seen(&ring, cqe);
		}
		took[r] = (stamp() - enter) / depth;
		done += depth;
	}
	report(took + WARMUP / depth, rounds - WARMUP / depth);
	free(took);
}

int main(int argc, char **argv)
{
	if (argc < 5) {
		fprintf(stderr, "usage: gross pread|pwrite|uring FILE BYTES COUNT [DEPTH]\n");
		return 2;
	}
	size_t bytes = strtoul(argv[3], NULL, 10);
	size_t n = strtoul(argv[4], NULL, 10) + WARMUP;
	unsigned int depth = argc > 5 ? atoi(argv[5]) : 1;
	int uring = !strcmp(argv[1], "uring");
	int write = !strcmp(argv[1], "pwrite");
	int fd = open(argv[2], O_DIRECT | (write ? O_RDWR : O_RDONLY));
	uint64_t *at;
	char *buf;

	if (fd < 0)
		die(argv[2]);
	if (mlockall(MCL_CURRENT | MCL_FUTURE))
		die("mlockall");
	if (posix_memalign((void **)&buf, 4096, bytes * depth))
		die("memory");
	memset(buf, 0x5a, bytes * depth);
	at = offsets(n, size_of(fd) / bytes, bytes);
	if (uring)
		uring_loop(fd, buf, bytes, at, n, depth);
	else
		sync_loop(fd, write, buf, bytes, at, n);
	return 0;
}

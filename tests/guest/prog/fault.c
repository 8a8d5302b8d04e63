// SPDX-License-Identifier: GPL-2.0-only
/*
 * Direct I/O that may fail, and what becomes of it.
 *
 * fault try DISK OP SECTOR SECTORS    errno's name, 0, or "short BYTES"
 * fault many DISK OP COUNT [THREADS]  OUTCOME=COUNT words, and failed=…, which
 *                                     of the first thread's I/Os, 4 KiB each
 * fault fill DISK BYTE SECTOR SECTORS   writes it, prints as try does
 * fault see DISK SECTOR SECTORS       the first byte of each sector
 *
 * OP: read, write, flush, discard, zeroes.
 */
#include "prog.h"

#include <linux/fs.h>
#include <pthread.h>

static const char *path, *op;
static long count;

static int disk_open(void)
{
	int fd = open(path, O_RDWR | O_DIRECT);

	if (fd < 0)
		die("%s", path);
	return fd;
}

static void *buffer(size_t bytes)
{
	void *buf;

	if (posix_memalign(&buf, 4096, bytes))
		die("memory");
	memset(buf, 0x5a, bytes);
	return buf;
}

/* 0, an errno, or -1 when less was done than asked. */
static int moved(ssize_t got, size_t bytes)
{
	if (got < 0)
		return errno;
	return (size_t)got == bytes ? 0 : -1;
}

static int attempt(int fd, void *buf, uint64_t at, uint64_t bytes)
{
	uint64_t range[2] = { at, bytes };

	if (!strcmp(op, "read"))
		return moved(pread(fd, buf, bytes, at), bytes);
	if (!strcmp(op, "write"))
		return moved(pwrite(fd, buf, bytes, at), bytes);
	if (!strcmp(op, "flush"))
		return outcome(fsync(fd));
	if (!strcmp(op, "discard"))
		return outcome(ioctl(fd, BLKDISCARD, range));
	if (!strcmp(op, "zeroes"))
		return outcome(ioctl(fd, BLKZEROOUT, range));
	errno = EINVAL;
	die("%s", op);
}

static const char *name_of(int err)
{
	if (err < 0)
		return "short";
	return err ? strerrorname_np(err) : "0";
}

static int once(uint64_t sector, uint64_t sectors, int byte)
{
	void *buf = buffer(sectors * 512);

	memset(buf, byte, sectors * 512);
	puts(name_of(attempt(disk_open(), buf, sector * 512, sectors * 512)));
	return 0;
}

struct tally {
	long of[256];		/* by errno; 255: short */
	long first_failed[16];
	long failed;
};

static void *work(void *arg)
{
	struct tally *tally = arg;
	void *buf = buffer(4096);
	int fd = disk_open();

	for (long i = 0; i < count; i++) {
		/* No two adjoin: a request that comes back could merge. */
		int err = attempt(fd, buf, i % 512 * 8192, 4096);

		tally->of[err & 255]++;
		if (err && tally->failed < 16)
			tally->first_failed[tally->failed] = i;
		tally->failed += !!err;
	}
	close(fd);
	free(buf);
	return NULL;
}

static int many(long threads)
{
	static struct tally tally[64], sum;
	pthread_t thread[64];

	if (threads < 1 || threads > 64)
		return 2;
	for (long i = 0; i < threads; i++)
		if (pthread_create(&thread[i], NULL, work, &tally[i]))
			die("pthread_create");
	for (long i = 0; i < threads; i++) {
		pthread_join(thread[i], NULL);
		for (int err = 0; err < 256; err++)
			sum.of[err] += tally[i].of[err];
	}
	printf("ok=%ld", sum.of[0]);
	for (int err = 1; err < 255; err++)
		if (sum.of[err])
			printf(" %s=%ld", strerrorname_np(err), sum.of[err]);
	if (sum.of[255])
		printf(" short=%ld", sum.of[255]);
	printf(" failed=");
	for (long i = 0; i < tally[0].failed && i < 16; i++)
		printf("%s%ld", i ? "," : "", tally[0].first_failed[i]);
	printf("\n");
	return 0;
}

static int see(uint64_t sector, uint64_t sectors)
{
	unsigned char *buf = buffer(sectors * 512);

	if (pread(disk_open(), buf, sectors * 512, sector * 512) !=
	    (ssize_t)sectors * 512)
		die("%s", path);
	for (uint64_t i = 0; i < sectors; i++)
		printf("%s%02x", i ? " " : "", buf[i * 512]);
	printf("\n");
	return 0;
}

int main(int argc, char **argv)
{
	const char *what = argc > 1 ? argv[1] : "";

	if (argc < 5)
		return 2;
	path = argv[2];
	op = argv[3];
	if (!strcmp(what, "try") && argc > 5)
		return once(strtoull(argv[4], NULL, 10),
			    strtoull(argv[5], NULL, 10), 0x5a);
	if (!strcmp(what, "fill") && argc > 5) {
		op = "write";
		return once(strtoull(argv[4], NULL, 10),
			    strtoull(argv[5], NULL, 10),
			    (int)strtol(argv[3], NULL, 16));
	}
	if (!strcmp(what, "see"))
		return see(strtoull(argv[3], NULL, 10),
			   strtoull(argv[4], NULL, 10));
	if (strcmp(what, "many"))
		return 2;
	count = atol(argv[4]);
	return many(argc > 5 ? atol(argv[5]) : 1);
}

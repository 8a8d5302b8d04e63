// SPDX-License-Identifier: GPL-2.0-only
/*
 * A disk against its image in memory: random writes, reads, discards and
 * zeroes, any number of sectors at any sector, from buffers at any sector of a
 * page. Whatever is read must be what the image says.
 *
 * mirror DISK MB COUNT [SEED]    the disk reads zeroes at the start
 * mirror -k DISK MB FILE         keep: write FILE's worth, leave the image there
 * mirror -c DISK MB FILE         compare with it
 */
#include "prog.h"

#include <linux/fs.h>

static int fd;
static size_t size;
static unsigned int sector;
static char *image, *buf;
static uint64_t state = 88172645463325252ULL;

static size_t below(size_t n)
{
	return next_random(&state) % n;
}

static int wrong;

static void check(size_t at, const char *got, size_t bytes, const char *when)
{
	for (size_t i = 0; i < bytes; i++) {
		if (got[i] == image[at + i])
			continue;
		if (wrong++ < 5)
			result(0, "byte %zu is %#x, wanted %#x, %s", at + i,
			       got[i] & 0xff, image[at + i] & 0xff, when);
		return;
	}
}

static void read_check(size_t at, size_t bytes, size_t offset, const char *when)
{
	memset(buf + offset, 0xee, bytes);
	if (pread(fd, buf + offset, bytes, at) != (ssize_t)bytes)
		die("read of %zu at %zu", bytes, at);
	check(at, buf + offset, bytes, when);
}

static void write_random(size_t at, size_t bytes, size_t offset)
{
	for (size_t i = 0; i < bytes; i += 8) {
		uint64_t word = next_random(&state);

		memcpy(buf + offset + i, &word, 8);
	}
	memcpy(image + at, buf + offset, bytes);
	if (pwrite(fd, buf + offset, bytes, at) != (ssize_t)bytes)
		die("write of %zu at %zu", bytes, at);
}

static void erase(size_t at, size_t bytes, unsigned long call)
{
	uint64_t range[2] = { at, bytes };

	memset(image + at, 0, bytes);
	if (ioctl(fd, call, range))
		die("erase of %zu at %zu", bytes, at);
}

static void step(void)
{
	size_t sectors = size / sector;
	size_t longest = below(8) ? 32 : 1024;
	size_t at = below(sectors), n = 1 + below(longest * 512 / sector + 1);
	size_t bytes, offset = below(4096 / sector) * sector;

	if (at + n > sectors)
		n = sectors - at;
	at *= sector;
	bytes = n * sector;
	switch (below(8)) {
	case 0:
		erase(at, bytes, BLKDISCARD);
		read_check(at, bytes, offset, "after discard");
		break;
	case 1:
		erase(at, bytes, BLKZEROOUT);
		read_check(at, bytes, offset, "after write-zeroes");
		break;
	case 2:
	case 3:
		read_check(at, bytes, offset, "later");
		break;
	default:
		write_random(at, bytes, offset);
		if (below(2))
			read_check(at, bytes, offset, "after writing");
	}
}

static void read_all(const char *when)
{
	for (size_t at = 0; at < size; at += 1 << 18)
		read_check(at, 1 << 18, 0, when);
}

static void image_file(const char *path, int save)
{
	FILE *f = fopen(path, save ? "w" : "r");

	if (!f || (save ? fwrite(image, 1, size, f) :
			  fread(image, 1, size, f)) != size || fclose(f))
		die("%s", path);
}

int main(int argc, char **argv)
{
	int keep = argc > 1 && !strcmp(argv[1], "-k");
	int compare = argc > 1 && !strcmp(argv[1], "-c");
	long count;

	argv += keep || compare;
	argc -= keep || compare;
	if (argc < 4)
		return 2;
	fd = open(argv[1], O_RDWR | O_DIRECT);
	size = strtoul(argv[2], NULL, 10) << 20;
	count = atol(argv[3]);
	if (argc > 4)
		state += strtoul(argv[4], NULL, 10);
	if (fd < 0 || ioctl(fd, BLKSSZGET, &sector))
		die("%s", argv[1]);
	image = calloc(1, size);
	if (!image || posix_memalign((void **)&buf, 4096, (2 << 20) + 4096))
		die("memory");
	if (compare) {
		image_file(argv[3], 0);
		read_all("compared");
		result(!wrong, "%zu bytes are what was written", size);
		return 0;
	}
	if (keep) {
		for (size_t at = 0; at < size; at += 1 << 18)
			write_random(at, 1 << 18, 0);
		image_file(argv[3], 1);
		result(1, "%zu bytes written", size);
		return 0;
	}
	read_all("before");
	for (long i = 0; i < count; i++)
		step();
	read_all("at the end");
	result(!wrong, "%ld random steps in blocks of %u", count, sector);
	return 0;
}

// SPDX-License-Identifier: GPL-2.0-only
#include "fsmap.h"

#include "util.h"

#include <errno.h>
#include <linux/fiemap.h>
#include <linux/fs.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>

#define SECTOR_SHIFT	9
#define BATCH		256

/* No place on the disk that an I/O of this file could be seen at. */
#define NO_PLACE (FIEMAP_EXTENT_UNKNOWN | FIEMAP_EXTENT_DELALLOC | \
		  FIEMAP_EXTENT_ENCODED | FIEMAP_EXTENT_DATA_INLINE | \
		  FIEMAP_EXTENT_DATA_TAIL | FIEMAP_EXTENT_NOT_ALIGNED)

void fsmap_disk(struct fsmap *map)
{
	memset(map, 0, sizeof(*map));
	map->identity = true;
}

void fsmap_free(struct fsmap *map)
{
	free(map->extent);
	memset(map, 0, sizeof(*map));
}

static bool continues(const struct fsmap_extent *last, uint64_t logical,
		      uint64_t physical)
{
	return last->logical + last->bytes == logical &&
	       last->physical + last->bytes == physical;
}

int fsmap_add(struct fsmap *map, uint64_t logical, uint64_t physical,
	      uint64_t bytes)
{
	struct fsmap_extent *last = map->n ? &map->extent[map->n - 1] : NULL;

	if (last && logical < last->logical + last->bytes)
		return -EINVAL;
	if (last && continues(last, logical, physical)) {
		last->bytes += bytes;
		return 0;
	}
	/* Grown at powers of two, from 16 on. */
	if (map->n >= 16 ? (map->n & (map->n - 1)) == 0 : map->n == 0)
		map->extent = xrealloc(map->extent,
				       (map->n ? map->n * 2 : 16) *
					       sizeof(*map->extent));
	map->extent[map->n++] =
		(struct fsmap_extent){ logical, physical, bytes };
	return 0;
}

/* @return 1: that was the last one, 0: more to come, -errno */
static int add_batch(struct fsmap *map, const struct fiemap *fm,
		     uint64_t *next)
{
	for (uint32_t i = 0; i < fm->fm_mapped_extents; i++) {
		const struct fiemap_extent *e = &fm->fm_extents[i];

		*next = e->fe_logical + e->fe_length;
		if (!(e->fe_flags & NO_PLACE)) {
			int err = fsmap_add(map, e->fe_logical, e->fe_physical,
					    e->fe_length);

			if (err)
				return err;
		}
		if (e->fe_flags & FIEMAP_EXTENT_UNWRITTEN)
			map->unwritten++;
		if (e->fe_flags & FIEMAP_EXTENT_LAST)
			return 1;
	}
	return fm->fm_mapped_extents == 0;
}

int fsmap_read(struct fsmap *map, int fd)
{
	struct fiemap *fm = xcalloc(1, sizeof(*fm) +
					       BATCH * sizeof(fm->fm_extents[0]));
	uint64_t next = 0;
	int end = 0;

	memset(map, 0, sizeof(*map));
	while (!end) {
		memset(fm, 0, sizeof(*fm));
		fm->fm_start = next;
		fm->fm_length = FIEMAP_MAX_OFFSET - next;
		fm->fm_flags = FIEMAP_FLAG_SYNC;
		fm->fm_extent_count = BATCH;
		if (ioctl(fd, FS_IOC_FIEMAP, fm) < 0)
			end = -errno;
		else
			end = add_batch(map, fm, &next);
	}
	free(fm);
	if (end < 0) {
		fsmap_free(map);
		return end;
	}
	return 0;
}

/* The extent that holds a byte, or NULL. */
static const struct fsmap_extent *find(const struct fsmap *map, uint64_t at)
{
	size_t low = 0, high = map->n;

	while (low < high) {
		size_t mid = low + (high - low) / 2;
		const struct fsmap_extent *e = &map->extent[mid];

		if (at < e->logical)
			high = mid;
		else if (at - e->logical >= e->bytes)
			low = mid + 1;
		else
			return e;
	}
	return NULL;
}

size_t fsmap_pieces(const struct fsmap *map, uint64_t offset, uint64_t bytes,
		    struct fsmap_piece *piece, size_t max)
{
	size_t n = 0;

	while (bytes) {
		uint64_t place = offset, run = bytes;

		if (!map->identity) {
			const struct fsmap_extent *e = find(map, offset);

			if (!e)
				return 0;
			place = e->physical + (offset - e->logical);
			run = e->bytes - (offset - e->logical);
			run = run < bytes ? run : bytes;
		}
		if (n < max)
			piece[n] = (struct fsmap_piece){ place >> SECTOR_SHIFT,
							 run };
		n++;
		offset += run;
		bytes -= run;
	}
	return n;
}

bool fsmap_equal(const struct fsmap *a, const struct fsmap *b)
{
	/* Extents that continue each other were joined, so this is canonical. */
	return a->identity == b->identity && a->n == b->n &&
	       (a->n == 0 || !memcmp(a->extent, b->extent,
				     a->n * sizeof(*a->extent)));
}

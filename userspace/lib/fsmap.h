/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Where the bytes of a file lie on its disk, from FIEMAP, so that a request's
 * sectors can be compared with an I/O's offset. A raw disk maps onto itself.
 * Only whole-disk file systems: a partition's start is not added.
 */
#ifndef TARE_FSMAP_H
#define TARE_FSMAP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/** A run of the file on the disk, in bytes; multiples of 512. */
struct fsmap_extent {
	uint64_t logical;	/* from the start of the file */
	uint64_t physical;	/* from the start of the disk */
	uint64_t bytes;
};

struct fsmap {
	bool identity;			/* a disk: offset = place on the disk */
	struct fsmap_extent *extent;	/* sorted by logical, no overlap */
	size_t n;
	size_t unwritten;	/* extents that are allocated but not written */
};

/** A piece of one I/O on the disk. */
struct fsmap_piece {
	uint64_t sector;	/* of 512 bytes */
	uint64_t bytes;
};

/** Map of a whole disk. Nothing to free, fsmap_free() does no harm. */
void fsmap_disk(struct fsmap *map);

/**
 * Read the map of an open file; what is dirty is written first
 * (FIEMAP_FLAG_SYNC). Extents without a place (delayed allocation, inline
 * data, compressed) are left out, so that an I/O on them finds no match.
 * @return 0, -EOPNOTSUPP (the file system has no FIEMAP) or -errno; the caller
 *	frees with fsmap_free()
 */
int fsmap_read(struct fsmap *map, int fd);

void fsmap_free(struct fsmap *map);

/**
 * Add an extent behind the last one; joins it with that when both continue.
 * @return 0 or -EINVAL when it begins before the end of the last one
 */
int fsmap_add(struct fsmap *map, uint64_t logical, uint64_t physical,
	      uint64_t bytes);

/**
 * The pieces of [offset, offset + bytes), in the order of the file.
 * @param piece room for max pieces
 * @return their number, possibly more than max (then only max were written);
 *	0 when any byte has no place
 */
size_t fsmap_pieces(const struct fsmap *map, uint64_t offset, uint64_t bytes,
		    struct fsmap_piece *piece, size_t max);

/** Do both map every byte to the same place? */
bool fsmap_equal(const struct fsmap *a, const struct fsmap *b);

#endif

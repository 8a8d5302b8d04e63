/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The driver's own record of every request of one device: opened before a run,
 * drained between I/Os, put into the order of issue at the end.
 */
#ifndef TARE_RECORDS_H
#define TARE_RECORDS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "uapi/tare.h"

/** Slots of the ring of each CPU, and what all rings together may take. */
#define RECORDS_ENTRIES		65536u
#define RECORDS_BYTES_MAX	(256ull << 20)

struct records {
	int fd;			/* of /dev/tare, -1: closed */
	uint32_t nr_rings;
	uint64_t entries;	/* of each ring */
	uint64_t stride;	/* bytes of a ring, header included */
	struct tare_ring **ring;	/* NULL: CPU that cannot exist */
	struct tare_record *rec;	/* drained so far */
	size_t n, room;
};

/**
 * Start recording a device. Nothing is printed for -EBUSY (somebody else
 * records it), -ENODEV, -ENOMEM; a driver that is not there is.
 * @return 0 or -errno
 */
int records_open(struct records *r, const char *device);

/** Stop recording and free everything. Does no harm twice. */
void records_close(struct records *r);

/** Make room for n more records, so that draining need not allocate. */
void records_reserve(struct records *r, size_t n);

/** Is a ring half full? Cheap enough to ask between any two I/Os. */
static inline bool records_pressed(const struct records *r)
{
	for (uint32_t i = 0; i < r->nr_rings; i++) {
		const struct tare_ring *ring = r->ring[i];

		if (ring && __atomic_load_n(&ring->head, __ATOMIC_RELAXED) -
				    ring->tail > r->entries / 2)
			return true;
	}
	return false;
}

/** Move all finished records from the rings to rec[]. */
void records_drain(struct records *r);

/** Requests that found no room, since the start. */
uint64_t records_lost(const struct records *r);

/** Forget what was drained; the room stays. */
void records_clear(struct records *r);

/** Put n records into the order of issue. The rings' order is not trusted. */
void records_sort(struct tare_record *rec, size_t n);

#endif

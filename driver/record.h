/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Per-request records: a ring for each CPU, mapped by the reader. Off unless
 * somebody records: one static key in the path.
 */
#ifndef TARE_RECORD_H
#define TARE_RECORD_H

#include "tare.h"

struct tare_recorder {
	struct tare_device *dev;	/* a reference */
	u64 entries;			/* a power of two */
	u64 stride;			/* bytes of a ring with its header */
	struct tare_ring *ring[];	/* by CPU; NULL: not possible */
};

static __always_inline struct tare_record *
tare_ring_record(struct tare_ring *ring, u64 slot)
{
	return (void *)((char *)ring + TARE_RING_HEADER) +
	       slot * sizeof(struct tare_record);
}

/* The next free record of this CPU, or NULL. Interrupts are off. */
static inline struct tare_record *tare_record_get(struct tare_recorder *rec)
{
	struct tare_ring *ring = rec->ring[raw_smp_processor_id()];
	u64 head = ring->head;

	/* The reader's page: whatever stands there, the slot stays inside. */
	if (head - READ_ONCE(ring->tail) >= rec->entries) {
		WRITE_ONCE(ring->lost, ring->lost + 1);
		return NULL;
	}
	WRITE_ONCE(ring->head, head + 1);
	return tare_ring_record(ring, head & (rec->entries - 1));
}

int tare_record_open(struct tare_recorder **slot, struct tare_record_req *req);
void tare_record_close(struct tare_recorder *rec);
int tare_record_mmap(struct tare_recorder *rec, struct vm_area_struct *vma);

#endif

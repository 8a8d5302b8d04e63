/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Requests in the order of their due times: a binary heap in an array. Adding
 * and taking cost log2 of what is in it, and nothing scans. Pure C, also
 * compiled into the host tests.
 */
#ifndef TARE_DUE_HEAP_H
#define TARE_DUE_HEAP_H

#include "model.h"

struct tare_due {
	u64 due;
	u64 order;		/* equal due times: first come, first served */
	void *item;
};

struct tare_due_heap {
	struct tare_due *slot;
	u32 nr;
	u32 room;
	u64 order;
};

static inline bool tare_due_before(const struct tare_due *a,
				   const struct tare_due *b)
{
	return a->due < b->due || (a->due == b->due && a->order < b->order);
}

/* Returns false when the heap is full. */
static inline bool tare_due_add(struct tare_due_heap *heap, u64 due, void *item)
{
	struct tare_due new = { .due = due, .item = item };
	u32 at = heap->nr;

	if (at == heap->room)
		return false;
	new.order = heap->order++;
	heap->nr++;
	while (at) {
		u32 parent = (at - 1) / 2;

		if (!tare_due_before(&new, &heap->slot[parent]))
			break;
		heap->slot[at] = heap->slot[parent];
		at = parent;
	}
	heap->slot[at] = new;
	return true;
}

/* Earliest item when it is due at @now, taken out; NULL otherwise. */
static inline void *tare_due_take(struct tare_due_heap *heap, u64 now)
{
	struct tare_due last;
	void *item;
	u32 at = 0;

	if (!heap->nr || heap->slot[0].due > now)
		return NULL;
	item = heap->slot[0].item;
	last = heap->slot[--heap->nr];
	for (;;) {
		u32 child = 2 * at + 1;

		if (child >= heap->nr)
			break;
		if (child + 1 < heap->nr &&
		    tare_due_before(&heap->slot[child + 1], &heap->slot[child]))
			child++;
		if (!tare_due_before(&heap->slot[child], &last))
			break;
		heap->slot[at] = heap->slot[child];
		at = child;
	}
	heap->slot[at] = last;
	return item;
}

#endif

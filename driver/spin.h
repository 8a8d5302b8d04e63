/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Completion threads that spin: the interrupt's stand-in that is never late by
 * an interrupt's entry. Submitters hand requests over without a lock.
 */
#ifndef TARE_SPIN_H
#define TARE_SPIN_H

#include <linux/kthread.h>
#include <linux/llist.h>
#include <linux/sched.h>

#include "due_heap.h"
#include "tare.h"

struct tare_spinner {
	/* Written by submitters. */
	struct llist_head incoming ____cacheline_aligned;
	/* Read by submitters, written by the thread when it goes to sleep. */
	bool asleep ____cacheline_aligned;
	struct task_struct *task;
	/* The thread's own. */
	struct tare_device *dev ____cacheline_aligned;
	struct tare_due_heap heap;
};

struct tare_spin {
	unsigned int nr;
	struct tare_spinner spinner[];
};

/* Hands a request over; it may be gone when this returns. */
static inline void tare_spin_add(struct tare_spin *spin, struct tare_cmd *cmd,
				 unsigned int hw_queue)
{
	struct tare_spinner *s = &spin->spinner[spin->nr == 1 ? 0 :
						hw_queue % spin->nr];

	llist_add(&cmd->node, &s->incoming);
	/* Pairs with the thread, which says so and then looks once more. */
	smp_mb__after_atomic();
	if (unlikely(READ_ONCE(s->asleep)))
		wake_up_process(s->task);
}

struct tare_spin *tare_spin_create(struct tare_device *dev);
void tare_spin_destroy(struct tare_spin *spin);

#endif

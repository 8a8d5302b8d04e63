/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Cut one I/O into rows. Pure: no system call, no state but the scratch space.
 *
 * Every cycle of [enter, exit] goes to exactly one row: to the first of device,
 * delivery, driver, start, signal that covers it in any of the I/O's requests;
 * what none covers is submit before the first issue, complete after the last
 * end, and between otherwise. So the rows add up to gross. docs/method.md has
 * the reasons.
 */
#ifndef TARE_SWEEP_H
#define TARE_SWEEP_H

#include <stddef.h>
#include <stdint.h>

#include "uapi/tare.h"

/** Rows of an I/O in the order in which one request passes through them. */
enum io_row {
	IO_SUBMIT,
	IO_START,
	IO_DEVICE,
	IO_DELIVERY,
	IO_DRIVER,
	IO_SIGNAL,
	IO_BETWEEN,
	IO_COMPLETE,
	IO_NR_ROWS
};

extern const char *const io_row_names[IO_NR_ROWS];

/** One I/O, cut. All in counter ticks. */
struct io_cut {
	uint64_t gross;		/* exit - enter */
	uint64_t net;		/* submit + start + signal + between + complete */
	uint64_t row[IO_NR_ROWS];
};

/** Room for the cut of one I/O; grows as needed. Zero it before the first use. */
struct sweep_scratch {
	struct sweep_edge *edge;
	size_t room;
};

void sweep_scratch_free(struct sweep_scratch *scratch);

/**
 * Are the stamps of a record possible at all? issue <= start <= due, start <=
 * ready, max(due, ready) <= fire <= done <= cmpl <= end.
 * @return 0 or -EINVAL
 */
int sweep_check(const struct tare_record *rec);

/**
 * Cut [enter, exit] with the I/O's n requests, in any order. Requests may
 * overlap; what lies outside [enter, exit] is cut off. Without a request all of
 * it is submit. Takes O(n log n).
 * @return 0; -EINVAL when exit < enter or a record fails sweep_check();
 *	-EDOM when the rows do not add up to gross (a bug here, never hidden)
 */
int sweep_cut(uint64_t enter, uint64_t exit,
	      const struct tare_record *const *rec, size_t n,
	      struct sweep_scratch *scratch, struct io_cut *cut);

#endif

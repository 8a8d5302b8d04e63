/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Which requests belong to which I/O. Pure: I/Os, records and the map of the
 * file go in, lists come out.
 *
 * A request is data of an I/O when the operation is the same, it was issued and
 * ended inside [enter, exit], and its sectors are sectors of that I/O; a merged
 * request may belong to several I/Os, all of its sectors must be somebody's.
 * Every sector of an I/O must be covered exactly once. Of what is left, a
 * request inside the window of a durable I/O (O_SYNC, O_DSYNC, fsync) is a
 * helper of it: journal, flush. The rest are requests of others.
 *
 * What does not fit is an error of that I/O, counted and left out of every
 * figure: it never becomes an average.
 */
#ifndef TARE_JOIN_H
#define TARE_JOIN_H

#include <stddef.h>
#include <stdint.h>

#include "fsmap.h"
#include "io.h"

/** What is wrong with an I/O; 0: nothing. */
#define JOIN_MISSING	0x01	/* some of its bytes are in no request */
#define JOIN_DOUBLE	0x02	/* some of its bytes are in two requests */
#define JOIN_STAMPS	0x04	/* stamps of it or of a request not monotonic */
#define JOIN_FAILED	0x08	/* the I/O or one of its requests failed */
#define JOIN_UNMAPPED	0x10	/* no place on the disk is known for it */

/** Requests that belong to no I/O. */
struct join_others {
	uint64_t count[TARE_NR_OPS];
	uint64_t bytes[TARE_NR_OPS];
};

/** The result. Lists point into the records given to join_run(). */
struct join {
	size_t n;			/* I/Os */
	size_t *first;			/* n + 1; requests of I/O i are … */
	const struct tare_record **rec;	/* rec[first[i]] … rec[first[i + 1]) */
	uint8_t *is_data;		/* for each of rec: data, not helper */
	uint8_t *wrong;			/* JOIN_* for each I/O */
	uint64_t data;			/* data requests */
	uint64_t helpers;		/* helper requests */
	uint64_t shared;		/* requests that several I/Os have part in */
	uint64_t ambiguous;		/* could have been of another I/O as well */
	uint64_t unmatched;		/* I/Os with MISSING, DOUBLE or UNMAPPED */
	uint64_t not_monotonic;		/* records and I/Os with JOIN_STAMPS */
	uint64_t failed;		/* I/Os with JOIN_FAILED */
	struct join_others others;	/* inside the run, of nobody */
};

/**
 * Join n I/Os, in the order of enter, with m records, in the order of issue.
 * Both must outlive the result; free it with join_free().
 * Takes O((n + m) * in flight).
 * @return 0, or -EINVAL when either is out of order
 */
int join_run(struct join *join, const struct io *io, size_t n,
	     const struct tare_record *rec, size_t m,
	     const struct fsmap *map);

void join_free(struct join *join);

#endif

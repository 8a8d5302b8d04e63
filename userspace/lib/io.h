/* SPDX-License-Identifier: GPL-2.0-only */
/* One I/O as its caller sees it: what engines fill and the join reads. */
#ifndef TARE_IO_H
#define TARE_IO_H

#include <stdint.h>

#include "uapi/tare.h"

#define IO_SYNC		0x01	/* the file is open with O_SYNC or O_DSYNC */
#define IO_FSYNC	0x02	/* an fsync() follows inside the window */
#define IO_FDATASYNC	0x04	/* an fdatasync() follows inside the window */
#define IO_DURABLE	(IO_SYNC | IO_FSYNC | IO_FDATASYNC)

/**
 * One I/O. The plan fills all but the stamps and the error before the run;
 * the engine fills those.
 */
struct io {
	uint64_t enter;		/* counter ticks; 0: not done */
	uint64_t exit;		/* counter ticks */
	uint64_t offset;	/* bytes from the start of the job's file */
	uint32_t bytes;
	uint8_t op;		/* TARE_READ or TARE_WRITE */
	uint8_t flags;		/* IO_* */
	uint16_t error;		/* errno; EIO for a short transfer; 0: none */
};

#endif

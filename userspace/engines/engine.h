/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Engines run the planned I/Os and stamp enter and exit of each. Between the
 * two stamps there is the system call and nothing else; what an engine has to
 * do besides (looking after the record rings, the stop flag, its own arrays)
 * it does outside.
 */
#ifndef TARE_ENGINE_H
#define TARE_ENGINE_H

#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "io.h"
#include "jobfile.h"
#include "records.h"

struct engine;

/** What an engine works on. The buffers are the engine's. */
struct engine_ctx {
	const struct job *job;
	int fd;			/* the job's file or disk, open as job says */
	struct io *io;		/* the plan; enter, exit and error are filled */
	struct records *records;
	const volatile sig_atomic_t *stop;	/* not 0: stop soon */
	uint64_t deadline;	/* counter ticks, 0: none */
	const struct engine *engine;
	unsigned char *buffer;	/* depth blocks, page aligned */
	size_t buffer_bytes;
	void *own;		/* the engine's */
	char detail[64];	/* how it was set up, for the report */
};

struct engine {
	const char *name;
	/** @return 0, -errno; -ENOSYS: the kernel does not have it */
	int (*open)(struct engine_ctx *ctx);
	/**
	 * Run I/Os [from, to). Stops early at ctx->stop, the deadline and the
	 * first failed I/O (its error is set).
	 * @return index behind the last I/O that was done
	 */
	size_t (*run)(struct engine_ctx *ctx, size_t from, size_t to);
	void (*close)(struct engine_ctx *ctx);
};

extern const struct engine engine_psync;
extern const struct engine engine_uring;

/**
 * Get buffers and start the engine. The buffers are filled, so they are real
 * pages. @return 0 or -errno
 */
int engine_open(struct engine_ctx *ctx, const struct engine *engine);
void engine_close(struct engine_ctx *ctx);

/** I/Os between two looks at the rings, so that none can fill up in between. */
size_t engine_stride(const struct engine_ctx *ctx);

/** Time to stop, asked between I/Os? */
static inline bool engine_stopped(const struct engine_ctx *ctx, uint64_t now)
{
	return *ctx->stop || (ctx->deadline && now >= ctx->deadline);
}

#endif

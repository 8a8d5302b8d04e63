// SPDX-License-Identifier: GPL-2.0-only
#include "engine.h"

#include <errno.h>
#include <string.h>
#include <sys/mman.h>

/*
 * Requests that one I/O may become: one for each 4 KiB (the smallest
 * max_sectors_kb), and a journal's worth.
 */
#define REQUESTS_MAX(bytes) ((bytes) / 4096 + 64)

size_t engine_stride(const struct engine_ctx *ctx)
{
	uint64_t n = ctx->records->entries / 4 / REQUESTS_MAX(ctx->job->bs);

	return n < 1 ? 1 : n > 256 ? 256 : n;
}

/* Something that neither compresses nor is zero: a store might tell. */
static void fill(unsigned char *p, size_t n)
{
	uint32_t x = 2463534242u;

	for (size_t i = 0; i < n; i++) {
		x ^= x << 13;
		x ^= x >> 17;
		x ^= x << 5;
		p[i] = (unsigned char)x;
	}
}

int engine_open(struct engine_ctx *ctx, const struct engine *engine)
{
	int err;

	ctx->engine = engine;
	ctx->buffer_bytes = ctx->job->bs * ctx->job->iodepth;
	ctx->buffer = mmap(NULL, ctx->buffer_bytes, PROT_READ | PROT_WRITE,
			   MAP_PRIVATE | MAP_ANONYMOUS | MAP_POPULATE, -1, 0);
	if (ctx->buffer == MAP_FAILED)
		return -errno;
	fill(ctx->buffer, ctx->buffer_bytes);
	err = engine->open(ctx);
	if (err)
		munmap(ctx->buffer, ctx->buffer_bytes);
	return err;
}

void engine_close(struct engine_ctx *ctx)
{
	ctx->engine->close(ctx);
	munmap(ctx->buffer, ctx->buffer_bytes);
}

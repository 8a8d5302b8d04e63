// SPDX-License-Identifier: GPL-2.0-only
/*
 * pread and pwrite, one at a time, with fsync or fdatasync inside the window
 * where the plan says so. The system call is made here and not through libc,
 * whose wrapper (cancellation point, errno) would be weighed with it.
 */
#include "engine.h"

#include "clock.h"

#include <errno.h>
#include <stdio.h>
#include <sys/syscall.h>
#include <unistd.h>

#if defined(__x86_64__)
static inline long call_rw(long nr, int fd, void *buf, size_t n, uint64_t at)
{
	register uint64_t r10 __asm__("r10") = at;
	long ret;

	__asm__ volatile("syscall"
			 : "=a"(ret)
			 : "0"(nr), "D"((long)fd), "S"(buf), "d"(n), "r"(r10)
			 : "rcx", "r11", "memory");
	return ret;
}

static inline long call_sync(long nr, int fd)
{
	long ret;

	__asm__ volatile("syscall"
			 : "=a"(ret)
			 : "0"(nr), "D"((long)fd)
			 : "rcx", "r11", "memory");
	return ret;
}
#else
static inline long call_rw(long nr, int fd, void *buf, size_t n, uint64_t at)
{
	long ret = syscall(nr, fd, buf, n, at);

	return ret < 0 ? -errno : ret;
}

static inline long call_sync(long nr, int fd)
{
	long ret = syscall(nr, fd);

	return ret < 0 ? -errno : ret;
}
#endif

static int psync_open(struct engine_ctx *ctx)
{
	snprintf(ctx->detail, sizeof(ctx->detail), "psync");
	return 0;
}

static void psync_close(struct engine_ctx *ctx)
{
	(void)ctx;
}

static uint16_t to_error(long ret, uint32_t wanted)
{
	if (ret < 0)
		return (uint16_t)-ret;
	return ret == (long)wanted ? 0 : EIO;
}

/* One I/O. `syncs` is a constant where this is used, so no branch stays. */
static inline __attribute__((always_inline)) void
one(struct io *io, int fd, void *buf, bool syncs)
{
	static const long calls[] = { [TARE_READ] = SYS_pread64,
				      [TARE_WRITE] = SYS_pwrite64 };
	long nr = calls[io->op], ret, synced = 0;
	uint64_t offset = io->offset, enter, exit;
	uint32_t bytes = io->bytes;
	uint8_t flags = io->flags;

	enter = clock_enter();
	ret = call_rw(nr, fd, buf, bytes, offset);
	if (syncs && (flags & IO_FSYNC))
		synced = call_sync(SYS_fsync, fd);
	if (syncs && (flags & IO_FDATASYNC))
		synced = call_sync(SYS_fdatasync, fd);
	exit = clock_exit();
	io->enter = enter;
	io->exit = exit;
	io->error = to_error(ret, bytes);
	if (synced && !io->error)
		io->error = (uint16_t)-synced;
}

static inline __attribute__((always_inline)) size_t
loop(struct engine_ctx *ctx, size_t from, size_t to, bool syncs)
{
	size_t stride = engine_stride(ctx), look = stride;

	for (size_t i = from; i < to; i++) {
		struct io *io = &ctx->io[i];

		one(io, ctx->fd, ctx->buffer, syncs);
		if (__builtin_expect(io->error ||
				     engine_stopped(ctx, io->exit), 0))
			return i + 1;
		if (--look == 0) {
			look = stride;
			if (records_pressed(ctx->records))
				records_drain(ctx->records);
		}
	}
	return to;
}

static size_t psync_run(struct engine_ctx *ctx, size_t from, size_t to)
{
	if (ctx->job->fsync || ctx->job->fdatasync)
		return loop(ctx, from, to, true);
	return loop(ctx, from, to, false);
}

const struct engine engine_psync = {
	.name = "psync",
	.open = psync_open,
	.run = psync_run,
	.close = psync_close,
};

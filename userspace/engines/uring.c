// SPDX-License-Identifier: GPL-2.0-only
/*
 * io_uring. `enter` of an I/O is the read before the io_uring_enter() that
 * submits it, the same for a whole batch; `exit` is when its completion is
 * first read from the ring. Submission entries are made up before `enter`.
 *
 * As fio does, the ring is filled up to the depth before completions are looked
 * at, so that as many I/Os are in flight as the job says also where one call
 * takes longer than the device.
 */
#include "engine.h"

#include "clock.h"
#include "util.h"

#include <errno.h>
#include <liburing.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* user_data: the I/O's index below, its buffer above */
#define SLOT_SHIFT	48
#define INDEX_MASK	((1ull << SLOT_SHIFT) - 1)

struct uring {
	struct io_uring ring;
	bool fixed_file;
	bool fixed_buffer;
	unsigned int depth;
	unsigned int *slot;	/* free buffers, a stack */
	unsigned int nr_free;
	size_t next;		/* first I/O not submitted */
	bool failed;
	bool want_drain;
};

/* What one user of a ring can do without being interrupted; older kernels refuse. */
static int queue_init(struct uring *u, struct engine_ctx *ctx)
{
	unsigned int flags = IORING_SETUP_COOP_TASKRUN |
			     IORING_SETUP_SINGLE_ISSUER;
	int err = io_uring_queue_init(u->depth, &u->ring, flags);

	if (err == -EINVAL) {
		flags = 0;
		err = io_uring_queue_init(u->depth, &u->ring, 0);
	}
	snprintf(ctx->detail, sizeof(ctx->detail), "io_uring%s%s%s",
		 flags ? " coop_taskrun single_issuer" : "",
		 u->fixed_buffer ? " fixedbufs" : "",
		 u->fixed_file ? " registerfiles" : "");
	return err;
}

static int registrations(struct uring *u, struct engine_ctx *ctx)
{
	struct iovec iov = { ctx->buffer, ctx->buffer_bytes };
	int err = 0;

	if (u->fixed_buffer)
		err = io_uring_register_buffers(&u->ring, &iov, 1);
	if (!err && u->fixed_file)
		err = io_uring_register_files(&u->ring, &ctx->fd, 1);
	return err;
}

static int uring_open(struct engine_ctx *ctx)
{
	struct uring *u = xcalloc(1, sizeof(*u));
	int err;

	u->depth = (unsigned int)ctx->job->iodepth;
	u->fixed_buffer = ctx->job->fixedbufs;
	u->fixed_file = ctx->job->registerfiles;
	err = queue_init(u, ctx);
	if (err) {
		free(u);
		return err;
	}
	err = registrations(u, ctx);
	if (err) {
		io_uring_queue_exit(&u->ring);
		free(u);
		return err;
	}
	u->slot = xcalloc(u->depth, sizeof(*u->slot));
	for (unsigned int i = 0; i < u->depth; i++)
		u->slot[u->nr_free++] = u->depth - 1 - i;
	ctx->own = u;
	return 0;
}

static void uring_close(struct engine_ctx *ctx)
{
	struct uring *u = ctx->own;

	io_uring_queue_exit(&u->ring);
	free(u->slot);
	free(u);
}

static void prepare(struct engine_ctx *ctx, struct uring *u, size_t i)
{
	struct io_uring_sqe *sqe = io_uring_get_sqe(&u->ring);
	const struct io *io = &ctx->io[i];
	unsigned int slot = u->slot[--u->nr_free];
	void *buf = ctx->buffer + (size_t)slot * ctx->job->bs;
	int fd = u->fixed_file ? 0 : ctx->fd;

	if (u->fixed_buffer && io->op == TARE_READ)
		io_uring_prep_read_fixed(sqe, fd, buf, io->bytes, io->offset, 0);
	else if (u->fixed_buffer)
		io_uring_prep_write_fixed(sqe, fd, buf, io->bytes, io->offset,
					  0);
	else if (io->op == TARE_READ)
		io_uring_prep_read(sqe, fd, buf, io->bytes, io->offset);
	else
		io_uring_prep_write(sqe, fd, buf, io->bytes, io->offset);
	if (u->fixed_file)
		sqe->flags |= IOSQE_FIXED_FILE;
	sqe->user_data = i | (uint64_t)slot << SLOT_SHIFT;
}

/* Take all completions at hand, each stamped when it is read. */
static void reap(struct engine_ctx *ctx, struct uring *u)
{
	struct io_uring_cqe *cqe;
	unsigned int head, n = 0;

	io_uring_for_each_cqe(&u->ring, head, cqe) {
		uint64_t now = clock_exit();
		struct io *io = &ctx->io[cqe->user_data & INDEX_MASK];

		io->exit = now;
		if (cqe->res != (int)io->bytes) {
			io->error = cqe->res < 0 ? (uint16_t)-cqe->res : EIO;
			u->failed = true;
		}
		u->slot[u->nr_free++] =
			(unsigned int)(cqe->user_data >> SLOT_SHIFT);
		n++;
	}
	io_uring_cq_advance(&u->ring, n);
}

/* How many I/Os go with the next call. */
static unsigned int batch(const struct engine_ctx *ctx, const struct uring *u,
			  size_t to)
{
	size_t n = to - u->next;

	if (u->want_drain || u->failed || *ctx->stop)
		return 0;
	n = n < ctx->job->batch ? n : ctx->job->batch;
	return (unsigned int)(n < u->nr_free ? n : u->nr_free);
}

/* How many completions to wait for: none while there is more to send. */
static unsigned int wait_for(const struct engine_ctx *ctx,
			     const struct uring *u, bool more)
{
	unsigned int flying = u->depth - u->nr_free;
	unsigned int min = ctx->job->batch_complete ?
				   (unsigned int)ctx->job->batch_complete : 1;

	if (more && u->nr_free)
		return 0;
	return min < flying ? min : flying;
}

/* One call: submit a batch, take what is complete. @return 0 or -errno */
static int step(struct engine_ctx *ctx, struct uring *u, size_t to)
{
	unsigned int n = batch(ctx, u, to), wait;
	size_t first = u->next;
	uint64_t enter;
	int ret;

	for (unsigned int i = 0; i < n; i++)
		prepare(ctx, u, u->next++);
	wait = wait_for(ctx, u, n && u->next < to);
	enter = clock_enter();
	ret = io_uring_submit_and_wait(&u->ring, wait);
	if (wait)
		reap(ctx, u);
	for (size_t i = first; i < u->next; i++)
		ctx->io[i].enter = enter;
	if (ret < 0 && ret != -EINTR)
		return ret;
	return ret >= 0 && (unsigned int)ret < n ? -EIO : 0;
}

/* Rings are emptied only with nothing in flight: it would be in the windows. */
static void look_after_rings(struct engine_ctx *ctx, struct uring *u)
{
	if (!u->want_drain)
		u->want_drain = records_pressed(ctx->records);
	if (u->want_drain && u->nr_free == u->depth) {
		records_drain(ctx->records);
		u->want_drain = false;
	}
}

static bool finished(const struct engine_ctx *ctx, const struct uring *u,
		     size_t to)
{
	if (u->nr_free < u->depth)
		return false;
	return u->next == to || u->failed || *ctx->stop;
}

static size_t uring_run(struct engine_ctx *ctx, size_t from, size_t to)
{
	struct uring *u = ctx->own;
	size_t stride = engine_stride(ctx), look = from + stride;

	u->next = from;
	while (!finished(ctx, u, to)) {
		int err = step(ctx, u, to);

		if (err) {
			msg_error("io_uring_enter: %s", strerror(-err));
			if (u->next > from)
				ctx->io[u->next - 1].error = (uint16_t)-err;
			break;
		}
		if (ctx->deadline && clock_exit() >= ctx->deadline)
			to = u->next;
		if (u->want_drain || u->next >= look) {
			look = u->next + stride;
			look_after_rings(ctx, u);
		}
	}
	return u->next;
}

const struct engine engine_uring = {
	.name = "io_uring",
	.open = uring_open,
	.run = uring_run,
	.close = uring_close,
};

// SPDX-License-Identifier: GPL-2.0-only
#include "records.h"

#include "device.h"
#include "util.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <unistd.h>

/* The largest power of two that keeps all rings together within bounds. */
static uint64_t entries_for(uint32_t nr_cpus)
{
	uint64_t entries = RECORDS_ENTRIES;

	while (entries > 64 && entries * nr_cpus * sizeof(struct tare_record) >
				       RECORDS_BYTES_MAX)
		entries /= 2;
	return entries;
}

static int start(struct records *r, const char *device)
{
	struct tare_record_req req = { 0 };
	struct tare_info info;
	int err = control_info(r->fd, &info);

	if (err)
		return err;
	snprintf(req.name, sizeof(req.name), "%s", device);
	req.entries = entries_for(info.nr_cpu_ids);
	if (ioctl(r->fd, TARE_IOC_RECORD, &req) < 0)
		return -errno;
	r->entries = req.entries;
	r->stride = req.stride;
	r->nr_rings = req.nr_rings;
	return 0;
}

static int map_rings(struct records *r)
{
	size_t mapped = 0;

	r->ring = xcalloc(r->nr_rings, sizeof(*r->ring));
	for (uint32_t i = 0; i < r->nr_rings; i++) {
		void *p = mmap(NULL, r->stride, PROT_READ | PROT_WRITE,
			       MAP_SHARED | MAP_POPULATE, r->fd,
			       (off_t)(i * r->stride));

		/* Numbers of CPUs that cannot exist have no ring. */
		if (p == MAP_FAILED && errno == EINVAL)
			continue;
		if (p == MAP_FAILED)
			return -errno;
		r->ring[i] = p;
		mapped++;
	}
	return mapped ? 0 : -EINVAL;
}

int records_open(struct records *r, const char *device)
{
	int err;

	memset(r, 0, sizeof(*r));
	r->fd = control_open();
	if (r->fd < 0)
		return r->fd;
	err = start(r, device);
	if (!err)
		err = map_rings(r);
	if (err)
		records_close(r);
	return err;
}

void records_close(struct records *r)
{
	for (uint32_t i = 0; r->ring && i < r->nr_rings; i++)
		if (r->ring[i])
			munmap(r->ring[i], r->stride);
	free(r->ring);
	free(r->rec);
	if (r->fd > 0)
		close(r->fd);
	memset(r, 0, sizeof(*r));
	r->fd = -1;
}

void records_reserve(struct records *r, size_t n)
{
	if (r->n + n <= r->room)
		return;
	r->room = r->n + n;
	r->rec = xrealloc(r->rec, r->room * sizeof(*r->rec));
}

static void drain_ring(struct records *r, struct tare_ring *ring)
{
	struct tare_record *slots =
		(struct tare_record *)((char *)ring + TARE_RING_HEADER);
	uint64_t head = __atomic_load_n(&ring->head, __ATOMIC_ACQUIRE);
	uint64_t tail = ring->tail;

	for (; tail != head; tail++) {
		struct tare_record *slot = &slots[tail & (r->entries - 1)];

		/* Taken but not filled yet: it and all later ones must wait. */
		if (!__atomic_load_n(&slot->end, __ATOMIC_ACQUIRE))
			break;
		if (r->n == r->room)
			records_reserve(r, r->room / 2 + 1024);
		r->rec[r->n++] = *slot;
		slot->end = 0;
	}
	__atomic_store_n(&ring->tail, tail, __ATOMIC_RELEASE);
}

void records_drain(struct records *r)
{
	for (uint32_t i = 0; i < r->nr_rings; i++)
		if (r->ring[i])
			drain_ring(r, r->ring[i]);
}

uint64_t records_lost(const struct records *r)
{
	uint64_t lost = 0;

	for (uint32_t i = 0; i < r->nr_rings; i++)
		if (r->ring[i])
			lost += __atomic_load_n(&r->ring[i]->lost,
						__ATOMIC_RELAXED);
	return lost;
}

void records_clear(struct records *r)
{
	r->n = 0;
}

static int by_issue(const void *a, const void *b)
{
	const struct tare_record *x = a, *y = b;

	return (x->issue > y->issue) - (x->issue < y->issue);
}

void records_sort(struct tare_record *rec, size_t n)
{
	/* One I/O in flight: they are in order, and there are many. */
	for (size_t i = 1; i < n; i++) {
		if (rec[i].issue < rec[i - 1].issue) {
			qsort(rec, n, sizeof(*rec), by_issue);
			return;
		}
	}
}

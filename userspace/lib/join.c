// SPDX-License-Identifier: GPL-2.0-only
#include "join.h"

#include "sweep.h"
#include "util.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#define SECTOR_SHIFT	9
#define MAX_PIECES	64

/* A request as seen from one of the I/Os that it belongs to. */
struct link {
	size_t io;
	const struct tare_record *rec;
	bool data;
};

/* An I/O in flight, with its place if that is one piece, as it nearly always is. */
struct active {
	size_t io;
	size_t pieces;
	struct fsmap_piece only;
};

/* Part of a request that an I/O claims, in sectors. */
struct claim {
	size_t io;
	uint64_t from;
	uint64_t to;
};

/* State of one run; the lists grow and are freed at the end. */
struct joiner {
	struct join *join;
	const struct io *io;
	size_t n;
	const struct fsmap *map;
	size_t next;		/* first I/O that has not entered yet */
	struct active *active;	/* entered and not yet left, by enter */
	size_t nr_active, active_room;
	struct claim *claim;	/* of the request at hand */
	size_t nr_claims, claim_room;
	struct link *link;
	size_t nr_links, link_room;
	uint64_t *covered;	/* bytes of each I/O found in requests */
	bool rivals;		/* two I/Os wanted the same sectors */
};

/* Room for one more; realloc keeps what is there. */
static void *grow(void *list, size_t n, size_t *room, size_t size)
{
	if (n < *room)
		return list;
	*room = *room ? *room * 2 : 64;
	return xrealloc(list, *room * size);
}

static void add_active(struct joiner *j, size_t i)
{
	struct active *a;

	j->active = grow(j->active, j->nr_active, &j->active_room,
			 sizeof(*j->active));
	a = &j->active[j->nr_active++];
	a->io = i;
	a->pieces = fsmap_pieces(j->map, j->io[i].offset, j->io[i].bytes,
				 &a->only, 1);
}

/* Let I/Os in and out, so that `active` holds those open at time t. */
static void advance(struct joiner *j, uint64_t t)
{
	size_t kept = 0;

	while (j->next < j->n && j->io[j->next].enter <= t)
		add_active(j, j->next++);
	for (size_t i = 0; i < j->nr_active; i++)
		if (j->io[j->active[i].io].exit >= t)
			j->active[kept++] = j->active[i];
	j->nr_active = kept;
}

static bool inside(const struct io *io, const struct tare_record *rec)
{
	return io->enter <= rec->issue && rec->end <= io->exit;
}

/* @return true when another I/O has claimed some of these sectors already */
static bool claimed(const struct joiner *j, uint64_t from, uint64_t to)
{
	for (size_t i = 0; i < j->nr_claims; i++)
		if (from < j->claim[i].to && j->claim[i].from < to)
			return true;
	return false;
}

static void claim(struct joiner *j, size_t io, uint64_t from, uint64_t to)
{
	j->claim = grow(j->claim, j->nr_claims, &j->claim_room,
			sizeof(*j->claim));
	j->claim[j->nr_claims++] = (struct claim){ io, from, to };
}

/* Claim what the request and one piece of an I/O have in common. @return sectors */
static uint64_t claim_piece(struct joiner *j, size_t io,
			    const struct tare_record *rec,
			    const struct fsmap_piece *piece)
{
	uint64_t from = rec->sector;
	uint64_t to = from + (rec->bytes >> SECTOR_SHIFT);
	uint64_t end = piece->sector + (piece->bytes >> SECTOR_SHIFT);

	from = from > piece->sector ? from : piece->sector;
	to = to < end ? to : end;
	if (from >= to)
		return 0;
	if (claimed(j, from, to)) {
		j->rivals = true;
		return 0;
	}
	claim(j, io, from, to);
	return to - from;
}

static uint64_t claim_io(struct joiner *j, const struct active *a,
			 const struct tare_record *rec)
{
	const struct io *io = &j->io[a->io];
	struct fsmap_piece piece[MAX_PIECES];
	uint64_t sectors = 0;

	if (a->pieces == 1)
		return claim_piece(j, a->io, rec, &a->only);
	if (a->pieces > MAX_PIECES)
		return 0;
	fsmap_pieces(j->map, io->offset, io->bytes, piece, MAX_PIECES);
	for (size_t k = 0; k < a->pieces; k++)
		sectors += claim_piece(j, a->io, rec, &piece[k]);
	return sectors;
}

/*
 * Claims of one request on all I/Os in flight, earliest first. I/Os that have
 * all their bytes already come last: only a doubled request goes to them.
 * @return true when every sector of the request is somebody's
 */
static bool claim_all(struct joiner *j, const struct tare_record *rec)
{
	uint64_t left = rec->bytes >> SECTOR_SHIFT;

	j->nr_claims = 0;
	j->rivals = false;
	for (int full = 0; full < 2 && left; full++) {
		for (size_t k = 0; k < j->nr_active; k++) {
			const struct active *a = &j->active[k];
			const struct io *io = &j->io[a->io];

			if ((j->covered[a->io] >= io->bytes) != full ||
			    io->op != rec->op || !inside(io, rec))
				continue;
			left -= claim_io(j, a, rec);
		}
	}
	return left == 0 && rec->bytes;
}

static void link_io(struct joiner *j, size_t io, const struct tare_record *rec,
		    bool data)
{
	j->link = grow(j->link, j->nr_links, &j->link_room, sizeof(*j->link));
	j->link[j->nr_links++] = (struct link){ io, rec, data };
	if (rec->error)
		j->join->wrong[io] |= JOIN_FAILED;
}

static bool linked(const struct joiner *j, size_t io,
		   const struct tare_record *rec)
{
	for (size_t i = j->nr_links; i-- && j->link[i].rec == rec;)
		if (j->link[i].io == io)
			return true;
	return false;
}

static void accept_claims(struct joiner *j, const struct tare_record *rec)
{
	size_t owners = 0;

	for (size_t i = 0; i < j->nr_claims; i++) {
		const struct claim *c = &j->claim[i];

		j->covered[c->io] += (c->to - c->from) << SECTOR_SHIFT;
		if (linked(j, c->io, rec))
			continue;
		link_io(j, c->io, rec, true);
		owners++;
	}
	j->join->data++;
	j->join->shared += owners > 1;
	j->join->ambiguous += j->rivals;
}

/* @return the number of durable I/Os that waited for this request */
static size_t help(struct joiner *j, const struct tare_record *rec)
{
	size_t owners = 0;

	for (size_t k = 0; k < j->nr_active; k++) {
		size_t i = j->active[k].io;

		if (!(j->io[i].flags & IO_DURABLE) || !inside(&j->io[i], rec))
			continue;
		link_io(j, i, rec, false);
		owners++;
	}
	return owners;
}

static void place(struct joiner *j, const struct tare_record *rec)
{
	struct join *join = j->join;
	size_t owners;

	if (claim_all(j, rec)) {
		accept_claims(j, rec);
		return;
	}
	owners = help(j, rec);
	if (owners) {
		join->helpers++;
		join->shared += owners > 1;
	} else if (rec->op < TARE_NR_OPS) {
		join->others.count[rec->op]++;
		join->others.bytes[rec->op] += rec->bytes;
	}
}

/* Links came in the order of records; put them in the order of I/Os. */
static void sort_links(struct joiner *j)
{
	struct join *join = j->join;
	size_t *at;

	join->first = xcalloc(j->n + 1, sizeof(*join->first));
	join->rec = xcalloc(j->nr_links, sizeof(join->rec[0]));
	join->is_data = xcalloc(j->nr_links, sizeof(*join->is_data));
	for (size_t i = 0; i < j->nr_links; i++)
		join->first[j->link[i].io + 1]++;
	for (size_t i = 0; i < j->n; i++)
		join->first[i + 1] += join->first[i];
	at = xmalloc(j->n * sizeof(*at));
	if (j->n)
		memcpy(at, join->first, j->n * sizeof(*at));
	for (size_t i = 0; i < j->nr_links; i++) {
		size_t to = at[j->link[i].io]++;

		join->rec[to] = j->link[i].rec;
		join->is_data[to] = j->link[i].data;
	}
	free(at);
}

static bool overlap(const struct tare_record *x, const struct tare_record *y)
{
	return x->sector < y->sector + (y->bytes >> SECTOR_SHIFT) &&
	       y->sector < x->sector + (x->bytes >> SECTOR_SHIFT);
}

/*
 * A sector found twice and one not found at all make the right sum, so the
 * sum alone proves nothing; look for two data requests on the same sectors.
 */
static bool doubled(const struct join *join, size_t i)
{
	for (size_t a = join->first[i]; a < join->first[i + 1]; a++)
		for (size_t b = a + 1; b < join->first[i + 1]; b++)
			if (join->is_data[a] && join->is_data[b] &&
			    overlap(join->rec[a], join->rec[b]))
				return true;
	return false;
}

static uint8_t verdict(const struct joiner *j, size_t i)
{
	const struct join *join = j->join;
	const struct io *io = &j->io[i];
	struct fsmap_piece piece;
	uint8_t wrong = join->wrong[i];
	size_t pieces;

	pieces = fsmap_pieces(j->map, io->offset, io->bytes, &piece, 1);
	if (pieces == 0 || pieces > MAX_PIECES)
		wrong |= JOIN_UNMAPPED;
	if (j->covered[i] < io->bytes)
		wrong |= JOIN_MISSING;
	if (j->covered[i] > io->bytes || doubled(join, i))
		wrong |= JOIN_DOUBLE;
	if (io->error)
		wrong |= JOIN_FAILED;
	if (io->exit < io->enter)
		wrong |= JOIN_STAMPS;
	for (size_t k = join->first[i]; k < join->first[i + 1]; k++)
		if (sweep_check(join->rec[k]))
			wrong |= JOIN_STAMPS;
	return wrong;
}

static void judge(struct joiner *j)
{
	struct join *join = j->join;

	for (size_t i = 0; i < j->n; i++) {
		uint8_t wrong = verdict(j, i);

		join->wrong[i] = wrong;
		join->unmatched += !!(wrong & (JOIN_MISSING | JOIN_DOUBLE |
					       JOIN_UNMAPPED));
		join->not_monotonic += !!(wrong & JOIN_STAMPS);
		join->failed += !!(wrong & JOIN_FAILED);
	}
}

static int check_order(const struct io *io, size_t n,
		       const struct tare_record *rec, size_t m)
{
	for (size_t i = 1; i < n; i++)
		if (io[i].enter < io[i - 1].enter)
			return -EINVAL;
	for (size_t i = 1; i < m; i++)
		if (rec[i].issue < rec[i - 1].issue)
			return -EINVAL;
	return 0;
}

/* Requests from before the first I/O or after the last are no part of the run. */
static bool in_run(const struct joiner *j, const struct tare_record *rec,
		   uint64_t last_exit)
{
	return j->n && rec->issue >= j->io[0].enter && rec->issue <= last_exit;
}

int join_run(struct join *join, const struct io *io, size_t n,
	     const struct tare_record *rec, size_t m,
	     const struct fsmap *map)
{
	struct joiner j = { .join = join, .io = io, .n = n, .map = map };
	uint64_t last_exit = 0;

	memset(join, 0, sizeof(*join));
	if (check_order(io, n, rec, m))
		return -EINVAL;
	join->n = n;
	join->wrong = xcalloc(n, sizeof(*join->wrong));
	j.covered = xcalloc(n, sizeof(*j.covered));
	for (size_t i = 0; i < n; i++)
		last_exit = io[i].exit > last_exit ? io[i].exit : last_exit;
	for (size_t i = 0; i < m; i++) {
		if (!in_run(&j, &rec[i], last_exit))
			continue;
		advance(&j, rec[i].issue);
		place(&j, &rec[i]);
	}
	sort_links(&j);
	judge(&j);
	free(j.active);
	free(j.claim);
	free(j.link);
	free(j.covered);
	return 0;
}

void join_free(struct join *join)
{
	free(join->first);
	free(join->rec);
	free(join->is_data);
	free(join->wrong);
	memset(join, 0, sizeof(*join));
}

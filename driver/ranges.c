// SPDX-License-Identifier: GPL-2.0-only
/*
 * Sorted ranges of sectors, see ranges.h. No two of them touch, so that a list
 * has one form only.
 */
#ifdef __KERNEL__
#include <linux/errno.h>
#include <linux/kernel.h>
#include <linux/string.h>
#else
#include <errno.h>
#include <stdio.h>
#include <string.h>
#endif

#include "ranges.h"

/* The first range that does not end before @sector, or n. */
static u32 lower_bound(const struct tare_ranges *ranges, u64 sector)
{
	u32 low = 0, high = ranges->n;

	while (low < high) {
		u32 middle = (low + high) / 2;

		if (ranges->at[middle].last < sector)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

/* Puts @n new ranges in the place of those from @from to before @to. */
static int splice(struct tare_ranges *ranges, u32 from, u32 to,
		  const struct tare_range *new, u32 n)
{
	if (ranges->n - (to - from) + n > TARE_RANGES_MAX)
		return -ENOSPC;
	memmove(&ranges->at[from + n], &ranges->at[to],
		(ranges->n - to) * sizeof(*new));
	memcpy(&ranges->at[from], new, n * sizeof(*new));
	ranges->n = ranges->n - (to - from) + n;
	return 0;
}

/**
 * tare_ranges_add() - take sectors into the list
 * @ranges: list
 * @first: first sector
 * @last: last sector, not before @first and below 2^64 - 1
 *
 * Return: 0, or -ENOSPC, which leaves the list as it was.
 */
int tare_ranges_add(struct tare_ranges *ranges, u64 first, u64 last)
{
	struct tare_range new = { first, last };
	/* What ends right before it grows together with it. */
	u32 from = lower_bound(ranges, first ? first - 1 : 0);
	u32 to = from;

	while (to < ranges->n && ranges->at[to].first <= last + 1)
		to++;
	if (from < to && ranges->at[from].first < first)
		new.first = ranges->at[from].first;
	if (from < to && ranges->at[to - 1].last > last)
		new.last = ranges->at[to - 1].last;
	return splice(ranges, from, to, &new, 1);
}

/**
 * tare_ranges_remove() - take sectors out of the list
 * @ranges: list
 * @first: first sector
 * @last: last sector, not before @first
 *
 * Return: 0, or -ENOSPC where a full list had to part a range, which leaves
 * the list as it was.
 */
int tare_ranges_remove(struct tare_ranges *ranges, u64 first, u64 last)
{
	struct tare_range rest[2];
	u32 from = lower_bound(ranges, first);
	u32 to = from, n = 0;

	while (to < ranges->n && ranges->at[to].first <= last)
		to++;
	if (from == to)
		return 0;
	if (ranges->at[from].first < first)
		rest[n++] = (struct tare_range){ ranges->at[from].first,
						 first - 1 };
	if (ranges->at[to - 1].last > last)
		rest[n++] = (struct tare_range){ last + 1,
						 ranges->at[to - 1].last };
	return splice(ranges, from, to, rest, n);
}

/**
 * tare_ranges_find() - is one of these sectors in the list?
 * @ranges: list
 * @first: first sector
 * @last: last sector
 *
 * Return: the first range that has one of them, or NULL.
 */
const struct tare_range *tare_ranges_find(const struct tare_ranges *ranges,
					  u64 first, u64 last)
{
	u32 i = lower_bound(ranges, first);

	if (i == ranges->n || ranges->at[i].first > last)
		return NULL;
	return &ranges->at[i];
}

struct reader {
	const char *at;
	const char *end;
	u64 max;
};

static bool read_char(struct reader *r, char c)
{
	if (r->at == r->end || *r->at != c)
		return false;
	r->at++;
	return true;
}

/* Digits alone, and no zero before others. */
static bool read_number(struct reader *r, u64 *value)
{
	const char *start = r->at;
	u64 v = 0;

	for (; r->at < r->end && *r->at >= '0' && *r->at <= '9'; r->at++) {
		v = v * 10 + (u64)(*r->at - '0');
		/* The limit is far below where this would wrap. */
		if (v > r->max)
			return false;
	}
	*value = v;
	return r->at > start && (*start != '0' || r->at == start + 1);
}

static bool read_range(struct reader *r, struct tare_range *range)
{
	return read_number(r, &range->first) && read_char(r, '-') &&
	       read_number(r, &range->last) && range->first <= range->last;
}

static int write_change(struct tare_ranges *ranges, struct reader *r, bool add)
{
	struct tare_range range;

	if (!read_range(r, &range) || r->at != r->end)
		return -EINVAL;
	if (add)
		return tare_ranges_add(ranges, range.first, range.last);
	return tare_ranges_remove(ranges, range.first, range.last);
}

/* Reads a list; with @ranges NULL only looks whether it is one. */
static int read_list(struct reader r, struct tare_ranges *ranges)
{
	struct tare_range range;
	u64 next = 0;
	u32 n = 0;

	do {
		if (!read_range(&r, &range) || (n && range.first < next))
			return -EINVAL;
		if (n == TARE_RANGES_MAX)
			return -ENOSPC;
		if (ranges)
			ranges->at[n] = range;
		n++;
		next = range.last + 2;
	} while (read_char(&r, ','));
	if (r.at != r.end)
		return -EINVAL;
	if (ranges)
		ranges->n = n;
	return 0;
}

/**
 * tare_ranges_write() - what was written takes effect, whole or not at all
 * @ranges: list
 * @text: in one of the forms of ranges.h; one final newline is allowed
 * @len: its length
 * @max: largest sector, below 2^59
 *
 * Return: 0; -EINVAL when the text is none of that; -ENOSPC when the list
 * would get too long.
 */
int tare_ranges_write(struct tare_ranges *ranges, const char *text, size_t len,
		      u64 max)
{
	struct reader r = { text, text + len, max };
	int err;

	if (len && text[len - 1] == '\n')
		r.end--;
	if (r.end - r.at == 4 && !memcmp(r.at, "none", 4)) {
		ranges->n = 0;
		return 0;
	}
	if (read_char(&r, '+'))
		return write_change(ranges, &r, true);
	if (read_char(&r, '-'))
		return write_change(ranges, &r, false);
	err = read_list(r, NULL);
	return err ? err : read_list(r, ranges);
}

/**
 * tare_ranges_read() - the list as text, without a newline
 * @ranges: list
 * @buf: TARE_RANGES_TEXT bytes are always enough
 * @size: of @buf
 *
 * Return: length of the text.
 */
size_t tare_ranges_read(const struct tare_ranges *ranges, char *buf,
			size_t size)
{
	size_t len = 0;
	u32 i;

	if (!ranges->n)
		return (size_t)snprintf(buf, size, "none");
	for (i = 0; i < ranges->n && len < size; i++)
		len += (size_t)snprintf(buf + len, size - len, "%s%llu-%llu",
					i ? "," : "",
					(unsigned long long)ranges->at[i].first,
					(unsigned long long)ranges->at[i].last);
	return len;
}

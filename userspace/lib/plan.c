// SPDX-License-Identifier: GPL-2.0-only
#include "plan.h"

#define FEISTEL_ROUNDS 4

/* splitmix64: mixes any number, also one that counts up (Steele et al., 2014). */
static uint64_t mix(uint64_t x)
{
	x += 0x9e3779b97f4a7c15ull;
	x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9ull;
	x = (x ^ (x >> 27)) * 0x94d049bb133111ebull;
	return x ^ (x >> 31);
}

/* Bits of each half, so that both together number at least n things. */
static unsigned int half_bits(uint64_t n)
{
	unsigned int bits = 1;

	while (bits < 32 && (1ull << 2 * bits) < n)
		bits++;
	return bits;
}

/*
 * A permutation of 0 … n - 1 without a table: a Feistel network on the next
 * even number of bits, walked until it falls below n (at most four times as
 * many values as n, so a few steps).
 */
static uint64_t permute(uint64_t i, uint64_t n, uint64_t seed,
			unsigned int bits)
{
	uint64_t mask = (1ull << bits) - 1;

	do {
		uint64_t left = i >> bits, right = i & mask;

		for (unsigned int r = 0; r < FEISTEL_ROUNDS; r++) {
			uint64_t f = mix(seed ^ (uint64_t)r << 60 ^ right);
			uint64_t t = left ^ (f & mask);

			left = right;
			right = t;
		}
		i = left << bits | right;
	} while (i >= n);
	return i;
}

static uint64_t random_block(const struct job *job, size_t i, uint64_t blocks,
			     unsigned int bits)
{
	if (job->norandommap)
		return mix(job->randseed ^ mix(i)) % blocks;
	/* Each pass over the file in another order. */
	return permute(i % blocks, blocks, mix(job->randseed + i / blocks),
		       bits);
}

static uint8_t operation(const struct job *job, size_t i)
{
	if (job->dir == JOB_READ)
		return TARE_READ;
	if (job->dir == JOB_WRITE)
		return TARE_WRITE;
	return mix(~job->randseed ^ i) % 100 < job->mix_read_percent ?
		       TARE_READ : TARE_WRITE;
}

/* @param writes number of writes so far, this one included */
static uint8_t flags_of(const struct job *job, uint64_t writes)
{
	uint8_t flags = job->sync == JOB_SYNC_NONE ? 0 : IO_SYNC;

	if (job->fsync && writes % job->fsync == 0)
		flags |= IO_FSYNC;
	if (job->fdatasync && writes % job->fdatasync == 0)
		flags |= IO_FDATASYNC;
	return flags;
}

uint64_t plan_length(const struct job *job, uint64_t size)
{
	uint64_t bytes = job->io_size ? job->io_size : size * job->loops;
	uint64_t n = bytes / job->bs;

	return job->number_ios && job->number_ios < n ? job->number_ios : n;
}

void plan_make(struct io *io, size_t n, const struct job *job, uint64_t size)
{
	uint64_t blocks = size / job->bs, writes = 0;
	unsigned int bits = half_bits(blocks);

	for (size_t i = 0; i < n; i++) {
		uint64_t block = job->random ?
					 random_block(job, i, blocks, bits) :
					 i % blocks;

		io[i] = (struct io){ .offset = job->offset + block * job->bs,
				     .bytes = (uint32_t)job->bs,
				     .op = operation(job, i) };
		if (io[i].op == TARE_WRITE)
			io[i].flags = flags_of(job, ++writes);
	}
}

/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The counter that the driver stamps with, read in user space.
 *
 * The figures of an I/O are differences between stamps taken here and stamps
 * taken in the kernel, so both must read the same counter, and neither read
 * may drift into or out of the window that it closes. On x86-64 rdtsc is not
 * ordered with the instructions around it (Intel SDM volume 2, RDTSC): lfence
 * before it waits for what came earlier, lfence after it keeps back what comes
 * later. The kernel's rdtsc_ordered() does the first half.
 */
#ifndef TARE_CLOCK_H
#define TARE_CLOCK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#if defined(__x86_64__) || defined(__aarch64__) || defined(__riscv)
#define CLOCK_IS_DRIVERS 1
#else
#define CLOCK_IS_DRIVERS 0
#include <time.h>
#endif

#if defined(__x86_64__)
static inline uint64_t clock_raw(void)
{
	uint32_t lo, hi;

	__asm__ volatile("lfence\n\trdtsc" : "=a"(lo), "=d"(hi) : : "memory");
	return (uint64_t)hi << 32 | lo;
}

static inline void clock_fence(void)
{
	__asm__ volatile("lfence" : : : "memory");
}
#elif defined(__aarch64__)
static inline uint64_t clock_raw(void)
{
	uint64_t v;

	__asm__ volatile("isb\n\tmrs %0, cntvct_el0" : "=r"(v) : : "memory");
	return v;
}

static inline void clock_fence(void)
{
	__asm__ volatile("isb" : : : "memory");
}
#elif defined(__riscv)
static inline uint64_t clock_raw(void)
{
	uint64_t v;

	__asm__ volatile("fence\n\trdtime %0" : "=r"(v) : : "memory");
	return v;
}

static inline void clock_fence(void)
{
	__asm__ volatile("fence" : : : "memory");
}
#else
/* Nanoseconds; not the driver's counter, so it can only time this program. */
static inline uint64_t clock_raw(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC_RAW, &ts);
	return (uint64_t)ts.tv_sec * 1000000000u + (uint64_t)ts.tv_nsec;
}

static inline void clock_fence(void)
{
}
#endif

/** Stamp that opens a window: nothing that follows starts before it. Counter ticks. */
static inline uint64_t clock_enter(void)
{
	uint64_t v = clock_raw();

	clock_fence();
	return v;
}

/** Stamp that closes a window: all that came before is done. Counter ticks. */
static inline uint64_t clock_exit(void)
{
	return clock_raw();
}

/** What a window around nothing costs: the share of the probe in every figure. */
struct clock_cost {
	uint64_t min;		/* ticks, smallest of CLOCK_PAIRS pairs */
	uint64_t median;	/* ticks, nearest rank */
};

#define CLOCK_PAIRS 10001

/** Time CLOCK_PAIRS back-to-back clock_enter(), clock_exit() pairs. */
void clock_calibrate(struct clock_cost *cost);

/**
 * Counter ticks to nanoseconds and back, without overflow for any 64-bit value
 * whose result fits, rounded to nearest. @param khz ticks a millisecond, not 0
 */
uint64_t clock_to_ns(uint64_t ticks, uint32_t khz);
uint64_t clock_from_ns(uint64_t ns, uint32_t khz);

#endif

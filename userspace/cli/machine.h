/* SPDX-License-Identifier: GPL-2.0-only */
/* Facts about the machine that a report must carry, and what it did meanwhile. */
#ifndef TARE_MACHINE_H
#define TARE_MACHINE_H

#include <stdbool.h>
#include <stdint.h>

/** How time passes here; from TARE_LAB, which the lab sets in its guests. */
enum machine_mode {
	MACHINE_LIVE,		/* this machine: cycles */
	MACHINE_EXACT,		/* lab VM, one instruction a nanosecond */
	MACHINE_SOFTIRQ,	/* the same, completions through the softirq */
	MACHINE_WALL,		/* lab VM, real time: only ratios mean anything */
};

enum machine_mode machine_mode(void);
extern const char *const machine_mode_names[];
/** What a counter tick is: "instructions" or "cycles". */
const char *machine_unit(enum machine_mode mode);
static inline bool machine_is_exact(enum machine_mode mode)
{
	return mode == MACHINE_EXACT || mode == MACHINE_SOFTIRQ;
}

/** Each freed by the caller; "" when it cannot be found out. */
char *machine_kernel(void);
char *machine_cpu_model(void);
char *machine_command_line(void);
char *machine_clock_source(void);
/** Options of a debug kernel that make figures worthless: "lockdep kasan", "none". */
char *machine_debug_options(void);
/** The bracketed one of a /sys/block/DISK/queue/scheduler. */
char *machine_scheduler(const char *disk);

/** What happened on this machine up to now; two of them are subtracted. */
struct machine_time {
	uint64_t counter;	/* ticks */
	uint64_t idle_ns;	/* all CPUs, waiting for I/O included */
	bool idle_known;
	uint64_t timer_interrupts;	/* LOC of one CPU */
	bool interrupts_known;
	uint64_t cpu_ns;	/* of this process, user and system */
	uint64_t faults;	/* page faults of this process */
	uint64_t switches;	/* involuntary context switches */
};

/**
 * Read all of it, the counter last at the beginning of a stretch and first at
 * its end, so that the reading itself lies outside.
 * @param cpu whose interrupts to count
 */
void machine_time_begin(struct machine_time *t, int cpu);
void machine_time_end(struct machine_time *t, int cpu);

/** Memory that can be had. @return false when not known */
bool machine_memory_mb(uint64_t *mb);

/** The CPUs that are on, as "0-3,6"; "" when not known. Freed by the caller. */
char *machine_cpus_online(void);
/** Is the CPU in such a list? */
bool machine_cpu_in(const char *list, int cpu);

/** Pin this process to one CPU. @return 0 or -errno */
int machine_pin(int cpu);

/**
 * Keep all CPUs out of sleep states while the descriptor is open
 * (/dev/cpu_dma_latency at 0). @return fd or -errno
 */
int machine_hold_latency(void);

#endif

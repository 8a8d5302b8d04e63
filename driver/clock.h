/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The clock of all stamps: the CPU's timestamp counter, read in order.
 */
#ifndef TARE_CLOCK_H
#define TARE_CLOCK_H

#include <linux/timex.h>
#include <linux/types.h>

#include "model.h"

#ifdef CONFIG_X86
#include <asm/msr.h>
#include <asm/tsc.h>
#endif

/* Fixed at load. */
struct tare_clock {
	u32 khz;
	u32 flags;		/* TARE_TSC_* */
	u32 stamp_cost;		/* tsc, smallest of many pairs */
	u32 stamp_cost_median;
	u64 early_spin_tsc;	/* a timer early by more is armed again */
	struct tare_scale scale;
};

extern struct tare_clock tare_clock;

static __always_inline u64 tare_stamp(void)
{
#ifdef CONFIG_X86
	return rdtsc_ordered();
#else
	return get_cycles();
#endif
}

int tare_clock_init(void);

#endif

// SPDX-License-Identifier: GPL-2.0-only
/*
 * Calibrates the clock of all stamps, and says whether it can be trusted.
 */
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/irqflags.h>
#include <linux/module.h>
#include <linux/sort.h>

#include "clock.h"
#include "compat.h"

#define TARE_EARLY_SPIN_NS	1000000
#define CALIBRATION_PAIRS	1024

static bool trust_tsc;
module_param(trust_tsc, bool, 0444);
MODULE_PARM_DESC(trust_tsc,
		 "1: trust the timestamp counter though the CPU does not vouch for it, as in the exact lab (default 0)");

struct tare_clock tare_clock __read_mostly;
EXPORT_SYMBOL_GPL(tare_clock);

#ifdef CONFIG_X86
static u32 clock_khz(void)
{
	return tsc_khz;
}

static u32 clock_flags(void)
{
	bool constant = boot_cpu_has(X86_FEATURE_CONSTANT_TSC);
	bool nonstop = boot_cpu_has(X86_FEATURE_NONSTOP_TSC);
	bool stable = !check_tsc_unstable();
	u32 flags = 0;

	if (constant)
		flags |= TARE_TSC_CONSTANT;
	if (nonstop)
		flags |= TARE_TSC_NONSTOP;
	if (stable)
		flags |= TARE_TSC_STABLE;
	if (stable && ((constant && nonstop) || trust_tsc))
		flags |= TARE_TSC_TRUSTED;
	return flags;
}
#else
static u32 clock_khz(void)
{
	return tare_arch_clock_khz();
}

static u32 clock_flags(void)
{
	return TARE_TSC_CONSTANT | TARE_TSC_NONSTOP | TARE_TSC_STABLE |
	       TARE_TSC_TRUSTED;
}
#endif

static int compare_u32(const void *a, const void *b)
{
	u32 x = *(const u32 *)a, y = *(const u32 *)b;

	return x < y ? -1 : x > y;
}

/* Back-to-back pairs: their difference is what one stamp adds. */
static int calibrate_stamp(void)
{
	unsigned long flags;
	u32 *cost;
	int i;

	cost = kcalloc(CALIBRATION_PAIRS, sizeof(*cost), GFP_KERNEL);
	if (!cost)
		return -ENOMEM;
	local_irq_save(flags);
	for (i = 0; i < CALIBRATION_PAIRS; i++) {
		u64 first = tare_stamp();

		cost[i] = tare_stamp() - first;
	}
	local_irq_restore(flags);
	sort(cost, CALIBRATION_PAIRS, sizeof(*cost), compare_u32, NULL);
	tare_clock.stamp_cost = cost[0];
	tare_clock.stamp_cost_median = cost[CALIBRATION_PAIRS / 2];
	kfree(cost);
	return 0;
}

/**
 * tare_clock_init() - calibrate at load, once
 *
 * Return: 0, -ENODEV when this CPU has no usable counter, or -ENOMEM.
 */
int tare_clock_init(void)
{
	tare_clock.khz = clock_khz();
	if (!tare_clock.khz) {
		pr_err("this CPU has no timestamp counter of known rate\n");
		return -ENODEV;
	}
	tare_clock.flags = clock_flags();
	tare_clock.scale = tare_scale_make(tare_clock.khz);
	tare_clock.early_spin_tsc = tare_ns_to_tsc(TARE_EARLY_SPIN_NS,
						   tare_clock.khz);
	if (!(tare_clock.flags & TARE_TSC_TRUSTED))
		pr_warn("the timestamp counter is not marked constant, nonstop and stable: figures hold on one pinned CPU only\n");
	return calibrate_stamp();
}

// SPDX-License-Identifier: GPL-2.0-only
/*
 * Test only: known weights above the device. Spins for `before` ticks where a
 * bio enters the block layer, and for `after` ticks where the block layer is
 * told that a request ended. What is put in must come out, in the right row.
 */
#include <linux/kprobes.h>
#include <linux/module.h>

#include "clock.h"

static unsigned long before;
module_param(before, ulong, 0644);
MODULE_PARM_DESC(before, "ticks to spend before issue");

static unsigned long after;
module_param(after, ulong, 0644);
MODULE_PARM_DESC(after, "ticks to spend after end");

static void spend(unsigned long ticks)
{
	u64 until = tare_stamp() + ticks;

	if (ticks)
		while (tare_stamp() < until)
			;
}

static int spend_before(struct kprobe *kp, struct pt_regs *regs)
{
	spend(READ_ONCE(before));
	return 0;
}

static int spend_after(struct kprobe *kp, struct pt_regs *regs)
{
	spend(READ_ONCE(after));
	return 0;
}

static struct kprobe probe_before = {
	.symbol_name	= "blk_mq_submit_bio",
	.pre_handler	= spend_before,
};

static struct kprobe probe_after = {
	.symbol_name	= "blk_mq_end_request",
	.pre_handler	= spend_after,
};

static int __init weight_init(void)
{
	int err;

	err = register_kprobe(&probe_before);
	if (err)
		return err;
	err = register_kprobe(&probe_after);
	if (err)
		unregister_kprobe(&probe_before);
	return err;
}

static void __exit weight_exit(void)
{
	unregister_kprobe(&probe_after);
	unregister_kprobe(&probe_before);
}

module_init(weight_init);
module_exit(weight_exit);

MODULE_AUTHOR("The tare authors");
MODULE_DESCRIPTION("Test only: known weights above a block device");
MODULE_LICENSE("GPL");

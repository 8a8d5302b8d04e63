// SPDX-License-Identifier: GPL-2.0-only
/*
 * tare_core: the engine of a block device whose own cost is known for every
 * request. Front ends (tare_blk) make disks of it.
 */
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/module.h>

#include "tare.h"

static int __init tare_init(void)
{
	int err;

	err = tare_clock_init();
	if (err)
		return err;
	err = tare_control_init();
	if (err)
		return err;
	err = tare_configfs_init();
	if (err)
		goto err_control;
	pr_info("counter at %u kHz, a stamp takes %u ticks\n", tare_clock.khz,
		tare_clock.stamp_cost);
	return 0;

err_control:
	tare_control_exit();
	return err;
}

static void __exit tare_exit(void)
{
	tare_configfs_exit();
	tare_control_exit();
}

module_init(tare_init);
module_exit(tare_exit);

MODULE_AUTHOR("The tare authors");
MODULE_DESCRIPTION("Engine of a block device that weighs the storage stack");
MODULE_LICENSE("GPL");
MODULE_VERSION(TARE_VERSION);

// SPDX-License-Identifier: GPL-2.0-only
/*
 * tare_blk: module parameters, one for each attribute of the table, and the
 * devices tare0… that they describe.
 */
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/module.h>
#include <linux/moduleparam.h>

#include "blk.h"

#define DEFAULT_DEVICES_MAX 64

static unsigned int nr_devices = 1;
static struct tare_device *devices[DEFAULT_DEVICES_MAX];

/* Parameters are set before init runs: the defaults must stand by then. */
#define TARE_INIT_NUM(def)	def
#define TARE_INIT_INT(def)	def
#define TARE_INIT_BOOL(def)	def
#define TARE_INIT_ENUM(def)	def
#define TARE_INIT_RANGES(def)	{ .n = def }
#define TARE_X_DEFAULT(name, type, def, min, max, class, help)		\
	.name = TARE_INIT_##type(def),
static struct tare_config params = {
	TARE_ATTRS(TARE_X_DEFAULT)
};

static int param_attr_set(const char *text, const struct kernel_param *kp)
{
	const struct tare_attr *attr = &tare_attrs[(unsigned long)kp->arg];
	s64 value;
	int err;

	if (attr->class == TARE_RO)
		return -EACCES;
	if (attr->type == TARE_RANGES)
		return tare_attr_parse_ranges(attr, KBUILD_MODNAME, text,
					      strlen(text),
					      tare_attr_ranges(&params, attr));
	err = tare_attr_parse(attr, KBUILD_MODNAME, text, &value);
	if (!err)
		*tare_attr_of(&params, attr) = value;
	return err;
}

static int param_attr_get(char *buf, const struct kernel_param *kp)
{
	const struct tare_attr *attr = &tare_attrs[(unsigned long)kp->arg];

	if (attr->type == TARE_RANGES)
		return tare_attr_format_ranges(tare_attr_ranges(&params, attr),
					       buf);
	return tare_attr_format(attr, *tare_attr_of(&params, attr), buf);
}

static const struct kernel_param_ops attr_ops = {
	.set = param_attr_set,
	.get = param_attr_get,
};

#define TARE_X_PARAM_LIVE(name, def, help)				\
	module_param_cb(name, &attr_ops, (void *)TARE_ATTR_##name, 0444); \
	MODULE_PARM_DESC(name, help " (default " def ")");
#define TARE_X_PARAM_QUIESCE(name, def, help)				\
	TARE_X_PARAM_LIVE(name, def, help)
#define TARE_X_PARAM_OFF(name, def, help)				\
	TARE_X_PARAM_LIVE(name, def, help)
#define TARE_X_PARAM_RO(name, def, help)

/*
 * A default of type ENUM is a constant in the table: say it as users do. What
 * has no line here does not compile.
 */
#define TARE_SAY_TARE_TIMER	"timer"
#define TARE_SAY_TARE_FIXED	"fixed"
#define TARE_SAY_TARE_STS_IOERR	"ioerr"
#define TARE_X_SAY_NUM(def)	__stringify(def)
#define TARE_X_SAY_INT(def)	__stringify(def)
#define TARE_X_SAY_BOOL(def)	__stringify(def)
#define TARE_X_SAY_ENUM(def)	TARE_SAY_##def
#define TARE_X_SAY_RANGES(def)	"none"

#define TARE_X_PARAM(name, type, def, min, max, class, help)		\
	TARE_X_PARAM_##class(name, TARE_X_SAY_##type(def), help)
TARE_ATTRS(TARE_X_PARAM)

module_param(nr_devices, uint, 0444);
MODULE_PARM_DESC(nr_devices,
		 "devices tare0... to make at load, 0 to 64 (default 1)");

static void defaults_remove(void)
{
	int i;

	for (i = 0; i < DEFAULT_DEVICES_MAX; i++)
		if (devices[i])
			tare_default_remove(devices[i]);
}

/* Whatever can be wrong with the parameters is found before anything is made. */
static int defaults_check(void)
{
	char name[16];
	unsigned int i;
	int err = 0;

	for (i = 0; i < nr_devices && !err; i++) {
		snprintf(name, sizeof(name), "tare%u", i);
		err = tare_default_check(name, &params);
	}
	return err;
}

/*
 * From the first device on, others may have a disk open or hold the front end:
 * a failure leaves what there is and does not fail the load.
 */
static void defaults_add(void)
{
	char name[16];
	unsigned int i;

	for (i = 0; i < nr_devices; i++) {
		struct tare_device *dev;

		snprintf(name, sizeof(name), "tare%u", i);
		dev = tare_default_add(name, &params);
		if (IS_ERR(dev)) {
			pr_err("%u of %u devices made, the next failed: %ld\n",
			       i, nr_devices, PTR_ERR(dev));
			return;
		}
		devices[i] = dev;
	}
}

static int __init tare_blk_init(void)
{
	int err;

	if (nr_devices > DEFAULT_DEVICES_MAX) {
		pr_err("nr_devices=%u refused, it is a number from 0 to %d\n",
		       nr_devices, DEFAULT_DEVICES_MAX);
		return -EINVAL;
	}
	if (tare_frontend_autoloading()) {
		pr_info("loaded for a device in configfs, makes none of its own\n");
		nr_devices = 0;
	}
	err = defaults_check();
	if (err)
		return err;
	err = tare_frontend_register(&tare_blk_frontend);
	if (err)
		return err;
	defaults_add();
	return 0;
}

static void __exit tare_blk_exit(void)
{
	defaults_remove();
	tare_frontend_unregister(&tare_blk_frontend);
}

module_init(tare_blk_init);
module_exit(tare_blk_exit);

MODULE_AUTHOR("The tare authors");
MODULE_DESCRIPTION("blk-mq disks of known cost, see tare_core");
MODULE_LICENSE("GPL");
MODULE_VERSION(TARE_VERSION);
MODULE_ALIAS("tare-frontend-blk");

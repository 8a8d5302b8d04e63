// SPDX-License-Identifier: GPL-2.0-only
/*
 * /dev/tare, root only: statistics, counters and records. Not sysfs, whose
 * files hold 4 KiB, nor debugfs, which Secure Boot locks down.
 */
#include <linux/fs.h>
#include <linux/miscdevice.h>
#include <linux/module.h>
#include <linux/mutex.h>
#include <linux/uaccess.h>

#include "record.h"
#include "stats.h"

struct control {
	struct mutex lock;		/* one ioctl at a time on a file */
	struct tare_recorder *recorder;
};

static int control_open(struct inode *inode, struct file *file)
{
	struct control *control = kzalloc(sizeof(*control), GFP_KERNEL);

	if (!control)
		return -ENOMEM;
	mutex_init(&control->lock);
	file->private_data = control;
	return 0;
}

static int control_release(struct inode *inode, struct file *file)
{
	struct control *control = file->private_data;

	tare_record_close(control->recorder);
	kfree(control);
	return 0;
}

static int control_mmap(struct file *file, struct vm_area_struct *vma)
{
	struct control *control = file->private_data;
	struct tare_recorder *rec;

	/* Set once, whole, and freed when no mapping holds the file any more. */
	rec = smp_load_acquire(&control->recorder);
	return rec ? tare_record_mmap(rec, vma) : -ENODEV;
}

/* The powered device of that name, locked; NULL: there is none. */
static struct tare_device *powered_get(char *name)
{
	struct tare_device *dev;

	name[TARE_NAME_MAX] = '\0';
	dev = tare_device_find(name);
	if (!dev)
		return NULL;
	mutex_lock(&dev->lock);
	if (dev->powered)
		return dev;
	mutex_unlock(&dev->lock);
	tare_device_put(dev);
	return NULL;
}

static void powered_put(struct tare_device *dev)
{
	mutex_unlock(&dev->lock);
	tare_device_put(dev);
}

static int control_info(void __user *arg)
{
	struct tare_info info = {
		.abi = TARE_ABI,
		.tsc_flags = tare_clock.flags,
		.tsc_khz = tare_clock.khz,
		.stamp_cost = tare_clock.stamp_cost,
		.stamp_cost_median = tare_clock.stamp_cost_median,
		.nr_cpu_ids = nr_cpu_ids,
	};

	return copy_to_user(arg, &info, sizeof(info)) ? -EFAULT : 0;
}

static int control_counters(void __user *arg)
{
	struct tare_counters_req req;
	struct tare_device *dev;

	if (copy_from_user(&req, arg, sizeof(req)))
		return -EFAULT;
	dev = powered_get(req.name);
	if (!dev)
		return -ENODEV;
	tare_stats_counters(dev, &req.counters);
	powered_put(dev);
	return copy_to_user(arg, &req, sizeof(req)) ? -EFAULT : 0;
}

static int read_op(struct tare_stats_req *req, struct tare_op_stats *sum,
		   struct tare_op_stats *scratch)
{
	struct tare_device *dev = powered_get(req->name);
	int err;

	if (!dev)
		return -ENODEV;
	err = tare_stats_read(dev, req->op, req->cpu, sum, scratch);
	powered_put(dev);
	return err;
}

static int control_stats(void __user *arg)
{
	struct tare_op_stats *stats;	/* [0] the sum, [1] one CPU's copy */
	struct tare_stats_req req;
	int err;

	if (copy_from_user(&req, arg, sizeof(req)))
		return -EFAULT;
	if (req.op >= TARE_NR_OPS || req.size != sizeof(*stats))
		return -EINVAL;
	stats = kvcalloc(2, sizeof(*stats), GFP_KERNEL);
	if (!stats)
		return -ENOMEM;
	err = read_op(&req, &stats[0], &stats[1]);
	if (!err && copy_to_user(u64_to_user_ptr(req.stats), &stats[0],
				 sizeof(stats[0])))
		err = -EFAULT;
	kvfree(stats);
	return err;
}

static int control_reset(void __user *arg)
{
	struct tare_name_req req;
	struct tare_device *dev;
	int err;

	if (copy_from_user(&req, arg, sizeof(req)))
		return -EFAULT;
	dev = powered_get(req.name);
	if (!dev)
		return -ENODEV;
	err = tare_stats_reset(dev);
	powered_put(dev);
	return err;
}

static int control_record(struct control *control, void __user *arg)
{
	struct tare_record_req req;
	struct tare_recorder *rec = control->recorder;
	int err;

	if (copy_from_user(&req, arg, sizeof(req)))
		return -EFAULT;
	req.name[TARE_NAME_MAX] = '\0';
	if (req.reserved)
		return -EINVAL;
	err = tare_record_open(&rec, &req);
	if (err)
		return err;
	/* Whole for mmap; from here on closing the file ends it. */
	smp_store_release(&control->recorder, rec);
	return copy_to_user(arg, &req, sizeof(req)) ? -EFAULT : 0;
}

static long control_ioctl(struct file *file, unsigned int cmd,
			  unsigned long arg)
{
	struct control *control = file->private_data;
	void __user *p = (void __user *)arg;
	long err;

	if (mutex_lock_interruptible(&control->lock))
		return -EINTR;
	switch (cmd) {
	case TARE_IOC_INFO:
		err = control_info(p);
		break;
	case TARE_IOC_COUNTERS:
		err = control_counters(p);
		break;
	case TARE_IOC_STATS:
		err = control_stats(p);
		break;
	case TARE_IOC_RESET:
		err = control_reset(p);
		break;
	case TARE_IOC_RECORD:
		err = control_record(control, p);
		break;
	default:
		err = -ENOTTY;
	}
	mutex_unlock(&control->lock);
	return err;
}

static const struct file_operations control_fops = {
	.owner		= THIS_MODULE,
	.open		= control_open,
	.release	= control_release,
	.unlocked_ioctl	= control_ioctl,
	.compat_ioctl	= compat_ptr_ioctl,
	.mmap		= control_mmap,
	.llseek		= noop_llseek,
};

static struct miscdevice control_dev = {
	.minor	= MISC_DYNAMIC_MINOR,
	.name	= "tare",
	.fops	= &control_fops,
	.mode	= 0600,
};

/**
 * tare_control_init() - make /dev/tare
 *
 * Return: 0 or a negative error code.
 */
int tare_control_init(void)
{
	return misc_register(&control_dev);
}

/**
 * tare_control_exit() - take /dev/tare away; nobody has it open
 */
void tare_control_exit(void)
{
	misc_deregister(&control_dev);
}

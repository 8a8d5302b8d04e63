// SPDX-License-Identifier: GPL-2.0-only
/*
 * Life of a recorder: made by an ioctl on /dev/tare, ended by closing it.
 */
#include <linux/log2.h>
#include <linux/mm.h>
#include <linux/module.h>
#include <linux/vmalloc.h>

#include "record.h"

DEFINE_STATIC_KEY_FALSE(tare_recording);
EXPORT_SYMBOL_GPL(tare_recording);
DEFINE_STATIC_KEY_FALSE(tare_watched);
EXPORT_SYMBOL_GPL(tare_watched);

#define RECORD_ENTRIES_MIN	64
#define RECORD_ENTRIES_MAX	(4 << 20)
#define RECORD_BYTES_MAX	(4ULL << 30)

/* User space relies on these. */
static_assert(sizeof(struct tare_record) == 128);
static_assert(sizeof(struct tare_ring) <= TARE_RING_HEADER);

static void rings_free(struct tare_recorder *rec)
{
	int cpu;

	for_each_possible_cpu(cpu)
		vfree(rec->ring[cpu]);
	kvfree(rec);
}

static struct tare_recorder *rings_alloc(u64 entries)
{
	struct tare_recorder *rec;
	int cpu;

	rec = kvzalloc(struct_size(rec, ring, nr_cpu_ids), GFP_KERNEL);
	if (!rec)
		return NULL;
	rec->entries = entries;
	rec->stride = PAGE_ALIGN(TARE_RING_HEADER +
				 entries * sizeof(struct tare_record));
	for_each_possible_cpu(cpu) {
		rec->ring[cpu] = vmalloc_user(rec->stride);
		if (!rec->ring[cpu]) {
			rings_free(rec);
			return NULL;
		}
		rec->ring[cpu]->entries = entries;
	}
	return rec;
}

/* Puts a recorder in place, or takes it away, while no request is inside. */
static void recorder_switch(struct tare_device *dev, struct tare_recorder *rec)
{
	unsigned int cookie;

	cookie = dev->frontend->quiesce(dev);
	dev->recorder = rec;
	dev->frontend->unquiesce(dev, cookie);
}

static int recorder_attach(struct tare_device *dev, struct tare_recorder *rec)
{
	int err = 0;

	mutex_lock(&dev->lock);
	if (!dev->powered)
		err = -ENODEV;
	else if (dev->recorder)
		err = -EBUSY;
	else
		recorder_switch(dev, rec);
	mutex_unlock(&dev->lock);
	return err;
}

/**
 * tare_record_open() - start recording a device
 * @slot: where the open file keeps its recorder, NULL so far
 * @req: name and size; stride and number of rings are filled in
 *
 * The caller lets only one call at a time in for a file.
 *
 * Return: 0; -EBUSY when the file or the device has a recorder; -EINVAL for a
 * bad size; -ENODEV; -ENOMEM.
 */
int tare_record_open(struct tare_recorder **slot, struct tare_record_req *req)
{
	struct tare_recorder *rec;
	struct tare_device *dev;
	int err;

	if (*slot)
		return -EBUSY;
	if (!is_power_of_2(req->entries) || req->entries < RECORD_ENTRIES_MIN ||
	    req->entries > RECORD_ENTRIES_MAX)
		return -EINVAL;
	if (req->entries * sizeof(struct tare_record) * num_possible_cpus() >
	    RECORD_BYTES_MAX)
		return -EINVAL;
	dev = tare_device_find(req->name);
	if (!dev)
		return -ENODEV;
	rec = rings_alloc(req->entries);
	if (!rec) {
		err = -ENOMEM;
		goto err_put;
	}
	rec->dev = dev;
	static_branch_inc(&tare_recording);
	static_branch_inc(&tare_watched);
	err = recorder_attach(dev, rec);
	if (err)
		goto err_rings;
	req->stride = rec->stride;
	req->nr_rings = nr_cpu_ids;
	*slot = rec;
	return 0;

err_rings:
	static_branch_dec(&tare_watched);
	static_branch_dec(&tare_recording);
	rings_free(rec);
err_put:
	tare_device_put(dev);
	return err;
}

/**
 * tare_record_close() - stop recording; the file is being closed
 * @rec: the file's recorder, or NULL
 */
void tare_record_close(struct tare_recorder *rec)
{
	struct tare_device *dev;

	if (!rec)
		return;
	dev = rec->dev;
	mutex_lock(&dev->lock);
	/* Power-off has taken it away already when it is not there. */
	if (dev->recorder == rec)
		recorder_switch(dev, NULL);
	mutex_unlock(&dev->lock);
	static_branch_dec(&tare_watched);
	static_branch_dec(&tare_recording);
	rings_free(rec);
	tare_device_put(dev);
}

/**
 * tare_record_mmap() - map one CPU's ring
 * @rec: the file's recorder
 * @vma: offset is CPU * stride, length at most stride
 *
 * Return: 0 or -EINVAL.
 */
int tare_record_mmap(struct tare_recorder *rec, struct vm_area_struct *vma)
{
	u64 offset = (u64)vma->vm_pgoff << PAGE_SHIFT;
	u64 cpu = div64_u64(offset, rec->stride);

	if (offset != cpu * rec->stride || cpu >= nr_cpu_ids ||
	    !rec->ring[cpu])
		return -EINVAL;
	return remap_vmalloc_range(vma, rec->ring[cpu], 0);
}

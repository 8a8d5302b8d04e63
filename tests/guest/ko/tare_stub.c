// SPDX-License-Identifier: GPL-2.0-only
/*
 * Test only: the floor. A disk (/dev/tarestub) that starts and ends each
 * request and does nothing else, so that its gross is the stack's own cost.
 */
#include <linux/blk-mq.h>
#include <linux/blkdev.h>
#include <linux/module.h>

#include "compat.h"

static struct blk_mq_tag_set tags;
static struct gendisk *disk;

static blk_status_t stub_queue_rq(struct blk_mq_hw_ctx *hctx,
				  const struct blk_mq_queue_data *bd)
{
	blk_mq_start_request(bd->rq);
	blk_mq_end_request(bd->rq, BLK_STS_OK);
	return BLK_STS_OK;
}

/* As tare_blk has it: the block layer's way to a driver depends on it. */
static void stub_queue_rqs(TARE_RQ_LIST *list)
{
	struct request *rq;

	while ((rq = rq_list_pop(list))) {
		tare_rq_taken(rq);
		blk_mq_start_request(rq);
		blk_mq_end_request(rq, BLK_STS_OK);
	}
}

static const struct blk_mq_ops stub_ops = {
	.queue_rq	= stub_queue_rq,
	.queue_rqs	= stub_queue_rqs,
};

static const struct block_device_operations stub_fops = {
	.owner	= THIS_MODULE,
};

static int __init stub_init(void)
{
	const struct tare_limits lim = {
		.block_size	= 512,
		.max_sectors	= 2560,
		.max_segments	= 128,
	};
	int err;

	tags.ops = &stub_ops;
	tags.nr_hw_queues = 1;
	tags.queue_depth = 64;
	tags.numa_node = NUMA_NO_NODE;
	tags.flags = TARE_MQ_FLAGS;
	err = blk_mq_alloc_tag_set(&tags);
	if (err)
		return err;
	disk = tare_alloc_disk(&tags, &lim, NULL);
	if (IS_ERR(disk)) {
		err = PTR_ERR(disk);
		goto err_tags;
	}
	disk->fops = &stub_fops;
	strscpy(disk->disk_name, "tarestub", sizeof(disk->disk_name));
	set_capacity(disk, 1024 << 11);
	err = add_disk(disk);
	if (err)
		goto err_disk;
	return 0;

err_disk:
	put_disk(disk);
err_tags:
	blk_mq_free_tag_set(&tags);
	return err;
}

static void __exit stub_exit(void)
{
	del_gendisk(disk);
	put_disk(disk);
	blk_mq_free_tag_set(&tags);
}

module_init(stub_init);
module_exit(stub_exit);

MODULE_AUTHOR("The tare authors");
MODULE_DESCRIPTION("Test only: a disk that starts and ends requests");
MODULE_LICENSE("GPL");

/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What a memory-backed device holds: sparse, in pages of 4 KiB. Nothing here
 * sleeps while requests run, and only requests on the same page wait for each
 * other.
 */
#ifndef TARE_STORE_H
#define TARE_STORE_H

#include <linux/blk-mq.h>
#include <linux/types.h>

struct tare_store;

struct tare_store *tare_store_create(u64 size_mb, int node, bool prealloc);
void tare_store_destroy(struct tare_store *store);
blk_status_t tare_store_transfer(struct tare_store *store, struct request *rq,
				 unsigned int bytes);
void tare_store_erase(struct tare_store *store, struct request *rq);
u64 tare_store_pages(struct tare_store *store);

#endif

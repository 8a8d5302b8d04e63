// SPDX-License-Identifier: GPL-2.0-only
/*
 * The backing store: an array of leaves, a leaf is a page of slots, a slot
 * holds the address of a data page and, in bit 0, the lock of that page. A
 * page is only reached under its lock, so erasing needs no grace period.
 */
#include <linux/highmem.h>
#include <linux/mempool.h>
#include <linux/mm.h>
#include <linux/module.h>
#include <linux/percpu_counter.h>
#include <linux/sched/signal.h>
#include <linux/vmalloc.h>

/* Wants cpu_relax() declared. */
#include <linux/bit_spinlock.h>

#include "store.h"

#define STORE_SHIFT		12
#define STORE_SIZE		BIT(STORE_SHIFT)
#define SLOTS_SHIFT		(PAGE_SHIFT - ilog2(sizeof(unsigned long)))
#define SLOTS			BIT(SLOTS_SHIFT)
#define SLOT_LOCK		0

/* Pages kept back for writes that find no free memory at once. */
#define STORE_RESERVE		256

/* Counted per CPU; added up by who asks. */
#define STORE_COUNT_BATCH	(S32_MAX / 2)

struct tare_store {
	unsigned long nr_leaves;
	int node;
	mempool_t *pool;
	struct percpu_counter pages;
	unsigned long *leaf[];		/* SLOTS each; NULL: nothing there */
};

static_assert(PAGE_SIZE >= STORE_SIZE);

static void *pool_alloc(gfp_t gfp, void *node)
{
	return alloc_pages_node((long)node, gfp, 0);
}

static void pool_free(void *page, void *node)
{
	__free_page(page);
}

/*
 * The store's pages cannot be taken back by anybody: it stops growing where
 * the rest of the machine would be left with less than a sixteenth.
 */
static bool store_may_grow(void)
{
	unsigned long left = global_zone_page_state(NR_FREE_PAGES) +
			     global_node_page_state(NR_INACTIVE_FILE) +
			     global_node_page_state(NR_ACTIVE_FILE);

	return left > totalram_pages() / 16;
}

/* The pool's own allocation would wait for ever where it may sleep. */
static struct page *store_alloc(struct tare_store *store, gfp_t gfp)
{
	if (!store_may_grow())
		return NULL;
	if (gfpflags_allow_blocking(gfp))
		return alloc_pages_node(store->node, gfp | __GFP_NOWARN, 0);
	return mempool_alloc(store->pool, gfp | __GFP_NOWARN);
}

static void store_free(struct tare_store *store, unsigned long slot)
{
	slot &= ~BIT(SLOT_LOCK);
	if (!slot)
		return;
	mempool_free(virt_to_page((void *)slot), store->pool);
	percpu_counter_add_batch(&store->pages, -1, STORE_COUNT_BATCH);
}

/* The leaf at @index, made when it is missing; NULL when memory is out. */
static unsigned long *leaf_get(struct tare_store *store, unsigned long index,
			       gfp_t gfp)
{
	unsigned long *leaf = READ_ONCE(store->leaf[index]), *seen;
	struct page *page;

	if (likely(leaf))
		return leaf;
	page = store_alloc(store, gfp);
	if (!page)
		return NULL;
	leaf = page_address(page);
	clear_page(leaf);
	seen = cmpxchg(&store->leaf[index], NULL, leaf);
	if (!seen)
		return leaf;
	mempool_free(page, store->pool);
	return seen;
}

static void *slot_data(unsigned long slot)
{
	return (void *)(slot & ~BIT(SLOT_LOCK));
}

/*
 * Gives a slot a page of zeros if it has none. The allocation takes locks of
 * its own, which real-time kernels allow only outside the slot's.
 */
static bool slot_fill(struct tare_store *store, unsigned long *slot, gfp_t gfp)
{
	struct page *page = store_alloc(store, gfp);

	if (!page)
		return false;
	clear_page(page_address(page));
	bit_spin_lock(SLOT_LOCK, slot);
	if (likely(!slot_data(*slot))) {
		*slot |= (unsigned long)page_address(page);
		page = NULL;
	}
	bit_spin_unlock(SLOT_LOCK, slot);
	if (likely(!page))
		percpu_counter_add_batch(&store->pages, 1, STORE_COUNT_BATCH);
	else
		mempool_free(page, store->pool);	/* somebody was faster */
	return true;
}

/*
 * copy_page() moves words; memcpy() of a page is a string of bytes, which the
 * exact mode counts one by one.
 */
static void copy_in(void *to, const void *from, unsigned int bytes)
{
	if (bytes == PAGE_SIZE)
		copy_page(to, (void *)from);
	else
		memcpy(to, from, bytes);
}

static blk_status_t write_piece(struct tare_store *store, u64 pos,
				const void *from, unsigned int bytes)
{
	u64 index = pos >> STORE_SHIFT;
	unsigned long *leaf, *slot;
	void *data;

	leaf = leaf_get(store, index >> SLOTS_SHIFT, GFP_NOWAIT);
	if (!leaf)
		return BLK_STS_RESOURCE;
	slot = &leaf[index & (SLOTS - 1)];
	for (;;) {
		bit_spin_lock(SLOT_LOCK, slot);
		data = slot_data(*slot);
		if (likely(data))
			copy_in(data + (pos & (STORE_SIZE - 1)), from, bytes);
		bit_spin_unlock(SLOT_LOCK, slot);
		if (likely(data))
			return BLK_STS_OK;
		if (!slot_fill(store, slot, GFP_NOWAIT))
			return BLK_STS_RESOURCE;
	}
}

static void read_piece(struct tare_store *store, u64 pos, void *to,
		       unsigned int bytes)
{
	u64 index = pos >> STORE_SHIFT;
	unsigned long *leaf, *slot;
	void *data;

	leaf = READ_ONCE(store->leaf[index >> SLOTS_SHIFT]);
	if (!leaf) {
		memset(to, 0, bytes);
		return;
	}
	slot = &leaf[index & (SLOTS - 1)];
	bit_spin_lock(SLOT_LOCK, slot);
	data = slot_data(*slot);
	if (data)
		copy_in(to, data + (pos & (STORE_SIZE - 1)), bytes);
	else
		memset(to, 0, bytes);
	bit_spin_unlock(SLOT_LOCK, slot);
}

/* One segment of a request, cut where the store's pages end. */
static blk_status_t transfer_segment(struct tare_store *store, u64 pos,
				     struct bio_vec *bv, bool write)
{
	unsigned int done = 0;
	blk_status_t status = BLK_STS_OK;
	void *buf = kmap_local_page(bv->bv_page) + bv->bv_offset;

	while (done < bv->bv_len && status == BLK_STS_OK) {
		unsigned int room = STORE_SIZE - (pos & (STORE_SIZE - 1));
		unsigned int bytes = min(room, bv->bv_len - done);

		if (write)
			status = write_piece(store, pos, buf + done, bytes);
		else
			read_piece(store, pos, buf + done, bytes);
		pos += bytes;
		done += bytes;
	}
	kunmap_local(buf);
	return status;
}

/**
 * tare_store_transfer() - move the data of a read or write
 * @store: the device's
 * @rq: inside the device's capacity
 * @bytes: how many of them, from the first one on
 *
 * Return: BLK_STS_OK; BLK_STS_RESOURCE when a write found no memory, then the
 * whole request can be tried again.
 */
blk_status_t tare_store_transfer(struct tare_store *store, struct request *rq,
				 unsigned int bytes)
{
	u64 pos = (u64)blk_rq_pos(rq) << SECTOR_SHIFT;
	bool write = op_is_write(req_op(rq));
	struct req_iterator iter;
	struct bio_vec bv;
	blk_status_t status;

	rq_for_each_segment(bv, rq, iter) {
		if (unlikely(!bytes))
			return BLK_STS_OK;
		/* The iterator goes on from where this ends. */
		if (unlikely(bv.bv_len > bytes))
			bv.bv_len = bytes;
		status = transfer_segment(store, pos, &bv, write);
		if (status != BLK_STS_OK)
			return status;
		pos += bv.bv_len;
		bytes -= bv.bv_len;
	}
	return BLK_STS_OK;
}
EXPORT_SYMBOL_GPL(tare_store_transfer);

static void erase_piece(struct tare_store *store, unsigned long *slot,
			unsigned int offset, unsigned int bytes)
{
	unsigned long old = 0;
	void *data;

	/* Nothing there, and nobody is about to put something there. */
	if (!READ_ONCE(*slot))
		return;
	bit_spin_lock(SLOT_LOCK, slot);
	data = slot_data(*slot);
	if (data && bytes == STORE_SIZE) {
		old = (unsigned long)data;
		*slot = BIT(SLOT_LOCK);
	} else if (data) {
		memset(data + offset, 0, bytes);
	}
	bit_spin_unlock(SLOT_LOCK, slot);
	store_free(store, old);
}

/**
 * tare_store_erase() - discard or write zeroes: whole pages are freed, parts
 * of pages become zero
 * @store: the device's
 * @rq: inside the device's capacity, of bounded size
 */
void tare_store_erase(struct tare_store *store, struct request *rq)
{
	u64 pos = (u64)blk_rq_pos(rq) << SECTOR_SHIFT;
	u64 end = pos + blk_rq_bytes(rq);

	while (pos < end) {
		u64 index = pos >> STORE_SHIFT;
		unsigned long *leaf = READ_ONCE(store->leaf[index >> SLOTS_SHIFT]);
		unsigned int offset = pos & (STORE_SIZE - 1);
		unsigned int bytes = min_t(u64, STORE_SIZE - offset, end - pos);

		if (leaf)
			erase_piece(store, &leaf[index & (SLOTS - 1)], offset,
				    bytes);
		else
			bytes = min_t(u64, end - pos,
				      ((u64)SLOTS << STORE_SHIFT) -
				      (pos & (((u64)SLOTS << STORE_SHIFT) - 1)));
		pos += bytes;
	}
}
EXPORT_SYMBOL_GPL(tare_store_erase);

/**
 * tare_store_pages() - data pages in use now
 * @store: the device's, or NULL
 */
u64 tare_store_pages(struct tare_store *store)
{
	return store ? percpu_counter_sum_positive(&store->pages) : 0;
}

/* Fails rather than make the machine kill something for it. */
static int store_prealloc(struct tare_store *store, u64 nr_pages)
{
	gfp_t gfp = GFP_KERNEL | __GFP_NORETRY;
	u64 i;

	for (i = 0; i < nr_pages; i++) {
		unsigned long *leaf = leaf_get(store, i >> SLOTS_SHIFT, gfp);

		if (!leaf || !slot_fill(store, &leaf[i & (SLOTS - 1)], gfp))
			return -ENOMEM;
		if (fatal_signal_pending(current))
			return -EINTR;
		cond_resched();
	}
	return 0;
}

/**
 * tare_store_create() - an empty store
 * @size_mb: capacity in MiB, at most TARE_STORE_MAX_MB
 * @node: NUMA node for it, or NUMA_NO_NODE
 * @prealloc: fill it with zeroed pages now
 *
 * Return: the store, or an ERR_PTR of -ENOMEM or -EINTR.
 */
struct tare_store *tare_store_create(u64 size_mb, int node, bool prealloc)
{
	u64 nr_pages = size_mb << (20 - STORE_SHIFT);
	unsigned long nr_leaves = DIV_ROUND_UP(nr_pages, SLOTS);
	struct tare_store *store;
	int err = -ENOMEM;

	store = kvzalloc_node(struct_size(store, leaf, nr_leaves),
			      GFP_KERNEL | __GFP_NOWARN, node);
	if (!store)
		return ERR_PTR(-ENOMEM);
	store->nr_leaves = nr_leaves;
	store->node = node;
	store->pool = mempool_create_node(STORE_RESERVE, pool_alloc, pool_free,
					  (void *)(long)node, GFP_KERNEL, node);
	if (!store->pool)
		goto err_free;
	if (percpu_counter_init(&store->pages, 0, GFP_KERNEL))
		goto err_pool;
	if (prealloc) {
		err = store_prealloc(store, nr_pages);
		if (err)
			goto err_fill;
	}
	return store;

err_fill:
	tare_store_destroy(store);
	return ERR_PTR(err);
err_pool:
	mempool_destroy(store->pool);
err_free:
	kvfree(store);
	return ERR_PTR(err);
}

/**
 * tare_store_destroy() - free everything
 * @store: without requests, or NULL
 */
void tare_store_destroy(struct tare_store *store)
{
	unsigned long i;
	unsigned int j;

	if (!store)
		return;
	for (i = 0; i < store->nr_leaves; i++) {
		if (!store->leaf[i])
			continue;
		for (j = 0; j < SLOTS; j++)
			store_free(store, store->leaf[i][j]);
		mempool_free(virt_to_page(store->leaf[i]), store->pool);
		cond_resched();
	}
	percpu_counter_destroy(&store->pages);
	mempool_destroy(store->pool);
	kvfree(store);
}

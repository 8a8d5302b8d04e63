/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The device as the engine sees it. Front ends (blk.c) and the engine share
 * these structures; what a front end needs of its own hangs on ->fe_data.
 */
#ifndef TARE_H
#define TARE_H

#include <linux/blk-mq.h>
#include <linux/configfs.h>
#include <linux/jump_label.h>
#include <linux/list.h>
#include <linux/llist.h>
#include <linux/mutex.h>
#include <linux/nodemask.h>

#include "clock.h"
#include "compat.h"
#include "fault.h"
#include "model.h"
#include "ranges.h"
#include "uapi/tare.h"

/* One member per attribute: ranges or a number; home_node is sign-extended. */
#define TARE_MEMBER_NUM		s64
#define TARE_MEMBER_INT		s64
#define TARE_MEMBER_BOOL	s64
#define TARE_MEMBER_ENUM	s64
#define TARE_MEMBER_RANGES	struct tare_ranges
#define TARE_X_MEMBER(name, type, def, min, max, class, help)		\
	TARE_MEMBER_##type name;
struct tare_config {
	TARE_ATTRS(TARE_X_MEMBER)
};

enum tare_attr_type { TARE_NUM, TARE_INT, TARE_BOOL, TARE_ENUM, TARE_RANGES };
enum tare_attr_class { TARE_LIVE, TARE_QUIESCE, TARE_OFF, TARE_RO };

/* A row of the attribute table, see uapi/tare_attrs.h. */
struct tare_attr {
	const char *name;
	const char *help;
	const char * const *names;	/* of an ENUM, max + 1 of them */
	s64 def;
	s64 min;
	s64 max;
	u16 offset;		/* of the member in struct tare_config */
	u8 type;		/* enum tare_attr_type */
	u8 class;		/* enum tare_attr_class */
};

#define TARE_X_ID(name, type, def, min, max, class, help) TARE_ATTR_##name,
enum tare_attr_id {
	TARE_ATTRS(TARE_X_ID)
	TARE_NR_ATTRS
};

extern const struct tare_attr tare_attrs[TARE_NR_ATTRS];

/* Of any type but RANGES. */
static inline s64 *tare_attr_of(struct tare_config *config,
				const struct tare_attr *attr)
{
	return (s64 *)((char *)config + attr->offset);
}

static inline struct tare_ranges *tare_attr_ranges(struct tare_config *config,
						   const struct tare_attr *attr)
{
	return (struct tare_ranges *)((char *)config + attr->offset);
}

/* Hardware queues for what is not polled. */
static inline unsigned int tare_submit_queues(const struct tare_config *config)
{
	return config->use_per_node_hctx ? num_online_nodes() :
					   config->submit_queues;
}

struct tare_device;

/*
 * A front end: what makes the engine's requests out of a disk. Called with
 * the device's lock held, outside the I/O path.
 */
struct tare_frontend {
	const char *name;
	struct module *owner;
	/* Makes the disk; requests may come before it returns. */
	int (*create)(struct tare_device *dev);
	/* Nobody may open it any more; -EBUSY when somebody has. */
	int (*claim)(struct tare_device *dev);
	/* After claim(): takes it away, waits for its requests. */
	void (*destroy)(struct tare_device *dev);
	/* No request is in the driver between these two. */
	unsigned int (*quiesce)(struct tare_device *dev);
	void (*unquiesce)(struct tare_device *dev, unsigned int cookie);
};

/*
 * One request while the driver has it. The shortest way through the driver
 * keeps its stamps in registers and fills in nothing but dev.
 */
struct tare_cmd {
	struct tare_device *dev;
	u64 issue;
	u64 start;
	u64 due;
	u64 ready;
	u64 fire;
	u64 done;
	u16 issue_cpu;
	u16 fire_cpu;
	u8 op;			/* enum tare_op */
	u8 flags;		/* TARE_REC_EARLY or 0 */
	u16 retries;		/* of a write that found no memory */
	blk_status_t status;
	struct llist_node node;	/* on its way to a completion thread */
	bool given_back;	/* by an injected fault, and not offered since */
	bool stuck;		/* ->timeout ends it, and nobody else */
	u32 move_bytes;		/* of a request that fails: what the store does */
	struct hrtimer timer;
};

struct tare_cpu_stats;
struct tare_shape;
struct tare_store;
struct tare_recorder;
struct tare_spin;

struct tare_device {
	/*
	 * What every request reads; constant or rarely written. One cache line
	 * up to the model's service times.
	 */
	struct tare_cpu_stats __percpu *stats;
	struct tare_store *store;	/* NULL: not memory-backed */
	struct tare_recorder *recorder;	/* changes while quiesced */
	u8 completion;			/* enum tare_completion; quiesce class */
	bool long_way;			/* more to do than take inline's stamps */
	bool shaped;			/* service time is more than a constant */
	struct tare_model model;
	struct tare_shape *shape;
	struct tare_spin *spin;		/* with TARE_SPIN; changes while quiesced */
	u64 timer_slack_tsc;
	u64 spin_idle_tsc;
	struct tare_fault fault;

	/* Everything below belongs to configuration, under ->lock. */
	struct mutex lock;
	struct tare_config config;
	bool powered;
	bool removed;			/* left configfs: power stays 0 */
	bool is_default;		/* made by module parameters */
	bool claimed;			/* ->open refuses */
	const struct tare_frontend *frontend;
	void *fe_data;

	struct config_group group;	/* name and reference count */
	struct list_head link;		/* in the list of all devices */
};

static inline const char *tare_name(const struct tare_device *dev)
{
	return dev->group.cg_item.ci_name;
}

static inline void tare_device_put(struct tare_device *dev)
{
	config_item_put(&dev->group.cg_item);
}

/* Somebody records; somebody records or traces. */
DECLARE_STATIC_KEY_FALSE(tare_recording);
DECLARE_STATIC_KEY_FALSE(tare_watched);

/* attr.c */
void tare_config_defaults(struct tare_config *config);
int tare_attr_parse(const struct tare_attr *attr, const char *who,
		    const char *text, s64 *value);
int tare_attr_parse_ranges(const struct tare_attr *attr, const char *who,
			   const char *text, size_t len,
			   struct tare_ranges *ranges);
void tare_attr_complain_ranges(const struct tare_attr *attr, const char *who,
			       const char *text, size_t len, int err);
int tare_attr_format(const struct tare_attr *attr, s64 value, char *buf);
int tare_attr_format_ranges(const struct tare_ranges *ranges, char *buf);
int tare_config_check(const struct tare_config *config, const char *who,
		      bool new_mode);

/* device.c */
struct tare_device *tare_device_new(void);
void tare_device_publish(struct tare_device *dev);
void tare_device_forget(struct tare_device *dev);
void tare_device_free(struct tare_device *dev);
struct tare_device *tare_device_find(const char *name);
int tare_name_check(const char *name);
int tare_device_set(struct tare_device *dev, const struct tare_attr *attr,
		    s64 value);
int tare_device_set_bad(struct tare_device *dev, const char *text, size_t len);
int tare_device_power(struct tare_device *dev, bool on);
int tare_frontend_register(const struct tare_frontend *frontend);
void tare_frontend_unregister(const struct tare_frontend *frontend);
bool tare_frontend_autoloading(void);

/* config.c */
int tare_configfs_init(void);
void tare_configfs_exit(void);
int tare_configfs_depend(struct tare_device *dev);
void tare_configfs_undepend(struct tare_device *dev);
int tare_default_check(const char *name, const struct tare_config *config);
struct tare_device *tare_default_add(const char *name,
				     const struct tare_config *config);
void tare_default_remove(struct tare_device *dev);

/* control.c */
int tare_control_init(void);
void tare_control_exit(void);

#endif

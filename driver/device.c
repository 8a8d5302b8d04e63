// SPDX-License-Identifier: GPL-2.0-only
/*
 * A device's life: made without power, configured, switched on and off, gone.
 * The list of front ends is here too.
 */
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/kmod.h>
#include <linux/module.h>
#include <linux/namei.h>

#include "record.h"
#include "shape.h"
#include "spin.h"
#include "stats.h"
#include "store.h"
#include "tare.h"

static LIST_HEAD(devices);
static DEFINE_MUTEX(devices_lock);

#define FRONTENDS_MAX 2
static const struct tare_frontend *frontends[FRONTENDS_MAX];
static DEFINE_MUTEX(frontends_lock);
static atomic_t autoloading;

/**
 * tare_frontend_register() - a front end's module is there
 * @frontend: stays valid until it is unregistered
 *
 * Return: 0 or -ENOSPC.
 */
int tare_frontend_register(const struct tare_frontend *frontend)
{
	int i, err = -ENOSPC;

	mutex_lock(&frontends_lock);
	for (i = 0; i < FRONTENDS_MAX && err; i++) {
		if (frontends[i])
			continue;
		frontends[i] = frontend;
		err = 0;
	}
	mutex_unlock(&frontends_lock);
	return err;
}
EXPORT_SYMBOL_GPL(tare_frontend_register);

/**
 * tare_frontend_unregister() - a front end's module goes
 * @frontend: no device uses it
 */
void tare_frontend_unregister(const struct tare_frontend *frontend)
{
	int i;

	mutex_lock(&frontends_lock);
	for (i = 0; i < FRONTENDS_MAX; i++)
		if (frontends[i] == frontend)
			frontends[i] = NULL;
	mutex_unlock(&frontends_lock);
}
EXPORT_SYMBOL_GPL(tare_frontend_unregister);

/**
 * tare_frontend_autoloading() - was the front end asked for by a device?
 *
 * Then its module makes no device of its own.
 */
bool tare_frontend_autoloading(void)
{
	return atomic_read(&autoloading);
}
EXPORT_SYMBOL_GPL(tare_frontend_autoloading);

static const struct tare_frontend *frontend_find(const char *name, bool hold)
{
	const struct tare_frontend *found = NULL;
	int i;

	mutex_lock(&frontends_lock);
	for (i = 0; i < FRONTENDS_MAX; i++)
		if (frontends[i] && !strcmp(frontends[i]->name, name))
			found = frontends[i];
	if (found && hold && !try_module_get(found->owner))
		found = NULL;
	mutex_unlock(&frontends_lock);
	return found;
}

/*
 * A device made in configfs holds its front end's module while it has power;
 * one made by the module's own parameters must not.
 */
static const struct tare_frontend *frontend_get(const char *name, bool hold)
{
	const struct tare_frontend *found = frontend_find(name, hold);

	if (found)
		return found;
	atomic_inc(&autoloading);
	request_module("tare-frontend-%s", name);
	atomic_dec(&autoloading);
	return frontend_find(name, hold);
}

static void frontend_put(const struct tare_frontend *frontend, bool held)
{
	if (held)
		module_put(frontend->owner);
}

static void device_apply(struct tare_device *dev)
{
	const struct tare_config *c = &dev->config;

	tare_shape_apply(dev);
	dev->timer_slack_tsc = tare_ns_to_tsc(c->timer_slack_spin_ns,
					      tare_clock.khz);
	dev->spin_idle_tsc = tare_ns_to_tsc(c->spin_idle_us * NSEC_PER_USEC,
					    tare_clock.khz);
	dev->completion = c->completion;
	WRITE_ONCE(dev->shaped, dev->model.shaped);
	tare_fault_apply(dev);
	WRITE_ONCE(dev->long_way, c->completion != TARE_INLINE || dev->store ||
		   c->poll_queues || dev->model.shaped || dev->fault.on);
}

/**
 * tare_device_new() - a device without power, every attribute at its default
 *
 * Its name and reference count come with the group. Return: the device or NULL.
 */
struct tare_device *tare_device_new(void)
{
	struct tare_device *dev = kzalloc(sizeof(*dev), GFP_KERNEL);

	if (!dev)
		return NULL;
	mutex_init(&dev->lock);
	INIT_LIST_HEAD(&dev->link);
	tare_fault_init(&dev->fault);
	tare_config_defaults(&dev->config);
	return dev;
}

/**
 * tare_device_publish() - from here on it can be found by its name
 * @dev: with its name
 */
void tare_device_publish(struct tare_device *dev)
{
	mutex_lock(&devices_lock);
	list_add_tail(&dev->link, &devices);
	mutex_unlock(&devices_lock);
}

/**
 * tare_device_forget() - it cannot be found or switched on any more
 * @dev: leaves configfs
 */
void tare_device_forget(struct tare_device *dev)
{
	mutex_lock(&devices_lock);
	list_del_init(&dev->link);
	mutex_unlock(&devices_lock);
	mutex_lock(&dev->lock);
	dev->removed = true;
	mutex_unlock(&dev->lock);
}

/**
 * tare_device_free() - the last reference has gone
 * @dev: without power
 */
void tare_device_free(struct tare_device *dev)
{
	mutex_destroy(&dev->lock);
	kfree(dev);
}

/**
 * tare_device_find() - a device by its name
 * @name: as in configfs
 *
 * Return: the device with a reference for the caller, or NULL.
 */
struct tare_device *tare_device_find(const char *name)
{
	struct tare_device *dev, *found = NULL;

	mutex_lock(&devices_lock);
	list_for_each_entry(dev, &devices, link) {
		if (strcmp(tare_name(dev), name))
			continue;
		if (config_item_get_unless_zero(&dev->group.cg_item))
			found = dev;
		break;
	}
	mutex_unlock(&devices_lock);
	return found;
}

/**
 * tare_name_check() - may a device be called so?
 * @name: from the user
 *
 * Return: 0; -EINVAL for a bad name; -EEXIST when /dev has one of that name.
 * The reason is in the kernel log.
 */
int tare_name_check(const char *name)
{
	char path[sizeof("/dev/") + TARE_NAME_MAX];
	size_t len = strspn(name, "abcdefghijklmnopqrstuvwxyz0123456789_-");
	struct path there;

	if (name[len] || !len || len > TARE_NAME_MAX) {
		pr_err("device name refused, it is 1 to %d of [a-z0-9_-]\n",
		       TARE_NAME_MAX);
		return -EINVAL;
	}
	snprintf(path, sizeof(path), "/dev/%s", name);
	if (kern_path(path, 0, &there))
		return 0;
	path_put(&there);
	pr_err("device name refused, there is a %s already\n", path);
	return -EEXIST;
}

static int device_allocate(struct tare_device *dev)
{
	const struct tare_config *c = &dev->config;
	int err;

	err = tare_stats_create(dev);
	if (err)
		return err;
	err = tare_shape_create(dev);
	if (err)
		goto err_stats;
	if (!c->memory_backed)
		return 0;
	dev->store = tare_store_create(c->size_mb, c->home_node, c->prealloc);
	if (!IS_ERR(dev->store))
		return 0;
	err = PTR_ERR(dev->store);
	dev->store = NULL;
	tare_shape_destroy(dev);
err_stats:
	tare_stats_destroy(dev);
	return err;
}

static void device_release_memory(struct tare_device *dev)
{
	tare_store_destroy(dev->store);
	dev->store = NULL;
	tare_shape_destroy(dev);
	tare_stats_destroy(dev);
}

static int power_on(struct tare_device *dev, const struct tare_frontend *fe)
{
	int err;

	err = tare_config_check(&dev->config, tare_name(dev), true);
	if (err)
		return err;
	err = tare_name_check(tare_name(dev));
	if (err)
		return err;
	if (!dev->is_default) {
		err = tare_configfs_depend(dev);
		if (err)
			return err;
	}
	err = device_allocate(dev);
	if (err)
		goto err_depend;
	device_apply(dev);
	tare_fault_reseed(dev);
	dev->claimed = false;
	if (dev->completion == TARE_SPIN) {
		dev->spin = tare_spin_create(dev);
		if (IS_ERR(dev->spin)) {
			err = PTR_ERR(dev->spin);
			dev->spin = NULL;
			goto err_memory;
		}
	}
	err = fe->create(dev);
	if (err)
		goto err_spin;
	dev->frontend = fe;
	dev->powered = true;
	return 0;

err_spin:
	tare_spin_destroy(dev->spin);
	dev->spin = NULL;
err_memory:
	device_release_memory(dev);
err_depend:
	if (!dev->is_default)
		tare_configfs_undepend(dev);
	return err;
}

static int device_power_on(struct tare_device *dev)
{
	bool hold = !dev->is_default;
	const struct tare_frontend *fe = frontend_get("blk", hold);
	int err;

	if (!fe) {
		pr_err("%s: tare_blk is not loaded\n", tare_name(dev));
		return -ENODEV;
	}
	mutex_lock(&dev->lock);
	if (dev->removed)
		err = -ENODEV;
	else if (dev->powered)
		err = -EALREADY;
	else
		err = power_on(dev, fe);
	mutex_unlock(&dev->lock);
	if (err)
		frontend_put(fe, hold);
	/* It has power: that is what was asked for. */
	return err == -EALREADY ? 0 : err;
}

static int power_off(struct tare_device *dev)
{
	const struct tare_frontend *fe = dev->frontend;
	int err;

	err = fe->claim(dev);
	if (err)
		return err;
	/* Nobody can open it: nobody is on his way through it after this. */
	fe->unquiesce(dev, fe->quiesce(dev));
	fe->destroy(dev);
	tare_spin_destroy(dev->spin);
	dev->spin = NULL;
	/* Its file keeps the recorder; no request can reach it any more. */
	dev->recorder = NULL;
	device_release_memory(dev);
	dev->frontend = NULL;
	dev->powered = false;
	if (!dev->is_default)
		tare_configfs_undepend(dev);
	frontend_put(fe, !dev->is_default);
	return 0;
}

/**
 * tare_device_power() - switch on or off
 * @dev: any device
 * @on: what it shall be
 *
 * Return: 0, also when it is so already; -EBUSY when it is to be switched off
 * while somebody has it open; what tare_config_check() and tare_name_check()
 * say; -ENOMEM; -ENODEV.
 */
int tare_device_power(struct tare_device *dev, bool on)
{
	int err = 0;

	if (on)
		return device_power_on(dev);
	mutex_lock(&dev->lock);
	if (dev->powered)
		err = power_off(dev);
	mutex_unlock(&dev->lock);
	return err;
}

static int set_quiesced(struct tare_device *dev, const struct tare_attr *attr,
			s64 value)
{
	struct tare_spin *other = NULL;
	unsigned int cookie;
	bool spins;

	/* The completion threads come and go with the mode that needs them. */
	if (attr == &tare_attrs[TARE_ATTR_completion] && value == TARE_SPIN &&
	    !dev->spin) {
		other = tare_spin_create(dev);
		if (IS_ERR(other))
			return PTR_ERR(other);
	}
	cookie = dev->frontend->quiesce(dev);
	*tare_attr_of(&dev->config, attr) = value;
	device_apply(dev);
	spins = dev->completion == TARE_SPIN;
	if (!!dev->spin != spins)
		swap(dev->spin, other);
	if (attr == &tare_attrs[TARE_ATTR_seed])
		tare_shape_restart(dev);
	dev->frontend->unquiesce(dev, cookie);
	tare_spin_destroy(other);
	return 0;
}

static int set_powered(struct tare_device *dev, const struct tare_attr *attr,
		       s64 value)
{
	s64 *at = tare_attr_of(&dev->config, attr), before = *at;
	int err;

	if (attr->class != TARE_LIVE && attr->class != TARE_QUIESCE) {
		pr_err("%s: %s refused while power is 1\n", tare_name(dev),
		       attr->name);
		return -EBUSY;
	}
	/* The whole is too large for the stack; nobody looks without the lock. */
	*at = value;
	err = tare_config_check(&dev->config, tare_name(dev),
				attr == &tare_attrs[TARE_ATTR_completion]);
	*at = before;
	if (err)
		return -EINVAL;
	if (attr->class == TARE_QUIESCE)
		return set_quiesced(dev, attr, value);
	*at = value;
	device_apply(dev);
	if (attr == &tare_attrs[TARE_ATTR_fault_seed])
		tare_fault_reseed(dev);
	return 0;
}

/**
 * tare_device_set() - give an attribute a new value
 * @dev: any device
 * @attr: an attribute that may be written
 * @value: inside its range
 *
 * Return: 0; -EBUSY when it can only change without power; -EINVAL when it does
 * not fit the others.
 */
int tare_device_set(struct tare_device *dev, const struct tare_attr *attr,
		    s64 value)
{
	int err = 0;

	mutex_lock(&dev->lock);
	if (dev->powered)
		err = set_powered(dev, attr, value);
	else
		*tare_attr_of(&dev->config, attr) = value;
	mutex_unlock(&dev->lock);
	return err;
}

/**
 * tare_device_set_bad() - badblocks gets a new list, or the list a change
 * @dev: any device
 * @text: what the user wrote
 * @len: its length
 *
 * Return: 0; -EINVAL or -ENOSPC after one line in the kernel log.
 */
int tare_device_set_bad(struct tare_device *dev, const char *text, size_t len)
{
	int err;

	mutex_lock(&dev->lock);
	err = tare_fault_write_bad(dev, text, len);
	if (!err && dev->powered)
		device_apply(dev);
	mutex_unlock(&dev->lock);
	if (err)
		tare_attr_complain_ranges(&tare_attrs[TARE_ATTR_badblocks],
					  tare_name(dev), text, len, err);
	return err;
}

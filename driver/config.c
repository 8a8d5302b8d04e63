// SPDX-License-Identifier: GPL-2.0-only
/*
 * The configfs tree: /sys/kernel/config/tare/NAME/ATTR, made from the
 * attribute table. `power` comes last, `features` is at the root.
 */
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/configfs.h>
#include <linux/module.h>

#include "store.h"
#include "tare.h"

static struct tare_device *to_device(struct config_item *item)
{
	return container_of(to_config_group(item), struct tare_device, group);
}

static ssize_t attr_show(struct config_item *item, int id, char *page)
{
	struct tare_device *dev = to_device(item);
	const struct tare_attr *attr = &tare_attrs[id];
	s64 value;
	int len;

	if (id == TARE_ATTR_badblocks) {
		mutex_lock(&dev->lock);
		len = tare_fault_read_bad(dev, page);
		mutex_unlock(&dev->lock);
		return len;
	}
	mutex_lock(&dev->lock);
	if (id == TARE_ATTR_store_pages)
		value = tare_store_pages(dev->store);
	else
		value = *tare_attr_of(&dev->config, attr);
	mutex_unlock(&dev->lock);
	return tare_attr_format(attr, value, page);
}

static ssize_t attr_store(struct config_item *item, int id, const char *page,
			  size_t count)
{
	struct tare_device *dev = to_device(item);
	const struct tare_attr *attr = &tare_attrs[id];
	s64 value;
	int err;

	if (id == TARE_ATTR_badblocks) {
		err = tare_device_set_bad(dev, page, count);
		return err ? err : count;
	}
	/* A NUL inside would hide what follows it: such a text is no value. */
	err = tare_attr_parse(attr, tare_name(dev),
			      strlen(page) == count ? page : "", &value);
	if (!err)
		err = tare_device_set(dev, attr, value);
	return err ? err : count;
}

#define TARE_X_FILE_LIVE(name)		CONFIGFS_ATTR(tare_, name)
#define TARE_X_FILE_QUIESCE(name)	CONFIGFS_ATTR(tare_, name)
#define TARE_X_FILE_OFF(name)		CONFIGFS_ATTR(tare_, name)
#define TARE_X_FILE_RO(name)		CONFIGFS_ATTR_RO(tare_, name)

#define TARE_X_FILE(name, type, def, min, max, class, help)		\
static ssize_t tare_##name##_show(struct config_item *item, char *page)	\
{									\
	return attr_show(item, TARE_ATTR_##name, page);			\
}									\
static __maybe_unused ssize_t						\
tare_##name##_store(struct config_item *item, const char *page,		\
		    size_t count)					\
{									\
	return attr_store(item, TARE_ATTR_##name, page, count);		\
}									\
TARE_X_FILE_##class(name);
TARE_ATTRS(TARE_X_FILE)

static ssize_t tare_power_show(struct config_item *item, char *page)
{
	return sysfs_emit(page, "%d\n", READ_ONCE(to_device(item)->powered));
}

static ssize_t tare_power_store(struct config_item *item, const char *page,
				size_t count)
{
	struct tare_device *dev = to_device(item);
	int err;

	if (strlen(page) != count || !(*page == '0' || *page == '1') ||
	    !(count == 1 || (count == 2 && page[1] == '\n'))) {
		pr_err("%s: power refused, it is 0 or 1\n", tare_name(dev));
		return -EINVAL;
	}
	err = tare_device_power(dev, *page == '1');
	return err ? err : count;
}
CONFIGFS_ATTR(tare_, power);

#define TARE_X_POINTER(name, type, def, min, max, class, help)		\
	&tare_attr_##name,
static struct configfs_attribute *device_attrs[] = {
	TARE_ATTRS(TARE_X_POINTER)
	&tare_attr_power,
	NULL,
};

static void device_release(struct config_item *item)
{
	tare_device_free(to_device(item));
}

static struct configfs_item_operations device_item_ops = {
	.release	= device_release,
};

static const struct config_item_type device_type = {
	.ct_item_ops	= &device_item_ops,
	.ct_attrs	= device_attrs,
	.ct_owner	= THIS_MODULE,
};

static struct config_group *root_make_group(struct config_group *group,
					    const char *name)
{
	struct tare_device *dev;
	int err;

	err = tare_name_check(name);
	if (err)
		return ERR_PTR(err);
	dev = tare_device_new();
	if (!dev)
		return ERR_PTR(-ENOMEM);
	config_group_init_type_name(&dev->group, name, &device_type);
	if (!tare_name(dev)) {
		tare_device_free(dev);
		return ERR_PTR(-ENOMEM);
	}
	tare_device_publish(dev);
	return &dev->group;
}

/* Without power: configfs refuses to remove a device that has it. */
static void root_drop_item(struct config_group *group, struct config_item *item)
{
	tare_device_forget(to_device(item));
	config_item_put(item);
}

static struct configfs_group_operations root_group_ops = {
	.make_group	= root_make_group,
	.drop_item	= root_drop_item,
};

#define TARE_X_FEATURE(name, type, def, min, max, class, help) #name "\n"

static ssize_t tare_features_show(struct config_item *item, char *page)
{
	return sysfs_emit(page, TARE_ATTRS(TARE_X_FEATURE) "power\n");
}
CONFIGFS_ATTR_RO(tare_, features);

static struct configfs_attribute *root_attrs[] = {
	&tare_attr_features,
	NULL,
};

static const struct config_item_type root_type = {
	.ct_group_ops	= &root_group_ops,
	.ct_attrs	= root_attrs,
	.ct_owner	= THIS_MODULE,
};

static struct configfs_subsystem subsystem = {
	.su_group = {
		.cg_item = {
			.ci_namebuf	= "tare",
			.ci_type	= &root_type,
		},
	},
};

/**
 * tare_configfs_depend() - from now on rmdir of the device is -EBUSY
 * @dev: made by mkdir; called from one of its attributes
 *
 * Return: 0 or a negative error code.
 */
int tare_configfs_depend(struct tare_device *dev)
{
	return configfs_depend_item_unlocked(&subsystem, &dev->group.cg_item);
}

/**
 * tare_configfs_undepend() - rmdir is possible again
 * @dev: after tare_configfs_depend()
 */
void tare_configfs_undepend(struct tare_device *dev)
{
	configfs_undepend_item(&dev->group.cg_item);
}

/**
 * tare_default_check() - could tare_default_add() make this device?
 * @name: of the device
 * @config: its attributes
 *
 * Return: 0, -EINVAL or -EEXIST, the reason in the kernel log.
 */
int tare_default_check(const char *name, const struct tare_config *config)
{
	struct tare_device *dev;
	int err;

	err = tare_config_check(config, name, true);
	if (err)
		return err;
	dev = tare_device_find(name);
	if (dev) {
		tare_device_put(dev);
		pr_err("%s refused, there is a device of that name\n", name);
		return -EEXIST;
	}
	return tare_name_check(name);
}
EXPORT_SYMBOL_GPL(tare_default_check);

/**
 * tare_default_add() - a device that a front end's module parameters describe
 * @name: of the device
 * @config: its attributes
 *
 * It is a default group: it can be shown, set and switched, not removed.
 *
 * Return: the device with power, or an ERR_PTR.
 */
struct tare_device *tare_default_add(const char *name,
				     const struct tare_config *config)
{
	struct tare_device *dev;
	int err;

	dev = tare_device_new();
	if (!dev)
		return ERR_PTR(-ENOMEM);
	dev->config = *config;
	dev->is_default = true;
	config_group_init_type_name(&dev->group, name, &device_type);
	if (!tare_name(dev)) {
		tare_device_free(dev);
		return ERR_PTR(-ENOMEM);
	}
	tare_device_publish(dev);
	err = configfs_register_group(&subsystem.su_group, &dev->group);
	if (err)
		goto err_forget;
	err = tare_device_power(dev, true);
	if (err)
		goto err_group;
	return dev;

err_group:
	configfs_unregister_group(&dev->group);
err_forget:
	tare_device_forget(dev);
	tare_device_put(dev);
	return ERR_PTR(err);
}
EXPORT_SYMBOL_GPL(tare_default_add);

/**
 * tare_default_remove() - the front end's module goes
 * @dev: from tare_default_add(); nobody can have it open, its disk holds the
 * module
 */
void tare_default_remove(struct tare_device *dev)
{
	tare_device_forget(dev);
	WARN_ON(tare_device_power(dev, false));
	configfs_unregister_group(&dev->group);
	tare_device_put(dev);
}
EXPORT_SYMBOL_GPL(tare_default_remove);

/**
 * tare_configfs_init() - make /sys/kernel/config/tare
 *
 * Return: 0 or a negative error code.
 */
int tare_configfs_init(void)
{
	config_group_init(&subsystem.su_group);
	mutex_init(&subsystem.su_mutex);
	return configfs_register_subsystem(&subsystem);
}

/**
 * tare_configfs_exit() - take it away; there is no device any more
 */
void tare_configfs_exit(void)
{
	configfs_unregister_subsystem(&subsystem);
	mutex_destroy(&subsystem.su_mutex);
}

// SPDX-License-Identifier: GPL-2.0-only
/* A device as a whole: read it, make an existing one the same. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "device.h"
#include "util.h"

/* An older driver may lack an attribute: what it has is what is read. */
static int read_attrs(const char *name, struct device_config *config)
{
	for (size_t i = 0; i < attr_count; i++) {
		char *value;

		if (attr_table[i].class == ATTR_RO)
			continue;
		value = device_get(name, attr_table[i].name);
		if (!value && errno == ENOENT)
			continue;
		if (!value)
			return -errno;
		assignments_add(&config->set, &config->n, attr_table[i].name,
				value);
		free(value);
	}
	return 0;
}

int device_config_read(const char *name, struct device_config *config)
{
	int on = device_powered(name);
	int err = on < 0 ? on : 0;

	memset(config, 0, sizeof(*config));
	if (!err)
		err = read_attrs(name, config);
	if (err) {
		msg_error("%s: %s", name,
			  err == -ENOENT ? "there is no such device" :
					   strerror(-err));
		device_config_free(config);
		return err;
	}
	config->name = xstrdup(name);
	config->power = on;
	return 0;
}

int device_config_apply(const struct device_config *config)
{
	int err = device_powered(config->name);

	if (err == 1)
		err = device_power(config->name, false);
	for (size_t i = 0; i < config->n && !err; i++)
		err = device_set(config->name, config->set[i].attr,
				 config->set[i].value);
	if (!err && config->power)
		err = device_power(config->name, true);
	return err;
}

void device_config_free(struct device_config *config)
{
	free(config->name);
	assignments_free(config->set, config->n);
	memset(config, 0, sizeof(*config));
}

// SPDX-License-Identifier: GPL-2.0-only
/* tare run: the device's attributes, for the report. */
#include "run.h"

#include <stdlib.h>
#include <string.h>

static uint64_t number(const char *name, const char *attr)
{
	char *text = device_get(name, attr);
	uint64_t v = 0;

	if (text && parse_u64(text, &v))
		v = 0;
	free(text);
	return v;
}

static char *text_or_empty(char *text)
{
	return text ? text : xstrdup("");
}

void run_device_read(struct run_device *d, const char *name)
{
	run_device_free(d);
	d->name = xstrdup(name);
	d->scheduler = machine_scheduler(name);
	d->completion = text_or_empty(device_get(name, "completion"));
	d->distribution = text_or_empty(device_get(name, "distribution"));
	d->channels = number(name, "channels");
	d->queues = number(name, "submit_queues");
	d->queue_depth = number(name, "queue_depth");
	d->memory_backed = number(name, "memory_backed");
	d->write_cache = number(name, "write_cache");
	d->service_ns[TARE_READ] = number(name, "read_ns");
	d->service_ns[TARE_WRITE] = number(name, "write_ns");
	d->service_ns[TARE_FLUSH] = number(name, "flush_ns");
	d->service_ns[TARE_DISCARD] = number(name, "discard_ns");
	d->service_ns[TARE_WRITE_ZEROES] = d->service_ns[TARE_DISCARD];
}

void run_device_free(struct run_device *d)
{
	free(d->name);
	free(d->scheduler);
	free(d->completion);
	free(d->distribution);
	memset(d, 0, sizeof(*d));
}

/* SPDX-License-Identifier: GPL-2.0-only */
/* Devices in a JSON file: what tare save writes and tare restore reads. */
#ifndef TARE_SAVED_H
#define TARE_SAVED_H

#include "device.h"

/** Version of the file's form, raised when a reader of this one would be wrong. */
#define SAVED_SCHEMA 1

/**
 * Write devices to a file: a temporary file beside it, synced and renamed, so
 * that the old one stays whole until the new one is. A file that is no regular
 * one (a pipe, /dev/stdout) is written as it is.
 * @param path "-": stdout
 * @return 0 or -errno, the reason printed
 */
int saved_write(const char *path, const struct device_config *devices,
		size_t n);

/**
 * Read devices from a file, everything checked as far as it can be without
 * the driver: form, version, names, attributes, values and what has to fit
 * together. Prints the file, the line and what is wrong there.
 * @param path "-": stdin
 * @param devices receives an array, freed with saved_free()
 * @return 0, -EINVAL when the content is wrong, or another -errno
 */
int saved_read(const char *path, struct device_config **devices, size_t *n);
void saved_free(struct device_config *devices, size_t n);

#endif

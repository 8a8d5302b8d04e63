// SPDX-License-Identifier: GPL-2.0-only
/* /dev/tare: the ioctls of driver/uapi/tare.h. */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "device.h"
#include "util.h"

const char *const tare_op_names[TARE_NR_OPS] = {
	[TARE_READ] = "read",
	[TARE_WRITE] = "write",
	[TARE_FLUSH] = "flush",
	[TARE_DISCARD] = "discard",
	[TARE_WRITE_ZEROES] = "write_zeroes",
};

const char *const tare_row_names[TARE_NR_ROWS] = {
	[TARE_ROW_START] = "start",
	[TARE_ROW_DEVICE] = "device",
	[TARE_ROW_DELIVERY] = "delivery",
	[TARE_ROW_DRIVER] = "driver",
	[TARE_ROW_SIGNAL] = "signal",
};

const char *const tare_path_names[TARE_NR_PATHS] = {
	[TARE_PATH_INLINE] = "inline",
	[TARE_PATH_DIRECT] = "direct",
	[TARE_PATH_SOFTIRQ] = "softirq",
	[TARE_PATH_IPI] = "ipi",
};

static int check_abi(int fd)
{
	struct tare_info info;
	int err = control_info(fd, &info);

	if (err) {
		msg_error(TARE_DEV_PATH ": %s", strerror(-err));
		return err;
	}
	if (info.abi != TARE_ABI) {
		msg_error("the loaded driver speaks version %u, this tool %u: load the driver that came with it",
			  info.abi, TARE_ABI);
		return -EPROTO;
	}
	return 0;
}

int control_open(void)
{
	int fd = open(TARE_DEV_PATH, O_RDWR | O_CLOEXEC);
	int err;

	if (fd < 0) {
		err = -errno;
		if (err == -EACCES || err == -EPERM)
			msg_cannot(TARE_DEV_PATH ": needs root");
		else if (err == -ENOENT)
			msg_cannot(TARE_DEV_PATH " is not there; " LOAD_DRIVER_HINT);
		else
			msg_error(TARE_DEV_PATH ": %s", strerror(-err));
		return err;
	}
	err = check_abi(fd);
	if (err) {
		close(fd);
		return err;
	}
	return fd;
}

static int control_call(int fd, unsigned long request, void *arg)
{
	return ioctl(fd, request, arg) < 0 ? -errno : 0;
}

/* A name that does not fit is no device's. */
static int copy_name(char *to, const char *name)
{
	size_t len = strlen(name);

	if (len > TARE_NAME_MAX)
		return -ENAMETOOLONG;
	memcpy(to, name, len + 1);
	return 0;
}

int control_info(int fd, struct tare_info *info)
{
	return control_call(fd, TARE_IOC_INFO, info);
}

int control_counters(int fd, const char *name, struct tare_counters *c)
{
	struct tare_counters_req req = { 0 };
	int err = copy_name(req.name, name);

	if (!err)
		err = control_call(fd, TARE_IOC_COUNTERS, &req);
	if (!err)
		*c = req.counters;
	return err;
}

int control_stats(int fd, const char *name, enum tare_op op, int cpu,
		  struct tare_op_stats *stats)
{
	struct tare_stats_req req = {
		.op = op,
		.cpu = cpu,
		.stats = (uintptr_t)stats,
		.size = sizeof(*stats),
	};
	int err = copy_name(req.name, name);

	return err ? err : control_call(fd, TARE_IOC_STATS, &req);
}

int control_reset(int fd, const char *name)
{
	struct tare_name_req req = { 0 };
	int err = copy_name(req.name, name);

	return err ? err : control_call(fd, TARE_IOC_RESET, &req);
}

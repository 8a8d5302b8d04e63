// SPDX-License-Identifier: GPL-2.0-only
/* Devices through configfs: make, set, switch, remove. */
#include "device.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <time.h>
#include <unistd.h>

#include "kmsg.h"
#include "output.h"
#include "util.h"

#define CONFIGFS_ROOT "/sys/kernel/config"
/* As in fs/configfs/mount.c; not in the headers for user space. */
#define CONFIGFS_MAGIC 0x62656570

/* How long udev gets to make the node, and a holder to let go. */
#define WAIT_MS 5000
#define POLL_MS 20

/* Tests give a plain directory tree here instead of configfs. */
static const char *fake_configfs(void)
{
	return getenv("TARE_CONFIGFS");
}

static const char *configfs(void)
{
	return fake_configfs() ? fake_configfs() : CONFIGFS_TARE;
}

char *device_dir(const char *name)
{
	return xasprintf("%s/%s", configfs(), name);
}

static char *attr_path(const char *name, const char *attr)
{
	return xasprintf("%s/%s/%s", configfs(), name, attr);
}

char *device_path(const char *name)
{
	return xasprintf("/dev/%s", name);
}

int device_name_check(const char *name)
{
	static const char allowed[] = "abcdefghijklmnopqrstuvwxyz0123456789_-";
	size_t len = strlen(name);
	char *quoted;

	if (len && len <= TARE_NAME_MAX && strspn(name, allowed) == len)
		return 0;
	quoted = out_quote(name);
	msg_usage("%s is no device name: 1 to %d characters of a-z, 0-9, _ and -",
		  quoted, TARE_NAME_MAX);
	free(quoted);
	return -EINVAL;
}

static bool all_of(const char *s, const char *set)
{
	return *s && s[strspn(s, set)] == '\0';
}

/* Is it what the kernel calls a disk of that prefix, or a partition of one? */
static bool is_kernels(const char *name, const char *prefix, bool letters)
{
	size_t len = strlen(prefix), n;
	const char *rest = name + len;

	if (strncmp(name, prefix, len))
		return false;
	if (!letters)
		/* loop0, nvme0n1p2, mmcblk0boot0, md_d0, pmem0.1s */
		return *rest >= '0' && *rest <= '9';
	n = strspn(rest, "abcdefghijklmnopqrstuvwxyz");
	return n >= 1 && n <= 2 &&
	       (!rest[n] || all_of(rest + n, "0123456789"));
}

int device_name_check_new(const char *name)
{
	static const struct {
		const char *prefix;
		bool letters;	/* sda, not loop0 */
	} disks[] = {
		{ "loop", false },   { "ram", false },	  { "md", false },
		{ "md_d", false },   { "dm-", false },	  { "zram", false },
		{ "nbd", false },    { "sr", false },	  { "scd", false },
		{ "fd", false },     { "nvme", false },	  { "mmcblk", false },
		{ "nullb", false },  { "pmem", false },	  { "rbd", false },
		{ "drbd", false },   { "bcache", false }, { "ublkb", false },
		{ "mtdblock", false }, { "zd", false },	  { "sd", true },
		{ "hd", true },	     { "vd", true },	  { "xvd", true },
		{ "dasd", true },
	};
	int err = device_name_check(name);

	for (size_t i = 0; i < ARRAY_SIZE(disks) && !err; i++) {
		if (!is_kernels(name, disks[i].prefix, disks[i].letters))
			continue;
		msg_usage("'%s' is what the kernel itself calls a disk (%s%s): the two would collide; take another name",
			  name, disks[i].prefix,
			  disks[i].letters ? "a, …" : "0, …");
		err = -EINVAL;
	}
	return err;
}

static bool is_directory(const char *path)
{
	struct stat st;

	return stat(path, &st) == 0 && S_ISDIR(st.st_mode);
}

int device_need_driver(void)
{
	struct statfs fs;

	if (is_directory(configfs()))
		return TARE_OK;
	if (!fake_configfs() && (statfs(CONFIGFS_ROOT, &fs) < 0 ||
				 fs.f_type != CONFIGFS_MAGIC))
		return msg_cannot("configfs is not mounted on " CONFIGFS_ROOT
				  ": 'modprobe configfs', then 'mount -t configfs none "
				  CONFIGFS_ROOT "'; then " LOAD_DRIVER_HINT);
	return msg_cannot("the driver is not loaded; " LOAD_DRIVER_HINT);
}

int device_need_root(void)
{
	if (fake_configfs() || geteuid() == 0)
		return TARE_OK;
	return msg_cannot("needs root");
}

static int by_name(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

int device_list(char ***names)
{
	DIR *dir = opendir(configfs());
	struct dirent *entry;
	size_t n = 0;

	*names = NULL;
	if (!dir)
		return -errno;
	while ((entry = readdir(dir))) {
		char *path = device_dir(entry->d_name);

		if (entry->d_name[0] != '.' && is_directory(path)) {
			*names = xrealloc(*names, (n + 1) * sizeof(**names));
			(*names)[n++] = xstrdup(entry->d_name);
		}
		free(path);
	}
	closedir(dir);
	if (n)
		qsort(*names, n, sizeof(**names), by_name);
	return (int)n;
}

void device_list_free(char **names, int n)
{
	for (int i = 0; i < n; i++)
		free(names[i]);
	free(names);
}

bool device_exists(const char *name)
{
	char *dir = device_dir(name);
	bool yes = is_directory(dir);

	free(dir);
	return yes;
}

char *device_get(const char *name, const char *attr)
{
	char *path = attr_path(name, attr);
	char *value = file_read(path);
	int err = errno;

	free(path);
	errno = err;
	return value;
}

int device_powered(const char *name)
{
	char *value = device_get(name, "power");
	int on;

	if (!value)
		return -errno;
	on = strcmp(value, "0") != 0;
	free(value);
	return on;
}

static int write_attr(const char *name, const char *attr, const char *value)
{
	char *path = attr_path(name, attr);
	int err = file_write(path, value);

	free(path);
	return err;
}

/* What an errno of the driver's means for this attribute; freed by the caller. */
static char *set_reason(const char *name, const char *attr, int err)
{
	const struct attr_desc *desc = attr_find(attr);
	char *range, *text;

	switch (err) {
	case -EBUSY:
		if (desc && desc->class == ATTR_OFF)
			return xasprintf("only while it is off ('tare set %s power=0')",
					 name);
		return xstrdup("the device is in use");
	case -EACCES:
	case -EPERM:
		return geteuid() ? xstrdup("needs root") :
				   xstrdup("cannot be written");
	case -ENOENT:
		return xstrdup("the loaded driver does not have it");
	case -ENOMEM:
		return xstrdup("not enough memory");
	case -EINVAL:
	case -ERANGE:
		if (!desc)
			break;
		range = attr_range(desc);
		text = xasprintf("refused by the driver; allowed: %s, and what fits the other attributes and this machine",
				 range);
		free(range);
		return text;
	}
	return xstrdup(strerror(-err));
}

/* The value was checked before; what fails here the kernel has refused. */
static int set_attr(const char *name, const char *attr, const char *value,
		    int log)
{
	int err = write_attr(name, attr, value);
	char *reason;

	if (!err)
		return 0;
	reason = set_reason(name, attr, err);
	msg_error("%s: %s=%s: %s", name, attr, value, reason);
	free(reason);
	kmsg_show(log);
	return err;
}

int device_set(const char *name, const char *attr, const char *value)
{
	int log = kmsg_open();
	int err = set_attr(name, attr, value, log);

	kmsg_close(log);
	return err;
}

/* ---- switching on ---- */

/* Signals that end a program are held back while a device is half made. */
static void hold_signals(sigset_t *held, sigset_t *before)
{
	sigemptyset(held);
	sigaddset(held, SIGINT);
	sigaddset(held, SIGTERM);
	sigaddset(held, SIGHUP);
	sigprocmask(SIG_BLOCK, held, before);
}

/* Sleep for ms milliseconds. @return -EINTR when one of the signals came. */
static int sleep_unless(const sigset_t *signals, long ms)
{
	struct timespec ts = { ms / 1000, ms % 1000 * 1000000 };

	return sigtimedwait(signals, NULL, &ts) > 0 ? -EINTR : 0;
}

static bool is_block_device(const char *path)
{
	struct stat st;

	return stat(path, &st) == 0 && S_ISBLK(st.st_mode);
}

/* devtmpfs makes the node at once, udev a little later. */
static int wait_for_node(const char *name, const sigset_t *signals)
{
	char *path = device_path(name);
	int err = 0;

	if (fake_configfs())
		goto out;
	for (int ms = 0; !err && !is_block_device(path); ms += POLL_MS) {
		if (ms >= WAIT_MS) {
			err = -ETIMEDOUT;
			msg_error("%s has not appeared within %d s; is devtmpfs or udev at work?",
				  path, WAIT_MS / 1000);
			break;
		}
		err = sleep_unless(signals, POLL_MS);
		if (err)
			msg_error("%s: interrupted", name);
	}
out:
	free(path);
	return err;
}

static const char *power_reason(int err)
{
	switch (err) {
	case -EINVAL:
		return "the attributes do not fit each other or this machine";
	case -ENOMEM:
		return "not enough memory";
	case -EEXIST:
	case -EBUSY:
		return "another disk has this name";
	case -EACCES:
	case -EPERM:
		return geteuid() ? "needs root" : "refused";
	default:
		return strerror(-err);
	}
}

static int power_on(const char *name, const sigset_t *signals, int log)
{
	int err = write_attr(name, "power", "1");

	if (err) {
		msg_error("%s: cannot be switched on: %s", name,
			  power_reason(err));
		kmsg_show(log);
		return err;
	}
	err = wait_for_node(name, signals);
	if (err)
		write_attr(name, "power", "0");
	return err;
}

/* ---- switching off ---- */

static void name_users(const char *name)
{
	char *users = device_users(name);

	msg_error("%s is in use%s%s", name, *users ? ": " : "", users);
	free(users);
}

static int power_off(const char *name)
{
	struct timespec ts = { 0, POLL_MS * 1000000L };
	int err;

	for (int ms = 0; ms <= WAIT_MS; ms += POLL_MS) {
		err = write_attr(name, "power", "0");
		if (err != -EBUSY)
			break;
		if (ms == 10 * POLL_MS)
			msg_info("%s is in use, trying for %d s", name,
				 WAIT_MS / 1000);
		nanosleep(&ts, NULL);
	}
	if (err == -EBUSY)
		name_users(name);
	else if (err)
		msg_error("%s: cannot be switched off: %s", name,
			  power_reason(err));
	return err;
}

int device_power(const char *name, bool on)
{
	sigset_t held, before;
	int err, log;

	if (!on)
		return power_off(name);
	log = kmsg_open();
	hold_signals(&held, &before);
	err = power_on(name, &held, log);
	sigprocmask(SIG_SETMASK, &before, NULL);
	kmsg_close(log);
	return err;
}

/* ---- making and removing ---- */

static int make_dir(const char *name)
{
	char *dir = device_dir(name);
	int err = mkdir(dir, 0755) < 0 ? -errno : 0;

	free(dir);
	switch (-err) {
	case 0:
		break;
	case EEXIST:
		msg_error("%s: there is a device of this name", name);
		break;
	case EACCES:
	case EPERM:
		msg_error("%s: cannot be made: %s", name,
			  geteuid() ? "needs root" : strerror(-err));
		break;
	default:
		msg_error("%s: cannot be made: %s", name, strerror(-err));
	}
	return err;
}

static int remove_dir(const char *name)
{
	char *dir = device_dir(name);
	int err = rmdir(dir) < 0 ? -errno : 0;

	free(dir);
	return err;
}

static int fill(const char *name, const struct assignment *set, size_t n,
		int log)
{
	int err = 0;

	for (size_t i = 0; i < n && !err; i++)
		err = set_attr(name, set[i].attr, set[i].value, log);
	return err;
}

/* devtmpfs would not replace a node: the disk would have none, silently. */
static int node_is_free(const char *name)
{
	char *path = device_path(name);
	struct stat st;
	int err = 0;

	if (!fake_configfs() && !device_exists(name) && lstat(path, &st) == 0) {
		msg_error("%s is there already and is no disk of tare's: take another name",
			  path);
		err = -EEXIST;
	}
	free(path);
	return err;
}

int device_add(const char *name, const struct assignment *set, size_t n,
	       bool power)
{
	sigset_t held, before;
	int err = node_is_free(name);
	int log;

	if (err)
		return err;
	log = kmsg_open();
	hold_signals(&held, &before);
	err = make_dir(name);
	if (err) {
		kmsg_show(log);
		goto out;
	}
	err = fill(name, set, n, log);
	if (!err && power)
		err = power_on(name, &held, log);
	if (err && remove_dir(name))
		msg_error("%s: cannot be removed again; 'tare rm %s' does it when nobody uses it",
			  name, name);
out:
	sigprocmask(SIG_SETMASK, &before, NULL);
	kmsg_close(log);
	return err;
}

int device_remove(const char *name)
{
	int err = device_powered(name);

	if (err == 1)
		err = power_off(name);
	else if (err < 0)
		msg_error("%s: %s", name,
			  err == -ENOENT ? "there is no such device" :
					   strerror(-err));
	if (err)
		return err;
	err = remove_dir(name);
	if ((err == -EPERM || err == -EACCES) && geteuid() == 0) {
		msg_error("%s is off, but belongs to the module's parameters: unload the module to remove it ('modprobe -r tare_blk')",
			  name);
		return -EPERM;
	}
	if (err)
		msg_error("%s: cannot be removed: %s", name, power_reason(err));
	return err;
}

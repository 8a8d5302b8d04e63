// SPDX-License-Identifier: GPL-2.0-only
/* Who uses a disk: mounts, swap, devices on top of it, processes. */
#include <ctype.h>
#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "device.h"
#include "output.h"
#include "util.h"

/* The disk and its partitions; more than these are not looked for. */
#define DEVS_MAX 64

struct users {
	dev_t devs[DEVS_MAX];
	size_t n_devs;
	char *text;
};

/* Takes user. */
static void add_user(struct users *u, char *user)
{
	char *clean = out_clean(user);
	char *more = xasprintf("%s%s%s", u->text, *u->text ? ", " : "", clean);

	free(u->text);
	free(user);
	free(clean);
	u->text = more;
}

static bool is_ours(const struct users *u, dev_t dev)
{
	for (size_t i = 0; i < u->n_devs; i++)
		if (u->devs[i] == dev)
			return true;
	return false;
}

static bool is_ours_path(const struct users *u, const char *path)
{
	struct stat st;

	return stat(path, &st) == 0 && S_ISBLK(st.st_mode) &&
	       is_ours(u, st.st_rdev);
}

/* A file of sysfs with MAJOR:MINOR. */
static void add_dev(struct users *u, const char *path)
{
	unsigned int major, minor;
	char *text = file_read(path);

	if (text && u->n_devs < DEVS_MAX &&
	    sscanf(text, "%u:%u", &major, &minor) == 2)
		u->devs[u->n_devs++] = makedev(major, minor);
	free(text);
}

/* Call each(u, "DIR/ENTRY", entry) for a directory; a missing one is empty. */
static void each_entry(struct users *u, const char *path,
		       void (*each)(struct users *u, const char *path,
				    const char *entry))
{
	DIR *dir = opendir(path);
	struct dirent *entry;

	if (!dir)
		return;
	while ((entry = readdir(dir))) {
		char *full;

		if (entry->d_name[0] == '.')
			continue;
		full = xasprintf("%s/%s", path, entry->d_name);
		each(u, full, entry->d_name);
		free(full);
	}
	closedir(dir);
}

static void add_partition(struct users *u, const char *path, const char *entry)
{
	char *partition = xasprintf("%s/partition", path);
	char *dev = xasprintf("%s/dev", path);

	(void)entry;
	if (access(partition, F_OK) == 0)
		add_dev(u, dev);
	free(partition);
	free(dev);
}

static void find_devs(struct users *u, const char *name)
{
	char *disk = xasprintf("/sys/block/%s", name);
	char *dev = xasprintf("%s/dev", disk);

	add_dev(u, dev);
	if (u->n_devs)
		each_entry(u, disk, add_partition);
	free(dev);
	free(disk);
}

/* mountinfo writes blanks as \040, fstab style. */
static void unescape(char *s)
{
	char *to = s;
	unsigned int c;

	while (*s) {
		if (s[0] == '\\' && sscanf(s + 1, "%3o", &c) == 1) {
			*to++ = (char)c;
			s += 4;
		} else {
			*to++ = *s++;
		}
	}
	*to = '\0';
}

/*
 * "36 35 98:0 /root /mnt options… - ext4 /dev/x rw": btrfs has a number of
 * its own there, so the source counts too.
 */
static void add_mount(struct users *u, char *line)
{
	unsigned int major, minor;
	int at = 0;
	char *where, *source;

	if (sscanf(line, "%*d %*d %u:%u %*s %n", &major, &minor, &at) < 2 ||
	    !at)
		return;
	where = line + at;
	source = strstr(where, " - ");
	where[strcspn(where, " ")] = '\0';
	if (source) {
		source += strlen(" - ");
		source += strcspn(source, " ");
		source += *source == ' ';
		source[strcspn(source, " ")] = '\0';
		unescape(source);
	}
	if (!is_ours(u, makedev(major, minor)) &&
	    !(source && is_ours_path(u, source)))
		return;
	unescape(where);
	add_user(u, xstrdup(where));
}

static void add_swap(struct users *u, char *line)
{
	line[strcspn(line, " \t")] = '\0';
	unescape(line);
	if (is_ours_path(u, line))
		add_user(u, xstrdup("swap"));
}

static void each_line(struct users *u, const char *path,
		      void (*each)(struct users *u, char *line))
{
	char *text = file_read(path), *rest = text, *line;

	while ((line = strsep(&rest, "\n")))
		each(u, line);
	free(text);
}

static void add_holder(struct users *u, const char *path, const char *entry)
{
	(void)path;
	add_user(u, xasprintf("device %s", entry));
}

/* dm, md and bcache say so in holders/, loop devices in their own place. */
static void add_loop(struct users *u, const char *path, const char *entry)
{
	char *file = xasprintf("%s/loop/backing_file", path);
	char *backing = file_read(file);

	if (backing && is_ours_path(u, backing))
		add_user(u, xasprintf("device %s", entry));
	free(backing);
	free(file);
}

/* Does the process have one of the disk's nodes open? */
static bool has_open(const struct users *u, const char *fds)
{
	DIR *dir = opendir(fds);
	struct dirent *entry;
	struct stat st;
	bool found = false;

	if (!dir)
		return false;
	while (!found && (entry = readdir(dir)))
		found = fstatat(dirfd(dir), entry->d_name, &st, 0) == 0 &&
			S_ISBLK(st.st_mode) && is_ours(u, st.st_rdev);
	closedir(dir);
	return found;
}

static void add_process(struct users *u, const char *path, const char *entry)
{
	char *fds, *file, *comm;

	if (!isdigit((unsigned char)entry[0]))
		return;
	fds = xasprintf("%s/fd", path);
	file = xasprintf("%s/comm", path);
	comm = has_open(u, fds) ? file_read(file) : NULL;
	if (comm)
		add_user(u, xasprintf("%s[%s]", comm, entry));
	free(comm);
	free(file);
	free(fds);
}

char *device_users(const char *name)
{
	struct users u = { .text = xstrdup("") };
	char *holders = xasprintf("/sys/block/%s/holders", name);

	find_devs(&u, name);
	if (u.n_devs) {
		each_line(&u, "/proc/self/mountinfo", add_mount);
		each_line(&u, "/proc/swaps", add_swap);
		each_entry(&u, holders, add_holder);
		each_entry(&u, "/sys/block", add_loop);
		each_entry(&u, "/proc", add_process);
	}
	free(holders);
	return u.text;
}

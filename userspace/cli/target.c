// SPDX-License-Identifier: GPL-2.0-only
#include "target.h"

#include "guard.h"
#include "util.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/fs.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mount.h>
#include <unistd.h>

#define FILE_DEFAULT_BYTES	(64ull << 20)
#define LAYOUT_CHUNK		(1u << 20)
/* What a file system keeps for itself: its journal above all. */
#define FS_OWN_MB		64u

/* Fixed, so that two file systems are the same to the last bit that can be. */
#define FS_UUID			"7a3e0f5c-1d2b-4c6a-9e8f-000000000001"

static char *const mkfs_ext4[] = {
	"mkfs.ext4", "-q", "-F", "-U", FS_UUID, "-E",
	"lazy_itable_init=0,lazy_journal_init=0,nodiscard,hash_seed=" FS_UUID,
	NULL
};
static char *const mkfs_xfs[] = {
	"mkfs.xfs", "-q", "-f", "-K", "-m", "uuid=" FS_UUID, NULL
};

static const struct fs {
	const char *name;
	char *const *mkfs;
	unsigned int min_mb;	/* its mkfs takes no smaller disk */
} file_systems[] = {
	{ "ext4", mkfs_ext4, 8 },
	{ "xfs", mkfs_xfs, 300 },
};

static const struct fs *fs_find(const char *name)
{
	for (size_t i = 0; i < ARRAY_SIZE(file_systems); i++)
		if (!strcmp(file_systems[i].name, name))
			return &file_systems[i];
	return NULL;
}

bool target_fs_known(const char *fs)
{
	return fs_find(fs) != NULL;
}

static bool device_keeps(const char *device)
{
	char *v = device_get(device, "memory_backed");
	bool keeps = v && !strcmp(v, "1");

	free(v);
	return keeps;
}

static int make_device(struct target *t, const struct target_options *o)
{
	if (o->device) {
		if (!device_exists(o->device))
			return msg_error("there is no device '%s'", o->device);
		if (device_powered(o->device) == 0)
			return msg_error("%s is off: tare set %s power=1",
					 o->device, o->device);
		if (o->fs && !device_keeps(o->device))
			return msg_usage("%s keeps no data: a file system needs memory_backed=1",
					 o->device);
		t->device = xstrdup(o->device);
		return TARE_OK;
	}
	t->device = xasprintf("tare-run-%d", (int)getpid());
	guard_device(t->device);
	if (device_add(t->device, o->set, o->nr_set, true)) {
		guard_no_device();
		return TARE_FAILED;
	}
	t->own_device = true;
	return TARE_OK;
}

static int make_fs(const struct target *t)
{
	const struct fs *fs = fs_find(t->fs);
	size_t n = 0;
	char **argv;
	int code;

	while (fs->mkfs[n])
		n++;
	argv = xcalloc(n + 2, sizeof(*argv));
	memcpy(argv, fs->mkfs, n * sizeof(*argv));
	argv[n] = t->disk;
	code = run_program(argv, NULL);
	free(argv);
	if (code == 127 || code == -ENOENT)
		return msg_cannot("mkfs.%s is not installed", t->fs);
	if (code == -EINTR)
		return msg_error("interrupted before anything was measured");
	return code ? msg_error("mkfs.%s failed (%d)", t->fs, code) : TARE_OK;
}

static int mount_fs(struct target *t)
{
	const char *tmp = getenv("TMPDIR");
	char *dir = xasprintf("%s/tare-run-XXXXXX", tmp && *tmp ? tmp : "/tmp");
	int err;

	if (!mkdtemp(dir)) {
		err = errno;
		free(dir);
		return msg_error("cannot make a directory to mount on: %s",
				 strerror(err));
	}
	t->dir = dir;
	guard_mount(dir);
	if (mount(t->disk, dir, t->fs, 0, NULL) < 0) {
		if (errno == ENODEV)
			return msg_cannot("this kernel has no %s", t->fs);
		return msg_error("cannot mount %s: %s", t->disk,
				 strerror(errno));
	}
	t->mounted = true;
	t->path = xasprintf("%s/job", dir);
	return TARE_OK;
}

static int disk_sizes(const char *disk, uint64_t *bytes, unsigned int *block)
{
	int fd = open(disk, O_RDONLY | O_CLOEXEC);
	int err = 0, size;

	if (fd < 0)
		return -errno;
	if (ioctl(fd, BLKGETSIZE64, bytes) < 0 ||
	    ioctl(fd, BLKSSZGET, &size) < 0)
		err = -errno;
	else
		*block = (unsigned int)size;
	close(fd);
	return err;
}

/* O_DIRECT takes whole blocks of the device only. */
static int check_block(const struct target_options *o, const char *option,
		       uint64_t value, unsigned int line, unsigned int block)
{
	char *where;

	if (value % block == 0)
		return TARE_OK;
	where = line ? xasprintf(":%u", line) : xstrdup("");
	msg_usage("%s%s: %s=%llu: with direct=1 a multiple of %u is wanted, the device's block size",
		  o->job_file, where, option, (unsigned long long)value, block);
	free(where);
	return TARE_USAGE;
}

static int check_blocks(const struct target_options *o, const struct job *job,
			unsigned int block)
{
	int code;

	if (!job->direct)
		return TARE_OK;
	code = check_block(o, "bs", job->bs, job->bs_line, block);
	return code ? code : check_block(o, "offset", job->offset,
					 job->offset_line, block);
}

/* Megabytes that the disk should have for the job; a file system takes its part. */
static uint64_t wanted_mb(const struct target *t, uint64_t bytes)
{
	uint64_t mb = (bytes >> 20) + (bytes & ((1u << 20) - 1) ? 1 : 0);

	if (!t->fs)
		return mb;
	mb += mb / 8 + FS_OWN_MB;
	return mb < fs_find(t->fs)->min_mb ? fs_find(t->fs)->min_mb : mb;
}

static int find_size(struct target *t, const struct target_options *o,
		     const struct job *job)
{
	uint64_t disk, want = job->size ? job->size : job->bs;
	unsigned int block = 512;
	int err = disk_sizes(t->disk, &disk, &block);

	if (err)
		return msg_error("%s: %s", t->disk, strerror(-err));
	if (t->fs && !job->size)
		want = FILE_DEFAULT_BYTES;
	if (t->fs && disk >> 20 < fs_find(t->fs)->min_mb)
		return msg_usage("%s needs a disk of at least %u MiB, this one has %llu: give size_mb=%llu",
				 t->fs, fs_find(t->fs)->min_mb,
				 (unsigned long long)(disk >> 20),
				 (unsigned long long)wanted_mb(t, job->offset + want));
	if (t->fs)
		t->size = want;
	else if (job->offset >= disk)
		t->size = 0;
	else
		t->size = job->size ? job->size : disk - job->offset;
	if (t->size < job->bs || t->size > disk ||
	    job->offset > disk - t->size)
		return msg_usage("the job wants %llu bytes from %llu on, the device has %llu: give size_mb=%llu",
				 (unsigned long long)want,
				 (unsigned long long)job->offset,
				 (unsigned long long)disk,
				 (unsigned long long)wanted_mb(t, job->offset + want));
	return check_blocks(o, job, block);
}

/* Write [offset, offset + size), so that every block is really there. */
static int write_all(int fd, uint64_t offset, uint64_t size)
{
	unsigned char *chunk;
	int err = 0;

	if (posix_memalign((void **)&chunk, 4096, LAYOUT_CHUNK))
		return -ENOMEM;
	memset(chunk, 0x5a, LAYOUT_CHUNK);
	while (size && !err) {
		size_t want = size < LAYOUT_CHUNK ? size : LAYOUT_CHUNK;
		ssize_t n = pwrite(fd, chunk, want, (off_t)offset);

		if (n < 0 && errno != EINTR)
			err = -errno;
		if (guard_stop)
			err = -EINTR;
		if (n > 0) {
			offset += n;
			size -= n;
		}
	}
	free(chunk);
	if (!err && fsync(fd) < 0)
		err = -errno;
	return err;
}

/* Does the job want to find its blocks written? */
static bool wants_written(const struct job *job)
{
	return job->overwrite || job->dir != JOB_WRITE;
}

static int lay_out_fd(const struct target *t, const struct job *job, int fd)
{
	uint64_t end = job->offset + t->size;
	int err = 0;

	if (wants_written(job))
		/* From 0, as a file has no beginning without its start. */
		err = write_all(fd, 0, end);
	else if (t->fs && job->fallocate)
		err = fallocate(fd, 0, 0, (off_t)end) < 0 ? -errno : 0;
	if (!err && t->fs && syncfs(fd) < 0)
		err = -errno;
	if (!err)
		err = -posix_fadvise(fd, 0, 0, POSIX_FADV_DONTNEED);
	return err;
}

static int lay_out(const struct target *t, const struct job *job)
{
	int flags = t->fs ? O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC :
			    O_RDWR | O_EXCL | O_CLOEXEC;
	int fd, err;

	/* A disk that keeps nothing has nothing to lay out. */
	if (!t->fs && (!wants_written(job) || !device_keeps(t->device)))
		return TARE_OK;
	fd = open(t->path, flags, 0600);
	if (fd < 0)
		return msg_error("%s: %s", t->path, strerror(errno));
	err = lay_out_fd(t, job, fd);
	close(fd);
	if (err == -EINTR)
		return msg_error("interrupted before anything was measured");
	if (err == -ENOSPC)
		return msg_usage("the job's %llu bytes do not fit on the %s of this device: give size_mb=%llu",
				 (unsigned long long)(job->offset + t->size),
				 t->fs ? t->fs : "disk",
				 (unsigned long long)wanted_mb(t, job->offset + t->size));
	return err ? msg_error("cannot lay out %s: %s", t->path,
			       strerror(-err)) : TARE_OK;
}

int target_setup(struct target *t, const struct target_options *o,
		 const struct job *job)
{
	int code;

	memset(t, 0, sizeof(*t));
	t->fs = o->fs;
	code = make_device(t, o);
	if (!code) {
		t->disk = device_path(t->device);
		code = find_size(t, o, job);
	}
	if (!code && t->fs)
		code = make_fs(t);
	if (!code && t->fs)
		code = mount_fs(t);
	else if (!code)
		t->path = xstrdup(t->disk);
	if (!code)
		code = lay_out(t, job);
	if (code)
		target_teardown(t);
	return code;
}

static int unmount(struct target *t)
{
	/* A helper of udev may look at it: give it a moment. */
	for (int i = 0; t->mounted && umount(t->dir) < 0; i++) {
		if (errno != EBUSY || i == 50)
			return msg_error("cannot unmount %s: %s", t->dir,
					 strerror(errno));
		usleep(100000);
	}
	t->mounted = false;
	if (t->dir && rmdir(t->dir) < 0)
		msg_warn("%s is left: %s", t->dir, strerror(errno));
	guard_no_mount();
	return TARE_OK;
}

int target_teardown(struct target *t)
{
	int code = unmount(t);

	if (!code && t->own_device) {
		code = device_remove(t->device) ? TARE_FAILED : TARE_OK;
		if (!code)
			guard_no_device();
	}
	free(t->device);
	free(t->disk);
	free(t->dir);
	free(t->path);
	memset(t, 0, sizeof(*t));
	return code;
}

int target_open(const struct target *t, const struct job *job)
{
	int flags = O_CLOEXEC, fd;

	flags |= job->dir == JOB_READ  ? O_RDONLY :
		 job->dir == JOB_WRITE ? O_WRONLY : O_RDWR;
	if (job->direct)
		flags |= O_DIRECT;
	if (job->sync == JOB_SYNC_SYNC)
		flags |= O_SYNC;
	if (job->sync == JOB_SYNC_DSYNC)
		flags |= O_DSYNC;
	if (!t->fs)
		flags |= O_EXCL;	/* not on a mounted disk */
	else if (job->dir != JOB_READ)
		flags |= O_CREAT;
	fd = open(t->path, flags, 0600);
	if (fd < 0) {
		fd = -errno;
		msg_error("%s: %s", t->path, strerror(-fd));
	}
	return fd;
}

int target_map(const struct target *t, int fd, struct fsmap *map)
{
	int err;

	if (!t->fs) {
		fsmap_disk(map);
		return 0;
	}
	err = fsmap_read(map, fd);
	if (err)
		msg_error("cannot read the extents of %s: %s", t->path,
			  strerror(-err));
	return err;
}

// SPDX-License-Identifier: GPL-2.0-only
/*
 * Kernels: which Debian has packaged, which lie in the cache, and the way from
 * one to the other. Nothing is installed and nothing needs root: the packages
 * are unpacked into the cache, where modules can be built against them.
 */
#include "lab.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fnmatch.h>
#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

const char *const lab_series[] = { "6.1", "6.12" };
const size_t lab_nr_series = ARRAY_SIZE(lab_series);

/* Modules for hardware that the virtual machine never has: 300 of 400 MB. */
static const char *const pruned[] = {
	"sound", "net", "drivers/bluetooth", "drivers/gpu", "drivers/hid",
	"drivers/hwmon", "drivers/iio", "drivers/infiniband", "drivers/input",
	"drivers/isdn", "drivers/media", "drivers/mfd", "drivers/mmc",
	"drivers/mtd", "drivers/net", "drivers/platform", "drivers/staging",
	"drivers/thunderbolt", "drivers/usb", "drivers/video",
};

/* Modules that are packed grow as they are unpacked, which no record tells. */
#define ROOM_LEAST (350ULL << 20)
/* Less than this, and a failure is no riddle. */
#define ROOM_NONE (4ULL << 20)

bool kernel_is_series(const char *version)
{
	unsigned int major, minor;
	int end = 0;

	return isdigit((unsigned char)*version) &&
	       sscanf(version, "%3u.%3u%n", &major, &minor, &end) == 2 &&
	       version[end] == '\0';
}

bool kernel_matches(const char *abi, const char *version)
{
	size_t n = strlen(version);

	if (!kernel_is_series(version))
		return !strcmp(abi, version);
	return !strncmp(abi, version, n) && abi[n] == '.';
}

/* It becomes part of a path and of package names. */
static bool valid_abi(const char *abi)
{
	return isdigit((unsigned char)*abi) && !strstr(abi, "..") &&
	       strspn(abi, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
			   "0123456789.+~-_") == strlen(abi);
}

char *kernel_package_abi(const char *package)
{
	static const char prefix[] = "linux-image-";
	static const char *const others[] = {
		"*-dbg", "*-cloud-amd64", "*-rt-amd64", "*-amd64-*",
	};
	char *abi, *tail;

	if (strncmp(package, prefix, strlen(prefix)) ||
	    !isdigit((unsigned char)package[strlen(prefix)]))
		return NULL;
	abi = xstrdup(package + strlen(prefix));
	tail = strstr(abi, "-unsigned");
	if (tail && !tail[strlen("-unsigned")])
		*tail = '\0';
	for (size_t i = 0; i < ARRAY_SIZE(others); i++) {
		if (!fnmatch(others[i], abi, 0)) {
			free(abi);
			return NULL;
		}
	}
	if (fnmatch("*-amd64", abi, 0)) {
		free(abi);
		return NULL;
	}
	return abi;
}

static int by_version(const void *a, const void *b)
{
	return strverscmp(*(char *const *)a, *(char *const *)b);
}

static void sort_versions(struct strlist *list)
{
	if (list->n)
		qsort(list->v, list->n, sizeof(*list->v), by_version);
}

/* apt's record of a package, or NULL: a name that only others mention. */
static char *apt_show(const char *package)
{
	char *argv[] = { "apt-cache", "-q=2", "--no-all-versions", "show",
			 (char *)package, NULL };
	char *out;

	if (host_capture(argv, &out) || !*out) {
		free(out);
		return NULL;
	}
	return out;
}

static bool is_packaged(const char *abi)
{
	char *headers = xasprintf("linux-headers-%s", abi);
	char *show = apt_show(headers);
	bool packaged = show;

	free(headers);
	free(show);
	return packaged;
}

char *kernel_newest_packaged(const char *series)
{
	char *prefix = xasprintf("linux-image-%s.", series);
	char *argv[] = { "apt-cache", "pkgnames", prefix, NULL };
	struct strlist names = {}, abis = {};
	char *out, *newest = NULL;

	if (!host_capture(argv, &out))
		strlist_add_lines(&names, out);
	free(out);
	for (size_t i = 0; i < names.n; i++) {
		char *abi = kernel_package_abi(names.v[i]);

		if (abi)
			strlist_add_new(&abis, abi);
		free(abi);
	}
	sort_versions(&abis);
	for (size_t i = abis.n; i-- && !newest;)
		if (is_packaged(abis.v[i]))
			newest = xstrdup(abis.v[i]);
	strlist_free(&names);
	strlist_free(&abis);
	free(prefix);
	return newest;
}

void kernel_cached(const char *cache, struct strlist *abis)
{
	char *path = xasprintf("%s/kernels", cache);
	DIR *dir = opendir(path);
	struct dirent *entry;

	while (dir && (entry = readdir(dir)))
		if (entry->d_name[0] != '.')
			strlist_add(abis, entry->d_name);
	if (dir)
		closedir(dir);
	sort_versions(abis);
	free(path);
}

void kernel_depends(const char *show, const char *prefix, struct strlist *names)
{
	const char *line = strstr(show, "\nDepends: ");
	char *copy, *rest, *item;

	if (!line)
		return;
	line += strlen("\nDepends: ");
	copy = xasprintf("%.*s", (int)strcspn(line, "\n"), line);
	rest = copy;
	while ((item = strsep(&rest, ",|"))) {
		item += strspn(item, " ");
		item[strcspn(item, " (:")] = '\0';
		if (!strncmp(item, prefix, strlen(prefix)))
			strlist_add_new(names, item);
	}
	free(copy);
}

unsigned long long kernel_package_room(const char *show)
{
	const char *installed = strstr(show, "\nInstalled-Size: ");
	const char *size = strstr(show, "\nSize: ");
	unsigned long long room = 0;

	if (installed)
		room += strtoull(strchr(installed, ':') + 1, NULL, 10) << 10;
	if (size)
		room += strtoull(strchr(size, ':') + 1, NULL, 10);
	return room;
}

static unsigned long long room_left(const char *dir)
{
	struct statvfs fs;

	return statvfs(dir, &fs) ? ~0ULL :
	       (unsigned long long)fs.f_bavail * fs.f_frsize;
}

/* Better before the download than in the middle of it. */
static int need_room(const struct strlist *names, const char *abi,
		     const char *cache)
{
	unsigned long long need = 0, left = room_left(cache);

	for (size_t i = 0; i < names->n; i++) {
		char *show = apt_show(names->v[i]);

		need += show ? kernel_package_room(show) : 0;
		free(show);
	}
	if (need < ROOM_LEAST)
		need = ROOM_LEAST;
	if (left >= need)
		return TARE_OK;
	return msg_cannot("kernel %s needs %llu MB for a while, %s has %llu MB; make room or set TARE_CACHE to a directory of yours",
			  abi, need >> 20, cache, left >> 20);
}

/* The four packages of a kernel. @return false when apt lacks one */
static bool packages_of(const char *abi, struct strlist *names)
{
	char *headers = xasprintf("linux-headers-%s", abi);
	char *image = xasprintf("linux-image-%s-unsigned", abi);
	char *show = apt_show(headers);
	char *show_image = apt_show(image);

	if (show && !show_image) {
		free(image);
		image = xasprintf("linux-image-%s", abi);
		show_image = apt_show(image);
	}
	if (show && show_image) {
		strlist_add(names, image);
		strlist_add(names, headers);
		kernel_depends(show, "linux-headers-", names);
		kernel_depends(show, "linux-kbuild-", names);
	}
	free(headers);
	free(image);
	free(show);
	free(show_image);
	return names->n >= 4;
}

static int need_programs(void)
{
	static const struct {
		const char *program, *package;
	} need[] = {
		{ "apt-get", "apt" }, { "apt-cache", "apt" },
		{ "dpkg-deb", "dpkg" }, { "depmod", "kmod" },
		{ "xz", "xz-utils" },
	};

	for (size_t i = 0; i < ARRAY_SIZE(need); i++)
		if (host_need(need[i].program, need[i].package))
			return TARE_CANNOT;
	return TARE_OK;
}

/* apt-get download into a directory. */
static int download(const struct strlist *names, const char *dir,
		    const char *log)
{
	struct strlist argv = {};
	int err;

	strlist_add(&argv, "apt-get");
	strlist_add(&argv, "-q");
	/* As root apt would warn that user _apt cannot write here. */
	strlist_add(&argv, "-oAPT::Sandbox::User=root");
	strlist_add(&argv, "download");
	for (size_t i = 0; i < names->n; i++)
		strlist_add(&argv, names->v[i]);
	err = host_run(argv.v, dir, log);
	strlist_free(&argv);
	return err;
}

static int unpack_debs(const char *dir, const char *root, const char *log)
{
	struct dirent **entry;
	int n = scandir(dir, &entry, NULL, alphasort);
	int err = n < 0 ? -errno : 0;

	for (int i = 0; i < n; i++) {
		char *deb = xasprintf("%s/%s", dir, entry[i]->d_name);
		char *argv[] = { "dpkg-deb", "-x", deb, (char *)root, NULL };

		if (!err && !fnmatch("*.deb", entry[i]->d_name, 0)) {
			err = host_run(argv, NULL, log);
			unlink(deb);
		}
		free(deb);
		free(entry[i]);
	}
	if (n >= 0)
		free(entry);
	return err;
}

static void prune(const char *root, const char *abi)
{
	for (size_t i = 0; i < ARRAY_SIZE(pruned); i++) {
		char *path = xasprintf("%s/lib/modules/%s/kernel/%s", root, abi,
				       pruned[i]);

		rm_rf(path);
		free(path);
	}
}

static struct strlist packed_modules;

static int note_packed(const char *path, const struct stat *st, int type,
		       struct FTW *ftw)
{
	(void)st;
	(void)ftw;
	if (type == FTW_F && !fnmatch("*.ko.xz", path, 0))
		strlist_add(&packed_modules, path);
	return 0;
}

/*
 * Unpack the modules once, here: in an exact run the guest would need more
 * instructions for that than for booting.
 */
static int unpack_modules(const char *root, const char *log)
{
	char *path = xasprintf("%s/lib/modules", root);
	size_t at = 0;
	int err = 0;

	nftw(path, note_packed, 64, FTW_PHYS);
	while (!err && at < packed_modules.n) {
		struct strlist argv = {};

		strlist_add(&argv, "xz");
		strlist_add(&argv, "-d");
		for (int i = 0; i < 200 && at < packed_modules.n; i++)
			strlist_add(&argv, packed_modules.v[at++]);
		err = host_run(argv.v, NULL, log);
		strlist_free(&argv);
	}
	strlist_free(&packed_modules);
	free(path);
	return err;
}

/*
 * The Makefile of Debian's headers includes /usr/src/…-common/Makefile: let it
 * look beside itself.
 */
static int relocate_headers(const char *root, const char *abi)
{
	static const char old[] = "include /usr/src/";
	char *path = xasprintf("%s/usr/src/linux-headers-%s/Makefile", root, abi);
	char *text = file_read(path);
	char *found = text ? strstr(text, old) : NULL;
	int err = found ? 0 : -ENOENT;

	if (found) {
		char *to = xasprintf("%.*sinclude $(dir $(abspath $(lastword $(MAKEFILE_LIST))))../%s\n",
				     (int)(found - text), text,
				     found + strlen(old));

		err = file_write(path, to);
		free(to);
	}
	free(text);
	free(path);
	return err;
}

static int index_modules(const char *root, const char *abi, const char *log)
{
	char *argv[] = { "depmod", "-b", (char *)root, (char *)abi, NULL };

	return host_run(argv, NULL, log);
}

/* Not finding the ELF kernel only costs time: the packed one boots as well. */
static void unpack_kernel(const char *root, const char *abi)
{
	char *bzimage = xasprintf("%s/boot/vmlinuz-%s", root, abi);
	char *vmlinux = xasprintf("%s/vmlinux", root);
	int err = bzimage_extract(bzimage, vmlinux);

	if (err)
		msg_debug("%s is booted as it is: %s", bzimage, strerror(-err));
	free(bzimage);
	free(vmlinux);
}

/* Everything between download and use. */
static int prepare(const char *dir, const char *root, const char *abi,
		   const char *log)
{
	int err = unpack_debs(dir, root, log);

	if (err)
		return err;
	prune(root, abi);
	err = unpack_modules(root, log);
	if (!err)
		err = relocate_headers(root, abi);
	if (!err)
		err = index_modules(root, abi, log);
	if (!err)
		unpack_kernel(root, abi);
	return err;
}

/* The last word on a fetch is tare's, after that of a program that failed. */
static int fetch_failed(const char *what, const char *hint, const char *abi,
			const char *log)
{
	if (host_signal())
		return TARE_FAILED;
	if (room_left(log) < ROOM_NONE)
		hint = ": no space left";
	host_show_log(log, 10);
	return msg_error("cannot %s kernel %s%s", what, abi, hint);
}

static int fetch_packages(const struct strlist *names, const char *dir,
			  const char *abi, const char *final)
{
	char *root = xasprintf("%s/root", dir);
	char *log = xasprintf("%s/log", dir);
	int code = TARE_OK;

	msg_info("fetching kernel %s into %s", abi, final);
	if (download(names, dir, log))
		code = fetch_failed("download the packages of", " (an old package list? run: apt-get update)",
				    abi, log);
	else if (prepare(dir, root, abi, log))
		code = fetch_failed("unpack", "", abi, log);
	else if (rename(root, final) < 0)
		code = host_cache_error(final, -errno);
	free(root);
	free(log);
	return code;
}

static int fetch_into(const char *kernels, const char *dir, const char *abi,
		      const char *final)
{
	struct strlist names = {};
	int code;

	if (!packages_of(abi, &names))
		code = msg_error("apt knows no packages of kernel %s; is the package list there? run: apt-get update",
				 abi);
	else
		code = need_room(&names, abi, kernels);
	if (!code)
		code = fetch_packages(&names, dir, abi, final);
	strlist_free(&names);
	return code;
}

/*
 * With the lock held: another may have fetched it in the meantime, or have
 * been killed on the way.
 */
static int fetch_locked(const char *kernels, const char *abi, const char *final)
{
	char *dir;
	int code;

	if (!access(final, F_OK))
		return TARE_OK;
	dir = xasprintf("%s/.new-%s", kernels, abi);
	rm_rf(dir);
	if (mkdir(dir, 0777) < 0)
		code = host_cache_error(kernels, -errno);
	else
		code = fetch_into(kernels, dir, abi, final);
	rm_rf(dir);
	free(dir);
	return code;
}

static int fetch(const char *cache, const char *abi)
{
	char *kernels = xasprintf("%s/kernels", cache);
	char *lock = xasprintf("%s/.lock-%s", kernels, abi);
	char *final = xasprintf("%s/%s", kernels, abi);
	int code = TARE_OK, fd;

	if (access(final, F_OK))
		code = need_programs();
	if (!code && access(final, F_OK)) {
		mkdir_p(kernels);
		fd = host_lock(lock);
		if (fd < 0) {
			code = fd == -EINTR ? TARE_FAILED :
					      host_cache_error(kernels, fd);
		} else {
			code = fetch_locked(kernels, abi, final);
			close(fd);
		}
	}
	free(kernels);
	free(lock);
	free(final);
	return code;
}

/* Out of sight at once, then away; the lock keeps a fetch from mixing in. */
static int remove_one(const char *kernels, const char *abi,
		      unsigned long long *bytes)
{
	char *lock = xasprintf("%s/.lock-%s", kernels, abi);
	char *final = xasprintf("%s/%s", kernels, abi);
	char *dir = xasprintf("%s/.new-%s", kernels, abi);
	int fd = host_lock(lock), err = fd < 0 ? fd : rm_rf(dir);

	if (!err && !rename(final, dir)) {
		*bytes += host_tree_size(dir);
		err = rm_rf(dir);
	}
	if (fd >= 0)
		close(fd);
	free(lock);
	free(final);
	free(dir);
	return err;
}

int kernel_remove_all(const char *cache, unsigned long long *bytes)
{
	char *kernels = xasprintf("%s/kernels", cache);
	struct strlist abis = {};
	DIR *dir = opendir(kernels);
	struct dirent *entry;
	int err = 0;

	while (dir && (entry = readdir(dir))) {
		const char *name = entry->d_name;

		if (!strncmp(name, ".lock-", strlen(".lock-")))
			strlist_add_new(&abis, name + strlen(".lock-"));
	}
	if (dir)
		closedir(dir);
	for (size_t i = 0; !err && i < abis.n; i++)
		err = remove_one(kernels, abis.v[i], bytes);
	strlist_free(&abis);
	free(kernels);
	return err;
}

static char *newest_cached(const char *cache, const char *series)
{
	struct strlist abis = {};
	char *abi = NULL;

	kernel_cached(cache, &abis);
	for (size_t i = abis.n; i-- && !abi;)
		if (kernel_matches(abis.v[i], series))
			abi = xstrdup(abis.v[i]);
	strlist_free(&abis);
	return abi;
}

/* The ABI that a user's VERSION means. */
static char *resolve(const char *cache, const char *version, bool refresh)
{
	char *abi = NULL;

	if (!kernel_is_series(version))
		return xstrdup(version);
	if (!refresh)
		abi = newest_cached(cache, version);
	if (abi || need_programs())
		return abi;
	abi = kernel_newest_packaged(version);
	if (!abi)
		msg_error("apt knows no kernel %s; is the package list there? run: apt-get update",
			  version);
	return abi;
}

static void fill(struct lab_kernel *kernel, const char *cache, char *abi)
{
	char *vmlinux;

	kernel->abi = abi;
	kernel->root = xasprintf("%s/kernels/%s", cache, abi);
	vmlinux = xasprintf("%s/vmlinux", kernel->root);
	if (!access(vmlinux, R_OK)) {
		kernel->image = vmlinux;
		return;
	}
	free(vmlinux);
	kernel->image = xasprintf("%s/boot/vmlinuz-%s", kernel->root, abi);
}

int kernel_get(const char *version, bool refresh, struct lab_kernel *kernel)
{
	char *cache, *abi;
	int code;

	memset(kernel, 0, sizeof(*kernel));
	if (!kernel_is_series(version) && !valid_abi(version))
		return msg_usage("'%s' is no kernel version: give a series (6.1) or a full name (6.1.0-57-amd64)",
				 version);
	code = host_cache(&cache);
	if (code)
		return code;
	abi = resolve(cache, version, refresh);
	code = abi ? fetch(cache, abi) : TARE_FAILED;
	if (!code)
		fill(kernel, cache, abi);
	else
		free(abi);
	free(cache);
	return code;
}

void kernel_put(struct lab_kernel *kernel)
{
	free(kernel->abi);
	free(kernel->root);
	free(kernel->image);
	memset(kernel, 0, sizeof(*kernel));
}

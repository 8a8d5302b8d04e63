// SPDX-License-Identifier: GPL-2.0-only
/*
 * The project's modules for a kernel of the cache, built out of tree. Each
 * kernel has a tree of links to the sources under build/modules/ABI, so that
 * two kernels do not fight over object files.
 */
#include "lab.h"

#include <dirent.h>
#include <errno.h>
#include <fnmatch.h>
#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define DRIVER_DIR "driver"
#define TEST_DIR "tests/guest/ko"

static const char *const source_patterns[] = {
	"*.c", "*.h", "*.S", "Kbuild", "Makefile",
};

static bool is_source(const char *name)
{
	if (!fnmatch("*.mod.c", name, 0))
		return false;
	for (size_t i = 0; i < ARRAY_SIZE(source_patterns); i++)
		if (!fnmatch(source_patterns[i], name, 0))
			return true;
	return false;
}

/* Source files below DIR of the source tree, relative to it. */
static void find_sources(const char *source, const char *dir,
			 struct strlist *files)
{
	char *path = xasprintf("%s/%s", source, dir);
	struct dirent **entry;
	int n = scandir(path, &entry, NULL, alphasort);

	for (int i = 0; i < n; i++) {
		const char *name = entry[i]->d_name;
		char *rel = xasprintf("%s/%s", dir, name);
		char *full = xasprintf("%s/%s", source, rel);
		struct stat st;

		if (name[0] != '.' && !stat(full, &st)) {
			if (S_ISDIR(st.st_mode))
				find_sources(source, rel, files);
			else if (is_source(name))
				strlist_add(files, rel);
		}
		free(rel);
		free(full);
		free(entry[i]);
	}
	if (n >= 0)
		free(entry);
	free(path);
}

static int link_file(const char *source, const char *build, const char *rel)
{
	char *from = xasprintf("%s/%s", source, rel);
	char *to = xasprintf("%s/%s", build, rel);
	char *slash = strrchr(to, '/');
	int err;

	*slash = '\0';
	err = mkdir_p(to);
	*slash = '/';
	if (!err && access(to, F_OK)) {
		unlink(to);
		if (symlink(from, to) < 0)
			err = -errno;
	}
	free(from);
	free(to);
	return err;
}

static int unlink_dangling(const char *path, const struct stat *st, int type,
			   struct FTW *ftw)
{
	(void)st;
	(void)ftw;
	if (type == FTW_SLN)
		unlink(path);
	return 0;
}

static int link_sources(const char *source, const char *build,
			const struct strlist *files)
{
	int err = 0;

	/* Deleted sources first: a header may have moved. */
	nftw(build, unlink_dangling, 32, 0);
	for (size_t i = 0; !err && i < files->n; i++)
		err = link_file(source, build, files->v[i]);
	return err;
}

static bool newer(const struct stat *a, const struct stat *b)
{
	return a->st_mtim.tv_sec != b->st_mtim.tv_sec ?
		       a->st_mtim.tv_sec > b->st_mtim.tv_sec :
		       a->st_mtim.tv_nsec >= b->st_mtim.tv_nsec;
}

/*
 * Whether anything changed since the stamp was set. The stamp holds the list
 * of the sources: a file that went away counts too.
 */
static bool up_to_date(const char *source, const char *stamp,
		       const char *contents, const struct strlist *files)
{
	char *old = file_read(stamp);
	bool same = old && !strcmp(old, contents);
	struct stat st, built;

	free(old);
	if (!same || stat(stamp, &built) < 0)
		return false;
	for (size_t i = 0; i < files->n; i++) {
		char *path = xasprintf("%s/%s", source, files->v[i]);
		bool changed = stat(path, &st) < 0 || newer(&st, &built);

		free(path);
		if (changed)
			return false;
	}
	return true;
}

static char *joined(const struct strlist *list)
{
	char *text = xstrdup("tare");

	for (size_t i = 0; i < list->n; i++) {
		char *more = xasprintf("%s\n%s", text, list->v[i]);

		free(text);
		text = more;
	}
	return text;
}

static int set_stamp(const char *stamp, const char *contents)
{
	FILE *f = fopen(stamp, "we");

	if (!f)
		return -errno;
	fputs(contents, f);
	return fclose(f) ? -errno : 0;
}

/* Test modules need no Kbuild of their own: one module for each .c file. */
static int test_kbuild(const char *build, const struct strlist *files)
{
	char *path = xasprintf("%s/" TEST_DIR "/Kbuild", build);
	FILE *f;
	int err = 0;

	if (access(path, F_OK)) {
		f = fopen(path, "we");
		if (!f)
			err = -errno;
		for (size_t i = 0; f && i < files->n; i++) {
			const char *name = strrchr(files->v[i], '/') + 1;

			if (!fnmatch("*.c", name, 0))
				fprintf(f, "obj-m += %.*s.o\n",
					(int)strlen(name) - 2, name);
		}
		if (f)
			fprintf(f, "ccflags-y += -I$(src)/../../../driver\n");
		if (f && fclose(f))
			err = -errno;
	}
	free(path);
	return err;
}

static int make(const struct lab_kernel *kernel, const char *build,
		const char *dir, const char *log)
{
	char *headers = xasprintf("%s/usr/src/linux-headers-%s", kernel->root,
				  kernel->abi);
	char *m = xasprintf("M=%s%s%s", build, *dir ? "/" : "", dir);
	char *symbols = xasprintf("KBUILD_EXTRA_SYMBOLS=%s/Module.symvers",
				  build);
	char *jobs = xasprintf("-j%ld", sysconf(_SC_NPROCESSORS_ONLN));
	char *argv[] = { "make", "-s", "-C", headers, jobs, m,
			 *dir ? symbols : "modules", "modules", NULL };
	int err = host_run(argv, NULL, log);

	free(headers);
	free(m);
	free(symbols);
	free(jobs);
	return err;
}

static int make_all(const struct lab_kernel *kernel, const char *source,
		    const char *build, const struct strlist *tests)
{
	char *log = xasprintf("%s/log", build);
	char *kbuild = xasprintf("%s/Kbuild", source);
	int err = 0;

	unlink(log);
	if (!access(kbuild, F_OK))
		err = make(kernel, build, "", log);
	if (!err && tests->n)
		err = make(kernel, build, TEST_DIR, log);
	if (err) {
		msg_error("the modules do not build for kernel %s", kernel->abi);
		host_show_log(log, 60);
	} else if (tare_verbosity >= 2) {
		host_show_log(log, 60);
	}
	free(log);
	free(kbuild);
	return err ? TARE_FAILED : TARE_OK;
}

static int need_compiler(void)
{
	if (host_need("make", "make") || host_need("gcc-12", "gcc-12"))
		return TARE_CANNOT;
	return TARE_OK;
}

/* With the lock of the build directory held. */
static int build_locked(const struct lab_kernel *kernel, const char *source,
			const char *build)
{
	char *stamp = xasprintf("%s/.stamp", build);
	char *pending = xasprintf("%s/.stamp-new", build);
	struct strlist files = {}, tests = {};
	char *contents;
	int code = TARE_OK, err;

	strlist_add(&files, "Kbuild");
	find_sources(source, DRIVER_DIR, &files);
	find_sources(source, TEST_DIR, &tests);
	for (size_t i = 0; i < tests.n; i++)
		strlist_add(&files, tests.v[i]);
	contents = joined(&files);
	if (!up_to_date(source, stamp, contents, &files)) {
		/* Its date is from before the build: edits meanwhile count. */
		unlink(stamp);
		err = set_stamp(pending, contents);
		if (!err)
			err = link_sources(source, build, &files);
		if (!err && tests.n)
			err = test_kbuild(build, &tests);
		if (err)
			code = msg_error("cannot write %s: %s", build,
					 strerror(-err));
		else
			code = need_compiler();
		if (!code)
			msg_info("building the modules for kernel %s",
				 kernel->abi);
		if (!code)
			code = make_all(kernel, source, build, &tests);
		if (!code)
			rename(pending, stamp);
	}
	free(contents);
	free(stamp);
	free(pending);
	strlist_free(&files);
	strlist_free(&tests);
	return code;
}

static struct strlist *ko_list;

static int note_ko(const char *path, const struct stat *st, int type,
		   struct FTW *ftw)
{
	(void)st;
	(void)ftw;
	if (type == FTW_F && !fnmatch("*.ko", path, 0))
		strlist_add(ko_list, path);
	return 0;
}

int kbuild_modules(const struct lab_kernel *kernel, struct strlist *kos)
{
	char *source = host_source(), *build, *lock, *kbuild;
	int code = TARE_CANNOT, fd;

	if (!source)
		return code;
	build = xasprintf("%s/build/modules/%s", source, kernel->abi);
	lock = xasprintf("%s/build/modules/.lock-%s", source, kernel->abi);
	kbuild = xasprintf("%s/Kbuild", source);
	fd = mkdir_p(build) ? -EACCES : host_lock(lock);
	if (access(kbuild, F_OK)) {
		code = TARE_OK;
		msg_debug("no Kbuild in %s: no modules of our own", source);
	} else if (fd < 0) {
		code = msg_error("cannot write %s: %s", build, strerror(-fd));
	} else {
		code = build_locked(kernel, source, build);
		ko_list = kos;
		if (!code)
			nftw(build, note_ko, 32, FTW_PHYS);
	}
	if (fd >= 0)
		close(fd);
	free(source);
	free(build);
	free(lock);
	free(kbuild);
	return code;
}

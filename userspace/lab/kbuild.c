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

/* Whether any source is younger than the stamp. */
static bool changed_since(const char *source, const char *stamp,
			  const struct strlist *files)
{
	struct stat st, built;
	bool changed = stat(stamp, &built) < 0;

	for (size_t i = 0; !changed && i < files->n; i++) {
		char *path = xasprintf("%s/%s", source, files->v[i]);

		changed = stat(path, &st) < 0 || newer(&st, &built);
		free(path);
	}
	return changed;
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
	char *path;
	int err = 0;
	FILE *f;

	if (!files->n || strlist_has(files, TEST_DIR "/Kbuild"))
		return 0;
	path = xasprintf("%s/" TEST_DIR "/Kbuild", build);
	f = fopen(path, "we");
	free(path);
	if (!f)
		return -errno;
	for (size_t i = 0; i < files->n; i++) {
		const char *name = strrchr(files->v[i], '/') + 1;

		if (!fnmatch("*.c", name, 0))
			fprintf(f, "obj-m += %.*s.o\n", (int)strlen(name) - 2,
				name);
	}
	fprintf(f, "ccflags-y += -I$(src)/../../../" DRIVER_DIR "\n");
	if (fclose(f))
		err = -errno;
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

static int make_all(const struct lab_kernel *kernel, const char *build,
		    const struct strlist *tests)
{
	char *log = xasprintf("%s/log", build);
	int err;

	unlink(log);
	err = make(kernel, build, "", log);
	if (!err && tests->n)
		err = make(kernel, build, TEST_DIR, log);
	if (err && !host_signal()) {
		host_show_log(log, 60);
		msg_error("the modules do not build for kernel %s", kernel->abi);
	} else if (!err && tare_verbosity >= 2) {
		host_show_log(log, 60);
	}
	free(log);
	return err ? TARE_FAILED : TARE_OK;
}

static int need_compiler(void)
{
	if (host_need("make", "make") || host_need("gcc-12", "gcc-12"))
		return TARE_CANNOT;
	return TARE_OK;
}

/* The sources of one build, and the stamp that tells what was built last. */
struct sources {
	struct strlist files, tests;
	char *stamp;		/* file; holds the list of sources */
	char *contents;		/* what it should hold */
};

static void sources_find(struct sources *s, const char *source,
			 const char *build)
{
	memset(s, 0, sizeof(*s));
	strlist_add(&s->files, "Kbuild");
	find_sources(source, DRIVER_DIR, &s->files);
	find_sources(source, TEST_DIR, &s->tests);
	for (size_t i = 0; i < s->tests.n; i++)
		strlist_add(&s->files, s->tests.v[i]);
	s->stamp = xasprintf("%s/.stamp", build);
	s->contents = joined(&s->files);
}

static void sources_free(struct sources *s)
{
	strlist_free(&s->files);
	strlist_free(&s->tests);
	free(s->stamp);
	free(s->contents);
}

static int link_all(const struct sources *s, const char *source,
		    const char *build)
{
	int err = link_sources(source, build, &s->files);

	if (!err)
		err = test_kbuild(build, &s->tests);
	return err ? msg_error("cannot write %s: %s", build, strerror(-err)) :
		     TARE_OK;
}

static int rebuild(const struct lab_kernel *kernel, const struct sources *s,
		   const char *source, const char *build)
{
	char *pending = xasprintf("%s/.stamp-new", build);
	int code = need_compiler();

	/* Its date is from before the build: edits meanwhile count. */
	unlink(s->stamp);
	if (!code && set_stamp(pending, s->contents))
		code = msg_error("cannot write %s", pending);
	if (!code)
		code = link_all(s, source, build);
	if (!code) {
		msg_info("building the modules for kernel %s", kernel->abi);
		code = make_all(kernel, build, &s->tests);
	}
	if (!code)
		rename(pending, s->stamp);
	free(pending);
	return code;
}

/* With the lock of the build directory held. */
static int build_locked(const struct lab_kernel *kernel, const char *source,
			const char *build)
{
	struct sources s;
	int code = TARE_OK;
	char *old;

	sources_find(&s, source, build);
	old = file_read(s.stamp);
	/*
	 * From nothing, a few seconds: make would keep an object that was
	 * compiled while its source was being edited, and the module of a
	 * source that is gone.
	 */
	if (!old || strcmp(old, s.contents) ||
	    changed_since(source, s.stamp, &s.files)) {
		rm_rf(build);
		mkdir_p(build);
		code = rebuild(kernel, &s, source, build);
	}
	free(old);
	sources_free(&s);
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

static int build_in(const struct lab_kernel *kernel, const char *source,
		    struct strlist *kos, int *lock)
{
	char *build = xasprintf("%s/build/modules/%s", source, kernel->abi);
	char *lock_file = xasprintf("%s/build/modules/.lock-%s", source,
				    kernel->abi);
	int code = TARE_FAILED;

	*lock = mkdir_p(build);
	if (!*lock)
		*lock = host_lock(lock_file);
	if (*lock < 0)
		msg_error("cannot write %s: %s", build, strerror(-*lock));
	else
		code = build_locked(kernel, source, build);
	ko_list = kos;
	if (!code)
		nftw(build, note_ko, 32, FTW_PHYS);
	free(build);
	free(lock_file);
	return code;
}

int kbuild_modules(const struct lab_kernel *kernel, struct strlist *kos,
		   int *lock)
{
	char *source = host_source(), *kbuild;
	int code = TARE_OK;

	*lock = -1;
	if (!source)
		return TARE_CANNOT;
	kbuild = xasprintf("%s/Kbuild", source);
	if (access(kbuild, R_OK))
		code = msg_cannot("%s is missing: nothing to build (for a run without the modules: --no-modules)",
				  kbuild);
	else
		code = build_in(kernel, source, kos, lock);
	free(source);
	free(kbuild);
	return code;
}

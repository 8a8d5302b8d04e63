// SPDX-License-Identifier: GPL-2.0-only
/* Kernel modules: dependencies, and an index of what is packed. */
#include "lab.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* "kernel/fs/ext4/ext4.ko" is module ext4; - and _ are the same. */
static bool is_module(const char *path, size_t len, const char *name)
{
	size_t i = 0;

	for (const char *p = path; p < path + len; p++) {
		if (*p == '/') {
			len -= p + 1 - path;
			path = p + 1;
		}
	}
	for (; name[i] && i < len; i++) {
		char a = path[i] == '-' ? '_' : path[i];
		char b = name[i] == '-' ? '_' : name[i];

		if (a != b)
			return false;
	}
	return !name[i] && !strncmp(path + i, ".ko", 3);
}

int modules_closure(const char *dep, const char *name, struct strlist *paths)
{
	for (const char *line = dep; *line;) {
		size_t len = strcspn(line, "\n");
		size_t colon = strcspn(line, ":\n");

		if (is_module(line, colon, name)) {
			char *copy = xasprintf("%.*s", (int)len, line);
			char *rest = copy, *path;

			while ((path = strsep(&rest, " :")))
				if (*path)
					strlist_add_new(paths, path);
			free(copy);
			return 0;
		}
		line += len + (line[len] == '\n');
	}
	return -ENOENT;
}

/* Built into the kernel: nothing to pack. */
static bool is_builtin(const char *builtin, const char *name)
{
	for (const char *line = builtin; *line;) {
		size_t len = strcspn(line, "\n");

		if (is_module(line, len, name))
			return true;
		line += len + (line[len] == '\n');
	}
	return false;
}

static int find_modules(const struct image_spec *spec, struct strlist *paths)
{
	const struct lab_kernel *k = spec->kernel;
	char *dep_path = xasprintf("%s/lib/modules/%s/modules.dep", k->root,
				   k->abi);
	char *builtin_path = xasprintf("%s/lib/modules/%s/modules.builtin",
				       k->root, k->abi);
	char *dep = file_read(dep_path);
	char *builtin = file_read(builtin_path);
	int code = TARE_OK;

	if (!dep)
		code = msg_error("kernel %s in the cache is damaged (no modules.dep): 'tare lab clean' and fetch it again",
				 k->abi);
	for (size_t i = 0; !code && i < spec->modules.n; i++) {
		const char *name = spec->modules.v[i];

		if (modules_closure(dep, name, paths) &&
		    !(builtin && is_builtin(builtin, name)))
			code = msg_error("kernel %s has no module '%s'", k->abi,
					 name);
	}
	free(dep);
	free(builtin);
	free(dep_path);
	free(builtin_path);
	return code;
}

/* depmod only reads the modules: links to them do. */
static int stage(const char *host, const char *dir, const char *path)
{
	char *link = xasprintf("%s/%s", dir, path);
	char *slash = strrchr(link, '/');
	int err;

	*slash = '\0';
	err = mkdir_p(link);
	*slash = '/';
	if (!err && symlink(host, link) < 0 && errno != EEXIST)
		err = -errno;
	free(link);
	return err;
}

static int add_module(struct cpio *c, const char *base, const char *stage_dir,
		      const char *path, const char *host)
{
	char *guest = xasprintf("%s/%s", base, path);
	int err = stage(host, stage_dir, path);

	if (!err)
		err = cpio_file(c, guest, host);
	if (err)
		msg_error("cannot pack module %s: %s", host, strerror(-err));
	free(guest);
	return err;
}

/*
 * A module of the project, without its debugging sections: they are most of
 * it, and loading them costs the guest millions of instructions.
 */
static int add_own(struct cpio *c, const char *base, const char *stage_dir,
		   const char *ko)
{
	const char *name = strrchr(ko, '/') + 1;
	char *path = xasprintf("extra/%s", name);
	char *stripped = xasprintf("%s/%s.stripped", stage_dir, name);
	char *argv[] = { "strip", "-S", "-o", stripped, (char *)ko, NULL };
	int err = mkdir_p(stage_dir);

	if (!err)
		err = add_module(c, base, stage_dir, path,
				 host_run(argv, NULL, NULL) ? ko : stripped);
	free(path);
	free(stripped);
	return err;
}

static int add_modules(struct cpio *c, const char *base, const char *stage_dir,
		       const struct image_spec *spec, const struct strlist *paths)
{
	const struct lab_kernel *k = spec->kernel;
	int err = 0;

	for (size_t i = 0; !err && i < paths->n; i++) {
		char *host = xasprintf("%s/lib/modules/%s/%s", k->root, k->abi,
				       paths->v[i]);

		err = add_module(c, base, stage_dir, paths->v[i], host);
		free(host);
	}
	for (size_t i = 0; !err && i < spec->kos.n; i++)
		err = add_own(c, base, stage_dir, spec->kos.v[i]);
	return err;
}

static int add_index(struct cpio *c, const char *base, const char *stage_dir)
{
	static const char *const files[] = {
		"modules.dep", "modules.alias", "modules.softdep",
		"modules.symbols", "modules.builtin",
	};

	for (size_t i = 0; i < ARRAY_SIZE(files); i++) {
		char *host = xasprintf("%s/%s", stage_dir, files[i]);
		char *guest = xasprintf("%s/%s", base, files[i]);
		int err = cpio_file(c, guest, host);

		free(host);
		free(guest);
		/* Older versions of depmod write fewer of them. */
		if (err && i == 0)
			return err;
	}
	return 0;
}

/* Files of the kernel's own that depmod wants to see. */
static void stage_lists(const struct lab_kernel *k, const char *stage_dir)
{
	static const char *const files[] = {
		"modules.builtin", "modules.builtin.modinfo", "modules.order",
	};

	for (size_t i = 0; i < ARRAY_SIZE(files); i++) {
		char *host = xasprintf("%s/lib/modules/%s/%s", k->root, k->abi,
				       files[i]);

		stage(host, stage_dir, files[i]);
		free(host);
	}
}

int modules_pack(struct cpio *c, const char *dir, const struct image_spec *spec)
{
	const char *abi = spec->kernel->abi;
	char *base = xasprintf("/usr/lib/modules/%s", abi);
	char *stage_dir = xasprintf("%s/lib/modules/%s", dir, abi);
	char *argv[] = { "depmod", "-b", (char *)dir, (char *)abi, NULL };
	struct strlist paths = {};
	int code = host_need("depmod", "kmod");

	if (!code)
		code = find_modules(spec, &paths);
	if (!code && add_modules(c, base, stage_dir, spec, &paths))
		code = TARE_FAILED;
	if (!code) {
		stage_lists(spec->kernel, stage_dir);
		if (host_run(argv, NULL, NULL) || add_index(c, base, stage_dir))
			code = msg_error("cannot index the modules of kernel %s",
					 abi);
	}
	strlist_free(&paths);
	free(base);
	free(stage_dir);
	return code;
}

// SPDX-License-Identifier: GPL-2.0-only
/*
 * Writer of "newc" cpio archives. Everything belongs to root and carries the
 * same date, so that equal contents give equal archives: exact runs depend on
 * it. /bin, /sbin, /lib and /lib64 are links into /usr, as on Debian.
 */
#include "lab.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>

struct cpio {
	FILE *f;
	struct strlist names;
	unsigned int ino;
	int err;
};

struct header {
	const char *name;
	unsigned int mode, size, major, minor;
};

static void pad(struct cpio *c)
{
	static const char zero[4];
	long at = ftell(c->f);

	if (at >= 0 && at % 4)
		fwrite(zero, 1, 4 - at % 4, c->f);
}

static void put_header(struct cpio *c, const struct header *h)
{
	fprintf(c->f, "070701%08X%08X%08X%08X%08X%08X%08X%08X%08X%08X%08X%08X%08X",
		++c->ino, h->mode, 0u, 0u, 1u, 0u, h->size, 0u, 0u,
		h->major, h->minor, (unsigned int)strlen(h->name) + 1, 0u);
	fwrite(h->name, 1, strlen(h->name) + 1, c->f);
	pad(c);
}

/* The name inside the archive: no leading slash, no link on the way. */
static char *archive_name(const char *path)
{
	static const char *const merged[] = { "bin", "sbin", "lib", "lib64" };

	while (*path == '/')
		path++;
	for (size_t i = 0; i < ARRAY_SIZE(merged); i++) {
		size_t n = strlen(merged[i]);

		if (!strncmp(path, merged[i], n) && path[n] == '/')
			return xasprintf("usr/%s", path);
	}
	return xstrdup(path);
}

static void make_dir(struct cpio *c, char *name)
{
	if (*name && strlist_add_new(&c->names, name))
		put_header(c, &(struct header){ name, S_IFDIR | 0755, 0, 0, 0 });
}

/* Make the parents; @return false when the name is there already. */
static bool begin(struct cpio *c, char *name)
{
	if (!*name || strlist_has(&c->names, name))
		return false;
	for (char *p = strchr(name, '/'); p; p = strchr(p + 1, '/')) {
		*p = '\0';
		make_dir(c, name);
		*p = '/';
	}
	return true;
}

static void put(struct cpio *c, const char *path, struct header h,
		const void *data)
{
	char *name = archive_name(path);

	if (begin(c, name)) {
		strlist_add(&c->names, name);
		h.name = name;
		put_header(c, &h);
		if (h.size)
			fwrite(data, 1, h.size, c->f);
		pad(c);
	}
	free(name);
}

struct cpio *cpio_create(const char *path)
{
	struct cpio *c = xcalloc(1, sizeof(*c));

	c->f = fopen(path, "we");
	if (!c->f) {
		free(c);
		return NULL;
	}
	return c;
}

void cpio_dir(struct cpio *c, const char *path)
{
	char *name = archive_name(path);

	if (begin(c, name))
		make_dir(c, name);
	free(name);
}

void cpio_data(struct cpio *c, const char *path, unsigned int mode,
	       const void *data, size_t size)
{
	if (size > 0x7fffffff) {
		c->err = c->err ? c->err : -EFBIG;
		return;
	}
	put(c, path, (struct header){ .mode = S_IFREG | mode, .size = size },
	    data);
}

void cpio_link(struct cpio *c, const char *path, const char *target)
{
	put(c, path,
	    (struct header){ .mode = S_IFLNK | 0777, .size = strlen(target) },
	    target);
}

void cpio_chardev(struct cpio *c, const char *path, unsigned int mode,
		  unsigned int major, unsigned int minor)
{
	put(c, path,
	    (struct header){ .mode = S_IFCHR | mode, .major = major,
			     .minor = minor },
	    NULL);
}

/* Contents of a regular file. @return 0 or -errno */
static int slurp(const char *host, char **data, struct stat *st)
{
	FILE *f = fopen(host, "re");
	int err = 0;

	*data = NULL;
	if (!f)
		return -errno;
	if (fstat(fileno(f), st) < 0) {
		err = -errno;
	} else if (!S_ISREG(st->st_mode)) {
		err = S_ISDIR(st->st_mode) ? -EISDIR : -EINVAL;
	} else {
		*data = xmalloc(st->st_size);
		if (fread(*data, 1, st->st_size, f) != (size_t)st->st_size)
			err = -EIO;
	}
	fclose(f);
	return err;
}

int cpio_file(struct cpio *c, const char *path, const char *host)
{
	struct stat st;
	char *data;
	int err = slurp(host, &data, &st);

	if (!err)
		cpio_data(c, path, st.st_mode & 0777, data, st.st_size);
	free(data);
	return err;
}

static int copy_entries(struct cpio *c, const char *path, const char *host,
			struct dirent **entry, int n)
{
	int err = 0;

	for (int i = 0; i < n; i++) {
		char *to = xasprintf("%s/%s", path, entry[i]->d_name);
		char *from = xasprintf("%s/%s", host, entry[i]->d_name);

		if (!err && strcmp(entry[i]->d_name, ".") &&
		    strcmp(entry[i]->d_name, ".."))
			err = cpio_tree(c, to, from);
		free(to);
		free(from);
		free(entry[i]);
	}
	free(entry);
	return err;
}

int cpio_tree(struct cpio *c, const char *path, const char *host)
{
	struct dirent **entry;
	struct stat st;
	int n;

	if (stat(host, &st) < 0)
		return -errno;
	if (!S_ISDIR(st.st_mode))
		return cpio_file(c, path, host);
	cpio_dir(c, path);
	/* Sorted: the archive must not depend on the host's file system. */
	n = scandir(host, &entry, NULL, alphasort);
	return n < 0 ? -errno : copy_entries(c, path, host, entry, n);
}

int cpio_close(struct cpio *c)
{
	int err = c->err;

	put_header(c, &(struct header){ "TRAILER!!!", 0, 0, 0, 0 });
	if (fflush(c->f) || ferror(c->f))
		err = err ? err : -EIO;
	if (fclose(c->f))
		err = err ? err : -errno;
	strlist_free(&c->names);
	free(c);
	return err;
}

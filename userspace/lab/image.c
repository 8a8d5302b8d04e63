// SPDX-License-Identifier: GPL-2.0-only
/*
 * The initramfs: busybox with all its names, the init script, host programs
 * with their libraries, kernel modules, the project's configuration files and
 * the command. It is written anew for every run, uncompressed: that takes less
 * time than the guest would need to unpack it.
 */
#include "lab.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* Files that a program reads. */
static const struct {
	const char *program, *file;
} companions[] = {
	{ "mkfs.ext4", "/etc/mke2fs.conf" },
	{ "mke2fs", "/etc/mke2fs.conf" },
};

int ldd_parse(const char *text, struct strlist *libs, char **missing)
{
	struct strlist lines = {};
	int err = 0;

	strlist_add_lines(&lines, text);
	for (size_t i = 0; i < lines.n; i++) {
		char *line = lines.v[i];
		char *path = strchr(line, '/');

		if (strstr(line, "=> not found")) {
			line += strspn(line, "\t ");
			line[strcspn(line, " ")] = '\0';
			*missing = xstrdup(line);
			err = -ENOENT;
			break;
		}
		if (!path || !strstr(path, " (0x"))
			continue;
		path[strcspn(path, " ")] = '\0';
		strlist_add_new(libs, path);
	}
	strlist_free(&lines);
	return err;
}

char *shell_quote(const char *s)
{
	char *quoted = xmalloc(4 * strlen(s) + 3);
	char *p = quoted;

	*p++ = '\'';
	for (; *s; s++) {
		if (*s == '\'')
			p = stpcpy(p, "'\\''");
		else
			*p++ = *s;
	}
	strcpy(p, "'");
	return quoted;
}

static int add_libraries(struct cpio *c, const char *host)
{
	char *argv[] = { "ldd", (char *)host, NULL };
	struct strlist libs = {};
	char *text, *missing = NULL;
	int err = 0;

	/* ldd fails for what needs no library. */
	if (host_capture(argv, &text) == 0)
		err = ldd_parse(text, &libs, &missing);
	if (err)
		msg_error("%s needs %s, which is not on this machine", host,
			  missing);
	for (size_t i = 0; !err && i < libs.n; i++) {
		err = cpio_file(c, libs.v[i], libs.v[i]);
		if (err)
			msg_error("cannot pack %s: %s", libs.v[i],
				  strerror(-err));
	}
	strlist_free(&libs);
	free(text);
	free(missing);
	return err;
}

/* The interpreter named in the first line of a script, or NULL. */
static char *interpreter(const char *host)
{
	char line[256] = "";
	FILE *f = fopen(host, "re");
	char *p;

	if (!f)
		return NULL;
	p = fgets(line, sizeof(line), f);
	fclose(f);
	if (!p || strncmp(line, "#!", 2))
		return NULL;
	p += 2 + strspn(line + 2, " ");
	p[strcspn(p, " \n")] = '\0';
	/* The guest's own sh and env will do. */
	if (!strcmp(p, "/bin/sh") || !strcmp(p, "/usr/bin/env"))
		return NULL;
	return xstrdup(p);
}

static void add_companions(struct cpio *c, const char *name)
{
	for (size_t i = 0; i < ARRAY_SIZE(companions); i++)
		if (!strcmp(companions[i].program, name))
			cpio_file(c, companions[i].file, companions[i].file);
}

/* A program at the place where the host has it, and what it needs. */
static int add_program(struct cpio *c, const char *guest, const char *host)
{
	const char *name = strrchr(host, '/');
	char *script = interpreter(host);
	int err = cpio_file(c, guest, host);

	if (err)
		msg_error("cannot pack %s: %s", host, strerror(-err));
	else
		err = add_libraries(c, host);
	if (!err && script)
		err = add_program(c, script, script);
	add_companions(c, name ? name + 1 : host);
	free(script);
	return err;
}

/* One named by its path is in PATH as well. */
static int add_by_path(struct cpio *c, const char *path)
{
	char *real = path[0] == '/' ? xstrdup(path) : realpath(path, NULL);
	char *link;
	int err;

	if (!real)
		return msg_error("cannot read %s: %s", path, strerror(errno));
	link = xasprintf("/usr/local/bin/%s", strrchr(real, '/') + 1);
	err = add_program(c, real, real);
	cpio_link(c, link, real);
	free(link);
	free(real);
	return err;
}

static int add_programs(struct cpio *c, const struct image_spec *spec)
{
	for (size_t i = 0; i < spec->programs.n; i++) {
		const char *name = spec->programs.v[i];
		char *path = host_program(name);
		int err;

		if (!path)
			return msg_cannot("program %s is not on this machine",
					  name);
		err = strchr(name, '/') ? add_by_path(c, path) :
					  add_program(c, path, path);
		free(path);
		if (err)
			return TARE_FAILED;
	}
	return TARE_OK;
}

static void add_applets(struct cpio *c, const char *text)
{
	struct strlist names = {};

	strlist_add_lines(&names, text);
	for (size_t i = 0; i < names.n; i++) {
		char *link = xasprintf("/usr/bin/%s", names.v[i]);

		cpio_link(c, link, "busybox");
		free(link);
	}
	/* The kernel asks for this one by its full name. */
	cpio_link(c, "/usr/sbin/modprobe", "../bin/busybox");
	strlist_free(&names);
}

static int add_busybox(struct cpio *c)
{
	char *argv[] = { "busybox", "--list", NULL };
	char *path = host_program("busybox"), *out = NULL;
	int err;

	if (!path)
		return host_need("busybox", "busybox-static");
	err = add_program(c, "/usr/bin/busybox", path);
	if (!err && host_capture(argv, &out) == 0)
		add_applets(c, out);
	else
		err = msg_error("%s does not run", path);
	free(out);
	free(path);
	return err ? TARE_FAILED : TARE_OK;
}

static void add_skeleton(struct cpio *c)
{
	static const char *const dirs[] = {
		"/usr", "/usr/bin", "/usr/sbin", "/usr/lib", "/usr/lib64",
		"/dev", "/dev/pts", "/dev/shm", "/etc", "/lab", "/mnt", "/proc",
		"/results", "/root", "/run", "/sys", "/tmp", "/var", "/work",
	};
	static const char *const links[] = { "bin", "sbin", "lib", "lib64" };
	static const char passwd[] = "root:x:0:0:root:/root:/bin/sh\n";
	static const char group[] = "root:x:0:\n";

	for (size_t i = 0; i < ARRAY_SIZE(dirs); i++)
		cpio_dir(c, dirs[i]);
	for (size_t i = 0; i < ARRAY_SIZE(links); i++) {
		char *target = xasprintf("usr/%s", links[i]);

		cpio_link(c, links[i], target);
		free(target);
	}
	cpio_link(c, "/etc/mtab", "/proc/mounts");
	cpio_data(c, "/etc/passwd", 0644, passwd, strlen(passwd));
	cpio_data(c, "/etc/group", 0644, group, strlen(group));
	/* init's first words go there, before devtmpfs is mounted. */
	cpio_chardev(c, "/dev/console", 0600, 5, 1);
}

static char *append(char *text, const char *more)
{
	char *both = xasprintf("%s%s", text, more);

	free(text);
	return both;
}

/* The command and its environment as a script for init. */
static void add_command(struct cpio *c, const struct image_spec *spec)
{
	char *text = xstrdup("");

	for (size_t i = 0; i < spec->env.n; i++) {
		char *quoted = shell_quote(spec->env.v[i]);

		text = append(append(append(text, "export "), quoted), "\n");
		free(quoted);
	}
	text = append(text, "set --");
	for (char **arg = spec->command; *arg; arg++) {
		char *quoted = shell_quote(*arg);

		text = append(append(text, " "), quoted);
		free(quoted);
	}
	text = append(text, "\n");
	cpio_data(c, "/lab/command", 0644, text, strlen(text));
	free(text);
}

/* The part of a path after its last slash, slashes at the end ignored. */
static char *base_name(const char *path)
{
	char *copy = xstrdup(path), *slash, *name;

	for (size_t n = strlen(copy); n > 1 && copy[n - 1] == '/'; n--)
		copy[n - 1] = '\0';
	slash = strrchr(copy, '/');
	name = xstrdup(slash && slash[1] ? slash + 1 : copy);
	free(copy);
	return name;
}

void add_split(const char *arg, char **host, char **guest)
{
	/* A file whose own name has a colon is one. */
	const char *colon = access(arg, F_OK) ? strrchr(arg, ':') : NULL;

	*host = colon ? xasprintf("%.*s", (int)(colon - arg), arg) :
			xstrdup(arg);
	*guest = colon && colon[1] ? xstrdup(colon + 1) : NULL;
}

bool path_climbs(const char *path)
{
	while (*path) {
		size_t n = strcspn(path, "/");

		if (n == 2 && !strncmp(path, "..", 2))
			return true;
		path += n + (path[n] == '/');
	}
	return false;
}

/* FILE or FILE:PATH; a relative PATH is below /work. */
static int add_one(struct cpio *c, const char *arg)
{
	char *copy, *real, *name, *path, *guest;
	int err;

	add_split(arg, &copy, &path);
	real = realpath(copy, NULL);
	name = base_name(real ? real : copy);
	if (path && *path == '/')
		guest = xstrdup(path);
	else
		guest = xasprintf("/work/%s", path ? path : name);
	err = real ? cpio_tree(c, guest, real) : -errno;
	if (err)
		msg_error("cannot read %s: %s", copy, strerror(-err));
	free(copy);
	free(real);
	free(name);
	free(path);
	free(guest);
	return err;
}

static int add_files(struct cpio *c, const struct image_spec *spec)
{
	for (size_t i = 0; i < spec->adds.n; i++)
		if (add_one(c, spec->adds.v[i]))
			return TARE_USAGE;
	return TARE_OK;
}

/* init, and the device profiles and job files, from the source tree. */
static int add_source_files(struct cpio *c)
{
	char *source = host_source();
	char *init, *configs;
	int err;

	if (!source)
		return TARE_CANNOT;
	init = xasprintf("%s/userspace/lab/init.sh", source);
	configs = xasprintf("%s/configs", source);
	err = cpio_file(c, "/init", init);
	if (err)
		msg_error("cannot read %s: %s", init, strerror(-err));
	else if (!access(configs, R_OK))
		cpio_tree(c, "/work/configs", configs);
	free(source);
	free(init);
	free(configs);
	return err ? TARE_FAILED : TARE_OK;
}

/*
 * The tare program: the one that runs, so that guest and host agree, else the
 * one that was built.
 */
static int add_tare(struct cpio *c)
{
	char *self = realpath("/proc/self/exe", NULL);
	char *source = host_source();
	char *built = source ? xasprintf("%s/build/tare", source) : NULL;
	const char *slash = self ? strrchr(self, '/') : NULL;
	int err = 0;

	if (slash && !strcmp(slash, "/tare"))
		err = add_program(c, "/usr/bin/tare", self);
	else if (built && !access(built, X_OK))
		err = add_program(c, "/usr/bin/tare", built);
	free(self);
	free(source);
	free(built);
	return err ? TARE_FAILED : TARE_OK;
}

static int fill(struct cpio *c, const char *scratch,
		const struct image_spec *spec)
{
	int code;

	add_skeleton(c);
	add_command(c, spec);
	/* What comes first stays: a host program goes before busybox's. */
	code = add_programs(c, spec);
	if (!code)
		code = add_files(c, spec);
	if (!code)
		code = add_tare(c);
	if (!code)
		code = add_busybox(c);
	if (!code)
		code = add_source_files(c);
	if (!code)
		code = modules_pack(c, scratch, spec);
	return code;
}

int image_write(const char *path, const struct image_spec *spec)
{
	char *scratch = xasprintf("%s.tmp", path);
	struct cpio *c = cpio_create(path);
	int code, err;

	if (!c) {
		code = msg_error("cannot write %s: %s", path, strerror(errno));
	} else {
		code = fill(c, scratch, spec);
		err = cpio_close(c);
		if (err && !code)
			code = msg_error("cannot write %s: %s", path,
					 strerror(-err));
	}
	rm_rf(scratch);
	free(scratch);
	return code;
}

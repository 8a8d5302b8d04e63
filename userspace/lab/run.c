// SPDX-License-Identifier: GPL-2.0-only
/* One "tare lab run", from the kernel to the exit code. */
#include "lab.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

/* Always there; modprobe in the guest finds what these need. */
static const char *const default_modules[] = {
	"virtio_pci", "virtio_console", "configfs", "null_blk", "scsi_debug",
	"sd_mod", "loop", "ext4", "xfs", "crc32c_generic", "crc32c_intel",
};

/* Packed when the host has them: they are small. */
static const char *const default_programs[] = {
	"mkfs.ext4", "mkfs.xfs",
};

/* A scratch directory in the cache with a lock that says it is in use. */
struct scratch {
	char *dir;
	int lock;
};

/* Nobody holds the lock of a directory whose run was killed. */
void lab_sweep(const char *cache)
{
	char *runs = xasprintf("%s/runs", cache);
	DIR *dir = opendir(runs);
	struct dirent *entry;

	while (dir && (entry = readdir(dir))) {
		char *path = xasprintf("%s/%s", runs, entry->d_name);
		int fd = -1;

		if (entry->d_name[0] != '.')
			fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
		if (fd >= 0 && !flock(fd, LOCK_EX | LOCK_NB))
			rm_rf(path);
		if (fd >= 0)
			close(fd);
		free(path);
	}
	if (dir)
		closedir(dir);
	free(runs);
}

static int scratch_make(struct scratch *s)
{
	char *cache, *runs;
	int code = host_cache(&cache), err;

	s->lock = -1;
	if (code)
		return code;
	runs = xasprintf("%s/runs", cache);
	mkdir_p(runs);
	lab_sweep(cache);
	free(cache);
	/* The leading dot hides it from the sweep until it is locked. */
	s->dir = xasprintf("%s/.run-XXXXXX", runs);
	if (mkdtemp(s->dir)) {
		char *named = xasprintf("%s/%s", runs,
					strrchr(s->dir, '/') + 2);

		s->lock = open(s->dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
		if (s->lock >= 0 && !flock(s->lock, LOCK_EX) &&
		    !rename(s->dir, named)) {
			free(s->dir);
			s->dir = named;
			free(runs);
			return TARE_OK;
		}
		err = -errno;
		rmdir(s->dir);
		free(named);
	} else {
		err = -errno;
	}
	code = host_cache_error(runs, err);
	free(s->dir);
	s->dir = NULL;
	free(runs);
	return code;
}

static void scratch_remove(struct scratch *s, bool keep)
{
	if (keep)
		msg_info("kept %s", s->dir);
	else
		rm_rf(s->dir);
	if (s->lock >= 0)
		close(s->lock);
	free(s->dir);
}

static int need_programs(void)
{
	static const struct {
		const char *program, *package;
	} need[] = {
		{ "qemu-system-x86_64", "qemu-system-x86" },
		{ "busybox", "busybox-static" },
		{ "ldd", "libc-bin" },
		{ "tar", "tar" },
	};

	for (size_t i = 0; i < ARRAY_SIZE(need); i++)
		if (host_need(need[i].program, need[i].package))
			return TARE_CANNOT;
	return TARE_OK;
}

static bool is_applet(const char *name)
{
	char *argv[] = { "busybox", "--list", NULL };
	struct strlist applets = {};
	char *out;
	bool is;

	if (!host_capture(argv, &out))
		strlist_add_lines(&applets, out);
	is = strlist_has(&applets, name);
	strlist_free(&applets);
	free(out);
	return is;
}

/*
 * The command's own program: the guest's (tare, busybox), else the host's. A
 * path that the host does not have is one in the guest.
 */
static void add_command_program(struct image_spec *spec)
{
	const char *name = spec->command[0];
	char *path;

	if (!strcmp(name, "tare") || (!strchr(name, '/') && is_applet(name)))
		return;
	if (strchr(name, '/') && name[0] != '/')
		return;
	path = host_program(name);
	if (path)
		strlist_add_new(&spec->programs, name);
	free(path);
}

static void add_env(struct image_spec *spec, const struct lab_request *r)
{
	char *mode = xasprintf("TARE_LAB=%s", lab_mode_name(r->mode));
	char *kernel = xasprintf("TARE_LAB_KERNEL=%s", spec->kernel->abi);

	strlist_add(&spec->env, mode);
	strlist_add(&spec->env, kernel);
	/* Where the guest has the profiles and the job files. */
	strlist_add(&spec->env, "TARE_SOURCE=/work");
	free(mode);
	free(kernel);
}

static void add_list(struct strlist *to, const struct strlist *from)
{
	for (size_t i = 0; i < from->n; i++)
		strlist_add_new(to, from->v[i]);
}

static void spec_fill(struct image_spec *spec, const struct lab_request *r)
{
	spec->command = r->command;
	for (size_t i = 0; i < ARRAY_SIZE(default_modules); i++)
		strlist_add_new(&spec->modules, default_modules[i]);
	add_list(&spec->modules, &r->modules);
	add_list(&spec->programs, &r->programs);
	add_list(&spec->adds, &r->adds);
	add_command_program(spec);
	for (size_t i = 0; i < ARRAY_SIZE(default_programs); i++) {
		char *path = host_program(default_programs[i]);

		if (path)
			strlist_add_new(&spec->programs, default_programs[i]);
		free(path);
	}
	add_env(spec, r);
}

static void spec_free(struct image_spec *spec)
{
	strlist_free(&spec->kos);
	strlist_free(&spec->modules);
	strlist_free(&spec->programs);
	strlist_free(&spec->adds);
	strlist_free(&spec->env);
}

/* What the guest left in the scratch directory. */
struct outcome {
	bool done;		/* the DONE marker came */
	int code;		/* of the command */
	char *log;		/* kernel log */
};

static void outcome_read(struct outcome *o, const char *dir)
{
	char *control = xasprintf("%s/control", dir);
	char *dmesg = xasprintf("%s/dmesg", dir);
	char *console = xasprintf("%s/console", dir);
	char *text = file_read(control), *seen;

	o->done = text && sscanf(text, "exit %d", &o->code) == 1 &&
		  strstr(text, "\nDONE");
	free(text);
	o->log = file_read(dmesg);
	/* A guest that did not get so far: a panic prints it all there. */
	if (!o->done || !o->log || !*o->log) {
		free(o->log);
		seen = file_read(console);
		o->log = xstrdup(seen ? klog_of_console(seen) : "");
		free(seen);
	}
	free(control);
	free(dmesg);
	free(console);
}

static char *default_log(void)
{
	char *source = host_source();
	char *dir = source ? xasprintf("%s/build/lab", source) : NULL;
	char *path = dir && !mkdir_p(dir) && !access(dir, W_OK) ?
			     xasprintf("%s/last.log", dir) : NULL;

	free(source);
	free(dir);
	if (!path) {
		char *cache;

		host_cache(&cache);
		path = cache ? xasprintf("%s/last.log", cache) : NULL;
		free(cache);
	}
	return path;
}

/* Renamed into place: two runs at once must not mix their lines. */
static int write_log(const char *path, const char *text)
{
	char *temp = xasprintf("%s.%d", path, (int)getpid());
	FILE *f = fopen(temp, "we");
	int err = 0;

	if (!f) {
		err = -errno;
	} else {
		fprintf(f, "%s\n", text);
		if (fclose(f) || rename(temp, path) < 0)
			err = -errno;
		if (err)
			unlink(temp);
	}
	free(temp);
	return err;
}

static int save_results(const char *dir, const char *results)
{
	char *tar = xasprintf("%s/results.tar", dir);
	char *log = xasprintf("%s/tar.log", dir);
	char *argv[] = { "tar", "-C", (char *)results, "--no-same-owner",
			 "-xf", tar, NULL };
	struct stat st;
	int code = TARE_OK;

	if (!stat(tar, &st) && st.st_size && host_run(argv, NULL, log)) {
		code = msg_error("cannot unpack the results into %s", results);
		host_show_log(log, 10);
	}
	free(tar);
	free(log);
	return code;
}

/* The last words of a guest that ended without the DONE marker. */
static void show_end(const char *dir, const struct outcome *o)
{
	char *qemu = xasprintf("%s/qemu.log", dir);
	char *console = xasprintf("%s/console", dir);

	host_show_log(qemu, 10);
	if (!strstr(o->log, "Kernel panic"))
		host_show_log(console, 15);
	free(qemu);
	free(console);
}

static int end_code(enum qemu_end end, int signal, const struct outcome *o,
		    const struct lab_request *r)
{
	switch (end) {
	case QEMU_TIMEOUT:
		return msg_error("the time limit of %u s is over: killed the virtual machine",
				 r->timeout_s);
	case QEMU_SIGNAL:
		msg_error("interrupted: killed the virtual machine");
		return 128 + signal;
	case QEMU_PIPE:
		return msg_error("the output could not be written: killed the virtual machine");
	case QEMU_NOT_STARTED:
		return msg_error("QEMU failed");
	case QEMU_ENDED:
		break;
	}
	if (!o->done)
		return msg_error("the guest ended before the command did: %s",
				 strstr(o->log, "Kernel panic") ? "panic" :
				 "no end marker");
	return o->code;
}

/* Judge a run. @return the exit code */
static int conclude(enum qemu_end end, int signal, const char *dir,
		    const struct lab_request *r, const struct klog_allow *allow)
{
	char *log = r->log ? xstrdup(r->log) : default_log();
	struct outcome o = {};
	int code, err;

	outcome_read(&o, dir);
	code = end_code(end, signal, &o, r);
	if (!o.done && end != QEMU_SIGNAL)
		show_end(dir, &o);
	err = log ? write_log(log, o.log) : -ENOENT;
	if (err)
		code = msg_error("cannot write the kernel log %s: %s",
				 log ? log : "", strerror(-err));
	if (r->results && save_results(dir, r->results))
		code = code ? code : TARE_FAILED;
	if (end == QEMU_TIMEOUT)
		klog_cut_nmi(o.log);
	if (klog_scan(o.log, allow))
		code = msg_error("the guest's kernel log shows a fault (above; all of it is in %s)",
				 log);
	else if (!o.done && *o.log && end != QEMU_SIGNAL)
		msg_error("the guest's kernel log is in %s", log);
	free(o.log);
	free(log);
	return code;
}

/* Build and pack. The lock of the modules is held until they are packed. */
static int prepare(const char *initrd, struct image_spec *image,
		   const struct lab_request *r)
{
	int code = TARE_OK, lock = -1;

	if (!r->no_modules)
		code = kbuild_modules(image->kernel, &image->kos, &lock);
	if (!code)
		code = image_write(initrd, image);
	if (host_signal())
		code = TARE_FAILED;
	if (lock >= 0)
		close(lock);
	return code;
}

static int run_in(const struct scratch *s, struct image_spec *image,
		  const struct lab_request *r, const struct klog_allow *allow)
{
	char *initrd = xasprintf("%s/initrd", s->dir);
	struct qemu_spec spec = {
		.mode = r->mode,
		.smp = r->smp ? r->smp : 2,
		.mem_mb = r->mem_mb,
		.timeout_s = r->timeout_s,
		.image = image->kernel->image,
		.initrd = initrd,
		.append = r->append,
		.dir = s->dir,
		.show = r->keep || tare_verbosity >= 2,
	};
	enum qemu_end end;
	int code = prepare(initrd, image, r), signal;

	if (!code) {
		spec.kvm = r->mode == LAB_WALL && kvm_works(image->kernel);
		code = host_signal() ? TARE_FAILED : TARE_OK;
	}
	if (!code) {
		end = qemu_run(&spec, &signal);
		code = conclude(end, signal, s->dir, r, allow);
	}
	free(initrd);
	return code;
}

static int run_kernel(const struct lab_kernel *kernel,
		      const struct lab_request *r,
		      const struct klog_allow *allow)
{
	struct image_spec image = { .kernel = kernel };
	struct scratch s = {};
	int code;

	spec_fill(&image, r);
	code = scratch_make(&s);
	if (!code)
		code = run_in(&s, &image, r, allow);
	if (s.dir)
		scratch_remove(&s, r->keep);
	spec_free(&image);
	return code;
}

int lab_run(const struct lab_request *r)
{
	struct klog_allow *allow = klog_allow_new(&r->allow);
	struct lab_kernel kernel = {};
	int code = allow ? need_programs() : TARE_USAGE;

	if (!code && r->results && mkdir_p(r->results))
		code = msg_error("cannot make the directory %s", r->results);
	if (!code)
		code = kernel_get(r->kernel, false, &kernel);
	if (!code)
		code = run_kernel(&kernel, r, allow);
	kernel_put(&kernel);
	klog_allow_free(allow);
	return code;
}

/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The throw-away virtual machine. kernel.c gets kernels into the cache,
 * kbuild.c builds the project's modules for one, image.c packs an initramfs,
 * qemu.c runs it, run.c ties these together.
 */
#ifndef TARE_LAB_H
#define TARE_LAB_H

#include "util.h"

#include <signal.h>
#include <stdbool.h>
#include <stddef.h>

/* ---- list.c: lists of strings ---- */

/** A growing list of strings of its own. Zero-initialised is empty. */
struct strlist {
	char **v;	/* always followed by NULL once something was added */
	size_t n;
};

void strlist_add(struct strlist *list, const char *s);
/** Add unless it is there. @return true when it was new */
bool strlist_add_new(struct strlist *list, const char *s);
bool strlist_has(const struct strlist *list, const char *s);
void strlist_free(struct strlist *list);
/** Add every line of a text that is not empty. */
void strlist_add_lines(struct strlist *list, const char *text);

/* ---- host.c: programs, directories and locks of the host ---- */

/**
 * Find a program in PATH or a system directory that PATH of an ordinary user
 * lacks (mkfs, depmod).
 * @return its path, to be freed, or NULL
 */
char *host_program(const char *name);
/** @return 0, or TARE_CANNOT after naming the Debian package that has it */
int host_need(const char *program, const char *package);
/**
 * Catch the signals that end a program, so that everything gets cleaned up.
 * They are passed on to what host_run() runs.
 */
void host_catch_signals(void);
/** The signal that came, or 0. */
int host_signal(void);
/** The signals that are caught, as a set. */
void host_signal_set(sigset_t *set);
/** Where the cache is, there or not. @return enum tare_exit, after a message */
int host_cache_path(char **path);
/** The cache directory, made when missing, and one that can be written. */
int host_cache(char **path);
/** Say that the cache cannot be written. @return TARE_CANNOT */
int host_cache_error(const char *path, int err);
/** The project's source: TARE_SOURCE or where the program was built. */
char *host_source(void);
/**
 * Take an exclusive lock on a file, made when missing.
 * @return fd or -errno; -EINTR after a signal
 */
int host_lock(const char *path);
/**
 * Run a program with its output in a file.
 * @param dir working directory, or NULL
 * @param log receives stdout and stderr, NULL: /dev/null
 * @return exit status, 128 + signal, or -errno
 */
int host_run(char *const argv[], const char *dir, const char *log);
/** The same, with stdout alone in a new file and stderr dropped. */
int host_run_to(char *const argv[], const char *file);
/**
 * Run a program for its stdout; stderr is dropped.
 * @param out receives the text, to be freed, also after a failure
 */
int host_capture(char *const argv[], char **out);
/** Print a log file on stderr, at most its last @lines lines. */
void host_show_log(const char *path, unsigned int lines);
/** Sum of the sizes on disk of a tree, in bytes. */
unsigned long long host_tree_size(const char *path);

/* ---- kernel.c: kernels from Debian packages ---- */

/** The series that are offered by name. */
extern const char *const lab_series[];
extern const size_t lab_nr_series;

/** A kernel in the cache. */
struct lab_kernel {
	char *abi;	/* what uname -r says */
	char *root;	/* the unpacked packages */
	char *image;	/* what QEMU boots */
};

/** True for "6.1": a series, not a full ABI name. */
bool kernel_is_series(const char *version);
/** True when ABI (6.1.0-57-amd64) belongs to a series (6.1) or equals it. */
bool kernel_matches(const char *abi, const char *version);
/**
 * The ABI of an ordinary amd64 kernel in a package name such as
 * linux-image-6.1.0-57-amd64-unsigned.
 * @return the ABI, to be freed, or NULL (headers, debug, cloud, rt)
 */
char *kernel_package_abi(const char *package);
/** Newest packaged ABI of a series; NULL when apt knows none. */
char *kernel_newest_packaged(const char *series);
/** All ABIs in the cache, oldest first. */
void kernel_cached(const char *cache, struct strlist *abis);
/**
 * Remove all kernels from the cache, also what a killed fetch left.
 * @param bytes grows by what was freed
 * @return 0 or -errno
 */
int kernel_remove_all(const char *cache, unsigned long long *bytes);
/**
 * Room that a package needs to be downloaded and unpacked, in bytes, from its
 * record; 0 when that does not say.
 */
unsigned long long kernel_package_room(const char *show);
/** Names of the packages in a Depends: field that start with a prefix. */
void kernel_depends(const char *show, const char *prefix, struct strlist *names);
/**
 * Get a kernel into the cache.
 * @param refresh a series means the newest packaged one even when an older is cached
 * @return enum tare_exit
 */
int kernel_get(const char *version, bool refresh, struct lab_kernel *kernel);
void kernel_put(struct lab_kernel *kernel);

/* ---- vmlinux.c: the kernel inside a bzImage ---- */

/**
 * Where the compressed kernel lies in a bzImage.
 * @return the decompressor ("xz", "zstd", …), or NULL: not found
 */
const char *bzimage_payload(const unsigned char *image, size_t size,
			    size_t *offset, size_t *length);
/** Write the ELF kernel of a bzImage. @return 0 or -errno */
int bzimage_extract(const char *bzimage, const char *vmlinux);

/* ---- kbuild.c: the project's modules ---- */

/**
 * Build the driver and the test modules for a kernel, when something changed.
 * @param kos receives the paths of the modules
 * @param lock receives the lock of the build directory: close it when the
 *	modules have been read, lest another run builds them anew meanwhile
 * @return enum tare_exit
 */
int kbuild_modules(const struct lab_kernel *kernel, struct strlist *kos,
		   int *lock);

/* ---- cpio.c: a writer of newc archives, the initramfs format ---- */

struct cpio;

/** Start an archive. @return NULL with errno set */
struct cpio *cpio_create(const char *path);
/** All of these make missing parents, and leave alone what is there already. */
void cpio_dir(struct cpio *c, const char *path);
void cpio_data(struct cpio *c, const char *path, unsigned int mode,
	       const void *data, size_t size);
void cpio_link(struct cpio *c, const char *path, const char *target);
void cpio_chardev(struct cpio *c, const char *path, unsigned int mode,
		  unsigned int major, unsigned int minor);
/** Copy a file of the host, its mode kept. @return 0 or -errno */
int cpio_file(struct cpio *c, const char *path, const char *host);
/** Copy a file or, recursively, a directory. @return 0 or -errno */
int cpio_tree(struct cpio *c, const char *path, const char *host);
/** Finish. @return 0 or -errno of the first thing that went wrong */
int cpio_close(struct cpio *c);

/* ---- image.c: what goes into the virtual machine ---- */

/** Contents of an initramfs. */
struct image_spec {
	const struct lab_kernel *kernel;
	struct strlist kos;		/* the project's modules */
	struct strlist modules;		/* kernel modules by name */
	struct strlist programs;	/* programs of the host */
	struct strlist adds;		/* FILE[:PATH] */
	struct strlist env;		/* NAME=VALUE for the command */
	char **command;			/* NULL-terminated */
};

/** Libraries in the output of ldd. @return 0, or -ENOENT with *missing set */
int ldd_parse(const char *text, struct strlist *libs, char **missing);
/**
 * Take FILE or FILE:PATH apart.
 * @param guest receives PATH or NULL; both are to be freed
 */
void add_split(const char *arg, char **host, char **guest);
/** True for a PATH that may leave its directory: a part of it is "..". */
bool path_climbs(const char *path);
/** Quote for the shell; appends to a string that is reallocated. */
char *shell_quote(const char *s);
/** Write the initramfs. @return enum tare_exit */
int image_write(const char *path, const struct image_spec *spec);

/* ---- modules.c: kernel modules and what they need ---- */

/**
 * Paths of a module and its dependencies in a modules.dep.
 * @return 0 or -ENOENT
 */
int modules_closure(const char *dep, const char *name, struct strlist *paths);
/**
 * Pack modules, their dependencies and an index for modprobe.
 * @param dir scratch directory
 * @return enum tare_exit
 */
int modules_pack(struct cpio *c, const char *dir, const struct image_spec *spec);

/* ---- klog.c: the guest's kernel log ---- */

/** Regular expressions of what may be in the log. */
struct klog_allow;

/** @return NULL after a message when a pattern is none */
struct klog_allow *klog_allow_new(const struct strlist *patterns);
void klog_allow_free(struct klog_allow *allow);
/** True when a line of the log means that something is wrong. */
bool klog_bad_line(const char *line);
/**
 * Print what is wrong in a kernel log, with the lines after it.
 * @return number of bad lines that are not allowed
 */
unsigned int klog_scan(const char *log, const struct klog_allow *allow);
/**
 * The log in what a console saw: at a panic the kernel prints what it has not
 * yet printed, then all of it again from the start.
 */
const char *klog_of_console(const char *console);
/** Cut a log where the lab's own NMI, sent at the time limit, ends the guest. */
void klog_cut_nmi(char *log);

/* ---- qemu.c: one run of the virtual machine ---- */

enum lab_mode { LAB_EXACT, LAB_SOFTIRQ, LAB_WALL };

struct qemu_spec {
	enum lab_mode mode;
	bool kvm;
	bool kvm_probe;	/* a guest that hangs is an answer, not a riddle */
	unsigned int smp, mem_mb, timeout_s;
	const char *image, *initrd, *append;
	const char *dir;	/* holds what the guest sends */
	bool show;		/* print the command line */
};

/** Why a run ended. */
enum qemu_end { QEMU_ENDED, QEMU_TIMEOUT, QEMU_SIGNAL, QEMU_PIPE, QEMU_NOT_STARTED };

/**
 * Run it; the command's output goes to stdout and stderr as it comes.
 * @param signal receives the signal that ended it
 */
enum qemu_end qemu_run(const struct qemu_spec *spec, int *signal);
/** Name of a mode as on the command line and in TARE_LAB. */
const char *lab_mode_name(enum lab_mode mode);

/* ---- run.c ---- */

/** What "tare lab run" was asked for. */
struct lab_request {
	enum lab_mode mode;
	const char *kernel, *append, *results, *log;
	unsigned int smp;	/* 0: the mode's own */
	unsigned int mem_mb, timeout_s;
	bool no_modules, keep;
	struct strlist modules, programs, adds, allow;
	char **command;
};

/**
 * Run a command in the virtual machine.
 * @return the command's exit code, or enum tare_exit when the lab failed
 */
int lab_run(const struct lab_request *request);

/** Remove what runs that were killed have left in the cache. */
void lab_sweep(const char *cache);

/* ---- kvm.c ---- */

/**
 * Whether a stock kernel boots under KVM here: tried once and remembered until
 * the machine boots again.
 */
bool kvm_works(const struct lab_kernel *kernel);

/* ---- cli/lab_run.c ---- */

/** "tare lab run": argv[0] is the name. @return exit code of the process */
int cmd_lab_run(int argc, char **argv);

#endif

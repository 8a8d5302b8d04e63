/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Messages, exit codes and the few string and file helpers that every
 * command uses. Data goes to stdout, messages to stderr.
 */
#ifndef TARE_UTIL_H
#define TARE_UTIL_H

#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/** Exit codes of every tare command. */
enum tare_exit {
	TARE_OK = 0,		/* done */
	TARE_FAILED = 1,	/* tried and failed, reason on stderr */
	TARE_USAGE = 2,		/* bad command line or input file */
	TARE_CANNOT = 77,	/* cannot be done here, reason on stderr */
};

#define ARRAY_SIZE(a) (sizeof(a) / sizeof((a)[0]))
#define PRINTF_LIKE(f, a) __attribute__((format(printf, f, a)))

/** 0: errors and warnings; 1 (default): progress too; 2: details (-v). */
extern int tare_verbosity;

/** Print "tare: <text>" on stderr. @return always TARE_FAILED. */
int msg_error(const char *fmt, ...) PRINTF_LIKE(1, 2);
/** Print "tare: <text>" on stderr. @return always TARE_USAGE. */
int msg_usage(const char *fmt, ...) PRINTF_LIKE(1, 2);
/** Print "tare: <text>" on stderr. @return always TARE_CANNOT. */
int msg_cannot(const char *fmt, ...) PRINTF_LIKE(1, 2);
/** Print "tare: warning: <text>" on stderr. */
void msg_warn(const char *fmt, ...) PRINTF_LIKE(1, 2);
/** Print "tare: <text>" on stderr unless quiet. */
void msg_info(const char *fmt, ...) PRINTF_LIKE(1, 2);
/** Print "tare: <text>" on stderr when verbose (-v). */
void msg_debug(const char *fmt, ...) PRINTF_LIKE(1, 2);

/** malloc family that ends the program with a message when memory is out. */
void *xmalloc(size_t n);
void *xcalloc(size_t n, size_t size);
void *xrealloc(void *p, size_t n);
char *xstrdup(const char *s);
/** Formatted string. The caller frees it. */
char *xasprintf(const char *fmt, ...) PRINTF_LIKE(1, 2);

/**
 * Read a whole (sysfs, proc, small) file as a string, the final newline cut.
 * @return the text, to be freed by the caller; NULL with errno set.
 */
char *file_read(const char *path);
/** Write a string to an existing file. @return 0 or -errno. */
int file_write(const char *path, const char *text);
/** Decimal unsigned number in a file. @return 0 or -errno (-EINVAL: no number). */
int file_read_u64(const char *path, uint64_t *value);
/** mkdir -p. @return 0 or -errno. */
int mkdir_p(const char *path);
/** Remove a tree, as rm -rf does; stays on one file system. @return 0 or -errno. */
int rm_rf(const char *path);

/**
 * Strict decimal number: digits alone, no sign, no blank, no leading zero.
 * @return 0, -EINVAL or -ERANGE.
 */
int parse_u64(const char *text, uint64_t *value);

/**
 * Run a program, argv NULL-terminated, argv[0] looked up in PATH.
 * @param out when not NULL: receives stdout as a string, freed by the caller
 * @return its exit status (0..255), 128 + signal, -errno when it did not start,
 *	-EINTR when program_signal() was called; *out then holds what it said
 */
int run_program(char *const argv[], char **out);

/**
 * For a signal handler: pass the signal on to the program that runs, SIGKILL
 * when it is not the first one. No other is started from then on.
 */
void program_signal(int sig);

#endif

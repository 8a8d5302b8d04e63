/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The machine as /sys and /proc describe it, under a prefix, so that tests
 * can give a tree of their own.
 */
#ifndef TARE_SYSROOT_H
#define TARE_SYSROOT_H

#include <stdbool.h>
#include <stddef.h>

struct sysroot {
	const char *dir;	/* "" for this machine */
};

#define SYSROOT_PATH __attribute__((format(printf, 2, 3)))

/**
 * A file's text without the newline at its end, freed by the caller; NULL: it
 * is not there or must not be read.
 * @param fmt path from the root, as for printf
 */
char *sysroot_read(const struct sysroot *m, const char *fmt, ...) SYSROOT_PATH;
/** A number in a file; a minus and a unit behind it are taken. @return it, or fallback. */
long sysroot_number(const struct sysroot *m, long fallback, const char *fmt,
		    ...) __attribute__((format(printf, 3, 4)));
bool sysroot_has(const struct sysroot *m, const char *fmt, ...) SYSROOT_PATH;
/**
 * Names in a directory that begin with prefix, sorted; digits after it when
 * numbered is set ("cpu0", not "cpuidle").
 * @return their number; free each and the array
 */
size_t sysroot_list(const struct sysroot *m, const char *dir,
		    const char *prefix, bool numbered, char ***names);
void sysroot_list_free(char **names, size_t n);

/** Does the kernel log hold this text? False as well when it must not be read. */
bool sysroot_log_has(const struct sysroot *m, const char *text);
/** Is word among the blank-separated words of text? */
bool has_word(const char *text, const char *word);
/**
 * The value of "word=VALUE" on the kernel's command line, "" for "word" alone;
 * NULL: it is not there. The caller frees it.
 */
char *sysroot_parameter(const struct sysroot *m, const char *word);
/** Value of "CONFIG_…" of the running kernel: "y", "m", "n" or a text; NULL: no config is found. */
char *sysroot_config(const struct sysroot *m, const char *option);

#endif

/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A second process that cleans up when this one dies. It knows the device and
 * the mount that were made; when the pipe to it closes before they were taken
 * back (a fatal signal, kill -9, a second Ctrl-C), it removes them.
 */
#ifndef TARE_GUARD_H
#define TARE_GUARD_H

#include <signal.h>

/** Set by the first SIGINT, SIGTERM or SIGHUP: stop soon and say what there is. */
extern volatile sig_atomic_t guard_stop;

/**
 * Start the guard and catch the signals. A second signal waits for the guard's
 * cleaning and ends the program. @return 0 or -errno
 */
int guard_start(void);

/** Something was made, or is about to be: remember it. One of each kind. */
void guard_device(const char *name);
void guard_mount(const char *dir);
/** It was taken back. */
void guard_no_device(void);
void guard_no_mount(void);

/** End the guard; it removes what it still remembers. */
void guard_end(void);

#endif

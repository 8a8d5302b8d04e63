/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The kernel's own words: what the driver has written to the kernel log since
 * a point in time.
 */
#ifndef TARE_KMSG_H
#define TARE_KMSG_H

/** Remember the end of the kernel log. @return a descriptor; below 0: cannot be read. */
int kmsg_open(void);
/** Print the driver's lines since kmsg_open() or the last kmsg_show(). */
void kmsg_show(int log);
void kmsg_close(int log);

#endif

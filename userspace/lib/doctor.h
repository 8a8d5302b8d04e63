/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Can the figures of this machine be trusted? Each function looks at one part
 * and adds what it found; none needs root, what must not be read is unknown.
 */
#ifndef TARE_DOCTOR_H
#define TARE_DOCTOR_H

#include "findings.h"
#include "sysroot.h"

/** Counter, clock source, frequency, idle states, SMT. */
void doctor_cpu(const struct sysroot *m, struct findings *f);
/** Version, debug options, tracing, preemption, mitigations, virtual machine. */
void doctor_kernel(const struct sysroot *m, struct findings *f);
/** What else runs: load, isolation, interrupts, watchdog, NUMA balancing. */
void doctor_noise(const struct sysroot *m, struct findings *f);
/** The queue of a disk. @return 0, or -ENODEV: there is no such disk. */
int doctor_disk(const struct sysroot *m, const char *disk, struct findings *f);

#endif

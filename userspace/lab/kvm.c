// SPDX-License-Identifier: GPL-2.0-only
/*
 * /dev/kvm that opens is no promise: nested machines exist where a stock
 * kernel never leaves its start. So boot one, with a short time limit.
 */
#include "lab.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define PROBE_S 10

/* The kernel has no init here: its panic is the proof that it came so far. */
static bool probe(const struct lab_kernel *kernel, const char *dir)
{
	char *initrd = xasprintf("%s/initrd", dir);
	char *console = xasprintf("%s/console", dir);
	struct cpio *c = cpio_create(initrd);
	struct qemu_spec spec = {
		.mode = LAB_WALL, .kvm = true, .kvm_probe = true,
		.smp = 2, .mem_mb = 512,
		.timeout_s = PROBE_S, .image = kernel->image, .initrd = initrd,
		.dir = dir,
	};
	bool works = false;
	char *text;
	int signal;

	if (c) {
		cpio_dir(c, "/dev");
		if (!cpio_close(c) && qemu_run(&spec, &signal) == QEMU_ENDED) {
			text = file_read(console);
			works = text && strstr(text, "Kernel panic");
			free(text);
		}
	}
	free(initrd);
	free(console);
	return works;
}

static bool probe_in_cache(const struct lab_kernel *kernel, const char *cache)
{
	char *dir = xasprintf("%s/.probe-XXXXXX", cache);
	bool works = false;

	if (mkdtemp(dir)) {
		msg_info("trying KVM (at most %d s, once)", PROBE_S);
		works = probe(kernel, dir);
		rm_rf(dir);
	}
	free(dir);
	return works;
}

static void remember(const char *path, const char *boot, bool works)
{
	char *temp = xasprintf("%s.%d", path, (int)getpid());
	FILE *f = fopen(temp, "we");

	if (f) {
		fprintf(f, "%s %s\n", boot, works ? "yes" : "no");
		if (fclose(f) || rename(temp, path) < 0)
			unlink(temp);
	}
	free(temp);
}

bool kvm_works(const struct lab_kernel *kernel)
{
	char *boot = file_read("/proc/sys/kernel/random/boot_id");
	char *cache, *path, *known;
	bool works = false;
	size_t n;

	host_cache(&cache);
	if (!boot || !cache || access("/dev/kvm", R_OK | W_OK)) {
		free(boot);
		free(cache);
		return false;
	}
	path = xasprintf("%s/kvm", cache);
	known = file_read(path);
	n = strlen(boot);
	if (known && !strncmp(known, boot, n) && known[n] == ' ') {
		works = !strcmp(known + n, " yes");
	} else {
		works = probe_in_cache(kernel, cache);
		/* One that was interrupted tells nothing. */
		if (!host_signal())
			remember(path, boot, works);
	}
	free(boot);
	free(cache);
	free(path);
	free(known);
	return works;
}

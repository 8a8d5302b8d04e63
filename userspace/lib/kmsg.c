// SPDX-License-Identifier: GPL-2.0-only
#include "kmsg.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "output.h"
#include "util.h"

/* A record of /dev/kmsg is at most 8 KiB; a shorter buffer gives EINVAL. */
#define RECORD_MAX 8192

int kmsg_open(void)
{
	int fd = open("/dev/kmsg", O_RDONLY | O_NONBLOCK | O_CLOEXEC);

	if (fd >= 0 && lseek(fd, 0, SEEK_END) < 0) {
		close(fd);
		return -1;
	}
	return fd;
}

/* "level,sequence,time,flags;tare_core: text\n key=value…" */
static void show_record(char *record)
{
	char *text = strchr(record, ';');
	char *quoted;

	if (!text || strncmp(text + 1, "tare", strlen("tare")))
		return;
	text++;
	text[strcspn(text, "\n")] = '\0';
	quoted = out_clean(text);
	msg_error("kernel: %s", quoted);
	free(quoted);
}

void kmsg_show(int log)
{
	char record[RECORD_MAX + 1];
	ssize_t n;

	if (log < 0)
		return;
	/* EPIPE: records were overwritten before they were read. */
	while ((n = read(log, record, RECORD_MAX)) > 0 ||
	       (n < 0 && errno == EPIPE)) {
		if (n < 0)
			continue;
		record[n] = '\0';
		show_record(record);
	}
}

void kmsg_close(int log)
{
	if (log >= 0)
		close(log);
}

// SPDX-License-Identifier: GPL-2.0-only
#include "guard.h"

#include "device.h"
#include "util.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/wait.h>
#include <unistd.h>

#define UMOUNT_TRIES	50	/* 100 ms each */

volatile sig_atomic_t guard_stop;

static volatile int guard_fd = -1;
static volatile pid_t guard_pid;

/* What the guard remembers; "" when there is nothing. */
struct memory {
	char device[PATH_MAX + 2];
	char dir[PATH_MAX + 2];
};

/* A line is 'd' or 'm' and the name; an empty name: taken back. */
static void learn(struct memory *m, const char *line)
{
	if (line[0] == 'd')
		snprintf(m->device, sizeof(m->device), "%s", line + 1);
	else if (line[0] == 'm')
		snprintf(m->dir, sizeof(m->dir), "%s", line + 1);
}

static void remove_mount(const char *dir)
{
	for (int i = 0; umount(dir) < 0 && errno == EBUSY; i++) {
		if (i == UMOUNT_TRIES) {
			umount2(dir, MNT_DETACH);
			break;
		}
		usleep(100000);
	}
	rmdir(dir);
}

static void __attribute__((noreturn)) guard_main(int fd)
{
	FILE *from = fdopen(fd, "r");
	struct memory m = { 0 };
	char line[PATH_MAX + 2];

	while (from && fgets(line, sizeof(line), from)) {
		line[strcspn(line, "\n")] = '\0';
		learn(&m, line);
	}
	if (m.dir[0])
		remove_mount(m.dir);
	if (m.device[0] && device_exists(m.device))
		device_remove(m.device);
	_exit(0);
}

/* Only what may be called in a signal handler. */
static void on_signal(int sig)
{
	program_signal(sig);
	if (guard_stop) {
		close(guard_fd);
		while (waitpid(guard_pid, NULL, 0) < 0 && errno == EINTR)
			;
		_exit(TARE_FAILED);
	}
	guard_stop = sig;
}

static void catch_signals(void)
{
	static const int signals[] = { SIGINT, SIGTERM, SIGHUP };
	struct sigaction sa = { .sa_handler = on_signal };

	for (size_t i = 0; i < ARRAY_SIZE(signals); i++)
		sigaction(signals[i], &sa, NULL);
	/* A reader of our output that went away: write() says so. */
	signal(SIGPIPE, SIG_IGN);
}

int guard_start(void)
{
	int fds[2], null;

	if (pipe2(fds, O_CLOEXEC) < 0)
		return -errno;
	fflush(NULL);
	guard_pid = fork();
	if (guard_pid < 0)
		return -errno;
	if (guard_pid == 0) {
		/* A Ctrl-C is for the whole group: not for this one. */
		setsid();
		close(fds[1]);
		null = open("/dev/null", O_RDWR | O_CLOEXEC);
		dup2(null, STDIN_FILENO);
		dup2(null, STDOUT_FILENO);
		guard_main(fds[0]);
	}
	close(fds[0]);
	guard_fd = fds[1];
	catch_signals();
	return 0;
}

static void tell(char kind, const char *name)
{
	if (guard_fd >= 0)
		dprintf(guard_fd, "%c%s\n", kind, name);
}

void guard_device(const char *name)
{
	tell('d', name);
}

void guard_mount(const char *dir)
{
	tell('m', dir);
}

void guard_no_device(void)
{
	tell('d', "");
}

void guard_no_mount(void)
{
	tell('m', "");
}

void guard_end(void)
{
	if (guard_fd < 0)
		return;
	close(guard_fd);
	guard_fd = -1;
	while (waitpid(guard_pid, NULL, 0) < 0 && errno == EINTR)
		;
}

// SPDX-License-Identifier: GPL-2.0-only
#include "util.h"

#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

int tare_verbosity = 1;

static void say(const char *kind, const char *fmt, va_list ap)
{
	fflush(stdout);
	fputs("tare: ", stderr);
	fputs(kind, stderr);
	vfprintf(stderr, fmt, ap);
	fputc('\n', stderr);
}

#define SAY(kind, fmt)						\
	do {							\
		va_list ap;					\
								\
		va_start(ap, fmt);				\
		say(kind, fmt, ap);				\
		va_end(ap);					\
	} while (0)

int msg_error(const char *fmt, ...)
{
	SAY("", fmt);
	return TARE_FAILED;
}

int msg_usage(const char *fmt, ...)
{
	SAY("", fmt);
	return TARE_USAGE;
}

int msg_cannot(const char *fmt, ...)
{
	SAY("", fmt);
	return TARE_CANNOT;
}

void msg_warn(const char *fmt, ...)
{
	SAY("warning: ", fmt);
}

void msg_info(const char *fmt, ...)
{
	if (tare_verbosity >= 1)
		SAY("", fmt);
}

void msg_debug(const char *fmt, ...)
{
	if (tare_verbosity >= 2)
		SAY("", fmt);
}

static void *checked(void *p)
{
	if (!p) {
		msg_error("out of memory");
		exit(TARE_FAILED);
	}
	return p;
}

void *xmalloc(size_t n)
{
	return checked(malloc(n ? n : 1));
}

void *xcalloc(size_t n, size_t size)
{
	return checked(calloc(n ? n : 1, size ? size : 1));
}

void *xrealloc(void *p, size_t n)
{
	return checked(realloc(p, n ? n : 1));
}

char *xstrdup(const char *s)
{
	return checked(strdup(s));
}

char *xasprintf(const char *fmt, ...)
{
	va_list ap;
	char *s;
	int n;

	va_start(ap, fmt);
	n = vasprintf(&s, fmt, ap);
	va_end(ap);
	return checked(n < 0 ? NULL : s);
}

/* Everything that can be read from fd, as a string. */
static char *read_all(int fd)
{
	size_t len = 0, room = 4096;
	char *buf = xmalloc(room);

	for (;;) {
		ssize_t n = read(fd, buf + len, room - len - 1);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0) {
			int err = errno;

			free(buf);
			errno = err;
			return NULL;
		}
		if (n == 0)
			break;
		len += n;
		if (room - len < 2)
			buf = xrealloc(buf, room *= 2);
	}
	buf[len] = '\0';
	return buf;
}

char *file_read(const char *path)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	char *text;
	int err;

	if (fd < 0)
		return NULL;
	text = read_all(fd);
	err = errno;
	close(fd);
	if (!text) {
		errno = err;
		return NULL;
	}
	size_t len = strlen(text);

	if (len && text[len - 1] == '\n')
		text[len - 1] = '\0';
	return text;
}

int file_write(const char *path, const char *text)
{
	int fd = open(path, O_WRONLY | O_TRUNC | O_CLOEXEC);
	size_t len = strlen(text);
	int err = 0;
	ssize_t n;

	if (fd < 0)
		return -errno;
	/* sysfs and configfs want the value in one write. */
	n = write(fd, text, len);
	if (n < 0)
		err = -errno;
	else if ((size_t)n != len)
		err = -EIO;
	if (close(fd) < 0 && !err)
		err = -errno;
	return err;
}

int file_read_u64(const char *path, uint64_t *value)
{
	char *text = file_read(path);
	int err;

	if (!text)
		return -errno;
	err = parse_u64(text, value);
	free(text);
	return err;
}

int mkdir_p(const char *path)
{
	char *copy = xstrdup(path);
	int err = 0;

	for (char *p = copy + 1; !err; p++) {
		char c = *p;

		if (c != '/' && c != '\0')
			continue;
		*p = '\0';
		if (mkdir(copy, 0777) < 0 && errno != EEXIST)
			err = -errno;
		*p = c;
		if (c == '\0')
			break;
	}
	free(copy);
	return err;
}

static int rm_one(const char *path, const struct stat *st, int type,
		  struct FTW *ftw)
{
	(void)st;
	(void)type;
	(void)ftw;
	return remove(path);
}

int rm_rf(const char *path)
{
	if (nftw(path, rm_one, 64, FTW_DEPTH | FTW_PHYS | FTW_MOUNT) < 0 &&
	    errno != ENOENT)
		return -errno;
	return 0;
}

int parse_u64(const char *text, uint64_t *value)
{
	uint64_t v = 0;

	if (!*text || (text[0] == '0' && text[1]))
		return -EINVAL;
	for (const char *p = text; *p; p++) {
		if (*p < '0' || *p > '9')
			return -EINVAL;
		if (__builtin_mul_overflow(v, 10, &v) ||
		    __builtin_add_overflow(v, (uint64_t)(*p - '0'), &v))
			return -ERANGE;
	}
	*value = v;
	return 0;
}

static volatile pid_t program_pid;
static volatile sig_atomic_t program_stopped;

void program_signal(int sig)
{
	int err = errno;

	/* The whole group: what it has started too. */
	if (program_pid > 0)
		kill(-program_pid, program_stopped ? SIGKILL : sig);
	program_stopped = sig;
	errno = err;
}

static void stop_signals(sigset_t *set)
{
	sigemptyset(set);
	sigaddset(set, SIGINT);
	sigaddset(set, SIGTERM);
	sigaddset(set, SIGHUP);
}

static void __attribute__((noreturn)) program_main(char *const argv[], int out,
						   const sigset_t *mask)
{
	static const int signals[] = { SIGINT, SIGTERM, SIGHUP };

	/* Of its own, so that Ctrl-C comes through program_signal(), once. */
	setpgid(0, 0);
	prctl(PR_SET_PDEATHSIG, SIGTERM);
	for (size_t i = 0; i < ARRAY_SIZE(signals); i++) {
		struct sigaction sa;

		/* Our handler must not run here and swallow one. */
		if (sigaction(signals[i], NULL, &sa) == 0 &&
		    sa.sa_handler != SIG_IGN)
			signal(signals[i], SIG_DFL);
	}
	sigprocmask(SIG_SETMASK, mask, NULL);
	if (out >= 0)
		dup2(out, STDOUT_FILENO);
	execvp(argv[0], argv);
	_exit(127);
}

/* Fork with the signals held, so that none falls between fork and program_pid. */
static int program_start(char *const argv[], int out)
{
	sigset_t held, before;
	int err = 0;
	pid_t pid;

	stop_signals(&held);
	fflush(NULL);
	sigprocmask(SIG_BLOCK, &held, &before);
	if (program_stopped) {
		err = -EINTR;
	} else {
		pid = fork();
		if (pid == 0)
			program_main(argv, out, &before);
		if (pid < 0) {
			err = -errno;
		} else {
			setpgid(pid, pid);
			program_pid = pid;
		}
	}
	sigprocmask(SIG_SETMASK, &before, NULL);
	return err;
}

/* Wait for it, and forget its id before anybody else can have it. */
static int program_wait(int *status)
{
	pid_t pid = program_pid;
	sigset_t held, before;
	siginfo_t info;
	int err = 0;

	while (waitid(P_PID, (id_t)pid, &info, WEXITED | WNOWAIT) < 0)
		if (errno != EINTR)
			return -errno;
	stop_signals(&held);
	sigprocmask(SIG_BLOCK, &held, &before);
	program_pid = 0;
	if (waitpid(pid, status, 0) < 0)
		err = -errno;
	sigprocmask(SIG_SETMASK, &before, NULL);
	return err;
}

int run_program(char *const argv[], char **out)
{
	int fds[2] = { -1, -1 }, status = 0, err;

	if (out) {
		*out = NULL;
		if (pipe2(fds, O_CLOEXEC) < 0)
			return -errno;
	}
	err = program_start(argv, fds[1]);
	if (out)
		close(fds[1]);
	if (out && !err)
		*out = read_all(fds[0]);
	if (out)
		close(fds[0]);
	if (!err)
		err = program_wait(&status);
	if (err)
		return err;
	if (program_stopped)
		return -EINTR;
	return WIFEXITED(status) ? WEXITSTATUS(status) :
				   128 + WTERMSIG(status);
}

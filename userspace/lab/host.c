// SPDX-License-Identifier: GPL-2.0-only
/* The host's side of the lab: programs, directories, locks. */
#include "lab.h"

#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

/* An ordinary user's PATH has no sbin on Debian. */
#define SYSTEM_DIRS "/usr/local/sbin:/usr/sbin:/sbin:/usr/bin:/bin"

static char *search(const char *dirs, const char *name)
{
	char *copy = xstrdup(dirs);
	char *rest = copy, *dir, *found = NULL;

	while (!found && (dir = strsep(&rest, ":"))) {
		struct stat st;
		char *path = xasprintf("%s/%s", *dir ? dir : ".", name);

		if (!stat(path, &st) && S_ISREG(st.st_mode) &&
		    !access(path, X_OK))
			found = path;
		else
			free(path);
	}
	free(copy);
	return found;
}

char *host_program(const char *name)
{
	const char *path = getenv("PATH");
	char *found = NULL;

	if (strchr(name, '/'))
		return access(name, X_OK) ? NULL : xstrdup(name);
	if (path)
		found = search(path, name);
	return found ? found : search(SYSTEM_DIRS, name);
}

int host_need(const char *program, const char *package)
{
	char *path = host_program(program);

	if (!path)
		return msg_cannot("%s is missing; it is in the Debian package %s",
				  program, package);
	free(path);
	return TARE_OK;
}

int host_cache_path(char **path)
{
	const char *cache = getenv("TARE_CACHE");
	const char *xdg = getenv("XDG_CACHE_HOME");
	const char *home = getenv("HOME");

	*path = NULL;
	/* Relative it would be another one in every directory. */
	if (cache && *cache && *cache != '/')
		return msg_usage("TARE_CACHE=%s: give an absolute path", cache);
	if (cache && *cache)
		*path = xstrdup(cache);
	else if (xdg && *xdg == '/')
		*path = xasprintf("%s/tare", xdg);
	else if (home && *home == '/')
		*path = xasprintf("%s/.cache/tare", home);
	else
		return msg_cannot("no place for the cache: set TARE_CACHE or HOME");
	return TARE_OK;
}

int host_cache_error(const char *path, int err)
{
	if (err == -ENOSPC || err == -EDQUOT)
		return msg_cannot("cannot write the cache %s: %s; make room or set TARE_CACHE to a directory of yours",
				  path, strerror(-err));
	return msg_cannot("cannot write the cache %s: %s; set TARE_CACHE to a directory of yours",
			  path, strerror(-err));
}

static int make_writable(const char *path)
{
	struct stat st;
	int err = mkdir_p(path);

	if (err)
		return err;
	if (stat(path, &st) < 0)
		return -errno;
	if (!S_ISDIR(st.st_mode))
		return -ENOTDIR;
	return access(path, W_OK | X_OK) < 0 ? -errno : 0;
}

int host_cache(char **path)
{
	char *named;
	int code = host_cache_path(&named), err;

	*path = NULL;
	if (code)
		return code;
	err = make_writable(named);
	if (!err) {
		/* The links of a build want the real one. */
		*path = realpath(named, NULL);
		err = *path ? 0 : -errno;
	}
	if (err)
		code = host_cache_error(named, err);
	free(named);
	return code;
}

char *host_source(void)
{
	const char *source = getenv("TARE_SOURCE");
	char *real = realpath(source && *source ? source : TARE_SOURCE_DIR, NULL);

	if (!real)
		msg_cannot("the source of tare is not at %s: set TARE_SOURCE",
			   source && *source ? source : TARE_SOURCE_DIR);
	return real;
}

static const int signals[] = { SIGINT, SIGTERM, SIGHUP };
static volatile sig_atomic_t caught;
static volatile pid_t running;

static void on_signal(int signal)
{
	int err = errno;

	caught = signal;
	if (running)
		kill(-running, SIGTERM);
	errno = err;
}

void host_catch_signals(void)
{
	struct sigaction action = { .sa_handler = on_signal };

	for (size_t i = 0; i < ARRAY_SIZE(signals); i++)
		sigaction(signals[i], &action, NULL);
}

int host_signal(void)
{
	return caught;
}

void host_signal_set(sigset_t *set)
{
	sigemptyset(set);
	for (size_t i = 0; i < ARRAY_SIZE(signals); i++)
		sigaddset(set, signals[i]);
}

int host_lock(const char *path)
{
	int fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0666);

	if (fd < 0)
		return -errno;
	while (flock(fd, LOCK_EX) < 0) {
		if (errno != EINTR || caught) {
			int err = -errno;

			close(fd);
			return err;
		}
	}
	return fd;
}

/* Where a child's stdout and stderr go, and where it runs. */
struct child {
	const char *dir, *out, *err;
	int out_flags;
};

static void run_child(char *const argv[], const struct child *c,
		      const sigset_t *mask)
{
	int in, out, err;

	/* A group of its own: make and apt-get have children. */
	setpgid(0, 0);
	for (size_t i = 0; i < ARRAY_SIZE(signals); i++)
		signal(signals[i], SIG_DFL);
	sigprocmask(SIG_SETMASK, mask, NULL);
	in = open("/dev/null", O_RDONLY);
	out = open(c->out, O_WRONLY | O_CREAT | c->out_flags, 0666);
	err = open(c->err, O_WRONLY | O_CREAT | O_APPEND, 0666);

	if (in < 0 || out < 0 || err < 0 || (c->dir && chdir(c->dir) < 0))
		_exit(127);
	dup2(in, STDIN_FILENO);
	dup2(out, STDOUT_FILENO);
	dup2(err, STDERR_FILENO);
	execv(argv[0], argv);
	_exit(127);
}

static int run(char *const argv[], const struct child *c)
{
	char *program = host_program(argv[0]);
	int status = 0, err = 0;
	sigset_t set, mask;
	pid_t pid;

	if (!program)
		return -ENOENT;
	fflush(NULL);
	/* Blocked until it is known whom a signal is to be passed on to. */
	host_signal_set(&set);
	sigprocmask(SIG_BLOCK, &set, &mask);
	pid = caught ? -1 : fork();
	if (pid == 0) {
		((char **)argv)[0] = program;
		run_child(argv, c, &mask);
	}
	if (pid < 0)
		err = caught ? -EINTR : -errno;
	else
		setpgid(pid, pid);
	running = pid > 0 ? pid : 0;
	sigprocmask(SIG_SETMASK, &mask, NULL);
	free(program);
	while (!err && waitpid(pid, &status, 0) < 0)
		if (errno != EINTR)
			err = -errno;
	running = 0;
	if (err)
		return err;
	return WIFEXITED(status) ? WEXITSTATUS(status) :
				   128 + WTERMSIG(status);
}

int host_run(char *const argv[], const char *dir, const char *log)
{
	const char *to = log ? log : "/dev/null";

	return run(argv, &(struct child){ dir, to, to, O_APPEND });
}

int host_run_to(char *const argv[], const char *file)
{
	return run(argv, &(struct child){ NULL, file, "/dev/null", O_TRUNC });
}

int host_capture(char *const argv[], char **out)
{
	char *program = host_program(argv[0]);
	struct strlist shell = {};
	int status;

	*out = NULL;
	if (!program)
		return -ENOENT;
	strlist_add(&shell, "/bin/sh");
	strlist_add(&shell, "-c");
	strlist_add(&shell, "exec \"$@\" 2>/dev/null </dev/null");
	strlist_add(&shell, "sh");
	strlist_add(&shell, program);
	for (size_t i = 1; argv[i]; i++)
		strlist_add(&shell, argv[i]);
	status = run_program(shell.v, out);
	strlist_free(&shell);
	free(program);
	return status;
}

void host_show_log(const char *path, unsigned int lines)
{
	char *text = file_read(path);
	char *from;

	if (!text)
		return;
	from = text + strlen(text);
	while (from > text && (lines || from[-1] != '\n'))
		if (*--from == '\n')
			lines--;
	if (*text)
		fprintf(stderr, "%s\n", *from == '\n' ? from + 1 : from);
	free(text);
}

static unsigned long long tree_bytes;

static int add_size(const char *path, const struct stat *st, int type,
		    struct FTW *ftw)
{
	(void)path;
	(void)type;
	(void)ftw;
	tree_bytes += (unsigned long long)st->st_blocks * 512;
	return 0;
}

unsigned long long host_tree_size(const char *path)
{
	tree_bytes = 0;
	nftw(path, add_size, 64, FTW_PHYS | FTW_MOUNT);
	return tree_bytes;
}

// SPDX-License-Identifier: GPL-2.0-only
/*
 * One run of the virtual machine. What the guest says comes through virtio
 * ports: the command's output through pipes, live; exit code, kernel log and
 * results into files.
 */
#include "lab.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

/*
 * What every machine gets. The log goes to the console only at a panic, there
 * completely and with all CPUs (panic_print), for the serial line is slow.
 */
#define APPEND_ALL "console=ttyS0 quiet panic=-1 oops=panic panic_print=0x60 " \
	"unknown_nmi_panic log_buf_len=4M nokaslr cryptomgr.notests"
/* How long a guest may take to print its log after the NMI. */
#define LAST_WORDS_S 5
/* TCG offers no invariant counter: trust it, it is right by construction. */
#define APPEND_EXACT " mitigations=off tsc=reliable tsc_early_khz=1000000 tare_core.trust_tsc=1"

const char *lab_mode_name(enum lab_mode mode)
{
	static const char *const names[] = {
		[LAB_EXACT] = "exact",
		[LAB_SOFTIRQ] = "softirq",
		[LAB_WALL] = "wall",
	};

	return names[mode];
}

static void add_words(struct strlist *argv, const char *words)
{
	char *copy = xstrdup(words);
	char *rest = copy, *word;

	while ((word = strsep(&rest, " ")))
		if (*word)
			strlist_add(argv, word);
	free(copy);
}

static void add_option(struct strlist *argv, const char *option, char *value)
{
	strlist_add(argv, option);
	strlist_add(argv, value);
	free(value);
}

static void add_machine(struct strlist *argv, const struct qemu_spec *spec)
{
	if (spec->mode != LAB_WALL) {
		/*
		 * Fixed seed and date: two runs of the same command agree to a
		 * few instructions.
		 */
		add_words(argv, "-accel tcg,thread=single -cpu max "
			  "-icount shift=0,sleep=off -seed 1 "
			  "-rtc base=2026-01-01T00:00:00,clock=vm -smp");
		strlist_add(argv, spec->mode == LAB_SOFTIRQ ? "2" : "1");
		return;
	}
	add_words(argv, spec->kvm ? "-accel kvm -cpu host" :
				    "-accel tcg,thread=multi -cpu max");
	add_option(argv, "-smp", xasprintf("%u", spec->smp));
}

/* Port n of the guest goes to a file or, by /dev/fd, to a pipe. */
static void add_port(struct strlist *argv, unsigned int n, char *path)
{
	add_option(argv, "-chardev", xasprintf("file,id=p%u,path=%s", n, path));
	add_option(argv, "-device", xasprintf("virtserialport,chardev=p%u,nr=%u",
					      n, n));
	free(path);
}

/* Our end, and those that QEMU has by number. */
struct channels {
	int out[2], err[2], monitor[2];
};

static void make_argv(struct strlist *argv, const struct qemu_spec *spec,
		      const struct channels *ch)
{
	const char *exact = spec->mode == LAB_WALL ? "" : APPEND_EXACT;
	/*
	 * The second CPU is there but never started. One that could be plugged
	 * in would do for 6.1; newer kernels do not count it as possible.
	 */
	const char *softirq = spec->mode == LAB_SOFTIRQ ? " maxcpus=1" : "";

	add_words(argv, "qemu-system-x86_64 -nodefaults -no-user-config "
		  "-display none -no-reboot -machine pc");
	add_machine(argv, spec);
	add_option(argv, "-m", xasprintf("%u", spec->mem_mb));
	add_option(argv, "-kernel", xstrdup(spec->image));
	add_option(argv, "-initrd", xstrdup(spec->initrd));
	add_option(argv, "-append",
		   xasprintf(APPEND_ALL "%s%s%s%s", exact, softirq,
			     spec->append ? " " : "",
			     spec->append ? spec->append : ""));
	add_option(argv, "-serial", xasprintf("file:%s/console", spec->dir));
	add_option(argv, "-chardev", xasprintf("socket,id=mon,fd=%d",
					       ch->monitor[1]));
	add_words(argv, "-mon chardev=mon -device virtio-serial-pci,ioeventfd=off");
	add_port(argv, 1, xasprintf("/dev/fd/%d", ch->out[1]));
	add_port(argv, 2, xasprintf("/dev/fd/%d", ch->err[1]));
	add_port(argv, 3, xasprintf("%s/control", spec->dir));
	add_port(argv, 4, xasprintf("%s/dmesg", spec->dir));
	add_port(argv, 5, xasprintf("%s/results.tar", spec->dir));
}

static void show(const struct strlist *argv)
{
	fputs("tare:", stderr);
	for (size_t i = 0; i < argv->n; i++) {
		bool plain = !strpbrk(argv->v[i], " '\"$\\");
		char *quoted = plain ? xstrdup(argv->v[i]) :
				       shell_quote(argv->v[i]);

		fprintf(stderr, " %s", quoted);
		free(quoted);
	}
	fputc('\n', stderr);
}

static void child(char **argv, const char *dir, pid_t parent)
{
	char *log = xasprintf("%s/qemu.log", dir);
	int in = open("/dev/null", O_RDONLY);
	int out = open(log, O_WRONLY | O_CREAT | O_TRUNC, 0666);
	sigset_t none;

	/*
	 * A group of its own, for a kill that misses nobody and a Ctrl-C that
	 * only tare gets; and no life without tare.
	 */
	setpgid(0, 0);
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (getppid() != parent || in < 0 || out < 0)
		_exit(127);
	dup2(in, STDIN_FILENO);
	dup2(out, STDOUT_FILENO);
	dup2(out, STDERR_FILENO);
	signal(SIGPIPE, SIG_DFL);
	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
	execvp(argv[0], argv);
	_exit(127);
}

static void close_pair(int fds[2])
{
	close(fds[0]);
	close(fds[1]);
}

/* Close-on-exec at our ends only. */
static int open_channels(struct channels *ch)
{
	if (pipe(ch->out) < 0)
		return -errno;
	if (pipe(ch->err) < 0) {
		close_pair(ch->out);
		return -EMFILE;
	}
	if (socketpair(AF_UNIX, SOCK_STREAM, 0, ch->monitor) < 0) {
		close_pair(ch->out);
		close_pair(ch->err);
		return -EMFILE;
	}
	fcntl(ch->out[0], F_SETFD, FD_CLOEXEC);
	fcntl(ch->err[0], F_SETFD, FD_CLOEXEC);
	fcntl(ch->monitor[0], F_SETFD, FD_CLOEXEC);
	return 0;
}

static void close_channels(struct channels *ch)
{
	close(ch->out[0]);
	close(ch->err[0]);
	close(ch->monitor[0]);
}

static pid_t start(const struct qemu_spec *spec, struct channels *ch)
{
	struct strlist argv = {};
	pid_t parent = getpid(), pid;

	if (open_channels(ch) < 0)
		return -1;
	make_argv(&argv, spec, ch);
	if (spec->show)
		show(&argv);
	fflush(NULL);
	pid = fork();
	if (pid == 0)
		child(argv.v, spec->dir, parent);
	close(ch->out[1]);
	close(ch->err[1]);
	close(ch->monitor[1]);
	if (pid < 0)
		close_channels(ch);
	strlist_free(&argv);
	return pid;
}

/*
 * A guest that hangs cannot send its kernel log: an NMI makes it panic, and
 * so print the log and where it was.
 */
static void ask_last_words(pid_t pid, int monitor)
{
	const struct timespec pause = { 0, 50000000 };

	if (send(monitor, "nmi\n", 4, MSG_NOSIGNAL) != 4)
		return;
	for (int i = 0; i < LAST_WORDS_S * 20 && !host_signal(); i++) {
		siginfo_t info = {};

		if (waitid(P_PID, pid, &info, WEXITED | WNOHANG | WNOWAIT) ||
		    info.si_pid)
			return;
		nanosleep(&pause, NULL);
	}
}

static int write_all(int fd, const char *data, size_t size)
{
	while (size) {
		ssize_t n = write(fd, data, size);

		if (n < 0 && errno == EINTR && !host_signal())
			continue;
		if (n < 0)
			return -errno;
		data += n;
		size -= n;
	}
	return 0;
}

/* @return 0, -EPIPE when the reader of ours has gone, 1 at the end */
static int relay(int from, int to)
{
	char buf[65536];
	ssize_t n = read(from, buf, sizeof(buf));

	if (n < 0)
		return errno == EINTR || errno == EAGAIN ? 0 : 1;
	if (n == 0)
		return 1;
	return write_all(to, buf, n) ? -EPIPE : 0;
}

static bool past(const struct timespec *deadline, struct timespec *left)
{
	clock_gettime(CLOCK_MONOTONIC, left);
	left->tv_sec = deadline->tv_sec - left->tv_sec;
	left->tv_nsec = deadline->tv_nsec - left->tv_nsec;
	if (left->tv_nsec < 0) {
		left->tv_sec--;
		left->tv_nsec += 1000000000;
	}
	return left->tv_sec < 0;
}

/* Pass the output on until QEMU has closed both pipes, or something is up. */
static enum qemu_end watch(const struct channels *ch, unsigned int timeout_s,
			   const sigset_t *unblocked)
{
	struct pollfd fds[2] = {
		{ ch->out[0], POLLIN, 0 },
		{ ch->err[0], POLLIN, 0 },
	};
	struct timespec deadline, left;

	clock_gettime(CLOCK_MONOTONIC, &deadline);
	deadline.tv_sec += timeout_s;
	while (fds[0].fd >= 0 || fds[1].fd >= 0) {
		if (past(&deadline, &left))
			return QEMU_TIMEOUT;
		if (ppoll(fds, 2, &left, unblocked) < 0 && errno != EINTR)
			return QEMU_PIPE;
		if (host_signal())
			return QEMU_SIGNAL;
		for (int i = 0; i < 2; i++) {
			int end;

			if (fds[i].fd < 0 || !fds[i].revents)
				continue;
			end = relay(fds[i].fd, i ? STDERR_FILENO : STDOUT_FILENO);
			if (end < 0)
				return host_signal() ? QEMU_SIGNAL : QEMU_PIPE;
			if (end)
				fds[i].fd = -1;
		}
	}
	return QEMU_ENDED;
}

/* Only ppoll() lets them in: none comes between a look and a wait. */
static void hold_signals(sigset_t *before, bool on)
{
	sigset_t set;

	signal(SIGPIPE, on ? SIG_IGN : SIG_DFL);
	host_signal_set(&set);
	if (on)
		sigprocmask(SIG_BLOCK, &set, before);
	else
		sigprocmask(SIG_SETMASK, before, NULL);
}

/* The end of QEMU, one way or the other. */
static enum qemu_end reap(pid_t pid, enum qemu_end end)
{
	int status = 0;

	if (end != QEMU_ENDED)
		kill(-pid, SIGKILL);
	while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
		;
	if (end == QEMU_ENDED && WIFEXITED(status) && WEXITSTATUS(status))
		return QEMU_NOT_STARTED;
	return end;
}

enum qemu_end qemu_run(const struct qemu_spec *spec, int *signal)
{
	enum qemu_end end = QEMU_NOT_STARTED;
	struct channels ch;
	sigset_t before;
	pid_t pid;

	hold_signals(&before, true);
	pid = host_signal() ? 0 : start(spec, &ch);
	if (host_signal()) {
		end = QEMU_SIGNAL;
	} else if (pid > 0) {
		end = watch(&ch, spec->timeout_s, &before);
		if (end == QEMU_TIMEOUT && !spec->kvm_probe)
			ask_last_words(pid, ch.monitor[0]);
		end = reap(pid, end);
		close_channels(&ch);
	}
	hold_signals(&before, false);
	*signal = host_signal();
	return end;
}

// SPDX-License-Identifier: GPL-2.0-only
/* Programs that are run, and what becomes of them when a signal comes. */
#include <errno.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#include "util.h"

static int sh(const char *script, char **out)
{
	char *argv[] = { "sh", "-c", (char *)script, NULL };

	return run_program(argv, out);
}

static void ends_as_it_ends(void **state)
{
	char *none[] = { "/nonexistent/program", NULL }, *out;

	(void)state;
	assert_int_equal(sh("exit 3", NULL), 3);
	assert_int_equal(sh("kill -9 $$", NULL), 128 + SIGKILL);
	assert_int_equal(run_program(none, NULL), 127);
	assert_int_equal(sh("echo said; exit 1", &out), 1);
	assert_string_equal(out, "said\n");
	free(out);
}

static void on_signal(int sig)
{
	program_signal(sig == SIGALRM ? SIGINT : sig);
}

/*
 * In a process of its own, as a stop is for good: SIGALRM comes after a second,
 * and again when `again` is 1.
 * @return 0 when run_program() said -EINTR, that text came and no second starts
 */
static int stopped(const char *script, const char *text, int again)
{
	struct itimerval every = { { again, 0 }, { 1, 0 } };
	struct sigaction sa = { .sa_handler = on_signal };
	int status;
	pid_t pid = fork();

	if (pid == 0) {
		char *out;
		int bad;

		sigaction(SIGALRM, &sa, NULL);
		setitimer(ITIMER_REAL, &every, NULL);
		bad = sh(script, &out) != -EINTR || strcmp(out, text);
		bad |= sh("exit 0", NULL) != -EINTR;
		_exit(bad);
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	return status;
}

static void a_signal_is_passed_on(void **state)
{
	(void)state;
	assert_int_equal(stopped("trap 'echo partial; exit 1' INT; while :; do sleep 0.05; done",
				 "partial\n", 0), 0);
}

static void the_second_kills(void **state)
{
	(void)state;
	/* The children too: the pipe closes only when all are gone. */
	assert_int_equal(stopped("trap '' INT; sleep 60 & echo here; wait; sleep 60",
				 "here\n", 1), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(ends_as_it_ends),
		cmocka_unit_test(a_signal_is_passed_on),
		cmocka_unit_test(the_second_kills),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

// SPDX-License-Identifier: GPL-2.0-only
/* The guest's kernel log: what is a fault, what is allowed. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "lab.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void test_bad_lines(void **state)
{
	static const char *const bad[] = {
		"[    1.0] BUG: kernel NULL pointer dereference",
		"[    1.0] WARNING: CPU: 0 PID: 1 at kernel/x.c:1 f+0x1/0x2",
		"[    1.0] WARNING: possible circular locking dependency detected",
		"[    1.0] Oops: 0000 [#1] PREEMPT SMP",
		"[    1.0] Kernel panic - not syncing: x",
		"[    1.0] BUG: KASAN: slab-out-of-bounds in f",
		"[    1.0] UBSAN: shift-out-of-bounds in f",
		"[    1.0] INFO: task fio:12 blocked for more than 120 seconds.",
		"[    1.0] Call Trace:",
		"[    1.0] general protection fault, probably for address",
		"[    1.0] rcu: INFO: rcu_preempt self-detected stall on CPU",
	};
	static const char *const good[] = {
		"[    0.0] Kernel command line: console=ttyS0 oops=panic",
		"[    0.0] tare_blk: tare0 created",
		"[    0.0] x86/mm: Checked W+X mappings: passed, no W+X pages found.",
		"",
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(bad); i++)
		assert_true(klog_bad_line(bad[i]));
	for (size_t i = 0; i < ARRAY_SIZE(good); i++)
		assert_false(klog_bad_line(good[i]));
}

static unsigned int scan(const char *log, const char *pattern)
{
	struct strlist patterns = {};
	struct klog_allow *allow;
	unsigned int found;

	if (pattern)
		strlist_add(&patterns, pattern);
	allow = klog_allow_new(&patterns);
	assert_non_null(allow);
	found = klog_scan(log, allow);
	klog_allow_free(allow);
	strlist_free(&patterns);
	return found;
}

static void test_scan(void **state)
{
	static const char log[] =
		"[ 1.0] fine\n"
		"[ 1.1] WARNING: CPU: 0 PID: 1 at a.c:1\n"
		"[ 1.2] Call Trace:\n"
		"[ 1.3] ---[ end trace 0000 ]---\n"
		"[ 1.4] Call Trace:\n";

	(void)state;
	assert_int_equal(scan("[ 1.0] fine\n", NULL), 0);
	assert_int_equal(scan("", NULL), 0);
	assert_int_equal(scan(log, NULL), 3);
	/* The allowed warning excuses its own trace, not a later one. */
	assert_int_equal(scan(log, "a\\.c"), 1);
	assert_int_equal(scan(log, "b\\.c"), 3);
}

static void test_bad_pattern(void **state)
{
	struct strlist patterns = {};

	(void)state;
	strlist_add(&patterns, "good");
	strlist_add(&patterns, "(");
	assert_null(klog_allow_new(&patterns));
	strlist_free(&patterns);
}

static void test_console(void **state)
{
	static const char once[] = "[ 0.0] Linux version 6\n[ 1.0] x\n";
	static const char twice[] =
		"[ 9.0] Kernel panic\n[ 0.0] Linux version 6\n[ 1.0] x\n";

	(void)state;
	assert_string_equal(klog_of_console(once), once);
	assert_string_equal(klog_of_console(twice), once);
	assert_string_equal(klog_of_console("SeaBIOS"), "SeaBIOS");
	assert_string_equal(klog_of_console(""), "");
}

static void test_cut_nmi(void **state)
{
	char log[] = "[ 1.0] a\n[ 2.0] Uhhuh. NMI received for unknown reason 3\nx\n";
	char other[] = "[ 1.0] a\n";

	(void)state;
	klog_cut_nmi(log);
	assert_string_equal(log, other);
	klog_cut_nmi(other);
	assert_string_equal(other, log);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_bad_lines),
		cmocka_unit_test(test_scan),
		cmocka_unit_test(test_bad_pattern),
		cmocka_unit_test(test_console),
		cmocka_unit_test(test_cut_nmi),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

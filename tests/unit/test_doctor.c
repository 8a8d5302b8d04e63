// SPDX-License-Identifier: GPL-2.0-only
/* The doctor on machines made of files: one in order, and one sick in each way. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "doctor.h"

#include <errno.h>

#include "scratch.h"

static char *root;

#define CPU "sys/devices/system/cpu/"
#define CLOCK "sys/devices/system/clocksource/clocksource0/"

/* A bare machine, set up as one should be. */
static void make_healthy(void)
{
	static const char *const files[][2] = {
		{ "proc/cpuinfo", "processor\t: 0\nflags\t\t: fpu tsc constant_tsc nonstop_tsc\n" },
		{ "proc/cmdline", "root=/dev/sda quiet\n" },
		{ "proc/loadavg", "0.01 0.02 0.00 1/100 4242\n" },
		{ "proc/version", "Linux version 6.1.0 #1 SMP PREEMPT_DYNAMIC\n" },
		{ "proc/sys/kernel/osrelease", "6.1.0-test\n" },
		{ "proc/sys/kernel/nmi_watchdog", "0\n" },
		{ "proc/irq/5/effective_affinity_list", "0-1\n" },
		{ "proc/1/comm", "init\n" },
		{ "boot/config-6.1.0-test", "CONFIG_SMP=y\n# CONFIG_KASAN is not set\n" },
		{ "dev/kmsg", "6,1,0,-;all is well\n" },
		{ CLOCK "current_clocksource", "tsc\n" },
		{ CLOCK "available_clocksource", "tsc hpet acpi_pm \n" },
		{ CPU "cpu0/cpufreq/scaling_governor", "performance\n" },
		{ CPU "cpu1/cpufreq/scaling_governor", "performance\n" },
		{ CPU "cpu0/cpuidle/state0/name", "POLL\n" },
		{ CPU "cpu0/cpuidle/state0/latency", "0\n" },
		{ CPU "intel_pstate/no_turbo", "1\n" },
		{ CPU "smt/active", "0\n" },
		{ CPU "isolated", "2-3\n" },
		{ CPU "nohz_full", "2-3\n" },
		{ CPU "vulnerabilities/meltdown", "Not affected\n" },
		{ "sys/kernel/tracing/current_tracer", "nop\n" },
		{ "sys/kernel/tracing/events/enable", "0\n" },
		{ "sys/kernel/debug/sched/preempt", "none (voluntary) full\n" },
		{ "sys/block/t0/queue/scheduler", "[none] mq-deadline\n" },
		{ "sys/block/t0/queue/iostats", "0\n" },
		{ "sys/block/t0/queue/wbt_lat_usec", "0\n" },
		{ "sys/block/t0/queue/nomerges", "2\n" },
		{ "sys/block/t0/queue/rq_affinity", "1\n" },
	};

	for (size_t i = 0; i < ARRAY_SIZE(files); i++)
		scratch_text(root, files[i][0], files[i][1]);
}

static void examine(struct findings *f)
{
	const struct sysroot m = { .dir = root };

	memset(f, 0, sizeof(*f));
	doctor_cpu(&m, f);
	doctor_kernel(&m, f);
	doctor_noise(&m, f);
	assert_int_equal(doctor_disk(&m, "t0", f), 0);
	for (size_t i = 0; i < f->n; i++) {
		assert_true(f->v[i].found[0] != '\0');
		assert_int_equal(f->v[i].level == FINDING_OK, !f->v[i].todo);
	}
}

static const struct finding *find(const struct findings *f, const char *topic)
{
	for (size_t i = 0; i < f->n; i++)
		if (!strcmp(f->v[i].topic, topic))
			return &f->v[i];
	return NULL;
}

static int setup(void **state)
{
	(void)state;
	root = scratch_make();
	make_healthy();
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	scratch_remove(root);
	return 0;
}

static void test_healthy(void **state)
{
	struct findings f;

	(void)state;
	examine(&f);
	for (size_t i = 0; i < f.n; i++)
		if (f.v[i].level != FINDING_OK)
			fail_msg("%s: %s", f.v[i].topic, f.v[i].found);
	assert_string_equal(find(&f, "preemption")->found, "voluntary");
	findings_free(&f);
}

/* Nothing can be read: all unknown at worst, and no finding is made up. */
static void test_blind(void **state)
{
	const struct sysroot m = { .dir = "/nowhere" };
	struct findings f = { 0 };

	(void)state;
	doctor_cpu(&m, &f);
	doctor_kernel(&m, &f);
	doctor_noise(&m, &f);
	assert_int_equal(findings_count(&f, FINDING_BAD), 0);
	assert_int_equal(findings_count(&f, FINDING_WARN), 0);
	assert_true(findings_count(&f, FINDING_UNKNOWN) > 8);
	assert_int_equal(doctor_disk(&m, "t0", &f), -ENODEV);
	findings_free(&f);
}

/* One change to the healthy machine, and what the doctor says of it. */
static void assert_sick(const char *file, const char *text, const char *topic,
			enum finding_level level, const char *words)
{
	char *path = xasprintf("%s/%s", root, file);
	char *old = file_read(path);
	const struct finding *one;
	struct findings f;

	scratch_text(root, file, text);
	examine(&f);
	one = find(&f, topic);
	if (!one)
		fail_msg("%s: nothing about %s", file, topic);
	else if (one->level != level || !strstr(one->found, words))
		fail_msg("%s: %s %s", topic, finding_level_names[one->level],
			 one->found);
	findings_free(&f);
	unlink(path);
	if (old)
		scratch_text(root, file, old);
	free(old);
	free(path);
}

static void test_counter(void **state)
{
	(void)state;
	assert_sick("proc/cpuinfo", "x\nflags : fpu tsc nonstop_tsc\n", "tsc",
		    FINDING_BAD, "constant_tsc is missing");
	assert_sick("proc/cpuinfo", "x\nflags : tsc\n", "tsc", FINDING_BAD,
		    "constant_tsc is missing, nonstop_tsc is missing");
	assert_sick("proc/cpuinfo", "Features : fp asimd\n", "tsc",
		    FINDING_UNKNOWN, "no x86 flags");
	assert_sick("dev/kmsg", "4,2,1,-;tsc: Marking TSC unstable due to x\n",
		    "tsc-stable", FINDING_BAD, "unstable");
	assert_sick(CLOCK "current_clocksource", "hpet\n", "clocksource",
		    FINDING_WARN, "though tsc is available");
}

static void test_frequency(void **state)
{
	(void)state;
	assert_sick(CPU "cpu1/cpufreq/scaling_governor", "powersave\n",
		    "governor", FINDING_WARN, "powersave, on 1 of 2");
	assert_sick(CPU "intel_pstate/no_turbo", "0\n", "turbo", FINDING_WARN,
		    "on");
	assert_sick(CPU "cpu0/cpuidle/state3/latency", "133\n", "idle",
		    FINDING_WARN, "133");
	assert_sick(CPU "smt/active", "1\n", "smt", FINDING_WARN, "on");
}

static void rm_dma_latency(void)
{
	char *path = xasprintf("%s/dev/cpu_dma_latency", root);

	assert_int_equal(unlink(path), 0);
	free(path);
}

static void test_idle_held(void **state)
{
	const int zero = 0;
	const struct finding *one;
	struct findings f;

	(void)state;
	scratch_text(root, CPU "cpu0/cpuidle/state3/latency", "133\n");
	scratch_bytes(root, "dev/cpu_dma_latency", &zero, sizeof(zero));
	examine(&f);
	one = find(&f, "idle");
	assert_int_equal(one->level, FINDING_OK);
	assert_non_null(strstr(one->found, "cpu_dma_latency"));
	findings_free(&f);
	scratch_text(root, CPU "cpu0/cpuidle/state3/disable", "1\n");
	rm_dma_latency();
	examine(&f);
	assert_int_equal(find(&f, "idle")->level, FINDING_OK);
	findings_free(&f);
}

static void test_kernel(void **state)
{
	(void)state;
	assert_sick("proc/lockdep", "", "debug", FINDING_BAD, "lockdep");
	assert_sick("sys/kernel/debug/kmemleak", "", "kmemleak", FINDING_BAD,
		    "built in");
	assert_sick("sys/kernel/tracing/current_tracer", "function\n",
		    "tracing", FINDING_BAD, "function");
	assert_sick("sys/kernel/tracing/events/enable", "X\n", "tracing",
		    FINDING_BAD, "events");
	assert_sick("proc/version", "Linux #1 SMP PREEMPT_RT x\n",
		    "preemption", FINDING_OK, "PREEMPT_RT");
	assert_sick(CPU "vulnerabilities/spectre_v2", "Mitigation: IBRS\n",
		    "mitigations", FINDING_OK, "spectre_v2");
	assert_sick("proc/cmdline", "x mitigations=off\n", "mitigations",
		    FINDING_OK, "mitigations=off");
	assert_sick("proc/cpuinfo",
		    "x\nflags : hypervisor constant_tsc nonstop_tsc\n",
		    "virtual", FINDING_WARN, "virtual machine");
}

/* The configuration is read once for a machine, so each has a new one. */
static void test_debug_config(void **state)
{
	(void)state;
	for (int i = 0; i < 3; i++) {
		static const char *const text[] = {
			"CONFIG_SMP=y\nCONFIG_KASAN=y\n",
			"CONFIG_SMP=y\nCONFIG_DEBUG_PREEMPT=y\n", "" };
		static const enum finding_level want[] = {
			FINDING_BAD, FINDING_WARN, FINDING_UNKNOWN };
		struct sysroot m;
		struct findings f = { 0 };
		char *alias = xasprintf("%s%.*s", root, i + 1, "////");

		scratch_text(root, "boot/config-6.1.0-test", text[i]);
		m.dir = alias;
		doctor_kernel(&m, &f);
		assert_int_equal(find(&f, "debug")->level, want[i]);
		findings_free(&f);
		free(alias);
	}
}

static void test_noise(void **state)
{
	(void)state;
	assert_sick("proc/loadavg", "3.10 1 1 1/1 1\n", "load", FINDING_WARN,
		    "3.10");
	assert_sick(CPU "isolated", "\n", "isolation", FINDING_WARN, "no CPU");
	assert_sick("proc/irq/5/effective_affinity_list", "0-2\n",
		    "interrupts", FINDING_WARN, "1 may come");
	assert_sick("proc/irq/5/effective_affinity_list", "0,9-12,3\n",
		    "interrupts", FINDING_WARN, "1 may come");
	assert_sick("proc/77/comm", "irqbalance\n", "irqbalance", FINDING_WARN,
		    "running");
	assert_sick("proc/sys/kernel/nmi_watchdog", "1\n", "nmi-watchdog",
		    FINDING_WARN, "on");
	assert_sick("proc/sys/kernel/numa_balancing", "1\n", "numa-balancing",
		    FINDING_WARN, "on");
}

static void test_disk(void **state)
{
	const struct sysroot m = { .dir = root };
	struct findings f = { 0 };

	(void)state;
	assert_sick("sys/block/t0/queue/scheduler", "none [mq-deadline]\n",
		    "scheduler", FINDING_WARN, "mq-deadline");
	assert_sick("sys/block/t0/queue/iostats", "1\n", "iostats",
		    FINDING_WARN, "1");
	assert_sick("sys/block/t0/queue/wbt_lat_usec", "75000\n",
		    "wbt_lat_usec", FINDING_WARN, "75000");
	assert_sick("sys/block/t0/queue/rq_affinity", "2\n", "rq_affinity",
		    FINDING_WARN, "2");
	assert_int_equal(doctor_disk(&m, "..", &f), -ENODEV);
	assert_int_equal(doctor_disk(&m, "", &f), -ENODEV);
	assert_int_equal(doctor_disk(&m, "../../proc", &f), -ENODEV);
	assert_int_equal(doctor_disk(&m, "%s", &f), -ENODEV);
	assert_int_equal(f.n, 0);
}

static void test_words(void **state)
{
	const struct sysroot m = { .dir = root };
	char *value;

	(void)state;
	assert_true(has_word("a bc d", "bc"));
	assert_false(has_word("a bc d", "b"));
	assert_false(has_word("", "b"));
	scratch_text(root, "proc/cmdline", "tsc=reliable tscx quiet tsc=x\n");
	value = sysroot_parameter(&m, "tsc");
	assert_string_equal(value, "x");
	free(value);
	value = sysroot_parameter(&m, "quiet");
	assert_string_equal(value, "");
	free(value);
	assert_null(sysroot_parameter(&m, "qui"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_healthy, setup, teardown),
		cmocka_unit_test(test_blind),
		cmocka_unit_test_setup_teardown(test_counter, setup, teardown),
		cmocka_unit_test_setup_teardown(test_frequency, setup,
						teardown),
		cmocka_unit_test_setup_teardown(test_idle_held, setup,
						teardown),
		cmocka_unit_test_setup_teardown(test_kernel, setup, teardown),
		cmocka_unit_test_setup_teardown(test_debug_config, setup,
						teardown),
		cmocka_unit_test_setup_teardown(test_noise, setup, teardown),
		cmocka_unit_test_setup_teardown(test_disk, setup, teardown),
		cmocka_unit_test_setup_teardown(test_words, setup, teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

// SPDX-License-Identifier: GPL-2.0-only
/*
 * The guest's kernel log. It is searched as text, not by level: lockdep prints
 * at a level that a quiet console hides.
 */
#include "lab.h"

#include <regex.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A splat is followed by this many lines at most. */
#define SPLAT_LINES 40

struct klog_allow {
	regex_t *re;
	size_t n;
};

static const char *const bad[] = {
	"BUG:", "WARNING:", "Oops", "kernel BUG at", "Kernel panic",
	"KASAN:", "UBSAN:", "KCSAN:", "INFO: task ", "INFO: rcu",
	"INFO: possible ", "INFO: trying to register non-static key",
	"INFO: suspicious RCU", "lockdep", "possible recursive locking",
	"possible circular locking", "Call Trace:", "general protection",
	"ODEBUG:", "soft lockup", "hard LOCKUP", "scheduling while atomic",
	"sleeping function called from invalid context",
	"unable to handle", "suspected memory leaks",
};

bool klog_bad_line(const char *line)
{
	for (size_t i = 0; i < ARRAY_SIZE(bad); i++)
		if (strstr(line, bad[i]))
			return true;
	return false;
}

struct klog_allow *klog_allow_new(const struct strlist *patterns)
{
	struct klog_allow *allow = xcalloc(1, sizeof(*allow));

	allow->re = xcalloc(patterns->n, sizeof(*allow->re));
	for (size_t i = 0; i < patterns->n; i++) {
		int err = regcomp(&allow->re[i], patterns->v[i],
				  REG_EXTENDED | REG_NOSUB);

		if (err) {
			char why[128];

			regerror(err, &allow->re[i], why, sizeof(why));
			msg_usage("--allow '%s': %s", patterns->v[i], why);
			klog_allow_free(allow);
			return NULL;
		}
		allow->n++;
	}
	return allow;
}

void klog_allow_free(struct klog_allow *allow)
{
	if (!allow)
		return;
	for (size_t i = 0; i < allow->n; i++)
		regfree(&allow->re[i]);
	free(allow->re);
	free(allow);
}

const char *klog_of_console(const char *console)
{
	static const char first[] = "] Linux version ";
	const char *start = console, *found = console;

	while ((found = strstr(found, first))) {
		start = found;
		found++;
	}
	while (start > console && start[-1] != '\n')
		start--;
	return start;
}

void klog_cut_nmi(char *log)
{
	char *nmi = strstr(log, "Uhhuh. NMI received for unknown reason");

	if (!nmi)
		return;
	while (nmi > log && nmi[-1] != '\n')
		nmi--;
	*nmi = '\0';
}

static bool allowed(const struct klog_allow *allow, const char *line)
{
	for (size_t i = 0; i < allow->n; i++)
		if (!regexec(&allow->re[i], line, 0, NULL, 0))
			return true;
	return false;
}

unsigned int klog_scan(const char *log, const struct klog_allow *allow)
{
	unsigned int found = 0, show = 0, excused = 0;
	struct strlist lines = {};

	strlist_add_lines(&lines, log);
	for (size_t i = 0; i < lines.n; i++) {
		const char *line = lines.v[i];
		bool is_bad = klog_bad_line(line);

		/* What is allowed takes its own call trace with it. */
		if (is_bad && allowed(allow, line)) {
			excused = SPLAT_LINES;
		} else if (is_bad && !(excused && strstr(line, "Call Trace:"))) {
			found++;
			show = SPLAT_LINES;
		}
		if (show) {
			fprintf(stderr, "  %s\n", line);
			show--;
		}
		if (excused)
			excused--;
		if (strstr(line, "---[ end trace"))
			show = excused = 0;
	}
	strlist_free(&lines);
	return found;
}

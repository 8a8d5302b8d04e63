// SPDX-License-Identifier: GPL-2.0-only
#include "findings.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const char *const finding_level_names[] = {
	[FINDING_OK] = "ok",
	[FINDING_WARN] = "warn",
	[FINDING_BAD] = "bad",
	[FINDING_UNKNOWN] = "unknown",
};

void finding_add(struct findings *f, const char *topic,
		 enum finding_level level, const char *why, const char *todo,
		 const char *fmt, ...)
{
	struct finding *one;
	va_list ap;
	int n;

	f->v = xrealloc(f->v, (f->n + 1) * sizeof(*f->v));
	one = &f->v[f->n++];
	*one = (struct finding){ .topic = topic, .level = level, .why = why,
				 .todo = todo ? xstrdup(todo) : NULL };
	va_start(ap, fmt);
	n = vasprintf(&one->found, fmt, ap);
	va_end(ap);
	if (n < 0)
		one->found = xstrdup("?");
}

size_t findings_count(const struct findings *f, enum finding_level level)
{
	size_t n = 0;

	for (size_t i = 0; i < f->n; i++)
		n += f->v[i].level == level;
	return n;
}

void findings_free(struct findings *f)
{
	for (size_t i = 0; i < f->n; i++) {
		free(f->v[i].found);
		free(f->v[i].todo);
	}
	free(f->v);
	memset(f, 0, sizeof(*f));
}

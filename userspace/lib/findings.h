/* SPDX-License-Identifier: GPL-2.0-only */
/* What an examination found out: a list in the order of the looking. */
#ifndef TARE_FINDINGS_H
#define TARE_FINDINGS_H

#include <stddef.h>

#include "output.h"
#include "util.h"

enum finding_level { FINDING_OK, FINDING_WARN, FINDING_BAD, FINDING_UNKNOWN };
extern const char *const finding_level_names[];

struct finding {
	const char *topic;	/* a word, a literal */
	enum finding_level level;
	char *found;
	const char *why;	/* why it matters, a literal */
	char *todo;		/* what to do about it; NULL when level is ok */
};

struct findings {
	struct finding *v;
	size_t n;
};

/**
 * Add one.
 * @param topic, why literals that outlive the list
 * @param todo NULL: nothing to do. Copied.
 * @param fmt what was found, as for printf
 */
void finding_add(struct findings *f, const char *topic,
		 enum finding_level level, const char *why, const char *todo,
		 const char *fmt, ...) PRINTF_LIKE(6, 7);
/** @return how many have this level */
size_t findings_count(const struct findings *f, enum finding_level level);
void findings_free(struct findings *f);

#endif

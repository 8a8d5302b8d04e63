// SPDX-License-Identifier: GPL-2.0-only
/* Lists of strings. */
#include "lab.h"

#include <stdlib.h>
#include <string.h>

void strlist_add(struct strlist *list, const char *s)
{
	list->v = xrealloc(list->v, (list->n + 2) * sizeof(*list->v));
	list->v[list->n++] = xstrdup(s);
	list->v[list->n] = NULL;
}

bool strlist_has(const struct strlist *list, const char *s)
{
	for (size_t i = 0; i < list->n; i++)
		if (!strcmp(list->v[i], s))
			return true;
	return false;
}

bool strlist_add_new(struct strlist *list, const char *s)
{
	if (strlist_has(list, s))
		return false;
	strlist_add(list, s);
	return true;
}

void strlist_free(struct strlist *list)
{
	for (size_t i = 0; i < list->n; i++)
		free(list->v[i]);
	free(list->v);
	list->v = NULL;
	list->n = 0;
}

void strlist_add_lines(struct strlist *list, const char *text)
{
	char *copy = xstrdup(text);
	char *rest = copy, *line;

	while ((line = strsep(&rest, "\n")))
		if (*line)
			strlist_add(list, line);
	free(copy);
}

// SPDX-License-Identifier: GPL-2.0-only
/* The attribute table as user space sees it, and what a value may be. */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "device.h"
#include "model.h"
#include "output.h"
#include "ranges.h"
#include "util.h"

/* Names of classes and types as the X-macro writes them. */
#define ENUM_DESC(constant, name, help) { name, help },
#define ENUM_DESCS(attr, names) \
	static const struct enum_desc attr##_names[] = { names(ENUM_DESC) };
TARE_ENUMS(ENUM_DESCS)

#define NAMES_NUM(attr) NULL
#define NAMES_INT(attr) NULL
#define NAMES_BOOL(attr) NULL
#define NAMES_ENUM(attr) attr##_names
#define NAMES_RANGES(attr) NULL
#define ATTR_DESC(name, type, def, min, max, class, help)             \
	{ #name, ATTR_##type, ATTR_##class, def, min, max, help,      \
	  NAMES_##type(name) },

const struct attr_desc attr_table[] = { TARE_ATTRS(ATTR_DESC) };
const size_t attr_count = ARRAY_SIZE(attr_table);

const struct attr_desc *attr_find(const char *name)
{
	for (size_t i = 0; i < attr_count; i++)
		if (!strcmp(attr_table[i].name, name))
			return &attr_table[i];
	return NULL;
}

bool attr_is_number(const struct attr_desc *attr)
{
	return attr->type != ATTR_ENUM && attr->type != ATTR_RANGES;
}

char *attr_range(const struct attr_desc *attr)
{
	if (attr->type == ATTR_BOOL)
		return xstrdup("0 or 1");
	if (attr->type == ATTR_RANGES)
		return xasprintf("none, ascending FIRST-LAST with commas, +FIRST-LAST or -FIRST-LAST, up to %" PRId64,
				 attr->max);
	if (!attr->names)
		return xasprintf("%" PRId64 " … %" PRId64, attr->min,
				 attr->max);

	char *text = xstrdup(attr->names[0].name);

	for (int64_t i = 1; i <= attr->max; i++) {
		char *more = xasprintf("%s%s%s", text,
				       i < attr->max ? ", " : " or ",
				       attr->names[i].name);

		free(text);
		text = more;
	}
	return text;
}

char *attr_format(const struct attr_desc *attr, int64_t value)
{
	/* Only the default can be told by its number. */
	if (attr->type == ATTR_RANGES)
		return xstrdup("none");
	if (attr->names && value >= 0 && value <= attr->max)
		return xstrdup(attr->names[value].name);
	return xasprintf("%" PRId64, value);
}

static int parse_name(const struct attr_desc *attr, const char *text,
		      int64_t *value)
{
	for (int64_t i = 0; i <= attr->max; i++) {
		if (strcmp(attr->names[i].name, text))
			continue;
		*value = i;
		return 0;
	}
	return -EINVAL;
}

/* What the text makes of an empty list. */
static int parse_ranges(const struct attr_desc *attr, const char *text,
			int64_t *value)
{
	struct tare_ranges ranges = { .n = 0 };
	size_t len = strlen(text);
	int err;

	/* The driver takes a final newline; on a command line it is a mistake. */
	if (len && text[len - 1] == '\n')
		return -EINVAL;
	err = tare_ranges_write(&ranges, text, len, (u64)attr->max);
	*value = ranges.n;
	return err;
}

/* Digits, with a leading minus where the type allows one; "-0" is not 0. */
static int parse_number(const struct attr_desc *attr, const char *text,
			int64_t *value)
{
	bool minus = attr->type == ATTR_INT && text[0] == '-';
	uint64_t v;
	int err = parse_u64(text + minus, &v);

	if (err)
		return err;
	if (minus && v == 0)
		return -EINVAL;
	if (v > INT64_MAX)
		return -ERANGE;
	*value = minus ? -(int64_t)v : (int64_t)v;
	return 0;
}

static bool is_power_of_two(int64_t v)
{
	return v > 0 && !(v & (v - 1));
}

int attr_parse(const struct attr_desc *attr, const char *text, int64_t *value)
{
	int err;

	if (attr->names)
		return parse_name(attr, text, value);
	if (attr->type == ATTR_RANGES)
		return parse_ranges(attr, text, value);
	err = parse_number(attr, text, value);
	if (err)
		return err;
	if (*value < attr->min || *value > attr->max)
		return -ERANGE;
	if (!strcmp(attr->name, "block_size") && !is_power_of_two(*value))
		return -EDOM;
	return 0;
}

/* What is wrong with the text, as the reader should hear it. */
static const char *complaint(const struct attr_desc *attr, int err)
{
	if (err == -ERANGE)
		return "is out of range";
	if (err == -EDOM)
		return "is not a power of two";
	if (err == -ENOSPC)
		return "has too many ranges";
	switch (attr->type) {
	case ATTR_RANGES:
		return "is no list of sector ranges";
	case ATTR_ENUM:
		return "is none of its names";
	case ATTR_INT:
		return "is no decimal number (digits, perhaps after a minus)";
	default:
		return "is no decimal number (digits alone)";
	}
}

char *attr_problem(const struct attr_desc *attr, const char *value)
{
	int64_t v;
	int err;

	if (attr->class == ATTR_RO)
		return xasprintf("%s cannot be set", attr->name);
	err = attr_parse(attr, value, &v);
	if (!err)
		return NULL;

	char *quoted = out_quote(value);
	char *range = attr_range(attr);
	char *text = xasprintf("%s: %s %s; allowed: %s", attr->name, quoted,
			       complaint(attr, err), range);

	free(quoted);
	free(range);
	return text;
}

int attr_check(const struct attr_desc *attr, const char *value)
{
	char *problem = attr_problem(attr, value);

	if (!problem)
		return 0;
	msg_usage("%s", problem);
	free(problem);
	return -EINVAL;
}

char *assignment_problem(const struct assignment *a)
{
	const struct attr_desc *attr = attr_find(a->attr);
	char *quoted, *text;

	if (attr)
		return attr_problem(attr, a->value);
	quoted = out_quote(a->attr);
	text = xasprintf("there is no attribute %s; 'tare show --attributes' lists them",
			 quoted);
	free(quoted);
	return text;
}

/* ---- lists of assignments ---- */

void assignments_add(struct assignment **set, size_t *n, const char *attr,
		     const char *value)
{
	*set = xrealloc(*set, (*n + 1) * sizeof(**set));
	(*set)[*n].attr = xstrdup(attr);
	(*set)[*n].value = xstrdup(value);
	++*n;
}

void assignments_free(struct assignment *set, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		free(set[i].attr);
		free(set[i].value);
	}
	free(set);
}

int assignments_parse(const char *text, struct assignment **set, size_t *n)
{
	const char *equals = strchr(text, '=');
	char *name;

	if (!equals || equals == text) {
		char *quoted = out_quote(text);

		msg_usage("%s is not ATTRIBUTE=VALUE", quoted);
		free(quoted);
		return -EINVAL;
	}
	name = xasprintf("%.*s", (int)(equals - text), text);
	assignments_add(set, n, name, equals + 1);
	free(name);
	return 0;
}

const char *assignments_get(const struct assignment *set, size_t n,
			    const char *attr)
{
	for (size_t i = n; i-- > 0;)
		if (!strcmp(set[i].attr, attr))
			return set[i].value;
	return NULL;
}

/* The value that a new device gets: the last assignment, else the default. */
static int64_t final_value(const struct assignment *set, size_t n,
			   const char *name)
{
	const struct attr_desc *attr = attr_find(name);
	const char *text = assignments_get(set, n, name);
	int64_t v;

	if (text && !attr_parse(attr, text, &v))
		return v;
	return attr->def;
}

/* The longest service time that one request can have, as the driver says. */
static uint64_t longest_ns(const struct assignment *set, size_t n)
{
#define VALUE(name) .name = (__typeof__(conf.name))final_value(set, n, #name)
	struct tare_model_conf conf;

	conf = (struct tare_model_conf) {
		VALUE(read_ns),		VALUE(write_ns),
		VALUE(flush_ns),	VALUE(discard_ns),
		VALUE(tail_ns),		VALUE(seek_ns),
		VALUE(read_ns_per_kb),	VALUE(write_ns_per_kb),
		VALUE(distribution),	VALUE(spread_pct),
		VALUE(pareto_alpha_pct), VALUE(tail_ppm),
		VALUE(rpm),		VALUE(max_sectors_kb),
		VALUE(write_cache),	VALUE(fua),
	};
#undef VALUE
	return tare_model_longest_ns(&conf);
}

static char *busy_wait_problem(const struct assignment *set, size_t n)
{
	int64_t mode = final_value(set, n, "completion");
	const char *name = attr_find("completion")->names[mode].name;
	uint64_t longest;

	if (mode != TARE_INLINE && mode != TARE_COMPLETE)
		return NULL;
	if (final_value(set, n, "channels"))
		return xasprintf("completion=%s waits with the CPU in hand, and with channels a request would wait for others",
				 name);
	if (final_value(set, n, "mbps"))
		return xasprintf("completion=%s waits with the CPU in hand, and with mbps a request would wait for others",
				 name);
	longest = longest_ns(set, n);
	if (longest <= TARE_BUSY_WAIT_MAX_NS)
		return NULL;
	return xasprintf("completion=%s waits with the CPU in hand, and a service time of %" PRIu64 " ns is too long for that: at most %llu",
			 name, longest, TARE_BUSY_WAIT_MAX_NS);
}

static char *spread_problem(const struct assignment *set, size_t n)
{
	int64_t distribution = final_value(set, n, "distribution");
	int64_t pct = final_value(set, n, "spread_pct");

	if (pct <= TARE_SPREAD_MAX_PCT || (distribution != TARE_UNIFORM &&
					   distribution != TARE_NORMAL))
		return NULL;
	return xasprintf("spread_pct=%" PRId64 " is too wide for distribution=%s: at most %d",
			 pct, attr_find("distribution")->names[distribution].name,
			 TARE_SPREAD_MAX_PCT);
}

static char *store_problem(const struct assignment *set, size_t n)
{
	int64_t size_mb = final_value(set, n, "size_mb");

	if (!final_value(set, n, "memory_backed"))
		return final_value(set, n, "prealloc") ?
			       xstrdup("prealloc=1 needs memory_backed=1") :
			       NULL;
	if (size_mb > (int64_t)TARE_STORE_MAX_MB)
		return xasprintf("size_mb=%" PRId64 " is too big for memory_backed=1: at most %llu",
				 size_mb, TARE_STORE_MAX_MB);
	return NULL;
}

static char *queue_problem(const struct assignment *set, size_t n)
{
	if (!final_value(set, n, "use_per_node_hctx") ||
	    final_value(set, n, "submit_queues") == 1)
		return NULL;
	return xstrdup("use_per_node_hctx=1 wants submit_queues=1");
}

static char *fault_problem(const struct assignment *set, size_t n)
{
	int64_t first = final_value(set, n, "fault_first_sector");
	int64_t last = final_value(set, n, "fault_last_sector");

	if (first <= last)
		return NULL;
	return xasprintf("fault_first_sector=%" PRId64 " is behind fault_last_sector=%" PRId64,
			 first, last);
}

char *assignments_problem(const struct assignment *set, size_t n)
{
	char *problem = NULL;

	for (size_t i = 0; i < n && !problem; i++)
		problem = assignment_problem(&set[i]);
	if (!problem)
		problem = busy_wait_problem(set, n);
	if (!problem)
		problem = store_problem(set, n);
	if (!problem)
		problem = spread_problem(set, n);
	if (!problem)
		problem = fault_problem(set, n);
	if (!problem)
		problem = queue_problem(set, n);
	return problem;
}

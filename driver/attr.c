// SPDX-License-Identifier: GPL-2.0-only
/*
 * The attribute table, and the one parser that module parameters and configfs
 * share.
 */
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/module.h>
#include <linux/nodemask.h>
#include <linux/stddef.h>

#include "shape.h"

#define TARE_X_NAME(constant, name, help) [constant] = name,
#define TARE_X_NAMES(attr, names)					\
static const char * const attr##_names[] = { names(TARE_X_NAME) };
TARE_ENUMS(TARE_X_NAMES)

#define TARE_NAMES_NUM(attr)	NULL
#define TARE_NAMES_INT(attr)	NULL
#define TARE_NAMES_BOOL(attr)	NULL
#define TARE_NAMES_ENUM(attr)	attr##_names
#define TARE_NAMES_RANGES(attr)	NULL

#define TARE_X_ROW(_name, _type, _def, _min, _max, _class, _help)	\
	[TARE_ATTR_##_name] = {						\
		.name = #_name, .help = _help, .def = _def,		\
		.names = TARE_NAMES_##_type(_name),			\
		.min = _min, .max = _max,				\
		.offset = offsetof(struct tare_config, _name),		\
		.type = TARE_##_type, .class = TARE_##_class,		\
	},
const struct tare_attr tare_attrs[TARE_NR_ATTRS] = {
	TARE_ATTRS(TARE_X_ROW)
};
EXPORT_SYMBOL_GPL(tare_attrs);

/**
 * tare_config_defaults() - every attribute at its default
 * @config: is overwritten
 */
void tare_config_defaults(struct tare_config *config)
{
	int i;

	memset(config, 0, sizeof(*config));
	for (i = 0; i < TARE_NR_ATTRS; i++)
		if (tare_attrs[i].type != TARE_RANGES)
			*tare_attr_of(config, &tare_attrs[i]) = tare_attrs[i].def;
}
EXPORT_SYMBOL_GPL(tare_config_defaults);

/* Digits alone: what is read back is what was written. */
static int parse_number(const char *text, bool sign, s64 *value)
{
	bool negative = sign && *text == '-';
	u64 v = 0;

	if (negative)
		text++;
	if (!*text || (*text == '0' && (text[1] || negative)))
		return -EINVAL;
	for (; *text; text++) {
		if (*text < '0' || *text > '9' || v > (S64_MAX - 9) / 10)
			return -EINVAL;
		v = v * 10 + (*text - '0');
	}
	*value = negative ? -(s64)v : (s64)v;
	return 0;
}

static int parse_name(const struct tare_attr *attr, const char *text,
		      s64 *value)
{
	int i = match_string(attr->names, attr->max + 1, text);

	if (i < 0)
		return -EINVAL;
	*value = i;
	return 0;
}

static void complain_name(const struct tare_attr *attr, const char *who,
			  const char *text, int len)
{
	char names[128];
	int used = 0;
	s64 i;

	for (i = 0; i <= attr->max; i++)
		used += scnprintf(names + used, sizeof(names) - used, " %s",
				  attr->names[i]);
	pr_err("%s: %s='%.*s' refused, it is one of:%s\n", who, attr->name,
	       len, text, names);
}

static void complain(const struct tare_attr *attr, const char *who,
		     const char *text)
{
	int len = min_t(size_t, strcspn(text, "\n"), 32);

	if (attr->names)
		complain_name(attr, who, text, len);
	else
		pr_err("%s: %s='%.*s' refused, it is a decimal number from %lld to %lld\n",
		       who, attr->name, len, text, attr->min, attr->max);
}

/**
 * tare_attr_parse() - text of an attribute to its value
 * @attr: which one, not of type RANGES
 * @who: device or module, for the message
 * @text: what the user wrote, one final newline allowed
 * @value: out
 *
 * Return: 0, or -EINVAL after one line in the kernel log that names the
 * attribute and its range.
 */
int tare_attr_parse(const struct tare_attr *attr, const char *who,
		    const char *text, s64 *value)
{
	char word[32];
	size_t len = strlen(text);
	int err = -EINVAL;

	if (len && text[len - 1] == '\n')
		len--;
	if (len < sizeof(word)) {
		memcpy(word, text, len);
		word[len] = '\0';
		if (attr->names)
			err = parse_name(attr, word, value);
		else
			err = parse_number(word, attr->type == TARE_INT, value);
	}
	if (!err && (*value < attr->min || *value > attr->max))
		err = -EINVAL;
	if (!err && attr == &tare_attrs[TARE_ATTR_block_size] &&
	    (*value & (*value - 1))) {
		pr_err("%s: block_size=%lld refused, it is a power of two\n",
		       who, *value);
		return -EINVAL;
	}
	if (err)
		complain(attr, who, text);
	return err;
}
EXPORT_SYMBOL_GPL(tare_attr_parse);

/**
 * tare_attr_complain_ranges() - say why tare_ranges_write() refused a text
 * @attr: which one
 * @who: device or module
 * @text: what the user wrote
 * @len: its length
 * @err: what it returned
 */
void tare_attr_complain_ranges(const struct tare_attr *attr, const char *who,
			       const char *text, size_t len, int err)
{
	int shown = min3(len, strcspn(text, "\n"), (size_t)32);

	if (err == -ENOSPC)
		pr_err("%s: %s='%.*s' refused, it has at most %d ranges\n", who,
		       attr->name, shown, text, TARE_RANGES_MAX);
	else
		pr_err("%s: %s='%.*s' refused, it is none, or ascending ranges FIRST-LAST with commas between them, or +FIRST-LAST, or -FIRST-LAST, sectors from %lld to %lld\n",
		       who, attr->name, shown, text, attr->min, attr->max);
}

/**
 * tare_attr_parse_ranges() - what the user wrote becomes or changes a list
 * @attr: which one
 * @who: device or module, for the message
 * @text: what the user wrote
 * @len: its length
 * @ranges: the attribute's list; nobody else looks at it meanwhile
 *
 * Return: 0; after one line in the kernel log -EINVAL when the text means
 * nothing, -ENOSPC when the list would get too long.
 */
int tare_attr_parse_ranges(const struct tare_attr *attr, const char *who,
			   const char *text, size_t len,
			   struct tare_ranges *ranges)
{
	int err = tare_ranges_write(ranges, text, len, attr->max);

	if (err)
		tare_attr_complain_ranges(attr, who, text, len, err);
	return err;
}
EXPORT_SYMBOL_GPL(tare_attr_parse_ranges);

/**
 * tare_attr_format_ranges() - a list as text with a newline
 * @ranges: list
 * @buf: a page
 *
 * Return: length of the text.
 */
int tare_attr_format_ranges(const struct tare_ranges *ranges, char *buf)
{
	size_t len = tare_ranges_read(ranges, buf, PAGE_SIZE - 1);

	buf[len++] = '\n';
	return len;
}
EXPORT_SYMBOL_GPL(tare_attr_format_ranges);

/**
 * tare_attr_format() - value of an attribute as text with a newline
 * @attr: which one
 * @value: its value
 * @buf: a page
 *
 * Return: length of the text.
 */
int tare_attr_format(const struct tare_attr *attr, s64 value, char *buf)
{
	if (attr->names)
		return sysfs_emit(buf, "%s\n", attr->names[value]);
	return sysfs_emit(buf, "%lld\n", value);
}
EXPORT_SYMBOL_GPL(tare_attr_format);

/* A thread that spins leaves nothing of its CPU to anybody else. */
static int check_spin(const struct tare_config *c, const char *who)
{
	if (c->completion != TARE_SPIN)
		return 0;
	if (c->completion_cpu >= 0 && (c->completion_cpu >= nr_cpu_ids ||
				       !cpu_online(c->completion_cpu))) {
		pr_err("%s: completion_cpu=%lld refused, that CPU is not online\n",
		       who, c->completion_cpu);
		return -EINVAL;
	}
	if (num_online_cpus() < 2 && !c->spin_shared) {
		pr_err("%s: completion=spin refused: the only CPU is the submitter's; spin_shared=1 allows it\n",
		       who);
		return -EINVAL;
	}
	return 0;
}

static int check_busy_wait(const struct tare_config *c, const char *who)
{
	struct tare_model_conf conf;
	u64 longest;

	if (c->completion != TARE_INLINE && c->completion != TARE_COMPLETE)
		return 0;
	if (c->channels) {
		pr_err("%s: completion=%s refused with channels=%lld: it would wait for others with the CPU in hand\n",
		       who, completion_names[c->completion], c->channels);
		return -EINVAL;
	}
	if (c->mbps) {
		pr_err("%s: completion=%s refused with mbps=%lld: it would wait for others with the CPU in hand\n",
		       who, completion_names[c->completion], c->mbps);
		return -EINVAL;
	}
	tare_shape_conf(c, &conf);
	longest = tare_model_longest_ns(&conf);
	if (longest <= TARE_BUSY_WAIT_MAX_NS)
		return 0;
	pr_err("%s: completion=%s refused: it waits with the CPU in hand, and a service time of %llu ns is above %llu\n",
	       who, completion_names[c->completion], longest,
	       TARE_BUSY_WAIT_MAX_NS);
	return -EINVAL;
}

static int check_queues(const struct tare_config *c, const char *who)
{
	if (c->use_per_node_hctx && c->submit_queues != 1) {
		pr_err("%s: use_per_node_hctx=1 refused with submit_queues=%lld\n",
		       who, c->submit_queues);
		return -EINVAL;
	}
	if (c->no_sched && !TARE_MQ_NO_SCHED) {
		pr_err("%s: no_sched=1 refused, this kernel lets every queue have a scheduler\n",
		       who);
		return -EINVAL;
	}
	return 0;
}

static int check_spread(const struct tare_config *c, const char *who)
{
	if (c->spread_pct <= TARE_SPREAD_MAX_PCT ||
	    (c->distribution != TARE_UNIFORM && c->distribution != TARE_NORMAL))
		return 0;
	pr_err("%s: spread_pct=%lld refused, distribution=%s goes to %d\n",
	       who, c->spread_pct, distribution_names[c->distribution],
	       TARE_SPREAD_MAX_PCT);
	return -EINVAL;
}

/**
 * tare_config_check() - do the attributes fit together and this machine?
 * @config: each value is in its own range already
 * @who: device or module, for the message
 * @new_mode: the completion mode begins with this; one that is in force stays
 * so where its CPU has gone
 *
 * Return: 0, or -EINVAL after one line in the kernel log.
 */
int tare_config_check(const struct tare_config *config, const char *who,
		      bool new_mode)
{
	if (config->submit_queues > num_possible_cpus()) {
		pr_err("%s: submit_queues=%lld refused, this machine has %u possible CPUs\n",
		       who, config->submit_queues, num_possible_cpus());
		return -EINVAL;
	}
	if (config->poll_queues > num_possible_cpus()) {
		pr_err("%s: poll_queues=%lld refused, this machine has %u possible CPUs\n",
		       who, config->poll_queues, num_possible_cpus());
		return -EINVAL;
	}
	if (config->home_node >= 0 &&
	    (config->home_node >= MAX_NUMNODES ||
	     !node_online(config->home_node))) {
		pr_err("%s: home_node=%lld refused, there is no such node\n",
		       who, config->home_node);
		return -EINVAL;
	}
	/* A block may lie in as many pieces of 512 bytes. */
	if (config->max_segments * 512 < config->block_size) {
		pr_err("%s: max_segments=%lld refused with block_size=%lld, it is at least %lld\n",
		       who, config->max_segments, config->block_size,
		       config->block_size / 512);
		return -EINVAL;
	}
	if ((config->max_sectors_kb << 10) % config->block_size) {
		pr_err("%s: max_sectors_kb=%lld refused, it is no multiple of block_size=%lld\n",
		       who, config->max_sectors_kb, config->block_size);
		return -EINVAL;
	}
	if (config->max_sectors_kb << 10 < PAGE_SIZE) {
		pr_err("%s: max_sectors_kb=%lld refused, a page of this machine has %lu bytes\n",
		       who, config->max_sectors_kb, PAGE_SIZE);
		return -EINVAL;
	}
	if (config->fault_first_sector > config->fault_last_sector) {
		pr_err("%s: fault_first_sector=%lld refused, it is behind fault_last_sector=%lld\n",
		       who, config->fault_first_sector,
		       config->fault_last_sector);
		return -EINVAL;
	}
	if (config->prealloc && !config->memory_backed) {
		pr_err("%s: prealloc=1 refused without memory_backed=1\n", who);
		return -EINVAL;
	}
	if (config->memory_backed && config->size_mb > TARE_STORE_MAX_MB) {
		pr_err("%s: size_mb=%lld refused, memory_backed goes to %llu\n",
		       who, config->size_mb, TARE_STORE_MAX_MB);
		return -EINVAL;
	}
	if ((new_mode && check_spin(config, who)) || check_spread(config, who) ||
	    check_queues(config, who))
		return -EINVAL;
	return check_busy_wait(config, who);
}

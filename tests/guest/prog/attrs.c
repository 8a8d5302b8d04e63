// SPDX-License-Identifier: GPL-2.0-only
/*
 * Every attribute of the one table, against the driver.
 *
 * attrs list            name type class default min max, a line each
 * attrs defaults DIR    a new device reads back the defaults
 * attrs bad DIR         what must be refused is, with a line in the log
 * attrs good DIR        smallest and largest value are taken and read back
 * attrs powered DIR     what may change while it has power, and what not
 * attrs put FILE        standard input in one write; prints the errno's name
 *
 * DIR: a device in configfs. It is without power but for "powered".
 */
#include "prog.h"

enum type { NUM, INT, BOOL, ENUM, RANGES };
enum class { LIVE, QUIESCE, OFF, RO };

static const char *const type_names[] = { "NUM", "INT", "BOOL", "ENUM", "RANGES" };
static const char *const class_names[] = { "LIVE", "QUIESCE", "OFF", "RO" };

#define X_NAME(constant, name, help) name,
#define X_NAMES(attr, names) \
	static const char *const attr##_names[] = { names(X_NAME) };
TARE_ENUMS(X_NAMES)

struct attr {
	const char *name;
	enum type type;
	long long def, min, max;
	enum class class;
	const char *const *names;	/* of an ENUM */
};

#define NAMES_NUM(attr)	NULL
#define NAMES_INT(attr)	NULL
#define NAMES_BOOL(attr)	NULL
#define NAMES_ENUM(attr)	attr##_names
#define NAMES_RANGES(attr)	NULL
#define X_ATTR(name, type, def, min, max, class, help)	\
	{ #name, type, def, min, max, class, NAMES_##type(name) },
static const struct attr attrs[] = { TARE_ATTRS(X_ATTR) };

static const char *dir;
static int kmsg;

static char *text_of(const struct attr *a, long long value)
{
	static char text[64];

	if (a->names)
		return strcpy(text, a->names[value]);
	if (a->type == RANGES && value == a->min)
		return strcpy(text, "none");
	if (a->type == RANGES)
		snprintf(text, sizeof(text), "0-7,%lld-%lld", value - 7, value);
	else
		snprintf(text, sizeof(text), "%lld", value);
	return text;
}

static int attr_open(const char *name, int flags)
{
	char path[4096];

	snprintf(path, sizeof(path), "%s/%s", dir, name);
	return open(path, flags);
}

/* Without the final newline, which must be there. */
static char *get(const char *name)
{
	static char text[8192];
	int fd = attr_open(name, O_RDONLY);
	ssize_t n;

	if (fd < 0)
		die("%s/%s", dir, name);
	n = read(fd, text, sizeof(text) - 1);
	close(fd);
	if (n < 1 || text[n - 1] != '\n')
		return strcpy(text, "(no newline)");
	text[n - 1] = '\0';
	return text;
}

/* One write; 0 or an errno. */
static int put(const char *name, const char *value, size_t len)
{
	int fd = attr_open(name, O_WRONLY);
	int err;

	if (fd < 0)
		return errno;
	err = outcome(write(fd, value, len));
	close(fd);
	return err;
}

static void log_skip(void)
{
	char line[8192];

	while (read(kmsg, line, sizeof(line)) > 0 || errno == EPIPE)
		;
}

/* Lines of the driver since log_skip(); the first one goes to @first. */
static int log_lines(char *first, size_t size)
{
	char line[8192];
	int n = 0;
	ssize_t len;

	first[0] = '\0';
	while ((len = read(kmsg, line, sizeof(line) - 1)) > 0) {
		char *text;

		line[len] = '\0';
		text = strchr(line, ';');
		if (!text || strncmp(text + 1, "tare_", 5))
			continue;
		if (!n++)
			snprintf(first, size, "%s", text + 1);
	}
	return n;
}

/* Is the number a word of its own in the line? */
static int says(const char *line, const char *word)
{
	const char *at = line;
	size_t len = strlen(word);

	while ((at = strstr(at, word))) {
		if ((at == line || at[-1] == ' ') &&
		    (at[len] == '\n' || at[len] == ' ' || at[len] == '\0'))
			return 1;
		at++;
	}
	return 0;
}

static int says_range(const struct attr *a, const char *line)
{
	char min[32], max[32];

	if (!strstr(line, a->name) || !strstr(line, "refused"))
		return 0;
	if (strstr(line, "power of two"))
		return 1;
	for (long long i = 0; a->names && i <= a->max; i++)
		if (!says(line, a->names[i]))
			return 0;
	if (a->names)
		return 1;
	snprintf(min, sizeof(min), "%lld", a->min);
	snprintf(max, sizeof(max), "%lld", a->max);
	return says(line, min) && says(line, max);
}

/* @what: for the message. Prints only what went wrong. */
static int refused(const struct attr *a, const char *what, const char *value,
		   size_t len)
{
	char before[8192], line[1024];
	int err, lines;

	strcpy(before, get(a->name));
	log_skip();
	err = put(a->name, value, len);
	lines = log_lines(line, sizeof(line));
	if (err == EINVAL && lines == 1 && says_range(a, line) &&
	    !strcmp(before, get(a->name)))
		return 1;
	printf("%s=%s: %s, %d lines in the log, %s before, %s after; %s\n",
	       a->name, what, err ? strerror(err) : "taken", lines, before,
	       get(a->name), line);
	return 0;
}

static int refused_text(const struct attr *a, const char *value)
{
	return refused(a, value, value, strlen(value));
}

/* The same with the newline that echo adds. */
static int refused_line(const struct attr *a, const char *value)
{
	char text[256];

	snprintf(text, sizeof(text), "%s\n", value);
	return refused(a, value, text, strlen(text));
}

static int refused_number(const struct attr *a, long long value)
{
	char text[32];

	snprintf(text, sizeof(text), "%lld", value);
	return refused_text(a, text);
}

static void bad_ranges(const struct attr *a)
{
	static const char *const forms[] = {
		"1-", "-1", "1-0", "0-1,", ",0-1", "0-1,1-2", "0-1,2-3", "4-5,0-1",
		"0-1 ,4-5", "0-1, 4-5", "00-1", "0-01", "0x0-1", "+", "-", "+1",
		"+1-0", "+0-1,4-5", "+0-1+4-5", "--0-1", "++0-1", "+-0-1", "none,0-1",
		"nonee", "None", "0-1\n\n", "+0-1 ",
	};
	char text[64];
	int good = 1;

	for (size_t i = 0; i < ARRAY_SIZE(forms); i++)
		good &= refused_text(a, forms[i]);
	snprintf(text, sizeof(text), "0-%lld", a->max + 1);
	good &= refused_text(a, text);
	snprintf(text, sizeof(text), "+%lld-%lld", a->max + 1, a->max + 1);
	good &= refused_text(a, text);
	result(good, "%s: what are no ranges", a->name);
}

static void bad(const struct attr *a)
{
	static const char *const forms[] = {
		"\n", "+1", "0x10", "010", "00", "-0", " 1", "1 ", "\t1", "1 2",
		"1.0", "1e3", "word", "1k", "--1", "-", "1\n\n", "1\n2",
		"99999999999999999999999", "18446744073709551617",
		"9223372036854775808", "-9223372036854775809", "Timer",
		"timer ", "time", "timerr", "inline\n\n",
	};
	char *long_text = malloc(5000), before[8192], word[64];
	int good = 1;
	size_t len;

	for (size_t i = 0; i < ARRAY_SIZE(forms); i++)
		good &= refused_text(a, forms[i]);
	good &= refused_line(a, "+0");
	result(good, "%s: what is no value of it", a->name);

	memset(long_text, '1', 5000);
	good = refused(a, "1111… (5000)", long_text, 5000);
	memset(long_text, ' ', 5000);
	memcpy(long_text, text_of(a, a->def), strlen(text_of(a, a->def)));
	good &= refused(a, "default and 4990 blanks", long_text, 5000);
	free(long_text);
	result(good, "%s: 5000 bytes", a->name);

	good = refused(a, "1 NUL 1", "1\0001", 3);
	len = snprintf(word, sizeof(word), "%s", text_of(a, a->max)) + 1;
	good &= refused(a, "NUL at the end", word, len);
	result(good, "%s: a NUL inside", a->name);

	strcpy(before, get(a->name));
	put(a->name, "", 0);
	result(!strcmp(before, get(a->name)), "%s: an empty write changes nothing",
	       a->name);
	if (a->names)
		return;
	if (a->type == RANGES) {
		bad_ranges(a);
		return;
	}
	good = refused_number(a, a->min - 1) & refused_number(a, a->max + 1);
	if (!strcmp(a->name, "block_size"))
		good &= refused_number(a, 513) & refused_number(a, 1536) &
			refused_number(a, 4095);
	result(good, "%s: outside of its range, both ends", a->name);
}

static void good(const struct attr *a)
{
	long long values[] = { a->min, a->max, a->def };
	int fine = 1;

	for (size_t i = 0; i < ARRAY_SIZE(values); i++) {
		char text[64], line[64];
		int err;

		strcpy(text, text_of(a, values[i]));
		err = put(a->name, text, strlen(text));
		if (err || strcmp(get(a->name), text)) {
			printf("%s=%s: %s, reads %s\n", a->name, text,
			       strerror(err), get(a->name));
			fine = 0;
		}
		snprintf(line, sizeof(line), "%s\n", text);
		err = put(a->name, line, strlen(line));
		if (err || strcmp(get(a->name), text)) {
			printf("%s=%s and a newline: %s, reads %s\n", a->name,
			       text, strerror(err), get(a->name));
			fine = 0;
		}
	}
	result(fine, "%s: takes both ends and the default, reads them back",
	       a->name);
}

static void powered(const struct attr *a)
{
	char before[8192], line[1024];
	const char *other = text_of(a, a->def == a->min ? a->max : a->min);
	int err, lines;

	strcpy(before, get(a->name));
	log_skip();
	err = put(a->name, other, strlen(other));
	lines = log_lines(line, sizeof(line));
	if (a->class == OFF) {
		result(err == EBUSY && lines == 1 && strstr(line, a->name) &&
		       !strcmp(before, get(a->name)),
		       "%s: EBUSY with power (%s, %d lines in the log)", a->name,
		       err ? strerror(err) : "taken", lines);
		return;
	}
	result(!err && !strcmp(other, get(a->name)),
	       "%s: changes with power (%s)", a->name,
	       err ? strerror(err) : "taken");
	put(a->name, before, strlen(before));
}

/* Both ends of an ENUM as names. */
static void list(const struct attr *a)
{
	printf("%s %s %s %s", a->name, type_names[a->type],
	       class_names[a->class], text_of(a, a->def));
	printf(" %s", text_of(a, a->min));
	printf(" %s\n", text_of(a, a->max));
}

static void read_only(const struct attr *a)
{
	int fd = attr_open(a->name, O_WRONLY);

	result(fd < 0 && errno == EACCES, "%s: cannot be opened for writing",
	       a->name);
	if (fd >= 0)
		close(fd);
}

static int put_stdin(const char *path)
{
	static char text[65536];
	ssize_t n = read(STDIN_FILENO, text, sizeof(text));
	int fd = open(path, O_WRONLY), err;

	if (fd < 0 || n < 0)
		die("%s", path);
	err = outcome(write(fd, text, n));
	printf("%s\n", err ? strerrorname_np(err) : "0");
	return 0;
}

int main(int argc, char **argv)
{
	const char *what = argc > 1 ? argv[1] : "";

	if (argc > 2)
		dir = argv[2];
	if (!strcmp(what, "put") && dir)
		return put_stdin(dir);
	kmsg = open("/dev/kmsg", O_RDONLY | O_NONBLOCK);
	if (kmsg < 0)
		die("/dev/kmsg");
	for (size_t i = 0; i < ARRAY_SIZE(attrs); i++) {
		const struct attr *a = &attrs[i];

		if (!strcmp(what, "list"))
			list(a);
		else if (!strcmp(what, "defaults"))
			result(!strcmp(get(a->name), text_of(a, a->def)),
			       "%s: default reads %s", a->name, get(a->name));
		else if (a->class == RO)
			read_only(a);
		else if (!strcmp(what, "bad"))
			bad(a);
		else if (!strcmp(what, "good"))
			good(a);
		else if (!strcmp(what, "powered"))
			powered(a);
		else
			return 2;
	}
	return 0;
}

// SPDX-License-Identifier: GPL-2.0-only
/*
 * {"schema":1,"kind":"devices","devices":[
 *   {"name":"tare0","power":true,"attributes":{"size_mb":1024,…}},…]}
 */
#include "saved.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "output.h"
#include "util.h"

/* What is longer, or holds more, was not written by tare save. */
#define FILE_MAX (16u << 20)
#define DEVICES_MAX 10000

/* ---- writing ---- */

static json_t *attr_json(const struct assignment *a)
{
	const struct attr_desc *attr = attr_find(a->attr);
	int64_t v;

	if (attr && attr_is_number(attr) && !attr_parse(attr, a->value, &v))
		return json_integer(v);
	return json_string(a->value);
}

static json_t *device_json(const struct device_config *c)
{
	json_t *attrs = json_object(), *device = json_object();

	for (size_t i = 0; i < c->n; i++)
		json_object_set_new(attrs, c->set[i].attr,
				    attr_json(&c->set[i]));
	json_object_set_new(device, "name", json_string(c->name));
	json_object_set_new(device, "power", json_boolean(c->power));
	json_object_set_new(device, "attributes", attrs);
	return device;
}

/* The file's text; the caller frees it. */
static char *devices_text(const struct device_config *devices, size_t n)
{
	json_t *root = json_object(), *array = json_array();
	char *text;

	for (size_t i = 0; i < n; i++)
		json_array_append_new(array, device_json(&devices[i]));
	json_object_set_new(root, "schema", json_integer(SAVED_SCHEMA));
	json_object_set_new(root, "kind", json_string("devices"));
	json_object_set_new(root, "devices", array);
	text = json_dumps(root, JSON_INDENT(2));
	json_decref(root);
	return text;
}

static int write_all(int fd, const char *text, size_t len)
{
	while (len) {
		ssize_t n = write(fd, text, len);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return -errno;
		text += n;
		len -= (size_t)n;
	}
	return 0;
}

/* A rename is on disk when its directory is. */
static int sync_dir_of(const char *path)
{
	char *dir = xstrdup(path);
	char *slash = strrchr(dir, '/');
	int fd, err = 0;

	if (slash)
		slash[slash == dir] = '\0';
	fd = open(slash ? dir : ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	free(dir);
	if (fd < 0)
		return -errno;
	/* EINVAL: this file system syncs no directories. */
	if (fsync(fd) < 0 && errno != EINVAL)
		err = -errno;
	close(fd);
	return err;
}

/* A new file keeps the mode that open() would give; an old one has its own. */
static mode_t wanted_mode(const char *path)
{
	struct stat st;
	mode_t mask;

	if (stat(path, &st) == 0)
		return st.st_mode & 07777;
	mask = umask(0);
	umask(mask);
	return 0666 & ~mask;
}

static int fill_temporary(int fd, const char *text, mode_t mode)
{
	int err = write_all(fd, text, strlen(text));

	if (!err && (fchmod(fd, mode) < 0 || fsync(fd) < 0))
		err = -errno;
	if (close(fd) < 0 && !err)
		err = -errno;
	return err;
}

static int replace_file(const char *path, const char *text)
{
	char *temporary = xasprintf("%s.XXXXXX", path);
	int fd = mkostemp(temporary, O_CLOEXEC);
	int err = fd < 0 ? -errno : 0;

	if (!err)
		err = fill_temporary(fd, text, wanted_mode(path));
	if (!err && rename(temporary, path) < 0)
		err = -errno;
	if (err && fd >= 0)
		unlink(temporary);
	if (!err)
		err = sync_dir_of(path);
	free(temporary);
	return err;
}

static int write_special(const char *path, const char *text)
{
	int fd = open(path, O_WRONLY | O_CLOEXEC);
	int err;

	if (fd < 0)
		return -errno;
	err = write_all(fd, text, strlen(text));
	if (close(fd) < 0 && !err)
		err = -errno;
	return err;
}

/* What a symbolic link names is replaced, not the link. */
static int write_path(const char *path, const char *text)
{
	char *real = realpath(path, NULL);
	const char *to = real ? real : path;
	struct stat st;
	int err;

	if (stat(to, &st) == 0 && !S_ISREG(st.st_mode))
		err = write_special(to, text);
	else
		err = replace_file(to, text);
	free(real);
	return err;
}

int saved_write(const char *path, const struct device_config *devices,
		size_t n)
{
	char *json = devices_text(devices, n);
	char *text = xasprintf("%s\n", json ? json : "");
	int err;

	if (!json)
		err = -ENOMEM;
	else if (!strcmp(path, "-"))
		err = write_all(STDOUT_FILENO, text, strlen(text));
	else
		err = write_path(path, text);
	free(json);
	free(text);
	if (err)
		msg_error("%s: cannot be written: %s",
			  strcmp(path, "-") ? path : "standard output",
			  strerror(-err));
	return err;
}

/* ---- where a value stands in the text ---- */

/*
 * jansson tells no lines of values, and a reader wants the line of what is
 * wrong. The text is valid JSON here, so finding it again takes little.
 */

static const char *skip_blank(const char *p)
{
	return p + strspn(p, " \t\r\n");
}

/* Past the string that starts at p. */
static const char *skip_string(const char *p)
{
	for (p++; *p && *p != '"'; p++)
		if (*p == '\\' && p[1])
			p++;
	return *p ? p + 1 : p;
}

/* Past the value at p: brackets are counted, strings skipped. */
static const char *skip_value(const char *p)
{
	int depth = 0;

	do {
		if (*p == '"') {
			p = skip_string(p);
			continue;
		}
		if (*p == '{' || *p == '[')
			depth++;
		else if (*p == '}' || *p == ']')
			depth--;
		p++;
	} while (*p && (depth || !strchr(",]} \t\r\n", *p)));
	return p;
}

/* The member's name in the object at p, or NULL. Escapes are not decoded. */
static const char *find_member(const char *p, const char *name)
{
	size_t len = strlen(name);

	p = skip_blank(p + 1);
	while (*p == '"') {
		const char *key = p;

		p = skip_string(p);
		if ((size_t)(p - key) == len + 2 && !memcmp(key + 1, name, len))
			return key;
		p = skip_blank(skip_blank(p) + 1);
		p = skip_blank(skip_value(p));
		if (*p == ',')
			p = skip_blank(p + 1);
	}
	return NULL;
}

/* The value behind a name that find_member() has found. */
static const char *member_value(const char *key)
{
	return skip_blank(skip_blank(skip_string(key)) + 1);
}

struct reader {
	const char *path, *text;
	const char *at;		/* the value that is looked at */
};

static int line_of(const struct reader *r, const char *at)
{
	int line = 1;

	for (const char *p = r->text; p < at; p++)
		line += *p == '\n';
	return line;
}

/* Where the member is, or would be. */
static const char *member_at(const char *object, const char *name)
{
	const char *key = *object == '{' ? find_member(object, name) : NULL;

	return key ? key : object;
}

/* ---- reading ---- */

static int wrong(const struct reader *r, const char *at, const char *fmt, ...)
	PRINTF_LIKE(3, 4);

static int wrong(const struct reader *r, const char *at, const char *fmt, ...)
{
	va_list ap;
	char *text;
	int n;

	va_start(ap, fmt);
	n = vasprintf(&text, fmt, ap);
	va_end(ap);
	msg_usage("%s:%d: %s", r->path, line_of(r, at), n < 0 ? "?" : text);
	if (n >= 0)
		free(text);
	return -EINVAL;
}

/* A member of an object that is none of those known. */
static int check_members(const struct reader *r, const char *at, json_t *object,
			 const char *const *known, size_t n_known)
{
	const char *name;
	json_t *value;

	json_object_foreach(object, name, value) {
		char *quoted;
		size_t i = 0;

		while (i < n_known && strcmp(known[i], name))
			i++;
		if (i < n_known)
			continue;
		quoted = out_quote(name);
		wrong(r, member_at(at, name), "%s is not known here",
		      quoted);
		free(quoted);
		return -EINVAL;
	}
	return 0;
}

/* The value as attributes are written, or NULL when it has the wrong type. */
static char *attr_text(const struct attr_desc *attr, json_t *value)
{
	if (!attr_is_number(attr))
		return json_is_string(value) ?
			       xstrdup(json_string_value(value)) : NULL;
	if (!json_is_integer(value))
		return NULL;
	return xasprintf("%" JSON_INTEGER_FORMAT, json_integer_value(value));
}

static int read_attr(const struct reader *r, const char *at, const char *name,
		     json_t *value, struct device_config *c)
{
	const struct attr_desc *attr = attr_find(name);
	char *text = attr ? attr_text(attr, value) : NULL;
	struct assignment a = { (char *)name, text };
	char *problem;
	int err = 0;

	if (attr && !text) {
		char *range = attr_range(attr);

		err = wrong(r, at, "%s: is not of the right type; allowed: %s",
			    name, range);
		free(range);
		return err;
	}
	problem = assignment_problem(&a);
	if (problem)
		err = wrong(r, at, "%s", problem);
	else
		assignments_add(&c->set, &c->n, name, text);
	free(problem);
	free(text);
	return err;
}

static int read_attrs(const struct reader *r, const char *at, json_t *attrs,
		      struct device_config *c)
{
	const char *name;
	json_t *value;
	char *problem;
	int err = 0;

	json_object_foreach(attrs, name, value) {
		err = read_attr(r, member_at(at, name), name, value, c);
		if (err)
			return err;
	}
	problem = assignments_problem(c->set, c->n);
	if (problem)
		err = wrong(r, at, "%s", problem);
	free(problem);
	return err;
}

static int read_name(const struct reader *r, const char *at, json_t *name,
		     struct device_config *c)
{
	if (!json_is_string(name))
		return wrong(r, at, "a device has a \"name\", a string");
	c->name = xstrdup(json_string_value(name));
	return device_name_check_new(c->name) ?
		       wrong(r, at, "this name cannot be used") : 0;
}

static int read_device(const struct reader *r, const char *at, json_t *device,
		       struct device_config *c)
{
	static const char *const known[] = { "name", "power", "attributes" };
	json_t *name = json_object_get(device, "name");
	json_t *power = json_object_get(device, "power");
	json_t *attrs = json_object_get(device, "attributes");
	const char *key = member_at(at, "attributes");
	int err;

	if (!json_is_object(device))
		return wrong(r, at, "a device is an object");
	err = check_members(r, at, device, known, ARRAY_SIZE(known));
	if (!err)
		err = read_name(r, member_at(at, "name"), name, c);
	if (err)
		return err;
	if (!json_is_boolean(power))
		return wrong(r, member_at(at, "power"),
			     "a device has \"power\", true or false");
	if (!json_is_object(attrs))
		return wrong(r, key, "a device has \"attributes\", an object");
	c->power = json_is_true(power);
	return read_attrs(r, member_value(key), attrs, c);
}

static int check_head(const struct reader *r, json_t *root)
{
	static const char *const known[] = { "schema", "kind", "devices" };
	json_t *schema = json_object_get(root, "schema");
	const char *kind = json_string_value(json_object_get(root, "kind"));

	if (!json_is_object(root) || !json_is_integer(schema))
		return wrong(r, r->at, "this is no file of 'tare save': there is no \"schema\"");
	if (json_integer_value(schema) != SAVED_SCHEMA)
		return wrong(r, member_at(r->at, "schema"),
			     "schema is %" JSON_INTEGER_FORMAT ", this tool reads %d",
			     json_integer_value(schema), SAVED_SCHEMA);
	if (!kind || strcmp(kind, "devices"))
		return wrong(r, member_at(r->at, "kind"),
			     "kind is not \"devices\"");
	if (!json_is_array(json_object_get(root, "devices")))
		return wrong(r, member_at(r->at, "devices"),
			     "\"devices\" is no array");
	return check_members(r, r->at, root, known, ARRAY_SIZE(known));
}

/* Same name as an earlier one? */
static int check_twice(const struct reader *r, const char *at,
		       const struct device_config *devices, size_t i)
{
	for (size_t k = 0; k < i; k++)
		if (!strcmp(devices[k].name, devices[i].name))
			return wrong(r, at, "%s is there twice",
				     devices[i].name);
	return 0;
}

static int read_devices(struct reader *r, json_t *root,
			struct device_config **devices, size_t *n)
{
	json_t *array = json_object_get(root, "devices"), *device;
	int err = check_head(r, root);
	const char *at;
	size_t i;

	if (err)
		return err;
	if (json_array_size(array) > DEVICES_MAX)
		return wrong(r, member_at(r->at, "devices"),
			     "more than %d devices", DEVICES_MAX);
	*devices = xcalloc(json_array_size(array), sizeof(**devices));
	at = skip_blank(member_value(member_at(r->at, "devices")) + 1);
	json_array_foreach(array, i, device) {
		*n = i + 1;
		err = read_device(r, at, device, &(*devices)[i]);
		if (!err)
			err = check_twice(r, at, *devices, i);
		if (err)
			return err;
		at = skip_blank(skip_value(at));
		at = skip_blank(at + (*at == ','));
	}
	return 0;
}

/* The whole stream with a NUL behind it, or NULL with errno set. */
static char *read_stream(FILE *file, size_t *len)
{
	char *text = NULL;
	size_t room = 0;

	*len = 0;
	do {
		if (*len + 1 >= room) {
			room = room ? 2 * room : 65536;
			text = xrealloc(text, room);
		}
		*len += fread(text + *len, 1, room - *len - 1, file);
	} while (!feof(file) && !ferror(file) && *len <= FILE_MAX);
	if (!ferror(file) && *len <= FILE_MAX) {
		text[*len] = '\0';
		return text;
	}
	if (!ferror(file))
		errno = EFBIG;
	free(text);
	return NULL;
}

static char *read_path(const char *path, size_t *len)
{
	bool standard = !strcmp(path, "-");
	FILE *file = standard ? stdin : fopen(path, "re");
	char *text = NULL;
	int err;

	if (file)
		text = read_stream(file, len);
	err = errno;
	if (file && !standard)
		fclose(file);
	errno = err;
	return text;
}

int saved_read(const char *path, struct device_config **devices, size_t *n)
{
	struct reader r = { .path = path };
	json_error_t error;
	json_t *root;
	size_t len;
	char *text = read_path(path, &len);
	int err;

	*devices = NULL;
	*n = 0;
	if (!text) {
		err = -errno;
		msg_error("%s: %s", path, strerror(-err));
		return err;
	}
	root = json_loadb(text, len, JSON_REJECT_DUPLICATES, &error);
	if (root) {
		r.text = text;
		r.at = skip_blank(text);
		err = read_devices(&r, root, devices, n);
		json_decref(root);
	} else {
		char *clean = out_clean(error.text);

		msg_usage("%s:%d: %s", path, error.line, clean);
		free(clean);
		err = -EINVAL;
	}
	free(text);
	if (err) {
		saved_free(*devices, *n);
		*devices = NULL;
		*n = 0;
	}
	return err;
}

void saved_free(struct device_config *devices, size_t n)
{
	for (size_t i = 0; i < n; i++)
		device_config_free(&devices[i]);
	free(devices);
}

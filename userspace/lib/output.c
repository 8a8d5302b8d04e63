// SPDX-License-Identifier: GPL-2.0-only
/* A document is sections of cells; each format is one table of functions. */
#include "output.h"

#include <assert.h>
#include <errno.h>
#include <jansson.h>
#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "util.h"

/* Digits of a double that survive: more would print 0.1 as 0.10000000000000001. */
#define JSON_DIGITS 15
/* out_quote() shows this many characters; what is wrong shows in the first. */
#define QUOTE_MAX 60

enum cell_type { CELL_NONE, CELL_STR, CELL_U64, CELL_I64, CELL_F64, CELL_BOOL };

struct cell {
	enum cell_type type;
	int decimals;
	union {
		char *str;
		uint64_t u64;
		int64_t i64;
		double f64;
		bool yes;
	};
};

/* Values: names[i] belongs to cells[i]. Table: names are the columns. */
struct out_sec {
	bool table;
	char *key, *title;
	char **names;
	size_t n_names;
	struct cell *cells;
	size_t n_cells, n_rows;
};

struct out_doc {
	const char *kind;
	struct out_sec **secs;
	size_t n_secs;
	char **notes;
	size_t n_notes;
};

int out_format_parse(const char *name, enum out_format *format)
{
	static const char *const names[] = { "text", "json", "csv" };

	for (size_t i = 0; i < ARRAY_SIZE(names); i++) {
		if (strcmp(name, names[i]))
			continue;
		*format = (enum out_format)i;
		return 0;
	}
	return -EINVAL;
}

/* ---- strings that may hold anything ---- */

/*
 * Length of the well-formed UTF-8 character at s (RFC 3629: no overlong form,
 * no surrogate, at most U+10FFFF), or 0. The NUL ends every sequence.
 */
static size_t utf8_len(const unsigned char *s)
{
	size_t len;

	if (s[0] < 0x80)
		return 1;
	if (s[0] >= 0xc2 && s[0] <= 0xdf)
		len = 2;
	else if (s[0] >= 0xe0 && s[0] <= 0xef)
		len = 3;
	else if (s[0] >= 0xf0 && s[0] <= 0xf4)
		len = 4;
	else
		return 0;
	if ((s[0] == 0xe0 && s[1] < 0xa0) || (s[0] == 0xed && s[1] > 0x9f) ||
	    (s[0] == 0xf0 && s[1] < 0x90) || (s[0] == 0xf4 && s[1] > 0x8f))
		return 0;
	for (size_t i = 1; i < len; i++)
		if ((s[i] & 0xc0) != 0x80)
			return 0;
	return len;
}

/* C0, DEL, and C1, which terminals obey in UTF-8 too. */
static bool is_control(const unsigned char *s, size_t len)
{
	return (len == 1 && (s[0] < 0x20 || s[0] == 0x7f)) ||
	       (len == 2 && s[0] == 0xc2 && s[1] < 0xa0);
}

/* Write s with broken bytes and control characters, but those in keep, as \xNN. */
static void put_clean(FILE *to, const char *s, const char *keep, size_t max)
{
	const unsigned char *p = (const unsigned char *)s;

	for (size_t n = 0; *p; n++) {
		size_t len = utf8_len(p);
		size_t bytes = len ? len : 1;

		if (n == max) {
			fputs("…", to);
			return;
		}
		if (len && (!is_control(p, len) || strchr(keep, *p)))
			fwrite(p, 1, len, to);
		else
			for (size_t i = 0; i < bytes; i++)
				fprintf(to, "\\x%02x", p[i]);
		p += bytes;
	}
}

/* put_clean() into a string, between two quotation marks when quote is set. */
static char *clean(const char *s, const char *keep, size_t max, bool quote)
{
	char *text = NULL;
	size_t len;
	FILE *to = open_memstream(&text, &len);

	if (to) {
		if (quote)
			fputc('\'', to);
		put_clean(to, s, keep, max);
		if (quote)
			fputc('\'', to);
		if (fclose(to) == 0)
			return text;
		free(text);
	}
	return xstrdup("?");
}

char *out_quote(const char *s)
{
	return clean(s, "", QUOTE_MAX, true);
}

char *out_clean(const char *s)
{
	return clean(s, "", SIZE_MAX, false);
}

/* jansson escapes control characters itself but refuses broken UTF-8. */
static json_t *json_str(const char *s)
{
	json_t *v = json_string(s);

	if (!v) {
		char *text = clean(s, "\b\t\n\f\r", SIZE_MAX, false);

		v = json_string(text);
		free(text);
	}
	return v;
}

/* Columns on a terminal, every character taken as one wide. */
static size_t width(const char *s)
{
	size_t n = 0;

	for (; *s; s++)
		n += ((unsigned char)*s & 0xc0) != 0x80;
	return n;
}

/* ---- building ---- */

struct out_doc *out_new(const char *kind)
{
	struct out_doc *doc = xcalloc(1, sizeof(*doc));

	doc->kind = kind;
	return doc;
}

static void sec_free(struct out_sec *sec)
{
	for (size_t i = 0; i < sec->n_names; i++)
		free(sec->names[i]);
	for (size_t i = 0; i < sec->n_cells; i++)
		if (sec->cells[i].type == CELL_STR)
			free(sec->cells[i].str);
	free(sec->names);
	free(sec->cells);
	free(sec->key);
	free(sec->title);
	free(sec);
}

void out_free(struct out_doc *doc)
{
	if (!doc)
		return;
	for (size_t i = 0; i < doc->n_secs; i++)
		sec_free(doc->secs[i]);
	for (size_t i = 0; i < doc->n_notes; i++)
		free(doc->notes[i]);
	free(doc->secs);
	free(doc->notes);
	free(doc);
}

/* Room for one more: arrays grow at powers of two. */
static void *grow(void *array, size_t n, size_t size)
{
	return n & (n - 1) ? array : xrealloc(array, (n ? 2 * n : 1) * size);
}

static struct out_sec *sec_new(struct out_doc *doc, const char *key,
			       const char *title, bool table)
{
	struct out_sec *sec = xcalloc(1, sizeof(*sec));

	sec->table = table;
	sec->key = xstrdup(key);
	sec->title = title ? xstrdup(title) : NULL;
	doc->secs = grow(doc->secs, doc->n_secs, sizeof(*doc->secs));
	doc->secs[doc->n_secs++] = sec;
	return sec;
}

static void add_name(struct out_sec *sec, const char *name)
{
	sec->names = grow(sec->names, sec->n_names, sizeof(*sec->names));
	sec->names[sec->n_names++] = xstrdup(name);
}

static void add_cell(struct out_sec *sec, struct cell cell)
{
	assert(!sec->table || sec->n_cells < sec->n_rows * sec->n_names);
	sec->cells = grow(sec->cells, sec->n_cells, sizeof(*sec->cells));
	sec->cells[sec->n_cells++] = cell;
}

static void add_value(struct out_sec *sec, const char *name, struct cell cell)
{
	assert(!sec->table);
	add_name(sec, name);
	add_cell(sec, cell);
}

static struct cell cell_str(const char *v)
{
	if (!v)
		return (struct cell){ .type = CELL_NONE };
	return (struct cell){ .type = CELL_STR, .str = xstrdup(v) };
}

static struct cell cell_u64(uint64_t v)
{
	return (struct cell){ .type = CELL_U64, .u64 = v };
}

static struct cell cell_i64(int64_t v)
{
	return (struct cell){ .type = CELL_I64, .i64 = v };
}

/* NaN and infinity are no figures: nothing known. */
static struct cell cell_f64(double v, int decimals)
{
	if (!isfinite(v))
		return (struct cell){ .type = CELL_NONE };
	return (struct cell){ .type = CELL_F64, .f64 = v,
			      .decimals = decimals };
}

struct out_sec *out_values(struct out_doc *doc, const char *key,
			   const char *title)
{
	return sec_new(doc, key, title, false);
}

void out_value_str(struct out_sec *sec, const char *name, const char *v)
{
	add_value(sec, name, cell_str(v));
}

void out_value_u64(struct out_sec *sec, const char *name, uint64_t v)
{
	add_value(sec, name, cell_u64(v));
}

void out_value_i64(struct out_sec *sec, const char *name, int64_t v)
{
	add_value(sec, name, cell_i64(v));
}

void out_value_f64(struct out_sec *sec, const char *name, double v,
		   int decimals)
{
	add_value(sec, name, cell_f64(v, decimals));
}

void out_value_bool(struct out_sec *sec, const char *name, bool v)
{
	add_value(sec, name, (struct cell){ .type = CELL_BOOL, .yes = v });
}

struct out_sec *out_table(struct out_doc *doc, const char *key,
			  const char *title)
{
	return sec_new(doc, key, title, true);
}

void out_column(struct out_sec *table, const char *name)
{
	assert(table->table && !table->n_rows);
	add_name(table, name);
}

/* Cells that the row before did not get are "nothing known". */
static void fill_row(struct out_sec *table)
{
	while (table->n_cells < table->n_rows * table->n_names)
		out_cell_none(table);
}

void out_row(struct out_sec *table)
{
	assert(table->table);
	fill_row(table);
	table->n_rows++;
}

void out_cell_str(struct out_sec *table, const char *v)
{
	add_cell(table, cell_str(v));
}

void out_cell_u64(struct out_sec *table, uint64_t v)
{
	add_cell(table, cell_u64(v));
}

void out_cell_i64(struct out_sec *table, int64_t v)
{
	add_cell(table, cell_i64(v));
}

void out_cell_f64(struct out_sec *table, double v, int decimals)
{
	add_cell(table, cell_f64(v, decimals));
}

void out_cell_none(struct out_sec *table)
{
	add_cell(table, (struct cell){ .type = CELL_NONE });
}

void out_note(struct out_doc *doc, const char *fmt, ...)
{
	va_list ap;
	char *note;
	int n;

	va_start(ap, fmt);
	n = vasprintf(&note, fmt, ap);
	va_end(ap);
	doc->notes = grow(doc->notes, doc->n_notes, sizeof(*doc->notes));
	doc->notes[doc->n_notes++] = n < 0 ? xstrdup("?") : note;
}

/* The cell of a row, or of a value; a last row may be short. */
static const struct cell *cell_at(const struct out_sec *sec, size_t i)
{
	static const struct cell none = { .type = CELL_NONE };

	return i < sec->n_cells ? &sec->cells[i] : &none;
}

/* A number, or yes and no, as text and CSV show it. */
static char *cell_plain(const struct cell *c, const char *yes, const char *no)
{
	switch (c->type) {
	case CELL_U64:
		return xasprintf("%llu", (unsigned long long)c->u64);
	case CELL_I64:
		return xasprintf("%lld", (long long)c->i64);
	case CELL_F64:
		return xasprintf("%.*f", c->decimals, c->f64);
	case CELL_BOOL:
		return xstrdup(c->yes ? yes : no);
	default:
		return NULL;
	}
}

/* ---- text ---- */

static char *text_cell(const struct cell *c)
{
	if (c->type == CELL_STR)
		return clean(c->str, "", SIZE_MAX, false);
	if (c->type == CELL_NONE)
		return xstrdup("-");
	return cell_plain(c, "yes", "no");
}

static void pad(FILE *to, size_t n)
{
	while (n--)
		fputc(' ', to);
}

static void text_values(const struct out_sec *sec, FILE *to)
{
	size_t wide = 0;

	for (size_t i = 0; i < sec->n_names; i++)
		if (width(sec->names[i]) > wide)
			wide = width(sec->names[i]);
	for (size_t i = 0; i < sec->n_names; i++) {
		char *v = text_cell(cell_at(sec, i));

		put_clean(to, sec->names[i], "", SIZE_MAX);
		pad(to, wide - width(sec->names[i]) + 2);
		fprintf(to, "%s\n", v);
		free(v);
	}
}

/* Numbers to the right, unless the column has a string. */
static bool to_the_right(const struct out_sec *sec, size_t column)
{
	bool numbers = false;

	for (size_t r = 0; r < sec->n_rows; r++) {
		enum cell_type type =
			cell_at(sec, r * sec->n_names + column)->type;

		if (type == CELL_STR || type == CELL_BOOL)
			return false;
		numbers |= type != CELL_NONE;
	}
	return numbers;
}

struct text_column {
	size_t wide;
	bool right;
};

static void text_line(FILE *to, char *const *cells,
		      const struct text_column *cols, size_t n)
{
	for (size_t c = 0; c < n; c++) {
		size_t gap = cols[c].wide - width(cells[c]);

		if (cols[c].right)
			pad(to, gap);
		fputs(cells[c], to);
		if (c + 1 < n)
			pad(to, (cols[c].right ? 0 : gap) + 2);
	}
	fputc('\n', to);
}

/* The heading and then all cells as text: (n_rows + 1) * n_names strings. */
static char **text_cells(const struct out_sec *sec)
{
	size_t n = (sec->n_rows + 1) * sec->n_names;
	char **text = xcalloc(n, sizeof(*text));

	for (size_t i = 0; i < n; i++)
		text[i] = i < sec->n_names ?
				  clean(sec->names[i], "", SIZE_MAX, false) :
				  text_cell(cell_at(sec, i - sec->n_names));
	return text;
}

static void text_table(const struct out_sec *sec, FILE *to)
{
	size_t n = sec->n_names;
	size_t all = (sec->n_rows + 1) * n;
	struct text_column *cols = xcalloc(n, sizeof(*cols));
	char **text = text_cells(sec);

	for (size_t c = 0; c < n; c++)
		cols[c].right = to_the_right(sec, c);
	for (size_t i = 0; i < all; i++)
		if (width(text[i]) > cols[i % n].wide)
			cols[i % n].wide = width(text[i]);
	for (size_t r = 0; r <= sec->n_rows; r++)
		text_line(to, text + r * n, cols, n);
	for (size_t i = 0; i < all; i++)
		free(text[i]);
	free(text);
	free(cols);
}

static void print_text(const struct out_doc *doc, FILE *to)
{
	for (size_t i = 0; i < doc->n_secs; i++) {
		const struct out_sec *sec = doc->secs[i];

		if (i)
			fputc('\n', to);
		if (sec->title) {
			put_clean(to, sec->title, "", SIZE_MAX);
			fputc('\n', to);
		}
		if (sec->table)
			text_table(sec, to);
		else
			text_values(sec, to);
	}
	if (doc->n_secs && doc->n_notes)
		fputc('\n', to);
	for (size_t i = 0; i < doc->n_notes; i++) {
		put_clean(to, doc->notes[i], "\n", SIZE_MAX);
		fputc('\n', to);
	}
}

/* ---- JSON ---- */

/* jansson knows no unsigned 64-bit number: 2^63 and more lose their end. */
static json_t *json_u64(uint64_t v)
{
	return v <= INT64_MAX ? json_integer((json_int_t)v) :
				json_real((double)v);
}

/* Rounded as text shows it; 4.50 is the number 4.5. */
static json_t *json_f64(const struct cell *c)
{
	char *text = cell_plain(c, "", "");
	json_t *v = json_real(strtod(text, NULL));

	free(text);
	return v;
}

static json_t *json_cell(const struct cell *c)
{
	switch (c->type) {
	case CELL_STR:
		return json_str(c->str);
	case CELL_U64:
		return json_u64(c->u64);
	case CELL_I64:
		return json_integer(c->i64);
	case CELL_F64:
		return json_f64(c);
	case CELL_BOOL:
		return json_boolean(c->yes);
	default:
		return json_null();
	}
}

/* The names of a section with the cells from first on, as an object. */
static json_t *json_object_of(const struct out_sec *sec, size_t first)
{
	json_t *o = json_object();

	for (size_t i = 0; i < sec->n_names; i++)
		json_object_set_new(o, sec->names[i],
				    json_cell(cell_at(sec, first + i)));
	return o;
}

static json_t *json_section(const struct out_sec *sec)
{
	json_t *rows;

	if (!sec->table)
		return json_object_of(sec, 0);
	rows = json_array();
	for (size_t r = 0; r < sec->n_rows; r++)
		json_array_append_new(rows,
				      json_object_of(sec, r * sec->n_names));
	return rows;
}

static void print_json(const struct out_doc *doc, FILE *to)
{
	json_t *root = json_object(), *notes;

	json_object_set_new(root, "schema", json_integer(OUT_SCHEMA));
	json_object_set_new(root, "kind", json_str(doc->kind));
	for (size_t i = 0; i < doc->n_secs; i++)
		json_object_set_new(root, doc->secs[i]->key,
				    json_section(doc->secs[i]));
	if (doc->n_notes) {
		notes = json_array();
		for (size_t i = 0; i < doc->n_notes; i++)
			json_array_append_new(notes, json_str(doc->notes[i]));
		json_object_set_new(root, "notes", notes);
	}
	json_dumpf(root, to, JSON_INDENT(2) | JSON_REAL_PRECISION(JSON_DIGITS));
	fputc('\n', to);
	json_decref(root);
}

/* ---- CSV: RFC 4180 with lines ended by a newline alone ---- */

static void csv_str(FILE *to, const char *s)
{
	char *text = clean(s, "\t\n\r", SIZE_MAX, false);
	bool quote = strpbrk(text, ",\"\r\n") || text[0] == '#' ||
		     text[0] == ' ' || !text[0];

	if (quote)
		fputc('"', to);
	for (const char *p = text; *p; p++) {
		if (*p == '"')
			fputc('"', to);
		fputc(*p, to);
	}
	if (quote)
		fputc('"', to);
	free(text);
}

static void csv_cell(FILE *to, const struct cell *c)
{
	char *text;

	if (c->type == CELL_STR) {
		csv_str(to, c->str);
		return;
	}
	text = cell_plain(c, "true", "false");
	if (text)
		fputs(text, to);
	free(text);
}

static void csv_values(const struct out_sec *sec, FILE *to)
{
	for (size_t i = 0; i < sec->n_names; i++) {
		csv_str(to, sec->key);
		fputc(',', to);
		csv_str(to, sec->names[i]);
		fputc(',', to);
		csv_cell(to, cell_at(sec, i));
		fputc('\n', to);
	}
}

static void csv_table(const struct out_sec *sec, FILE *to)
{
	size_t n = sec->n_names;

	for (size_t c = 0; c < n; c++) {
		csv_str(to, sec->names[c]);
		fputc(c + 1 < n ? ',' : '\n', to);
	}
	for (size_t i = 0; i < sec->n_rows * n; i++) {
		csv_cell(to, cell_at(sec, i));
		fputc((i + 1) % n ? ',' : '\n', to);
	}
}

/* A blank line and a heading wherever the columns change. */
static void print_csv(const struct out_doc *doc, FILE *to)
{
	bool in_values = false;

	for (size_t i = 0; i < doc->n_secs; i++) {
		const struct out_sec *sec = doc->secs[i];

		if (i && (sec->table || !in_values))
			fputc('\n', to);
		if (sec->table) {
			csv_table(sec, to);
		} else {
			if (!in_values)
				fputs("section,name,value\n", to);
			csv_values(sec, to);
		}
		in_values = !sec->table;
	}
	for (size_t i = 0; i < doc->n_notes; i++) {
		fputs("# ", to);
		put_clean(to, doc->notes[i], "", SIZE_MAX);
		fputc('\n', to);
	}
}

int out_print(const struct out_doc *doc, FILE *to, enum out_format format)
{
	static void (*const renderers[])(const struct out_doc *, FILE *) = {
		[OUT_TEXT] = print_text,
		[OUT_JSON] = print_json,
		[OUT_CSV] = print_csv,
	};

	renderers[format](doc, to);
	return fflush(to) || ferror(to) ? -EIO : 0;
}

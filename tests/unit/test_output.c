// SPDX-License-Identifier: GPL-2.0-only
/* One document in three formats, and strings that want to break them. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "output.h"

#include <errno.h>
#include <jansson.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

static char *render(struct out_doc *doc, enum out_format format)
{
	char *text = NULL;
	size_t len;
	FILE *to = open_memstream(&text, &len);

	assert_int_equal(out_print(doc, to, format), 0);
	fclose(to);
	return text;
}

static void assert_renders(struct out_doc *doc, enum out_format format,
			   const char *want)
{
	char *got = render(doc, format);

	assert_string_equal(got, want);
	free(got);
}

/* The document as JSON, read back. */
static json_t *parsed(struct out_doc *doc)
{
	char *text = render(doc, OUT_JSON);
	json_t *root = json_loads(text, JSON_REJECT_DUPLICATES, NULL);

	assert_non_null(root);
	free(text);
	return root;
}

static struct out_doc *example(void)
{
	struct out_doc *doc = out_new("example");
	struct out_sec *sec = out_values(doc, "head", "Head");
	struct out_sec *table;

	out_value_str(sec, "name", "a");
	out_value_u64(sec, "count", 12);
	out_value_i64(sec, "offset_ns", -3);
	out_value_f64(sec, "mean_ns", 2.5, 2);
	out_value_bool(sec, "trusted", true);
	table = out_table(doc, "rows", "Rows");
	out_column(table, "row");
	out_column(table, "p50");
	out_column(table, "mean");
	out_row(table);
	out_cell_str(table, "start");
	out_cell_u64(table, 7);
	out_cell_f64(table, 7.25, 1);
	out_row(table);
	out_cell_str(table, "device");
	out_cell_u64(table, 123456789);
	out_cell_none(table);
	out_note(doc, "%d of %d", 1, 2);
	return doc;
}

static void test_text(void **state)
{
	struct out_doc *doc = example();

	(void)state;
	assert_renders(doc, OUT_TEXT,
		       "Head\n"
		       "name       a\n"
		       "count      12\n"
		       "offset_ns  -3\n"
		       "mean_ns    2.50\n"
		       "trusted    yes\n"
		       "\n"
		       "Rows\n"
		       "row           p50  mean\n"
		       "start           7   7.2\n"
		       "device  123456789     -\n"
		       "\n"
		       "1 of 2\n");
	out_free(doc);
}

static void test_csv(void **state)
{
	struct out_doc *doc = example();

	(void)state;
	assert_renders(doc, OUT_CSV,
		       "section,name,value\n"
		       "head,name,a\n"
		       "head,count,12\n"
		       "head,offset_ns,-3\n"
		       "head,mean_ns,2.50\n"
		       "head,trusted,true\n"
		       "\n"
		       "row,p50,mean\n"
		       "start,7,7.2\n"
		       "device,123456789,\n"
		       "# 1 of 2\n");
	out_free(doc);
}

static void test_json(void **state)
{
	struct out_doc *doc = example();
	char *text = render(doc, OUT_JSON);
	json_t *root = parsed(doc), *row;

	(void)state;
	assert_int_equal(json_integer_value(json_object_get(root, "schema")),
			 OUT_SCHEMA);
	row = json_array_get(json_object_get(root, "rows"), 1);
	assert_true(json_is_null(json_object_get(row, "mean")));
	assert_int_equal(json_integer_value(json_object_get(row, "p50")),
			 123456789);
	/* Keys stand in the order in which they were added. */
	assert_true(strstr(text, "schema") < strstr(text, "kind"));
	assert_true(strstr(text, "kind") < strstr(text, "head"));
	assert_true(strstr(text, "head") < strstr(text, "rows"));
	assert_true(strstr(text, "rows") < strstr(text, "notes"));
	json_decref(root);
	free(text);
	out_free(doc);
}

static void test_empty(void **state)
{
	struct out_doc *doc = out_new("nothing");

	(void)state;
	assert_renders(doc, OUT_TEXT, "");
	assert_renders(doc, OUT_CSV, "");
	out_table(doc, "rows", NULL);
	assert_renders(doc, OUT_JSON,
		       "{\n  \"schema\": 1,\n  \"kind\": \"nothing\",\n  \"rows\": []\n}\n");
	out_free(doc);
}

/* A document with one string in a table. */
static struct out_doc *one_string(const char *s)
{
	struct out_doc *doc = out_new("string");
	struct out_sec *table = out_table(doc, "t", NULL);

	out_column(table, "s");
	out_row(table);
	out_cell_str(table, s);
	return doc;
}

static void assert_string(const char *s, const char *text, const char *csv)
{
	struct out_doc *doc = one_string(s);
	char *want = NULL;

	assert_true(asprintf(&want, "s\n%s\n", text) > 0);
	assert_renders(doc, OUT_TEXT, want);
	free(want);
	assert_true(asprintf(&want, "s\n%s\n", csv) > 0);
	assert_renders(doc, OUT_CSV, want);
	free(want);
	json_decref(parsed(doc));
	out_free(doc);
}

static void test_strings(void **state)
{
	(void)state;
	assert_string("a,b", "a,b", "\"a,b\"");
	assert_string("say \"x\"", "say \"x\"", "\"say \"\"x\"\"\"");
	assert_string("a\nb", "a\\x0ab", "\"a\nb\"");
	assert_string("\x1b[2J", "\\x1b[2J", "\\x1b[2J");
	assert_string("\x7f", "\\x7f", "\\x7f");
	assert_string("%s%n", "%s%n", "%s%n");
	assert_string("größe €", "größe €", "größe €");
	/* C1, which terminals obey in UTF-8 too. */
	assert_string("\xc2\x9b" "2J", "\\xc2\\x9b2J", "\\xc2\\x9b2J");
	/* Latin-1, cut, overlong, a surrogate, above U+10FFFF. */
	assert_string("gr\xf6", "gr\\xf6", "gr\\xf6");
	assert_string("\xe2\x82", "\\xe2\\x82", "\\xe2\\x82");
	assert_string("\xc0\xaf", "\\xc0\\xaf", "\\xc0\\xaf");
	assert_string("\xed\xa0\x80", "\\xed\\xa0\\x80", "\\xed\\xa0\\x80");
	assert_string("\xf4\x90\x80\x80", "\\xf4\\x90\\x80\\x80",
		      "\\xf4\\x90\\x80\\x80");
	/* An empty string is not nothing, and no comment begins in a cell. */
	assert_string("", "", "\"\"");
	assert_string("# x", "# x", "\"# x\"");
}

static void test_every_byte(void **state)
{
	char s[3] = "";

	(void)state;
	for (int a = 1; a < 256; a++)
		for (int b = 0; b < 256; b += 5) {
			struct out_doc *doc;
			char *text;

			s[0] = (char)a;
			s[1] = (char)b;
			doc = one_string(s);
			json_decref(parsed(doc));
			text = render(doc, OUT_TEXT);
			for (const char *p = text; *p; p++)
				assert_true((unsigned char)*p >= ' ' ||
					    *p == '\n');
			free(text);
			out_free(doc);
		}
}

static void test_columns_of_letters_line_up(void **state)
{
	struct out_doc *doc = out_new("wide");
	struct out_sec *table = out_table(doc, "t", NULL);

	(void)state;
	out_column(table, "a");
	out_column(table, "b");
	out_row(table);
	out_cell_str(table, "äö");
	out_cell_str(table, "x");
	out_row(table);
	out_cell_str(table, "abc");
	out_cell_str(table, "y");
	assert_renders(doc, OUT_TEXT, "a    b\näö   x\nabc  y\n");
	out_free(doc);
}

static void test_numbers(void **state)
{
	struct out_doc *doc = out_new("numbers");
	struct out_sec *sec = out_values(doc, "v", NULL);
	json_t *root, *v;

	(void)state;
	out_value_f64(sec, "nan", NAN, 1);
	out_value_f64(sec, "inf", -INFINITY, 1);
	out_value_f64(sec, "tenth", 0.1, 3);
	out_value_f64(sec, "rounded", 1234.5678, 2);
	out_value_u64(sec, "max", UINT64_MAX);
	out_value_i64(sec, "min", INT64_MIN);
	out_value_str(sec, "null", NULL);
	assert_renders(doc, OUT_TEXT,
		       "nan      -\n"
		       "inf      -\n"
		       "tenth    0.100\n"
		       "rounded  1234.57\n"
		       "max      18446744073709551615\n"
		       "min      -9223372036854775808\n"
		       "null     -\n");
	root = parsed(doc);
	v = json_object_get(root, "v");
	assert_true(json_is_null(json_object_get(v, "nan")));
	assert_true(json_is_null(json_object_get(v, "inf")));
	assert_true(json_is_null(json_object_get(v, "null")));
	assert_true(json_real_value(json_object_get(v, "tenth")) == 0.1);
	assert_true(json_real_value(json_object_get(v, "rounded")) == 1234.57);
	assert_true(json_number_value(json_object_get(v, "max")) > 0);
	assert_true(json_integer_value(json_object_get(v, "min")) == INT64_MIN);
	json_decref(root);
	out_free(doc);
}

static void test_short_rows_are_filled(void **state)
{
	struct out_doc *doc = out_new("short");
	struct out_sec *table = out_table(doc, "t", NULL);

	(void)state;
	out_column(table, "a");
	out_column(table, "b");
	out_row(table);
	out_cell_u64(table, 1);
	out_row(table);
	assert_renders(doc, OUT_CSV, "a,b\n1,\n,\n");
	assert_renders(doc, OUT_TEXT, "a  b\n1  -\n-  -\n");
	out_free(doc);
}

static void test_quote(void **state)
{
	char long_name[200], *q;

	(void)state;
	memset(long_name, 'x', sizeof(long_name) - 1);
	long_name[sizeof(long_name) - 1] = '\0';
	q = out_quote(long_name);
	assert_true(strlen(q) < 70);
	assert_non_null(strstr(q, "…"));
	free(q);
	q = out_quote("a\x1b\xff");
	assert_string_equal(q, "'a\\x1b\\xff'");
	free(q);
	q = out_quote("");
	assert_string_equal(q, "''");
	free(q);
}

static void test_formats(void **state)
{
	enum out_format format;

	(void)state;
	assert_int_equal(out_format_parse("csv", &format), 0);
	assert_int_equal(format, OUT_CSV);
	assert_int_equal(out_format_parse("JSON", &format), -EINVAL);
	assert_int_equal(out_format_parse("", &format), -EINVAL);
}

static void test_full_disk(void **state)
{
	struct out_doc *doc = example();
	FILE *full = fopen("/dev/full", "w");

	(void)state;
	if (!full)
		skip();
	assert_int_equal(out_print(doc, full, OUT_JSON), -EIO);
	fclose(full);
	out_free(doc);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_text),
		cmocka_unit_test(test_csv),
		cmocka_unit_test(test_json),
		cmocka_unit_test(test_empty),
		cmocka_unit_test(test_strings),
		cmocka_unit_test(test_every_byte),
		cmocka_unit_test(test_columns_of_letters_line_up),
		cmocka_unit_test(test_numbers),
		cmocka_unit_test(test_short_rows_are_filled),
		cmocka_unit_test(test_quote),
		cmocka_unit_test(test_formats),
		cmocka_unit_test(test_full_disk),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

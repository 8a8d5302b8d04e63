/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * One document model for everything a command reports, and one renderer for
 * each format. A command fills a document; out_print() shows it as text, JSON
 * or CSV, so that no format can miss what another has.
 */
#ifndef TARE_OUTPUT_H
#define TARE_OUTPUT_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

enum out_format { OUT_TEXT, OUT_JSON, OUT_CSV };

/** JSON schema version, raised when a name or meaning changes. */
#define OUT_SCHEMA 1

struct out_doc;
struct out_sec;

/** @return 0 and the format, or -EINVAL (text, json and csv are known). */
int out_format_parse(const char *name, enum out_format *format);

/**
 * New document. JSON: {"schema":1,"kind":KIND, SECTION:…}.
 * @param kind e.g. "stat"; a literal, not copied. Free with out_free().
 */
struct out_doc *out_new(const char *kind);
void out_free(struct out_doc *doc);

/**
 * A section of named values. JSON: an object under KEY; text: TITLE, then one
 * aligned line per value; CSV: a heading "section,name,value" and such lines.
 * All strings are copied. Keys differ from each other and from "schema",
 * "kind" and "notes". The section lives as long as the document.
 * @param title heading in text; NULL: no heading
 */
struct out_sec *out_values(struct out_doc *doc, const char *key,
			   const char *title);
/** Add a value. @param name carries its unit, e.g. "net_p50_cycles". */
/** NULL: nothing known, shown as out_cell_none() is. */
void out_value_str(struct out_sec *sec, const char *name, const char *v);
/** In JSON numbers of 2^63 and more lose their last digits. */
void out_value_u64(struct out_sec *sec, const char *name, uint64_t v);
void out_value_i64(struct out_sec *sec, const char *name, int64_t v);
/**
 * @param decimals digits after the point, in every format (JSON leaves out
 *	zeros at the end). NaN and infinity: nothing known.
 */
void out_value_f64(struct out_sec *sec, const char *name, double v,
		   int decimals);
void out_value_bool(struct out_sec *sec, const char *name, bool v);

/**
 * A table. JSON: an array of objects under KEY; text: TITLE, a heading line
 * and aligned columns (strings to the left, numbers to the right, big numbers
 * unchanged); CSV: a heading line, then one line per row.
 */
struct out_sec *out_table(struct out_doc *doc, const char *key,
			  const char *title);
/** Declare a column; all before the first row. @param name as in JSON */
void out_column(struct out_sec *table, const char *name);
/**
 * Start a row; then at most as many out_cell_* as columns, in their order.
 * Those left out at the end are as out_cell_none().
 */
void out_row(struct out_sec *table);
void out_cell_str(struct out_sec *table, const char *v);
void out_cell_u64(struct out_sec *table, uint64_t v);
void out_cell_i64(struct out_sec *table, int64_t v);
void out_cell_f64(struct out_sec *table, double v, int decimals);
/** A cell with nothing known: JSON null, text "-", CSV empty. */
void out_cell_none(struct out_sec *table);

/**
 * Any string for a message: in quotation marks, at most 60 characters, control
 * characters and broken UTF-8 as \xNN. The caller frees it.
 */
char *out_quote(const char *s);
/** The same without quotation marks and whole. */
char *out_clean(const char *s);

/** A remark for the reader. JSON: in "notes":[…]; text: a line at the end; CSV: "# …". */
void out_note(struct out_doc *doc, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));

/** Render everything. @return 0, or -EIO when the stream could not take it. */
int out_print(const struct out_doc *doc, FILE *to, enum out_format format);

#endif

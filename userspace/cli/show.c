// SPDX-License-Identifier: GPL-2.0-only
/* tare show: the attributes of devices, and what attributes there are. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "command.h"
#include "devices.h"
#include "options.h"

enum { OPT_ATTRIBUTES = 256, OPT_REFERENCE };

struct show {
	char *name;		/* NULL: all devices */
	char **attrs;		/* in argv; none: all */
	size_t n_attrs;
	bool attributes, reference;
};

static const struct argp_option show_options[] = {
	{ "attributes", OPT_ATTRIBUTES, NULL, 0,
	  "Describe the attributes that a device has", 0 },
	{ "reference", OPT_REFERENCE, NULL, 0,
	  "Print the page tare-attributes(5)", 0 },
	{ 0 }
};

static error_t take_attr(struct show *show, char *arg)
{
	char *quoted;

	if (attr_find(arg) || !strcmp(arg, "power")) {
		show->attrs = xrealloc(show->attrs, (show->n_attrs + 1) *
						    sizeof(*show->attrs));
		show->attrs[show->n_attrs++] = arg;
		return 0;
	}
	quoted = out_quote(arg);
	msg_usage("there is no attribute %s; 'tare show --attributes' lists them",
		  quoted);
	free(quoted);
	return EINVAL;
}

static error_t show_parse(int key, char *arg, struct argp_state *state)
{
	struct show *show = state->input;

	switch (key) {
	case OPT_ATTRIBUTES:
		show->attributes = true;
		return 0;
	case OPT_REFERENCE:
		show->reference = true;
		return 0;
	case ARGP_KEY_ARG:
		if (show->name)
			return take_attr(show, arg);
		show->name = arg;
		return 0;
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

static const struct argp show_argp = {
	.options = show_options,
	.parser = show_parse,
	.args_doc = "[NAME [ATTRIBUTE…]]",
	.doc = "Show the attributes of one device or of all.",
};

static const char *const class_names[] = {
	[ATTR_LIVE] = "live",
	[ATTR_QUIESCE] = "quiesce",
	[ATTR_OFF] = "off",
	[ATTR_RO] = "never",
};

/* ---- what attributes there are ---- */

static int show_attributes(const struct options *common)
{
	struct out_doc *doc = out_new("attributes");
	struct out_sec *table = out_table(doc, "attributes", NULL);
	static const char *const columns[] = { "attribute", "default",
					       "allowed", "change", "meaning" };

	for (size_t i = 0; i < ARRAY_SIZE(columns); i++)
		out_column(table, columns[i]);
	for (size_t i = 0; i < attr_count; i++) {
		const struct attr_desc *attr = &attr_table[i];
		char *def = attr_format(attr, attr->def);
		char *range = attr_range(attr);

		out_row(table);
		out_cell_str(table, attr->name);
		out_cell_str(table, def);
		out_cell_str(table, range);
		out_cell_str(table, class_names[attr->class]);
		out_cell_str(table, attr->help);
		free(def);
		free(range);
	}
	return options_print(doc, common);
}

/* scdoc takes _ and * for marks. */
static void scdoc(const char *text)
{
	for (; *text; text++) {
		if (strchr("_*\\`~[]#<>", *text))
			putchar('\\');
		putchar(*text);
	}
}

static void reference_attr(const struct attr_desc *attr)
{
	static const char *const changes[] = {
		[ATTR_LIVE] = "at any time; the next request obeys",
		[ATTR_QUIESCE] = "at any time; the queue is drained first",
		[ATTR_OFF] = "while the device is off",
		[ATTR_RO] = "never: it can only be read",
	};
	char *def = attr_format(attr, attr->def);
	char *range = attr_range(attr);

	fputs("*", stdout);
	scdoc(attr->name);
	fputs("*\n\t", stdout);
	scdoc(attr->help);
	printf(".\n\n\tAllowed: %s. Default: %s. Changes: %s.\n\n", range, def,
	       changes[attr->class]);
	free(def);
	free(range);
}

static void reference_names(const struct attr_desc *attr)
{
	printf("# VALUES OF %s\n\n", attr->name);
	for (int64_t i = 0; i <= attr->max; i++) {
		printf("*%s*\n\t", attr->names[i].name);
		scdoc(attr->names[i].help);
		puts(".\n");
	}
}

/* docs/man/tare-attributes.5.scd is this; tests/cli/reference.sh compares. */
static int show_reference(void)
{
	fputs("tare-attributes(5)\n\n"
	      "# NAME\n\n"
	      "tare-attributes - what a tare device can be told\n\n"
	      "# DESCRIPTION\n\n"
	      "The attributes of a device are given to *tare add* and *tare set*, are lines of\n"
	      "a profile, are the files of /sys/kernel/config/tare/NAME, and are parameters of\n"
	      "the module for the devices that it makes when it is loaded. The unit is in the\n"
	      "name. A number is written in decimal digits alone: no blank, no plus sign, no\n"
	      "leading zero, no 0x. A value that is not allowed is refused, never rounded, and\n"
	      "what is read back is what was written.\n\n"
	      "*power* is no attribute but a switch: 1 makes the disk /dev/NAME, 0 takes it\n"
	      "away, and is refused while somebody uses it. What has to fit together is checked\n"
	      "when it is switched on.\n\n"
	      "This page is printed by *tare show --reference* from the table that the driver\n"
	      "is compiled from.\n\n"
	      "# ATTRIBUTES\n\n",
	      stdout);
	for (size_t i = 0; i < attr_count; i++)
		reference_attr(&attr_table[i]);
	for (size_t i = 0; i < attr_count; i++)
		if (attr_table[i].names)
			reference_names(&attr_table[i]);
	fputs("# THE SERVICE TIME\n\n"
	      "A request is due when it has waited for a channel (*channels*) and then been\n"
	      "served. Its service is, one after the other:\n\n"
	      "- *read\\_ns*, *write\\_ns*, *flush\\_ns* or *discard\\_ns*, stretched by a random\n"
	      "  factor whose mean is 1 (*distribution*); no distribution makes it longer than a\n"
	      "  minute;\n"
	      "- for a disk, the arm's way, *seek\\_ns* times the square root of the part of the\n"
	      "  disk that it crosses, nothing within a MiB, so that a random seek takes 8/15 of\n"
	      "  it; then the wait until the sector comes by (*rpm*), a turn holding a MiB. Only\n"
	      "  reads have these, and writes that no *write\\_cache* takes. A disk with one arm\n"
	      "  wants *channels=1*;\n"
	      "- *read\\_ns\\_per\\_kb* or *write\\_ns\\_per\\_kb* for each KiB;\n"
	      "- *tail\\_ns* for *tail\\_ppm* requests of a million.\n\n"
	      "Random numbers are drawn by the CPU that issues the request, from a stream of\n"
	      "its own made from *seed*: the same requests on the same CPUs take the same time\n"
	      "again. The kernel's search for partitions at power-on draws the first ones; a\n"
	      "write to *seed* begins anew and puts the arm on the first sector. Where the disk\n"
	      "stands in its turn is the clock's.\n\n"
	      "uniform and normal keep the median too. pareto keeps the mean within 0.2 %, as\n"
	      "no factor is above 65536; its values begin at (1 - 1 / alpha) times the mean.\n\n"
	      "*inline* and *complete* wait with the CPU in hand, so the longest service that\n"
	      "could be drawn must be at most 1000000 ns (that of pareto is thousands of times\n"
	      "its mean), and *channels* must be 0.\n\n"
	      "# SEE ALSO\n\n"
	      "*tare*(1), *tare-add*(1), *tare-set*(1), *tare-show*(1)\n",
	      stdout);
	return TARE_OK;
}

/* ---- devices ---- */

static void add_value(struct out_sec *table, const char *name,
		      const char *attr)
{
	const struct attr_desc *desc = attr_find(attr);

	out_row(table);
	out_cell_str(table, name);
	out_cell_str(table, attr);
	device_cell(table, name, attr);
	if (desc) {
		char *def = attr_format(desc, desc->def);

		out_cell_str(table, def);
		out_cell_str(table, class_names[desc->class]);
		free(def);
	}
}

static void add_device(struct out_sec *table, const char *name,
		       const struct show *show)
{
	for (size_t i = 0; i < show->n_attrs; i++)
		add_value(table, name, show->attrs[i]);
	if (show->n_attrs)
		return;
	for (size_t i = 0; i < attr_count; i++)
		add_value(table, name, attr_table[i].name);
	add_value(table, name, "power");
}

static int show_devices(const struct show *show, const struct options *common)
{
	static const char *const columns[] = { "device", "attribute", "value",
					       "default", "change" };
	struct device_names found;
	struct out_doc *doc;
	struct out_sec *table;
	int code = devices_find(&show->name, show->name ? 1 : 0, &found);

	if (code)
		return code;
	doc = out_new("show");
	table = out_table(doc, "attributes", NULL);
	for (size_t i = 0; i < ARRAY_SIZE(columns); i++)
		out_column(table, columns[i]);
	for (int i = 0; i < found.n; i++)
		add_device(table, found.names[i], show);
	devices_free(&found);
	return options_print(doc, common);
}

int cmd_show(int argc, char **argv)
{
	struct show show = { 0 };
	struct options common = { 0 };
	int code = options_parse(&show_argp, argc, argv, &show, &common);

	if (!code && show.reference)
		code = show_reference();
	else if (!code && show.attributes)
		code = show_attributes(&common);
	else if (!code)
		code = show_devices(&show, &common);
	free(show.attrs);
	return code;
}

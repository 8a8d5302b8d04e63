// SPDX-License-Identifier: GPL-2.0-only
#include "joboption.h"

#include "util.h"

#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

/* What the setters see. */
struct option_ctx {
	struct job *job;
	unsigned int line;
	const char *name;
	const char *value;	/* NULL: none on the line */
};

/* A setter returns NULL, or what is wrong, freed by the caller. */
struct job_option {
	const char *name;
	char *(*set)(const struct option_ctx *o);
	const char *text;	/* of harmless and fio_only: why */
};

static char *bad_value(const struct option_ctx *o, const char *wanted)
{
	return xasprintf("%s=%s: %s", o->name, o->value ? o->value : "",
			 wanted);
}

/* The own engines will not run this job; fio may. */
static void refuse(const struct option_ctx *o, const char *why)
{
	job_remark(&o->job->refused, o->line,
		   xasprintf("%s%s%s: %s", o->name, o->value ? "=" : "",
			     o->value ? o->value : "", why));
}

static int unit_power(const char *unit, uint64_t *base, unsigned int *power)
{
	static const char units[] = "kmgtp";
	const char *at = *unit ? strchr(units, tolower((unsigned char)*unit)) :
				 NULL;

	*base = 1024;
	*power = 0;
	if (at && *at) {
		*power = (unsigned int)(at - units) + 1;
		unit++;
		if (tolower((unsigned char)*unit) == 'i') {
			*base = 1000;
			unit++;
		}
	}
	if (tolower((unsigned char)*unit) == 'b')
		unit++;
	return *unit ? -EINVAL : 0;
}

int job_size_parse(const char *text, uint64_t *bytes)
{
	unsigned int power;
	uint64_t base, v;
	char *end;

	if (!isdigit((unsigned char)text[0]))
		return -EINVAL;
	errno = 0;
	/* base 0 would read 010 as eight; fio knows only 0x */
	v = strtoull(text, &end, strncasecmp(text, "0x", 2) ? 10 : 16);
	if (errno)
		return -ERANGE;
	if (unit_power(end, &base, &power))
		return -EINVAL;
	while (power--)
		if (__builtin_mul_overflow(v, base, &v))
			return -ERANGE;
	*bytes = v;
	return 0;
}

int job_time_parse(const char *text, uint64_t *us)
{
	static const struct {
		const char *unit;
		uint64_t us;
	} units[] = {
		{ "", 1000000 },      { "s", 1000000 },
		{ "sec", 1000000 },   { "ms", 1000 },
		{ "msec", 1000 },     { "us", 1 },
		{ "usec", 1 },	      { "m", 60000000 },
		{ "h", 3600000000u }, { "d", 86400000000ull },
	};
	uint64_t v;
	char *end;

	if (!isdigit((unsigned char)text[0]))
		return -EINVAL;
	errno = 0;
	v = strtoull(text, &end, 10);
	if (errno)
		return -ERANGE;
	for (size_t i = 0; i < ARRAY_SIZE(units); i++)
		if (!strcasecmp(end, units[i].unit))
			return __builtin_mul_overflow(v, units[i].us, us) ?
				       -ERANGE : 0;
	return -EINVAL;
}

static char *get_size(const struct option_ctx *o, uint64_t *v)
{
	if (!o->value || job_size_parse(o->value, v))
		return bad_value(o, "a number with an optional k, m, g is wanted");
	return NULL;
}

/* fio takes an option without a value as 1. */
static char *get_bool(const struct option_ctx *o, bool *v)
{
	if (o->value && strcmp(o->value, "0") && strcmp(o->value, "1"))
		return bad_value(o, "0 or 1 is wanted");
	*v = !o->value || *o->value == '1';
	return NULL;
}

static char *get_string(const struct option_ctx *o, char **s)
{
	if (!o->value || !*o->value)
		return bad_value(o, "a value is wanted");
	if (strstr(o->value, "${"))
		return bad_value(o, "variables are not expanded here");
	free(*s);
	*s = xstrdup(o->value);
	return NULL;
}

#define SETTER(field, get)					\
	static char *set_##field(const struct option_ctx *o)	\
	{							\
		return get(o, &o->job->field);			\
	}
SETTER(number_ios, get_size)
SETTER(fsync, get_size)
SETTER(fdatasync, get_size)
SETTER(iodepth, get_size)
SETTER(batch_complete, get_size)
SETTER(randseed, get_size)
SETTER(direct, get_bool)
SETTER(end_fsync, get_bool)
SETTER(overwrite, get_bool)
SETTER(fixedbufs, get_bool)
SETTER(registerfiles, get_bool)
SETTER(norandommap, get_bool)
SETTER(directory, get_string)

/* A place or length: a percentage depends on a file that is not there yet. */
static char *get_length(const struct option_ctx *o, uint64_t *v)
{
	if (o->value && strchr(o->value, '%')) {
		refuse(o, "give a size in bytes");
		return NULL;
	}
	return get_size(o, v);
}

SETTER(size, get_length)
SETTER(io_size, get_length)
SETTER(offset, get_length)

static char *set_rw(const struct option_ctx *o)
{
	static const struct {
		const char *name;
		bool random;
		enum job_dir dir;
	} modes[] = {
		{ "read", false, JOB_READ },
		{ "write", false, JOB_WRITE },
		{ "randread", true, JOB_READ },
		{ "randwrite", true, JOB_WRITE },
		{ "rw", false, JOB_MIXED },
		{ "readwrite", false, JOB_MIXED },
		{ "randrw", true, JOB_MIXED },
	};

	for (size_t i = 0; o->value && i < ARRAY_SIZE(modes); i++) {
		if (strcmp(o->value, modes[i].name))
			continue;
		o->job->random = modes[i].random;
		o->job->dir = modes[i].dir;
		return NULL;
	}
	if (o->value && (strchr(o->value, ':') || strstr(o->value, "trim"))) {
		refuse(o, "only read, write, rw, randread, randwrite, randrw");
		return NULL;
	}
	return bad_value(o, "no such mode");
}

static char *set_bs(const struct option_ctx *o)
{
	uint64_t bs;

	if (o->value && strpbrk(o->value, ",-:/")) {
		refuse(o, "one block size for all");
		return NULL;
	}
	if (!o->value || job_size_parse(o->value, &bs))
		return bad_value(o, "a number with an optional k, m, g is wanted");
	if (bs == 0 || bs > UINT32_MAX || bs % 512)
		return bad_value(o, "not a multiple of 512 below 4 GiB");
	o->job->bs = bs;
	return NULL;
}

static char *set_loops(const struct option_ctx *o)
{
	char *why = get_size(o, &o->job->loops);

	return !why && o->job->loops == 0 ? bad_value(o, "at least 1") : why;
}

static char *set_batch(const struct option_ctx *o)
{
	char *why = get_size(o, &o->job->batch);

	return !why && o->job->batch == 0 ? bad_value(o, "at least 1") : why;
}

static char *set_buffered(const struct option_ctx *o)
{
	bool buffered = true;
	char *why = get_bool(o, &buffered);

	o->job->direct = !buffered;
	return why;
}

static char *set_sync(const struct option_ctx *o)
{
	static const struct {
		const char *name;
		enum job_sync sync;
	} modes[] = {
		{ "0", JOB_SYNC_NONE },	   { "none", JOB_SYNC_NONE },
		{ "1", JOB_SYNC_SYNC },	   { "sync", JOB_SYNC_SYNC },
		{ "dsync", JOB_SYNC_DSYNC },
	};

	for (size_t i = 0; o->value && i < ARRAY_SIZE(modes); i++) {
		if (!strcmp(o->value, modes[i].name)) {
			o->job->sync = modes[i].sync;
			return NULL;
		}
	}
	return bad_value(o, "none, sync or dsync");
}

static char *set_ioengine(const struct option_ctx *o)
{
	char *why = get_string(o, &o->job->ioengine);

	if (why)
		return why;
	if (!strcmp(o->value, "psync") || !strcmp(o->value, "sync") ||
	    !strcmp(o->value, "pvsync"))
		o->job->engine = JOB_PSYNC;
	else if (!strcmp(o->value, "io_uring"))
		o->job->engine = JOB_IO_URING;
	else
		o->job->engine = JOB_OTHER;
	if (o->job->engine == JOB_OTHER)
		refuse(o, "own engines are psync and io_uring; try --engine fio");
	return NULL;
}

static char *set_filename(const struct option_ctx *o)
{
	char *why = get_string(o, &o->job->filename);

	if (!why && strchr(o->value, ':'))
		refuse(o, "one file");
	return why;
}

static char *set_cpus_allowed(const struct option_ctx *o)
{
	uint64_t cpu;

	if (!o->value || parse_u64(o->value, &cpu) || cpu > 65535) {
		refuse(o, "one CPU");
		return NULL;
	}
	o->job->cpu = (int64_t)cpu;
	return NULL;
}

static char *set_runtime(const struct option_ctx *o)
{
	if (!o->value || job_time_parse(o->value, &o->job->runtime_us))
		return bad_value(o, "a time is wanted");
	return NULL;
}

static char *set_fallocate(const struct option_ctx *o)
{
	o->job->fallocate = o->value && strcmp(o->value, "none") &&
			    strcmp(o->value, "0") &&
			    strcmp(o->value, "truncate");
	return NULL;
}

static char *set_rwmixread(const struct option_ctx *o)
{
	uint64_t v;

	if (!o->value || parse_u64(o->value, &v) || v > 100)
		return bad_value(o, "0 to 100");
	o->job->mix_read_percent = !strcmp(o->name, "rwmixread") ? v : 100 - v;
	return NULL;
}

/* Needs one value, the one that the own engines work with anyway. */
static char *only_one(const struct option_ctx *o)
{
	if (o->value && strcmp(o->value, "1"))
		refuse(o, "only 1");
	return NULL;
}

/* Makes no difference to what is weighed, or is done in another way. */
static char *harmless(const struct option_ctx *o)
{
	(void)o;
	return NULL;
}

static char *fio_only(const struct option_ctx *o)
{
	(void)o;
	return NULL;
}

/* Off is fine, on is not. */
static char *fio_only_on(const struct option_ctx *o)
{
	(void)o;
	return NULL;
}

#define SAME_WEIGHT	"no part of what is weighed"
#define OWN_REPORT	"the report is tare's own"
#define ONE_JOB		"one job runs"
#define ONE_THREAD	"own engines run in one thread"
#define NO_VERIFY	"own engines do not verify; try --engine fio"
#define NO_PACE		"own engines do not pace; try --engine fio"

static const struct job_option options[] = {
	{ "rw", set_rw, NULL },
	{ "readwrite", set_rw, NULL },
	{ "rwmixread", set_rwmixread, NULL },
	{ "rwmixwrite", set_rwmixread, NULL },
	{ "bs", set_bs, NULL },
	{ "blocksize", set_bs, NULL },
	{ "size", set_size, NULL },
	{ "filesize", set_size, NULL },
	{ "io_size", set_io_size, NULL },
	{ "io_limit", set_io_size, NULL },
	{ "number_ios", set_number_ios, NULL },
	{ "loops", set_loops, NULL },
	{ "filename", set_filename, NULL },
	{ "directory", set_directory, NULL },
	{ "direct", set_direct, NULL },
	{ "buffered", set_buffered, NULL },
	{ "sync", set_sync, NULL },
	{ "fsync", set_fsync, NULL },
	{ "fdatasync", set_fdatasync, NULL },
	{ "end_fsync", set_end_fsync, NULL },
	{ "fsync_on_close", set_end_fsync, NULL },
	{ "iodepth", set_iodepth, NULL },
	{ "iodepth_batch", set_batch, NULL },
	{ "iodepth_batch_submit", set_batch, NULL },
	{ "iodepth_batch_complete", set_batch_complete, NULL },
	{ "iodepth_batch_complete_min", set_batch_complete, NULL },
	{ "ioengine", set_ioengine, NULL },
	{ "offset", set_offset, NULL },
	{ "randseed", set_randseed, NULL },
	{ "norandommap", set_norandommap, NULL },
	{ "overwrite", set_overwrite, NULL },
	{ "fallocate", set_fallocate, NULL },
	{ "fixedbufs", set_fixedbufs, NULL },
	{ "registerfiles", set_registerfiles, NULL },
	{ "cpus_allowed", set_cpus_allowed, NULL },
	{ "runtime", set_runtime, NULL },

	{ "numjobs", only_one, NULL },
	{ "nrfiles", only_one, NULL },

	{ "name", harmless, SAME_WEIGHT },
	{ "description", harmless, SAME_WEIGHT },
	{ "invalidate", harmless, "caches are dropped before every run" },
	{ "create_on_open", harmless, "tare lays the file out itself" },
	{ "create_serialize", harmless, "tare lays the file out itself" },
	{ "create_fsync", harmless, "tare lays the file out itself" },
	{ "allow_file_create", harmless, "tare lays the file out itself" },
	{ "allow_mounted_write", harmless, "the device is tare's own" },
	{ "unlink", harmless, "the file goes with its device" },
	{ "group_reporting", harmless, OWN_REPORT },
	{ "clat_percentiles", harmless, OWN_REPORT },
	{ "lat_percentiles", harmless, OWN_REPORT },
	{ "slat_percentiles", harmless, OWN_REPORT },
	{ "percentile_list", harmless, OWN_REPORT },
	{ "significant_figures", harmless, OWN_REPORT },
	{ "disk_util", harmless, OWN_REPORT },
	{ "gtod_reduce", harmless, OWN_REPORT },
	{ "disable_lat", harmless, OWN_REPORT },
	{ "disable_clat", harmless, OWN_REPORT },
	{ "disable_slat", harmless, OWN_REPORT },
	{ "disable_bw_measurement", harmless, OWN_REPORT },
	{ "clocksource", harmless, OWN_REPORT },
	{ "write_lat_log", harmless, OWN_REPORT },
	{ "write_bw_log", harmless, OWN_REPORT },
	{ "write_iops_log", harmless, OWN_REPORT },
	{ "log_avg_msec", harmless, OWN_REPORT },
	{ "stonewall", harmless, ONE_JOB },
	{ "wait_for", harmless, ONE_JOB },
	{ "exitall", harmless, ONE_JOB },
	{ "new_group", harmless, ONE_JOB },
	{ "thread", harmless, ONE_THREAD },
	{ "cpus_allowed_policy", harmless, ONE_THREAD },
	{ "file_service_type", harmless, "one file" },
	{ "openfiles", harmless, "one file" },
	{ "random_generator", harmless, "own engines have their own generator" },
	{ "softrandommap", harmless, "own engines have their own generator" },
	{ "allrandrepeat", harmless, "own engines always repeat" },
	{ "randrepeat", harmless, "own engines always repeat" },
	{ "refill_buffers", harmless, "buffers are filled once" },
	{ "zero_buffers", harmless, "the content makes no difference here" },
	{ "scramble_buffers", harmless, "the content makes no difference here" },
	{ "buffer_pattern", harmless, "the content makes no difference here" },
	{ "lockmem", harmless, "own engines lock all their memory" },
	{ "mem", harmless, "own engines have their own buffers" },
	{ "iomem", harmless, "own engines have their own buffers" },
	{ "time_based", harmless, "--ios says how many I/Os are weighed" },
	{ "ramp_time", harmless, "--warmup says how many I/Os come before" },
	{ "iodepth_batch_complete_max", harmless,
	  "all completions at hand are taken" },
	{ "kb_base", fio_only, "sizes are read with fio's default of 1024" },

	{ "hipri", fio_only_on, "polling needs a device with poll queues" },
	{ "sqthread_poll", fio_only_on, "own engines enter the kernel themselves" },
	{ "nonvectored", harmless, "own engines use read and write, not readv" },
	{ "uncached", fio_only_on, "own engines cannot" },
	{ "iodepth_low", fio_only, "own engines keep the depth full" },
	{ "io_submit_mode", fio_only, "own engines submit inline" },
	{ "bsrange", fio_only, "one block size for all" },
	{ "bssplit", fio_only, "one block size for all" },
	{ "bs_unaligned", fio_only_on, "sectors must be whole" },
	{ "blockalign", fio_only, "I/Os are aligned to their size" },
	{ "ba", fio_only, "I/Os are aligned to their size" },
	{ "verify", fio_only, NO_VERIFY },
	{ "do_verify", fio_only_on, NO_VERIFY },
	{ "verify_interval", fio_only, NO_VERIFY },
	{ "verify_offset", fio_only, NO_VERIFY },
	{ "verify_pattern", fio_only, NO_VERIFY },
	{ "verify_fatal", fio_only_on, NO_VERIFY },
	{ "verify_dump", fio_only_on, NO_VERIFY },
	{ "verify_async", fio_only, NO_VERIFY },
	{ "verify_backlog", fio_only, NO_VERIFY },
	{ "verify_only", fio_only_on, NO_VERIFY },
	{ "rate", fio_only, NO_PACE },
	{ "rate_iops", fio_only, NO_PACE },
	{ "rate_min", fio_only, NO_PACE },
	{ "rate_process", fio_only, NO_PACE },
	{ "thinktime", fio_only, NO_PACE },
	{ "thinktime_blocks", fio_only, NO_PACE },
	{ "startdelay", fio_only, NO_PACE },
	{ "random_distribution", fio_only, "own engines draw evenly" },
	{ "percentage_random", fio_only, "own engines draw evenly" },
	{ "read_iolog", fio_only, "own engines replay nothing" },
	{ "write_iolog", fio_only, "own engines write no log" },
	{ "zonemode", fio_only, "the device has no zones" },
	{ "fill_device", fio_only_on, "the job ends by number, not by ENOSPC" },
	{ "file_append", fio_only_on, "own engines write in place" },
	{ "sync_file_range", fio_only, "own engines use fsync or fdatasync" },
	{ "write_barrier", fio_only, "own engines use fsync or fdatasync" },
	{ "atomic", fio_only_on, "own engines cannot" },
	{ "pre_read", fio_only_on, "own engines start with cold caches" },
	{ "steadystate", fio_only, "own engines run a fixed number" },
	{ "ioscheduler", fio_only, "set it on the device, not in the job" },
	{ "exec_prerun", fio_only, "no programs are run" },
	{ "exec_postrun", fio_only, "no programs are run" },
};

static const struct job_option *find(const char *name)
{
	for (size_t i = 0; i < ARRAY_SIZE(options); i++)
		if (!strcmp(options[i].name, name))
			return &options[i];
	return NULL;
}

int job_option_set(struct job *job, unsigned int line, const char *name,
		   const char *value, char **why)
{
	struct option_ctx o = { job, line, name, value };
	const struct job_option *option = find(name);

	if (!option) {
		*why = xasprintf("%s: no option that tare knows", name);
		return -EINVAL;
	}
	if (option->set == harmless)
		job_remark(&job->notes, line,
			   xasprintf("%s is ignored: %s", name, option->text));
	else if (option->set == fio_only ||
		 (option->set == fio_only_on &&
		  (!value || strcmp(value, "0"))))
		refuse(&o, option->text);
	if (option->set == set_bs)
		job->bs_line = line;
	if (option->set == set_offset)
		job->offset_line = line;
	*why = option->set(&o);
	return *why ? -EINVAL : 0;
}

static void refuse_job(struct job *job, char *text)
{
	job_remark(&job->refused, 0, text);
}

/* Without O_DIRECT only a write that is forced out meets the device at once. */
static void check_buffered(struct job *job)
{
	bool forced = job->sync != JOB_SYNC_NONE || job->fsync == 1 ||
		      job->fdatasync == 1;

	if (job->direct || (job->dir == JOB_WRITE && forced))
		return;
	refuse_job(job, xstrdup("direct=0: the page cache answers, so requests cannot be joined with I/Os; writes with sync, fsync=1 or fdatasync=1 can"));
}

char *job_option_check(struct job *job)
{
	if (job->iodepth == 0 || job->iodepth > 4096)
		return xasprintf("iodepth=%llu: 1 to 4096",
				 (unsigned long long)job->iodepth);
	if (job->size && job->size < job->bs)
		return xstrdup("size is smaller than one block");
	check_buffered(job);
	if (job->engine == JOB_PSYNC)
		job->iodepth = 1;
	else if (job->fsync || job->fdatasync)
		refuse_job(job, xstrdup("fsync, fdatasync: the own io_uring engine has neither; sync=dsync it has"));
	if (job->batch > job->iodepth)
		job->batch = job->iodepth;
	if (job->batch_complete > job->iodepth)
		job->batch_complete = job->iodepth;
	return NULL;
}

// SPDX-License-Identifier: GPL-2.0-only
/*
 * Records what a command does to a device, and judges the records.
 *
 * record [-d] [-n ENTRIES] NAME COMMAND…
 *
 * Resets the statistics, records while COMMAND runs, then prints, on one line,
 * NAME=VALUE words:
 *   n, lost        records taken, requests without room
 *   disorder       records whose stamps are not in the order of docs/method.md
 *   early          of these, fire before due
 *   mismatch       figures of TARE_IOC_STATS that are not those of the records
 *                  (count, bytes, and of each row sum, min, max, each bucket)
 *   OP             records of each operation (read=…)
 *   PATH, MODE     records by path (direct=…) and completion mode (timer=…)
 *   fua, errors    records with that flag, with an error
 *   moved          records that ended on another CPU than the one they fired on
 *   badpath        records whose path does not fit the CPUs
 *   OP_device      the device row in order of issue, as VALUExCOUNT,… without
 *                  repetition ("-" for none)
 *   OP_bytes       the same of the sizes
 * and with -d a line for each record, in order of issue.
 *
 * Ends as COMMAND did.
 */
#include "prog.h"

#include <sched.h>
#include <sys/mman.h>
#include <sys/wait.h>

static struct tare_record *all;
static size_t n_all;
static uint64_t lost;

static uint64_t max64(uint64_t a, uint64_t b)
{
	return a > b ? a : b;
}

static void take(struct tare_ring *ring)
{
	struct tare_record *r = (void *)((char *)ring + TARE_RING_HEADER);
	uint64_t tail = ring->tail;

	while (tail != ring->head && r[tail & (ring->entries - 1)].end) {
		all = realloc(all, (n_all + 1) * sizeof(*all));
		if (!all)
			die("memory");
		all[n_all++] = r[tail & (ring->entries - 1)];
		r[tail & (ring->entries - 1)].end = 0;
		tail++;
	}
	ring->tail = tail;
	lost += ring->lost;
}

static int by_issue(const void *a, const void *b)
{
	const struct tare_record *x = a, *y = b;

	return x->issue < y->issue ? -1 : x->issue > y->issue;
}

/* The row's value of a record. */
static uint64_t row_of(const struct tare_record *r, int row)
{
	uint64_t avail = max64(r->due, r->ready);

	switch (row) {
	case TARE_ROW_START:
		return r->start - r->issue;
	case TARE_ROW_DEVICE:
		return r->due - r->start;
	case TARE_ROW_DELIVERY:
		return r->fire - avail;
	case TARE_ROW_DRIVER:
		return avail - r->due + r->done - r->fire + r->end - r->cmpl;
	default:
		return r->cmpl - r->done;
	}
}

static int in_order(const struct tare_record *r)
{
	return r->issue <= r->start && r->start <= r->due &&
	       r->start <= r->ready && r->fire >= r->due &&
	       r->fire >= r->ready && r->fire <= r->done &&
	       r->done <= r->cmpl && r->cmpl <= r->end;
}

/* Written anew here, not with the driver's: by where buckets begin. */
static int bucket_of(uint64_t v)
{
	int low = 0, high = TARE_HIST_OVERFLOW;

	if (v >= 1ULL << TARE_HIST_MAX_BITS)
		return TARE_HIST_OVERFLOW;
	while (high - low > 1) {
		int middle = (low + high) / 2;

		if (tare_hist_low(middle) <= v)
			low = middle;
		else
			high = middle;
	}
	return low;
}

static void compute(struct tare_op_stats *s, int op)
{
	memset(s, 0, sizeof(*s));
	for (int row = 0; row < TARE_NR_ROWS; row++)
		s->row[row].min = ~0ULL;
	for (size_t i = 0; i < n_all; i++) {
		if (all[i].op != op)
			continue;
		s->count++;
		s->bytes += all[i].bytes;
		for (int row = 0; row < TARE_NR_ROWS; row++) {
			uint64_t v = row_of(&all[i], row);
			struct tare_row_stats *rs = &s->row[row];

			/* Two CPUs' counters were apart: a zero. */
			if ((int64_t)v < 0) {
				rs->negative++;
				v = 0;
			}
			rs->sum += v;
			rs->min = v < rs->min ? v : rs->min;
			rs->max = max64(rs->max, v);
			rs->bucket[bucket_of(v)]++;
		}
	}
}

static int differences;

static int differs(const char *op, const char *row, const char *what,
		   uint64_t got, uint64_t want)
{
	if (got == want)
		return 0;
	if (++differences > 5)
		return 1;
	fprintf(stderr, "%s %s %s: statistics %llu, records %llu\n", op, row,
		what, (unsigned long long)got, (unsigned long long)want);
	return 1;
}

/* Figures of the driver's statistics that the records do not give. */
static int compare(int fd, const char *name)
{
	static struct tare_op_stats got, want;
	int bad = 0;

	for (int op = 0; op < TARE_NR_OPS; op++) {
		int err = stats_get(fd, name, op, -1, &got);

		compute(&want, op);
		if (err == EOPNOTSUPP) {
			bad += want.count != 0;
			continue;
		}
		if (err) {
			errno = err;
			die("TARE_IOC_STATS");
		}
		bad += differs(op_names[op], "", "count", got.count, want.count);
		bad += differs(op_names[op], "", "bytes", got.bytes, want.bytes);
		for (int row = 0; row < TARE_NR_ROWS; row++) {
			struct tare_row_stats *g = &got.row[row];
			struct tare_row_stats *w = &want.row[row];

			bad += differs(op_names[op], row_names[row], "sum", g->sum, w->sum);
			bad += differs(op_names[op], row_names[row], "min", g->min, w->min);
			bad += differs(op_names[op], row_names[row], "max", g->max, w->max);
			bad += differs(op_names[op], row_names[row], "negative",
				       g->negative, w->negative);
			for (int b = 0; b < TARE_HIST_BUCKETS; b++)
				bad += differs(op_names[op], row_names[row],
					       "bucket", g->bucket[b], w->bucket[b]);
		}
	}
	return bad;
}

static void print_runs(int op, const char *what, int bytes)
{
	uint64_t last = 0, count = 0;
	int runs = 0;

	printf(" %s_%s=", op_names[op], what);
	for (size_t i = 0; i < n_all; i++) {
		uint64_t v = bytes ? all[i].bytes : row_of(&all[i], TARE_ROW_DEVICE);

		if (all[i].op != op)
			continue;
		if (count && v != last && runs++ < 20)
			printf("%llux%llu,", (unsigned long long)last,
			       (unsigned long long)count);
		if (v != last)
			count = 0;
		last = v;
		count++;
	}
	if (count)
		printf("%llux%llu", (unsigned long long)last,
		       (unsigned long long)count);
	else
		printf("-");
}

#define X_MODE(constant, name, help) name,
static const char *const modes[] = { TARE_COMPLETIONS(X_MODE) };

static void print_summary(int mismatch)
{
	size_t ops[256] = {}, paths[256] = {}, by_mode[TARE_NR_COMPLETIONS] = {};
	size_t disorder = 0, early = 0, fua = 0, errors = 0, moved = 0, badpath = 0;

	for (size_t i = 0; i < n_all; i++) {
		const struct tare_record *r = &all[i];
		int elsewhere = r->fire_cpu != r->cmpl_cpu;

		ops[r->op]++;
		paths[r->path]++;
		by_mode[r->completion % TARE_NR_COMPLETIONS]++;
		disorder += !in_order(r);
		early += r->fire < r->due;
		fua += !!(r->flags & TARE_REC_FUA);
		errors += !!r->error;
		moved += elsewhere;
		badpath += elsewhere != (r->path == TARE_PATH_IPI) ||
			   r->path >= TARE_NR_PATHS || r->op >= TARE_NR_OPS;
	}
	printf("n=%zu lost=%llu disorder=%zu early=%zu mismatch=%d fua=%zu errors=%zu moved=%zu badpath=%zu",
	       n_all, (unsigned long long)lost, disorder, early, mismatch, fua,
	       errors, moved, badpath);
	for (int i = 0; i < TARE_NR_OPS; i++)
		printf(" %s=%zu", op_names[i], ops[i]);
	for (int i = 0; i < TARE_NR_PATHS; i++)
		printf(" path_%s=%zu", path_names[i], paths[i]);
	for (int i = 0; i < TARE_NR_COMPLETIONS; i++)
		printf(" mode_%s=%zu", modes[i], by_mode[i]);
	for (int i = 0; i < TARE_NR_OPS; i++) {
		print_runs(i, "device", 0);
		print_runs(i, "bytes", 1);
	}
	printf("\n");
}

static void dump(void)
{
	for (size_t i = 0; i < n_all; i++) {
		const struct tare_record *r = &all[i];

		printf("record op=%s sector=%llu bytes=%u error=%d cpus=%u,%u,%u issue=%llu start=%llu due=%llu ready=%llu fire=%llu done=%llu cmpl=%llu\n",
		       op_names[r->op], (unsigned long long)r->sector, r->bytes,
		       r->error, r->issue_cpu, r->fire_cpu, r->cmpl_cpu,
		       (unsigned long long)r->issue, (unsigned long long)r->start,
		       (unsigned long long)r->due, (unsigned long long)r->ready,
		       (unsigned long long)r->fire, (unsigned long long)r->done,
		       (unsigned long long)r->cmpl);
	}
}

static int run(char **argv)
{
	int status;
	pid_t pid = fork();

	if (!pid) {
		execvp(argv[0], argv);
		die("%s", argv[0]);
	}
	if (pid < 0 || waitpid(pid, &status, 0) != pid)
		die("%s", argv[0]);
	return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

int main(int argc, char **argv)
{
	struct tare_record_req req = { .entries = 8192 };
	struct tare_ring *ring[1024] = {};
	int fd, opt, dumping = 0, code, mismatch;

	while ((opt = getopt(argc, argv, "+dn:")) != -1) {
		if (opt == 'd')
			dumping = 1;
		else if (opt == 'n')
			req.entries = strtoull(optarg, NULL, 10);
		else
			return 2;
	}
	if (argc - optind < 2)
		return 2;
	fd = control_open();
	name_set(req.name, argv[optind]);
	if (ioctl(fd, TARE_IOC_RECORD, &req))
		die("TARE_IOC_RECORD");
	for (unsigned int i = 0; i < req.nr_rings && i < ARRAY_SIZE(ring); i++) {
		ring[i] = mmap(NULL, req.stride, PROT_READ | PROT_WRITE,
			       MAP_SHARED, fd, i * req.stride);
		if (ring[i] == MAP_FAILED && i == 0)
			die("mmap");
		if (ring[i] == MAP_FAILED)
			ring[i] = NULL;
	}
	errno = stats_reset(fd, argv[optind]);
	if (errno)
		die("TARE_IOC_RESET");
	code = run(argv + optind + 1);
	for (size_t i = 0; i < ARRAY_SIZE(ring); i++)
		if (ring[i])
			take(ring[i]);
	mismatch = compare(fd, argv[optind]);
	qsort(all, n_all, sizeof(*all), by_issue);
	print_summary(mismatch);
	if (dumping)
		dump();
	return code;
}

// SPDX-License-Identifier: GPL-2.0-only
/*
 * /dev/tare, call by call.
 *
 * control info             tsc_khz=… and the rest of TARE_IOC_INFO
 * control counters NAME    NAME=VALUE words
 * control count NAME OP    requests of an operation, or the errno's name
 * control reset NAME
 * control whole NAME       what must hold of the statistics of a quiet device
 * control bad NAME         calls that must fail; NAME: powered, no write_cache
 * control rings NAME       recorders, rings and their mappings; switches it off
 * control scribble NAME MS garbage in the rings' headers while requests come
 * control storm NAME MS    reads and resets at once while requests come
 */
#include "prog.h"

#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>

static int fd;
static const char *name;

static uint64_t now_ms(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * 1000ULL + t.tv_nsec / 1000000;
}

static int info(void)
{
	struct tare_info i = control_info(fd);

	printf("abi=%u tsc_khz=%u tsc_flags=%u trusted=%d stamp_cost=%u stamp_cost_median=%u nr_cpu_ids=%u\n",
	       i.abi, i.tsc_khz, i.tsc_flags, !!(i.tsc_flags & TARE_TSC_TRUSTED),
	       i.stamp_cost, i.stamp_cost_median, i.nr_cpu_ids);
	return 0;
}

static struct tare_counters counters_get(void)
{
	struct tare_counters_req req;

	memset(&req, 0, sizeof(req));
	name_set(req.name, name);
	if (ioctl(fd, TARE_IOC_COUNTERS, &req))
		die("TARE_IOC_COUNTERS");
	return req.counters;
}

static int counters(void)
{
	struct tare_counters c = counters_get();

	for (int i = 0; i < TARE_NR_PATHS; i++)
		printf("path_%s=%llu ", path_names[i], (unsigned long long)c.path[i]);
	printf("early_fires=%llu rearms=%llu requeues=%llu errors=%llu timeouts=%llu unsettled=%llu store_pages=%llu\n",
	       (unsigned long long)c.early_fires, (unsigned long long)c.rearms,
	       (unsigned long long)c.requeues, (unsigned long long)c.errors,
	       (unsigned long long)c.timeouts,
	       (unsigned long long)c.unsettled,
	       (unsigned long long)c.store_pages);
	return 0;
}

static int count(const char *op)
{
	static struct tare_op_stats s;
	int err = stats_get(fd, name, number_of(op, op_names, TARE_NR_OPS), -1, &s);

	if (err)
		printf("%s\n", strerrorname_np(err));
	else
		printf("%llu\n", (unsigned long long)s.count);
	return 0;
}

/* What is wrong with one row, or NULL. */
static const char *row_problem(const struct tare_row_stats *r, uint64_t count)
{
	uint64_t sum = 0, low = 0, high = 0, first = ~0ULL, last = 0;

	for (int i = 0; i < TARE_HIST_BUCKETS; i++) {
		uint64_t n = r->bucket[i];

		if (n > count)
			return "a bucket above the count";
		if (!n)
			continue;
		sum += n;
		low += n * tare_hist_low(i);
		high += n * (i == TARE_HIST_OVERFLOW ? r->max :
			     tare_hist_low(i + 1) - 1);
		if (first == ~0ULL)
			first = i;
		last = i;
	}
	if (sum != count)
		return "a histogram that does not sum to the count";
	if (!count)
		return r->sum || r->max || r->min != ~0ULL ?
		       "figures without a request" : NULL;
	if (r->min > r->max)
		return "min above max";
	if (r->sum < count * r->min || r->sum > count * r->max)
		return "a sum that min and max do not allow";
	if (r->sum < low || r->sum > high)
		return "a sum that the histogram does not allow";
	if (r->min < tare_hist_low(first) || r->max < tare_hist_low(last))
		return "min or max outside of their buckets";
	if (first < TARE_HIST_OVERFLOW && r->min >= tare_hist_low(first + 1))
		return "min above its bucket";
	if (last < TARE_HIST_OVERFLOW && r->max >= tare_hist_low(last + 1))
		return "max above its bucket";
	return NULL;
}

static const char *stats_problem(const struct tare_op_stats *s)
{
	for (int row = 0; row < TARE_NR_ROWS; row++) {
		const char *problem = row_problem(&s->row[row], s->count);

		if (problem)
			return problem;
	}
	return NULL;
}

/* All CPUs' figures added up are those of all. */
static int adds_up(int op, const struct tare_op_stats *all, int nr_cpus)
{
	static struct tare_op_stats sum, one;

	memset(&sum, 0, sizeof(sum));
	for (int row = 0; row < TARE_NR_ROWS; row++)
		sum.row[row].min = ~0ULL;
	for (int cpu = 0; cpu < nr_cpus; cpu++) {
		if (stats_get(fd, name, op, cpu, &one))
			continue;
		if (stats_problem(&one))
			return 0;
		sum.count += one.count;
		sum.bytes += one.bytes;
		for (int row = 0; row < TARE_NR_ROWS; row++) {
			struct tare_row_stats *to = &sum.row[row];
			struct tare_row_stats *from = &one.row[row];

			to->sum += from->sum;
			to->negative += from->negative;
			to->min = from->min < to->min ? from->min : to->min;
			to->max = from->max > to->max ? from->max : to->max;
			for (int i = 0; i < TARE_HIST_BUCKETS; i++)
				to->bucket[i] += from->bucket[i];
		}
	}
	for (int row = 0; row < TARE_NR_ROWS; row++)
		sum.row[row].huge = all->row[row].huge;
	return !memcmp(&sum, all, sizeof(sum));
}

static int whole(void)
{
	static struct tare_op_stats s;
	struct tare_info i = control_info(fd);
	uint64_t total = 0, paths = 0;
	struct tare_counters c;

	for (int op = 0; op < TARE_NR_OPS; op++) {
		const char *problem;

		if (stats_get(fd, name, op, -1, &s))
			continue;
		total += s.count;
		problem = stats_problem(&s);
		result(!problem, "%s: histograms sum to the count, sum, min and max fit: %s",
		       op_names[op], problem ? problem : "yes");
		result(adds_up(op, &s, i.nr_cpu_ids),
		       "%s: the CPUs' statistics add up to the total",
		       op_names[op]);
	}
	c = counters_get();
	for (int p = 0; p < TARE_NR_PATHS; p++)
		paths += c.path[p];
	result(paths == total, "the paths add up to the requests: %llu, %llu",
	       (unsigned long long)paths, (unsigned long long)total);
	return 0;
}

static void bad_stats(void)
{
	static struct tare_op_stats s;
	struct tare_stats_req req = {
		.cpu = -1, .stats = (uintptr_t)&s, .size = sizeof(s),
	};

	result_errno(stats_get(fd, "nosuch", TARE_READ, -1, &s), ENODEV,
		     "statistics of no device");
	result_errno(stats_get(fd, "", TARE_READ, -1, &s), ENODEV,
		     "statistics of a device without a name");
	result_errno(stats_get(fd, name, TARE_NR_OPS, -1, &s), EINVAL,
		     "statistics of operation 5");
	result_errno(stats_get(fd, name, -1, -1, &s), EINVAL,
		     "statistics of operation -1");
	result_errno(stats_get(fd, name, TARE_READ, -2, &s), EINVAL,
		     "statistics of CPU -2");
	result_errno(stats_get(fd, name, TARE_READ, 1 << 20, &s), EINVAL,
		     "statistics of CPU 1048576");
	result_errno(stats_get(fd, name, TARE_READ, control_info(fd).nr_cpu_ids, &s),
		     EINVAL, "statistics of the first CPU that is not there");
	result_errno(stats_get(fd, name, TARE_FLUSH, -1, &s), EOPNOTSUPP,
		     "statistics of flush without write_cache");
	result_errno(stats_get(fd, name, TARE_READ, -1, NULL), EFAULT,
		     "statistics to NULL");
	result_errno(stats_get(fd, name, TARE_READ, -1, (void *)0xffff888000000000),
		     EFAULT, "statistics to a kernel address");
	memset(req.name, 'x', sizeof(req.name));
	result_errno(outcome(ioctl(fd, TARE_IOC_STATS, &req)), ENODEV,
		     "statistics of a name without an end");
	name_set(req.name, name);
	req.size--;
	result_errno(outcome(ioctl(fd, TARE_IOC_STATS, &req)), EINVAL,
		     "statistics of another size");
	result_errno(stats_get(fd, name, TARE_READ, -1, &s), 0,
		     "statistics as they should be");
}

static void bad_record(void)
{
	static const struct {
		const char *what;
		uint64_t entries;
		uint32_t reserved;
	} tries[] = {
		{ "no entries", 0, 0 }, { "32 entries", 32, 0 },
		{ "63 entries", 63, 0 }, { "100 entries", 100, 0 },
		{ "8 million entries", 8 << 20, 0 },
		{ "2^63 entries", 1ULL << 63, 0 }, { "2^57 entries", 1ULL << 57, 0 },
		{ "reserved=1", 64, 1 },
	};
	struct tare_record_req req;

	for (size_t i = 0; i < ARRAY_SIZE(tries); i++) {
		memset(&req, 0, sizeof(req));
		name_set(req.name, name);
		req.entries = tries[i].entries;
		req.reserved = tries[i].reserved;
		result_errno(outcome(ioctl(fd, TARE_IOC_RECORD, &req)), EINVAL,
			     tries[i].what);
	}
	memset(req.name, 'x', sizeof(req.name));
	req.entries = 64;
	req.reserved = 0;
	result_errno(outcome(ioctl(fd, TARE_IOC_RECORD, &req)), ENODEV,
		     "recording a name without an end");
	result(mmap(NULL, 4096, PROT_READ, MAP_SHARED, fd, 0) == MAP_FAILED &&
	       errno == ENODEV, "a mapping without a recorder: %s",
	       strerror(errno));
}

static int as_nobody(void)
{
	pid_t pid = fork();
	int status;

	if (!pid)
		_exit(setgid(65534) || setuid(65534) ? 0 :
		      outcome(open(TARE_DEV_PATH, O_RDONLY)));
	return waitpid(pid, &status, 0) == pid && WIFEXITED(status) ?
	       WEXITSTATUS(status) : 0;
}

static int bad(void)
{
	static const unsigned long calls[] = {
		TARE_IOC_INFO, TARE_IOC_COUNTERS, TARE_IOC_STATS, TARE_IOC_RESET,
		TARE_IOC_RECORD,
	};
	struct tare_counters_req counters_req;
	char byte;

	for (size_t i = 0; i < ARRAY_SIZE(calls); i++) {
		char text[64];

		snprintf(text, sizeof(text), "call %#lx with NULL",
			 calls[i] & 0xff);
		result_errno(outcome(ioctl(fd, calls[i], NULL)), EFAULT, text);
	}
	result_errno(outcome(ioctl(fd, _IO('t', 0xb0), NULL)), ENOTTY,
		     "a call of the wrong size");
	result_errno(outcome(ioctl(fd, _IO('t', 0xbf), NULL)), ENOTTY,
		     "an unknown call");
	result_errno(outcome(read(fd, &byte, 1)), EINVAL, "read");
	result_errno(outcome(write(fd, "x", 1)), EINVAL, "write");
	result_errno(stats_reset(fd, "nosuch"), ENODEV, "reset of no device");
	memset(&counters_req, 'x', sizeof(counters_req));
	result_errno(outcome(ioctl(fd, TARE_IOC_COUNTERS, &counters_req)),
		     ENODEV, "counters of a name without an end");
	bad_stats();
	bad_record();
	result_errno(as_nobody(), EACCES, "open by another user");
	return 0;
}

static int record_on(int on, uint64_t entries, struct tare_record_req *req)
{
	memset(req, 0, sizeof(*req));
	name_set(req->name, name);
	req->entries = entries;
	return outcome(ioctl(on, TARE_IOC_RECORD, req));
}

/* One request of its own, so that it is known what there is to record. */
static void reads(int n)
{
	char path[64];
	void *buf;
	int disk;

	snprintf(path, sizeof(path), "/dev/%s", name);
	disk = open(path, O_RDONLY | O_DIRECT);
	if (disk < 0 || posix_memalign(&buf, 4096, 4096))
		die("%s", path);
	for (int i = 0; i < n; i++)
		if (pread(disk, buf, 4096, i * 4096) != 4096)
			die("%s", path);
	close(disk);
	free(buf);
}

/* Sums over all rings. */
static uint64_t rings_sum(int on, const struct tare_record_req *req, int lost)
{
	uint64_t sum = 0;

	for (uint32_t i = 0; i < req->nr_rings; i++) {
		struct tare_ring *ring = mmap(NULL, req->stride, PROT_READ,
					      MAP_SHARED, on, i * req->stride);

		if (ring == MAP_FAILED)
			continue;
		sum += lost ? ring->lost : ring->head;
		munmap(ring, req->stride);
	}
	return sum;
}

static int maps(uint64_t length, uint64_t offset)
{
	void *at = mmap(NULL, length, PROT_READ | PROT_WRITE, MAP_SHARED, fd,
			offset);

	if (at == MAP_FAILED)
		return errno;
	munmap(at, length);
	return 0;
}

static void map_bounds(const struct tare_record_req *req)
{
	uint64_t stride = req->stride;

	result_errno(maps(stride, 0), 0, "a mapping of a ring");
	result_errno(maps(4096, 0), 0, "a mapping of its header");
	result_errno(maps(stride + 4096, 0), EINVAL, "one page more than a ring");
	result_errno(maps(2 * stride, 0), EINVAL, "two rings");
	result_errno(maps(4096, 4096), EINVAL, "from a ring's second page");
	result_errno(maps(stride, stride * req->nr_rings), EINVAL,
		     "the ring of a CPU that is not there");
	result_errno(maps(stride, stride << 32), EINVAL, "a far offset");
	result_errno(maps(4096, 0x7ffffffffffff000ULL), EINVAL,
		     "the last offset");
}

static void power(const char *to, int want, const char *text)
{
	char path[128];
	int file;

	snprintf(path, sizeof(path), "/sys/kernel/config/tare/%s/power", name);
	file = open(path, O_WRONLY);
	if (file < 0)
		die("%s", path);
	result_errno(outcome(write(file, to, 1)), want, text);
	close(file);
}

static int rings(void)
{
	struct tare_record_req req, other_req;
	int other = control_open(), third;
	volatile struct tare_ring *ring;
	uint64_t head;

	result_errno(record_on(fd, 64, &req), 0, "a recorder of 64 entries");
	result(req.stride == 4096 + 64 * sizeof(struct tare_record) &&
	       req.nr_rings == control_info(fd).nr_cpu_ids,
	       "stride and number of rings");
	result_errno(record_on(fd, 64, &other_req), EBUSY,
		     "a second recorder in the same file");
	result_errno(record_on(other, 64, &other_req), EBUSY,
		     "a second recorder of the same device");
	map_bounds(&req);
	reads(200);
	head = rings_sum(fd, &req, 0);
	result(head >= 64 && head < 200 && head + rings_sum(fd, &req, 1) == 200,
	       "full rings count what is lost: %llu taken, %llu lost of 200",
	       (unsigned long long)head,
	       (unsigned long long)rings_sum(fd, &req, 1));
	ring = mmap(NULL, req.stride, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (ring == MAP_FAILED)
		die("mmap");
	head = ring->head;
	close(fd);
	result_errno(record_on(other, 64, &other_req), EBUSY,
		     "another recorder while a mapping holds the first");
	munmap((void *)ring, req.stride);
	result_errno(record_on(other, 128, &other_req), 0,
		     "another recorder after close and munmap");
	reads(20);
	result(rings_sum(other, &other_req, 0) == 20, "it takes 20 of 20");
	ring = mmap(NULL, other_req.stride, PROT_READ | PROT_WRITE, MAP_SHARED,
		    other, 0);
	if (ring == MAP_FAILED)
		die("mmap");
	power("0", 0, "power-off while recording");
	result(ring->entries == 128, "the ring can still be read");
	power("1", 0, "power on again");
	reads(20);
	result(rings_sum(other, &other_req, 0) == 20, "the old recorder gets nothing");
	third = control_open();
	result_errno(record_on(third, 64, &req), 0, "a new recorder beside it");
	result_errno(record_on(other, 64, &other_req), EBUSY,
		     "the old file again");
	munmap((void *)ring, other_req.stride);
	close(other);
	reads(20);
	result(rings_sum(third, &req, 0) == 20, "closing the old one leaves the new one");
	close(third);
	fd = control_open();
	power("0", 0, "power off");
	result_errno(record_on(fd, 64, &req), ENODEV, "recording without power");
	result_errno(stats_reset(fd, name), ENODEV, "reset without power");
	return 0;
}

static volatile int stop;

static void *read_on(void *arg)
{
	(void)arg;
	while (!stop)
		reads(50);
	return NULL;
}

static int scribble(long ms)
{
	struct tare_record_req req;
	uint64_t end = now_ms() + ms, state = 88172645463325252ULL;
	struct tare_ring *ring[64];
	pthread_t thread;
	uint32_t n = 0;

	if (record_on(fd, 64, &req))
		die("TARE_IOC_RECORD");
	for (uint32_t i = 0; i < req.nr_rings && i < 64; i++) {
		ring[n] = mmap(NULL, req.stride, PROT_READ | PROT_WRITE,
			       MAP_SHARED, fd, i * req.stride);
		n += ring[n] != MAP_FAILED;
	}
	pthread_create(&thread, NULL, read_on, NULL);
	while (now_ms() < end) {
		for (uint32_t i = 0; i < n; i++) {
			uint64_t *words = (void *)ring[i];

			for (int w = 0; w < 9; w++)
				__atomic_store_n(&words[w], next_random(&state),
						 __ATOMIC_RELAXED);
		}
		usleep(200);
	}
	stop = 1;
	pthread_join(thread, NULL);
	result(n > 0, "requests go on with garbage in %u rings' headers", n);
	return 0;
}

static long resets;

static void *reset_on(void *arg)
{
	int own = control_open();

	(void)arg;
	while (!stop) {
		int err = stats_reset(own, name);

		if (err) {
			result(0, "reset: %s", strerror(err));
			break;
		}
		resets++;
		usleep(3000);
	}
	close(own);
	return NULL;
}

static void *stats_on(void *arg)
{
	struct tare_op_stats *s = malloc(sizeof(*s));
	int own = control_open();
	long n = 0;

	(void)arg;
	while (!stop) {
		int cpu = n % 3 - 1;
		int op = n & 1 ? TARE_READ : TARE_WRITE;
		int err = stats_get(own, name, op, cpu, s);
		const char *problem = err == EINVAL && cpu == 1 ? NULL :
				      err ? strerror(err) : stats_problem(s);

		if (problem) {
			result(0, "a read during load, CPU %d, %s: %s", cpu,
			       op_names[op], problem);
			break;
		}
		n++;
	}
	close(own);
	free(s);
	return (void *)n;
}

static int storm(long ms)
{
	pthread_t readers[2], resetter;
	void *n[2];

	pthread_create(&resetter, NULL, reset_on, NULL);
	for (int i = 0; i < 2; i++)
		pthread_create(&readers[i], NULL, stats_on, NULL);
	usleep(ms * 1000);
	stop = 1;
	for (int i = 0; i < 2; i++)
		pthread_join(readers[i], &n[i]);
	pthread_join(resetter, NULL);
	result((long)n[0] > 10 && (long)n[1] > 10 && resets > 10,
	       "%ld and %ld whole reads beside %ld resets", (long)n[0],
	       (long)n[1], resets);
	return 0;
}

int main(int argc, char **argv)
{
	const char *what = argc > 1 ? argv[1] : "";
	const char *arg = argc > 3 ? argv[3] : "";

	name = argc > 2 ? argv[2] : "";
	fd = control_open();
	if (!strcmp(what, "info"))
		return info();
	if (!strcmp(what, "counters"))
		return counters();
	if (!strcmp(what, "count"))
		return count(arg);
	if (!strcmp(what, "reset"))
		return stats_reset(fd, name);
	if (!strcmp(what, "whole"))
		return whole();
	if (!strcmp(what, "bad"))
		return bad();
	if (!strcmp(what, "rings"))
		return rings();
	if (!strcmp(what, "scribble"))
		return scribble(atol(arg));
	if (!strcmp(what, "storm"))
		return storm(atol(arg));
	return 2;
}

/* SPDX-License-Identifier: GPL-2.0-only WITH Linux-syscall-note */
/*
 * The one table of device attributes. Module parameters, configfs, the
 * `features` file, `tare set`, completion and the reference page are all made
 * from it, so that none can miss what another has.
 *
 * X(name, type, default, min, max, class, help)
 *
 * type    NUM    decimal number, digits alone: no sign, blank or leading zero
 *         INT    the same with an optional leading minus
 *         BOOL   0 or 1
 *         ENUM   one of the names that TARE_ENUMS has for the attribute; its
 *                minimum is 0, its maximum the last of them
 *         RANGES sectors, see ranges.h; by default none, up to the maximum
 * class   LIVE     may change at any time, the next request obeys
 *         QUIESCE  may change at any time; the queue is drained first
 *         OFF      only while power is 0 (-EBUSY otherwise)
 *         RO       cannot be written
 *
 * The unit is in the name. Limits that depend on the machine (the number of
 * CPUs, the NUMA nodes) or on another attribute are checked where they apply.
 */
#ifndef UAPI_TARE_ATTRS_H
#define UAPI_TARE_ATTRS_H

/* The last sector, of 512 bytes, that a device can have. */
#define TARE_SECTOR_MAX		2199023255551

#define TARE_ATTRS(X)							\
	X(size_mb, NUM, 1024, 1, 1073741824, OFF,			\
	  "capacity in MiB (memory_backed: at most 16777216)")		\
	X(block_size, NUM, 512, 512, 4096, OFF,				\
	  "logical block size in bytes, a power of two")		\
	X(max_sectors_kb, NUM, 1280, 4, 32768, OFF,			\
	  "largest request in KiB; a larger I/O is split")		\
	X(max_segments, NUM, 128, 1, 65535, OFF,			\
	  "largest number of memory segments of a request")		\
	X(queue_depth, NUM, 64, 1, 10240, OFF,				\
	  "requests that a hardware queue holds")			\
	X(submit_queues, NUM, 1, 1, 4096, OFF,				\
	  "hardware queues, at most one for each possible CPU")		\
	X(poll_queues, NUM, 0, 0, 4096, OFF,				\
	  "hardware queues more, for polled I/O (io_uring IOPOLL)")	\
	X(use_per_node_hctx, BOOL, 0, 0, 1, OFF,			\
	  "1: a hardware queue for each NUMA node; submit_queues stays 1") \
	X(shared_tag_bitmap, BOOL, 0, 0, 1, OFF,			\
	  "1: all hardware queues together hold queue_depth requests")	\
	X(no_sched, BOOL, 0, 0, 1, OFF,					\
	  "1: no I/O scheduler can be chosen (Linux before 6.14); 0: none is the default") \
	X(blocking, BOOL, 0, 0, 1, OFF,					\
	  "1: tell the block layer that the driver may sleep in queue_rq") \
	X(virt_boundary, BOOL, 0, 0, 1, OFF,				\
	  "1: a request's segments have no gap but at page boundaries")	\
	X(home_node, INT, -1, -1, 1023, OFF,				\
	  "NUMA node of the device's memory; -1: no preference")	\
	X(rotational, BOOL, 0, 0, 1, OFF,				\
	  "1: tell the kernel that it is a rotating disk")		\
	X(memory_backed, BOOL, 0, 0, 1, OFF,				\
	  "1: keep what is written; 0: reads leave the buffer as it is") \
	X(prealloc, BOOL, 0, 0, 1, OFF,					\
	  "1: allocate the whole store at power-on; needs memory_backed") \
	X(discard, BOOL, 0, 0, 1, OFF,					\
	  "1: offer discard and write-zeroes")				\
	X(write_cache, BOOL, 0, 0, 1, OFF,				\
	  "1: a volatile write cache, so that flushes reach the device") \
	X(fua, BOOL, 1, 0, 1, OFF,					\
	  "1: forced unit access with write_cache; 0: the kernel flushes") \
	X(completion, ENUM, TARE_TIMER, 0, TARE_NR_COMPLETIONS - 1, QUIESCE, \
	  "how a request finishes: inline, complete, timer or spin")	\
	X(timer_slack_spin_ns, NUM, 0, 0, 100000, LIVE,			\
	  "timer: set it so much early and spin the rest, in ns")	\
	X(completion_cpu, INT, -1, -1, 4095, OFF,			\
	  "spin: the CPU of the completion thread; -1: the last one online") \
	X(spin_idle_us, NUM, 1000, 0, 1000000, LIVE,			\
	  "spin: go on spinning so long after the last request, in us")	\
	X(spin_shared, BOOL, 0, 0, 1, OFF,				\
	  "1: spin even where no other CPU is left for the submitters")	\
	X(read_ns, NUM, 10000, 0, 10000000000, LIVE,			\
	  "service time of a read in ns (inline, complete: at most 1000000)") \
	X(write_ns, NUM, 10000, 0, 10000000000, LIVE,			\
	  "service time of a write in ns (inline, complete: at most 1000000)") \
	X(flush_ns, NUM, 10000, 0, 10000000000, LIVE,			\
	  "service time of a flush in ns; a FUA write takes write_ns + flush_ns") \
	X(discard_ns, NUM, 10000, 0, 10000000000, LIVE,			\
	  "service time of a discard or write-zeroes in ns")		\
	X(read_ns_per_kb, NUM, 0, 0, 1000000, LIVE,			\
	  "ns that each KiB of a read adds, its bandwidth: 1000 is 1.024 GB/s") \
	X(write_ns_per_kb, NUM, 0, 0, 1000000, LIVE,			\
	  "ns that each KiB of a write adds")				\
	X(mbps, NUM, 0, 0, 65536, LIVE,					\
	  "MiB a second that all reads and writes share; 0: no limit (timer, spin)") \
	X(distribution, ENUM, TARE_FIXED, 0, TARE_NR_DISTRIBUTIONS - 1, LIVE, \
	  "how the times above spread, but not those of a KiB") \
	X(spread_pct, NUM, 10, 0, 200, LIVE,				\
	  "percent; what of, see distribution (uniform, normal: at most 100)") \
	X(pareto_alpha_pct, NUM, 250, 150, 10000, LIVE,			\
	  "shape of pareto times 100; the smaller, the longer its tail")	\
	X(tail_ppm, NUM, 0, 0, 1000000, LIVE,				\
	  "requests of a million that take tail_ns more")		\
	X(tail_ns, NUM, 0, 0, 10000000000, LIVE,			\
	  "ns that a request of the tail takes more")			\
	X(seed, NUM, 1, 0, 4294967295, QUIESCE,				\
	  "start of the random numbers; power-on and a write begin again") \
	X(channels, NUM, 0, 0, 256, QUIESCE,				\
	  "requests served at a time; 0: all (inline, complete: only 0)") \
	X(seek_ns, NUM, 0, 0, 1000000000, LIVE,				\
	  "ns of the arm's way over the whole disk; 0: no arm") \
	X(rpm, NUM, 0, 0, 30000, LIVE,					\
	  "revolutions a minute: a sector comes by once in each; 0: no wait") \
	X(badblocks, RANGES, 0, 0, TARE_SECTOR_MAX, LIVE,		\
	  "bad sectors of 512 bytes: what touches one fails with error_status") \
	X(badblocks_once, BOOL, 0, 0, 1, LIVE,				\
	  "1: a bad range is good again after it made one request fail") \
	X(badblocks_partial_io, BOOL, 0, 0, 1, LIVE,			\
	  "1: the blocks in front of the bad one are moved; 0: none is")	\
	X(read_error_ppm, NUM, 0, 0, 1000000, LIVE,			\
	  "reads that fail with error_status, of a million")		\
	X(write_error_ppm, NUM, 0, 0, 1000000, LIVE,			\
	  "writes that fail with error_status, of a million")		\
	X(flush_error_ppm, NUM, 0, 0, 1000000, LIVE,			\
	  "flushes that fail with error_status, of a million")		\
	X(discard_error_ppm, NUM, 0, 0, 1000000, LIVE,			\
	  "discards and write-zeroes that fail with error_status, of a million") \
	X(error_status, ENUM, TARE_STS_IOERR, 0, TARE_NR_ERROR_STATUSES - 1, \
	  LIVE, "what injected errors and bad sectors are ended with")	\
	X(requeue_ppm, NUM, 0, 0, 1000000, LIVE,			\
	  "requests given back to the block layer once, of a million")	\
	X(timeout_ppm, NUM, 0, 0, 1000000, LIVE,			\
	  "requests that do not end before timeout_ms is over, of a million") \
	X(fault_first_sector, NUM, 0, 0, TARE_SECTOR_MAX, LIVE,		\
	  "first sector where the faults by rate (the ..._ppm) happen")	\
	X(fault_last_sector, NUM, TARE_SECTOR_MAX, 0, TARE_SECTOR_MAX, LIVE, \
	  "last sector where they happen; flushes have no sector")	\
	X(fault_seed, NUM, 1, 0, 4294967295, LIVE,			\
	  "which requests they hit; writing it, also the same again, starts over") \
	X(timeout_ms, NUM, 30000, 10, 3600000, OFF,			\
	  "the block layer's time-out of a request")			\
	X(store_pages, NUM, 0, 0, 4294967295, RO,			\
	  "4 KiB pages that the store holds now")

/* X(constant, name, help) */
#define TARE_COMPLETIONS(X)						\
	X(TARE_INLINE, "inline",					\
	  "in queue_rq; waits there for the service time to pass")	\
	X(TARE_COMPLETE, "complete",					\
	  "as inline, then through blk_mq_complete_request")		\
	X(TARE_TIMER, "timer",						\
	  "from a timer interrupt, through blk_mq_complete_request")	\
	X(TARE_SPIN, "spin",						\
	  "from a thread that spins, through blk_mq_complete_request")

/*
 * X(constant, name, help): all keep the mean, which is the attribute's value,
 * pareto within 0.2 %. normal and uniform keep the median too.
 */
#define TARE_DISTRIBUTIONS(X)						\
	X(TARE_FIXED, "fixed",						\
	  "always the same time")					\
	X(TARE_UNIFORM, "uniform",					\
	  "anywhere within spread_pct of the mean alike")		\
	X(TARE_NORMAL, "normal",					\
	  "sigma is spread_pct of the mean, cut off at 0 and twice the mean") \
	X(TARE_LOGNORMAL, "lognormal",					\
	  "the logarithm is normal, its sigma spread_pct / 100") \
	X(TARE_PARETO, "pareto",					\
	  "a power law, its exponent pareto_alpha_pct / 100")

/*
 * The block status of an injected error, and the errno that comes of it.
 * X(constant, name, help)
 */
#define TARE_ERROR_STATUSES(X)						\
	X(TARE_STS_IOERR, "ioerr", "BLK_STS_IOERR, EIO")		\
	X(TARE_STS_MEDIUM, "medium", "BLK_STS_MEDIUM, ENODATA")		\
	X(TARE_STS_NOSPC, "nospc", "BLK_STS_NOSPC, ENOSPC")		\
	X(TARE_STS_TIMEOUT, "timeout",					\
	  "BLK_STS_TIMEOUT, ETIMEDOUT, at once; timeout_ppm takes its time") \
	X(TARE_STS_TRANSPORT, "transport", "BLK_STS_TRANSPORT, ENOLINK") \
	X(TARE_STS_TARGET, "target", "BLK_STS_TARGET, EREMOTEIO")	\
	X(TARE_STS_RESERVATION, "reservation",				\
	  "BLK_STS_RESV_CONFLICT, EBADE")				\
	X(TARE_STS_PROTECTION, "protection", "BLK_STS_PROTECTION, EILSEQ") \
	X(TARE_STS_RESOURCE, "resource", "BLK_STS_RESOURCE, ENOMEM")	\
	X(TARE_STS_NOTSUPP, "notsupp",					\
	  "BLK_STS_NOTSUPP, EOPNOTSUPP; to a flush or discard the caller gets none") \
	X(TARE_STS_OFFLINE, "offline", "BLK_STS_OFFLINE, ENODEV")

/* X(attribute, names): every attribute of type ENUM */
#define TARE_ENUMS(X)							\
	X(completion, TARE_COMPLETIONS)					\
	X(distribution, TARE_DISTRIBUTIONS)				\
	X(error_status, TARE_ERROR_STATUSES)

#define TARE_X_CONSTANT(constant, name, help) constant,
enum tare_error_status {
	TARE_ERROR_STATUSES(TARE_X_CONSTANT)
	TARE_NR_ERROR_STATUSES
};

enum tare_completion {
	TARE_COMPLETIONS(TARE_X_CONSTANT)
	TARE_NR_COMPLETIONS
};

enum tare_distribution {
	TARE_DISTRIBUTIONS(TARE_X_CONSTANT)
	TARE_NR_DISTRIBUTIONS
};

/* inline and complete wait with the CPU in hand: longer would hurt the machine. */
#define TARE_BUSY_WAIT_MAX_NS	1000000ULL
/* No distribution makes a request take longer. */
#define TARE_SERVICE_MAX_NS	60000000000ULL
/* Of distributions that are as wide below as above. */
#define TARE_SPREAD_MAX_PCT	100
#define TARE_CHANNELS_MAX	256
/* The store's table of pages is one array; this bounds it to 64 MiB. */
#define TARE_STORE_MAX_MB	16777216ULL

#define TARE_NAME_MAX		31	/* bytes of a device name, without the NUL */

#endif

// SPDX-License-Identifier: GPL-2.0-only
/*
 * The completion threads of completion=spin.
 */
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/cpumask.h>
#include <linux/module.h>

#include "finish.h"
#include "spin.h"

/* What has come in goes into the heap; every request of the device fits. */
static bool take_incoming(struct tare_spinner *s)
{
	struct llist_node *list = llist_del_all(&s->incoming);
	struct tare_cmd *cmd, *next;

	if (!list)
		return false;
	list = llist_reverse_order(list);
	llist_for_each_entry_safe(cmd, next, list, node)
		WARN_ON_ONCE(!tare_due_add(&s->heap, cmd->due, cmd));
	return true;
}

/*
 * As an interrupt would: the block layer's softirq runs on the way out, not in
 * a thread that would have to be woken.
 */
static void finish_due(struct tare_cmd *cmd, u64 now)
{
	cmd->fire = now;
	cmd->fire_cpu = raw_smp_processor_id();
	local_bh_disable();
	cmd->done = tare_stamp();
	blk_mq_complete_request(blk_mq_rq_from_pdu(cmd));
	local_bh_enable();
}

/* Says that it sleeps and looks once more, see tare_spin_add(). */
static void spin_sleep(struct tare_spinner *s)
{
	set_current_state(TASK_INTERRUPTIBLE);
	WRITE_ONCE(s->asleep, true);
	smp_mb();	/* asleep before incoming, tare_spin_add() the other way */
	if (llist_empty(&s->incoming) && !kthread_should_stop())
		schedule();
	WRITE_ONCE(s->asleep, false);
	__set_current_state(TASK_RUNNING);
}

static int spin_thread(void *data)
{
	struct tare_spinner *s = data;
	u64 idle_since = tare_stamp();

	while (!kthread_should_stop()) {
		bool busy = take_incoming(s);
		u64 now = tare_stamp();
		struct tare_cmd *cmd = tare_due_take(&s->heap, now);

		if (cmd)
			finish_due(cmd, now);
		if (cmd || busy || s->heap.nr)
			idle_since = now;
		else if (now - idle_since > READ_ONCE(s->dev->spin_idle_tsc))
			spin_sleep(s);
		else
			cpu_relax();
		/* It never sleeps under load, which tracing would wait for. */
		cond_resched_tasks_rcu_qs();
	}
	return 0;
}

static int spinner_start(struct tare_device *dev, struct tare_spinner *s,
			 int cpu, u32 room)
{
	struct task_struct *task;

	init_llist_head(&s->incoming);
	s->dev = dev;
	s->heap.room = room;
	s->heap.slot = kvcalloc(room, sizeof(*s->heap.slot), GFP_KERNEL);
	if (!s->heap.slot)
		return -ENOMEM;
	task = kthread_create_on_node(spin_thread, s, cpu_to_node(cpu),
				      "tare/%s/%d", tare_name(dev), cpu);
	if (IS_ERR(task)) {
		kvfree(s->heap.slot);
		return PTR_ERR(task);
	}
	kthread_bind(task, cpu);
	s->task = task;
	wake_up_process(task);
	return 0;
}

static void spinner_stop(struct tare_spinner *s)
{
	kthread_stop(s->task);
	kvfree(s->heap.slot);
}

/* The CPUs of completion_cpus, or the last one that is online. */
static void spin_cpus(const struct tare_device *dev, struct cpumask *mask)
{
	cpumask_clear(mask);
	if (dev->config.completion_cpu >= 0)
		cpumask_set_cpu(dev->config.completion_cpu, mask);
	else
		cpumask_set_cpu(cpumask_last(cpu_online_mask), mask);
}

/**
 * tare_spin_create() - start the completion threads
 * @dev: with its configuration checked; its queue is not frozen, since threads
 * are made by another one, whose memory may have to be written out first
 *
 * Return: the threads, or an ERR_PTR of -ENOMEM or -EINTR.
 */
struct tare_spin *tare_spin_create(struct tare_device *dev)
{
	u32 room = dev->config.queue_depth * tare_submit_queues(&dev->config);
	struct tare_spin *spin;
	cpumask_var_t mask;
	int cpu, err = 0;

	if (!alloc_cpumask_var(&mask, GFP_KERNEL))
		return ERR_PTR(-ENOMEM);
	spin_cpus(dev, mask);
	spin = kvzalloc(struct_size(spin, spinner, cpumask_weight(mask)),
			GFP_KERNEL);
	if (!spin)
		err = -ENOMEM;
	for_each_cpu(cpu, mask) {
		if (err)
			break;
		err = spinner_start(dev, &spin->spinner[spin->nr], cpu, room);
		if (!err)
			spin->nr++;
	}
	free_cpumask_var(mask);
	if (!err)
		return spin;
	tare_spin_destroy(spin);
	return ERR_PTR(err);
}

/**
 * tare_spin_destroy() - stop the completion threads
 * @spin: no request can come any more, or NULL
 *
 * A submitter may still be looking at whether the thread sleeps when its
 * request has ended. The front end's quiesce waits for those; this is for a
 * disk that never came to be.
 */
void tare_spin_destroy(struct tare_spin *spin)
{
	unsigned int i;

	if (!spin)
		return;
	synchronize_rcu();
	for (i = 0; i < spin->nr; i++)
		spinner_stop(&spin->spinner[i]);
	kvfree(spin);
}

// SPDX-License-Identifier: GPL-2.0-only
/* Requests come out in due order, and no earlier than they are due. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <stdlib.h>
#include <cmocka.h>

#include "due_heap.h"

#define ROOM 1000

static struct tare_due slots[ROOM];

static void test_empty_and_full(void **state)
{
	struct tare_due_heap heap = { .slot = slots, .room = 2 };
	int a, b, c;

	(void)state;
	assert_null(tare_due_take(&heap, ~0ULL));
	assert_true(tare_due_add(&heap, 5, &a));
	assert_true(tare_due_add(&heap, 3, &b));
	assert_false(tare_due_add(&heap, 1, &c));
	assert_null(tare_due_take(&heap, 2));
	assert_ptr_equal(tare_due_take(&heap, 3), &b);
	assert_null(tare_due_take(&heap, 4));
	assert_ptr_equal(tare_due_take(&heap, 9), &a);
	assert_null(tare_due_take(&heap, ~0ULL));
}

static void test_equal_due_in_order_of_arrival(void **state)
{
	struct tare_due_heap heap = { .slot = slots, .room = ROOM };
	static int item[100];

	(void)state;
	for (int i = 0; i < 100; i++)
		assert_true(tare_due_add(&heap, 7, &item[i]));
	for (int i = 0; i < 100; i++)
		assert_ptr_equal(tare_due_take(&heap, 7), &item[i]);
}

/* Random adds and takes, against the plain rule. */
static void test_random_against_scan(void **state)
{
	struct tare_due_heap heap = { .slot = slots, .room = ROOM };
	static u64 due[200000];
	static char in[200000];
	size_t n = 0, taken = 0;

	(void)state;
	srandom(1);
	for (u64 now = 0; now < 3000; now++) {
		for (int i = random() % 40; i > 0 && heap.nr < ROOM; i--) {
			due[n] = now + random() % 50;
			in[n] = 1;
			assert_true(tare_due_add(&heap, due[n], &in[n]));
			n++;
		}
		for (;;) {
			char *item = tare_due_take(&heap, now);
			size_t k;

			if (!item)
				break;
			k = item - in;
			assert_int_equal(in[k], 1);
			assert_true(due[k] <= now);
			in[k] = 0;
			taken++;
		}
		/* Nothing that is due was left. */
		for (size_t i = 0; i < heap.nr; i++)
			assert_true(heap.slot[i].due > now);
	}
	assert_int_equal(n - taken, heap.nr);
	assert_true(taken > 10000);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_empty_and_full),
		cmocka_unit_test(test_equal_due_in_order_of_arrival),
		cmocka_unit_test(test_random_against_scan),
	};

	return cmocka_run_group_tests_name("due_heap", tests, NULL, NULL);
}

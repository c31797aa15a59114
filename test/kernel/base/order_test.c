/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Queues by priority (kernel/base/order.h), of both kinds: random members enter and leave, and the
 * list has them by priority and arrival. Of the kind that is a tree no operation takes more than
 * STEPS_MOST steps, also with MEMBERS members. A step is a basic block: tree.c and trie.c are
 * compiled with -fsanitize-coverage, and of a list none is counted. SEED=n repeats a run.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "kernel/base/order.h"
#include "test/tool/random.h"
#include "test/kernel/fake/fake.h"
#include "test/kernel/fake/steps.h"

#define MEMBERS 4096u
#define OPERATIONS 60000u
#define STEPS_MOST 90u /* three paths of 8 bits, three blocks each, and what stands around */

struct member {
    struct list link;
    unsigned long arrival;
    struct order_node order;
    unsigned priority;
    bool queued;
};

static struct member members[MEMBERS];
static struct list head;
static struct order order;
static unsigned long arrivals;
static unsigned queued;

static void enter(struct member *m, unsigned priorities)
{
    m->priority = random_below(priorities) * (256 / priorities);
    m->arrival = ++arrivals;
    steps = 0;
    order_insert(&order, &head, &m->link, &m->order, (uint8_t)m->priority);
    steps_end(STEPS_MOST);
    m->queued = true;
    queued++;
}

static void leave(struct member *m)
{
    steps = 0;
    order_remove(&order, &m->link, &m->order);
    steps_end(STEPS_MOST);
    m->queued = false;
    queued--;
}

/* The list has all that are queued, by priority and then by arrival. */
static void check_order(void)
{
    const struct member *last = NULL;
    unsigned n = 0;

    list_for_each (pos, &head) {
        const struct member *m = list_entry(pos, struct member, link);
        assert_true(m->queued && list_sound(pos));
        if (last) {
            assert_true(last->priority > m->priority ||
                        (last->priority == m->priority && last->arrival < m->arrival));
        }
        last = m;
        n++;
    }
    assert_int_equal(n, queued);
}

static void queue_with(unsigned count, unsigned priorities)
{
    list_init(&head);
    memset(&order, 0, sizeof(order));
    memset(members, 0, sizeof(members));
    queued = 0;
    steps_worst = 0;
    for (unsigned n = 0; n < OPERATIONS; n++) {
        struct member *m = &members[random_below(count)];
        if (m->queued) { /* the first one is what mostly leaves */
            leave(random_below(2) ? m : list_entry(head.next, struct member, link));
        } else {
            enter(m, priorities);
        }
        if (n % (count < 100 ? 1 : 200) == 0) {
            check_order();
        }
    }
    print_message("%4u members of %3u priorities: at most %u steps\n", count, priorities,
                  steps_worst);
    while (!list_empty(&head)) {
        leave(list_entry(head.next, struct member, link));
    }
    static const struct order none;
    assert_memory_equal(&order, &none, sizeof(order));
}

static void test_queues(void **state)
{
    (void)state;
    for (unsigned priorities = 1; priorities <= 256; priorities *= 4) {
        queue_with(12, priorities);
        queue_with(MEMBERS, priorities);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_queues),
    };

    random_start();
    return cmocka_run_group_tests(tests, NULL, NULL);
}

/* SPDX-License-Identifier: BSD-2-Clause */
/* Assertions of the kernel: one breach of each kind is planted, and the assertion that it breaks
 * stops the kernel there. What isn't broken passes. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
/* after these: */
#include <cmocka.h>

#include "kernel/arch/aspace.h"
#include "kernel/base/pool.h"
#include "kernel/mem/mem.h"
#include "kernel/thread/sched.h"
#include "kernel/thread/thread.h"
#include "test/tool/failed.h"
#include "test/kernel/fake/fake.h"

static struct process proc;
static struct thread threads[3], idle;

uint64_t clock_ns_to_cycles(uint64_t ns)
{
    return ns;
}
void timer_reprogram(struct cpu *cpu)
{
    (void)cpu;
}
void timeout_disarm(struct thread *t)
{
    (void)t;
}
long thread_block_limited(struct thread *t, enum thread_state state)
{
    (void)t;
    return -(long)state;
}
void thread_set_state_traced(struct thread *t, enum thread_state state)
{
    t->state = (uint8_t)state;
}
void thread_set_running_traced(struct thread *next, struct thread *prev)
{
    (void)prev;
    next->state = STATE_RUNNING;
}

/* One CPU, which holds the lock; threads that wait, of priorities 10, 11, 12. */
static int begin(void **state)
{
    (void)state;
    memset(&sched, 0, sizeof(sched));
    memset(cpus, 0, sizeof(cpus));
    memset(&idle, 0, sizeof(idle));
    cpus_online = 1;
    cpus[0].locked = true;
    cpus[0].idle = &idle;
    cpus[0].quantum_end = UINT64_MAX;
    fake_cpu = &cpus[0];
    for (unsigned i = 0; i < 3; i++) {
        threads[i] = (struct thread){.proc = &proc, .tid = (int)i + 1, .state = STATE_RECEIVE};
        threads[i].priority = (uint8_t)(10 + i);
        threads[i].runmask = UINT32_MAX;
        list_init(&threads[i].ready);
    }
    sched_init();
    return 0;
}

/* ---- the lock ---------------------------------------------------------------------- */

static void wakes(void)
{
    thread_start(&threads[0]);
}

static void the_lock_is_not_held(void **state)
{
    (void)state;
    cpus[0].locked = false;
    assert_true(failed_as(wakes, "kernel_locked()"));
    cpus[0].locked = true;
    assert_false(failed_in(wakes));
}

static void takes_the_lock_twice(void)
{
    kernel_lock();
}

static void lets_go_what_it_has_not(void)
{
    kernel_unlock();
    kernel_unlock();
}

static void the_lock_is_taken_twice_or_let_go_twice(void **state)
{
    (void)state;
    assert_true(failed_as(takes_the_lock_twice, "locked"));
    assert_true(failed_as(lets_go_what_it_has_not, "kernel_locked()"));
}

/* ---- states of threads ------------------------------------------------------------- */

static void readies(void)
{
    sched_ready(&threads[0]);
}

static void blocks(void)
{
    thread_block(&threads[0], STATE_SEM);
}

static void a_thread_is_in_the_wrong_state(void **state)
{
    (void)state;
    threads[0].state = STATE_RUNNING;
    assert_true(failed_as(wakes, "t->state > STATE_READY"));
    threads[0].state = STATE_SEM;
    assert_true(failed_as(readies, "t->state == STATE_READY"));
    assert_true(failed_as(blocks, "t->state == STATE_RUNNING"));
}

/* ---- queues ------------------------------------------------------------------------ */

static void enqueues(void)
{
    queue_handoff(&cpus[0]);
}

/* A thread in a queue whose priority, or whose state, changes after the queue's back. */
static void a_ready_queue_is_wrong(void **state)
{
    (void)state;
    for (unsigned i = 0; i < 2; i++) {
        threads[i].priority = 10;
        thread_start(&threads[i]);
        assert_false(failed_in(enqueues));
    }
    threads[2].priority = 10;
    thread_start(&threads[2]);
    threads[0].priority = 9;
    assert_true(failed_as(enqueues, "queue_sound(q)"));
    threads[0].priority = 10;
    threads[1].state = STATE_SEND;
    assert_true(failed_as(enqueues, "queue_sound(q)"));
    threads[1].state = STATE_READY;
    assert_false(failed_in(enqueues));
}

static void a_queue_is_in_order_or_not(void **state)
{
    struct list head = LIST_INIT(head);

    (void)state;
    list_push_back(&head, &threads[2].ready);
    list_push_back(&head, &threads[0].ready);
    assert_true(thread_queue_ordered(&head));
    assert_true(thread_is_queued(&head, &threads[0]));
    assert_false(thread_is_queued(&head, &threads[1]));
    list_push_back(&head, &threads[1].ready);
    assert_false(thread_queue_ordered(&head));
}

static struct list head;

static void removes(void)
{
    list_remove(&threads[0].ready);
}

static void inserts(void)
{
    list_push_back(&head, &threads[2].ready);
}

static void a_node_is_in_no_list(void **state)
{
    (void)state;
    list_init(&head);
    list_push_back(&head, &threads[0].ready);
    list_push_back(&head, &threads[1].ready);
    list_unlink(&threads[0].ready); /* keeps its pointers */
    assert_true(failed_as(removes, "list_sound(node)"));
    head.prev = &threads[0].ready;
    assert_true(failed_as(inserts, "list_sound(pos)"));
}

/* ---- memory, pools, counts --------------------------------------------------------- */

static void *objects_of_pool[4];
static struct pool pool;

static void frees_twice(void)
{
    void *object = pool_alloc(&pool);

    pool_free(&pool, object);
    pool_free(&pool, object);
}

static void allocates(void)
{
    pool_alloc(&pool);
}

static void a_pool_is_used_wrongly(void **state)
{
    (void)state;
    pool_init(&pool, objects_of_pool, sizeof(void *), 4);
    assert_true(failed_as(frees_twice, "pool->used > 0"));
    pool.used = 4;
    assert_true(failed_as(allocates, "pool->count"));
}

static uint8_t ram[1 << 16] __attribute__((aligned(4096)));
static paddr_t block;

static void frees_memory(void)
{
    phys_free(block, 512);
}

static void memory_is_freed_twice(void **state)
{
    (void)state;
    phys_init((paddr_t)(uintptr_t)ram, sizeof(ram));
    block = phys_alloc(512, 256);
    assert_false(failed_in(frees_memory));
    assert_true(failed_as(frees_memory, "granules_are_used"));
    block = phys_alloc(512, 256) + 1;
    assert_true(failed_as(frees_memory, "granule"));
}

static void unmaps(void)
{
    object_unmapped(0x1000);
}

static void looks_up(void)
{
    object_of(&proc, 0);
}

static void an_object_has_a_wrong_count(void **state)
{
    (void)state;
    objects[0] = (struct object){.used = true, .phys = 0x1000, .maps = 0, .opens = 1};
    assert_true(failed_as(unmaps, "object->maps > 0"));
    proc.objects[0] = 1;
    assert_false(failed_in(looks_up));
    objects[0].opens = 0;
    assert_true(failed_as(looks_up, "opens > 0"));
    objects[0] = (struct object){0};
    proc.objects[0] = 0;
}

/* ---- other CPUs -------------------------------------------------------------------- */

static void nothing(void *arg)
{
    (void)arg;
}

static void cross_calls(void)
{
    cpu_run_on_all(nothing, NULL);
}

static void a_cross_call_is_made_without_the_lock(void **state)
{
    (void)state;
    assert_false(failed_in(cross_calls));
    cpus[0].locked = false;
    assert_true(failed_as(cross_calls, "kernel_locked()"));
}

static void sets_aside(void)
{
    kernel_debug(cpus[0].locked = false);
    kernel_assert(!cpus[0].locked);
}

static void a_condition_that_holds_passes(void **state)
{
    (void)state;
    assert_false(failed_in(sets_aside));
    assert_false(cpus[0].locked);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(the_lock_is_not_held, begin),
        cmocka_unit_test_setup(the_lock_is_taken_twice_or_let_go_twice, begin),
        cmocka_unit_test_setup(a_thread_is_in_the_wrong_state, begin),
        cmocka_unit_test_setup(a_ready_queue_is_wrong, begin),
        cmocka_unit_test_setup(a_queue_is_in_order_or_not, begin),
        cmocka_unit_test_setup(a_node_is_in_no_list, begin),
        cmocka_unit_test_setup(a_pool_is_used_wrongly, begin),
        cmocka_unit_test_setup(memory_is_freed_twice, begin),
        cmocka_unit_test_setup(an_object_has_a_wrong_count, begin),
        cmocka_unit_test_setup(a_cross_call_is_made_without_the_lock, begin),
        cmocka_unit_test_setup(a_condition_that_holds_passes, begin),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}

/* SPDX-License-Identifier: BSD-2-Clause */
/* Threads and processes: birth, ends at any moment and on any CPU, joining, cancelling, waiting. */
#include "test/kernel/world/world.h"

#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>

#include "abi/sys/ability.h"
#include "kernel/base/cpu.h"

#define STUB 0x12340u

static struct thread *a, *b;

static int setup(void **state)
{
    (void)state;
    a = world_process(0, 10, DATA);
    b = world_thread(a, 10);
    return 0;
}

static long create(struct thread *t, const struct _thread_attr *attr)
{
    memcpy(world_at(t, AT(2)), attr, sizeof(*attr));
    return CALL(t, THREAD_CREATE, 0, 0, 0, AT(2));
}

static struct _thread_attr attributes(void)
{
    return (struct _thread_attr){.stackaddr = (void *)(uintptr_t)AT(0), .stacksize = 64};
}

/* A new thread has what it was given, or what its creator has. */
static void test_create(void **state)
{
    (void)state;
    struct _thread_attr attr = attributes();
    CALL(a, THREAD_CTL, _NTO_TCTL_RUNMASK, 3);
    assert_int_equal(create(a, &attr), 3);
    const struct thread *t = thread_find(a->proc, 3);
    assert_int_equal(t->priority, 10);
    assert_int_equal(t->policy, SCHED_RR);
    assert_int_equal(t->runmask, 3);
    attr.priority = 40;
    attr.policy = SCHED_FIFO;
    attr.runmask = 4;
    assert_int_equal(create(a, &attr), 4);
    t = thread_find(a->proc, 4);
    assert_int_equal(t->priority, 40);
    assert_int_equal(t->policy, SCHED_FIFO);
    assert_int_equal(world_cpu_of(t), 2);
}

/* The tables are full, then not any more. */
static void test_create_full(void **state)
{
    (void)state;
    const struct _thread_attr attr = attributes();
    for (int tid = 3; tid <= CONFIG_THREADS_PER_PROCESS; tid++) {
        assert_int_equal(create(a, &attr), tid);
    }
    assert_int_equal(create(a, &attr), -EAGAIN);
    assert_int_equal(CALL(a, THREAD_DETACH, 4), 0);
    assert_int_equal(CALL(a, THREAD_DESTROY, 4, 0, 0), 0);
    assert_int_equal(create(a, &attr), 4 + CONFIG_THREADS_PER_PROCESS); /* in the slot of 4 */
}

/* Creates a thread that ends at once, and returns its tid. */
static int create_and_end(const struct _thread_attr *attr)
{
    int tid = (int)create(a, attr);

    assert_ptr_equal(thread_find(a->proc, tid)->proc, a->proc);
    assert_int_equal(CALL(a, THREAD_DETACH, tid), 0);
    assert_int_equal(CALL(a, THREAD_DESTROY, tid, 0, 0), 0);
    assert_null(thread_find(a->proc, tid));
    return tid;
}

/* A tid is used again only after all others: each new thread has the next one, except those of the
 * slots that living threads have. */
static void test_tids(void **state)
{
    (void)state;
    const struct _thread_attr attr = attributes();
    const int slots = CONFIG_THREADS_PER_PROCESS;
    int tid = 2;

    for (int round = 0; round < KYMO_TID_MAX; round++) {
        int next = create_and_end(&attr);

        if (next < tid) {
            assert_true(tid > KYMO_TID_MAX - 2 * slots);
            assert_int_equal(next, 3);
            return;
        }
        do {
            tid++; /* a and b have the first two slots */
        } while ((tid - 1) % slots < 2);
        assert_int_equal(next, tid);
    }
    fail_msg("the tids never begin again");
}

/* Threads are listed by their tids, wherever their slots are. */
static void test_list_by_tid(void **state)
{
    (void)state;
    const struct _thread_attr attr = attributes();
    const struct kymo_thread_info *info = world_at(a, AT(3));

    for (int i = 0; i < CONFIG_THREADS_PER_PROCESS; i++) {
        create_and_end(&attr);
    }
    long tid = create(a, &attr);
    assert_true(tid > CONFIG_THREADS_PER_PROCESS);
    assert_int_equal(create(a, &attr), tid + 1);
    assert_int_equal(CALL(a, THREAD_INFO, 0, 3, AT(3)), tid);
    assert_int_equal(info->tid, tid);
    assert_int_equal(CALL(a, THREAD_INFO, 0, (uintptr_t)tid + 1, AT(3)), tid + 1);
    assert_int_equal(CALL(a, THREAD_INFO, 0, (uintptr_t)tid + 2, AT(3)), -ESRCH);
    assert_int_equal(CALL(a, THREAD_INFO, 0, 1, AT(3)), 1);
}

static void test_create_wrong(void **state)
{
    (void)state;
    const struct {
        struct _thread_attr attr;
        int error;
    } rows[] = {
        {{.priority = 256}, EINVAL},
        {{.priority = -1}, EINVAL},
        {{.policy = 4}, EINVAL},
        {{.policy = -1}, EINVAL},
        {{.runmask = 0x10}, EINVAL},
        {{.priority = 64}, EPERM},
        {{.stacksize = 0}, EFAULT},
        {{.stackaddr = (void *)(uintptr_t)RO, .stacksize = 64}, EFAULT},
    };
    for (unsigned i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        assert_int_equal(create(a, &rows[i].attr), -rows[i].error);
    }
    assert_int_equal(CALL(a, THREAD_CREATE, 0, 0, 0, NOWHERE), -EFAULT);
    assert_int_equal(CALL(a, THREAD_CREATE, 999, 0, 0, AT(2)), -ESRCH);
    assert_int_equal(CALL(a, THREAD_CREATE, 1, 0, 0, AT(2)), -EPERM);
    assert_int_equal(a->proc->nthreads, 2);
}

static void test_join(void **state)
{
    (void)state;
    uintptr_t *status = world_at(a, AT(1));
    /* the end comes first, and last */
    CALL(b, THREAD_DESTROY, 0, 0, 77);
    assert_int_equal(b->state, STATE_DEAD);
    assert_int_equal(CALL(a, THREAD_JOIN, 2, AT(1)), 0);
    assert_int_equal(*status, 77);
    assert_int_equal(CALL(a, THREAD_JOIN, 2, AT(1)), -ESRCH);
    b = world_thread(a, 10);
    assert_int_equal(CALL(a, THREAD_JOIN, b->tid, AT(1)), BLOCKED);
    CALL(b, THREAD_DESTROY, 0, 0, 78);
    assert_int_equal(world_result(a), 0);
    assert_int_equal(*status, 78);
}

static void test_join_wrong(void **state)
{
    (void)state;
    struct thread *c = world_thread(a, 10);
    assert_int_equal(CALL(a, THREAD_JOIN, 1, 0), -EDEADLK);
    assert_int_equal(CALL(a, THREAD_JOIN, 9, 0), -ESRCH);
    assert_int_equal(CALL(a, THREAD_JOIN, 0, 0), -ESRCH);
    assert_int_equal(CALL(a, THREAD_JOIN, 2, RO), -EFAULT);
    assert_int_equal(CALL(a, THREAD_JOIN, 2, 0), BLOCKED);
    assert_int_equal(CALL(c, THREAD_JOIN, 2, 0), -EBUSY);
    assert_int_equal(CALL(c, THREAD_DETACH, 2), -EBUSY);
    assert_int_equal(CALL(c, THREAD_DETACH, 0), 0);
    assert_int_equal(CALL(c, THREAD_DETACH, 0), -EINVAL);
    assert_int_equal(CALL(b, THREAD_JOIN, 3, 0), -EINVAL);
    assert_int_equal(CALL(b, THREAD_DETACH, 5), -ESRCH);
    CALL(b, THREAD_DESTROY, 0, 0, 0);
    assert_int_equal(world_result(a), 0);
    assert_int_equal(CALL(a, THREAD_DESTROY, 2, 0, 0), -ESRCH);
    /* the place for the status goes while it waits */
    b = world_thread(a, 10);
    uintptr_t at = (uintptr_t)CALL(a, MEM_MAP, 256, 3);
    assert_int_equal(CALL(a, THREAD_JOIN, b->tid, at), BLOCKED);
    assert_int_equal(CALL(c, MEM_UNMAP, at, 256), 0);
    CALL(b, THREAD_DESTROY, 0, 0, 0);
    assert_int_equal(world_result(a), -EFAULT);
}

/* A limit ends with the call for which it was, also if that didn't wait. */
static void test_join_timeout(void **state)
{
    (void)state;
    uint64_t *ns = world_at(a, AT(1));
    *ns = 1000000;
    struct thread *c = world_thread(a, 10);
    CALL(a, TIMER_TIMEOUT, 2, _NTO_TIMEOUT_JOIN, 0, AT(1), 0);
    assert_int_equal(CALL(a, THREAD_JOIN, 2, 0), BLOCKED);
    world_advance(2000000);
    assert_int_equal(world_result(a), -ETIMEDOUT);
    CALL(b, THREAD_DESTROY, 0, 0, 0);
    CALL(a, TIMER_TIMEOUT, 2, _NTO_TIMEOUT_JOIN, 0, AT(1), 0);
    assert_int_equal(CALL(a, THREAD_JOIN, 2, 0), 0);
    assert_int_equal(CALL(a, THREAD_JOIN, 3, 0), BLOCKED);
    world_advance(2000000);
    assert_int_equal(world_result(a), BLOCKED);
    CALL(c, THREAD_DESTROY, 0, 0, 0);
    assert_int_equal(world_result(a), 0);
    for (int wrong = 0; wrong < 2; wrong++) {
        c = world_thread(a, 10);
        CALL(a, TIMER_TIMEOUT, 2, _NTO_TIMEOUT_JOIN, 0, AT(1), 0);
        assert_int_equal(CALL(a, THREAD_JOIN, c->tid, wrong ? RO : 0), wrong ? -EFAULT : BLOCKED);
        CALL(c, THREAD_DESTROY, 0, 0, 0);
    }
}

/* Each state in which a Kymo thread is blocked has a kind of wait that can be aborted, and no other
 * state has one. */
static void expect_wait_kinds(void)
{
    static const uint32_t used = 0
#define STATE(number, name, text, emitted) | (uint32_t)(emitted) << (number)
        THREAD_STATE_LIST(STATE)
#undef STATE
        ;
    static const uint32_t not_blocked =
        1u << STATE_DEAD | 1u << STATE_RUNNING | 1u << STATE_READY | 1u << STATE_STOPPED;

    for (unsigned i = 0; i < STATE_MAX; i++) {
        assert_int_equal(wait_kinds[i] != NULL, (used & ~not_blocked) >> i & 1);
        assert_true(!wait_kinds[i] || wait_kinds[i]->cancel);
    }
    kernel_lock();
    assert_false(thread_cancel_wait(a, EINTR)); /* a and b aren't blocked */
    assert_false(thread_cancel_wait(b, EINTR));
    kernel_unlock();
}

/* Cancelled in a call, or before it. */
static void test_cancel(void **state)
{
    (void)state;
    expect_wait_kinds();
    assert_int_equal(CALL(a, THREAD_JOIN, 2, 0), BLOCKED);
    assert_int_equal(CALL(b, THREAD_CANCEL, 1, STUB), 0);
    assert_int_equal(world_result(a), -EINTR);
    assert_int_equal(CALL(b, THREAD_CANCEL, 1, STUB), 0);
    assert_int_equal(CALL(a, SCHED_YIELD, 0), 0);
    assert_int_equal(CALL(a, INTERRUPT_WAIT, 0, 0), -EINTR);
    assert_int_equal(CALL(a, INTERRUPT_WAIT, 0, 0), BLOCKED);
    assert_int_equal(CALL(b, THREAD_CANCEL, 1, STUB), 0);
    assert_int_equal(world_result(a), -EINTR);
    assert_int_equal(CALL(b, THREAD_CANCEL, 1, 0), -EINVAL);
    assert_int_equal(CALL(b, THREAD_CANCEL, 5, STUB), -ESRCH);
    CALL(a, THREAD_DESTROY, 2, 0, 0);
    assert_int_equal(CALL(a, THREAD_CANCEL, 2, STUB), -ESRCH);
}

static void test_ctl(void **state)
{
    (void)state;
    struct _thread_name *name = world_at(a, AT(2));
    uint32_t *mask = world_at(a, AT(1));
    *name = (struct _thread_name){6, 16, (char *)(uintptr_t)AT(3)};
    strcpy(world_at(a, AT(3)), "first");
    assert_int_equal(CALL(a, THREAD_CTL, _NTO_TCTL_NAME, AT(2)), 0);
    assert_string_equal(a->name, "first");
    assert_string_equal(world_at(a, AT(3)), "");
    name->new_name_len = -1;
    assert_int_equal(CALL(a, THREAD_CTL, _NTO_TCTL_NAME, AT(2)), 0);
    assert_string_equal(world_at(a, AT(3)), "first");
    name->new_name_len = 17;
    assert_int_equal(CALL(a, THREAD_CTL, _NTO_TCTL_NAME, AT(2)), -ENAMETOOLONG);
    memset(world_at(a, AT(3)), 'x', 16);
    name->new_name_len = 16;
    assert_int_equal(CALL(a, THREAD_CTL, _NTO_TCTL_NAME, AT(2)), -ENAMETOOLONG);
    name->name_buf = (char *)(uintptr_t)NOWHERE;
    assert_int_equal(CALL(a, THREAD_CTL, _NTO_TCTL_NAME, AT(2)), -EFAULT);
    assert_int_equal(CALL(a, THREAD_CTL, _NTO_TCTL_NAME, NOWHERE), -EFAULT);
    assert_string_equal(a->name, "first");
    assert_int_equal(CALL(a, THREAD_CTL, _NTO_TCTL_RUNMASK, 0xf0), -EINVAL);
    assert_int_equal(CALL(a, THREAD_CTL, _NTO_TCTL_RUNMASK, 0x8), 0);
    assert_int_equal(world_cpu_of(a), 3);
    assert_int_equal(CALL(a, THREAD_CTL, _NTO_TCTL_RUNMASK_GET, AT(1)), 0);
    assert_int_equal(*mask, 8);
    assert_int_equal(CALL(a, THREAD_CTL, _NTO_TCTL_RUNMASK_GET, RO), -EFAULT);
    assert_int_equal(CALL(a, THREAD_CTL, 5, 0), -EINVAL);
    *mask = 0x10;
    assert_int_equal(CALL(a, THREAD_CTL, _NTO_TCTL_RUNMASK_GET_AND_SET, AT(1)), -EINVAL);
    assert_int_equal(*mask, 0x10);
    *mask = 0;
    assert_int_equal(CALL(a, THREAD_CTL, _NTO_TCTL_RUNMASK_GET_AND_SET, AT(1)), 0);
    assert_int_equal(*mask, 8);
    *mask = 4;
    assert_int_equal(CALL(a, THREAD_CTL, _NTO_TCTL_RUNMASK_GET_AND_SET, AT(1)), 0);
    assert_int_equal(*mask, 8);
    assert_int_equal(world_cpu_of(a), 2);
    assert_int_equal(CALL(a, THREAD_CTL, _NTO_TCTL_RUNMASK_GET_AND_SET, RO), -EFAULT);
    assert_int_equal(world_cpu_of(a), 2);
}

/* Another thread of the process is named; an unknown or a dead one isn't. */
static void test_name_of(void **state)
{
    (void)state;
    struct _thread_name *name = world_at(a, AT(2));
    *name = (struct _thread_name){6, 16, (char *)(uintptr_t)AT(3)};
    strcpy(world_at(a, AT(3)), "other");
    assert_int_equal(CALL(a, THREAD_CTL, KYMO_TCTL_NAME_OF(b->tid), AT(2)), 0);
    assert_string_equal(b->name, "other");
    assert_string_equal(a->name, "");
    assert_string_equal(world_at(a, AT(3)), "");
    assert_int_equal(CALL(a, THREAD_CTL, KYMO_TCTL_NAME_OF(5), AT(2)), -ESRCH);
    assert_int_equal(CALL(a, THREAD_CTL, 5 | b->tid << 16, AT(2)), -EINVAL);
    CALL(a, THREAD_DESTROY, b->tid, 0, 0);
    assert_int_equal(CALL(a, THREAD_CTL, KYMO_TCTL_NAME_OF(2), AT(2)), -ESRCH);
}

/* Every place of the table can be had, whichever are taken, and no process more than there are
 * places: a hundred times a few end, and others begin until there is no room. */
static void test_process_table(void **state)
{
    (void)state;
    uint32_t random = 3;
    for (unsigned round = 0; round < 100; round++) {
        unsigned there = 0;
        for (unsigned slot = 1; slot < CONFIG_PROCESSES; slot++) {
            random = random * 1103515245 + 12345;
            if (process_in_slot(slot) && process_in_slot(slot) != a->proc && random >> 30) {
                world_kill(process_in_slot(slot));
            }
            there += process_in_slot(slot) != NULL;
        }
        for (; there < CONFIG_PROCESSES - 1; there++) {
            assert_int_equal(world_spawn(0, 0, 0, 1, DATA), 0);
        }
        assert_int_equal(world_spawn(0, 0, 0, 1, DATA), -EAGAIN);
        for (unsigned slot = 1; slot < CONFIG_PROCESSES; slot++) {
            assert_non_null(process_in_slot(slot));
        }
    }
}

/* The last thread's end is its process's; a process ends whatever its threads do. */
static void test_last_thread(void **state)
{
    (void)state;
    int pid = a->proc->pid;
    CALL(a, THREAD_JOIN, 2, 0);
    CALL(b, THREAD_DESTROY, 1, 0, 0);
    assert_non_null(process_find(pid));
    CALL(b, THREAD_DESTROY, 0, 0, 0);
    assert_null(process_find(pid));
}

/*
 * Killed on another CPU, a thread may be on its way into the kernel: what it makes there goes with
 * its process. That holds for a thread that it makes, too.
 */
static void test_dying_creates(void **state)
{
    (void)state;
    struct thread *killer = world_process(ABILITY_KILL, 20, DATA);
    const struct _thread_attr attr = attributes();
    const int pid = a->proc->pid;
    memcpy(world_at(a, AT(2)), &attr, sizeof(attr));
    assert_int_not_equal(world_cpu_of(killer), world_cpu_of(a));
    world_enter(killer, KER_SIGNAL_KILL, (uintptr_t[6]){0, (uintptr_t)pid, 0, 9});
    assert_int_equal(world_result(killer), BLOCKED);
    assert_true(a->flags & THREAD_DYING);
    world_enter(a, KER_THREAD_CREATE, (uintptr_t[6]){0, 0, 0, AT(2)});
    world_settle();
    world_check();
    assert_null(process_find(pid));
    assert_int_equal(world_result(killer), 0);
    assert_int_equal(fake_pool_used(CONFIG_THREADS), CONFIG_CPUS + 1);
}

/* Whatever a thread that has been ended on another CPU does meanwhile, it ends. */
static void test_dying_calls(void **state)
{
    (void)state;
    static const unsigned numbers[] = {KER_THREAD_DESTROY, KER_PROC_EXIT,   KER_SCHED_YIELD,
                                       KER_INTERRUPT_WAIT, KER_THREAD_JOIN, KER_NOP,
                                       KER_SIGNAL_KILL,    KER_PROC_WAIT};
    for (unsigned i = 0; i < sizeof(numbers) / sizeof(numbers[0]); i++) {
        const int pid = a->proc->pid;
        struct thread *killer = world_process(ABILITY_KILL, 20, DATA);
        world_enter(killer, KER_SIGNAL_KILL, (uintptr_t[6]){0, (uintptr_t)pid, 0, 9});
        world_enter(a, numbers[i], (uintptr_t[6]){numbers[i] == KER_THREAD_JOIN ? 2 : 0, 0, 0, 9});
        world_settle();
        world_check();
        assert_null(process_find(pid));
        world_kill(killer->proc);
        setup(state);
    }
}

/* One of a process's threads ends on another CPU; it may make a thread on its way. */
static void test_destroy_elsewhere(void **state)
{
    (void)state;
    const struct _thread_attr attr = attributes();
    memcpy(world_at(a, AT(2)), &attr, sizeof(attr));
    world_enter(a, KER_THREAD_DESTROY, (uintptr_t[6]){2, 0, 5});
    world_enter(b, KER_THREAD_CREATE, (uintptr_t[6]){0, 0, 0, AT(2)});
    world_settle();
    world_check();
    assert_int_equal(b->state, STATE_DEAD);
    assert_non_null(thread_find(a->proc, 3));
    assert_int_equal(CALL(a, THREAD_JOIN, 2, AT(1)), 0);
    assert_int_equal(*(uintptr_t *)world_at(a, AT(1)), 5);
}

static void test_wait(void **state)
{
    (void)state;
    int *status = world_at(a, AT(1));
    assert_int_equal(CALL(a, PROC_WAIT, 0, AT(1), 0), -ECHILD);
    struct thread *child = world_child(a, 0, 10, DATA);
    const int pid = child->proc->pid;
    assert_int_equal(CALL(a, PROC_WAIT, 0, AT(1), KYMO_WAIT_NOHANG), 0);
    assert_int_equal(CALL(a, PROC_WAIT, 0, AT(1), 2), -EINVAL);
    assert_int_equal(CALL(a, PROC_WAIT, (uintptr_t)-5, AT(1), 0), -EINVAL);
    assert_int_equal(CALL(a, PROC_WAIT, (uintptr_t)pid + 1, AT(1), 0), -ECHILD);
    assert_int_equal(CALL(a, PROC_WAIT, 0, RO, 0), -EFAULT);
    assert_int_equal(CALL(a, PROC_WAIT, (uintptr_t)pid, AT(1), 0), BLOCKED);
    CALL(child, PROC_EXIT, 3);
    assert_int_equal(world_result(a), pid);
    assert_true(KYMO_STATUS_EXITED(*status));
    assert_int_equal(KYMO_STATUS_CODE(*status), 3);
    /* the end comes first */
    child = world_child(a, 0, 10, DATA);
    const int second = child->proc->pid;
    world_kill(child->proc);
    assert_int_equal(CALL(a, PROC_WAIT, 0, AT(1), 0), second);
    assert_false(KYMO_STATUS_EXITED(*status));
    assert_int_equal(CALL(a, PROC_WAIT, 0, AT(1), 0), -ECHILD);
}

/* Two wait for the same end: one gets it, the other hears that there is nothing to wait for. */
static void test_wait_twice(void **state)
{
    (void)state;
    for (int any = 0; any < 2; any++) {
        struct thread *child = world_child(a, 0, 10, DATA);
        const int pid = child->proc->pid;
        assert_int_equal(CALL(a, PROC_WAIT, (uintptr_t)pid, 0, 0), BLOCKED);
        assert_int_equal(CALL(b, PROC_WAIT, any ? 0 : (uintptr_t)pid, 0, 0), BLOCKED);
        CALL(child, PROC_EXIT, 0);
        assert_int_equal(world_result(a), pid);
        assert_int_equal(world_result(b), -ECHILD);
    }
    /* another child is left: who waits for any goes on */
    struct thread *first = world_child(a, 0, 10, DATA), *second = world_child(a, 0, 10, DATA);
    const int pid = first->proc->pid, other = second->proc->pid;
    assert_int_equal(CALL(a, PROC_WAIT, (uintptr_t)pid, 0, 0), BLOCKED);
    assert_int_equal(CALL(b, PROC_WAIT, 0, 0, 0), BLOCKED);
    world_kill(first->proc);
    assert_int_equal(world_result(a), pid);
    assert_int_equal(world_result(b), BLOCKED);
    world_kill(second->proc);
    assert_int_equal(world_result(b), other);
}

/* The place for the status has gone: the child is still there to be asked for. */
static void test_wait_fault(void **state)
{
    (void)state;
    struct thread *child = world_child(a, 0, 10, DATA);
    const int pid = child->proc->pid;
    uintptr_t at = (uintptr_t)CALL(a, MEM_MAP, 256, 3);
    assert_int_equal(CALL(a, PROC_WAIT, 0, at, 0), BLOCKED);
    assert_int_equal(CALL(b, MEM_UNMAP, at, 256), 0);
    world_kill(child->proc);
    assert_int_equal(world_result(a), -EFAULT);
    assert_int_equal(CALL(a, PROC_WAIT, (uintptr_t)pid, 0, 0), pid);
}

/* Who waits for a child is cancelled; children of a parent that ends belong to nobody. */
static void test_wait_ends(void **state)
{
    (void)state;
    struct thread *child = world_child(a, 0, 10, DATA);
    struct thread *other = world_child(a, 0, 10, DATA);
    assert_int_equal(CALL(a, PROC_WAIT, 0, 0, 0), BLOCKED);
    assert_int_equal(CALL(b, THREAD_CANCEL, 1, STUB), 0);
    assert_int_equal(world_result(a), -EINTR);
    world_kill(child->proc);
    assert_true(child->proc == NULL);
    world_kill(a->proc);
    assert_int_equal(other->proc->ppid, 0);
    assert_int_equal(CALL(other, PROC_SELF, 0, AT(1)), other->proc->pid);
    assert_int_equal(*(int *)world_at(other, AT(1)), 0);
}

static void test_infos(void **state)
{
    (void)state;
    const struct kymo_proc_info *p = world_at(a, AT(4));
    const struct kymo_thread_info *t = world_at(a, AT(8));
    const uintptr_t pid = (uintptr_t)a->proc->pid;
    CALL(a, CHANNEL_CREATE, 0);
    CALL(b, MSG_RECEIVEV, 1, AT(0), LEN(0), 0);
    assert_int_equal(CALL(a, PROC_INFO, pid - 1, AT(4)), pid);
    assert_int_equal(p->nthreads, 2);
    assert_int_equal(p->nchannels, 1);
    assert_int_equal(p->memory, DATA + 4096);
    assert_int_equal(CALL(a, PROC_INFO, pid + 1, AT(4)), -ESRCH);
    assert_int_equal(CALL(a, PROC_INFO, 1, RO), -EFAULT);
    assert_int_equal(CALL(a, THREAD_INFO, 0, 2, AT(8)), 2);
    assert_int_equal(t->state, STATE_RECEIVE);
    assert_int_equal(t->blocked_on, 1);
    assert_int_equal(CALL(a, THREAD_INFO, 0, 3, AT(8)), -ESRCH);
    assert_int_equal(CALL(a, THREAD_INFO, 999, 1, AT(8)), -ESRCH);
    assert_int_equal(CALL(a, THREAD_INFO, 0, 1, RO), -EFAULT);
    assert_int_equal(CALL(a, THREAD_INFO, 1, 0, AT(8)), 1);
    assert_int_equal(CALL(a, PROC_SELF, RO, 0), -EFAULT);
    assert_int_equal(CALL(a, PROC_SELF, AT(0), AT(0)), pid);
}

static void test_kill(void **state)
{
    (void)state;
    struct thread *other = world_process(0, 10, DATA), *child = world_child(a, 0, 10, DATA);
    const uintptr_t pid = (uintptr_t)other->proc->pid, own = (uintptr_t)child->proc->pid;
    assert_int_equal(CALL(a, SIGNAL_KILL, 0, pid, 0, 9, 0, 0), -EPERM);
    assert_int_equal(CALL(a, SIGNAL_KILL, 0, 1, 0, 0, 0, 0), -EPERM);
    assert_int_equal(CALL(a, SIGNAL_KILL, 0, own, 0, 57, 0, 0), -EINVAL);
    assert_int_equal(CALL(a, SIGNAL_KILL, 1, own, 0, 9, 0, 0), -EINVAL);
    assert_int_equal(CALL(a, SIGNAL_KILL, 0, own, 0, (uintptr_t)-1, 0, 0), -EINVAL);
    assert_int_equal(CALL(a, SIGNAL_KILL, 0, own, 2, 9, 0, 0), -ESRCH);
    assert_int_equal(CALL(a, SIGNAL_KILL, 0, 999, 0, 9, 0, 0), -ESRCH);
    assert_int_equal(CALL(a, SIGNAL_KILL, 0, own, 1, 0, 0, 0), 0);
    assert_int_equal(CALL(a, SIGNAL_KILL, 0, own, 0, 56, 0, 0), 0);
    assert_int_equal(CALL(a, PROC_WAIT, own, AT(1), 0), own);
    assert_int_equal(*(int *)world_at(a, AT(1)), 56);
    int self = a->proc->pid;
    CALL(a, SIGNAL_KILL, 0, 0, 0, 9, 0, 0);
    assert_null(process_find(self));
}

static void test_sched(void **state)
{
    (void)state;
    struct sched_param_kymo *param = world_at(a, AT(1));
    const struct sched_info_kymo *info = world_at(a, AT(2));
    struct thread *other = world_process(0, 10, DATA);
    const uintptr_t pid = (uintptr_t)other->proc->pid;
    assert_int_equal(CALL(a, SCHED_GET, 0, 2, AT(1)), SCHED_RR);
    assert_int_equal(param->sched_priority, 10);
    param->sched_priority = 30;
    assert_int_equal(CALL(a, SCHED_SET, 0, 2, SCHED_FIFO, AT(1)), 0);
    assert_int_equal(b->priority, 30);
    assert_int_equal(CALL(a, SCHED_GET, 0, 2, 0), SCHED_FIFO);
    assert_int_equal(CALL(a, SCHED_SET, pid, 0, SCHED_RR, AT(1)), -EPERM);
    assert_int_equal(CALL(a, SCHED_SET, 0, 9, SCHED_RR, AT(1)), -ESRCH);
    assert_int_equal(CALL(a, SCHED_SET, 0, 2, 4, AT(1)), -EINVAL);
    assert_int_equal(CALL(a, SCHED_SET, 0, 2, SCHED_RR, NOWHERE), -EFAULT);
    param->sched_priority = 64;
    assert_int_equal(CALL(a, SCHED_SET, 0, 2, SCHED_RR, AT(1)), -EPERM);
    param->sched_priority = 0;
    assert_int_equal(CALL(a, SCHED_SET, 0, 2, SCHED_RR, AT(1)), -EINVAL);
    param->sched_priority = 256;
    assert_int_equal(CALL(a, SCHED_SET, 0, 2, SCHED_RR, AT(1)), -EINVAL);
    assert_int_equal(CALL(a, SCHED_GET, 999, 1, 0), -ESRCH);
    assert_int_equal(CALL(a, SCHED_GET, 0, 1, RO), -EFAULT);
    assert_int_equal(CALL(a, SCHED_INFO, 0, SCHED_RR, AT(2)), 0);
    assert_int_equal(info->interval_ns, CONFIG_RR_QUANTUM_MS * 1000000);
    assert_int_equal(CALL(a, SCHED_INFO, 0, 4, AT(2)), -EINVAL);
    assert_int_equal(CALL(a, SCHED_INFO, 999, SCHED_RR, AT(2)), -ESRCH);
    assert_int_equal(CALL(a, SCHED_INFO, 0, SCHED_RR, RO), -EFAULT);
    assert_int_equal(CALL(a, SCHED_YIELD, 0), 0);
    assert_int_equal(b->priority, 30);
}

/* The idle threads are nobody's to set, whatever abilities one has. */
static void test_sched_idle(void **state)
{
    (void)state;
    struct thread *able = world_process(ABILITY_PRIORITY, 10, DATA);
    struct sched_param_kymo *param = world_at(able, AT(1));
    param->sched_priority = 30;
    for (uintptr_t tid = 0; tid <= CONFIG_CPUS; tid++) {
        assert_int_equal(CALL(able, SCHED_SET, 1, tid, SCHED_RR, AT(1)), -EPERM);
        assert_true(CALL(able, SCHED_GET, 1, tid, AT(2)) > 0);
    }
    assert_int_equal(CALL(able, SCHED_SET, (uintptr_t)a->proc->pid, 0, SCHED_RR, AT(1)), 0);
    assert_int_equal(a->priority, 30);
}

int main(void)
{
#define CASE(name) cmocka_unit_test_setup_teardown(name, setup, world_teardown)
    const struct CMUnitTest tests[] = {
        CASE(test_create),       CASE(test_create_full),
        CASE(test_tids),         CASE(test_list_by_tid),
        CASE(test_create_wrong), CASE(test_join),
        CASE(test_join_wrong),   CASE(test_join_timeout),
        CASE(test_cancel),       CASE(test_ctl),
        CASE(test_name_of),      CASE(test_process_table),
        CASE(test_last_thread),  CASE(test_dying_creates),
        CASE(test_dying_calls),  CASE(test_destroy_elsewhere),
        CASE(test_wait),         CASE(test_wait_twice),
        CASE(test_wait_fault),   CASE(test_wait_ends),
        CASE(test_infos),        CASE(test_kill),
        CASE(test_sched),        CASE(test_sched_idle),
    };
    return cmocka_run_group_tests(tests, world_group, NULL);
}

/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The scheduler (kernel/sched*.c) against a plain model: a list of READY threads in order of
 * arrival. Random wakes, blocks, yields, priority and mask changes on one CPU and on four; after
 * every step each CPU that was told looks again, and then nobody READY may be worth more than what
 * runs on a CPU where it may run.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "test/kernel/fake/fake.h"
#include "test/tool/random.h"
#include "kernel/thread/sched.h"

#define THREADS 12
#define STEPS 30000

static struct process proc = {.pid = 2};
static struct thread threads[THREADS], idles[CONFIG_CPUS];
static unsigned arrival[THREADS], arrivals; /* when it became READY, after its equals */

/* ---- what the scheduler uses ------------------------------------------------------- */

uint64_t clock_ns_to_cycles(uint64_t ns)
{
    return ns / 1000;
}
void timer_reprogram(struct cpu *cpu)
{
    (void)cpu;
}
void timeout_disarm(struct thread *t)
{
    (void)t;
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

static void start(unsigned ncpu)
{
    memset(&sched, 0, sizeof(sched));
    memset(cpus, 0, sizeof(cpus));
    fake_ipis = 0;
    memset(threads, 0, sizeof(threads));
    cpus_online = (1u << ncpu) - 1;
    fake_cycles = 0;
    sched_init();
    for (unsigned i = 0; i < CONFIG_CPUS; i++) {
        cpus[i].id = i;
        cpus[i].bit = 1u << i;
        cpus[i].others = ~cpus[i].bit;
        cpus[i].idle = &idles[i];
        cpus[i].locked = true; /* whichever is "this" CPU has the kernel to itself */
        cpus[i].quantum_end = UINT64_MAX;
        idles[i].proc = &proc;
        idles[i].state = STATE_READY;
    }
    for (unsigned i = 0; i < THREADS; i++) {
        threads[i].proc = &proc;
        threads[i].tid = (int)i + 1;
        threads[i].state = STATE_RECEIVE;
        threads[i].priority = threads[i].base_priority =
            (uint8_t)(1 + random_below(5) * 60 + random_below(2));
        threads[i].policy = random_below(2) ? SCHED_FIFO : SCHED_RR;
        threads[i].runmask = UINT32_MAX;
        list_init(&threads[i].ready);
    }
    for (unsigned i = 0; i < ncpu; i++) {
        fake_cpu = &cpus[i];
        sched_switch(fake_cpu, NULL);
    }
    fake_cpu = &cpus[0];
}

static bool allowed(const struct thread *t, unsigned cpu)
{
    return t->runmask >> cpu & 1;
}

/* Its interrupt comes, or it was in the kernel and has asked itself. */
static bool looks(const struct cpu *cpu)
{
    bool interrupted = fake_ipis >> cpu->id & 1;

    fake_ipis &= ~(1u << cpu->id);
    return cpu->resched || interrupted;
}

/* No CPU has work that it wasn't interrupted for: it would do that when it next happens to enter
 * the kernel, if ever. */
static void check_told(void)
{
    for (unsigned i = 0; i < CONFIG_CPUS; i++) {
        assert_int_equal(cpus[i].trace.exit_work, 0);
    }
}

/* This CPU leaves the kernel; then those that it has told. Bounded: each telling has a reason. */
static void leave_kernel(void)
{
    struct cpu *here = fake_cpu;
    unsigned rounds = 0;

    here->resched |= !here->current || here->current->state != STATE_RUNNING;
    for (bool more = true; more;) {
        more = false;
        for (unsigned i = 0; i < CONFIG_CPUS; i++) {
            struct cpu *cpu = &cpus[i];
            if ((rounds == 0 && cpu != here) || !looks(cpu)) {
                continue; /* ours first: it has the lock */
            }
            fake_cpu = cpu;
            cpu->trace.exit_work = 0;
            sched_switch(cpu, cpu->current);
            more = true;
        }
        if (rounds == 0) {
            more = true;
        }
        assert_true(++rounds < 100);
    }
    fake_cpu = here;
    check_told();
}

static void check(unsigned ncpu)
{
    for (unsigned i = 0; i < THREADS; i++) {
        const struct thread *t = &threads[i];
        bool runs = false;
        for (unsigned c = 0; c < ncpu; c++) {
            runs = runs || cpus[c].current == t;
        }
        assert_int_equal(runs, t->state == STATE_RUNNING);
        for (unsigned c = 0; t->state == STATE_READY && c < ncpu; c++) {
            if (allowed(t, c)) {
                assert_non_null(cpus[c].current);
                assert_true(cpus[c].current->priority >= t->priority);
            }
        }
    }
}

static void wake(struct thread *t)
{
    thread_wake(t, 0, 0);
}

/* SchedYield() by the fast path changes what the slow path does, to the last word; where it leaves
 * the call to that, it changes nothing. Counts how often it did not. */
static unsigned yields_at_once;

static void yield(struct thread *self)
{
    static struct {
        struct sched sched;
        struct cpu cpus[CONFIG_CPUS];
        struct thread threads[THREADS], idles[CONFIG_CPUS];
        uint32_t ipis;
    } before, slow, fast;
    struct cpu *cpu = fake_cpu;

#define SAVE(to) \
    (to.sched = sched, memcpy(to.cpus, cpus, sizeof(cpus)), \
     memcpy(to.threads, threads, sizeof(threads)), memcpy(to.idles, idles, sizeof(idles)), \
     to.ipis = fake_ipis, \
     to.cpus[cpu->id].handoff_front *= cpu->handoff != NULL) /* else it means nothing */
    SAVE(before);
    thread_result(self, 0, 0);
    sched_give_way(self);
    if (cpu->resched) {
        sched_switch(cpu, self);
    }
    SAVE(slow);
    sched = before.sched;
    memcpy(cpus, before.cpus, sizeof(cpus));
    memcpy(threads, before.threads, sizeof(threads));
    memcpy(idles, before.idles, sizeof(idles));
    fake_ipis = before.ipis;
    if (sched_give_way_now(self) == KER_STATUS) {
        yields_at_once++;
    } else if (cpu->resched) {
        sched_switch(cpu, self);
    }
    SAVE(fast);
    assert_memory_equal(&fast, &slow, sizeof(fast));
#undef SAVE
}

static void step(unsigned ncpu)
{
    struct thread *t = &threads[random_below(THREADS)], *self;

    fake_cpu = &cpus[random_below(ncpu)];
    self = fake_cpu->current;
    fake_cycles += random_below(900);
    switch (random_below(8)) {
    case 0:
    case 1:
    case 2:
        if (t->state == STATE_RECEIVE) {
            wake(t);
        }
        break;
    case 3:
    case 4:
        if (self) {
            thread_set_state(self, STATE_RECEIVE);
        }
        break;
    case 5:
        if (self) {
            yield(self);
        }
        break;
    case 6:
        sched_quantum(fake_cpu);
        break;
    default:
        if (t->state == STATE_READY) { /* a new priority or mask */
            sched_unready(t);
            t->priority = (uint8_t)(1 + random_below(5) * 60);
            t->runmask = 1 + random_below((1u << ncpu) - 1);
            sched_ready(t);
        } else if (t->state == STATE_RUNNING) { /* here, or on another CPU */
            t->priority = (uint8_t)(1 + random_below(5) * 60);
            sched_changed(t);
        }
    }
    leave_kernel();
}

static void run_random(unsigned ncpu)
{
    for (unsigned round = 0; round < 20; round++) {
        start(ncpu);
        for (unsigned n = 0; n < STEPS / 20; n++) {
            step(ncpu);
            check(ncpu);
        }
    }
    assert_true(yields_at_once > 10);
    yields_at_once = 0;
}

static void test_one_cpu(void **state)
{
    (void)state;
    run_random(1);
}

static void test_four_cpus(void **state)
{
    (void)state;
    run_random(4);
}

/* Threads of one priority run in the order in which they became READY. */
static void test_fifo(void **state)
{
    (void)state;
    start(1);
    for (unsigned i = 0; i < THREADS; i++) {
        threads[i].priority = (uint8_t)(10 + i % 3);
        threads[i].policy = SCHED_FIFO;
        wake(&threads[i]);
        arrival[i] = arrivals++;
    }
    const struct thread *last = NULL;
    for (unsigned i = 0; i < THREADS; i++) {
        struct thread *t = sched_switch(&cpus[0], cpus[0].current);
        assert_non_null(t);
        if (last && last->priority == t->priority) {
            assert_true(arrival[t - threads] > arrival[last - threads]);
        } else if (last) {
            assert_true(last->priority > t->priority);
        }
        last = t;
        thread_set_state(t, STATE_RECEIVE);
    }
    assert_null(sched_switch(&cpus[0], cpus[0].current));
}

/* A preempted thread goes on before its equals; one that yields after them. */
static void test_preempted_first(void **state)
{
    struct thread *a = &threads[0], *b = &threads[1], *high = &threads[2];

    (void)state;
    start(1);
    a->priority = b->priority = 10;
    a->policy = b->policy = SCHED_FIFO;
    high->priority = 20;
    wake(a);
    sched_switch(&cpus[0], NULL);
    wake(b);
    wake(high);
    assert_ptr_equal(sched_switch(&cpus[0], a), high);
    thread_set_state(high, STATE_RECEIVE);
    assert_ptr_equal(sched_switch(&cpus[0], high), a);
    sched_give_way(a);
    assert_ptr_equal(sched_switch(&cpus[0], a), b);
}

/* Two that never block share a CPU, also if a third one keeps interrupting them. */
static void test_round_robin(void **state)
{
    struct thread *high = &threads[2];
    uint64_t ran[2] = {0, 0};

    (void)state;
    start(1);
    threads[0].priority = threads[1].priority = 10;
    threads[0].policy = threads[1].policy = SCHED_RR;
    high->priority = 20;
    wake(&threads[0]);
    wake(&threads[1]);
    sched_switch(&cpus[0], NULL);
    for (unsigned n = 0; n < 4000; n++) {
        struct thread *t = cpus[0].current;
        ran[t - threads] += 100;
        fake_cycles += 100;
        if (n % 30 == 7) { /* more often than the quantum */
            wake(high);
            sched_switch(&cpus[0], t);
            thread_set_state(high, STATE_RECEIVE);
            sched_switch(&cpus[0], high);
        }
        sched_quantum(&cpus[0]);
        sched_switch(&cpus[0], cpus[0].current);
    }
    assert_true(ran[0] > 150000 && ran[1] > 150000);
    assert_int_equal(thread_run_cycles(&threads[0]) + thread_run_cycles(&threads[1]), fake_cycles);
}

/* The end of a quantum is when it is used up, not a cycle later. */
static void test_quantum_ends(void **state)
{
    (void)state;
    start(1);
    threads[0].priority = threads[1].priority = 10;
    threads[0].policy = threads[1].policy = SCHED_RR;
    wake(&threads[0]);
    wake(&threads[1]);
    struct thread *first = sched_switch(&cpus[0], NULL);
    fake_cycles = sched.quantum - 1;
    sched_quantum(&cpus[0]);
    assert_ptr_equal(sched_switch(&cpus[0], first), first);
    fake_cycles++;
    assert_int_equal(cpus[0].quantum_end, fake_cycles);
    sched_quantum(&cpus[0]);
    assert_ptr_not_equal(sched_switch(&cpus[0], first), first);
}

/* On one CPU a woken thread asks for a switch if its priority is above what runs, be it by one, and
 * only then: whichever of the two wakes sees it. */
static void test_wake_asks(void **state)
{
    (void)state;
    for (int above = -1; above <= 1; above++) {
        for (int general = 0; general < 2; general++) {
            start(1);
            threads[0].priority = 10;
            threads[1].priority = (uint8_t)(10 + above);
            wake(&threads[0]);
            sched_switch(&cpus[0], NULL);
            assert_false(cpus[0].resched);
            if (general) {
                thread_set_state(&threads[1], STATE_READY);
                sched_ready(&threads[1]);
            } else {
                wake(&threads[1]);
            }
            assert_int_equal(cpus[0].resched, above > 0);
        }
    }
}

/* A thread that runs elsewhere has changed: that CPU is told, and only that one. */
static void test_change_elsewhere(void **state)
{
    (void)state;
    start(4);
    threads[0].runmask = 1u << 2;
    wake(&threads[0]);
    leave_kernel();
    assert_ptr_equal(cpus[2].current, &threads[0]);
    fake_ipis = 0;
    sched_changed(&threads[0]);
    assert_true(cpus[2].trace.exit_work & WORK_RESCHED);
    assert_int_equal(fake_ipis, 1u << 2);
    threads[0].runmask = 1u << 3;
    leave_kernel();
    assert_null(cpus[2].current);
    assert_ptr_equal(cpus[3].current, &threads[0]);
}

/* Time passes, with the quantum timer of each CPU; ran[] counts what each thread gets. */
static void spin_all(unsigned ncpu, unsigned steps, uint64_t ran[THREADS])
{
    for (unsigned n = 0; n < steps; n++) {
        fake_cycles += 100;
        for (unsigned c = 0; c < ncpu; c++) {
            if (cpus[c].current) {
                ran[cpus[c].current - threads] += 100;
            }
        }
        for (unsigned c = 0; c < ncpu; c++) {
            if (cpus[c].quantum_end <= fake_cycles) { /* its timer interrupt */
                fake_cpu = &cpus[c];
                sched_quantum(fake_cpu);
                leave_kernel();
            }
        }
    }
}

static void start_spinner(unsigned i, uint32_t runmask, unsigned from)
{
    threads[i].priority = 10;
    threads[i].policy = SCHED_RR;
    threads[i].runmask = runmask;
    fake_cpu = &cpus[from];
    wake(&threads[i]);
    leave_kernel();
}

/* More threads of one priority that never block than CPUs, made by any CPU: all get their turns. */
static void test_round_robin_on_four(void **state)
{
    uint64_t ran[THREADS] = {0}, total = 0;

    (void)state;
    start(4);
    for (unsigned i = 0; i < 7; i++) {
        start_spinner(i, UINT32_MAX, i % 4);
    }
    spin_all(4, 20000, ran);
    for (unsigned i = 0; i < 7; i++) {
        assert_true(ran[i] > 4 * 20000 * 100 / 7 * 4 / 5);
        assert_int_equal(ran[i], thread_run_cycles(&threads[i]));
        total += ran[i];
    }
    assert_int_equal(total, 4 * fake_cycles); /* and no CPU was idle */
}

/* Two that may run on one CPU only share it, though another CPU made the second one READY and no
 * other event makes theirs look; those that may run anywhere share the rest. */
static void test_round_robin_pinned(void **state)
{
    uint64_t ran[THREADS] = {0};

    (void)state;
    for (unsigned from = 0; from < 4; from++) {
        memset(ran, 0, sizeof(ran));
        start(4);
        for (unsigned i = 0; i < 2; i++) {
            start_spinner(i, 1u << 2, from);
        }
        spin_all(4, 20000, ran);
        assert_true(ran[0] > 20000 * 40 && ran[1] > 20000 * 40);
        memset(ran, 0, sizeof(ran));
        for (unsigned i = 2; i < 7; i++) {
            start_spinner(i, UINT32_MAX, from);
        }
        spin_all(4, 40000, ran);
        for (unsigned i = 0; i < 7; i++) {
            assert_true(ran[i] > 40000 * 10);
        }
    }
}

/* Another CPU makes the running thread the equal of one that waits for its CPU: they share it. */
static void test_round_robin_changed(void **state)
{
    uint64_t ran[THREADS] = {0};

    (void)state;
    start(4);
    for (unsigned i = 0; i < 2; i++) {
        start_spinner(i, 1u << 2, 0);
    }
    struct thread *runs = cpus[2].current;
    fake_cpu = &cpus[2];
    runs->priority = 20;
    sched_changed(runs);
    leave_kernel();
    spin_all(4, 20000, ran);
    assert_int_equal(ran[runs - threads], 20000 * 100);
    fake_cpu = &cpus[1];
    runs->priority = 10;
    sched_changed(runs);
    assert_int_equal(fake_ipis, 1u << 2); /* at once, whatever sched_kick_others() tells later */
    leave_kernel();
    spin_all(4, 20000, ran);
    assert_true(ran[0] > 20000 * 40 && ran[1] > 20000 * 40);
}

/* A thread that is woken by one which then blocks stays on its CPU: nobody is interrupted. */
static void test_no_needless_ipi(void **state)
{
    (void)state;
    start(4);
    wake(&threads[0]);
    sched_switch(&cpus[0], NULL);
    fake_ipis = 0;
    wake(&threads[1]);
    thread_set_state(&threads[0], STATE_RECEIVE);
    assert_ptr_equal(sched_switch(&cpus[0], &threads[0]), &threads[1]);
    assert_int_equal(fake_ipis, 0);
    wake(&threads[0]); /* and one that goes on makes an idle one run */
    threads[0].priority = threads[1].priority;
    sched_switch(&cpus[0], &threads[1]);
    assert_int_not_equal(fake_ipis, 0);
}

/* ---- a thread that one idle CPU alone may run is handed to it ----------------------- */

/* CPU 0 runs a thread and has made threads[1] READY, which may run there. */
static struct thread *give(uint32_t runmask)
{
    struct thread *t = &threads[1];

    start(4);
    threads[0].runmask = 1;
    threads[0].priority = 30;
    wake(&threads[0]);
    leave_kernel();
    assert_ptr_equal(cpus[0].current, &threads[0]);
    t->priority = 10;
    t->policy = SCHED_FIFO;
    t->runmask = runmask;
    fake_ipis = 0;
    wake(t);
    assert_int_equal(cpus[0].resched, runmask != 1);
    if (cpus[0].resched) {
        assert_ptr_equal(sched_switch(&cpus[0], &threads[0]), &threads[0]);
        assert_null(cpus[0].handoff);
    }
    return t;
}

/* Another CPU makes this one READY, also for CPU 2. */
static struct thread *also_for_2(unsigned i, uint8_t priority)
{
    struct thread *t = &threads[i];

    t->priority = priority;
    t->policy = SCHED_FIFO;
    t->runmask = 1u << 2;
    fake_cpu = &cpus[1];
    wake(t);
    sched_switch(&cpus[1], NULL);
    assert_null(cpus[1].handoff);
    fake_cpu = &cpus[0];
    return t;
}

/* The CPU looks: who runs there then. */
static struct thread *runs_on_2(void)
{
    leave_kernel();
    check(4);
    return cpus[2].current;
}

/* No queue has it, and only its CPU is told. */
static void test_give_idle(void **state)
{
    (void)state;
    struct thread *t = give(1u << 2);

    assert_ptr_equal(cpus[2].handoff, t);
    assert_int_equal(sched.queued, 0);
    assert_int_equal(fake_ipis, 1u << 2);
    assert_int_equal(cpus[2].trace.exit_work, WORK_RESCHED);
    assert_ptr_equal(runs_on_2(), t);
    assert_null(cpus[2].handoff);
    assert_int_equal(t->cpu, 2);
}

/* A CPU that another one could stand in for has not been chosen yet: the queues have the thread. */
static void test_give_others_may(void **state)
{
    (void)state;
    struct thread *t = give(1u << 2 | 1u << 3);

    assert_int_equal(sched.queued, 1);
    assert_null(cpus[2].handoff);
    assert_null(cpus[3].handoff);
    leave_kernel();
    check(4);
    assert_true(cpus[2].current == t || cpus[3].current == t);
}

/* CPUs that are not online don't count; the own one is not another. */
static void test_give_mask(void **state)
{
    (void)state;
    struct thread *t = give(1u << 2 | 0xfff0);

    assert_ptr_equal(cpus[2].handoff, t);
    assert_ptr_equal(runs_on_2(), t);
    t = give(1u);
    assert_int_equal(fake_ipis, 0);
    thread_set_state(&threads[0], STATE_RECEIVE);
    assert_ptr_equal(sched_switch(&cpus[0], &threads[0]), t);
}

/* It is busy: the queues have the thread, and it is told if it is to preempt. */
static void test_give_busy(void **state)
{
    (void)state;
    for (unsigned higher = 0; higher < 2; higher++) {
        struct thread *t = give(1u << 2), *next;

        assert_ptr_equal(runs_on_2(), t);
        fake_ipis = 0;
        next = also_for_2(2, (uint8_t)(9 + 2 * higher));
        assert_null(cpus[2].handoff);
        assert_int_equal(sched.queued, 1);
        assert_int_equal(fake_ipis, higher << 2);
        assert_ptr_equal(runs_on_2(), higher ? next : t);
    }
}

/* It becomes busy before it has looked: a second thread for it is queued, and of both the one of
 * the higher priority runs, of equals the first. */
static void test_give_two(void **state)
{
    (void)state;
    for (unsigned priority = 9; priority <= 11; priority++) {
        struct thread *t = give(1u << 2), *second = also_for_2(2, (uint8_t)priority);
        struct thread *first = priority > 10 ? second : t;

        assert_ptr_equal(runs_on_2(), first);
        fake_cpu = &cpus[2];
        thread_set_state(first, STATE_RECEIVE);
        assert_ptr_equal(runs_on_2(), first == t ? second : t);
        assert_int_equal(sched.queued, 0);
    }
}

/* It runs another thread by then, for it came into the kernel by itself: nobody is lost. */
static void test_give_three(void **state)
{
    (void)state;
    struct thread *t = give(1u << 2), *third = also_for_2(2, 12);
    struct thread *last = also_for_2(3, 12);

    assert_ptr_equal(runs_on_2(), third);
    for (unsigned i = 0; i < 2; i++) {
        fake_cpu = &cpus[2];
        thread_set_state(cpus[2].current, STATE_RECEIVE);
        assert_ptr_equal(runs_on_2(), i == 0 ? last : t);
    }
    assert_int_equal(sched.queued, 0);
}

/* An equal that was READY before for two CPUs, of which the one idle is told, stays before it; one
 * that comes later for both stays after it. */
static void test_give_equals(void **state)
{
    (void)state;
    for (unsigned earlier = 0; earlier < 2; earlier++) {
        struct thread *t = give(earlier ? 1u : 1u << 2), *equal = &threads[2];

        equal->priority = 10;
        equal->policy = SCHED_FIFO;
        equal->runmask = 1u | 1u << 2;
        fake_cpu = &cpus[1];
        wake(equal);
        sched_switch(&cpus[1], NULL);
        assert_int_equal(sched.queued, 1);
        if (earlier) {
            struct thread *later = also_for_2(3, 10);
            assert_null(cpus[2].handoff);
            assert_int_equal(later->state, STATE_READY);
        }
        assert_ptr_equal(runs_on_2(), earlier ? equal : t);
    }
}

/* Before it has looked, the thread may run elsewhere only, or has another priority. */
static void test_give_changed(void **state)
{
    (void)state;
    struct thread *t = give(1u << 2);

    sched_unready(t);
    assert_null(cpus[2].handoff);
    t->runmask = 1u << 3;
    sched_ready(t);
    assert_null(runs_on_2());
    assert_ptr_equal(cpus[3].current, t);
    t = give(1u << 2);
    struct thread *second = also_for_2(2, 10);
    sched_unready(t);
    t->priority = 40;
    sched_ready(t);
    assert_ptr_equal(runs_on_2(), t);
    assert_int_equal(second->state, STATE_READY);
}

/* It ends before that: the CPU finds nobody, or who else waits for it. */
static void test_give_ended(void **state)
{
    (void)state;
    for (unsigned more = 0; more < 2; more++) {
        struct thread *t = give(1u << 2), *second = more ? also_for_2(2, 10) : NULL;

        sched_unready(t);
        t->state = STATE_DEAD;
        assert_null(cpus[2].handoff);
        assert_ptr_equal(runs_on_2(), second);
        assert_int_equal(sched.queued, 0);
        assert_int_equal(sched.idle_cpus >> 2 & 1, !more);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_fifo),
        cmocka_unit_test(test_preempted_first),
        cmocka_unit_test(test_round_robin),
        cmocka_unit_test(test_quantum_ends),
        cmocka_unit_test(test_wake_asks),
        cmocka_unit_test(test_change_elsewhere),
        cmocka_unit_test(test_no_needless_ipi),
        cmocka_unit_test(test_one_cpu),
        cmocka_unit_test(test_four_cpus),
        cmocka_unit_test(test_round_robin_on_four),
        cmocka_unit_test(test_round_robin_pinned),
        cmocka_unit_test(test_round_robin_changed),
        cmocka_unit_test(test_give_idle),
        cmocka_unit_test(test_give_others_may),
        cmocka_unit_test(test_give_mask),
        cmocka_unit_test(test_give_busy),
        cmocka_unit_test(test_give_two),
        cmocka_unit_test(test_give_three),
        cmocka_unit_test(test_give_equals),
        cmocka_unit_test(test_give_changed),
        cmocka_unit_test(test_give_ended),
    };

    random_start();
    return cmocka_run_group_tests(tests, NULL, NULL);
}

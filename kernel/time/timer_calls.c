/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * TimerCreate, TimerSettime, TimerInfo, TimerDestroy, TimerAlarm.
 *
 * All processes share one table of timers; a timer's id is its index + 1, valid in its process
 * only. Its due time is kept in nanoseconds of CLOCK_MONOTONIC and converted to cycles for each
 * expiry, so a period never drifts. Each timer has its own pulse: while one is still queued further
 * expiries are counted as overruns (TimerInfo()), as are periods that passed unnoticed. Periods
 * below the board's minimum (CONFIG_TIMER_MIN_US; with ABILITY_PRIORITY CONFIG_TIMER_MIN_ABLE_US)
 * are rounded up to it. An expiry is work of the priority of the thread that set the timer, or of
 * its pulse, if that is higher: see timer.c. Absolute one-shot timers on CLOCK_REALTIME follow
 * ClockTime(); none follows ClockAdjust() while it runs. TimerAlarm() uses one more timer, whose
 * SIGALRM ends the process.
 *
 * Kernel lock held. Errors: unknown clocks, ids, flags, events (EINVAL; EBADF for an event's
 * connection), a full table or quota (EAGAIN), unknown processes (ESRCH), bad memory (EFAULT).
 * Tested by test/kernel.
 */
#include "abi/errno.h"
#include "abi/sys/ability.h"
#include "kernel/arch/irq.h"
#include "kernel/base/cpu.h"
#include "kernel/time/time.h"
#include "kernel/base/kercall.h"
#include "kernel/ipc/ipc.h"

#define RESET_MOST 32 /* timers visited between two preemption points when the clock is set */
#define TIMER_INFO_FLAGS (_NTO_TIMER_SEARCH | _NTO_TIMER_RESET_OVERRUNS)

struct timer {
    struct timer_node node;
    struct trie_node by_id; /* [k] in its process's timers; its key is the id */
    struct process *proc;   /* [k] NULL: free */
    struct sigevent event;
    struct pulse pulse; /* [k] */
    struct _itimer set; /* [k] as given to TimerSettime() */
    uint64_t due_ns;    /* [k] monotonic, while the node runs */
    uint64_t period_ns; /* [k] 0: not periodic */
    uint64_t least_ns;  /* [k] shortest period */
    uint32_t flags;     /* [k] TIMER_ABSTIME */
    uint32_t overruns;  /* [k] */
    int32_t clock;      /* [I] */
    int32_t tid;        /* [I] the creating thread */
    bool alarm;         /* [I] it belongs to TimerAlarm() */
};

static TABLE_OF(struct timer, timers, CONFIG_TIMERS);
static unsigned fresh;             /* [k] entries from here on were never used */
static struct trie_node *released; /* [k] freed entries, linked by their first child */

void timer_table_init(void)
{
    TABLE_MAKE(timers, struct timer, TABLE_ENTRIES(TIMERS));
}

/* Advances to the next period after now; periods that were missed are overruns. */
static void next_period(struct timer *t)
{
    uint64_t now = clock_now_ns(), rest;
    t->due_ns = clock_add(t->due_ns, t->period_ns);
    if (t->due_ns <= now) {
        uint64_t missed = clock_divide(now - t->due_ns, t->period_ns, &rest) + 1;
        t->due_ns = clock_add(t->due_ns, missed * t->period_ns);
        t->overruns += (uint32_t)missed;
    }
    timer_node_start(&t->node, clock_expiry(t->due_ns));
}

static void timer_fire(struct timer_node *node)
{
    struct timer *t = list_entry(node, struct timer, node);
    t->overruns += pulse_queued(&t->pulse);
    if (t->period_ns != 0) {
        next_period(t);
    }
    event_deliver(t->proc, NULL, &t->event, &t->pulse); /* may end the process, and this timer */
}

static struct timer *timer_find(const struct process *proc, uintptr_t id)
{
    uint32_t i = (uint32_t)id - 1;
    struct timer *t = i < fresh ? TABLE_AT(timers, i) : NULL;

    return t && t->proc == proc && !t->alarm ? t : NULL;
}

/* Returns a free entry, which exists because one was charged, or NULL if there is no memory for
 * it. */
static struct timer *timer_entry(void)
{
    struct trie_node *node = released;

    if (!node) {
        kernel_assert(fresh < TABLE_ENTRIES(TIMERS));
        struct timer *t = TABLE_ADD(timers, struct timer, fresh);
        fresh += t != NULL;
        return t;
    }
    released = node->child[0];
    return list_entry(node, struct timer, by_id);
}

static struct timer *timer_new(struct thread *self, int32_t clock, const struct sigevent *event)
{
    if (!quota_charge(&self->proc->quota, KYMO_LIMIT_TIMERS, 1)) {
        return NULL;
    }
    struct timer *t = table_charged(timer_entry(), &self->proc->quota, KYMO_LIMIT_TIMERS);
    if (!t) {
        return NULL;
    }
    *t = (struct timer){.proc = self->proc, .event = *event, .clock = clock, .tid = self->tid};
    timer_node_init(&t->node, timer_fire);
    t->by_id.key = TABLE_INDEX(timers, t) + 1;
    trie_insert(&self->proc->timers, &t->by_id);
    return t;
}

static void timer_free(struct timer *t)
{
    timer_node_stop(&t->node);
    pulse_unqueue(&t->pulse);
    trie_remove(&t->proc->timers, &t->by_id);
    t->proc->alarm = t->alarm ? NULL : t->proc->alarm;
    quota_release(&t->proc->quota, KYMO_LIMIT_TIMERS, 1);
    t->proc = NULL;
    t->by_id.child[0] = released;
    released = &t->by_id;
}

static void timer_calls_start(struct timer *t)
{
    bool absolute = t->flags & TIMER_ABSTIME;
    t->due_ns = !absolute                     ? clock_add(clock_now_ns(), t->set.nsec)
                : t->clock == CLOCK_MONOTONIC ? t->set.nsec
                                              : clock_monotonic_at(t->set.nsec);
    t->period_ns = t->set.interval_nsec;
    if (t->period_ns != 0 && t->period_ns < t->least_ns) {
        t->period_ns = t->least_ns;
    }
    timer_node_start(&t->node, clock_expiry(t->due_ns));
}

static void timer_calls_settime(const struct thread *self, struct timer *t, uint32_t flags,
                                const struct _itimer *set)
{
    bool able = process_able(t->proc, ABILITY_PRIORITY);
    int priority = t->event.sigev_notify == SIGEV_PULSE ? t->event.sigev_priority : 0;

    timer_node_stop(&t->node);
    pulse_unqueue(&t->pulse); /* an expiry of the previous setting, not received yet */
    t->set = *set;
    t->flags = flags;
    t->overruns = 0;
    t->least_ns = (able ? CONFIG_TIMER_MIN_ABLE_US : CONFIG_TIMER_MIN_US) * 1000u;
    timer_node_charge(&t->node, t->proc,
                      priority > self->base_priority ? (uint8_t)priority : self->base_priority);
    if (set->nsec != 0) {
        timer_calls_start(t);
    }
}

/* Returns the remaining time and the period, in the form of TimerSettime() and TimerInfo(). */
static struct _itimer timer_calls_remaining(const struct timer *t)
{
    struct _itimer out = {0, t->set.interval_nsec};
    uint64_t now = clock_now_ns();
    if (timer_node_running(&t->node)) {
        out.nsec = t->due_ns > now ? t->due_ns - now : 1;
    }
    return out;
}

/* As in QNX and POSIX, without an event a timer sends SIGALRM. */
static int get_event(struct thread *self, uintptr_t from, struct sigevent *event)
{
    if (!from) {
        *event = (struct sigevent){.sigev_notify = SIGEV_SIGNAL, .sigev_coid = SIGNAL_ALARM};
        return 0;
    }
    if (copy_in(self->proc, event, from, sizeof(*event)) != 0) {
        return -EFAULT;
    }
    return event_check(self->proc, event,
                       EVENT_KIND(SIGEV_NONE) | EVENT_KIND(SIGEV_PULSE) | EVENT_KIND(SIGEV_SIGNAL));
}

long ker_timer_create(struct thread *self, const uintptr_t *args)
{
    struct sigevent event;
    if (args[0] > CLOCK_MONOTONIC) {
        return -EINVAL;
    }
    int r = get_event(self, args[1], &event);
    if (r != 0) {
        return r;
    }
    struct timer *t = timer_new(self, (int32_t)args[0], &event);
    return t ? (long)t->by_id.key : -EAGAIN;
}

long ker_timer_destroy(struct thread *self, const uintptr_t *args)
{
    struct timer *t = timer_find(self->proc, args[0]);
    if (!t) {
        return -EINVAL;
    }
    timer_free(t);
    return 0;
}

/* Handles both pointers of TimerSettime() and TimerAlarm(). *set: the call gives a new setting. */
static int timer_calls_exchange(struct thread *self, uintptr_t in, uintptr_t out,
                                struct _itimer *setting, const struct _itimer *old)
{
    if (in && copy_in(self->proc, setting, in, sizeof(*setting)) != 0) {
        return -EFAULT;
    }
    return out ? copy_out(self->proc, out, old, sizeof(*old)) : 0;
}

long ker_timer_settime(struct thread *self, const uintptr_t *args)
{
    struct timer *t = timer_find(self->proc, args[0]);
    struct _itimer setting;
    if (!t || ((uint32_t)args[1] & ~TIMER_ABSTIME)) {
        return -EINVAL;
    }
    const struct _itimer old = timer_calls_remaining(t);
    int r = timer_calls_exchange(self, args[2], args[3], &setting, &old);
    if (r == 0 && args[2]) {
        timer_calls_settime(self, t, (uint32_t)args[1], &setting);
    }
    return r;
}

long ker_timer_alarm(struct thread *self, const uintptr_t *args)
{
    const struct sigevent event = {.sigev_notify = SIGEV_SIGNAL, .sigev_coid = SIGNAL_ALARM};
    struct timer *t = self->proc->alarm;
    struct _itimer setting;
    const struct _itimer old = t ? timer_calls_remaining(t) : (struct _itimer){0, 0};
    if (args[0] > CLOCK_MONOTONIC) {
        return -EINVAL;
    }
    int r = timer_calls_exchange(self, args[1], args[2], &setting, &old);
    if (r != 0 || !args[1]) {
        return r;
    }
    if (!t) {
        t = timer_new(self, (int32_t)args[0], &event);
    }
    if (!t) {
        return -EAGAIN;
    }
    t->alarm = true;
    self->proc->alarm = t;
    timer_calls_settime(self, t, 0, &setting);
    return 0;
}

/* Like timer_search(), including the process's alarm. */
static struct timer *timer_at_least(const struct process *proc, uint32_t id)
{
    struct trie_node *node = trie_at_least(&proc->timers, id);

    return node ? list_entry(node, struct timer, by_id) : NULL;
}

/* Returns the process's first timer with this id or above, or NULL. */
static struct timer *timer_search(const struct process *proc, uint32_t id)
{
    struct timer *t = timer_at_least(proc, id);

    return t && t->alarm ? timer_at_least(proc, t->by_id.key + 1) : t; /* it has one alarm */
}

static void fill_info(struct _timer_info *info, const struct timer *t)
{
    *info = (struct _timer_info){
        .itime = timer_calls_remaining(t),
        .otime = t->set,
        .flags = t->flags,
        .tid = t->tid,
        .notify = t->event.sigev_notify,
        .clockid = t->clock,
        .overruns = t->overruns,
        .event = t->event,
    };
}

long ker_timer_info(struct thread *self, const uintptr_t *args)
{
    const struct process *proc = process_self_or(self->proc, (int)args[0]);
    uint32_t flags = (uint32_t)args[2];
    struct _timer_info info;
    if (!proc) {
        return -ESRCH;
    }
    struct timer *t = flags & _NTO_TIMER_SEARCH ? timer_search(proc, (uint32_t)args[1])
                                                : timer_find(proc, args[1]);
    if (!t || (flags & ~(uint32_t)TIMER_INFO_FLAGS)) {
        return -EINVAL;
    }
    fill_info(&info, t);
    int r = copy_out(self->proc, args[3], &info, sizeof(info));
    if (r != 0) {
        return r;
    }
    if ((flags & _NTO_TIMER_RESET_OVERRUNS) && proc == self->proc) {
        t->overruns = 0;
    }
    return (long)t->by_id.key;
}

unsigned timer_clock_was_set(unsigned first)
{
    unsigned end = first + RESET_MOST < fresh ? first + RESET_MOST : fresh;

    kernel_assert(kernel_locked());
    for (unsigned i = first; i < end; i++) {
        struct timer *t = TABLE_AT(timers, i);
        if (t->proc && timer_node_running(&t->node) && (t->flags & TIMER_ABSTIME) &&
            t->clock != CLOCK_MONOTONIC && t->period_ns == 0) {
            timer_calls_start(t);
        }
    }
    return end < fresh ? end : 0;
}

unsigned timer_count(const struct process *proc)
{
    const struct timer *t = timer_at_least(proc, 0);
    unsigned n = 0;

    for (; t; t = timer_at_least(proc, t->by_id.key + 1)) {
        n++;
    }
    return n;
}

bool timer_process_gone(struct process *proc)
{
    unsigned freed = 0;

    kernel_assert(kernel_locked());
    while (proc->timers.root) {
        if (freed++ == PROCESS_GONE_AT_ONCE) {
            return true;
        }
        timer_free(list_entry(proc->timers.root, struct timer, by_id));
    }
    return false;
}

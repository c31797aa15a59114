/* SPDX-License-Identifier: BSD-2-Clause */
/* See random_calls.h. One function fills the arguments of each kind of call. */
#include "test/kernel/world/random_calls.h"

#include <string.h>

#include "kernel/intr/intr.h"
#include "test/kernel/world/random_args.h"

#define SIGNAL_SOME 15

static void fill_none(struct thread *t, uintptr_t *a)
{
    (void)t;
    (void)a;
}

static void fill_send(struct thread *t, uintptr_t *a)
{
    a[0] = arg_coid(t);
    arg_buffer(t, a + 1);
    arg_buffer(t, a + 3);
}

static void fill_receive(struct thread *t, uintptr_t *a)
{
    a[0] = arg_chid(t->proc);
    arg_buffer(t, a + 1);
    a[3] = chance(50) ? 0 : arg_place(t, sizeof(struct _msg_info));
}

static void fill_reply(struct thread *t, uintptr_t *a)
{
    a[0] = arg_rcvid(t);
    a[1] = pick(100);
    arg_buffer(t, a + 2);
}

static void fill_error(struct thread *t, uintptr_t *a)
{
    a[0] = arg_rcvid(t);
    a[1] = chance(90) ? EIO : chance(50) ? 0 : 5000;
}

static void fill_rw(struct thread *t, uintptr_t *a)
{
    a[0] = arg_rcvid(t);
    arg_buffer(t, a + 1);
    a[3] = chance(80) ? pick(600) : (uintptr_t)0 - pick(3);
    a[4] = chance(3);
}

static void fill_info(struct thread *t, uintptr_t *a)
{
    a[0] = arg_rcvid(t);
    a[1] = arg_place(t, sizeof(struct _msg_info));
}

static void fill_pulse(struct thread *t, uintptr_t *a)
{
    a[0] = arg_coid(t);
    a[1] = chance(50) ? (uintptr_t)-1 : pick(chance(90) ? 63 : 300);
    a[2] = pick(chance(95) ? 128 : 200);
    a[3] = pick(1000);
}

static void fill_deliver(struct thread *t, uintptr_t *a)
{
    struct thread *client = any_thread();
    a[0] = chance(60) ? arg_rcvid(t) : client ? (uintptr_t)client->rcvid : pick(5000);
    a[1] = arg_event(t);
}

static void fill_kill(struct thread *t, uintptr_t *a)
{
    (void)t;
    a[0] = chance(2);
    a[1] = arg_pid(t);
    a[2] = chance(50) ? 0 : pick(8);
    a[3] = chance(90) ? 0 : pick(SIGNAL_SOME);
}

static void fill_channel(struct thread *t, uintptr_t *a)
{
    static const unsigned flags[] = {_NTO_CHF_FIXED_PRIORITY, _NTO_CHF_UNBLOCK,
                                     _NTO_CHF_THREAD_DEATH,   _NTO_CHF_DISCONNECT,
                                     _NTO_CHF_SENDER_LEN,     _NTO_CHF_COID_DISCONNECT,
                                     _NTO_CHF_REPLY_LEN};
    (void)t;
    a[0] = chance(3) ? pick(0x10000) : 0;
    for (unsigned i = 0; i < 3; i++) {
        a[0] |= chance(40) ? flags[pick(7)] : 0;
    }
}

static void fill_channel_destroy(struct thread *t, uintptr_t *a)
{
    a[0] = chance(60) ? 99 : arg_chid(t->proc);
}

static void fill_attach(struct thread *t, uintptr_t *a)
{
    const struct process *server = t->proc;
    for (unsigned i = 0; i < 20; i++) { /* one that has a channel, perhaps itself */
        const struct process *proc = any_process();
        if (proc && (proc->channels[0] || proc->channels[1]) && (proc != t->proc || chance(10))) {
            server = proc;
            break;
        }
    }
    a[0] = chance(1);
    a[1] = chance(97) ? (uintptr_t)server->pid : arg_pid(t);
    a[2] = arg_chid(server);
    a[3] = chance(70) ? 0 : chance(90) ? _NTO_SIDE_CHANNEL | pick(7) : pick(UINT32_MAX);
    a[4] = pick(chance(95) ? 2 : 4);
}

static void fill_detach(struct thread *t, uintptr_t *a)
{
    a[0] = chance(60) ? arg_coid(t) : pick(10);
}

static void fill_server_info(struct thread *t, uintptr_t *a)
{
    a[0] = arg_pid(t);
    a[1] = arg_coid(t);
    a[2] = arg_place(t, sizeof(struct _server_info));
}

static void fill_client_info(struct thread *t, uintptr_t *a)
{
    a[0] = arg_scoid(t);
    a[1] = arg_place(t, sizeof(struct _client_info));
}

static void fill_connect_flags(struct thread *t, uintptr_t *a)
{
    a[0] = arg_pid(t);
    a[1] = arg_coid(t);
    a[2] = pick(chance(95) ? 2 : 4);
    a[3] = pick(chance(95) ? 2 : 4);
}

static void fill_thread_create(struct thread *t, uintptr_t *a)
{
    struct _thread_attr attr = {
        .flags = pick(2),
        .priority = (int32_t)pick(chance(95) ? 60 : 300),
        .policy = (int32_t)pick(chance(95) ? 4 : 6),
        .runmask = chance(50) ? 0 : pick(32),
        .stackaddr = (void *)(uintptr_t)(chance(95) ? AT(0) : RO),
        .stacksize = 64,
    };
    a[0] = chance(90) ? 0 : arg_pid(t);
    a[3] = arg_in(t, &attr, sizeof(attr));
}

static void fill_tid(struct thread *t, uintptr_t *a)
{
    a[0] = chance(80) ? 1 + pick(6) : pick(9);
    a[1] = chance(50) ? 0 : arg_place(t, sizeof(uintptr_t));
}

static void fill_thread_destroy(struct thread *t, uintptr_t *a)
{
    fill_tid(t, a);
    a[0] = t->proc->nthreads == 1 && chance(90) ? 77 : a[0];
    a[2] = pick(100);
}

static void fill_thread_ctl(struct thread *t, uintptr_t *a)
{
    struct _thread_name name = {(int32_t)pick(20) - 1, (int32_t)pick(20), (char *)AT(3)};
    static const unsigned commands[] = {_NTO_TCTL_RUNMASK,     _NTO_TCTL_NAME,
                                        _NTO_TCTL_RUNMASK_GET, _NTO_TCTL_RUNMASK_GET_AND_SET,
                                        _NTO_TCTL_IO,          0};
    static const unsigned holds[] = {_NTO_TCTL_ONE_THREAD_HOLD, _NTO_TCTL_ONE_THREAD_CONT,
                                     _NTO_TCTL_THREADS_CONT, _NTO_TCTL_THREADS_CONT,
                                     _NTO_TCTL_THREADS_HOLD};
    if (chance(60)) {
        a[0] = holds[pick(chance(90) ? 3 : 5)];
        a[1] = pick(8);
        return;
    }
    a[0] = commands[pick(6)];
    a[1] = a[0] == _NTO_TCTL_RUNMASK ? pick(32) : arg_in(t, &name, sizeof(name));
}

static void fill_interrupt_attach(struct thread *t, uintptr_t *a)
{
    a[0] = chance(10) ? _NTO_HOOK_TRACE + pick(3) : chance(90) ? pick(6) : pick(50);
    a[1] = arg_event(t);
    a[2] = chance(95) ? pick(2) : pick(32);
}

static void fill_interrupt(struct thread *t, uintptr_t *a)
{
    (void)t;
    a[0] = pick(6);
    a[1] = chance(50) ? UINT32_MAX : pick(6);
}

static void fill_interrupt_wait(struct thread *t, uintptr_t *a)
{
    (void)t;
    a[0] = chance(5);
}

static void fill_clock(struct thread *t, uintptr_t *a)
{
    const uint64_t words[2] = {arg_ns(), pick(2000)};
    a[0] = arg_clock();
    a[1] = chance(50) ? 0 : arg_in(t, words, sizeof(words));
    a[2] = chance(50) ? 0 : arg_place(t, 8);
}

static void fill_clock_id(struct thread *t, uintptr_t *a)
{
    a[0] = arg_pid(t);
    a[1] = pick(8);
}

static void fill_timer_create(struct thread *t, uintptr_t *a)
{
    a[0] = pick(chance(95) ? 3 : 5);
    a[1] = arg_event(t);
}

static void fill_timer_settime(struct thread *t, uintptr_t *a)
{
    const struct _itimer set = {arg_ns(), chance(50) ? 0 : arg_ns()};
    a[0] = 1 + pick(CONFIG_TIMERS);
    a[1] = chance(50) ? 0 : chance(90) ? TIMER_ABSTIME : 1;
    a[2] = chance(10) ? 0 : arg_in(t, &set, sizeof(set));
    a[3] = chance(50) ? 0 : arg_place(t, sizeof(set));
}

static void fill_timer_info(struct thread *t, uintptr_t *a)
{
    a[0] = arg_pid(t);
    a[1] = pick(CONFIG_TIMERS + 2);
    a[2] = pick(4);
    a[3] = arg_place(t, sizeof(struct _timer_info));
}

static void fill_timer_alarm(struct thread *t, uintptr_t *a)
{
    const struct _itimer set = {chance(80) ? 0 : 1 + pick(5000000), 0};
    a[0] = pick(3);
    a[1] = chance(50) ? 0 : arg_in(t, &set, sizeof(set));
    a[2] = chance(50) ? 0 : arg_place(t, sizeof(set));
}

static void fill_timer_timeout(struct thread *t, uintptr_t *a)
{
    const uint64_t ns = arg_ns();
    const struct sigevent unblock = {.sigev_notify = SIGEV_UNBLOCK};
    a[0] = pick(chance(98) ? 3 : 5);
    a[1] = chance(30)   ? _NTO_TIMEOUT_NANOSLEEP
           : chance(95) ? pick(64) << 12 | pick(8) << 4
                        : pick(UINT32_MAX);
    a[1] |= chance(20) ? TIMER_ABSTIME : 0;
    a[2] = chance(80) ? 0 : chance(80) ? arg_in(t, &unblock, sizeof(unblock)) : arg_event(t);
    a[3] = chance(10) ? 0 : arg_in(t, &ns, sizeof(ns));
    a[4] = chance(80) ? 0 : arg_place(t, 8);
}

static void fill_sync_any(struct thread *t, uintptr_t *a)
{
    a[0] = honest(t->proc) ? NOWHERE : arg_sync(t, 0, MUTEXES + CONDVARS + SEMAPHORES);
}

static void fill_sync_create(struct thread *t, uintptr_t *a)
{
    fill_sync_any(t, a + 1);
    a[0] = pick(4);
}

static void fill_mutex(struct thread *t, uintptr_t *a)
{
    a[0] = arg_sync(t, 0, MUTEXES);
}

/* One that it has, if there is one. */
static uintptr_t own_mutex(struct thread *t)
{
    uintptr_t addr = arg_sync(t, 0, MUTEXES);
    for (unsigned i = 0; i < MUTEXES; i++) {
        const sync_t *m = vm_user_ptr(t->proc, SYNC_AT(i), sizeof(*m), KYMO_PROT_READ);
        if (m && (m->owner & ~SYNC_WAITING) == (uint32_t)t->tid && chance(90)) {
            addr = SYNC_AT(i);
        }
    }
    return addr;
}

static void fill_unlock(struct thread *t, uintptr_t *a)
{
    a[0] = own_mutex(t);
}

static void fill_cond_wait(struct thread *t, uintptr_t *a)
{
    a[0] = arg_sync(t, MUTEXES, CONDVARS);
    a[1] = own_mutex(t);
}

static void fill_cond_signal(struct thread *t, uintptr_t *a)
{
    a[0] = arg_sync(t, MUTEXES, CONDVARS);
    a[1] = pick(2);
}

static void fill_sem(struct thread *t, uintptr_t *a)
{
    a[0] = arg_sync(t, MUTEXES + CONDVARS, SEMAPHORES);
    a[1] = chance(20);
}

static void fill_sched(struct thread *t, uintptr_t *a)
{
    struct sched_param_kymo param = {.sched_priority = (int32_t)pick(chance(95) ? 60 : 300)};
    a[0] = chance(50) ? 0 : arg_pid(t);
    a[1] = pick(8);
    a[2] = arg_place(t, sizeof(param));
    if (chance(50)) {
        a[2] = pick(chance(95) ? 4 : 6);
        a[3] = arg_in(t, &param, sizeof(param));
    }
}

static void fill_sched_info(struct thread *t, uintptr_t *a)
{
    a[0] = arg_pid(t);
    a[1] = pick(5);
    a[2] = arg_place(t, sizeof(struct sched_info_kymo));
}

static void fill_wait(struct thread *t, uintptr_t *a)
{
    a[0] = chance(60) ? 0 : arg_pid(t);
    a[1] = chance(50) ? 0 : arg_place(t, sizeof(int));
    a[2] = pick(3) == 0;
}

static void fill_process_info(struct thread *t, uintptr_t *a)
{
    a[0] = arg_pid(t);
    a[1] = arg_place(t, 256);
    a[2] = arg_place(t, 256);
}

static void fill_memory(struct thread *t, uintptr_t *a)
{
    struct mapping *m = &t->proc->space.maps[pick(CONFIG_MAPPINGS)];
    a[0] = chance(99) ? 1 + pick(3000) : 0;
    a[1] = pick(8);
    a[2] = chance(50) ? pick(8) : 0;
    if (m->len && (m->vaddr > RO || (!honest(t->proc) && chance(3)))) {
        a[0] = m->vaddr;
        a[1] = m->len;
    }
}

/* ---- which calls make sense now ---------------------------------------------------- */

static bool channel_anywhere(const struct thread *t)
{
    (void)t;
    return fake_pool_used(CONFIG_CHANNELS) > 0;
}

static bool has_channel(const struct thread *t)
{
    for (unsigned i = 0; i < CONFIG_CHANNELS_PER_PROCESS; i++) {
        if (t->proc->channels[i]) {
            return true;
        }
    }
    return false;
}

static bool connected(const struct thread *t)
{
    for (unsigned i = 0; i < CONFIG_CONNECTIONS_PER_PROCESS; i++) {
        const struct connection *f = t->proc->fds[i], *s = t->proc->side[i];
        if ((f && f->channel) || (s && s->channel)) {
            return true;
        }
    }
    return false;
}

static bool serves(const struct thread *t)
{
    return has_client(t->proc);
}

static bool something_sent(const struct process *proc)
{
    for (unsigned i = 0; i < CONFIG_CHANNELS_PER_PROCESS; i++) {
        const struct channel *ch = proc->channels[i];
        if (ch && (!list_empty(&ch->senders) || !list_empty(&ch->pulses))) {
            return true;
        }
    }
    return false;
}

static bool attached(const struct thread *t)
{
    for (unsigned i = 0; i < CONFIG_INTERRUPT_ATTACHMENTS; i++) {
        if (intr_table[i].proc == t->proc) {
            return true;
        }
    }
    return false;
}

static bool has_timer(const struct thread *t)
{
    return timer_count(t->proc) > 0;
}

static bool owns(const struct thread *t)
{
    for (unsigned i = 0; i < MUTEXES; i++) {
        const sync_t *m = vm_user_ptr(t->proc, SYNC_AT(i), sizeof(*m), KYMO_PROT_READ);
        if (m && (m->owner & ~SYNC_WAITING) == (uint32_t)t->tid) {
            return true;
        }
    }
    return false;
}

/* A call, how often of all, its arguments; when it makes sense, what to do otherwise. */
#define ANY(NAME, n, args) \
    { \
        .number = KER_##NAME, .weight = n, .fill = fill_##args \
    }
#define IF(when, NAME, n, args, ELSE) \
    { \
        .number = KER_##NAME, .weight = n, .fill = fill_##args, .sense = when, \
        .before = KER_##ELSE \
    }

static const struct {
    uint8_t number, weight;
    void (*fill)(struct thread *t, uintptr_t *args);
    bool (*sense)(const struct thread *t); /* could it do anything? NULL: always */
    uint8_t before;                        /* what would help */
} calls[] = {
    IF(connected, MSG_SENDV, 60, send, CONNECT_ATTACH),
    IF(connected, MSG_SENDVNC, 5, send, CONNECT_ATTACH),
    IF(has_channel, MSG_RECEIVEV, 50, receive, CHANNEL_CREATE),
    IF(has_channel, MSG_RECEIVEPULSEV, 8, receive, CHANNEL_CREATE),
    IF(serves, MSG_REPLYV, 40, reply, MSG_RECEIVEV),
    IF(serves, MSG_ERROR, 8, error, MSG_RECEIVEV),
    IF(serves, MSG_READV, 10, rw, MSG_RECEIVEV),
    IF(serves, MSG_WRITEV, 10, rw, MSG_RECEIVEV),
    IF(serves, MSG_INFO, 3, info, MSG_RECEIVEV),
    IF(serves, MSG_CURRENT, 5, info, MSG_RECEIVEV),
    IF(connected, MSG_SEND_PULSE, 20, pulse, CONNECT_ATTACH),
    IF(serves, MSG_DELIVER_EVENT, 6, deliver, MSG_RECEIVEV),
    ANY(SIGNAL_KILL, 2, kill),
    ANY(CHANNEL_CREATE, 10, channel),
    ANY(CHANNEL_DESTROY, 3, channel_destroy),
    IF(channel_anywhere, CONNECT_ATTACH, 15, attach, CHANNEL_CREATE),
    IF(connected, CONNECT_DETACH, 4, detach, CONNECT_ATTACH),
    IF(connected, CONNECT_SERVER_INFO, 2, server_info, CONNECT_ATTACH),
    IF(has_channel, CONNECT_CLIENT_INFO, 2, client_info, CHANNEL_CREATE),
    IF(connected, CONNECT_FLAGS, 2, connect_flags, CONNECT_ATTACH),
    ANY(THREAD_CREATE, 20, thread_create),
    ANY(THREAD_DESTROY, 4, thread_destroy),
    ANY(THREAD_DETACH, 2, tid),
    ANY(THREAD_JOIN, 6, tid),
    ANY(THREAD_CANCEL, 3, tid),
    ANY(THREAD_CTL, 6, thread_ctl),
    ANY(INTERRUPT_ATTACH, 6, interrupt_attach),
    IF(attached, INTERRUPT_DETACH, 3, interrupt, INTERRUPT_ATTACH),
    ANY(INTERRUPT_WAIT, 5, interrupt_wait),
    IF(attached, INTERRUPT_MASK, 4, interrupt, INTERRUPT_ATTACH),
    IF(attached, INTERRUPT_UNMASK, 10, interrupt, INTERRUPT_ATTACH),
    ANY(CLOCK_TIME, 4, clock),
    ANY(CLOCK_ADJUST, 3, clock),
    ANY(CLOCK_PERIOD, 1, clock),
    ANY(CLOCK_ID, 2, clock_id),
    ANY(CLOCK_CYCLES, 2, info),
    ANY(TIMER_CREATE, 6, timer_create),
    IF(has_timer, TIMER_DESTROY, 2, interrupt, TIMER_CREATE),
    IF(has_timer, TIMER_SETTIME, 10, timer_settime, TIMER_CREATE),
    IF(has_timer, TIMER_INFO, 3, timer_info, TIMER_CREATE),
    ANY(TIMER_ALARM, 2, timer_alarm),
    ANY(TIMER_TIMEOUT, 30, timer_timeout),
    ANY(SYNC_CREATE, 2, sync_create),
    ANY(SYNC_DESTROY, 1, sync_any),
    ANY(SYNC_MUTEX_LOCK, 20, mutex),
    IF(owns, SYNC_MUTEX_UNLOCK, 20, unlock, SYNC_MUTEX_LOCK),
    ANY(SYNC_MUTEX_REVIVE, 6, mutex),
    IF(owns, SYNC_CONDVAR_WAIT, 10, cond_wait, SYNC_MUTEX_LOCK),
    ANY(SYNC_CONDVAR_SIGNAL, 10, cond_signal),
    ANY(SYNC_SEM_POST, 10, sem),
    ANY(SYNC_SEM_WAIT, 10, sem),
    ANY(SYNC_CTL, 1, none),
    ANY(SCHED_GET, 3, sched),
    ANY(SCHED_SET, 8, sched),
    ANY(SCHED_YIELD, 5, none),
    ANY(SCHED_INFO, 1, sched_info),
    ANY(PROC_EXIT, 1, none),
    ANY(PROC_WAIT, 8, wait),
    ANY(PROC_INFO, 2, process_info),
    ANY(THREAD_INFO, 3, process_info),
    ANY(PROC_SELF, 2, process_info),
    ANY(MEM_MAP, 5, memory),
    ANY(MEM_UNMAP, 5, memory),
    ANY(NOP, 1, none),
    {.number = 99, .weight = 1, .fill = fill_none},
};
#define CALLS (sizeof(calls) / sizeof(calls[0]))

/* What a well-behaved program does in user mode, with a compare-and-swap. */
static bool without_kernel(struct thread *t, unsigned number, uintptr_t addr)
{
    sync_t *sync = vm_user_ptr(t->proc, addr, sizeof(*sync), KYMO_PROT_WRITE);
    if (!sync || addr % sizeof(*sync) != 0 || !honest(t->proc)) {
        return false;
    }
    if (number == KER_SYNC_MUTEX_LOCK && sync->owner == 0) {
        sync->owner = (uint32_t)t->tid;
        return true;
    }
    if (number == KER_SYNC_MUTEX_UNLOCK && sync->owner == (uint32_t)t->tid) {
        sync->owner = 0;
        return true;
    }
    return false;
}

static unsigned by_number(unsigned number)
{
    unsigned i = 0;
    while (calls[i].number != number) {
        i++;
    }
    return i;
}

/* Mostly one that could do something, or what must come before it. Servers answer more often than
 * chance would have it, or soon everybody waits. */
static unsigned choose(const struct thread *t)
{
    unsigned total = 0;
    for (unsigned n = 0; n < CALLS; n++) {
        total += calls[n].weight;
    }
    uint32_t n = pick(total);
    unsigned i = 0;
    for (; n >= calls[i].weight; i++) {
        n -= calls[i].weight;
    }
    if (chance(20) && has_client(t->proc)) {
        return by_number(KER_MSG_REPLYV);
    }
    while (calls[i].sense && !calls[i].sense(t) && chance(90)) {
        i = by_number(calls[i].before);
    }
    return i;
}

/* Would this thread be the last one to wait? */
static bool alone(void)
{
    unsigned run = 0;
    for (unsigned n = 0; n < CONFIG_CPUS; n++) {
        run += cpus[n].current != NULL;
    }
    return run < 2;
}

static bool may_wait(const struct thread *t, unsigned number)
{
    switch (number) {
    case KER_MSG_RECEIVEV:
    case KER_MSG_RECEIVEPULSEV:
        return !something_sent(t->proc);
    case KER_MSG_SENDV:
    case KER_MSG_SENDVNC:
    case KER_THREAD_JOIN:
    case KER_INTERRUPT_WAIT:
    case KER_SYNC_MUTEX_LOCK:
    case KER_SYNC_CONDVAR_WAIT:
    case KER_SYNC_SEM_WAIT:
    case KER_PROC_WAIT:
    case KER_TIMER_TIMEOUT:
        return true;
    default:
        return false;
    }
}

bool random_call(struct thread *t, unsigned *number, uintptr_t args[6])
{
    unsigned i = choose(t);
    while (may_wait(t, calls[i].number) && alone() && chance(90)) {
        i = choose(t);
    }
    *number = calls[i].number;
    for (unsigned n = 0; n < 6; n++) {
        args[n] = 0;
    }
    calls[i].fill(t, args);
    return !without_kernel(t, *number, args[0]);
}

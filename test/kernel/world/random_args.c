/* SPDX-License-Identifier: BSD-2-Clause */
/* See random_args.h. */
#include "test/kernel/world/random_args.h"

#include <string.h>

#include "test/tool/random.h"

#define IOVS AT(8) /* arrays of parts */
#define MESSAGES AT(0x10)

uint64_t random_begin(void)
{
    random_start();
    return random_state;
}

uint32_t pick(uint32_t n)
{
    return random_below(n);
}

bool chance(unsigned percent)
{
    return random_below(100) < percent;
}

bool honest(const struct process *proc)
{
    return (unsigned)(proc->pid - 1) % CONFIG_PROCESSES % 2 == 1;
}

struct process *any_process(void)
{
    struct process *proc = process_in_slot(1 + pick(CONFIG_PROCESSES - 1));
    return proc && !proc->zombie ? proc : NULL;
}

struct thread *any_thread(void)
{
    struct thread *t = thread_by_index(pick(CONFIG_THREADS));
    return t && t->proc != kernel_process ? t : NULL;
}

static bool is_client(const struct process *server, const struct thread *t)
{
    return t && t->state == STATE_REPLY && t->channel->proc == server;
}

bool has_client(const struct process *proc)
{
    for (unsigned i = 0; i < CONFIG_THREADS; i++) {
        if (is_client(proc, thread_by_index(i))) {
            return true;
        }
    }
    return false;
}

uintptr_t arg_pid(const struct thread *t)
{
    const struct process *proc = any_process();
    if (!proc || chance(10)) {
        return pick(60);
    }
    return chance(20) ? (uintptr_t)t->proc->pid : (uintptr_t)proc->pid;
}

uintptr_t arg_coid(const struct thread *t)
{
    unsigned first = pick(2 * CONFIG_CONNECTIONS_PER_PROCESS);
    if (chance(5)) {
        return chance(50) ? pick(8) : pick(UINT32_MAX);
    }
    for (unsigned i = 0; i < 2 * CONFIG_CONNECTIONS_PER_PROCESS; i++) {
        unsigned at = (first + i) / 2 % CONFIG_CONNECTIONS_PER_PROCESS;
        const struct connection *conn = (first + i) % 2 ? t->proc->fds[at] : t->proc->side[at];
        if (conn && (conn->channel || chance(10))) {
            return (uintptr_t)conn->coid;
        }
    }
    return pick(5);
}

uintptr_t arg_scoid(const struct thread *t)
{
    const struct channel *ch = t->proc->channels[pick(CONFIG_CHANNELS_PER_PROCESS)];
    if (!ch || list_empty(&ch->connections) || chance(5)) {
        return pick(UINT32_MAX);
    }
    return (uintptr_t)list_entry(ch->connections.next, struct connection, link)->scoid;
}

uintptr_t arg_chid(const struct process *proc)
{
    unsigned first = pick(CONFIG_CHANNELS_PER_PROCESS);
    for (unsigned i = 0; i < CONFIG_CHANNELS_PER_PROCESS && chance(98); i++) {
        const struct channel *ch = proc->channels[(first + i) % CONFIG_CHANNELS_PER_PROCESS];
        if (ch) {
            return (uintptr_t)ch->chid;
        }
    }
    return pick(CONFIG_CHANNELS_PER_PROCESS + 2);
}

uintptr_t arg_rcvid(const struct thread *t)
{
    unsigned first = pick(CONFIG_THREADS);
    for (unsigned i = 0; i < CONFIG_THREADS && chance(99); i++) {
        const struct thread *client = thread_by_index((first + i) % CONFIG_THREADS);
        if (is_client(t->proc, client)) {
            return (uintptr_t)client->rcvid;
        }
    }
    return chance(50) ? pick(CONFIG_THREADS + 2) : pick(UINT32_MAX);
}

uintptr_t arg_clock(void)
{
    const struct thread *t = any_thread();
    if (t && chance(20)) {
        return chance(50) ? 0x40000000u | (uint32_t)t->rcvid : 0x60000000u | (uint32_t)t->proc->pid;
    }
    return chance(98) ? pick(3) : pick(UINT32_MAX);
}

uint64_t arg_ns(void)
{
    switch (pick(10)) {
    case 0:
        return 0;
    case 1:
        return 1 + pick(1000);
    case 2:
        return ((uint64_t)pick(UINT32_MAX) << 32 | pick(UINT32_MAX)) >> pick(64);
    case 3:
        return clock_now_ns() + pick(1000000);
    default:
        return pick(1000000);
    }
}

uintptr_t arg_sync(const struct thread *t, unsigned first, unsigned n)
{
    sync_t *sync = vm_user_ptr(t->proc, SYNC_AT(first), n * sizeof(sync_t), KYMO_PROT_WRITE);
    for (unsigned i = 0; sync && i < n; i++) {
        if (first + i >= MUTEXES + CONDVARS && sync[i].owner == 0) {
            sync[i] = (sync_t){(int32_t)pick(3), SYNC_OWNER_SEM}; /* the process is new */
        }
    }
    if (chance(2)) {
        return chance(50) ? SYNC_AT(first) + 1 + pick(3) : RO;
    }
    return SYNC_AT(first + pick(n));
}

/* Where a mapping ends, begins to be read only, or nothing is. */
static uintptr_t bad_place(size_t bytes)
{
    switch (pick(4)) {
    case 0:
        return RO + 8 * pick(16);
    case 1:
        return RO - pick((uint32_t)bytes + 1);
    case 2:
        return RO + 4096 - pick((uint32_t)bytes + 1);
    default:
        return chance(50) ? NOWHERE : (uintptr_t)0 - pick(64);
    }
}

uintptr_t arg_place(const struct thread *t, size_t bytes)
{
    if (chance(4)) {
        return bad_place(bytes);
    }
    uintptr_t addr = AT(2) + 8 * pick(64);
    if (chance(10)) {
        addr++;
    }
    return !honest(t->proc) && chance(5) ? SYNCS : addr;
}

uintptr_t arg_in(const struct thread *t, const void *from, size_t bytes)
{
    uintptr_t addr = arg_place(t, bytes);
    void *p = vm_user_ptr(t->proc, addr, bytes, KYMO_PROT_WRITE);
    if (p && addr != SYNCS) {
        memcpy(p, from, bytes);
    }
    return addr;
}

uintptr_t arg_event(const struct thread *t)
{
    static const int kinds[] = {SIGEV_NONE, SIGEV_PULSE, SIGEV_PULSE,  SIGEV_PULSE,
                                SIGEV_INTR, SIGEV_INTR,  SIGEV_UNBLOCK};
    struct sigevent event = {.sigev_notify = kinds[pick(7)]};
    event.sigev_coid = (int)arg_coid(t);
    event.sigev_code = (int16_t)pick(chance(95) ? 128 : 300);
    event.sigev_priority = (int16_t)(chance(30) ? -1 : (int)pick(chance(95) ? 63 : 300));
    event.sigev_value.sival_int = (int)pick(1000);
    if (chance(2)) {
        event.sigev_notify = chance(50) ? SIGEV_SIGNAL : (int)pick(UINT32_MAX);
        event.sigev_coid = (int)pick(70);
    }
    return arg_in(t, &event, sizeof(event));
}

static size_t length(void)
{
    switch (pick(12)) {
    case 0:
        return 0;
    case 1:
        return 4096 + pick(0x2000);
    case 2:
        return chance(80) ? 100 : (size_t)0x7fffff00u << pick(20);
    case 3:
    case 4:
        return CONFIG_COPY_CHUNK - 2 + pick(5);
    case 5:
    case 6:
    case 7:
        return pick(2000);
    default:
        return 4 * pick(9);
    }
}

static uintptr_t message_place(const struct thread *t)
{
    if (chance(3)) {
        return bad_place(64);
    }
    if (!honest(t->proc) && chance(5)) {
        return chance(50) ? SYNCS + pick(64) : IOVS + pick(256);
    }
    return MESSAGES + (chance(50) ? 4 * pick(0x400) : pick(0x2000));
}

static void parts(const struct thread *t, uintptr_t *args)
{
    unsigned n = chance(95) ? pick(6) : 62 + pick(4);
    uintptr_t addr = IOVS + sizeof(iov_t) * pick(8);
    iov_t *iov = vm_user_ptr(t->proc, addr, n * sizeof(iov_t), KYMO_PROT_WRITE);
    for (unsigned i = 0; iov && i < n; i++) {
        SETIOV(&iov[i], message_place(t), length());
    }
    args[0] = chance(98) ? addr : bad_place(16);
    args[1] = n;
}

void arg_buffer(const struct thread *t, uintptr_t *args)
{
    unsigned kind = pick(100);
    args[0] = message_place(t);
    if (kind < 55) {
        args[1] = LEN(length());
    } else if (kind < 97) {
        parts(t, args);
    } else {
        args[1] = (uintptr_t)pick(UINT32_MAX) << pick(33);
    }
}

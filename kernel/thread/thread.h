/* SPDX-License-Identifier: BSD-2-Clause */
/* Threads: the object, creation and end, and blocking. All functions are called with the kernel
 * lock held. */
#ifndef KERNEL_THREAD_THREAD_H
#define KERNEL_THREAD_THREAD_H

#include "abi/compiler.h"
#include "abi/errno.h"
#include "abi/sys/kymo.h"
#include "abi/sys/neutrino.h"
#include "abi/sys/states.h"
#include "kernel/arch/cpu.h"
#include "kernel/base/cpu.h"
#include "kernel/base/list.h"
#include "kernel/base/order.h"
#include "kernel/base/pulse.h"
#include "kernel/base/table.h"
#include "kernel/mem/mem.h"
#include "kernel/time/time.h"
#include "trace/dtrace/thread.h"
#include "trace/hook.h"

#ifndef KERNEL_COUNTS_H
#define KERNEL_COUNTS_H "kernel/thread/counts/none.h"
#endif
#include KERNEL_COUNTS_H

struct channel;
struct connection;
struct process;

/* Values that a kernel call handler returns besides a result (>= 0) or a negative errno. They are
 * outside both ranges. */
#define KER_BLOCKED (-0x10000L) /* the thread blocked; the code that wakes it sets the result */
/* A preemption point: the handler did a part of its work and is called again (args[] and step are
 * kept) after other work, unless the thread ends first. */
#define KER_AGAIN (-0x10001L)
#define KER_LOCK (-0x10002L)   /* from a NOLOCK handler: take the lock and call ker_<x>_locked */
#define KER_STATUS (-0x10003L) /* the handler set the result itself by thread_result() */
#define KER_GONE (-0x10004L)   /* the calling thread ended: it must not be accessed any more */

struct thread {
    struct arch_context ctx;     /* [k] must be first: used by the ports' assembler */
    uintptr_t args[6];           /* [k] of the current call, copied once from registers */
    struct process *proc;        /* [I] */
    int32_t tid;                 /* [I] 1 to KYMO_TID_MAX */
    int32_t pid;                 /* [I] proc's */
    struct dtrace_thread dtrace; /* [c] belongs to the D machine */
    uint8_t state;               /* [k] STATE_*; only thread_set_state() writes it */
    uint8_t priority;            /* [k] effective */
    uint8_t base_priority;       /* [k] as set */
    uint8_t msg_priority;        /* [k] inherited through a received message; 0: none */
    uint8_t sync_priority; /* [k] inherited from threads that wait for mutexes it owns; 0: none */
    uint8_t call_priority; /* [k] inherited from threads that wait for its long call; 0: none */
    uint8_t policy;        /* [k] SCHED_* */
    uint8_t flags;         /* [k] THREAD_* */
    uint8_t call;          /* [k] number of the current kernel call */
    uint8_t cpu;           /* [k] CPU where it runs or last ran */
    uint16_t generation;   /* [k] of this table slot: part of rcvid */
    uint16_t index;        /* [I] in the table of all threads */
    int32_t rcvid;         /* [I] index + 1, with the generation above it: never 0; 0: free */
    uint32_t runmask;      /* [k] CPUs it may run on */
    uint32_t step; /* [k] progress of a call that returned KER_AGAIN; 0 at the start of each call */
    struct list ready;   /* [k] READY: in its ready queue. Blocked: in the queue it waits in
                              (channel's senders, receivers; sync; join; …) */
    uint64_t run_cycles; /* [k] CPU time used */
    uint32_t slice_from; /* [k] low word of run_cycles when its round-robin quantum began */
    /* [k] ThreadCancel(): address at which it continues at its next blocking call; 0: none */
    uintptr_t canstub;
    /* [k] result of the previous call, for its KERCALL exit event (only while that event is on) */
    long result;
    int result_error; /* [k] */

    /* blocked in SEND, RECEIVE or REPLY (kernel/ipc/msg.c) */
    struct channel *channel;       /* [k] the channel */
    struct connection *connection; /* [k] SEND, REPLY: the connection used */
    uint32_t srcmsglen;            /* [k] SEND, REPLY: bytes sent */
    uint32_t dstmsglen;            /* [k] room for the reply; RECEIVE: for the message */
    /* [k] REPLY: the thread that received the message; NULL if that thread has ended. SEND: the
     * thread copying it in pieces; NULL: none yet */
    struct thread *server;
    /* [k] RECEIVE: its message buffer; SEND and REPLY: its reply buffer, if it is one piece of
     * memory; NULL: must be looked up. vm_remove() clears it */
    void *buffer;
    /* [k] RECEIVE: the same buffer, if the call accepts messages and has no timeout, the buffer is
     * word-aligned, and info is known; else NULL */
    void *plain;
    /* [k] RECEIVE, plain not NULL: the struct _msg_info that the call wants; NULL: none */
    struct _msg_info *info;
    /* [k] user mapping caches of its messages: for its iov_t, for the bytes that it sends and
     * replies, and for its receive buffers. vm_remove() and vm_protect() empty them. Its own calls
     * read them before they have the lock (kernel/entry/msg_direct.c) */
    struct vm_cache iov_cache, out_cache, in_cache;
    struct vm_cache sync_cache; /* [k] user mapping cache of the sync_t that its calls name */
    /* [k] and of the texts and words that it inserts into the trace; its own calls read these two
     * without the lock */
    struct vm_cache text_cache, words_cache;
    /* [k] the channel that it most recently received from, whose senders raise its priority */
    struct channel *serving;
    int32_t xfer;    /* [k] rcvid of the message being received in pieces; 0: none */
    uint32_t msglen; /* [k] REPLY: bytes that the server's MsgReceive() received */
    /* [k] with TIMEOUT_STATE_READ: number of this message among those being read */
    uint32_t read_seq;
    /* [k] SEND: order of arrival, compared with pulses of the same priority. MUTEX, CONDVAR, SEM:
     * order of arrival among all such waiters; for a thread that wakes such waiters in steps: the
     * order when its call began. For a thread that ends in steps: its position
     * (thread_gone_piece) */
    uint32_t queue_seq;

    /* blocked in MUTEX, CONDVAR, SEM (kernel/sync/sync.c) */
    uintptr_t sync; /* [k] address of the sync_t in proc. WAITCTX: or of a call_lock */
    union {
        uintptr_t sync_mutex;       /* [k] CONDVAR: the mutex to lock again */
        struct spawn_job *spawning; /* [k] during ProcSpawn() */
    };
    struct thread *sync_owner; /* [k] MUTEX: the owner, which inherits its priority */
    /* [k] CONDVAR, MUTEX: errno to return once the mutex is locked (ETIMEDOUT) */
    int32_t sync_error;

    /* JOIN: waiting for a thread, and being waited for */
    struct list joiners;             /* [k] at most one thread waits here (its ready node) */
    uintptr_t exit_status;           /* [k] DEAD */
    uintptr_t stack_low, stack_high; /* [k] */

    uint8_t intr_pulses; /* [k] number of SIGEV_INTR received while not in INTR; saturates */

    /* TimerTimeout(): applies to the next block in one of these states (kernel/time/timer.c) */
    uint32_t timeout_states; /* [k] armed for the next block; 0: none */
    uint64_t timeout_at;     /* [k] cycles */
    bool timeout_now;        /* [k] zero timeout: do not block */
    bool served; /* [k] if serving is NULL: clients may still refer to it as their server */
    /* [k] SEND, or WAITCTX for a call_lock: its node in that queue, next to ready */
    struct order_node order;
    struct timer_node timeout; /* [k] active while blocked; set up by timeout_arm() */
    uint64_t born;             /* [I] trace clock at its creation */
    char name[KYMO_THREAD_NAME_MAX];
    struct pulse notice; /* [k] UNBLOCK while it lives; THREADDEATH when it is DEAD */
};

#define THREAD_CALL_NONE 255 /* thread.call: in no call, so no call's end is traced */

#define THREAD_DETACHED 0x01
#define THREAD_AGAIN 0x02 /* the call must be called again before the thread resumes */
/* The thread is to end. Either another CPU runs it, and it ends at that CPU's next kernel exit; or
 * it first has to complete, in steps, work that others wait for (thread_end.c). */
#define THREAD_DYING 0x04
#define THREAD_MAIN 0x08
#define THREAD_UNBLOCK_SENT 0x10 /* the server got an UNBLOCK pulse (kernel/ipc/msg.c) */
/* The thread's wait was aborted from outside, which must be traced before it resumes. Set together
 * with THREAD_AGAIN, which has its own meaning only if step is not 0. */
#define THREAD_ABORTED 0x20
#define THREAD_HELD 0x40 /* by ThreadCtl(): must not run until it is continued */
/* DEAD, and joined or detached: kept only for its notice; lookups don't find it. */
#define THREAD_FORGOTTEN 0x80
/* Set in timeout_states of a thread that is held while it waits or while it runs on another CPU:
 * its wake then leaves the common path. No state has this number. */
#define TIMEOUT_STATE_HELD (1u << 31)
/* Likewise in REPLY: a server reads or writes the message in pieces (kernel/ipc/msg_rw.c). */
#define TIMEOUT_STATE_READ (1u << 30)
#define TIMEOUT_STATE_SPECIAL (TIMEOUT_STATE_HELD | TIMEOUT_STATE_READ)

/* The states that a program may name. */
#define TIMEOUT_STATES \
    (_NTO_TIMEOUT_SEND | _NTO_TIMEOUT_RECEIVE | _NTO_TIMEOUT_REPLY | _NTO_TIMEOUT_NANOSLEEP | \
     _NTO_TIMEOUT_MUTEX | _NTO_TIMEOUT_CONDVAR | _NTO_TIMEOUT_JOIN | _NTO_TIMEOUT_INTR | \
     _NTO_TIMEOUT_SEM)

void thread_init(void);
/* Creates a thread. Returns 0 and *out, -EAGAIN if a table is full, or arch_context_init()'s error.
 * State STOPPED: the caller starts it by thread_wake(). Emits THCREATE. */
int thread_create(struct process *proc, struct thread *creator, uintptr_t func, uintptr_t arg,
                  const struct _thread_attr *attr, struct thread **out);
/* Ends a thread in any state: removes it from every queue, wakes joiner and clients, emits
 * THDESTROY. A thread that runs on another CPU is only marked, and that CPU is interrupted; if t is
 * the caller's thread, the caller must return KER_GONE. */
void thread_end(struct thread *t, uintptr_t status);
/* Ends a process's ender and the process, when nothing else is left of the process. The caller must
 * return KER_GONE. */
void thread_end_last(struct thread *t);
/* Functions that thread_end() calls in rooms to the right of this one, in three steps: each list in
 * its order, up to NULL. The lists and the reasons for their order are in kernel/entry/gone.c. */
typedef void thread_gone_call(struct thread *t);
/* t no longer runs; it is in no queue and not yet DEAD */
extern thread_gone_call *const thread_gone[];
/* Called in steps, after these, while the process exists: does a bounded part of the work, and
 * returns whether there is more. t->queue_seq is 0 before the first part. */
typedef bool thread_gone_piece(struct thread *t);
extern thread_gone_piece *const thread_gone_pieces[];
extern thread_gone_call *const thread_killed[]; /* DEAD, and not by its own call */
extern thread_gone_call *const thread_ended[];  /* DEAD, and THDESTROY emitted */
/* Returns the slot in its process's threads[] that a tid shares with tids that are not in use. */
static inline unsigned thread_slot(int32_t tid)
{
    return (unsigned)(tid - 1) % CONFIG_THREADS_PER_PROCESS;
}
struct thread *thread_find(struct process *proc, int tid);   /* or NULL; also for tid 0 */
struct thread *thread_living(struct process *proc, int tid); /* likewise, unless it is DEAD */
struct thread *thread_by_index(unsigned index);
/* Returns the ended thread whose table slot was not reused, with its pid, tid and name, or NULL. */
const struct thread *thread_ended_by_index(unsigned index);
extern TABLE_OF(struct thread, thread_table, CONFIG_THREADS);
/* Returns the number of table slots that were ever used: the slots from there on are free. */
unsigned thread_slots(void);

/* An rcvid identifies a thread: index + 1 in the table, and above it the generation of that
 * slot. */
#define THREAD_RCVID_BITS 13 /* for the index */
#define RCVID_INDEX_MASK ((1u << THREAD_RCVID_BITS) - 1)
_Static_assert(CONFIG_THREADS < (1 << THREAD_RCVID_BITS) - 1, "rcvid");

/* Returns the living thread identified by the rcvid, in whatever state, or NULL. */
static inline struct thread *rcvid_thread(uintptr_t arg)
{
    uint32_t index = ((uint32_t)arg & RCVID_INDEX_MASK) - 1;
    if (index >= TABLE_ENTRIES(THREADS) || !TABLE_HAS(thread_table, index)) {
        return NULL;
    }
    struct thread *t = TABLE_AT(thread_table, index);
    return t->rcvid == (int32_t)arg && t->state != STATE_DEAD ? t : NULL;
}

/* These are the only functions that write state. They trace the change first, while the old state
 * is known: for the log alone, or for it and D. */
void thread_set_state_logged(struct thread *t, enum thread_state state);
void thread_set_state_traced(struct thread *t, enum thread_state state);
static inline void thread_set_state(struct thread *t, enum thread_state state)
{
    switch (TRACE_PORT_SITE(TRACE_EV_thread_state)) {
    case TRACE_SITE_OFF:
        t->state = (uint8_t)state;
        break;
    case TRACE_SITE_LOG:
        thread_set_state_logged(t, state);
        break;
    case TRACE_SITE_ALL:
        thread_set_state_traced(t, state);
        break;
    }
}
/* Like thread_set_state(), for a caller that knows that this event is off. */
static inline void thread_set_state_unseen(struct thread *t, enum thread_state state)
{
    t->state = (uint8_t)state;
}
/* Makes next, which has this CPU now, RUNNING. prev: the thread that left the CPU, which a D probe
 * still sees as the running one; NULL: idle, or a thread that has ended. */
void thread_set_running_traced(struct thread *next, struct thread *prev);
static inline void thread_set_running(struct thread *next, struct thread *prev)
{
    switch (TRACE_PORT_SITE(TRACE_EV_thread_state)) {
    case TRACE_SITE_OFF:
        next->state = STATE_RUNNING;
        break;
    case TRACE_SITE_LOG: /* cpu_switch has no listener: see thread_set_running_traced() */
        thread_set_state_logged(next, STATE_RUNNING);
        break;
    case TRACE_SITE_ALL:
        thread_set_running_traced(next, prev);
        break;
    }
}
/*
 * Blocks the current thread: sets the state, arms a pending TimerTimeout(). The caller has enqueued
 * it and returns KER_BLOCKED. If a zero timeout forbids blocking, returns -ETIMEDOUT and changes
 * nothing: so the caller enqueues the thread after this call, or undoes it.
 */
long thread_block_limited(struct thread *t, enum thread_state state); /* the general form */
static inline long thread_block(struct thread *t, enum thread_state state)
{
    kernel_assert(t->state == STATE_RUNNING && state > STATE_STOPPED);
    if (unlikely(t->timeout_states | t->canstub)) {
        return thread_block_limited(t, state);
    }
    thread_set_state(t, state);
    return KER_BLOCKED;
}
/* Makes a blocked or STOPPED thread, which is in no queue, READY with the call's result. */
void thread_wake(struct thread *t, long value, int error);
/* Like thread_wake(), for a thread whose result was set when it blocked. */
void thread_wake_set(struct thread *t);
/* Delivers a SIGEV_INTR to the thread: ends its InterruptWait(), whose result was set when it
 * blocked, or is kept for the next one. Returns -ESRCH for NULL. */
static inline int thread_intr_wake(struct thread *t)
{
    if (!t) {
        return -ESRCH;
    }
    if (t->state == STATE_INTR) {
        thread_wake_set(t);
    } else if (t->intr_pulses < UINT8_MAX) {
        t->intr_pulses++;
    }
    return 0;
}
/* Likewise for a new thread (STOPPED): its context is as thread_create() made it. */
void thread_start(struct thread *t);
/*
 * Describes how threads wait in one blocked state. The code that blocks them defines it; this room
 * and the timeouts know only these operations of a wait.
 */
struct wait_kind {
    /* Called when t->priority has changed: moves t in its queue and passes the priority on to the
     * thread that it waits for. NULL: the queue has no order, and no thread inherits. */
    void (*requeue)(struct thread *t);
    /*
     * Called when the wait is aborted from outside. error 0: t itself ends, so it must leave its
     * queue and the result is ignored. Otherwise t's call is to fail with error (ETIMEDOUT, EINTR):
     * t leaves its queue and is woken with the error by thread_wait_over() or another function that
     * ends its call. Returns false if t must stay blocked for now (REPLY on a channel with
     * _NTO_CHF_UNBLOCK: a pulse has asked the server).
     */
    bool (*cancel)(struct thread *t, int error);
};
/* The wait_kind of each state in which threads are blocked; NULL for other states. A state has only
 * one, so that t->state identifies it and blocking stores nothing else. The table is in
 * kernel/entry/wait_kinds.c, which can include all rooms that block threads. */
extern const struct wait_kind *const wait_kinds[STATE_MAX];
/* For threads that are in no queue: the code that wakes them finds them by other means. */
extern const struct wait_kind thread_wait_unqueued;
extern const struct wait_kind thread_wait_join;
/* WAITCTX: a thread in a list by its ready node, whose call is tried again when it is woken. */
extern const struct wait_kind thread_wait_context;
/* Ends a cancel() that has removed t from its queue; returns true. */
bool thread_wait_over(struct thread *t, int error);
/* Aborts t's wait, if it is blocked: its call fails with error. Returns false if t stays blocked
 * for now: see wait_kind.cancel. */
bool thread_cancel_wait(struct thread *t, int error);
/* Called after a timeout or a cancellation has aborted t's wait and removed t from its queue:
 * requests the INT event of t's call. The event is recorded when t continues, because a call's
 * events belong to the running thread. */
static inline void thread_aborted(struct thread *t)
{
    if (TRACE_PORT_SITE_ON(TRACE_EV_kercall_int)) {
        t->step = t->flags & THREAD_AGAIN ? t->step : 0;
        t->flags |= THREAD_ABORTED | THREAD_AGAIN;
    }
}
static inline void thread_result(struct thread *t, long value, int error)
{
    if (TRACE_PORT_SITE_ON(TRACE_EV_kercall_exit)) {
        t->result = value;
        t->result_error = error;
    }
    arch_context_set_result(t, value, error);
}
/* Called when a call ends without blocking: clears the TimerTimeout() that was set for it. */
static inline void timeout_unused(struct thread *t)
{
    t->timeout_states = 0;
}
/*
 * Holds a thread (kernel/thread/thread_hold.c). A READY thread becomes STOPPED; one that runs on
 * another CPU becomes STOPPED at that CPU's next kernel exit; a blocked one keeps waiting, and
 * becomes STOPPED instead of READY when its wait ends. No effect if it is already held.
 */
void thread_hold(struct thread *t);
/* Holds the caller: its call returns 0 when it continues. Returns KER_BLOCKED. */
long thread_hold_self(struct thread *self);
/* Lets a held thread continue, regardless of how many times it was held. */
void thread_continue(struct thread *t);
/* Called at the kernel's exit for the thread that has this CPU: stops it if it was held while
 * RUNNING, even if it has become READY by yielding. */
void thread_stop_here(struct thread *t);
/* Recomputes priority = max(base, msg, sync, call) and requeues the thread in its current queue. */
void thread_update_priority(struct thread *t);
/* Lets t inherit at least this priority until the end of its call, or of its own end. */
void thread_raise_call(struct thread *t, uint8_t priority);
/* Returns false if the chain is too deep to pass the priority on. Each true needs a matching
 * inherit_leave(). */
bool inherit_enter(void);
void inherit_leave(void);
/*
 * Requests a CPU for work of this priority that belongs to no thread (timers deferred because
 * threads of higher priority run). The request is in the ready queues as the first of that
 * priority: the CPU that would run it goes idle instead, and does the work at the kernel's exit
 * (WORK_SERVICE). There is one request at a time: each replaces the previous one. Priority 0
 * withdraws it.
 */
void sched_service_request(uint8_t priority);
/* Inserts a thread into a list of threads (by their ready node), after those of its priority. */
void thread_insert_by_priority(struct list *head, struct thread *t);

/* ---- locks across the steps of a call (call_lock.c) -------------------------------- */

/* Must be zeroed before its first use. */
struct call_lock {
    struct thread *owner;   /* [k] NULL: it is free */
    struct thread *woken;   /* [k] the thread that was woken to take it next, or NULL */
    struct list waiting;    /* [k] threads in WAITCTX, by priority; {0}: the lock was never taken */
    struct order order;     /* [k] of the waiting threads */
    struct call_lock *next; /* [k] in the list of all locks that were ever taken */
};
/* Returns 0 if self now owns the lock, which it keeps until call_lock_release(); otherwise
 * KER_BLOCKED, or the error that forbids blocking. When self is woken its call is called again, and
 * takes the lock again. */
long call_lock_take(struct call_lock *lock, struct thread *self);
/* Ends the owner's inheritance and wakes the first of the waiting threads. */
void call_lock_release(struct call_lock *lock);
/* Returns whether t owns such a lock: holding t waits for the release. */
bool call_lock_owns(const struct thread *t);
/* Called if t will not take the lock that it was woken to take, if any: wakes the next thread. */
void call_lock_pass_on(struct thread *t);
/* Called when t is held while it waits for such a lock. */
void call_lock_held(struct thread *t);
/* Called when t ends. t is in no queue. */
void call_lock_gone(const struct thread *t);
/* For checks: returns the first of the locks that were ever taken. */
const struct call_lock *call_lock_first(void);

/* ---- long calls (long_call.c) ------------------------------------------------------ */

/* The function of a long call. Returns the call's result, or KER_AGAIN with self->step set: the
 * handler then continues without it. Does not block. */
typedef long long_call_part(struct thread *self, const uintptr_t *args);
/*
 * Begins or continues self's long call; for handlers: the value to return. While self->step is
 * LONG_CALL_STEP, the handler returns long_call() again. There is one long call at a time: a second
 * caller waits, in WAITCTX.
 */
long long_call(struct thread *self, long_call_part *part);
#define LONG_CALL_STEP 0xffffffffu
/* Step of a call that other threads depend on: once begun it is completed even if its thread is
 * ended meanwhile, unless its process ends. */
#define THREAD_STEP_FINISHES 0xfffffffdu
/* Step of a thread that is out of all queues and ends in steps. */
#define THREAD_STEP_LOSES 0xfffffffcu
/* Speeds up the current long call: no thread of a process without abilities runs before it. */
void long_call_hurry(void);
/* Returns whether a long call has been left before its end. */
bool long_call_pending(void);
/* Returns whether the thread is in the middle of a long call: it ends when that is complete. */
bool long_call_owns(const struct thread *t);
/* Does a part of a process's end as a long call of its ender (NULL: the process never had a
 * thread), after the long call in progress. needed: false if there is nothing to do, unless the
 * part has begun. Returns whether there is more to do; the ender may wait then. */
bool long_call_at_end(struct thread *ender, long_call_part *part, bool needed);
static inline bool long_call_begun(const struct thread *t)
{
    return t && t->step == LONG_CALL_STEP;
}

/* ---- the end (thread_end.c) -------------------------------------------------------- */

/* Frees a thread's slots in both tables. It is in no queue, and nothing refers to it. */
void thread_free(struct thread *t);
/* Like thread_free(), for a DEAD thread whose status will not be requested: at once, or as soon as
 * its THREADDEATH has been received. */
void thread_forget(struct thread *t);
/* Creates the thread that represents a CPU's idle time; never resumed. Boot only. */
struct thread *thread_create_idle(struct process *proc, unsigned cpu);
/* Creates a thread of the kernel that is executed in steps (kernel/entry/exit.c) and never resumed:
 * it waits in WAITCTX, with THREAD_AGAIN, for thread_wake_set(). Boot only. */
struct thread *thread_create_kernel(struct process *proc, const char *name);
/* Returns whether ThreadCancel() acts on a thread that is or would be blocked in this state. */
bool thread_cancellable(const struct thread *t, enum thread_state state);
/* Ends a THREAD_DYING thread at the kernel's exit of its own CPU, or after its call. */
void thread_end_here(struct thread *t);
static inline bool thread_loses(const struct thread *t)
{
    return (t->flags & THREAD_DYING) && t->step == THREAD_STEP_LOSES;
}
/* Executes a step of the end of such a thread, which runs. Returns KER_AGAIN or KER_GONE. */
long thread_end_step(struct thread *t);
/* Must be called when the priority, runmask or policy of a RUNNING or READY thread has changed. */
void sched_changed(struct thread *t);
/* Returns a thread's CPU time in cycles, including its current run. */
uint64_t thread_run_cycles(const struct thread *t);

/* ---- queries for assertions, without side effects ---------------------------------- */

/* Returns whether t is in the queue of this head, by its ready node. */
static inline bool thread_is_queued(const struct list *head, const struct thread *t)
{
    list_for_each (pos, head) {
        if (pos == &t->ready) {
            return true;
        }
    }
    return false;
}

/* Returns whether the queue of this head goes from higher to lower priorities. */
static inline bool thread_queue_ordered(const struct list *head)
{
    list_for_each (pos, head) {
        if (pos->next != head && list_entry(pos, struct thread, ready)->priority <
                                     list_entry(pos->next, struct thread, ready)->priority) {
            return false;
        }
    }
    return true;
}

/* Returns whether t is blocked: neither READY, RUNNING, STOPPED nor DEAD. */
static inline bool thread_waits(const struct thread *t)
{
    return t->state > STATE_STOPPED;
}

#endif

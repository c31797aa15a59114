/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Processes: the object, creation and end, ids. Kernel lock held. Process 1 is the kernel itself
 * ("kymo"): it owns the idle threads, one per CPU (tid = cpu + 1), and has no memory.
 */
#ifndef KERNEL_PROC_PROC_H
#define KERNEL_PROC_PROC_H

#include "kernel/base/quota.h"
#include "kernel/base/trie.h"
#include "kernel/thread/thread.h"
#include "kernel/mem/mem.h"

/* The program that a process runs, for reports and for the remaining steps of its loading. */
struct program {
    const uint8_t *elf; /* [I] in the boot image */
    size_t elf_len;     /* [I] */
    /* [I] first byte of the executable segment, in the process's address space */
    uintptr_t text;
    size_t text_len;       /* [I] */
    uintptr_t text_link;   /* [I] address at which it was linked */
    uintptr_t data_moved;  /* [I] address of its data, minus the address at which it was linked */
    const uint8_t *unwind; /* [I] its unwind table (abi/unwind.h) in the ELF, or NULL */
    size_t unwind_len;     /* [I] */
};

struct process {
    struct vm_space space; /* [k] mappings and the MPU's or MMU's state; must be first */
    int32_t pid;           /* [I] slot + 1 + generation * CONFIG_PROCESSES; never reused soon;
                               0: the slot is free */
    int32_t ended_pid;     /* [k] in a free slot: pid of its previous process; 0: none */
    /* [k] trace clock at its end; 0: alive. Kept in a free slot, like program and name, for the
     * dump at a ring's end */
    uint64_t ended;
    uint64_t born;          /* [I] trace clock at its creation */
    int32_t ppid;           /* [k] 0: the parent has ended */
    uint32_t ability;       /* [I] ABILITY_* */
    uint32_t nthreads;      /* [k] */
    bool dying;             /* [k] it is ending: process_end_step() is not complete */
    bool loading;           /* [k] being spawned: not yet found by its pid */
    bool zombie;            /* [k] ended, status not collected */
    bool held;              /* [k] its main thread has not started: KYMO_SPAWN_HOLD */
    int status;             /* [k] as returned by ProcWait() */
    uintptr_t lib_word;     /* [k] LibWord(), 0: none (Cortex-M) */
    uint32_t *lib_word_kva; /* [k] its kernel address, checked when registered */
    uintptr_t user_word;    /* [k] KYMO_TRACE_USERWORD, 0: none */
    uintptr_t sites;        /* [k] KYMO_TRACE_USERSITES */
    uint16_t nsites;        /* [k] */
    uint16_t last_tid;      /* [k] of its most recent thread */
    /* [I] address of its struct kymo_startup, which refers to the library's sites */
    uintptr_t startup;
    struct thread *threads[CONFIG_THREADS_PER_PROCESS];    /* [k] by thread_slot() */
    struct channel *channels[CONFIG_CHANNELS_PER_PROCESS]; /* [k] by chid - 1 */
    /* [k] most recent of the channels that are being destroyed; NULL: none */
    struct channel *closing;
    struct connection *fds[CONFIG_CONNECTIONS_PER_PROCESS];  /* [k] by coid */
    struct connection *side[CONFIG_CONNECTIONS_PER_PROCESS]; /* [k] by coid - _NTO_SIDE_CHANNEL */
    /* [k] its open memory objects, by id: see kernel/mem/mem.h */
    uint8_t objects[CONFIG_OBJECTS_PER_PROCESS];
    struct list sync_waiters; /* [k] threads of this process in MUTEX, CONDVAR, SEM, by their ready
                                 node's sibling: see sync.c */
    struct trie_node by_pid;  /* [k] among all processes; its key is the pid */
    struct list link; /* [k] among its parent's children or zombies; free: among the free slots */
    struct list children, zombies; /* [k] its own: living children, and ended ones */
    struct list names;             /* [k] its names (kernel/ipc/name.c) */
    struct trie timers;            /* [k] its timers (kernel/time/timer_calls.c) */
    struct timer *alarm;           /* [k] TimerAlarm()'s; NULL: none yet */
    uint64_t signals;              /* [k] signals delivered as signal_event: 1 << number */
    struct thread
        *ender;       /* [k] dying: its thread that executes process_end_step(); NULL: not yet */
    uint8_t end_step; /* [k] dying: next index of process_gone[] */
    uint8_t end_priority; /* [k] dying: highest priority of the threads in process_end_wait() */
    struct sigevent signal_event; /* [k] */
    struct pulse signal_pulse;    /* [k] carries one of these signals */
    uint64_t signals_pending;     /* [k] further signals, to be sent after it: 1 << number */
    /* [k] closed connections to its channels whose notice it has not received, and their number */
    struct list closed;
    uint32_t nclosed;
    struct quota quota;       /* [k] the resources it holds; valid as long as it has its slot */
    struct payer payer;       /* [I] pays for its slot: its parent */
    struct program program;   /* [I] */
    char name[KYMO_NAME_MAX]; /* [I] program name */
};

void process_init(void);
extern struct process *kernel_process; /* pid 1 */
/* Returns NULL if the process is not found or already dying. */
struct process *process_find(int pid);
struct process *process_self_or(struct process *self, int pid); /* pid 0: self */
/* Iterates: returns the process with the lowest pid >= pid (zombies included), or NULL. */
struct process *process_at_least(int pid);
/* Like process_at_least(), including processes that are being loaded. */
struct process *process_any_at_least(int pid);
struct process *process_child(const struct process *parent, int pid); /* 0: any; zombies first */
/*
 * Creates an empty process (no thread, no memory). Returns 0 or -EAGAIN/-ENOMEM. Emits
 * PROCCREATE_NAME.
 */
int process_create(const char *name, int ppid, uint32_t ability, struct process **out);
/*
 * Begins the end of a process: one of its threads, the current one if it belongs to the process,
 * ends the others and then frees the process's resources in each room, memory last, in steps that
 * can be preempted. That thread is the ender: it executes nothing else any more, on any CPU. Its
 * priority is the highest of the process's threads. If it is the caller's thread, the caller must
 * return KER_GONE. The parent's wait is answered at the end.
 */
void process_end(struct process *proc, int status);
/* Executes the next step of the end of self's process, whose ender self is. Returns KER_AGAIN,
 * KER_BLOCKED while threads on other CPUs have not ended, or KER_GONE. */
long process_end_step(struct thread *self);
/* Blocks self, in WAITCTX, until no process with this pid is dying; its call is then called again.
 * The ender inherits self's priority. Returns KER_BLOCKED, or 0 if there is none. */
long process_end_wait(struct thread *self, int pid);
/* Gives the end of a dying process at least this priority: its ender, and those of its threads that
 * have to complete a call first. */
void process_end_hurry(struct process *proc, uint8_t priority);
/* Functions that the end of a process calls in rooms to the right of this one: each list in its
 * order, up to NULL. The lists and the reasons for their order are in kernel/entry/gone.c. */
/* Called when the process's threads except the ender are DEAD: frees some of its resources; returns
 * true if there are more. */
typedef bool process_gone_call(struct process *proc);
extern process_gone_call *const process_gone[];
/* Called when all its resources are freed and PROCDESTROY has been emitted. */
typedef void process_ended_call(struct process *proc);
extern process_ended_call *const process_ended[];
/* Called before its slot is used for another process: the last time that ended_pid and the other
 * values kept in a free slot are valid. */
extern process_ended_call *const process_forgotten[];
/* The most objects of one kind that such a call frees. */
#define PROCESS_GONE_AT_ONCE 4
bool process_able(const struct process *proc, uint32_t ability);
/* Returns the process with this pid in whatever state, or NULL. */
struct process *process_any(int pid);
/* Gives a new process its account, inside the account around its parent's. */
void process_open_account(struct process *proc, const struct process *parent);
/* Releases the slot, and all other charges for the process. */
void process_close_account(struct process *proc);
/* Returns proc as the payer of a resource that may outlive it: after a charge to its account. */
struct payer process_payer(const struct process *proc);
/* Returns the account of a payer: that of the process, if it still has its slot, or the one around
 * it. */
struct quota *process_account(struct payer payer);
/* Releases a charge to a payer: to the process, if it still has its slot, and to all accounts
 * around it. */
void process_refund(struct payer payer, enum kymo_limit kind, size_t n);
/*
 * Sets the limits of a new process that holds nothing yet, or puts it into a new group with these
 * limits: see struct kymo_spawn. Returns 0, -EPERM (more than the parent's), -EAGAIN (no group
 * left).
 */
int process_limit(struct process *proc, uint32_t which, const uint64_t limits[KYMO_LIMITS],
                  bool group);

/* Called when a thread has ended and left threads[]; the last one also ends the process. */
void process_thread_gone(struct process *proc);
/* Makes the child parentless, and changes nothing else. */
void process_leave_parent(struct process *child);
/* Makes the child parentless. A zombie is freed; a held process ends, because no other process can
 * start it. */
void process_disown(struct process *child);
/* Wakes threads of the parent that wait for a child when no child is left for them (ECHILD). */
void process_wake_childless(struct process *parent);
/* Frees a zombie after ProcWait() has collected its status. */
void process_forget(struct process *proc);
/* Returns the number of table slots that were ever used: the slots from there on are free. */
unsigned process_slots(void);
/* Returns the process in this slot of the table, from 0, loading and dead ones included, for
 * dumps. */
struct process *process_in_slot(unsigned slot);
/* Finds the process that ended in this slot, if the slot was not reused: a zombie, or the remains
 * of a freed process. Returns its pid, or 0 if there is none. */
int32_t process_ended_in_slot(unsigned slot, const struct process **out);

#endif

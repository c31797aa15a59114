/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The simulated system while it runs; private to sim_*.c. simulate.h is its interface.
 *
 * sim_sched.c  events, states and their spans, the scheduler, the kernel's exit
 * sim_sync.c   mutexes, semaphores, condition variables
 * sim_ipc.c    messages and pulses
 * sim_life.c   processes and threads: starts and ends
 * sim_run.c    what threads and devices do; the start of the recording
 * sim_write.c  the capture, with losses and filters
 * sim_seen.c   what of the truth the capture shows
 */
#ifndef TEST_HOST_FABRICATE_SIM_H
#define TEST_HOST_FABRICATE_SIM_H

#include "abi/sys/states.h"
#include "test/host/fabricate/simulate.h"

#define SIM_PROCS 8    /* at once; the first is the kernel's, the second init */
#define SIM_THREADS 48 /* at once */
#define SIM_TIDS 8     /* of a process at once, but the kernel's */
#define SIM_OBJECTS 3  /* mutexes, semaphores and condition variables of a process, each */
#define SIM_STEP 32    /* cycles between two events at least */
#define SIM_WORDS 6
#define SIM_TIMER 27 /* numbers of interrupts */
#define SIM_IPI 1
#define SIM_LINE 33 /* the first device's; there are SIM_LINES */
#define SIM_LINES 3
#define SIM_NOBODY (-1)
#define SIM_FREE (-1) /* owner of a mutex */
#define SIM_DEAD (-2)
#define SIM_NO_CALL (-1)
#define SIM_BLOCKED 1 /* results of a handler: the thread waits */
#define SIM_DONE 0    /* it has set the result */
#define SIM_GONE 2    /* its thread has ended, or ends from now on */

enum sim_call_number {
    CALL_MSG_SENDV = 11,
    CALL_MSG_ERROR = 13,
    CALL_MSG_RECEIVEV = 14,
    CALL_MSG_REPLYV = 15,
    CALL_MSG_SEND_PULSE = 20,
    CALL_SIGNAL_KILL = 26,
    CALL_THREAD_CREATE = 46,
    CALL_THREAD_DESTROY = 47,
    CALL_THREAD_JOIN = 50,
    CALL_INTERRUPT_WAIT = 58,
    CALL_TIMER_SETTIME = 72,
    CALL_TIMER_TIMEOUT = 75,
    CALL_MUTEX_LOCK = 80,
    CALL_MUTEX_UNLOCK = 81,
    CALL_CONDVAR_WAIT = 82,
    CALL_CONDVAR_SIGNAL = 83,
    CALL_SEM_POST = 84,
    CALL_SEM_WAIT = 85,
    CALL_SCHED_YIELD = 90,
    CALL_PROC_SPAWN = 100,
    CALL_PROC_EXIT = 101,
    CALL_PROC_WAIT = 102,
};

enum sim_comm {
    COMM_SND_MESSAGE = 0,
    COMM_SND_PULSE = 1,
    COMM_REC_MESSAGE = 2,
    COMM_REC_PULSE = 3,
    COMM_SND_PULSE_EXE = 4,
    COMM_SND_PULSE_UN = 7,
    COMM_SIGNAL = 9,
    COMM_REPLY = 10,
    COMM_ERROR = 11,
};

enum sim_pr_th {
    PR_TH_CREATED = 24,
    PR_TH_DESTROYED = 25,
    PR_TH_PROC_DESTROYED = 128,
    PR_TH_PROC_CREATED = 192,
    PR_TH_THREAD_NAMED = 320,
};

struct sim_event {
    uint64_t time;
    uint8_t cpu, class, nwords;
    bool dump, in_file;
    uint16_t number;
    uint32_t words[SIM_WORDS];
    const char *text; /* NULL: none */
};

struct sim_object {
    int owner; /* of a mutex: a thread, SIM_FREE or SIM_DEAD */
    int count; /* of a semaphore */
};

struct sim_proc {
    bool used, dying;
    int32_t pid;
    uint32_t generation, instance;
    int parent, ender, nthreads;
    int queued_pulses, thread_of_tid[SIM_TIDS + SIM_CPUS_MOST];
    uint32_t named;                 /* event of its name */
    uint64_t timer_at, timer_every; /* its timer, which sends a pulse; 0: it is not set */
    int timer_cpu;
    bool unblock;    /* its channel has _NTO_CHF_UNBLOCK */
    uint32_t killer; /* life; TRUTH_NONE: it ended by itself */
    struct sim_object mutexes[SIM_OBJECTS], sems[SIM_OBJECTS];
    const char *name;
};

struct sim_args {
    int number; /* SIM_NO_CALL: none */
    uint32_t words[SIM_WORDS], nwords;
    int proc, thread, object, other; /* what it is about: indexes */
    bool all;
};

struct sim_thread {
    bool used, idle, dying, ending, again, aborted, entered, detached;
    uint32_t generation, life;
    uint32_t killer; /* who has made it `dying`: a life */
    int proc;
    int32_t tid;
    int state, cpu; /* cpu: current there by the kernel, -1 */
    uint8_t own, message_priority, sync_priority, call_priority, priority;
    struct sim_args call;
    int32_t result, error;
    uint64_t order;   /* in its queue, READY or waiting */
    uint64_t address; /* waits for this object; 0: none */
    int owner;        /* waits for this thread's mutex, -1 */
    int mutex;        /* of a condition variable's waiter */
    bool serving;
    int server;       /* REPLY: the thread that received, SEND: that copies; -1 */
    int long_client;  /* it copies this client's message, -1 */
    int target;       /* SEND, REPLY: the server's process */
    uint32_t message; /* that it has sent, TRUTH_NONE */
    uint32_t call_event, call_truth;
    bool timed;    /* a timeout runs */
    bool deferred; /* it is over, and waits for more urgent threads of other processes */
    uint64_t timeout_at, timeout_next;
    uint32_t timeout_states;
    int timeout_cpu;
    int intr_pulses, joiner;
    uint32_t span;           /* that is open, TRUTH_NONE */
    int traced_cpu;          /* current there by the events, -1 */
    struct truth_span next;  /* begins when it leaves that CPU, if next_set */
    struct truth_cause left; /* why it leaves that CPU */
    bool next_set;
};

struct sim_cpu {
    int current;    /* by the kernel; SIM_NOBODY: idle, or none */
    int traced;     /* by the events */
    int idle;       /* its idle thread */
    uint32_t lines; /* noted devices' interrupts */
    bool timer, resched, ipi;
    unsigned depth; /* of interrupts */
    int service;    /* thread whose deferred timeout is to fire now; SIM_NOBODY */
    uint64_t quantum_end;
};

struct sim {
    struct sim_options options;
    struct truth *truth;
    uint64_t now, random, order;
    struct sim_event *events;
    uint32_t nevents;
    struct sim_proc procs[SIM_PROCS];
    struct sim_thread threads[SIM_THREADS];
    struct sim_cpu cpus[SIM_CPUS_MOST];
    int attached[SIM_LINES];        /* thread that waits for the line, -1 */
    bool attached_pulse[SIM_LINES]; /* its process gets a pulse */
    struct truth_cause cause;       /* of what the kernel does now */
    unsigned on;                    /* CPU that has the kernel lock */
    bool quiet;                     /* nothing comes in between */
    bool inside;                    /* CPU `on` is in the kernel: interrupts may come there */
    uint32_t instances;
    uint64_t start; /* of the recording */
};

/* sim_run.c */
uint32_t sim_below(struct sim *sim, uint32_t n);
bool sim_chance(struct sim *sim, unsigned percent);
void sim_between(struct sim *sim, unsigned cpu); /* what other CPUs and devices do meanwhile */
void sim_interrupt(struct sim *sim, unsigned cpu, uint32_t number, bool in_kernel);

/* sim_sched.c */
uint32_t sim_event(struct sim *sim, unsigned cpu, unsigned class, unsigned number,
                   const uint32_t *words, unsigned nwords);
uint32_t sim_event2(struct sim *sim, unsigned cpu, unsigned class, unsigned number, uint32_t a,
                    uint32_t b);
uint32_t sim_state(struct sim *sim, int thread, int state); /* any but RUNNING; the event */
void sim_block(struct sim *sim, int thread, int state);
void sim_wake(struct sim *sim, int thread, int32_t result, int32_t error);
void sim_ready(struct sim *sim, int thread);
void sim_priority(struct sim *sim, int thread); /* recomputes it */
void sim_cause(struct sim *sim, unsigned kind, uint32_t by, uint32_t actor);
void sim_span_end(struct sim *sim, int thread, uint32_t event);
void sim_running(struct sim *sim, unsigned cpu, int thread);
void sim_enter(struct sim *sim, int thread); /* the event of its call */
void sim_exit(struct sim *sim, unsigned cpu);
void sim_aborted(struct sim *sim, int thread, unsigned cpu);
/* The waits of one state and object, by priority and arrival; -1: none. */
int sim_first(struct sim *sim, int proc, int state, uint64_t address);

/* sim_sync.c, sim_ipc.c, sim_life.c: handlers return SIM_DONE, SIM_BLOCKED, SIM_GONE. */
int sim_call(struct sim *sim, int thread);
uint64_t sim_mutex_address(int object);
uint64_t sim_sem_address(int object);
uint64_t sim_cond_address(int object);
void sim_inherit(struct sim *sim, int owner);
int sim_mutex_lock(struct sim *sim, int self, int object);
int sim_mutex_unlock(struct sim *sim, int self, int object);
int sim_cond_wait(struct sim *sim, int self);
int sim_cond_signal(struct sim *sim, int self);
void sim_cond_end(struct sim *sim, int thread, int32_t error); /* of one waiter's wait */
int sim_sem_wait(struct sim *sim, int self);
int sim_sem_post(struct sim *sim, int self);
void sim_owner_gone(struct sim *sim, int thread);
int sim_send(struct sim *sim, int self);
int sim_receive(struct sim *sim, int self);
int sim_reply(struct sim *sim, int self);
int sim_pulse(struct sim *sim, int self);
void sim_pulse_to(struct sim *sim, int proc, uint32_t event, uint32_t scoid);
void sim_client_end(struct sim *sim, int client, unsigned how, uint32_t event);
bool sim_cancel(struct sim *sim, int thread, int32_t error); /* aborts its wait */
void sim_message_thread_gone(struct sim *sim, int thread);
void sim_message_process_gone(struct sim *sim, int proc);
int sim_thread_new(struct sim *sim, int proc, uint8_t priority);
int sim_process_new(struct sim *sim, int parent, const char *name);
int sim_thread_create(struct sim *sim, int self);
int sim_spawn(struct sim *sim, int self);
void sim_thread_end(struct sim *sim, int thread);
int sim_end_step(struct sim *sim, int self); /* a piece of the end of its process */
int sim_destroy(struct sim *sim, int self);
int sim_join(struct sim *sim, int self);
int sim_process_exit(struct sim *sim, int self);
int sim_kill(struct sim *sim, int self);
int sim_wait_child(struct sim *sim, int self);

struct sim_written { /* how the events went into the file */
    struct mk *mk;
    bool no_calls, no_interrupts, no_messages, no_processes, no_threads;
    struct sim_cover {
        uint64_t from, to;
    } * covers[SIM_CPUS_MOST];
    uint32_t ncovers[SIM_CPUS_MOST];
};
void sim_write(struct sim *sim, struct sim_written *written);
void sim_seen(struct sim *sim, const struct sim_written *written);

#endif

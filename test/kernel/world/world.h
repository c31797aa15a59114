/* SPDX-License-Identifier: BSD-2-Clause */
/* A small world for the kernel to run in: processes and threads whose steps the test takes. */
#ifndef TEST_KERNEL_WORLD_WORLD_H
#define TEST_KERNEL_WORLD_WORLD_H

#include <limits.h>
#include <setjmp.h>
#include <stdbool.h>
#include <stdint.h>

#include "abi/errno.h"
#include "kernel/base/kercall.h"
#include "kernel/ipc/ipc.h"
#include "kernel/proc/proc.h"

#define FAKE_GRANULE 256u
#define FAKE_VADDR ((uintptr_t)0x10000)
#define FAKE_HZ 62500000u
#define FAKE_TIMER_IRQ 30
#define FAKE_EVENTS 64
#define FAKE_ERRORS 150

/* fake.c */
extern unsigned fake_cpu;
extern uint32_t fake_ipis, fake_irq_masked;
extern uint64_t fake_hz, fake_timer_at[];
extern unsigned fake_maps; /* calls that have memory which isn't mapped yet */
extern bool fake_hook_detached;
extern void (*fake_hook_goes)(void); /* what its end does before; or NULL */
extern bool fake_held;               /* the trace's noted commands wait */
/* A process pays for consumers of D, their bytes, and those of the event log. */
extern struct fake_paid {
    int32_t pid;
    unsigned consumers;
    size_t bytes, log_bytes;
} fake_paid;
extern bool fake_events_off;
/* Calls of messages begin as on a port that has their words in registers (kernel/arch/entry.h). */
extern bool world_in_registers;
extern unsigned long world_registers_sent, world_registers_replied; /* without kernel_call() */
extern bool fake_log_only;
/* From now on events are the common case of the log, thread states in this form; or not. */
void fake_trace_common(bool wide_states);
void fake_trace_uncommon(void);
extern jmp_buf *fake_idle;
extern unsigned fake_events[FAKE_EVENTS];
/* The events since the test last set fake_recorded to 0, in their order, as far as they fit. */
struct fake_event {
    uint32_t what; /* the event's code, or one of these with a state, a call or a site */
    uint32_t words[4];
    uint32_t seen; /* if D listens: the states of all threads, and who runs here, as one number */
};
#define FAKE_STATE 0x10000u
#define FAKE_ENTER 0x20000u
#define FAKE_EXIT 0x30000u
#define FAKE_SITE 0x40000u
#define FAKE_RECORDED 128
extern struct fake_event fake_record[FAKE_RECORDED];
extern unsigned fake_recorded;
extern void (*fake_site)(unsigned id, const uint64_t *words); /* sites without an event; or NULL */
/* What other CPUs do just before a line is unmasked. */
extern void (*fake_before_unmask)(unsigned irq);
/* How often a kernel call ended with an error, and what hears of each. */
extern unsigned fake_errors[KERCALL_MAX][FAKE_ERRORS];
/* What the event at the entry of a call does besides. */
extern void (*fake_enter_hook)(struct thread *t);
extern void (*fake_result_hook)(const struct thread *t, int error);
/* What DTRACE does, as a long call; NULL: there is no such call. */
extern long_call_part *fake_long_call;
extern long (*fake_call)(struct thread *self, const uintptr_t *args); /* or this, if not NULL */
extern void (*fake_putc)(char c); /* what the console's device gets; or NULL */
unsigned fake_pools_used(void);
/* Poisons again what is free, after the test has brought back an earlier state of the memory. */
void fake_pools_poison(void);
/* Objects in use in the pool of so many objects: no two have the same number (unit.mk). */
unsigned fake_pool_used(unsigned count);
void broken(const char *fmt, ...) __attribute__((noreturn, format(printf, 1, 2)));

/* Boots the kernel's modules, with all CPUs or with the first only: once. */
void world_boot(void);
void world_boot_one(void);
int world_group(void **state); /* the same, for a group of tests */
/* Then the other CPUs come. */
void world_other_cpus(void);
/* A process with `data` bytes of memory at FAKE_VADDR, then 4 KB it may only read, and one thread
 * of this priority. Its number of CPUs: all. */
struct thread *world_process(uint32_t ability, int priority, size_t data);
/* The same as the child of another. */
struct thread *world_child(const struct thread *of, uint32_t ability, int priority, size_t data);
/* Another thread of that process. */
struct thread *world_thread(struct thread *of, int priority);
/* Kernel pointer to user memory of the thread's process. */
void *world_at(const struct thread *t, uintptr_t addr);
/* All memory that processes can get. */
void *world_ram(size_t *bytes);
/* Ends all processes; fails if anything of them is left. */
void world_end(void);
int world_teardown(void **state); /* the same, after each test */

/* The memory that most tests give a process, pieces of it, and a buffer of n bytes as `parts`. */
#define DATA 0x4000u
#define AT(n) (FAKE_VADDR + 0x100u * (n))
#define RO (FAKE_VADDR + DATA)
#define NOWHERE ((uintptr_t)0x10)
#define LEN(n) ((uintptr_t)0 - (uintptr_t)(n))

/* CPU that runs the thread, or -1. */
int world_cpu_of(const struct thread *t);
/* The thread, which must be running, makes a kernel call. Then everybody who can run does. */
#define CALL(t, name, ...) world_call(t, KER_##name, (uintptr_t[6]){__VA_ARGS__})
#define BLOCKED LONG_MIN
/* Its result, a negative errno if it failed, or BLOCKED if it has not returned. */
long world_call(struct thread *t, unsigned number, const uintptr_t args[6]);
/* The result of a call that was BLOCKED: the same. */
long world_result(struct thread *t);
/* All CPUs do what waits for them, until nothing does. */
void world_settle(void);
/* Time passes; timers fire. */
void world_advance(uint64_t ns);
/* An interrupt line, on a CPU. Nothing if it is masked. */
void world_interrupt(unsigned cpu, unsigned irq);
/* Ends a process as a fault would. */
void world_kill(struct process *proc);

/*
 * The same in steps, so that several CPUs' ways through the kernel interleave: what one leaves for
 * others to do stays until their step. world_enter() is the call alone, world_step() a CPU's answer
 * to an interrupt that it got: false if it got none. Both may be used in fake_lock_window(), with
 * CPUs that are not inside.
 */
void world_enter(struct thread *t, unsigned number, const uintptr_t args[6]);
bool world_step(unsigned cpu);
/* A CPU enters the kernel, as for a fault or interrupt, and does this with the lock held. */
void world_do(unsigned cpu, void (*what)(void *arg), void *arg);
/* As world_process(), on a CPU: 0 or a negative errno. */
int world_spawn(unsigned cpu, int ppid, uint32_t ability, int priority, size_t data);
/* The timer interrupt of a CPU comes, if it is due. */
void world_tick(unsigned cpu);
bool world_inside(unsigned cpu);
bool world_settled(void);

/* Invariants of all kernel objects; fails with a message (check.c). */
void world_check(void);
/* Memory that is in no process's mapping but the system's; NULL: there is none. */
extern size_t (*world_bytes_of_objects)(void);
/* What was being done, for a failure's message. */
extern void (*world_where)(void);

/* Stands for a kernel call whose file isn't linked. */
#define ABSENT(name) \
    long ker_##name(struct thread *self, const uintptr_t *args) \
    { \
        (void)self; \
        (void)args; \
        return -ENOSYS; \
    }

#endif

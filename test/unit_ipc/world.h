/* SPDX-License-Identifier: BSD-2-Clause */
/* A small world for the kernel to run in: processes and threads whose steps the test takes. */
#ifndef TEST_UNIT_IPC_WORLD_H
#define TEST_UNIT_IPC_WORLD_H

#include <setjmp.h>
#include <stdbool.h>
#include <stdint.h>

#include "kernel/kercall.h"
#include "kernel/msg.h"
#include "kernel/process.h"

#define FAKE_GRANULE 256u
#define FAKE_VADDR 0x10000u
#define FAKE_HZ 62500000u
#define FAKE_TIMER_IRQ 30
#define FAKE_EVENTS 64

/* fake.c */
extern uint32_t fake_ipis, fake_irq_masked;
extern uint64_t fake_timer_at[];
extern bool fake_hook_detached;
extern jmp_buf *fake_idle;
extern unsigned fake_events[];
unsigned fake_pools_used(void);
void fail(const char *fmt, ...) __attribute__((noreturn, format(printf, 1, 2)));

/* Boots the kernel's modules: once. */
void world_boot(void);
/* A process with `data` bytes of memory at FAKE_VADDR, then 4 KB it may only read, and one thread
 * of this priority. Its number of CPUs: all. */
struct thread *world_process(uint32_t ability, int priority, size_t data);
/* Another thread of that process. */
struct thread *world_thread(struct thread *of, int priority);
/* Kernel pointer to user memory of the thread's process. */
void *world_at(const struct thread *t, uintptr_t addr);

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

/* Invariants of all kernel objects; fails with a message (check.c). */
void world_check(void);
/* What was being done, for a failure's message. */
void world_where(void);
extern const char *world_doing;

#endif

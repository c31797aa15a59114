/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The interface below trace/: the functions that the trace code requires of its environment; trace/
 * includes no kernel header. The inlines are in TRACE_PORT_OPS_H, for a CPU trace/port/<cpu>.h, for
 * the host tests trace/port/host.h. Those of a CPU include TRACE_PORT_SYSTEM_H, the system's own
 * part:
 *
 *   trace_port_cpu(), trace_port_remembered(), TRACE_PORT_REQUEST_EXIT(), TRACE_PORT_EXIT_WORK
 *   and, on AArch64, TRACE_PORT_CODE_HIGH, trace_port_irq_save(), trace_port_irq_restore()
 *
 * The system supplies the functions: the kernel's are in kernel/observe/trace_port.c and
 * kernel/arch/<cpu>/trace.h; those of a system that has only a clock and an interrupt mask, in
 * test/trace/alone.
 */
#ifndef TRACE_PORT_H
#define TRACE_PORT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "trace/slot.h"

struct kymo_trace_refusal;
struct trace_cpu; /* trace/ring.h: one CPU's state of the event log, fast-path fields first */

/* ---- inlines, defined in TRACE_PORT_OPS_H ------------------------------------------ */

/* Returns this CPU's struct trace_cpu. */
static inline struct trace_cpu *trace_port_cpu(void);
/* Masks interrupts on this CPU, so that no other code on it can trace; nests. The returned state is
 * below 1 << TRACE_PORT_IRQ_BITS; restore() uses those bits only. */
static inline uintptr_t trace_port_irq_save(void);
static inline void trace_port_irq_restore(uintptr_t state);
/* Restores `state`, so that pending interrupts run now, and masks again. May do nothing where
 * events happen only while the caller masks interrupts. The CPU stays the same. */
static inline void trace_port_irq_window(uintptr_t state);
/* Returns whether interrupts are masked. For assertions. */
static inline bool trace_port_irq_masked(void);
/* Return the low word of this CPU's trace clock, and all of it. Interrupts masked. The clock never
 * decreases. */
static inline uint32_t trace_port_clock_low(void);
static inline uint64_t trace_port_clock(void);
/* Stores a slot with the CPU's shortest stores; returns the next slot. */
static inline struct trace_slot *trace_port_put(struct trace_slot *slot, uint32_t header,
                                                uint32_t time, uint32_t d1, uint32_t d2);
/* Packs the event's code and, below it, the interrupt state: see trace_log_time(). */
static inline uintptr_t trace_port_pack(uint32_t code, uintptr_t irq);
/*
 * TRACE_PORT_HEADER(cpu, code): the code with this CPU's number. TRACE_PORT_CODE_HIGH: the upper 32
 * bits of the kernel's code addresses, 0 on a 32-bit machine. Not 0 only where every instruction
 * has an even address. TRACE_PORT_REQUEST_EXIT(cpu): called when a buffer of this CPU passed the
 * high-water mark or was closed. Sets TRACE_PORT_EXIT_WORK in cpu->exit_work and makes this CPU
 * pass the kernel's exit soon, which then calls trace_kernel_exit(). Any context, interrupts
 * masked.
 */
/* Modes of a trace site: off, log its event, or serve every enabling, including the log. */
enum trace_site_mode { TRACE_SITE_OFF, TRACE_SITE_LOG, TRACE_SITE_ALL };
/*
 * The trace site of event `id` (TRACE_EV_*, a constant): returns its enum trace_site_mode. Where
 * text can be patched, a site is one NOP, listed in the section trace_sites; otherwise a load, a
 * test and a branch. ON(): a site with one out-of-line path, which itself distinguishes the modes.
 */
#define TRACE_PORT_SITE(id) trace_port_site(id) /* static inlines, always inlined */
#define TRACE_PORT_SITE_ON(id) trace_port_site_on(id)
/* A point where a test may switch threads or inject a nested event; empty in production. */
#ifndef TRACE_YIELD_POINT
#define TRACE_YIELD_POINT(where) ((void)0)
#endif
/* Returns the predicate that the thread on this CPU has cached as false (trace/dtrace/thread.h), or
 * 0. */
static inline uint32_t trace_port_remembered(void);

#include TRACE_PORT_OPS_H

/* ---- functions --------------------------------------------------------------------- */

unsigned trace_port_cpu_count(void);
struct trace_cpu *trace_port_cpu_at(unsigned cpu);
/* Returns pid << 32 | tid of the thread running on this CPU, on an idle CPU of the idle thread. Any
 * context. */
uint64_t trace_port_thread(void);
/* Allocates contiguous zeroed memory, aligned so that it can be mapped into a process; paddr: its
 * physical address. Returns NULL if there is none. */
void *trace_port_alloc(size_t bytes, uint64_t *paddr);
void trace_port_free(void *block, size_t bytes);
/* Unmaps the block from every process that has it mapped; called before it is freed. */
void trace_port_unmap_all(void *block, size_t bytes);
/* Returns the retained memory (abi/retain.h), of which the ring may use [from, bytes). Result: 0;
 * -EBUSY: it holds an earlier boot's recording; -ENODEV: there is none. */
int trace_port_retained(uint8_t **window, size_t *from, size_t *bytes, uint64_t *paddr);
/* Writes the header of the retained memory: it contains this ring now or, if NULL, none. */
struct kymo_retain_ring;
void trace_port_retained_ring(const struct kymo_retain_ring *ring);
/* Computes the rounded length and alignment of a block that can be mapped into a process, as
 * trace_port_alloc() would allocate it. */
bool trace_port_shape(size_t bytes, size_t *rounded, size_t *align);
/* zeroes memory; a long operation with preemption points */
void trace_port_clear(void *at, size_t bytes);
/* Writes cached data back to memory, which a reset preserves. Any context. */
void trace_port_clean(const void *at, size_t bytes);
/* Runs fn(arg) on every CPU, idle ones included; returns when all have. Not from an interrupt. */
void trace_port_run_on_all(void (*fn)(void *arg), void *arg);
/* Makes this or another CPU call trace_kernel_exit() soon, without waiting for it. Lock held. */
void trace_port_ask_exit(unsigned cpu);
/* Raises _NTO_HOOK_TRACE for a ring: a coalescing pulse. Kernel context, lock held. Returns false
 * if no process is attached. */
bool trace_port_raise(unsigned cpu, uint32_t value);
/* Returns true if a process has attached to _NTO_HOOK_TRACE. Lock held. */
bool trace_port_hooked(void);
/* Called when a buffer became FREE: wakes the state dump if it waits. Lock held. */
void trace_port_buffer_freed(void);
/* Called when user events become wanted or unwanted: they are wanted while some are on and tracing
 * runs. When it returns, all registered programs see the new value, or will after
 * trace_port_run_on_all() has called their CPUs. Lock held. */
void trace_port_user_wanted(bool wanted);
/* Called by a control command between two steps of a long operation, when its data is consistent:
 * interrupts, and threads that don't control the trace, may run. Lock held. */
void trace_port_window(void);
/* Called by trace_kernel_exit() between two steps of work that may wait: serves interrupts, and
 * lets CPUs that wait for the lock have it. Returns false if this CPU has more urgent work: the
 * remaining steps follow at a later exit. Lock held, but not throughout. */
bool trace_port_exit_window(void);
/* Switches all sites of event `id`. */
void trace_port_site_set(unsigned id, enum trace_site_mode mode);
/* Completes a batch of trace_port_site_set(): when it returns, every CPU executes its sites as set,
 * and none is still inside one in its old mode. Kernel lock; waits for the other CPUs. */
void trace_port_sites_sync(void);
/* Fires D's probes on a site. words: all arguments of the event and, for a thread state event, the
 * state after them; at least 5 words. Any context. */
void trace_port_fire(unsigned id, const uint64_t *words);
/* Arms the log's gate with the program of this name; NULL: disarms it. Returns 0, or a negative
 * errno and the reason. Kernel lock, while the gate is not armed. */
int trace_port_gate(const char *name, struct kymo_trace_refusal *why);
/* Returns whether the armed gate lets an event through (trace/gate.h). Own CPU, interrupts masked;
 * number: within the class. */
bool trace_port_passes(unsigned site, unsigned number, const uint64_t *words);
/* By site: the predicate for which the site's only D probe can be skipped by threads that have
 * cached it as false; 0: none. */
extern const uint32_t *volatile trace_port_skips[];
/* Returns false if trace_port_fire() would do nothing for this thread. */
static inline __attribute__((always_inline)) bool trace_port_listens(unsigned id)
{
    uint32_t known = *trace_port_skips[id];

    return !known || trace_port_remembered() != known;
}

#endif

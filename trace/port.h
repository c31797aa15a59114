/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The seam under trace/: what the trace code needs from whatever it runs in. The kernel supplies it
 * (kernel/observe/trace_port.c and trace/port/<cpu>.h), so do the host tests (trace/port/host.h,
 * test/unit). trace/ knows no kernel header.
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

/* This CPU's struct trace_cpu. On the target it is the first member of the kernel's struct cpu. */
static inline struct trace_cpu *trace_port_cpu(void);
/* Masks interrupts on this CPU, so that nothing else on it can trace; nests. What it returns is
 * below 1 << TRACE_PORT_IRQ_BITS; restore() looks at those bits only. */
static inline uintptr_t trace_port_irq_save(void);
static inline void trace_port_irq_restore(uintptr_t state);
static inline bool trace_port_irq_masked(void); /* for assertions */
/* Low word of this CPU's trace clock, and all of it. Interrupts masked. Clocks run forward. */
static inline uint32_t trace_port_clock_low(void);
static inline uint64_t trace_port_clock(void);
/* Stores a slot; returns the next one. The shortest stores that this CPU has. */
static inline struct trace_slot *trace_port_put(struct trace_slot *slot, uint32_t header,
                                                uint32_t time, uint32_t d1, uint32_t d2);
/* The event's code and, below it, the interrupt state: see trace_log_time(). */
static inline uintptr_t trace_port_what(uint32_t code, uintptr_t irq);
/*
 * TRACE_PORT_HEADER(cpu, code): code with this CPU's number.
 * TRACE_PORT_CODE_HIGH: the upper 32 bits of the kernel's code addresses, 0 on a 32-bit machine.
 * Not 0 only where every instruction has an even address. TRACE_PORT_REQUEST_EXIT(cpu): a buffer of
 * this CPU passed the high-water mark or was closed: sets TRACE_PORT_EXIT_WORK in cpu->exit_work
 * and sees to it that this CPU's next kernel exit, which calls trace_kernel_exit() for it, is soon.
 * Any context, interrupts masked.
 */
/* What a trace site does: nothing, log its event, or serve every enabling, the log among them. */
enum trace_site_mode { TRACE_SITE_OFF, TRACE_SITE_LOG, TRACE_SITE_ALL };
/*
 * The trace site of event `id` (TRACE_EV_*, a constant): enum trace_site_mode. Where text can be
 * patched: one NOP, recorded in the section trace_sites; else a load, a test and a branch. ON(): a
 * site with one way out of line, which finds out by itself what is to be done.
 */
#define TRACE_PORT_SITE(id) trace_port_site(id) /* static inlines, always inlined */
#define TRACE_PORT_SITE_ON(id) trace_port_site_on(id)
/* A point where a test may switch threads or inject a nested event; empty in production. */
#ifndef TRACE_YIELD_POINT
#define TRACE_YIELD_POINT(where) ((void)0)
#endif
/* What the thread on this CPU remembers (trace/dtrace/port.h, dtrace_port_predicate_cache()); 0:
 * there is none. */
static inline uint32_t trace_port_remembered(void);
/* Compare-and-swap with acquire and release order; true if swapped. */
static inline bool trace_port_cas32(volatile uint32_t *p, uint32_t expected, uint32_t desired);

#include TRACE_PORT_OPS_H

/* ---- functions --------------------------------------------------------------------- */

unsigned trace_port_cpu_count(void);
struct trace_cpu *trace_port_cpu_at(unsigned cpu);
uint64_t trace_port_clock_hz(void);
/* pid << 32 | tid of the thread that runs on this CPU; the idle thread's if none does.
 * Any context. */
uint64_t trace_port_thread(void);
/* Contiguous zeroed memory, aligned so that it can be mapped into a process; NULL if it can't be
 * contiguous. paddr: its physical address. */
void *trace_port_alloc(size_t bytes, uint64_t *paddr);
void trace_port_free(void *block, size_t bytes);
/* The block is about to be freed: unmap it from every process that has it mapped. */
void trace_port_unmap_all(void *block, size_t bytes);
/* Retained memory (abi/retain.h): 0, -EBUSY while an earlier boot's recording is in it,
 * -ENODEV: this board has none. */
int trace_port_retained(uint8_t **window, size_t *bytes, uint64_t *paddr);
/* A ring is in it now, or, NULL, is no more: the window's header. */
struct kymo_retain_ring;
void trace_port_retained_ring(const struct kymo_retain_ring *ring);
/* What a block must be like to be mapped into a process, as trace_port_alloc() makes them. */
bool trace_port_shape(size_t bytes, size_t *rounded, size_t *align);
void trace_port_clear(void *at, size_t bytes); /* zeroes; may take long: lets interrupts in */
/* From the CPU's caches to the memory itself, which a reset leaves alone. Any context. */
void trace_port_clean(const void *at, size_t bytes);
/* Runs fn(arg) on every CPU, idle ones included; returns when all have. Not from an interrupt. */
void trace_port_run_on_all(void (*fn)(void *arg), void *arg);
/* This CPU, or another one, calls trace_kernel_exit() soon. Lock held. Does not wait for it. */
void trace_port_ask_exit(unsigned cpu);
/* Raises _NTO_HOOK_TRACE for a ring: a coalescing pulse. Kernel context, lock held. False: nobody
 * there. */
bool trace_port_raise(unsigned cpu, uint32_t value);
/* True if a process has attached to _NTO_HOOK_TRACE. Lock held. */
bool trace_port_hooked(void);
/* A buffer became FREE: wake the state dump if it waits. Lock held. */
void trace_port_buffer_freed(void);
/* Switches all sites of event `id`. */
void trace_port_site_set(unsigned id, enum trace_site_mode mode);
/* After a batch of them: when it returns every CPU finds its sites as they were set, and none
 * goes on in one as it was before. Kernel lock; waits for the other CPUs. */
void trace_port_sites_sync(void);
/* D's probes on a site: all arguments of the event and, of a thread's state, the state behind them;
 * at least 5 words. Any context. */
void trace_port_fire(unsigned id, const uint64_t *words);
/* The log's gate by a program of this name; NULL: none. 0 or a negative errno and why. Kernel lock,
 * while it is not armed. */
int trace_port_gate(const char *name, struct kymo_trace_refusal *why);
/* While the log's gate is armed: whether it lets an event through (trace/gate.h). Own CPU,
 * interrupts masked; number: of the class. */
bool trace_port_passes(unsigned site, unsigned number, const uint64_t *words);
/* By site: the predicate, with which D's only probe there is through for whom remembers it; 0: none
 * such. */
extern const uint32_t *volatile trace_port_skips[];
/* False: trace_port_fire() would do nothing for this thread. */
static inline __attribute__((always_inline)) bool trace_port_listens(unsigned id)
{
    uint32_t known = *trace_port_skips[id];

    return !known || trace_port_remembered() != known;
}

#endif

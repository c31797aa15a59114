/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The kernel's interface to trace/: the one public header besides trace/hook.h (the event hooks).
 * Contexts: "kernel" means with the kernel lock held, not from an interrupt; "any" means any.
 */
#ifndef TRACE_TRACE_H
#define TRACE_TRACE_H

#include <stdbool.h>
#include <stdint.h>

#include "trace/port.h"
#include "trace/ring.h"

/* Called at boot, before the first event; trace_cpu_init() on each CPU before it traces. */
void trace_init(void);
void trace_cpu_init(struct trace_cpu *cpu, unsigned id);

/* The calling process, for ownership of the buffers. owner: the process, opaque. */
struct trace_caller {
    void *owner;
    int32_t pid, tid;
    bool able;        /* has ABILITY_TRACE */
    const char *name; /* name of the program */
};

struct trace_gate_request {
    const char *name; /* NULL: removes the gate */
    struct kymo_trace_refusal why;
};

/* Results of trace_control() besides 0.. and -errno. */
#define TRACE_DUMP_WANTED \
    (-0x20000L) /* tracing runs: the kernel now dumps the state and returns success */
/* A ring's STOP: the kernel dumps the state again, then calls trace_state_stop(). Until that is
 * complete each STOP returns this. */
#define TRACE_DUMP_THEN_STOP (-0x20001L)

/*
 * Implements TraceEvent(): cmd and up to four arguments. Kernel context. The caller has replaced
 * pointers in args with kernel pointers to checked memory, or passes them in `data`:
 *   ALLOCBUFFER         data: uint64_t *, for the physical address
 *   TAKEBUFFER          data: struct kymo_trace_buffer *
 *   QUERYLOSS           data: struct kymo_trace_loss *; QUERYOWNER: struct kymo_trace_owner *
 *   SETGATE             data: struct trace_gate_request *; QUERYSTOPPED: kymo_trace_stopped *
 * Returns the call's value, a negative errno or TRACE_DUMP_*.
 */
long trace_control(const struct trace_caller *caller, uint32_t cmd, const uint32_t args[4],
                   void *data);
/*
 * Called when the kernel is about to reuse the slot of an ended process, or of a thread with a
 * name: writes the name into the rings that may hold its events, if the policy is ring. Kernel
 * context; cross-calls.
 */
struct trace_ended {
    uint32_t ppid, pid, tid; /* tid 0: a process */
    const char *name;
    uintptr_t text, text_len; /* of a process; text_len 0: it was not loaded */
    uint64_t born, ended;     /* trace clock: none of its events is older, or newer */
};
void trace_ended(const struct trace_ended *ended);
/* Insert user events (trace/user.h has their common case); any context, no lock. data is in
 * kernel-readable memory, at most KYMO_TRACE_USER_COMBINE_MAX bytes. Return 0 or -errno (-EINVAL
 * event > 1023 or too long). */
long trace_user_simple(uint32_t event, uint32_t d1, uint32_t d2);
long trace_user_combine(uint32_t event, const uint32_t *words, unsigned nwords);
long trace_user_string(uint32_t event, const char *text, unsigned len_with_nul);
/* Inserts an event of a static probe of the library or a driver. */
long trace_user_probe(const uint32_t *words, unsigned nwords);
/* Insert class events, by internal number (trace/class_event.c lists them). able: the caller has
 * ABILITY_TRACE. Return 0 or -errno as above, also -EPERM, -ENOTSUP. */
long trace_class_simple(bool able, uint32_t slot_class, uint32_t event, uintptr_t d1, uintptr_t d2);
long trace_class_combine(bool able, uint32_t slot_class, uint32_t event, const uint32_t *words,
                         unsigned nwords);

/* Implements INSERTEVENT: header, time, d1, d2. trace/raw_event.c lists the errors. Any context. */
long trace_raw_event(bool able, const uint32_t args[4]);
/* Executes the commands of TraceEvent() that are allowed anywhere in the kernel: trace/interrupt.c.
 * args: the arguments after cmd; data: kernel memory that replaces the argument that is a pointer.
 * Returns 0 or -errno. */
long trace_interrupt(uint32_t cmd, const uint32_t args[4], const void *data);

/* Called at the kernel's exit after this CPU's TRACE_PORT_REQUEST_EXIT(): switches a buffer that
 * passed its high-water mark, raises the synthetic interrupt for READY ones. Kernel context. */
void trace_kernel_exit(void);
/* Called when this CPU's 32-bit clock was extended, or may have wrapped in idle; ports with a
 * 64-bit clock never need it. Any context, interrupts masked. */
void trace_clock_wrapped(struct trace_cpu *cpu);

/* Called when a process that owns buffers or has them mapped has ended. As a control command;
 * passes windows if it owns them. */
void trace_owner_gone(void *owner);
/* Called when the hook's owner has detached: stops linear tracing. As a control command; passes
 * windows. */
void trace_hook_detached(void);

/* The state dump: kernel/observe/trace_dump.c writes it with the hooks, on this CPU. */
bool trace_dump_room(void); /* false: no FREE buffer left: wait for trace_port_buffer_freed() */
bool trace_running(void);
uint32_t trace_starts(void); /* number of STARTs so far: a recording's number */

/* Returns the block that KYMO_MAP_TRACE maps, or NULL if there are no buffers. */
void *trace_buffers(uint64_t *paddr, uint64_t *bytes);

/*
 * KERCALL events: number is call | TRACE_KERCALL_*. The site TRACE_EV_kercall_enter / _exit / _int
 * guards the call. trace_kercall_on() returns whether this call's event is on, trace_kercall_wide()
 * whether it is recorded in its wide form, _slow() whether it is wide or the gate is armed. Kernel
 * or NOLOCK context.
 */
bool trace_kercall_on(unsigned number);
/* Like trace_kercall_on(), for a thread that need not be the one on this CPU. */
bool trace_kercall_of(unsigned number, uint32_t pid, uint32_t tid);
bool trace_kercall_wide(unsigned number);
bool trace_kercall_slow(unsigned number);
/*
 * The results of these queries in one byte for each number, for the common case: TRACE_KERCALL_LOG
 * alone means that the event is logged in its fast form, and has no other listener; WIDE alone: in
 * its wide form. ASK: it is on, and the queries above tell the rest. PROBED: D listens on the site.
 */
#define TRACE_KERCALL_LOG 1u
#define TRACE_KERCALL_ASK 2u
#define TRACE_KERCALL_PROBED 4u
#define TRACE_KERCALL_WIDE 8u
extern uint8_t trace_kercall_modes[]; /* [a] */
/* Values of an event. is_long: a bit for each value that always takes two words; is_signed: a bit
 * for each value that takes one word if it fits one as a signed number. If any other value has more
 * than 32 bits, all take two. */
#define TRACE_KERCALL_VALUES 18
struct trace_values {
    uint64_t value[TRACE_KERCALL_VALUES];
    uint32_t is_long, is_signed;
    unsigned n;
};
void trace_kercall(unsigned number, const struct trace_values *values);

#endif

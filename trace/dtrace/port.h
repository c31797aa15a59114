/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The interface below trace/dtrace/: the functions that the D machine requires of its environment,
 * in addition to trace/port.h. Supplied by the kernel on a board, by host/self/ for the target
 * `self`, and by the tests. Functions called in probe context must not block, allocate or fire
 * probes.
 */
#ifndef TRACE_DTRACE_PORT_H
#define TRACE_DTRACE_PORT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "trace/dtrace/thread.h"

enum { DTRACE_PORT_NAME_MAX = 64 }; /* bytes of a process's name, its NUL included */

/* ---- inlines, defined in DTRACE_PORT_OPS_H ----------------------------------------- */

static inline unsigned dtrace_port_cpu(void);          /* number of this CPU */
static inline uintptr_t dtrace_port_irq_save(void);    /* no other probe fires on this CPU until */
static inline void dtrace_port_irq_restore(uintptr_t); /* the matching restore */
/* Returns ns, never decreasing on a CPU; for an event that is logged, its stamp (trace/stamp.h). */
static inline uint64_t dtrace_port_timestamp(void);
/* Returns the machine's part of the current thread. */
static inline struct dtrace_thread *dtrace_port_thread_state(void);
/* Returns an identifier of the current thread, unique among living threads and, almost surely,
 * among all that ever lived. Not 0. */
static inline uint64_t dtrace_port_thread_key(void);

#include DTRACE_PORT_OPS_H

/* ---- memory ------------------------------------------------------------------------ */

unsigned dtrace_port_cpu_count(void);
void *dtrace_port_alloc(size_t bytes); /* zeroed, aligned to 16; NULL: no memory. Control context */
void dtrace_port_free(void *block, size_t bytes);
/* Returns likewise memory that is never freed and is charged to no consumer. */
void *dtrace_port_keep(size_t bytes);
/* DTRACE_PORT_ALIGN, a macro of DTRACE_PORT_OPS_H, 0 or 1: whether a load that is not aligned to
 * its size is a fault. */
/* DTRACE_PORT_STOPS, likewise: whether dtrace_port_stop_process() is supported. */
/* DTRACE_PORT_USERS, likewise: whether dtrace_port_uid() and dtrace_port_gid() are supported;
 * otherwise both ids are 0. */
/* DTRACE_PORT_COUNTS, likewise: whether dtrace_port_counter() and dtrace_port_counters() are
 * supported. */
/* DTRACE_PORT_HELPERS, likewise: whether actions may have helpers (helper.h). */
/* Reads memory. Returns false if the read faulted and `to` is undefined. The machine has checked
 * the alignment of single loads, and dtrace_port_toxic(). user: memory of the current process,
 * otherwise of the kernel. */
bool dtrace_port_peek(void *to, uint64_t address, size_t bytes, bool user);
/* Returns whether this is memory that must not be accessed at all: device registers, page 0, the
 * vector table. */
bool dtrace_port_toxic(uint64_t address, size_t bytes, bool user);
/* Writes to the current process's memory; for destructive programs only. */
bool dtrace_port_poke_user(uint64_t address, const void *from, size_t bytes);

/* ---- the current context ----------------------------------------------------------- */

uint64_t dtrace_port_vtimestamp(void);    /* ns that the current thread has run */
uint64_t dtrace_port_walltimestamp(void); /* ns since 1970 */
/* Returns the value of `cycles` or `instructions`: the CPU's count while it ran the current thread,
 * as long as a consumer uses it. */
enum { DTRACE_PORT_CYCLES, DTRACE_PORT_INSTRUCTIONS, DTRACE_PORT_COUNTERS };
uint64_t dtrace_port_counter(unsigned which);
/* Called when a consumer begins or ends to use one of them. Returns 0; -ENOTSUP: this machine
 * doesn't count these; -EBUSY: all counters are in use; -ENOMEM. Control context. */
int dtrace_port_counters(unsigned which, bool on);
int32_t dtrace_port_pid(void);
int32_t dtrace_port_tid(void);
int32_t dtrace_port_ppid(void);
uint32_t dtrace_port_uid(void);
uint32_t dtrace_port_gid(void);
int32_t dtrace_port_errno(void);
uint32_t dtrace_port_ipl(void);
uint64_t dtrace_port_curthread(void);
/* Returns whether the current process is pid, or descends from it. */
bool dtrace_port_descends(int32_t pid);
/* Returns the name of a process, also of an ended one while it is still known, otherwise "". NUL
 * within DTRACE_PORT_NAME_MAX. */
const char *dtrace_port_pidname(int32_t pid);
enum dtrace_lwpinfo { /* trace/dtrace/lwpinfo.def */
#define LWPINFO(number, name, doc) DTRACE_LWPINFO_##name = (number),
#include "trace/dtrace/lwpinfo.def"
#undef LWPINFO
};
enum {
    DTRACE_LWP_DETACH = 0x1,
    DTRACE_LWP_STOPPED = 0x2,
    DTRACE_LWP_ASLEEP = 0x4
}; /* DTRACE_LWPINFO_FLAGS */
/* Returns a word of a thread or its process; tid 0: the process's first thread. 0 if there is no
 * such process, thread or word. */
uint64_t dtrace_port_lwpinfo(int32_t pid, int32_t tid, uint32_t word);
/* Return the current process's name and arguments ("": unknown), NUL within DTRACE_PORT_NAME_MAX;
 * valid during this probe firing. */
const char *dtrace_port_execname(void);
const char *dtrace_port_execargs(void);
enum { DTRACE_PORT_DEPTH_MOST = 128 }; /* most frames that the machine counts or skips */
uint64_t dtrace_port_caller(bool user);
/* Returns a register by its number in abi/sys/panic.h. user: of the current thread in its program;
 * otherwise of the kernel at the probe. Returns false if its value is not known. */
bool dtrace_port_register(bool user, unsigned n, uintptr_t *value);
/* Stores return addresses, innermost first. Returns their number, at most max, which may be 0. to
 * NULL: returns the number that there would be. */
unsigned dtrace_port_stack(bool user, uint64_t *to, unsigned max);

/* Calls found() for each frame of the process's stack, innermost first, at most max, with its PC
 * and its stack pointer, which is 0 if the function has stored nothing yet. Returns their number.
 * Where DTRACE_PORT_HELPERS is 1. */
unsigned dtrace_port_frames(void (*found)(void *arg, uint64_t pc, uint64_t sp), void *arg,
                            unsigned max);
/* Returns the distances of the process's text and data from their linked addresses, modulo a
 * pointer's size. Where DTRACE_PORT_HELPERS is 1. */
void dtrace_port_moved(uint64_t *text, uint64_t *data);

/* ---- the event log ----------------------------------------------------------------- */

struct kymo_d_process;
/* Logs an event of class TRACE_CLASS_D: number, words (at most DTRACE_LOG_WORDS_MAX), then bytes.
 * Returns false if it is not recorded. Also in probe context. */
bool dtrace_port_log(unsigned number, const uint32_t *words, unsigned nwords, const void *bytes,
                     size_t size);
/* Sets a consumer's notes; NULL: they replace earlier ones. Control context. */
void dtrace_port_notes(uint32_t id, const void *bytes, uint32_t n);
/* Returns whether an event log runs. Control context. */
bool dtrace_port_logging(void);
/* Returns whether the log has room for some 4 KB more without overwriting data that it should keep.
 * Control context. */
bool dtrace_port_log_room(void);
/* Returns the first process with a pid above `after`, and its data for ustack(), or 0. Control
 * context. */
int32_t dtrace_port_next_process(int32_t after, struct kymo_d_process *);

/* ---- retained memory --------------------------------------------------------------- */

struct kymo_retain_d;
/* Returns 0 if there is retained memory for D; -ENODEV: there is none; -EBUSY: it still holds an
 * earlier boot's data. Control context, as all of these. */
int dtrace_port_retaining(void);
/* Like dtrace_port_alloc(), from retained memory; freed by dtrace_port_free(). */
void *dtrace_port_retain(size_t bytes);
uint32_t dtrace_port_retained_at(const void *); /* offset of such memory in the window */
/* Publishes this consumer's description for readers of the window after a crash; the port adds
 * magic, boot, the CRCs and, the first time, an id. Returns -ENOSPC if there are too many. */
int dtrace_port_retained_put(struct kymo_retain_d *);
void dtrace_port_retained_drop(const struct kymo_retain_d *); /* withdraws it */

/* ---- across CPUs ------------------------------------------------------------------- */

/* Runs fn(arg) on this CPU with no probe firing on it; returns when done. Control context. */
void dtrace_port_run_on(unsigned cpu, void (*fn)(void *arg), void *arg);
uint64_t dtrace_port_random(void); /* 64 bits; probe context: no lock */

/* Returns whether a program with this dtrace_image.kernel may run on this kernel. If not, and text
 * isn't NULL, text names both kernels, in DTRACE_REFUSAL_TEXT bytes. Control context. */
bool dtrace_port_is_kernel(const uint8_t *id, char *text);

/* logstop(): requests the program that records the event log to stop; no effect if there is
 * none. */
void dtrace_port_logstop(void);

/* ---- destructive ------------------------------------------------------------------- */

void dtrace_port_stop_process(void);
bool dtrace_port_raise(int signal);
void dtrace_port_panic(void);
void dtrace_port_breakpoint(void);
void dtrace_port_chill(uint64_t ns);

#endif

/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The seam under trace/dtrace/: what the D machine needs from whatever it runs in, beyond
 * trace/port.h. Supplied by the kernel on a board, by host/self/ for the target `self`, by the
 * tests. Functions that a firing calls must not block, allocate or fire probes.
 */
#ifndef TRACE_DTRACE_PORT_H
#define TRACE_DTRACE_PORT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { DTRACE_PORT_NAME_MAX = 64 }; /* bytes of a process's name, its NUL included */

/* ---- inlines, defined in DTRACE_PORT_OPS_H ----------------------------------------- */

static inline unsigned dtrace_port_cpu(void);          /* this CPU */
static inline uintptr_t dtrace_port_irq_save(void);    /* nothing else fires on this CPU until */
static inline void dtrace_port_irq_restore(uintptr_t); /* this */
static inline uint64_t dtrace_port_timestamp(void);    /* ns, never backward on a CPU */
/* A word of the current thread that remembers a predicate that was false: 0 at its birth. */
static inline uint32_t *dtrace_port_predicate_cache(void);
/* Identifies the current thread among all that live and, nearly surely, those that lived. Not 0. */
static inline uint64_t dtrace_port_thread_key(void);

#include DTRACE_PORT_OPS_H

/* ---- memory ------------------------------------------------------------------------ */

unsigned dtrace_port_cpu_count(void);
void *
dtrace_port_alloc(size_t bytes); /* zeroed, aligned to 16; NULL: there is none. Control context */
void dtrace_port_free(void *block, size_t bytes);
/* Whether a load that is not aligned to its size is a fault here: DTRACE_PORT_ALIGN, 0 or 1, a
 * macro of DTRACE_PORT_OPS_H. */
/* Whether dtrace_port_stop_process() can do that: DTRACE_PORT_STOPS, likewise. */
/* Reads; false: it faulted and `to` is undefined. The machine has checked alignment for single
 * loads, and dtrace_port_toxic(). user: of the current process, else of the kernel. */
bool dtrace_port_peek(void *to, uint64_t address, size_t bytes, bool user);
/* Memory that must not even be tried: device registers, page 0, the vector table. */
bool dtrace_port_toxic(uint64_t address, size_t bytes, bool user);
/* Writes to the current process; only destructive programs. */
bool dtrace_port_poke_user(uint64_t address, const void *from, size_t bytes);

/* ---- the current context ----------------------------------------------------------- */

uint64_t dtrace_port_vtimestamp(void);    /* ns that the current thread has run */
uint64_t dtrace_port_walltimestamp(void); /* ns since 1970 */
int32_t dtrace_port_pid(void);
int32_t dtrace_port_tid(void);
int32_t dtrace_port_ppid(void);
uint32_t dtrace_port_uid(void);
uint32_t dtrace_port_gid(void);
int32_t dtrace_port_errno(void);
uint32_t dtrace_port_ipl(void);
uint64_t dtrace_port_curthread(void);
bool dtrace_port_descends(int32_t pid); /* the current process is pid, or descends from it */
/* Name of a process, or of one that has ended, as far as it is known still; else "". NUL
 * within DTRACE_PORT_NAME_MAX. */
const char *dtrace_port_pidname(int32_t pid);
enum dtrace_lwpinfo { /* trace/dtrace/words.def */
#define LWPINFO(number, name, doc) DTRACE_LWPINFO_##name = (number),
#include "trace/dtrace/words.def"
#undef LWPINFO
};
enum {
    DTRACE_LWP_DETACH = 0x1,
    DTRACE_LWP_STOPPED = 0x2,
    DTRACE_LWP_ASLEEP = 0x4
}; /* DTRACE_LWPINFO_FLAGS */
/* A word of a thread or its process; tid 0: the process's first thread. 0 if there is no such
 * process, thread or word. */
uint64_t dtrace_port_lwpinfo(int32_t pid, int32_t tid, uint32_t word);
const char *dtrace_port_execname(void); /* NUL within DTRACE_PORT_NAME_MAX; stays for this firing */
const char *dtrace_port_execargs(void); /* likewise; "" if unknown */
enum {
    DTRACE_PORT_DEPTH_MOST = 128
}; /* frames that the machine has counted, or passed by, at most */
uint64_t dtrace_port_caller(bool user);
uint64_t dtrace_port_register(bool user, unsigned n, bool *exists);
/* Return addresses, innermost first; how many were stored, at most max, which may be 0. to NULL:
 * how many there would be. */
unsigned dtrace_port_stack(bool user, uint64_t *to, unsigned max);

/* ---- the event log ----------------------------------------------------------------- */

struct kymo_d_process;
/* An event of class TRACE_CLASS_D: number, words (at most DTRACE_LOG_WORDS_MAX), then bytes. False:
 * it is not recorded. Of a firing too. */
bool dtrace_port_log(unsigned number, const uint32_t *words, unsigned nwords, const void *bytes,
                     size_t size);
/* These are a consumer's notes from now on; NULL: it had others before. Control context. */
void dtrace_port_notes(uint32_t id, const void *bytes, uint32_t n);
bool dtrace_port_logging(void); /* an event log runs. Control context */
/* Some 4 KB more of it would overwrite nothing that isn't meant to be. Control context. */
bool dtrace_port_log_room(void);
/* The first process with a pid above `after`, and what ustack() wants of it; 0: none. Control
 * context. */
int32_t dtrace_port_next_process(int32_t after, struct kymo_d_process *);

/* ---- retained memory --------------------------------------------------------------- */

struct kymo_retain_d;
/* 0: there is some for D. -ENODEV: there is none here; -EBUSY: what an earlier boot has left is
 * still in it. Control context, as all of these. */
int dtrace_port_retaining(void);
/* As dtrace_port_alloc(), of retained memory; dtrace_port_free() frees it. */
void *dtrace_port_retain(size_t bytes);
uint32_t dtrace_port_retained_at(const void *); /* such memory: its place in the window */
/* Who reads the window after a crash finds this consumer, as described now; the port adds magic,
 * boot, the CRCs and, the first time, an id. -ENOSPC: too many are there. */
int dtrace_port_retained_put(struct kymo_retain_d *);
void dtrace_port_retained_drop(const struct kymo_retain_d *); /* it is found no more */

/* ---- across CPUs ------------------------------------------------------------------- */

/* Runs fn(arg) on this CPU with nothing firing there; returns when done. Control context. */
void dtrace_port_run_on(unsigned cpu, void (*fn)(void *arg), void *arg);
uint64_t dtrace_port_random(void); /* 64 bits; of a firing: no lock */

/* Whether a program with this dtrace_image.kernel may run here. If not, and text isn't NULL, it
 * names both kernels, in DTRACE_REFUSAL_TEXT bytes. Control context. */
bool dtrace_port_is_kernel(const uint8_t *id, char *text);

/* logstop(): whoever records the event log is told to stop it; nothing, if nobody does. */
void dtrace_port_logstop(void);

/* ---- destructive ------------------------------------------------------------------- */

void dtrace_port_stop_process(void);
bool dtrace_port_raise(int signal);
void dtrace_port_panic(void);
void dtrace_port_breakpoint(void);
void dtrace_port_chill(uint64_t ns);

#endif

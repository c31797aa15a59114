/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * D after the fact: a capture as a target (docs/guide/d-after.md). The D machine is compiled a
 * second time, with the port of host/after/port_ops.h; in it a capture's events fire the same
 * probes, by the same tables, as the kernel's sites do. Internal to host/after. One capture a
 * process, one thread. Tested by test/host/after.
 */
#ifndef HOST_AFTER_AFTER_H
#define HOST_AFTER_AFTER_H

#include "host/log/log.h"
#include "host/reader/kev.h"
#include "trace/dtrace/dtrace.h"
#include "trace/dtrace/port.h"
#include "trace/event_id.h"

enum { AFTER_WORDS = 10 }; /* of a site: what an entry of trace/probes.def can name */

/* ---- state.c: processes, threads and CPUs as the events so far tell ------------------ */

struct after_process {
    struct after_process *next; /* of its chain */
    int32_t pid, ppid;
    bool lives, mapped; /* there was a MAPNAME of it */
    bool moved;         /* its pid was another one's before: whose an address is is unknown */
    uint64_t text;      /* where its text begins, if mapped */
    char name[DTRACE_PORT_NAME_MAX];
};

/* Rises when events were lost: thread states that were learnt before are unknown. Never 0. */
extern uint32_t after_epoch;
struct after_thread *after_thread_find(int32_t pid, int32_t tid); /* NULL: none */
/* Finds it, or makes it; ends the command if there is no memory. */
struct after_thread *after_thread_get(int32_t pid, int32_t tid);
/* No CPU has it as its current thread when this returns. */
void after_thread_end(struct after_thread *);
struct after_process *after_process_find(int32_t pid);
struct after_process *after_process_get(int32_t pid);
/* An ended process keeps its name until many others have ended. */
void after_process_end(struct after_process *);
/* The thread that runs on a CPU; one with pid 0 if it is unknown. */
struct after_thread *after_current(unsigned cpu);
void after_current_set(unsigned cpu, struct after_thread *); /* NULL: the idle thread */
void after_current_forget(unsigned cpu);
void after_state_free(void);

/* ---- ran.c: which thread ran on a CPU at a time of the piece that was fed last ---------- */

/* Calls of host/target/target.h. */
struct target;
void after_ran_watch(struct target *);
bool after_ran(struct target *, unsigned cpu, uint64_t ns, bool before, int32_t *pid, int32_t *tid);
const char *after_ran_name(struct target *, int32_t pid);
uint64_t after_ran_now(struct target *);
/* A piece begins: what ran in the one before is forgotten. */
void after_ran_restart(void);
/* From here on this thread runs on the CPU; t NULL: unknown. */
void after_ran_note(unsigned cpu, const struct after_thread *t);

/* ---- names.c: ELF files, for the names of addresses ------------------------------------ */

void after_names_init(const struct kev *);
/* Calls of host/target/target.h. */
struct dt_session;
bool after_elf_files(struct target *, struct dt_session *, const char *const *paths, unsigned n,
                     bool quiet);
void after_objects(struct target *, struct dt_session *);
bool after_process(struct target *, int32_t pid, const char **object, uint64_t *bias);

/* ---- port.c */
void after_port_cpus(unsigned n);

/* ---- carried.c: which words of which site an event carries --------------------------- */

enum after_form { AFTER_FAST, AFTER_WIDE, AFTER_UNKNOWN };
/* Classes as FILTER_1 names them; PROBES are the system's, which are off unless it says so. */
#define AFTER_CLASSES(C) C(KERCALL) C(INT) C(PROCESS) C(THREAD) C(COMM) C(SYSTEM) C(USER) C(PROBES)
enum after_class {
#define C(name) AFTER_##name,
    AFTER_CLASSES(C)
#undef C
        AFTER_NOWHERE /* no event has it */
};

struct after_about { /* a capture's attributes on what was recorded */
    enum after_form form;
    uint32_t off;     /* bit per class that was left out */
    bool known;       /* else `off` says nothing */
    const char *gate; /* program of tracelogger -x; NULL: none */
};
void after_about(const struct kev *, struct after_about *);

/* An entry of trace/events.def. */
struct after_event {
    uint8_t slot_class;
    bool is_state;
    uint16_t number, site;
    enum after_class external;
    const char *fast[AFTER_WORDS + 1], *wide[AFTER_WORDS + 1]; /* names of the words; NULL: end */
};
const struct after_event *after_event_of(unsigned slot_class, unsigned number); /* NULL: none */

/* A probe as its provider's table has it. */
struct after_row {
    const char *provider, *function, *name;
    uint8_t words[AFTER_WORDS]; /* argN is this word of the site */
    uint32_t kinds;             /* of a thread's state, or of a user event */
    uint16_t site;              /* TRACE_EV_* */
    uint16_t call;              /* of syscall */
    bool from_state;            /* fires only for some states before */
};
const struct after_row *after_row_find(const char *provider, const char *function,
                                       const char *name);
enum after_class after_row_class(const struct after_row *);
/* Bits of the internal classes of the events that fire it. */
uint32_t after_row_slot_classes(const struct after_row *);
/* Bit per word of the site that an event of this form carries; words after the last one, which
 * read 0, count as carried. */
uint32_t after_row_carries(const struct after_row *, enum after_form);

/* ---- calls.c: the provider syscall --------------------------------------------------- */

void after_calls_init(void);
void after_call_fire(unsigned call, bool is_return, const uint64_t *words);
/* Which argument each word of the entry event is, -1: none, by form; NULL: unknown call. */
const int8_t *after_call_words(unsigned call, bool wide);
uint32_t after_call_carries(unsigned call, bool wide);
/* Whether an argument of the call that it has is a number, not an address. */
bool after_call_is_signed(unsigned call, unsigned n);

/* ---- messages.c: probes of messages that are no events ---------------------------------- */

bool after_site_of_message(unsigned site);            /* is it one of theirs? */
void after_message_sent(uint32_t rcvid, int32_t pid); /* by a client */
/* The current thread's calls; first: the first argument. A return fires the probe that it means. */
void after_message_call(unsigned call, uint32_t first);
void after_message_return(unsigned call, int64_t result);
/* Events of calls were lost. */
void after_messages_forget(void);

/* ---- stack.c: ustack() -------------------------------------------------------------------- */

void after_stack_enter(struct after_thread *, uint64_t function, uint64_t call_site);
void after_stack_exit(struct after_thread *, uint64_t function);
/* Fills in at most `max` frames, if `to` isn't NULL; returns how many there are, 0: unknown. */
unsigned after_stack(const struct after_thread *, uint64_t *to, unsigned max);
/* Events of functions were lost. */
void after_stacks_forget(void);

/* ---- ticks.c: tick-N on the capture's time -------------------------------------------- */

void after_ticks_init(void);
/* Fires the ticks that are due by then, in order. */
void after_ticks_until(uint64_t ns);

/* ---- feed.c ---------------------------------------------------------------------------- */

struct after_lost {            /* what may be missing */
    uint64_t events[32];       /* by internal class, as DROPPED says */
    uint64_t buffers;          /* sequence numbers that are missing */
    uint64_t texts;            /* log events without the text that a clause asks for: no ELF file */
    uint64_t no_stack, stacks; /* ustack() has found no function; has found some */
    uint64_t unknown;          /* events whose clauses asked for a thread that was unknown */
    uint64_t short_of[TRACE_EV_COUNT]; /* by site: events that lack a word that a clause reads */
};
extern struct after_lost after_lost;
/* By site: somebody listens (dtrace_site_want()); bits of the words that clauses read there. */
extern uint16_t after_wanted[TRACE_EV_COUNT];
extern uint32_t after_needed[TRACE_EV_COUNT];
/* Fires a site's probes. present: bits of the words that the event has; if a clause reads another
 * one, nothing fires, which is counted. */
void after_fire(unsigned site, const uint64_t *words, uint32_t present);
void after_feed_init(const struct kev_info *);
void after_feed(const struct kev *, const struct kev_event *);
uint64_t after_ns(uint64_t cycles);
/* Memory that a clause may read during this event: text, words of a user event. */
bool after_readable(uint64_t address, size_t bytes);

/* ---- check.c ---------------------------------------------------------------------------- */

/* Bits of the internal classes whose events the image's clauses need: a loss of others is none. */
extern uint32_t after_used;
/* Some clause asks for user events that are texts. */
extern bool after_wants_text;
/* Whether all that the image's clauses read is in such a capture; prints what is not. Fills in
 * after_needed and after_used. */
bool after_check(const struct dtrace_image *, const struct after_about *);
/* At the capture's end. Prints what is missing, if something is, and returns whether nothing is. */
bool after_is_whole(const struct kev *);
/* NULL, or why the capture has no such probe. */
const char *after_lacks(const char *provider, const char *function, const char *name,
                        const struct after_about *);

#endif

/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The owner of each event, and the names of processes and threads (docs/inside/ring.md, "Whose an
 * event is"). An event of class THREAD belongs to the thread that it is about; an INT_CALL between
 * THDEAD and THDESTROY is the ended thread's; any other event is the running thread's: that of its
 * CPU's last THRUNNING; CONTROL events have no owner. Nothing is guessed: the running thread is
 * unknown before the first THRUNNING of a CPU, and after a gap until the next one. Gaps are a
 * missing buffer, a DROPPED slot that counts THREAD events (class PR_TH), and slots that `recover`
 * passed over.
 *
 * Memory: at most OWNER_NAMES names. One thread. Proof: test/host/owner_test.c.
 */
#ifndef HOST_OWNER_H
#define HOST_OWNER_H

#include "host/reader/kev.h"

#define OWNER_NAMES 65536 /* processes and named threads; more have no names */
#define OWNER_NONE (-1)   /* no such thread */

struct owner {
    bool known;
    int32_t pid, tid;
    /* Class PROCESS and MAPNAME, which are recorded while another thread may run: the process that
     * the event is about, and its thread or OWNER_NONE. */
    bool about;
    int32_t about_pid, about_tid;
};

struct owners;

/* Returns NULL if there is no memory. */
struct owners *owners_new(const struct kev *kev);
void owners_free(struct owners *owners);

/* An optional first pass over all events, then owners_begin(), which again goes back to the
 * beginning at any time: a ring names its threads at its end. Such a name holds from the
 * beginning, unless the capture shows that it can't (the process began or another of its pid ended
 * meanwhile) or losses may hide that. */
void owners_learn(struct owners *owners, const struct kev_event *event);
void owners_begin(struct owners *owners);

/* Takes every event of the capture, in order; returns its owner. */
struct owner owners_follow(struct owners *owners, const struct kev_event *event);

/* Returns the name in an event of a process's creation or end, for free(); NULL: none, or
 * no memory, which sets *no_memory. */
char *owners_told(const struct kev_event *event, bool *no_memory);

/* Returns true if a name is missing because there was no memory for it. */
bool owners_lack_memory(const struct owners *owners);

/* Names as they are after the event last followed, NULL if unknown. Bytes of the capture: they may
 * be anything but NUL. */
const char *owners_process(const struct owners *owners, int32_t pid);
const char *owners_thread(const struct owners *owners, int32_t pid, int32_t tid);

struct owner_name {
    int32_t pid, tid; /* tid: OWNER_NONE of a process */
    int32_t ppid;     /* of a process */
    const char *name;
};

/* The processes and threads that have names and have not ended. Call with *at 0 first; false: no
 * more. In the order of their first events. */
bool owners_next_name(const struct owners *owners, uint32_t *at, struct owner_name *name);
/* Returns the thread running on a CPU; .known is false if that can't be determined. */
struct owner owners_running(const struct owners *owners, unsigned cpu);

#endif

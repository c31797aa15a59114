/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A selection of a capture's events, with the same options in every command that has one:
 *
 *   --from TIME --to TIME   from <= time < to (host/when.h)
 *   --cpu LIST --class LIST
 *   --event LIST            names or globs, with or without CLASS:, or CLASS:NUMBER
 *   --pid LIST --tid LIST   whose the event is (host/owner.h)
 *   --name GLOB             and of a process that is called so
 *
 * Different options must all hold; of one option's values one must. An event whose owner is
 * unknown has no pid, tid or name. Proof: test/host/select_test.c,
 * test/host/print/selections.py.
 */
#ifndef HOST_SELECT_H
#define HOST_SELECT_H

#include "host/kymo.h"
#include "host/owner.h"
#include "host/when.h"

#define SELECT_MOST 64 /* values of one option */

struct kymo_ranges {
    unsigned n;
    struct {
        int32_t first, last;
    } range[SELECT_MOST];
};

struct kymo_select {
    uint64_t cpus; /* 0: all */
    struct kymo_classes classes;
    struct kymo_when from, to;
    struct kymo_ranges pids, tids;
    unsigned nnames, nevents;
    const char *names[SELECT_MOST], *events[SELECT_MOST]; /* the caller's memory */
    bool no_memory;                                       /* for a name, in kymo_select_learn() */
    /* From here on kymo_select_bind()'s: */
    bool owned;                            /* asks for owners */
    uint64_t first, end;                   /* first <= time < end; UINT64_MAX: no end */
    uint64_t named;                        /* the names[] that some process has */
    uint8_t wanted[KEV_CLASSES][1024 / 8]; /* a bit for each event of a class */
};

/* The options' getopt_long() numbers; those of a command's own options are smaller. */
enum {
    SELECT_FROM = 1024,
    SELECT_TO,
    SELECT_CPU,
    SELECT_CLASS,
    SELECT_EVENT,
    SELECT_PID,
    SELECT_TID,
    SELECT_NAME,
};
/* clang-format off */
#define SELECT_OPTIONS \
    {"from", required_argument, NULL, SELECT_FROM}, {"to", required_argument, NULL, SELECT_TO}, \
    {"cpu", required_argument, NULL, SELECT_CPU}, \
    {"class", required_argument, NULL, SELECT_CLASS}, \
    {"event", required_argument, NULL, SELECT_EVENT}, \
    {"pid", required_argument, NULL, SELECT_PID}, \
    {"tid", required_argument, NULL, SELECT_TID}, {"name", required_argument, NULL, SELECT_NAME}
/* clang-format on */
#define SELECT_HELP \
    "  --from TIME    only events from then on: seconds since the capture's start (1.25),\n" \
    "                 with ms, us or ns after a number of those, or 0x and cycles\n" \
    "  --to TIME      only events before then\n" \
    "  --cpu LIST     only these CPUs: 0,2-3\n" \
    "  --class LIST   only these classes: control, kercall (or kercallenter,\n" \
    "                 kercallexit, kercallint; kymo_call: calls only Kymo has), int,\n" \
    "                 process, thread, vthread, system, user, comm, d, other\n" \
    "  --event LIST   only these events: names (THRUNNING), patterns ('MSG_*'), with their\n" \
    "                 class where it matters (kercallexit:MSG_SENDV), numbers (user:100)\n" \
    "  --pid LIST     only events of these processes: 3,5-7\n" \
    "  --tid LIST     only events of these threads, of any process or those of --pid\n" \
    "  --name GLOB    only events of processes with such a name: 'my_*'\n"

/* Starts with everything selected. */
void kymo_select_init(struct kymo_select *select);
/* Takes an option of SELECT_OPTIONS. Returns 0, KYMO_USAGE after a message, or -1 for any other
 * option. */
int kymo_select_option(struct kymo_select *select, const char *command, int option,
                       const char *value);
/* Checks the selection against the capture. Returns KYMO_OK, or, after a message about what the
 * capture lacks, an exit status. */
int kymo_select_bind(struct kymo_select *select, const char *command, const struct kev *kev);
/* The part of kymo_select_bind() that is repeated when a followed capture has its first event. */
void kymo_select_bind_times(struct kymo_select *select, const struct kev *kev);
/* Takes all events of the capture; then the check refuses a --name that no process ever has. */
void kymo_select_learn(struct kymo_select *select, const struct kev_event *event);
int kymo_select_check_names(const struct kymo_select *select, const struct kev *kev);

/* Returns true if the selection has the event. owner and owners may be NULL unless
 * select->owned. */
bool kymo_select_event(const struct kymo_select *select, const struct kev_event *event,
                       const struct owner *owner, const struct owners *owners);
/* Its parts: by time, by CPU, class and event, by owner. */
static inline bool kymo_select_time(const struct kymo_select *select, uint64_t time)
{
    return time >= select->first && (time < select->end || select->end == UINT64_MAX);
}
static inline bool kymo_select_kind(const struct kymo_select *select, const struct kev_event *event)
{
    return (select->cpus == 0 || (select->cpus >> event->cpu & 1) != 0) &&
           (select->wanted[event->class][event->number >> 3] >> (event->number & 7) & 1) != 0;
}
bool kymo_select_owner(const struct kymo_select *select, const struct owner *owner,
                       const struct owners *owners);

/* select_event.c: fills `wanted`. KYMO_OK, or KYMO_USAGE having said which name there isn't. */
int kymo_select_bind_events(struct kymo_select *select, const char *command, const struct kev *kev);

#endif

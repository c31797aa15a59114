/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A capture for the files of host/kev/; programs see kev.h. The library stands on the reader
 * (host/reader/), on owners, selections and records, which `kymo print` and `kymo stat` use too.
 * One thread per capture: no locks.
 */
#ifndef HOST_KEV_CAPTURE_H
#define HOST_KEV_CAPTURE_H

#include "host/kev/kev.h"
#include "host/log/log.h"
#include "host/owner.h"
#include "host/reader/kev.h"
#include "host/record.h"
#include "host/select.h"

#define CAPTURE_SCOPES 128
#define CAPTURE_SELECTS 256   /* options of a selection */
#define CAPTURE_PROGRAMS 1024 /* of log events, without an ELF file */

enum capture_stage {
    CAPTURE_NEW,
    CAPTURE_SCOPE,  /* scope items come first */
    CAPTURE_EVENTS, /* then events and losses */
    CAPTURE_ENDING, /* then losses that show at the end */
    CAPTURE_ENDED,
    CAPTURE_BROKEN, /* a fault ended everything */
};

struct capture_scope {
    uint32_t kind;
    int cpu; /* -1: of none */
    uint64_t buffers;
    int64_t to_ns;
    const char *text; /* NULL: of KEV_SCOPE_OVERWRITTEN */
};

/* When a CPU is covered, and which of its parts are missing. */
struct capture_cpu {
    struct kev_span *spans;
    long nspans;
    bool head;          /* after BUFFER, TIME and DROPPED: no event of the buffer has come */
    bool passed;        /* it has an event after the selection's end */
    uint32_t row, rows; /* of info.missing: the next one, the CPU's last one + 1 */
};

struct capture_value {
    struct kev_value value;
    char name[12]; /* "d0": the others are the table's */
};

struct kev_capture {
    enum capture_stage stage;
    struct kev_options options;
    struct kymo_select select;
    char *selected[CAPTURE_SELECTS]; /* "--pid 3": the texts of select's pointers */
    unsigned nselected;
    char *selection; /* all of it, as text */
    struct log_programs log;
    char *log_list; /* the list of log's pointer */
    char log_missing[CAPTURE_PROGRAMS][sizeof(((struct log_missing *)0)->id)];
    unsigned nlog_missing;
    uint32_t wanted; /* internal classes of which some event is selected */
    struct kev *kev;
    struct owners *owners;
    struct kev_facts facts;
    char build_id[2 * 64 + 1];
    struct capture_scope scopes[CAPTURE_SCOPES + 1]; /* the last: those without room */
    unsigned nscopes, scope;
    struct capture_cpu cpus[KEV_CPUS];

    struct kev_event event;
    struct owner owner;
    bool held;            /* the event waits for its losses to be given first */
    unsigned told;        /* which of its losses have been given: loss.c */
    bool given;           /* the last item is the event */
    uint64_t from;        /* kev_capture_seek(): in cycles, 0: none */
    uint64_t last;        /* time of the newest event */
    struct kev_error end; /* the reader's error at the end; text empty: none */
    struct kev_item item;
    struct kev_loss loss;
    char loss_text[1024], class_text[24];
    uint64_t losses, lost; /* LOSS items given, events that they count */
    bool uncounted;        /* one of them does not say how many: `lost` is a lower bound */
    bool cut_short;        /* one of them said so */
    bool lacks;            /* one of them was of missing buffers or a missing end */
    char first_loss[1024];

    struct kev_fault fault;
    char fault_text[2048], remedy[160];

    bool no_memory; /* for a name or a value: the next item is a fault */
    bool decoded;
    struct capture_value *values;
    unsigned nvalues, values_room;
    char *texts; /* of values, each with a NUL */
    size_t texts_used;
    uint32_t *words; /* the payload in this machine's byte order */

    struct kev_description description;
    char fast[512], wide[512], described[24];
    struct lives *lives;
};

/* fault.c. Each returns KEV_FAILED. `text` without the remedy, which may be NULL. */
int capture_fault(struct kev_capture *capture, enum kev_fault_code code, const char *remedy,
                  const char *format, ...) __attribute__((format(printf, 4, 5)));
int capture_fault_of(struct kev_capture *capture, const struct kev_error *error);
/* The selection's messages, which its functions don't print here (quiet.c). */
const char *quiet_said(void);

int64_t capture_ns(const struct kev_capture *capture, uint64_t cycles); /* item.c */

/* scope.c. Finds and gives a kind of event that was not meant to be recorded. False: there is no
 * more. */
void scope_find(struct kev_capture *capture);
bool scope_next(struct kev_capture *capture);

/* loss.c. When CPUs are covered: after opening. False: no memory. */
bool loss_cover(struct kev_capture *capture);
void loss_rewind(struct kev_capture *capture);
/* The next loss that `event` reports, or the end: in `loss` and `item`. False: there is no more. */
bool loss_of_event(struct kev_capture *capture);
bool loss_of_end(struct kev_capture *capture);
/* Before the losses of an event are asked for, once; after them, once. */
void loss_follow(struct kev_capture *capture);
/* Returns true if no CPU can report a loss inside the selection's time any more. */
bool loss_is_past(const struct kev_capture *capture);

/* item.c */
void item_event(struct kev_capture *capture);
void item_loss(struct kev_capture *capture, int cpu, uint64_t cycles, uint64_t offset);

/* life.c */
struct lives *lives_new(void);
void lives_free(struct lives *lives);
/* False: no memory. */
bool lives_take(struct lives *lives, const struct kev_event *event, int64_t ns);
/* After the last event. False: no memory, KEV_LOSSY: see kev_capture_learn(). */
int lives_finish(struct lives *lives);

#endif

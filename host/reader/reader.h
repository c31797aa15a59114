/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A reader of one capture, as the files of host/reader see it; kev.h is what others see. One
 * thread: no locks.
 */
#ifndef HOST_READER_READER_H
#define HOST_READER_READER_H

#include "host/reader/file.h"
#include "host/reader/index.h"
#include "host/reader/kev.h"
#include "host/reader/lane.h"
#include "host/reader/table.h"

#define KEV_BEGIN "TRACE_HEADER_BEGIN::" /* the first bytes of a capture */

/* Bits of a slot's header that mean nothing. */
#define KEV_RESERVED_BITS \
    (~(TRACE_EVENT_MASK | TRACE_CLASS_MASK | TRACE_CPU_MASK | TRACE_STRUCT_MASK | \
       _NTO_TRACE_PROCESS_INJECTED | TRACE_STATE_DUMP))

struct kev {
    struct kev_file file;
    struct kev_options options;
    struct kev_info info;
    struct kev_damage damage, damage_opened; /* the second: what the index has found */
    struct kev_attr *attrs;
    unsigned nattrs;
    uint8_t *syspage;
    uint32_t syspage_len;
    uint32_t buffer_slots;
    uint32_t reserved_bits; /* of a slot's header: 0 in a sound one */
    bool own_calls_apart;   /* Kymo's own kernel calls have a class of their own: page version 3 */
    uint32_t code_high;     /* upper half of the kernel's code addresses; 0: nothing to add */
    uint64_t slots_offset;  /* where the slots start */
    struct kev_table *table;
    struct kev_index index;
    struct kev_lane *lanes[KEV_CPUS];
    unsigned nheap;
    uint8_t heap[KEV_CPUS]; /* lanes that have a head, the earliest first */
    bool popped;            /* the first lane's head has been given out */
    struct kev_lane *run;   /* the first lane, if it is clean: its events before `run_until` are */
    uint64_t run_until;     /* next whatever the other lanes have; NULL: look at all of them */
    bool refill;            /* lanes out of the heap may have something new */
    bool cut_given;         /* kev_next() has reported the cut */
    struct kev_error cut;   /* the file ends too early: text empty if it does not */
    struct kev_error late;  /* something is missing in it; reported at the end, too */
    struct kev_error another;  /* another capture follows; reported at the end, too */
    struct kev_error ended_by; /* what kev_next() has ended with: text empty if nothing */
    bool checked;              /* the format has CHECK, BUFFER_END and END */
    bool check_unknown;        /* recovering a damaged header: the first buffer tells `checked` */
    uint64_t head_sum;         /* over attributes and system page */
    bool per_cpu;              /* a lane is a CPU; else lane 0 is the whole stream */
    uint64_t released;         /* what kev_hold() was given */
    bool started;              /* info.start is known */
    bool extent_known;
    struct kev_span extent; /* cover.c: the first and the last event */
    uint32_t *log_words;    /* KEV_LOG_TEXT bytes; NULL: no event was log text */
    bool head_no_memory;    /* for an attribute, or a description of an event */
    bool head_damaged;      /* recovering: what header and page say is not to be relied on */
};

#define KEV_PATH_SHOWN 200 /* bytes of a path in a message */

/* error.c. Each returns -1. kev_fail: at `offset`, with the remedy if it is damage. */
int kev_fail(struct kev *kev, struct kev_error *error, uint64_t offset, const char *format, ...)
    __attribute__((format(printf, 4, 5)));
/* Like kev_fail(), for a file that ends too early: error->incomplete is set. */
int kev_fail_incomplete(struct kev *kev, struct kev_error *error, uint64_t offset,
                        const char *format, ...) __attribute__((format(printf, 4, 5)));
int kev_fail_plain(struct kev_error *error, const char *path, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
/* `text` says that there is no memory, and for what. */
int kev_fail_memory(struct kev_error *error, const char *path, const char *text);
/* Recovering: remembers the first damage. */
void kev_note(struct kev *kev, uint64_t offset, const char *what);

/* attr.c, syspage.c: the head of the file. */
int kev_read_head(struct kev *kev, struct kev_error *error);
int kev_read_syspage(struct kev *kev, struct kev_error *error);
/* After both: whether the format has CHECK; the sum that the header's must have. */
int kev_read_version(struct kev *kev, struct kev_error *error);

#endif

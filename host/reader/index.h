/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The index: where the buffers of a capture are, and what is missing between them. One reader, one
 * thread.
 */
#ifndef HOST_READER_INDEX_H
#define HOST_READER_INDEX_H

#include "abi/sys/trace.h"
#include "host/reader/kev.h"
#include "lib/capture/check.h"
#include "trace/slot.h"

#define KEV_NONE UINT32_MAX

enum kev_entry_kind {
    KEV_BUFFER, /* starts with BUFFER and TIME */
    KEV_TAIL,   /* DROPPED totals outside a buffer */
    KEV_STREAM  /* another kernel's: a run of slots, CPUs may be mixed */
};

struct kev_entry {
    uint64_t offset;
    uint64_t time; /* of its start; 0 if unknown */
    uint32_t slots;
    uint32_t sequence;
    uint32_t next;              /* of the same lane */
    uint32_t check_time;        /* of CHECK and BUFFER_END */
    uint64_t check;             /* the sum that CHECK has; for `slots` slots */
    struct capture_place place; /* that belongs to it, if the format has places */
    uint8_t lane;
    uint8_t cpu;
    uint8_t kind;
    bool checked; /* it has CHECK */
    bool plain;   /* known: its third slot is neither DROPPED nor injected */
};

struct kev_rows {
    struct kev_missing *row;
    uint32_t count, room;
};

/* Gaps of one CPU. */
struct kev_gaps {
    struct kev_rows open; /* gaps in the sequence that nothing accounts for so far */
    uint64_t buffers;     /* in them */
    uint64_t accounted;   /* events that DROPPED slots after the first of them say */
    uint64_t outside;     /* lost ones that they say after the last buffer that is here */
    uint64_t told;        /* of those, the ones that no gap before that buffer needs */
    struct kev_rows gone; /* buffers that were in the file and are not */
    uint32_t ahead;       /* of those, after the last buffer that is here */
    int64_t all;          /* of those, in all, less those that are here twice */
};

struct kev_index {
    struct kev_entry *entries;
    uint32_t count, room;
    uint64_t end; /* offset up to which the file is indexed */
    uint64_t last_time[KEV_CPUS];
    /* Only if the format has CHECK. */
    bool head_seen;
    uint64_t all;     /* the sum over the CHECKs so far */
    int64_t skew;     /* units of 16 bytes by which groups stood later when they were written */
    uint64_t gone_at; /* where bytes are missing first */
    uint32_t ended;   /* CPUs that have END */
    struct kev_gaps gaps[KEV_CPUS];
    struct kev_missing *missing; /* info.missing */
};

/* index*.c. Extend the index to the file's end; -1 on damage. */
int kev_index_kymo(struct kev *kev, struct kev_error *error);
int kev_index_foreign(struct kev *kev, struct kev_error *error);
int kev_index_add(struct kev *kev, const struct kev_entry *entry, struct kev_error *error);
/* Reads the two slots at offset, in the host's byte order; returns how many are there, -1. */
int kev_pair_read(struct kev *kev, uint64_t offset, struct trace_slot pair[2],
                  struct kev_error *error);
/* index_group.c: CHECK, BUFFER_END, groups of DROPPED slots, the end mark. */
int kev_head_check(struct kev *kev, struct kev_error *error);
/* The trailer of the buffer in *entry, which ends at `end`; fills in its check. 0, -1. */
int kev_trailer_take(struct kev *kev, struct kev_entry *entry, uint64_t end,
                     struct kev_error *error);
/* index_place.c: where groups stood when they were written, and so what is missing before them. */
struct kev_group {
    unsigned cpu;
    uint64_t at;      /* of its first slot */
    uint32_t buffers; /* 1: it is a buffer, 0: DROPPED slots */
    uint32_t most;    /* buffers of its CPU that may be missing right before it */
    uint64_t sum;     /* over its words */
    uint64_t check;   /* the sum that CHECK has */
};
/* The group's place: as its CHECK has it if the group is sound, else as it is here. *gone: so many
 * of its CPU's buffers were right before it and are missing. */
struct capture_place kev_place_look(struct kev *kev, const struct kev_group *group, uint32_t *gone);
/* Likewise for the buffer in *entry, whose place is filled in. 0, -1. */
int kev_place_buffer(struct kev *kev, struct kev_entry *entry, uint32_t *gone,
                     struct kev_error *error);
bool kev_pair_is_trailer(const struct trace_slot pair[2]);
/* The group that begins with DROPPED or END at index.end. 0, -1. */
int kev_group_take(struct kev *kev, const struct trace_slot *first, struct kev_error *error);
bool kev_slot_is_end(const struct kev *kev, const struct trace_slot *slot);
/* A fault that shows only at the end: all that is there is given first. The first one counts. */
void kev_late(struct kev *kev, uint64_t offset, const char *what);
/* The file's end is the capture's: what is missing. */
void kev_end_check(struct kev *kev);
/* index_gaps.c */
/* A buffer of a CPU comes: `gone` buffers before it were in the file and are not. */
int kev_gap_add(struct kev *kev, const struct kev_entry *entry, uint32_t gone,
                struct kev_error *error);
/* Likewise, but what comes at `offset` is no buffer. */
int kev_gap_ahead(struct kev *kev, unsigned cpu, uint32_t gone, uint64_t offset,
                  struct kev_error *error);
/* The account of lost buffers in DROPPED slots. */
struct kev_account {
    uint64_t events; /* in them */
    uint64_t lost;   /* of those, the ones that may account for a gap that comes later, too */
};
void kev_account_add(struct kev_account *account, const struct trace_slot *dropped);
/* The account of a group of them outside of buffers. */
void kev_gap_account(struct kev *kev, unsigned cpu, const struct kev_account *said);
int kev_gap_look(struct kev *kev, const struct kev_entry *entry, struct kev_error *error);
int kev_gap_finish(struct kev *kev, struct kev_error *error);
void kev_gap_free(struct kev *kev);
static inline bool kev_slot_is_dropped(const struct trace_slot *slot)
{
    return (slot->header & ~TRACE_CPU_MASK) ==
           TRACE_HEADER(0, TRACE_STRUCT_S, TRACE_CLASS_CONTROL, TRACE_CONTROL_DROPPED);
}
static inline bool kev_slot_is_injected(const struct trace_slot *slot)
{
    return (slot->header & _NTO_TRACE_PROCESS_INJECTED) != 0;
}
bool kev_slot_is_tail(const struct kev *kev, const struct trace_slot *slot);
int kev_skip_damage(struct kev *kev, struct kev_error *error);
/* index_next.c: another capture in the same file. */
/* Returns the place of one at or after `from` and before `to`; `to`: none. -1 and *error. */
int64_t kev_another_find(struct kev *kev, uint64_t from, uint64_t to, struct kev_error *error);
/* True if one begins right at `at`. */
bool kev_another_begins(struct kev *kev, uint64_t at);
/* The capture ends at `at`, where another one begins: what is there is not read. */
void kev_another_take(struct kev *kev, uint64_t at);
int kev_count_verify(struct kev *kev, uint64_t offset, uint32_t *slots, struct kev_error *error);
/* Next plausible BUFFER + TIME pair at or after offset and before end, or the file's end. */
int64_t kev_resync(struct kev *kev, uint64_t offset, uint64_t end, struct kev_error *error);
bool kev_pair_plausible(const struct kev *kev, const struct trace_slot pair[2]);
void kev_slot_swap(const struct kev *kev, struct trace_slot *slot);

#endif

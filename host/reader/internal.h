/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The reader's inside: shared by the files of host/reader only. One reader, one thread: no locks.
 */
#ifndef HOST_READER_INTERNAL_H
#define HOST_READER_INTERNAL_H

#include "host/reader/kev.h"
#include "lib/capture/check.h"
#include "trace/slot.h"

#define KEV_NONE UINT32_MAX
#define KEV_WINDOW_SLOTS 1024 /* slots read at a time of a capture without buffer counts */
#define KEV_OPEN_MAX 32       /* combine events open at once on one lane */
#define KEV_STATES 26
#define KEV_CALLS 128
#define KEV_IRQS 1024
#define KEV_ERRORS 512

/* ---- file.c: bytes at an offset, of a file or of a pipe (spooled) ------------------ */

struct kev_file {
    int fd;       /* what is read at offsets: the file, or the spool */
    int pipe;     /* the pipe, -1 if it is a file or has ended */
    bool spooled; /* fd is a copy of what came through a pipe */
    char *path;
    uint64_t size;
};

int kev_file_open(struct kev_file *file, const char *path, bool follow, struct kev_error *error);
void kev_file_close(struct kev_file *file);
/* Sees how long the file is now; of a pipe takes what is there. */
int kev_file_refresh(struct kev_file *file, bool follow, struct kev_error *error);
/* Waits until the pipe has more, or an interrupt (an error). */
int kev_file_wait(struct kev_file *file, struct kev_error *error);
/* Reads at most len bytes; fewer only at the end. -1 and *error on a read error. */
long kev_file_read(struct kev_file *file, uint64_t offset, void *buffer, size_t len,
                   struct kev_error *error);

/* ---- the index: where the buffers are ---------------------------------------------- */

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
};

struct kev_rows {
    struct kev_missing *row;
    uint32_t count, room;
};

/* Gaps of one CPU. */
struct kev_gaps {
    struct kev_rows open; /* gaps in the sequence that nothing accounts for so far */
    uint64_t buffers;     /* in them */
    uint64_t accounted;   /* events that DROPPED slots behind the first of them say */
    struct kev_rows gone; /* buffers that were in the file and are not */
    uint32_t ahead;       /* of those, behind the last buffer that is here */
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

/* ---- joining combine events -------------------------------------------------------- */

struct kev_open {
    uint32_t header; /* without the structure bits; key with time */
    uint32_t time;
    uint64_t full_time, offset;
    uint64_t age;
    uint32_t nwords;
    bool used;
    uint32_t *words; /* KEV_WORDS_MAX */
};

struct kev_join {
    struct kev_open open[KEV_OPEN_MAX];
    unsigned nopen;
    uint64_t ages;
};

enum kev_joined { KEV_JOIN_BROKEN = -1, KEV_JOIN_MORE = 0, KEV_JOIN_EVENT = 1 };

/* ---- one lane: a CPU's buffers in order (or the whole stream of another kernel) ---- */

struct kev_lane {
    uint32_t first, last; /* entries of the index; KEV_NONE: none */
    uint32_t current;     /* entry loaded */
    uint32_t nslots, at;  /* slots loaded, next one */
    bool ready;           /* head is valid */
    bool skipped;         /* slots before the next event were passed over */
    uint64_t last_time;
    uint64_t event_time;      /* of the last slot that begins an event, but BUFFER and TIME */
    bool event_known;         /* there is one */
    uint64_t stamped;         /* another kernel's: CPUs that have had an event, bit per CPU; */
    uint64_t stamp[KEV_CPUS]; /* the last one's time */
    uint64_t sum;             /* over the slots loaded, if they have a CHECK */
    struct kev_event head;
    struct trace_slot *slots;
    uint64_t *times;
    uint8_t *bad;
    uint32_t room; /* slots that the arrays hold */
    uint32_t msb[KEV_CPUS];
    uint32_t low[KEV_CPUS];
    struct kev_join join;
};

struct kev_table {
    struct kev_desc *desc[KEV_CLASSES][1024];
    const char *calls[KEV_CALLS];
    char *states[KEV_STATES];
    char *irqs[KEV_IRQS];
    char *errors[KEV_ERRORS];
};

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
    bool own_calls_apart;  /* Kymo's own kernel calls have a class of their own: page version 3 */
    uint32_t code_high;    /* upper half of the kernel's code addresses; 0: nothing to add */
    uint64_t slots_offset; /* where the slots start */
    struct kev_table *table;
    struct kev_index index;
    struct kev_lane *lanes[KEV_CPUS];
    unsigned nheap;
    uint8_t heap[KEV_CPUS]; /* lanes that have a head, the earliest first */
    bool popped;            /* the first lane's head has been given out */
    bool refill;            /* lanes out of the heap may have something new */
    bool cut_given;         /* kev_next() has reported the cut */
    struct kev_error cut;   /* the file ends too early: text empty if it does not */
    struct kev_error late;  /* something is missing in it; reported at the end, too */
    bool checked;           /* the format has CHECK, BUFFER_END and END */
    bool check_unknown;     /* recovering a damaged header: the first buffer tells `checked` */
    uint64_t head_sum;      /* over attributes and system page */
    bool per_cpu;           /* a lane is a CPU; else lane 0 is the whole stream */
    uint64_t released;      /* what kev_hold() was given */
    bool started;           /* info.start is known */
    bool extent_known;
    struct kev_span extent; /* cover.c: the first and the last event */
    bool head_damaged;      /* recovering: what header and page say is not to be relied on */
};

/* error.c. Each returns -1. kev_fail: at `offset`, with the remedy if it is damage. */
int kev_fail(struct kev *kev, struct kev_error *error, uint64_t offset, const char *format, ...)
    __attribute__((format(printf, 4, 5)));
/* Like kev_fail(), for a file that ends too early: error->incomplete is set. */
int kev_fail_incomplete(struct kev *kev, struct kev_error *error, uint64_t offset,
                        const char *format, ...) __attribute__((format(printf, 4, 5)));
int kev_fail_plain(struct kev_error *error, const char *path, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
/* Recovering: remembers the first damage. */
void kev_note(struct kev *kev, uint64_t offset, const char *what);

/* attr.c, syspage.c: the head of the file. */
int kev_read_head(struct kev *kev, struct kev_error *error);
int kev_read_syspage(struct kev *kev, struct kev_error *error);
/* After both: whether the format has CHECK; the sum that the header's must have. */
int kev_read_version(struct kev *kev, struct kev_error *error);

/* table*.c */
int kev_table_builtin(struct kev_table *table);
int kev_table_text(struct kev *kev, struct kev_error *error);
int kev_table_calls_builtin(struct kev_table *table);
char kev_call_word_type(unsigned number, const char *name);
void kev_table_free(struct kev_table *table);
struct kev_desc *kev_table_add(struct kev_table *table, unsigned class, unsigned number,
                               const char *name);
/* The three events of a kernel call, in one of the two classes of calls. */
int kev_table_call(struct kev_table *table, unsigned class, unsigned call, const char *name,
                   const struct kev_list lists[4]);
/* Recovering a capture of unknown version: Kymo's own calls may be in either class. */
int kev_table_own_calls_both(struct kev_table *table);
/* After the last change of the table. */
void kev_table_measure(struct kev_table *table);
void kev_desc_measure(struct kev_desc *desc); /* decode.c */
void kev_list_parse(struct kev_list *list, const char *text, size_t len);
char *kev_copy(const char *text, size_t len);

/* index*.c, resync.c. Extend the index to the file's end; -1 on damage. */
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
/* How many events of lost buffers a DROPPED slot counts; then, that so many are accounted for. */
uint32_t kev_gap_events(const struct trace_slot *dropped);
void kev_gap_account(struct kev *kev, unsigned cpu, uint64_t events);
int kev_gap_look(struct kev *kev, const struct kev_entry *entry, struct kev_error *error);
int kev_gap_finish(struct kev *kev, struct kev_error *error);
void kev_gap_free(struct kev *kev);
bool kev_slot_is_tail(const struct kev *kev, const struct trace_slot *slot);
int kev_skip_damage(struct kev *kev, struct kev_error *error);
int kev_count_verify(struct kev *kev, uint64_t offset, uint32_t *slots, struct kev_error *error);
/* Next plausible BUFFER + TIME pair at or after offset, or the file's end. */
int64_t kev_resync(struct kev *kev, uint64_t offset, struct kev_error *error);
bool kev_pair_plausible(const struct kev *kev, const struct trace_slot pair[2]);
void kev_slot_swap(const struct kev *kev, struct trace_slot *slot);

/* buffer.c: a sum continued over slots as the writer saw them; loads an entry's slots, computes
 * their times, marks the damaged ones. */
uint64_t kev_slots_sum(const struct kev *kev, uint64_t sum, const struct trace_slot *slots,
                       uint32_t count);
int kev_buffer_load(struct kev *kev, struct kev_lane *lane, const struct kev_entry *entry,
                    struct kev_error *error);
/* buffer_stream.c */
void kev_stream_times(struct kev *kev, struct kev_lane *lane);

/* join.c */
enum kev_joined kev_join_slot(struct kev_join *join, const struct trace_slot *slot, uint64_t time,
                              uint64_t offset, struct kev_event *event);
unsigned kev_join_drop(struct kev_join *join); /* gives up what is open; returns how many */
void kev_join_free(struct kev_join *join);

/* lane.c */
struct kev_lane *kev_lane_get(struct kev *kev, unsigned lane);
enum kev_result kev_lane_advance(struct kev *kev, struct kev_lane *lane, struct kev_error *error);
void kev_lane_rewind(struct kev_lane *lane);
void kev_lane_free(struct kev_lane *lane);

#endif

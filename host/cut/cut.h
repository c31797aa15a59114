/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * kymo cut: shared declarations. A cut is a capture of a selection of another one's events
 * (docs/reference/cut.md): the same system page and times, buffers of its own, always of format
 * 1.02. Proof: test/host/cut/cuts.py.
 */
#ifndef HOST_CUT_CUT_H
#define HOST_CUT_CUT_H

#include "host/output.h"
#include "host/select.h"
#include "abi/sys/trace.h"
#include "lib/capture/check.h"
#include "trace/slot.h"

/* ---- write.c: the slots ------------------------------------------------------------ */

struct cut_buffer {
    uint32_t sequence; /* of the last buffer begun */
    uint32_t slots;    /* in it so far; 0: none is open */
    bool begun;        /* a buffer has been */
    bool headed;       /* nothing but BUFFER, TIME and DROPPED is in it */
    uint32_t high;     /* word of its last TIME */
    uint64_t time;     /* of the last slot written */
    bool stamped;      /* an event was written: at `stamp`, in the original at `original` */
    uint64_t stamp, original;
    uint64_t gap;       /* buffers missing before the next one that begins */
    uint64_t told;      /* events that DROPPED slots have counted since that is known */
    uint64_t outside;   /* lost events that those outside of buffers count since the last buffer */
    uint64_t ahead;     /* of those, the ones that no gap before that buffer needs */
    uint64_t owed;      /* buffers missing before the last one, with no account for a reader */
    uint64_t accounted; /* events that DROPPED slots have counted since the first of them */
    struct trace_slot slot[]; /* cut_file.limit */
};

struct cut_file {
    struct output *output;
    bool swapped;    /* the file's byte order is not this machine's */
    uint32_t limit;  /* slots of a buffer, as the system page says; 2 or more */
    int error;       /* the first refusal of output_write() */
    uint64_t events; /* that were selected */
    struct capture_check check;
    struct cut_buffer *cpu[KEV_CPUS]; /* NULL: nothing of that CPU is in it */
};

enum cut_result {
    CUT_NO_MEMORY = -1, /* said */
    CUT_TAKEN = 0,
    CUT_LEFT_OUT = 1, /* it is before the CPU's last event, or larger than a buffer */
};

/* Bytes, and slots in the file's byte order. A refusal is kept: output_commit() reports it. */
void cut_put(struct cut_file *file, const void *bytes, size_t len);
int cut_put_slots(void *file, const void *slots, size_t bytes);
/* Begins a buffer of a CPU, whatever is in the one before. 0, or -1: no memory, said. */
int cut_begin(struct cut_file *file, unsigned cpu, uint64_t time);
/* The number of a CPU's first buffer, unless it has begun. 0, or -1: no memory, said. */
int cut_start(struct cut_file *file, unsigned cpu, uint32_t sequence);
/* So many buffers are missing here: a gap in the sequence, after what has been written. 0, or -1:
 * no memory, said. */
int cut_gap(struct cut_file *file, unsigned cpu, uint32_t buffers);
/* Returns how many of those no DROPPED accounts for so far. */
uint64_t cut_unaccounted(const struct cut_file *file, unsigned cpu);
/* An event. Its payload is in the file's byte order if it is marked so. */
enum cut_result cut_event(struct cut_file *file, const struct kev_event *event);
/* DROPPED: begins a buffer, if the open one holds events already: it stands at a head. */
enum cut_result cut_dropped(struct cut_file *file, const struct kev_event *event);
/* A group of DROPPED slots outside of buffers. */
void cut_tail(struct cut_file *file, unsigned cpu, uint32_t reason_class, uint64_t events);
/* Writes the open buffers. */
void cut_flush(struct cut_file *file);
/* Like the above, then writes the end mark: nothing may follow it. */
void cut_end(struct cut_file *file, unsigned cpus);
void cut_free(struct cut_file *file);

/* ---- head.c ------------------------------------------------------------------------ */

#define CUT_DOUBTS 4

/* How the capture was cut, for its attributes. */
struct cut_origin {
    const char *file;                 /* what it was cut out of */
    const struct kymo_select *select; /* bound */
    char *const *options;             /* as they were given, up to NULL */
    unsigned ndoubts;                 /* why events of the window may be missing */
    char doubts[CUT_DOUBTS][80];
};

/* Attributes and system page. 0, or -1: they don't fit a header, said. */
int cut_head(struct cut_file *file, const struct kev *kev, const struct cut_origin *origin);

/* ---- maps.c: where programs' texts are --------------------------------------------- */

struct cut_maps;

/* Returns NULL if there is no memory. */
struct cut_maps *cut_maps_new(void);
void cut_maps_free(struct cut_maps *maps);
/* A first pass over all events, because a ring names its processes at its end; then every event
 * in order. */
void cut_maps_learn(struct cut_maps *maps, const struct kev_event *event);
void cut_maps_follow(struct cut_maps *maps, const struct kev_event *event);
/* The MAPNAME events of processes that live, the last one of each. Call with *at 0 first; false: no
 * more. Words are valid until the next call of another function. */
bool cut_maps_next(const struct cut_maps *maps, uint32_t *at, struct kev_event *event);

/* ---- prelude.c: what was before the window and is needed to read it ---------------- */

struct cut_prelude {
    const struct kymo_select *select;
    const struct kev *kev;
    const struct owners *owners;
    const struct cut_maps *maps;
    uint64_t time;    /* the window begins here */
    uint64_t covered; /* a bit for each CPU that was being recorded then */
};

/* Injects names that hold now, where texts are, and the running thread of each CPU of the
 * selection, right before the window, and begins the CPUs' buffers. Returns how many events of
 * those found no room before it, or -1: no memory, said. */
int cut_prelude_write(struct cut_file *file, const struct cut_prelude *prelude);

/* ---- take.c: which events go where ------------------------------------------------- */

/* State of a CPU's buffers in the original. */
struct cut_cpu {
    bool buffers; /* one has been seen: `sequence` is the highest */
    uint32_t sequence;
    uint64_t end;      /* offset after the last one's slots */
    bool head;         /* only CONTROL events since it began */
    uint64_t left_out; /* events that can't be in the cut */
    uint64_t last;     /* names_learn(): time of its last buffer */
    bool behind;       /* a buffer has begun after the window */
    bool settled;      /* nothing after the window is of interest any more */
    /* Events that DROPPED slots outside of buffers count after its last buffer before the window:
     * overwritten, not written; by class. */
    uint64_t ahead[2][KYMO_TRACE_CLASSES];
};

struct cut {
    const char *input, *path;
    bool force, recover, begun, ended;
    struct kymo_select select;
    char **options; /* of the selection, as they were given */
    unsigned noptions;
    struct owners *owners;
    struct cut_maps *maps;
    bool before; /* an event before the window has been seen */
    struct cut_origin origin;
    struct output output;
    struct cut_file file;
    struct cut_cpu cpu[KEV_CPUS];
    int unnamed; /* names that found no room */
};

/* A buffer of the original begins. */
bool cut_is_buffer(const struct kev_event *event);
bool cut_has_cpu(const struct cut *cut, unsigned cpu);
/* The next event of the capture. 0, or -1: no memory, said. */
int cut_take(struct cut *cut, const struct kev *kev, struct kev_event *event);
/* Returns whether the rest of the capture is irrelevant. */
bool cut_settled(const struct cut *cut, const struct kev *kev);
/* Writes, after the last event, the losses that no DROPPED slot of the original counts, and the
 * end mark. */
int cut_finish(struct cut *cut, const struct kev *kev);

#endif

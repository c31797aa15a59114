/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The reader of captures (.kev): the one library that every host command uses. The format is in
 * docs/reference/format.md; test/host proves it on fabricated, swapped and damaged files.
 *
 * A reader is used by one thread. It gives events merged by 64-bit time across CPUs, each whole
 * (combine events joined), with memory bounded by one buffer per CPU and some 64 bytes per buffer
 * of the file. A damaged file is an error that names the byte offset, unless `recover` is set:
 * then the sound part is given and kev_damage() counts the rest. A file that merely ends too early
 * is read to its last whole slot, then kev_next() says so by an error with `incomplete` set; so is
 * one in which buffers are missing, with `given` set. No input makes it crash or hang.
 */
#ifndef HOST_READER_KEV_H
#define HOST_READER_KEV_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define KEV_CPUS 64
#define KEV_CLASSES 32
#define KEV_WORDS_MAX 4096 /* of one event: more is damage */
#define KEV_ARGS_MAX 20

struct kev;

struct kev_error {
    bool incomplete;  /* the file ends too early: all before has been given; more may come if it is
                         being written */
    bool given;       /* all events that can be read have been given before this error: the file
                         ends too early, or something is missing in it (also if incomplete) */
    bool recoverable; /* with `recover` set there may be sound parts */
    bool placed;      /* `offset` is where it is */
    bool no_memory;   /* nothing is wrong with the file */
    uint64_t offset;
    char text[768]; /* whole message: file, offset, what */
};

struct kev;
struct kev_event;
/* Makes the text of a log event; `arg` is that of kev_options, else NULL. Returns false if it is no
 * log event, or its format can't be found. */
typedef bool kev_log_text_fn(void *arg, const struct kev *kev, const struct kev_event *event,
                             char *text, size_t room);

struct kev_options {
    bool recover;
    bool follow;               /* an incomplete end is not an error: kev_refresh() looks again */
    bool numbers;              /* log events are given as they are: kev_log_text isn't asked */
    kev_log_text_fn *log_text; /* asked in its place; NULL: kev_log_text */
    void *log_arg;
    uint64_t cpus;                                              /* mask of CPUs wanted; 0: all */
    void (*progress)(void *arg, uint64_t done, uint64_t total); /* NULL: none */
    void *progress_arg;
    /* The capture's bytes, which must stay as they are; or a descriptor, which the reader copies,
     * and of whose file it reads at most memory_bytes (0: all). Then the path is only what messages
     * call it. */
    const void *memory;
    size_t memory_bytes;
    bool by_descriptor;
    int descriptor;
};

struct kev_event {
    uint64_t time;         /* cycles of the trace clock */
    uint64_t offset;       /* of its first slot in the file */
    const uint32_t *words; /* payload, valid until the next kev_next(); see kev_word() */
    uint32_t nwords;       /* even: slots hold two */
    uint32_t code_high;    /* upper half of an address in a word of type I whose bit 0 is set */
    uint16_t number;       /* bits 0-9 of the header */
    uint8_t class;         /* internal class */
    uint8_t cpu;
    bool combined; /* came in more than one slot */
    bool injected; /* no kernel made it: the program that saved the capture added it */
    bool dumped;   /* of a state dump: it tells what existed, nothing happened */
    bool swapped;  /* the payload is in the other byte order */
    bool gap;      /* recovering: slots of this CPU right before it were passed over */
    bool log_text; /* kev_log_text made the payload: text with a NUL, in zeros up to its end */
};

/* Log text whose format is in an ELF file (abi/sys/log.h), which the reader knows nothing of: if
 * this is set, kev_next() asks it for the text of each event of class USER that looks like one, and
 * gives the text in place of the event's words. Set once, before the first capture is opened. */
extern kev_log_text_fn *kev_log_text;
/* Whether an event looks like one; one that was given its text does not any more. */
bool kev_event_is_log(const struct kev_event *event);
#define KEV_LOG_TEXT 1024 /* bytes, with the NUL */

/* Set by a signal handler to end what is being read: reading fails with "interrupted". NULL:
 * nothing does. Set once, before the first capture is opened. */
extern const volatile int *kev_interrupted;

/* Progress is reported each time that so many events have been read. */
#define KEV_PROGRESS_EVENTS 65536

/* Is told how far a capture has been read while it is opened and its names are learnt, for readers
 * that name no function of their own in kev_options. NULL: nothing is. Set once, likewise. */
extern void (*kev_progress)(void *arg, uint64_t done, uint64_t total);

struct kev_attr {
    char *key; /* without TRACE_ */
    char *value;
};

struct kev_cpu_info {
    uint64_t buffers;
    uint32_t first_sequence, last_sequence;
    uint64_t gaps;    /* places where the sequence jumps */
    uint64_t missing; /* sequence numbers that are not there */
};

/* Buffers that are not there (docs/reference/format.md §6), though they were in the capture when it
 * was written, or without a DROPPED that accounts for them. */
struct kev_missing {
    unsigned cpu;
    uint32_t first,
        last;         /* sequence numbers; after the CPU's last buffer only the least is known */
    uint32_t buffers; /* of these: others may be accounted for */
    uint64_t offset;  /* of what is after them */
    bool written;     /* known to have been in the capture */
};

struct kev_info {
    const char *path;
    bool kymo;    /* has Kymo's system page; else another kernel's capture */
    bool swapped; /* written in the other byte order */
    unsigned ncpu;
    unsigned word_bits;
    uint64_t cycles_per_sec; /* never 0 */
    bool clock_known;        /* false: the capture does not say; 1 GHz is assumed */
    bool dumps_marked;       /* events of a state dump are marked; else nothing tells them */
    uint64_t skew_cycles;
    char board[33], cpu_name[33], release[33];
    char image[33]; /* name of the boot image; "": the capture is too old to say it */
    const uint8_t *build_id;
    unsigned build_id_len;
    uint64_t size, buffers;
    uint64_t start; /* time of the first slot of any CPU: what relative times count from. Of a
                       capture that was cut out of another one, that one's */
    const struct kev_attr *attrs;
    unsigned nattrs;
    struct kev_cpu_info cpu[KEV_CPUS];
    /* By CPU and sequence; complete once the file's end has been seen. kev_next() reports them by
     * an error with `given` set, after the last event. */
    const struct kev_missing *missing;
    unsigned nmissing;
    /* Bytes that were in the capture before what is here was written, and are not now: buffers and
     * DROPPED slots, of whatever CPU; known in format 1.02. */
    uint64_t missing_bytes;
    bool checked;  /* the format has CHECK, BUFFER_END and END (1.02 and later) */
    bool ended;    /* it has its end mark */
    bool recovers; /* it was opened with `recover` */
    /* The place of another capture in the same file, which is not read; 0: none. kev_next() says
     * so after this one's last event, by an error with `given` set; when recovering, only this. */
    uint64_t next_capture;
    /* In another kernel's capture: events with the same time as the one before on their CPU, among
     * the slots read so far. */
    uint64_t equal_stamps;
};

struct kev_damage {
    uint64_t places;       /* ranges of bytes skipped while looking for the next buffer */
    uint64_t bytes;        /* in them */
    uint64_t slots;        /* slots skipped inside buffers */
    uint64_t events;       /* combine events given up because a part is missing */
    uint64_t sequences;    /* buffers out of sequence or time */
    uint64_t sums;         /* buffers whose sum is not the one in CHECK; their slots are given */
    uint64_t unaccounted;  /* buffers in info.missing */
    uint64_t first_offset; /* of the first of all these */
    char first[160];       /* what it was */
};

/* A stretch of time, both ends included. */
struct kev_span {
    uint64_t from, to;
};

struct kev_cover {
    uint32_t classes; /* bit per internal class: whose losses matter */
    bool seams;       /* the recording may have paused between two buffers: that is not covered */
};

enum kev_result { KEV_ERROR = -1, KEV_END = 0, KEV_EVENT = 1 };

/* Opens `path` ("-": standard input). NULL and *error on failure. */
struct kev *kev_open(const char *path, const struct kev_options *options, struct kev_error *error);
void kev_close(struct kev *kev);
/* The next event by time. KEV_END: no more, or, when following, none for now. */
enum kev_result kev_next(struct kev *kev, struct kev_event *event, struct kev_error *error);
/* The error with which kev_next() has ended since it was opened or rewound; NULL: with none. */
const struct kev_error *kev_ended_by(const struct kev *kev);
/* Following: looks for what was written since; returns buffers found or -1. `ended`: a pipe's
 * writer is gone. */
int kev_refresh(struct kev *kev, bool *ended, struct kev_error *error);
#define KEV_HOLD_ALL 0
#define KEV_HOLD_NONE UINT64_MAX
/* Following: while a CPU has nothing new, kev_next() gives only events that are in the file before
 * byte `released`: a later one may have to come after an event that is still to be written. At
 * first nothing is held. */
void kev_hold(struct kev *kev, uint64_t released);
/* Starts again with the first event; kev_damage() with what opening has found. Not
 * while following. */
void kev_rewind(struct kev *kev);

/*
 * The time over which every event of these classes that CPU `cpu` made is in the capture: an array
 * of spans by time, to be freed; returns their number. Damage that kev_next() will report is not
 * reported here: what is after it is not covered. -1: another kernel's capture (nothing in it says
 * what is missing), or out of memory. Call it before the first kev_next().
 */
long kev_covered(struct kev *kev, unsigned cpu, const struct kev_cover *cover,
                 struct kev_span **spans);
/* Returns true if the capture says that its recording was completed and that all of it is here. */
bool kev_is_whole(const struct kev *kev);
/* Whether a file that begins with these bytes may be a capture, sound or damaged after them. */
bool kev_may_begin(const void *bytes, size_t length);

const struct kev_info *kev_info(const struct kev *kev);
const struct kev_damage *kev_damage(const struct kev *kev);

/* The system page's bytes as they are in the file; NULL: they are damaged. */
const uint8_t *kev_page(const struct kev *kev, uint32_t *bytes);
/* The value of an attribute, its key without TRACE_; NULL: there is none. */
const char *kev_attr(const struct kev *kev, const char *key);
/* For a cut (docs/reference/cut.md): the first reason why its original was not whole there;
 * NULL: none. */
const char *kev_cut_doubt(const struct kev *kev);

static inline uint32_t kev_word(const struct kev_event *event, unsigned i)
{
    if (i >= event->nwords) {
        return 0;
    }
    return event->swapped ? __builtin_bswap32(event->words[i]) : event->words[i];
}

/* ---- what events mean -------------------------------------------------------------- */

struct kev_arg {
    char type; /* D H E X P I N S, see abi/syspage.h */
    char name[22];
    uint8_t name_len; /* 0 in an argument that no table has */
    uint8_t words[3]; /* like those of kev_desc; N: 0, the rest. Private to the reader */
};

struct kev_list {
    unsigned n;
    struct kev_arg args[KEV_ARGS_MAX];
};

enum kev_kind { KEV_PLAIN, KEV_CALL_ENTER, KEV_CALL_EXIT, KEV_CALL_INT };

struct kev_desc {
    enum kev_kind kind;
    unsigned number; /* of the event, or of the kernel call */
    char name[40];
    struct kev_list fast, wide;
    /* For each list the number of words of its arguments: [0] as they are, [1] with 64-bit
     * pointers, [2] all 64-bit. Private to the reader. */
    uint8_t fast_words[3], wide_words[3];
};

struct kev_field {
    const struct kev_arg *arg;
    bool wide;      /* a 64-bit value */
    uint64_t value; /* N: unused */
    const char *text;
    size_t len; /* of text, without its NUL */
};

/* The description of a class's event, NULL if there is none. `number` as in the header. */
const struct kev_desc *kev_describe(const struct kev *kev, unsigned class, unsigned number);
/* Splits the payload into fields (at most KEV_ARGS_MAX); returns how many. */
unsigned kev_decode(const struct kev_event *event, const struct kev_desc *desc,
                    struct kev_field *fields);
/* Name of a kernel call, an interrupt line, a thread state or an error number; NULL if unknown.
 * Error names come from the capture only: kernels number errors differently. */
const char *kev_call_name(const struct kev *kev, unsigned call);
const char *kev_irq_name(const struct kev *kev, unsigned irq);
const char *kev_state_name(const struct kev *kev, unsigned state);
const char *kev_error_name(const struct kev *kev, unsigned error);
/* Internal class's name, "CLASS n" if unknown (a buffer of the calling thread). */
const char *kev_class_name(unsigned class);

#endif

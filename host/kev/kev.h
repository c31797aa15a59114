/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * libkev: reads captures of Kymo's and QNX's kernels (.kev). This header is the library's stable
 * interface, in C11 and in C++; docs/reference/libkev.md explains it, kev(3) is the manual page.
 *
 *   struct kev_capture *capture = kev_capture_new();
 *   const struct kev_item *item;
 *   int outcome = kev_capture_open(capture, "trace.kev");
 *
 *   while (outcome >= 0 && (outcome = kev_capture_next(capture, &item)) == KEV_GIVEN) {
 *       if (item->kind == KEV_ITEM_EVENT) ...
 *   }
 *   if (outcome != KEV_COMPLETE) {
 *       fprintf(stderr, "%s\n", kev_capture_fault(capture)->text);
 *   }
 *   kev_capture_free(capture);
 *
 * Memory: every struct here is the library's. Programs get pointers to const, never make, copy or
 * compare the size of one: a later version may add members at the end. What a pointer refers to
 * lives until the next kev_capture_next(), kev_capture_seek() or kev_capture_free() of its capture,
 * unless its function says that it lives as long as the capture. No string is trusted: those of the
 * capture may hold any bytes but NUL.
 *
 * Threads: a capture is used by one thread at a time; different captures are independent.
 *
 * Versions: a program that was linked with version 1.n runs with any later 1.m. The library never
 * prints, never ends the process, and keeps no state outside of captures.
 */
#ifndef KEV_H
#define KEV_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define KEV_VERSION_MAJOR 1
#define KEV_VERSION_MINOR 2

/* The version that runs, "1.2"; lives as long as the program. */
const char *kev_version(void);

/* The results of functions that return int and have no other result. */
enum kev_outcome {
    KEV_FAILED = -2,  /* not done; kev_capture_fault() says why */
    KEV_LOSSY = -1,   /* the end, but events are missing; kev_capture_fault() says which */
    KEV_COMPLETE = 0, /* done; of kev_capture_next(): the end, and nothing is known to be missing */
    KEV_GIVEN = 1     /* there is an item */
};

/* A pid or tid that is not known, or that there is none. */
#define KEV_NOBODY (-1)
/* Times before all others and after all others: a bound that is not known. */
#define KEV_EVER INT64_MIN
#define KEV_NEVER INT64_MAX

struct kev_capture;

/* ---- faults ------------------------------------------------------------------------ */

enum kev_fault_code {
    KEV_FAULT_NONE = 0,
    KEV_FAULT_USE = 1,       /* a call out of order, or a selection that can't be */
    KEV_FAULT_SYSTEM = 2,    /* a file can't be opened or read, no memory */
    KEV_FAULT_DAMAGED = 3,   /* the bytes can't be those written, or are no capture */
    KEV_FAULT_CUT_SHORT = 4, /* the file ends too early */
    KEV_FAULT_LOSSY = 5      /* events are missing */
};

struct kev_fault {
    int32_t code;        /* enum kev_fault_code */
    int32_t recoverable; /* 1: kev_capture_set_recover() gives the sound rest */
    int64_t offset;      /* byte of the file; -1: it is not about a place */
    const char *text;    /* all of it: file, place, error, remedy; no newline */
    const char *remedy;  /* the remedy alone, NULL: none */
};

/* The capture's last fault; never NULL. Lives until the next call that fails. */
const struct kev_fault *kev_capture_fault(const struct kev_capture *capture);

/* ---- opening ----------------------------------------------------------------------- */

/* A capture that is not open yet. NULL: no memory, the only failure. */
struct kev_capture *kev_capture_new(void);
/* Closes it, and ends all that was had of it. NULL is allowed. */
void kev_capture_free(struct kev_capture *capture);

/* Before opening. These return KEV_COMPLETE or KEV_FAILED. */
/* on != 0: damage is passed over, and reported by items, instead of ending everything. */
int kev_capture_set_recover(struct kev_capture *capture, int on);
/* Only some events: the options of `kymo print` without their dashes ("from", "to", "cpu", "class",
 * "event", "pid", "tid", "name"), with their values. Different options must all hold; of one that
 * is given again one value must. */
int kev_capture_select(struct kev_capture *capture, const char *option, const char *value);

/* Since 1.1: log events whose formats are in programs' ELF files (docs/guide/log.md) are given as
 * texts, with one value "str", if the ELF file is found: by the build id in the event, among
 * `paths` (files and folders, with colons between them; NULL: none), those of the environment's
 * KYMO_ELF, and the folder of the capture; and in folders `programs` of each folder. Without this
 * call, and where no ELF file is found, they stay the words that the target recorded. */
int kev_capture_set_log_text(struct kev_capture *capture, const char *paths);

/* Open it: once. A path of "-" is standard input. The descriptor stays the caller's; `name` is its
 * name in messages. A pipe or socket is copied to a temporary file, to its end, because CPUs are
 * merged by time. Memory is read where it lies and must stay. */
int kev_capture_open(struct kev_capture *capture, const char *path);
int kev_capture_open_descriptor(struct kev_capture *capture, int descriptor, const char *name);
int kev_capture_open_memory(struct kev_capture *capture, const void *bytes, size_t length,
                            const char *name);

/* ---- what the capture says of itself ----------------------------------------------- */

struct kev_facts {
    const char *path;      /* what messages call it */
    const char *board;     /* "": the capture does not say; likewise below */
    const char *processor; /* the CPU's name */
    const char *release;   /* of the kernel */
    const char *image;     /* name of the boot image */
    const char *build_id;  /* GNU build id of its ELF, in hexadecimal */
    uint32_t cpus;
    uint32_t word_bits; /* 32 or 64 */
    uint64_t cycles_per_second;
    int32_t clock_known;  /* 0: the capture does not say; 1 GHz is assumed */
    int32_t is_kymo;      /* 0: another kernel's, which counts no losses */
    uint64_t skew_cycles; /* CPUs' clocks differ by at most so much */
    uint64_t start;       /* cycles at which ns is 0 */
    uint64_t bytes;
    uint64_t buffers;
    int32_t is_swapped; /* 1: written in the other byte order */
    int32_t is_whole;   /* 1: it says that the recording was completed, and all of it is here */
};

/* Live as long as the capture. NULL: it is not open; no such attribute. */
const struct kev_facts *kev_capture_facts(const struct kev_capture *capture);
/* A text attribute (docs/reference/format.md), its key without TRACE_: "DATE", "PANIC_REASON". */
const char *kev_capture_attribute(const struct kev_capture *capture, const char *key);
/* Attribute `index`, from 0, in the file's order. Returns 1, or 0 after the last one. */
int kev_capture_attribute_at(const struct kev_capture *capture, unsigned index, const char **key,
                             const char **value);
/* Stretch `index` of the time over which all events of a CPU are in the capture, but what filters
 * left out. Returns 1, or 0 after the last one; another kernel's capture has none. */
int kev_capture_covered(const struct kev_capture *capture, unsigned cpu, unsigned index,
                        int64_t *from_ns, int64_t *to_ns);

struct kev_description {
    uint32_t class_id, number;
    const char *class_name, *name;
    /* Arguments as in the system page (docs/reference/format.md): "D:pid,D:tid". */
    const char *fast, *wide;
};

/* The description of a class's event, its number as in the slot's header; NULL: there is none.
 * Lives until the next one is asked for. */
const struct kev_description *kev_capture_describe(struct kev_capture *capture, unsigned class_id,
                                                   unsigned number);

/* ---- items ------------------------------------------------------------------------- */

/* Later versions may have more kinds: a program passes over those that it does not know. */
enum kev_item_kind {
    KEV_ITEM_EVENT = 1,
    KEV_ITEM_LOSS = 2, /* events are missing: `loss` */
    KEV_ITEM_SCOPE = 3 /* before all events: not meant to be recorded or given: `loss` */
};

enum kev_item_flag {
    KEV_FLAG_INJECTED = 1, /* no kernel made it: the program that saved the capture added it */
    KEV_FLAG_GAP = 2,      /* events of this CPU right before it are missing */
    /* Since 1.2: of a state dump, which tells what existed then: nothing happened. Kernels whose
     * system page is older than version 4 don't mark it. */
    KEV_FLAG_DUMP = 4
};

struct kev_item {
    uint32_t kind; /* enum kev_item_kind */
    uint32_t flags;
    int64_t ns; /* since the capture's start, rounded down; of a loss: of what reports it */
    uint64_t cycles;
    uint64_t offset; /* of its first byte in the file */
    int32_t cpu;     /* -1: of none in particular */
    int32_t state;   /* class THREAD: the thread's new state, see KEV_MEANS_STATE; -1: none */
    /* Events only. */
    uint32_t class_id, number; /* as in the slot's header */
    const char *class_name;    /* "THREAD", "KER_CALL", "COMM": as `kymo print --json` names it */
    const char *name;          /* "THRUNNING", "MSG_SENDV"; NULL: unknown, and of user events */
    uint32_t code;             /* the number without the bits that select the event's form */
    /* Whose the event is: the thread that it is about, or that ran on the CPU. KEV_NOBODY: that is
     * not known. about_*: the process that the event is about, if that is another one. */
    int32_t pid, tid;
    int32_t about_pid, about_tid;
    /* Losses and scope only. */
    const struct kev_loss *loss;
};

/* Later versions may have more. */
enum kev_loss_kind {
    KEV_LOSS_COUNTED = 1,   /* the kernel or the tracelogger lost `events`, exactly, and says so */
    KEV_LOSS_MISSING = 2,   /* buffers were written or recorded, and are not here */
    KEV_LOSS_CUT_SHORT = 3, /* the file ends too early */
    KEV_LOSS_DAMAGED = 4,   /* bytes or slots were passed over, here or before this was cut out */
    /* Scope. */
    KEV_SCOPE_FILTER = 64,      /* a filter of the recording, as the header says */
    KEV_SCOPE_GATE = 65,        /* a D program selected the events */
    KEV_SCOPE_UNKNOWN = 66,     /* the header does not say which events were recorded */
    KEV_SCOPE_PAUSES = 67,      /* the recording may have paused between buffers */
    KEV_SCOPE_OVERWRITTEN = 68, /* `buffers` of a CPU were overwritten before its first one */
    KEV_SCOPE_CUT = 69,         /* the capture is a part of another one */
    KEV_SCOPE_FOREIGN = 70,     /* another kernel's: missing events go unnoticed */
    KEV_SCOPE_SELECTION = 71,   /* kev_capture_select() */
    KEV_SCOPE_RETAINED = 72     /* saved after a reset or crash: attributes RETAINED, PANIC ... */
};

struct kev_loss {
    uint32_t kind;    /* enum kev_loss_kind */
    int32_t class_id; /* -1: of any class */
    /* The missing events were made in this time; KEV_EVER, KEV_NEVER: a bound that isn't known. */
    int64_t from_ns, to_ns;
    uint64_t events;        /* 0: not known */
    uint64_t buffers;       /* 0: not known, or none */
    const char *class_name; /* NULL: of any class */
    const char *reason;     /* of KEV_LOSS_COUNTED: as in docs/reference/events.md; else NULL */
    const char *text;       /* a sentence without a full stop */
};

/* The next item by time, of equal times the lower CPU's. A loss comes before the event after it.
 * Returns KEV_GIVEN; at the end KEV_COMPLETE or KEV_LOSSY; KEV_FAILED. */
int kev_capture_next(struct kev_capture *capture, const struct kev_item **item);
/* The next item is the first one that is not before `ns`. The names and owners of what follows are
 * as if all before had been given; its losses are not given. KEV_COMPLETE or KEV_FAILED. */
int kev_capture_seek(struct kev_capture *capture, int64_t ns);

/* ---- an event's arguments ---------------------------------------------------------- */

enum kev_value_type {
    KEV_VALUE_SIGNED = 1,   /* integer */
    KEV_VALUE_UNSIGNED = 2, /* number: flags and patterns of bits */
    KEV_VALUE_ADDRESS = 3,  /* number */
    KEV_VALUE_TEXT = 4,     /* text */
    KEV_VALUE_BYTES = 5     /* text, with any bytes */
};

/* The meaning of a number. Later versions may have more. */
enum kev_meaning {
    KEV_MEANS_PLAIN = 0,
    KEV_MEANS_PROCESS = 1, /* a pid */
    KEV_MEANS_THREAD = 2,  /* a tid of the process before it */
    KEV_MEANS_INTERRUPT = 3,
    KEV_MEANS_ERRNO = 4,
    KEV_MEANS_PRIORITY = 5,
    KEV_MEANS_CONNECTION = 6, /* coid, scoid */
    KEV_MEANS_CHANNEL = 7,
    KEV_MEANS_MESSAGE = 8, /* rcvid */
    KEV_MEANS_SIGNAL = 9,
    KEV_MEANS_STATE = 10, /* only of kev_capture_term() */
    KEV_MEANS_CALL = 11   /* likewise: the number of a kernel call */
};

struct kev_value {
    const char *name; /* "pid", "rcvid"; "d0" without a description; "str" */
    uint32_t type;    /* enum kev_value_type */
    uint32_t meaning; /* enum kev_meaning */
    uint32_t bits;    /* 32 or 64; 0 of text and bytes */
    int64_t integer;  /* the number, its sign extended */
    uint64_t number;
    /* For text and bytes: all of it, followed by a NUL. For a number: its name (of a process, a
     * thread, an interrupt, an error), NULL: not known. */
    const char *text;
    size_t length; /* of text, without its NUL */
};

/* The values of the event that kev_capture_next() gave last: how many; one of them, NULL after the
 * last; the one that is called so, NULL: there is none. */
unsigned kev_capture_values(struct kev_capture *capture);
const struct kev_value *kev_capture_value(struct kev_capture *capture, unsigned index);
const struct kev_value *kev_capture_value_of(struct kev_capture *capture, const char *name);
/* Its payload as the slots hold it, in this machine's byte order. *words is NULL if the last item
 * is no event. Returns how many words there are. */
unsigned kev_capture_words(struct kev_capture *capture, const uint32_t **words);
/* The name of a state, interrupt, kernel call or error number; NULL: unknown. The name lives as
 * long as the capture. */
const char *kev_capture_term(const struct kev_capture *capture, unsigned meaning, unsigned number);

/* Since 1.1. The first four bytes of a program's build id, in hexadecimal, whose log events so far
 * stayed words because no ELF file of it was found: of program `index`, from 0; NULL after the
 * last. Lives as long as the capture. */
const char *kev_capture_log_missing(const struct kev_capture *capture, unsigned index);

/* ---- processes and threads --------------------------------------------------------- */

/* Reads all of the capture for names, so that those that it has at its end hold from the beginning,
 * and for the lives of processes and threads. Before the first item. Returns KEV_COMPLETE;
 * KEV_LOSSY: there are more lives than the library keeps (a million); KEV_FAILED. */
int kev_capture_learn(struct kev_capture *capture);

/* The name of a process (tid KEV_NOBODY) or a thread, after the item last given. NULL: unknown. The
 * name lives until the next item. */
const char *kev_capture_name(const struct kev_capture *capture, int32_t pid, int32_t tid);

struct kev_life {
    int32_t pid, tid; /* tid: KEV_NOBODY of a process */
    int32_t parent;   /* of a process: its parent's pid; KEV_NOBODY: unknown */
    int64_t from_ns;  /* the first event about it: it may have lived before */
    int64_t to_ns;    /* its end; KEV_NEVER: it lives at the capture's end */
    const char *name; /* the last one it had, NULL: unknown */
};

/* After kev_capture_learn(). Life `index`, in the order of first events; NULL after the last. */
const struct kev_life *kev_capture_life(const struct kev_capture *capture, unsigned index);
/* The life of a process (tid KEV_NOBODY) or a thread at a time: ids are used again. NULL: none. */
const struct kev_life *kev_capture_life_at(const struct kev_capture *capture, int32_t pid,
                                           int32_t tid, int64_t ns);

#ifdef __cplusplus
}
#endif

#endif

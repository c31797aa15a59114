/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The retained memory: a window of RAM at an address fixed by the board, which no start-up code
 * clears and no loader writes to, so that its content survives a warm reset. The kernel
 * (kernel/observe/retain.c) writes it. Its readers (lib/retain: the tracelogger at the next boot,
 * kymo extract from an image of the memory) may find arbitrary content and trust nothing unchecked.
 * docs/guide/flight.md has the whole description.
 *
 * Little-endian; offsets are from the window's beginning. A reader needs no ELF: the header locates
 * everything, and a copy of the system page explains it. A window too small for this copy has only
 * its CRC: the reader gets the page elsewhere.
 */
#ifndef ABI_RETAIN_H
#define ABI_RETAIN_H

#include <stddef.h>
#include <stdint.h>

#include "abi/static_assert.h"
#include "abi/sys/trace.h"

#define KYMO_RETAIN_MAGIC 0x5254594bu /* "KYTR" */
#define KYMO_RETAIN_VERSION 4
#define KYMO_RETAIN_CPUS 8
#define KYMO_RETAIN_HEADER 0u /* offset of struct kymo_retain_header */

/* The areas of a window, whose sizes the board sets. An area of 0 bytes does not exist. */
#define KYMO_RETAIN_PAGE_MOST 0x10000u  /* most bytes */
#define KYMO_RETAIN_NOTES_AREA 0x10000u /* likewise */
#define KYMO_RETAIN_NAMES_MOST 8192u    /* most entries */
#define KYMO_RETAIN_D_MOST 4            /* likewise */
struct kymo_retain_area {
    uint32_t at, bytes;
};
struct kymo_retain_areas {
    struct kymo_retain_area panic;  /* struct kymo_retain_panic */
    struct kymo_retain_area boots;  /* struct kymo_retain_boots */
    struct kymo_retain_area frozen; /* struct kymo_retain_frozen, up to cpu[CPUs of the kernel] */
    struct kymo_retain_area d;      /* struct kymo_retain_d [] */
    struct kymo_retain_area live;   /* the kernel's own per-CPU data, in its private layout */
    struct kymo_retain_area page;   /* copy of the system page; without it: header.page_crc */
    struct kymo_retain_area notes;  /* struct kymo_retain_note, consecutive */
    struct kymo_retain_area names;  /* struct kymo_retain_name [] */
    uint32_t free; /* memory from here on belongs to the ring; D's buffers grow down from the end */
    uint32_t zero;
};
KYMO_STATIC_ASSERT(sizeof(struct kymo_retain_areas) == 72, "layout of the retained memory");

/* Locations of one CPU's cursor and losses in the memory of a running or stopped machine. */
struct kymo_retain_place {
    uint32_t cursor;  /* offset of a pointer of word_bits: the kernel's address of the next slot */
    uint32_t pending; /* offset of uint64_t [KYMO_TRACE_REASONS][KYMO_TRACE_CLASSES] */
};

/* The ring; all 0: there is no ring. Buffer i of CPU c has number c * per_cpu + i. */
struct kymo_retain_ring {
    uint32_t ncpu; /* the system page's ncpu */
    uint32_t per_cpu;
    uint32_t buffer_bytes;
    uint32_t buffers; /* offset of buffer 0; the others follow */
    uint32_t marks;   /* offset of struct kymo_retain_mark [ncpu * per_cpu] */
    /* offset of the state word of CPU 0's buffer 0: sequence << 2 | state. The next word is the
     * buffer's bytes, once it is READY; 0 in a FREE buffer: it was discarded, its events counted as
     * lost. The upper half of the word after that is the number of its DROPPED slots that are
     * pending again, because it is being reused */
    uint32_t words;
    uint32_t word_step;  /* from one buffer's word to the next one's of the same CPU */
    uint32_t table_step; /* from a CPU's first word to the next CPU's */
    struct kymo_retain_place cpu[KYMO_RETAIN_CPUS];
};

struct kymo_retain_header {
    uint32_t magic;
    uint32_t version;
    uint32_t bytes;      /* sizeof(struct kymo_retain_header) */
    uint32_t crc;        /* CRC-32C of all that follows, to its end */
    uint32_t boots;      /* struct kymo_retain_boots.boots of the boot that wrote the header */
    uint32_t word_bits;  /* 32 or 64 */
    uint64_t physical;   /* address of the window */
    uint64_t base;       /* kernel address of the window: the base of cursors */
    uint64_t window;     /* bytes */
    uint32_t page_bytes; /* of the system page, which includes the build id */
    uint32_t page_crc;
    struct kymo_retain_ring ring;
    struct kymo_retain_areas areas; /* in layout version 3 the header ends here: see below */
};
KYMO_STATIC_ASSERT(sizeof(struct kymo_retain_header) == 224, "layout of the retained memory");

/* Layout version 3: its header is that of version 4 without the areas, which are these. */
#define KYMO_RETAIN_V3 3
#define KYMO_RETAIN_V3_HEADER_BYTES 152u
#define KYMO_RETAIN_V3_AREAS \
    { \
        .panic = {0x1000, 0x400}, .boots = {0x1800, 16}, .frozen = {0x2000, 16 + 8 * 1032}, \
        .d = {0x5000, 4 * 288}, .live = {0x8000, 0x8000}, .page = {0x10000, 0x10000}, \
        .notes = {0x20000, 0x10000}, .names = {0x30000, 160 * 96}, .free = 0x34000 \
    }
KYMO_STATIC_ASSERT(offsetof(struct kymo_retain_header, areas) == KYMO_RETAIN_V3_HEADER_BYTES,
                   "layout of the retained memory");

/*
 * Copy of those locations, saved by the next boot because its own data will overwrite them.
 * Replaces them if boots is the header's and the CRC is correct.
 */
struct kymo_retain_cpu {
    uint64_t cursor;
    uint64_t pending[KYMO_TRACE_REASONS][KYMO_TRACE_CLASSES];
};
struct kymo_retain_frozen {
    uint32_t magic; /* KYMO_RETAIN_MAGIC */
    uint32_t boots;
    uint32_t crc; /* CRC-32C of cpu, as far as the area goes */
    uint32_t zero;
    struct kymo_retain_cpu cpu[KYMO_RETAIN_CPUS]; /* or fewer: as many as fit the area */
};
KYMO_STATIC_ASSERT(sizeof(struct kymo_retain_frozen) == 16 + KYMO_RETAIN_CPUS * 1032,
                   "layout of the retained memory");

/* State words, as in trace/ring.h. */
#define KYMO_RETAIN_FREE_BUFFER 0
#define KYMO_RETAIN_ACTIVE 1
#define KYMO_RETAIN_READY 2
#define KYMO_RETAIN_BUSY 3

/*
 * A buffer's seal, written soon after the buffer was closed, not by the event that closes it, which
 * has no time for it. A closed buffer without a seal for its sequence is judged by its slots, as
 * the active one is. With a seal, the content of a damaged buffer is still known.
 */
struct kymo_retain_mark {
    uint32_t sequence;
    uint32_t slots;
    uint32_t data_crc; /* CRC-32C of the slots */
    uint32_t events[KYMO_TRACE_CLASSES];
    uint32_t crc; /* CRC-32C of the above, seeded with the buffer's number as if it preceded them */
};
KYMO_STATIC_ASSERT(sizeof(struct kymo_retain_mark) == 80, "layout of the retained memory");

/* Cause of the crash. All 0: there was no panic. If the CRC is wrong there was one, whose record is
 * damaged, or was cut off by a reset. */
struct kymo_retain_panic {
    uint32_t magic;       /* KYMO_RETAIN_MAGIC */
    uint32_t crc;         /* CRC-32C of record, all of it */
    uint64_t record[127]; /* begins with struct kymo_panic (abi/sys/panic.h), then zeros */
};
KYMO_STATIC_ASSERT(offsetof(struct kymo_retain_panic, record) == 8 &&
                       sizeof(struct kymo_retain_panic) == 1024,
                   "layout of the retained memory");

/*
 * Description of the records of one D consumer in the event log (trace/dtrace/log_event.h,
 * DTRACE_LOG_NOTES), kept because the ring may have overwritten it. The note's bytes follow it,
 * then, at the next multiple of 8, the next note. The list ends at the first entry without the
 * magic or at the area's end. Each id occurs once.
 */
struct kymo_retain_note {
    uint32_t magic;    /* KYMO_RETAIN_MAGIC */
    uint32_t crc;      /* CRC-32C of all following members */
    uint32_t boots;    /* the header's boots */
    uint32_t id;       /* the consumer's handle */
    uint32_t total;    /* bytes of its notes */
    uint32_t bytes;    /* number of bytes stored: total, or 0: no room */
    uint32_t data_crc; /* CRC-32C of those bytes */
    uint32_t zero;
};
/* As in trace/dtrace/log_event.h, and its event. */
#define KYMO_RETAIN_NOTES_EVENT 1
#define KYMO_RETAIN_NOTES_PART 480
#define KYMO_RETAIN_NOTES_MOST 0x20000 /* most bytes of one consumer */
KYMO_STATIC_ASSERT(sizeof(struct kymo_retain_note) == 32, "layout of the retained memory");

/*
 * A process, or a thread that has a name, because the events that described it may be overwritten.
 * Updated while it is in the kernel's tables; remains until the entry is reused.
 */
#define KYMO_RETAIN_NAME_MAX 48 /* with the NUL */
struct kymo_retain_name {
    uint32_t magic;
    uint32_t crc;   /* CRC-32C of all that follows */
    uint32_t boots; /* the header's boots */
    int32_t pid;
    int32_t ppid;       /* at creation */
    int32_t tid;        /* 0: the entry is a process */
    uint64_t ended;     /* trace clock; 0: still alive */
    uint64_t text;      /* address of the program's text; for a process */
    uint64_t text_size; /* 0: not yet known */
    char name[KYMO_RETAIN_NAME_MAX];
};
KYMO_STATIC_ASSERT(sizeof(struct kymo_retain_name) == 96, "layout of the retained memory");

/*
 * A D consumer whose own buffers are in the window (-x retain): everything needed to print its
 * records and aggregations. Offsets are from the window's beginning; 0: absent.
 *
 * Readers don't trust data for its location alone. Data that the machine writes while it runs has
 * marks (abi/retain_mark.h): each record has one, written after the buffer's cursor moved past it,
 * and each entry of an aggregation has one; while an entry changes, its old words are saved. So
 * whatever the last instruction was, all records up to the newest complete one are known, and each
 * key has the value from before or after the interrupted probe firing.
 */
struct kymo_retain_d_cpu {
    uint32_t records;      /* its principal buffer, record_bytes */
    uint32_t record_marks; /* uint32_t, indexed by a record's offset / record_least */
    uint32_t entries;      /* its aggregation buffer: two halves of entry_bytes */
    uint32_t entry_marks;  /* uint32_t, indexed by an entry's offset in both halves / entry_least */
    uint32_t live;         /* struct kymo_retain_d_live */
    uint32_t cursors;      /* the machine's own layout, see struct kymo_retain_d_fields */
};

/* Offsets, from `cursors`, of the fields that the machine changes: words of word_bits, counters of
 * 64 bits. */
struct kymo_retain_d_fields {
    uint32_t offset, oldest,
        end;                /* as in struct dtrace_buffer: [oldest, end) if end, then [0, offset) */
    uint32_t drops, errors; /* counters: records without room, faults */
    uint32_t entries, used; /* the active half, as a kernel address; its bytes */
    uint32_t entry_drops;   /* counter */
};

/* Data written for the buffers by the CPU that owns them. */
struct kymo_retain_d_live {
    uint32_t sealed;         /* records below this offset have their marks */
    uint32_t entries_sealed; /* likewise, in the active half */
    /* 1 + offset, across both halves, of the entry being changed; 0: none */
    uint32_t undo_at;
    uint32_t undo_first; /* the first of its 8-byte words that change */
    uint32_t undo_count;
    uint32_t unsealed; /* ~sealed; if not, the end of the records is unknown */
    uint64_t undo[4];  /* their old values */
};
KYMO_STATIC_ASSERT(sizeof(struct kymo_retain_d_live) == 56, "layout of the retained memory");

struct kymo_retain_d {
    uint32_t magic; /* KYMO_RETAIN_MAGIC */
    uint32_t crc;   /* CRC-32C of all that follows */
    uint32_t boots; /* the header's boots */
    uint32_t id;    /* in the capture: the consumer's handle */
    uint32_t ncpu;
    uint32_t notes;       /* offset of its description: DTRACE_LOG_NOTES */
    uint32_t notes_bytes; /* 0: none */
    uint32_t notes_crc;   /* CRC-32C */
    /* uint32_t record_size[records], by EPID - 1, 0: no records; uint32_t
     * entry_size[aggregations], by id - 1 */
    uint32_t tables;
    uint32_t records;
    uint32_t aggregations;
    uint32_t tables_crc;   /* CRC-32C */
    uint32_t record_bytes; /* of a principal buffer */
    uint32_t record_least; /* bytes of the smallest record */
    uint32_t entry_bytes;  /* of one half of an aggregation buffer */
    uint32_t entry_least;
    struct kymo_retain_d_fields at;
    struct kymo_retain_d_cpu cpu[KYMO_RETAIN_CPUS];
};
KYMO_STATIC_ASSERT(sizeof(struct kymo_retain_d) == 288, "layout of the retained memory");

struct kymo_retain_boots {
    uint32_t magic; /* KYMO_RETAIN_MAGIC */
    uint32_t boots; /* boots since the memory last lost power: 1, 2, … */
    uint32_t crc;   /* CRC-32C of boots */
    uint32_t zero;
};

#endif

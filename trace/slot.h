/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The event slot: 16 bytes, little-endian: header, time, d1, d2. Shared by the target, the
 * tracelogger and the host; includes nothing of the project. Bits and numbers are QNX's
 * (docs/reference/format.md).
 */
#ifndef TRACE_SLOT_H
#define TRACE_SLOT_H

#include <stdbool.h>
#include <stdint.h>

#define TRACE_SLOT_BYTES 16

/* The number of slots in a buffer: a setting, TRACE_BUFFER_SLOTS_LEAST to _MOST, which a makefile
 * may set (`make TRACE_SLOTS=64`). All other sizes are computed from it; trace/ring.h asserts that
 * they fit. Readers of a capture take it from the system page. */
#ifndef TRACE_BUFFER_SLOTS
#define TRACE_BUFFER_SLOTS 1024
#endif
#define TRACE_BUFFER_SLOTS_LEAST 64
#define TRACE_BUFFER_SLOTS_MOST 1024
#define TRACE_BUFFER_BYTES (TRACE_SLOT_BYTES * TRACE_BUFFER_SLOTS)
#define TRACE_HIGH_WATER (TRACE_BUFFER_SLOTS * 715 / 1024) /* default: about 70 % */
#define TRACE_HIGH_WATER_LEAST 16
/* The most DROPPED slots at one opening of a buffer; other losses stay pending until the next
 * one. */
#define TRACE_DROPPED_MOST (TRACE_BUFFER_SLOTS / 8)
/* The longest event: the slots that any buffer has besides BUFFER, TIME and DROPPED. A longer event
 * is lost, reason TOOBIG. */
#define TRACE_EVENT_SLOTS_MOST (TRACE_BUFFER_SLOTS - 2 - TRACE_DROPPED_MOST)

/* The most bytes of a string of the kernel, NUL included: a setting. Longer strings are
 * truncated. */
#ifndef TRACE_TEXT_BYTES
#define TRACE_TEXT_BYTES 128
#endif

/* A user event's string that would fit one slot takes two, because readers take a simple event for
 * two numbers. The second slot holds these words: only they distinguish a short string from
 * numbers. */
#define TRACE_SHORT_TEXT_BYTES 8        /* with its NUL */
#define TRACE_SHORT_TEXT_D1 0x5458544bu /* "KTXT" */
#define TRACE_SHORT_TEXT_D2 0xaba7abb4u

struct trace_slot {
    uint32_t header;
    uint32_t time; /* low word of the CPU's 64-bit trace clock, strictly increasing per CPU */
    uint32_t d1;
    uint32_t d2;
};

/* Header fields. */
#define TRACE_EVENT_MASK 0x000003ffu
#define TRACE_CLASS_MASK 0x00007c00u
#define TRACE_CLASS_SHIFT 10
#define TRACE_CPU_MASK 0x3f000000u
#define TRACE_CPU_SHIFT 24
/* part of a state dump: the object existed already, nothing happened */
#define TRACE_STATE_DUMP 0x00020000u
#define TRACE_STRUCT_MASK 0xc0000000u
#define TRACE_STRUCT_S 0x00000000u  /* simple: the whole event is this slot */
#define TRACE_STRUCT_CB 0x40000000u /* combine: begin */
#define TRACE_STRUCT_CC 0x80000000u /* combine: continue */
#define TRACE_STRUCT_CE 0xc0000000u /* combine: end */

#define TRACE_GET_EVENT(h) ((h)&TRACE_EVENT_MASK)
#define TRACE_GET_CLASS(h) (((h)&TRACE_CLASS_MASK) >> TRACE_CLASS_SHIFT)
#define TRACE_GET_CPU(h) (((h)&TRACE_CPU_MASK) >> TRACE_CPU_SHIFT)
#define TRACE_GET_STRUCT(h) ((h)&TRACE_STRUCT_MASK)
#define TRACE_HEADER(cpu, structure, slot_class, event) \
    (((uint32_t)(cpu) << TRACE_CPU_SHIFT) | (structure) | \
     ((uint32_t)(slot_class) << TRACE_CLASS_SHIFT) | (uint32_t)(event))

/* Internal classes (bits 10-14). */
#define TRACE_CLASS_EMPTY 0
#define TRACE_CLASS_CONTROL 1
#define TRACE_CLASS_KER_CALL 2
#define TRACE_CLASS_INT 3
#define TRACE_CLASS_PR_TH 4 /* processes and threads */
#define TRACE_CLASS_SYSTEM 5
#define TRACE_CLASS_USER 6
#define TRACE_CLASS_COMM 7
#define TRACE_CLASS_D 12         /* Kymo's own: D's records, trace/dtrace/log_event.h */
#define TRACE_CLASS_KYMO_CALL 13 /* like KER_CALL, for the calls that only Kymo has */
#define TRACE_CLASS_MAX 16       /* number of classes that counters have room for */

/* KER_CALL and KYMO_CALL: the event is the call's number plus one of these. Any class:
 * TRACE_EVENT_64 is added if a value does not fit 32 bits; then every P (pointer-sized) word of the
 * event takes two, low word first. */
#define TRACE_KERCALL_ENTER 0
#define TRACE_KERCALL_EXIT 128
#define TRACE_KERCALL_INT 256
#define TRACE_EVENT_64 512

/* Kernel calls from this number on are Kymo's own. QNX 7 has other calls with these numbers, so
 * their events have a class that QNX's readers skip. Captures whose system page is older than
 * version 3 have them in class KER_CALL. */
#define TRACE_KERCALL_OWN 100

/* Returns the class of a kernel call's event; number: with or without TRACE_KERCALL_EXIT or
 * _INT. */
static inline unsigned trace_kercall_class(unsigned number)
{
    return number % 128 < TRACE_KERCALL_OWN ? TRACE_CLASS_KER_CALL : TRACE_CLASS_KYMO_CALL;
}

static inline bool trace_class_is_call(unsigned slot_class)
{
    return slot_class == TRACE_CLASS_KER_CALL || slot_class == TRACE_CLASS_KYMO_CALL;
}

/* CONTROL events, written by the ring itself. */
#define TRACE_CONTROL_TIME 1    /* d1 = high, d2 = low word of the 64-bit time */
#define TRACE_CONTROL_BUFFER 2  /* d1 = sequence from 1, d2 = slots in the buffer */
#define TRACE_CONTROL_DROPPED 8 /* d1 = reason << 8 | class, d2 = events lost */
/* Also CONTROL events, written after a buffer or at a capture's end by the program that writes the
 * capture (lib/capture/check.h). */
#define TRACE_CONTROL_BUFFER_END 4 /* d1 = d2 = TRACE_BUFFER_END_WORD */
#define TRACE_CONTROL_CHECK 16 /* d1 = low, d2 = high word of the checksum of the preceding slots */
#define TRACE_CONTROL_END 17 /* d1 = number of buffers of this CPU, d2 = sequence of its last one */
#define TRACE_BUFFER_END_WORD 0xe6e6e6e6u

#endif

/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The model that random_test.c holds the event log against. It knows what was made, by number, and
 * nothing of how buffers work: it looks at every slot of every buffer and sees whether each event
 * is there, or was taken, or is told lost, exactly once.
 */
#ifndef TEST_TRACE_RANDOM_MODEL_H
#define TEST_TRACE_RANDOM_MODEL_H

#include "test/trace/random_events.h"

#define MODEL_EVENTS (1u << 18) /* of one CPU; more: the test is too long */

struct model_cpu {
    uint32_t made;                      /* serials given out: 1..made */
    uint8_t kind[MODEL_EVENTS];         /* of each, | MODEL_WIDE, | MODEL_LATE */
    uint64_t made_of[TRACE_CLASS_MAX];  /* per class */
    uint64_t taken_of[TRACE_CLASS_MAX]; /* found in buffers that were taken */
    uint64_t dropped_taken[KYMO_TRACE_REASONS][TRACE_CLASS_MAX]; /* DROPPED slots there */
    uint64_t recursive, too_big;
    uint64_t discarded;     /* by mode commands */
    uint32_t last_serial;   /* of the last event taken */
    uint64_t last_time;     /* of the last slot taken */
    uint32_t last_sequence; /* of the last buffer taken */
};
#define MODEL_WIDE 0x80
#define MODEL_LATE 0x40 /* waited while events of interrupts were recorded: model_late() */

extern struct model_cpu model[FAKE_CPUS];
extern unsigned model_per_cpu; /* buffers */
/* Policies that have been in force since the buffers were allocated; says what may be lost. */
extern bool model_overwrote, model_skipped, model_filled, model_ringed;

/* Buffers are new: all counts begin again. */
void model_reset(unsigned per_cpu);
/* An event is about to be made on a CPU: its serial. */
uint32_t model_made(unsigned cpu, enum kind kind, bool wide);
/* Interrupts run amid the recording of this event: theirs come before it. */
void model_late(unsigned cpu, uint32_t serial);
/* A buffer was taken: reads it, keeps a copy. It is about to be given back: still the same? */
void model_taken(const struct kymo_trace_buffer *b);
void model_given(uint32_t index);
/* How many events READY and ACTIVE buffers of a CPU hold: what clearing them discards. */
uint64_t model_in_buffers(unsigned cpu);
uint64_t model_lost(unsigned cpu); /* as QUERYLOSS says */
/* Everything, of every CPU. No operation is under way. */
void model_check(void);
/* The same of one CPU, on which at most this event is about to be recorded (0: none), between two
 * steps of opening a buffer for it. */
void model_check_amid(unsigned cpu, uint32_t serial);

#endif

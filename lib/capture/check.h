/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * CHECK and BUFFER_END behind each group of slots of a capture (docs/reference/format.md §4): a sum
 * over the group, then an end mark; at the end of the capture the group with END. A group is a
 * buffer, or DROPPED slots outside of any buffer. Every writer of captures uses these functions:
 * the tracelogger, sys/tracelog.h, kymo extract. One thread; no allocation; any context.
 *
 * The sum continues over two more words, the group's position: its offset in the file, and the
 * number of buffers of its CPU in the file up to the group's end. So each group alone shows whether
 * anything written before it is missing, of its CPU or of another, even if events were lost before
 * they were written.
 *
 * The sum is h = h * CAPTURE_SUM_FACTOR + word, modulo 2^64, over the 32-bit words. The factor is
 * odd and h is wider than a word, so that a change of any single word and a swap of any two words
 * change the sum for certain; other changes pass with a chance of about 1 in 2^64.
 *
 * Tested by test/host/reader/check_test.c (every bit, every swap), test/tracelogger/same_test.c.
 */
#ifndef LIB_CAPTURE_CHECK_H
#define LIB_CAPTURE_CHECK_H

#include <stddef.h>
#include <stdint.h>

#include "trace/slot.h"

#define CAPTURE_CHECK_CPUS 64
#define CAPTURE_TRAILER_SLOTS 2 /* CHECK, BUFFER_END */
#define CAPTURE_TRAILER_BYTES (CAPTURE_TRAILER_SLOTS * TRACE_SLOT_BYTES)
#define CAPTURE_SUM_FIRST 1u /* h before the first word */
#define CAPTURE_SUM_FACTOR 0x9e3779b5u

struct capture_check {
    uint64_t sum;   /* over the slots of the current group, so far */
    uint32_t slots; /* of that group, so far */
    uint64_t all;   /* over the values of all CHECKs so far */
    uint64_t bytes; /* of the capture, up to the beginning of the current group */
    uint64_t head;  /* bytes of that group that are not slots: attributes and system page */
    struct {
        uint32_t buffers; /* in the capture */
        uint32_t last;    /* sequence of the last of them; 0: none */
        uint32_t time;    /* of the last slot */
    } cpu[CAPTURE_CHECK_CPUS];
};

/* Returns the sum, continued over `count` slots. */
uint64_t capture_sum_slots(uint64_t sum, const struct trace_slot *slots, size_t count);
/* Likewise, over bytes; each is a word. */
uint64_t capture_sum_bytes(uint64_t sum, const void *data, size_t bytes);
static inline uint64_t capture_sum_word(uint64_t sum, uint32_t word)
{
    return sum * CAPTURE_SUM_FACTOR + word;
}

/* A group's position, with which its sum continues. */
struct capture_place {
    uint32_t at;      /* offset of its first byte in the file, in units of 16 bytes, rounded down */
    uint32_t buffers; /* of its CPU in the file, this group included */
};
static inline uint64_t capture_sum_place(uint64_t sum, struct capture_place place)
{
    return capture_sum_word(capture_sum_word(sum, place.at), place.buffers);
}
static inline uint32_t capture_place_at(uint64_t offset)
{
    return (uint32_t)(offset / TRACE_SLOT_BYTES);
}
/* Finds the position of a CHECK if the words of its group, with sum `sum`, are unchanged; else
 * returns an arbitrary value. Two words can be removed from a sum because the number of buffers is
 * smaller than the factor. */
struct capture_place capture_place_find(uint64_t sum, uint64_t check);

/* Begins a new capture. */
void capture_check_begin(struct capture_check *check);
/* Adds the bytes in front of the first slot: attributes and system page. They form a group of CPU
 * 0. */
void capture_check_head(struct capture_check *check, const void *data, size_t bytes);
/* Adds the next slots of the current group: all of a buffer, or some DROPPED slots. */
void capture_check_add(struct capture_check *check, const struct trace_slot *slots, size_t count);
/* Ends the current group: returns the slots to write after it. */
void capture_check_close(struct capture_check *check, uint32_t cpu,
                         struct trace_slot trailer[CAPTURE_TRAILER_SLOTS]);
/* Ends the capture, once for each CPU, in order: END of this CPU and the trailer. DROPPED slots
 * that were added before belong to the same group. */
#define CAPTURE_END_SLOTS (1 + CAPTURE_TRAILER_SLOTS)
void capture_check_end(struct capture_check *check, uint32_t cpu,
                       struct trace_slot end[CAPTURE_END_SLOTS]);
/* Makes the trailer of one whole buffer, without an account, as capture_check_close() would. */
void capture_check_buffer(const struct trace_slot *slots, size_t count, struct capture_place place,
                          struct trace_slot trailer[CAPTURE_TRAILER_SLOTS]);

#endif

/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Retained memory without a board: an image of the window as a machine leaves it, and what
 * lib/retain finds in it.
 */
#ifndef TEST_TRACE_RETAINED_H
#define TEST_TRACE_RETAINED_H

#include "test/trace/look.h"

#include "lib/retain/retain.h"
#include "lib/retain/sum.h"
#include "trace/hook.h"

extern uint8_t image[FAKE_WINDOW];
extern struct retain found;
extern unsigned marks_seen; /* by stop_the_machine() in all, which checks that they were cleaned */

/* The window as it is now becomes the image. */
void stop_the_machine(void);
/* A header in the image, as a kernel makes it (kernel/observe/retain.c), for what the trace has
 * put there. */
void put_header(void);
bool open_image(void);

#define CPUS 3
#define EVENT 5 /* number of the events that retained_make() makes, plus the CPU */
#define SALT 0x9e3779b9u

extern uint32_t made[CPUS]; /* events that were whole when they returned */

/* A ring with so many buffers a CPU runs; and its end. */
void retained_boot(unsigned per_cpu);
void retained_end(void);
/* The CPU's next event, of one slot or several; at times the kernel's exit comes after it. */
void retained_make(unsigned cpu);
/* The READY buffers of CPU 0 that have their seals. */
unsigned retained_sealed(void);
/* What the next boot's kernel does first. */
void retained_freeze(void);

/* What was found of one CPU. */
struct retained_account {
    uint32_t first, last, events;
    uint64_t dropped;
    uint64_t time;
    uint32_t high, open, words; /* of a combine event under way: its number, words so far */
};
/* Reads all that is found: fails the test if anything of it was not made, or is not in order, or
 * the CPUs' buffers are not merged by time. */
void retained_account(struct retained_account accounts[CPUS]);

/* From $SEED, which is printed. */
void random_seed(void);
uint32_t random_below(uint32_t n);

#endif

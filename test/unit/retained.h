/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Retained memory without a board: an image of the window as a machine leaves it, and what
 * lib/retain finds in it.
 */
#ifndef TEST_UNIT_RETAINED_H
#define TEST_UNIT_RETAINED_H

#include "test/unit/look.h"

#include "lib/retain/internal.h"

extern uint8_t image[FAKE_WINDOW];
extern struct retain found;
extern unsigned marks_seen; /* by stop_the_machine() in all, which checks that they were cleaned */

/* The window as it is now becomes the image. */
void stop_the_machine(void);
/* A header in the image, as a kernel makes it (kernel/retain.c), for what the trace has put there.
 */
void put_header(void);
bool open_image(void);

/* From $SEED, which is printed. */
void random_seed(void);
uint32_t random_below(uint32_t n);

#endif

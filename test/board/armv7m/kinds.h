/* SPDX-License-Identifier: BSD-2-Clause */
/* Ways for a process to end itself on a Cortex-M, and what it should die of. */
#ifndef TEST_BOARD_ARMV7M_KINDS_H
#define TEST_BOARD_ARMV7M_KINDS_H

struct kind {
    const char *name;
    void (*run)(void);
    int signal;  /* expected; 0: it survives, status 0 */
    int signal2; /* or this one */
};
extern const struct kind kinds[];
extern const unsigned kinds_count;

/* Keeps values in FP registers across everything that may switch threads, for ms milliseconds.
 * Returns how often one was wrong. */
unsigned fp_rounds(unsigned seed, unsigned ms);
/* How many of s16-s31 hold something: none in a program that has not used FP. */
unsigned fp_not_zero(void);
void t_fp(void);

#endif

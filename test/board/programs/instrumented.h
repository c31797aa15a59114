/* SPDX-License-Identifier: BSD-2-Clause */
/* A function whose calls the compiler tells: see t_events.c. */
#ifndef TEST_BOARD_PROGRAMS_INSTRUMENTED_H
#define TEST_BOARD_PROGRAMS_INSTRUMENTED_H

/* The sum of 1 … n, by a call for each. */
int instrumented_sum(int n);

#endif

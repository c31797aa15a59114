/* SPDX-License-Identifier: BSD-2-Clause */
/* Between the files of the program meddler. One thread. */
#ifndef TEST_BOARD_PROGRAMS_MEDDLE_H
#define TEST_BOARD_PROGRAMS_MEDDLE_H

#include "test/board/programs/check.h"

extern bool tame; /* somebody else owns the buffers */

uint32_t pick(uint32_t n);

/* 0 or more, or one of these. */
#define CHECK(name, expr, ...) meddle_check(name, expr, (const int[]){__VA_ARGS__, 0})
void meddle_check(const char *name, long result, const int *errors);

/* What only the owner may: in a tame round it is never we. */
#define OWNERS(name, expr, ...) \
    do { \
        long result_ = (expr); \
        if (tame) { \
            EXPECT_EQ(result_, -1); \
            EXPECT_EQ(errno, EPERM); \
        } else { \
            CHECK(name, result_, EPERM, __VA_ARGS__); \
        } \
    } while (0)

/* meddler_all.c */
void allocate(void);        /* or free */
void gate(void);            /* a D program before the log */
void retained(void);        /* of an earlier boot: there is nothing */
void inserted(void);        /* by the other insertions */
void any_command(void);     /* with any arguments */
void refused_command(void); /* without the ability */

#endif

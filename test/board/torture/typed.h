/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Kernel calls at random whose arguments are mostly what the call wants: abi/kercalls.def says of
 * each argument whether it is a value, a structure, a string or a message, and its name says what
 * it means. Needs nothing of the C library, so that threads without it can use it.
 */
#ifndef TEST_BOARD_TORTURE_TYPED_H
#define TEST_BOARD_TORTURE_TYPED_H

#include "test/board/torture/torture.h"

#define TYPED_AREA 8192  /* bytes that all threads of the process share, and pass to the kernel */
#define TYPED_SHIFTING 4 /* mappings that come and go */
#define TYPED_STACKS 3   /* for threads that random calls create */
#define TYPED_STACK 4096 /* bytes */

/* The calls' numbers. */
enum typed_number {
#define KERCALL(number, NAME, ...) NUMBER_##NAME = number,
#include "abi/kercalls.def"
#undef KERCALL
};

struct typed {
    uint64_t random;
    unsigned calls; /* made since the last report */
};

extern union typed_area {
    uint64_t align;
    uint8_t bytes[TYPED_AREA];
} typed_area;

/* Mappings that the scribbler (hostile.c) makes, changes and removes; 0: none. */
extern volatile uintptr_t typed_shifting[TYPED_SHIFTING];

/* Before the threads begin: what random calls may name, and what they create. */
void typed_start(const struct torture_addresses *addresses, const int coids[2],
                 void (*thread)(void *));
/* Makes one random call. */
void typed_call(struct typed *t);
/* Makes a call and counts it. */
struct raw_result typed_raw(struct typed *t, unsigned number, const uintptr_t args[6]);
/* Returns whether every argument name of the table has a meaning here; else sets *name. */
bool typed_complete(const char **name);

#endif

/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A machine for the D machine to run on: memory of which the test says what is mapped, and answers
 * that it sets.
 */
#ifndef TEST_D_MACHINE_FAKE_H
#define TEST_D_MACHINE_FAKE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { FAKE_MAPS = 8, FAKE_CPUS = 2, FAKE_ELEMENTS = 32 };

struct fake_map {
    uint64_t address, size;
    bool user, kernel; /* who may read it */
    bool toxic;        /* nobody may try */
};

struct fake {
    int align;
    unsigned cpu;
    uint64_t now, thread;
    uint32_t predicate_cache;
    struct fake_map maps[FAKE_MAPS];
    unsigned nmaps;
    unsigned peeks;      /* d_port_peek() calls */
    unsigned toxic_read; /* peeks into toxic memory: must stay 0 */
    size_t allocated;    /* bytes */
    unsigned allocs;     /* d_port_alloc() calls */
    size_t alloc_limit;  /* 0: none */
    unsigned lookups;    /* of vtimestamp, walltimestamp and stacks */
    uint64_t random;
    unsigned speculations, elements_max;
    unsigned stops, panics, breakpoints;
    int raised;
    const char *execname;
};
extern struct fake fake;

void fake_reset(void);
void fake_map(const void *memory, size_t size, bool kernel, bool user);
void fake_toxic(const void *memory, size_t size);

#endif

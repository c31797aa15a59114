/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Where a function of a program can have probes of the provider pid: at each of its instructions
 * that a trap can displace. A pure function of the code. Tested by test/isa.
 */
#ifndef HOST_PID_PLACES_H
#define HOST_PID_PLACES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct dt_data; /* host/dt/dt.h */

struct pid_code {
    const char *name;    /* of the function */
    const uint8_t *text; /* its bytes */
    uint64_t address;    /* as it was linked */
    size_t size;         /* bytes */
    size_t code;         /* of them, before the first data */
    /* Cortex-M has tables between instructions: all data in it. */
    const struct dt_data *data;
    unsigned data_count;
    uint16_t machine; /* ELF e_machine */
    /* Whether a function begins there: a jump to it is a tail call. */
    bool (*starts)(void *arg, uint64_t address);
    void *arg;
};

struct pid_place {
    uint32_t offset, insn; /* insn: its first 4 bytes */
    uint8_t bytes;
    bool returns;       /* it leaves the function */
    bool tail;          /* by a jump to another one */
    const char *refuse; /* why no probe can be here; NULL: it can */
};

/* Calls fn for each instruction. Returns NULL, or why the function has none at all. */
const char *pid_places(const struct pid_code *, void (*fn)(void *arg, const struct pid_place *),
                       void *arg);

/* x86_places.c: the same, for pid_places(), of a function that has code. */
void pid_x86_places(const struct pid_code *, void (*fn)(void *arg, const struct pid_place *),
                    void *arg);

#endif

/* SPDX-License-Identifier: BSD-2-Clause */
/* Tables that grow with RAM: see ram.h. Boot only. Tested by test/kernel/base/table/table_test.c
 * and test/board/programs/t_many.c. */
#include "kernel/base/table.h"

#include "kernel/base/assert.h"

unsigned table_entries[KYMO_LIMITS];
static table_allocate *table_memory; /* [I] */

static const unsigned table_most[KYMO_LIMITS] = {
    [KYMO_LIMIT_PROCESSES] = CONFIG_PROCESSES, [KYMO_LIMIT_THREADS] = CONFIG_THREADS,
    [KYMO_LIMIT_CHANNELS] = CONFIG_CHANNELS,   [KYMO_LIMIT_CONNECTIONS] = CONFIG_CONNECTIONS,
    [KYMO_LIMIT_TIMERS] = CONFIG_TIMERS,       [KYMO_LIMIT_PULSES] = CONFIG_PULSES,
    [KYMO_LIMIT_NAMES] = CONFIG_NAMES,
};

void table_init(size_t ram, table_allocate *allocate, table_extend *extend)
{
    size_t share = ram < CONFIG_TABLES_RAM ? ram / (CONFIG_TABLES_RAM / 1024) : 1024;

    (void)extend;
    table_memory = allocate;
    for (unsigned i = 0; i < KYMO_LIMITS; i++) {
        unsigned least = table_most[i] / TABLE_LEAST;
        unsigned entries = (unsigned)(table_most[i] * share / 1024);

        table_entries[i] = entries > least ? entries : least;
    }
}

void *table_make(size_t bytes)
{
    kernel_assert(table_memory);
    return table_memory(bytes);
}

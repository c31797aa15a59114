/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Allocates the memory of the table of dynamic variables, with its consumer. Control context, under
 * the control lock. Tested by test/d_machine/memory_test.c.
 */
#include "trace/dtrace/dynvar_table.h"
#include "trace/dtrace/port.h"

static uint32_t power_of_two(uint32_t n)
{
    uint32_t power = 1;

    while (power < n && power < 1u << 28) {
        power *= 2;
    }
    return power;
}

static void all_clean(struct dtrace_dynvars *v)
{
    for (uint32_t i = v->nchunks; i > 0; i--) {
        dtrace_chunk_at(v, i)->next = v->clean.first;
        v->clean.first = i;
    }
    uint32_t share = v->nchunks / (8 * v->ncpus) + 1;
    v->batch = share < DTRACE_DYNVAR_BATCH ? share : DTRACE_DYNVAR_BATCH;
}

bool dtrace_dynvars_make(struct dtrace_dynvars *v, const struct dtrace_code *code, size_t bytes,
                         uint32_t ncpus)
{
    if (code->datum_bytes == 0) {
        return true; /* the program has no such variables */
    }
    v->key_room = (uint32_t)dtrace_round_up(code->key_bytes);
    v->data_room = (uint32_t)dtrace_round_up(code->datum_bytes);
    v->data_at = (uint32_t)(sizeof(struct dtrace_chunk) + v->key_room);
    v->chunk_bytes = v->data_at + v->data_room;
    if (bytes / v->chunk_bytes > INT32_MAX) {
        return false; /* more than links can distinguish */
    }
    v->nchunks = (uint32_t)(bytes / v->chunk_bytes);
    v->nchunks += v->nchunks == 0;
    v->nchains = power_of_two(v->nchunks);
    v->ncpus = ncpus;
    size_t cpus = dtrace_round_up(sizeof(*v->cpus) * ncpus), keys = (size_t)v->data_at * ncpus;
    size_t chains = sizeof(*v->chains) * v->nchains;
    v->block_bytes = cpus + keys + chains + (size_t)v->chunk_bytes * v->nchunks;
    v->block = dtrace_port_alloc(v->block_bytes);
    if (!v->block) {
        return false;
    }
    v->cpus = v->block;
    v->chains = (void *)((uint8_t *)v->block + cpus + keys);
    v->chunks = (uint8_t *)v->chains + chains;
    for (uint32_t i = 0; i < ncpus; i++) {
        v->cpus[i].wanted = (void *)((uint8_t *)v->block + cpus + (size_t)v->data_at * i);
    }
    all_clean(v);
    return true;
}

void dtrace_dynvars_free(struct dtrace_dynvars *v)
{
    if (v->block) {
        dtrace_port_free(v->block, v->block_bytes);
        v->block = NULL;
        v->nchunks = 0;
    }
}

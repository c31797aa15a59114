/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What the rest of the machine supplies to its core, as simple as can be: dynamic variables in a
 * list.
 */
#include "test/trace/dtrace/machine/fake_dynvar.h"

#include "test/trace/dtrace/machine/fake.h"
#include "trace/dtrace/machine.h"
#include "trace/dtrace/speculate.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

struct element {
    bool used;
    uint64_t thread; /* 0: global */
    uint16_t id;
    unsigned nkeys;
    struct dtrace_key keys[DIF_TUPLE_REGS];
    uint8_t *key_data[DIF_TUPLE_REGS]; /* by reference */
    size_t size;
};
static struct element elements[FAKE_ELEMENTS];
uint64_t fake_dynamic[FAKE_ELEMENTS][FAKE_DATUM / 8];

static uint8_t *data_of(const struct element *e)
{
    return (uint8_t *)fake_dynamic[e - elements];
}

static void element_free(struct element *e)
{
    for (unsigned i = 0; i < e->nkeys; i++) {
        free(e->key_data[i]);
    }
    memset(e, 0, sizeof(*e));
}

uint8_t *fake_scratch;
size_t fake_scratch_size;

void dtrace_scratch_find(struct dtrace_context *c)
{
    c->scratch = fake_scratch;
    c->scratch_size = fake_scratch_size;
}

uint32_t dtrace_speculation_new(struct dtrace_speculations *all)
{
    (void)all;
    return ++fake.speculations;
}

static bool same_key(struct dtrace_context *c, const struct dtrace_key *key,
                     const struct dtrace_key *old, const uint8_t *data)
{
    uint8_t now[DIF_STATIC_VAR_MAX];

    if (!key->ref) {
        return key->value == old->value;
    }
    return key->size == old->size && dtrace_load_block(c, now, key->value, key->size, false) &&
           memcmp(now, data, key->size) == 0;
}

static bool same_element(struct dtrace_context *c, const struct element *e,
                         const struct dtrace_dynamic *v, unsigned nkeys)
{
    uint64_t thread = v->scope == DIF_SCOPE_THREAD ? fake.thread : 0;
    bool same = e->used && e->id == v->id && e->thread == thread && e->nkeys == nkeys;

    for (unsigned i = 0; i < nkeys && same; i++) {
        same = same_key(c, &c->keys[i], &e->keys[i], e->key_data[i]);
    }
    return same;
}

static uint8_t *element_make(struct dtrace_context *c, struct element *e,
                             const struct dtrace_dynamic *v, unsigned nkeys)
{
    e->used = true;
    e->id = v->id;
    e->thread = v->scope == DIF_SCOPE_THREAD ? fake.thread : 0;
    e->nkeys = nkeys;
    e->size = v->size;
    assert(v->size <= FAKE_DATUM);
    memset(data_of(e), 0, FAKE_DATUM);
    for (unsigned i = 0; i < nkeys; i++) {
        e->keys[i] = c->keys[i];
        if (c->keys[i].ref) {
            e->key_data[i] = calloc(1, c->keys[i].size + 1);
            dtrace_load_block(c, e->key_data[i], c->keys[i].value, c->keys[i].size, false);
        }
    }
    return data_of(e);
}

uint8_t *dtrace_dynvar(struct dtrace_context *c, const struct dtrace_dynamic *v, unsigned nkeys,
                       enum dtrace_dynvar_how how)
{
    struct element *free_one = NULL;

    for (unsigned i = 0; i < fake.elements_max; i++) {
        struct element *e = &elements[i];
        if (same_element(c, e, v, nkeys)) {
            if (how == DTRACE_DYNVAR_FREE) {
                element_free(e);
            }
            return how == DTRACE_DYNVAR_FREE ? NULL : data_of(e);
        }
        if (!e->used && !free_one) {
            free_one = e;
        }
    }
    if (how != DTRACE_DYNVAR_ALLOCATE || !free_one || c->fault.kind != DIF_FAULT_NONE) {
        return NULL;
    }
    return element_make(c, free_one, v, nkeys);
}

bool dtrace_dynvar_holds(struct dtrace_context *c, uintptr_t address, size_t bytes)
{
    (void)c;
    for (unsigned i = 0; i < FAKE_ELEMENTS; i++) {
        uint64_t at = address - (uintptr_t)data_of(&elements[i]);
        if (elements[i].used && at < elements[i].size && bytes <= elements[i].size - at) {
            return true;
        }
    }
    return false;
}

unsigned fake_elements(void)
{
    unsigned n = 0;

    for (unsigned i = 0; i < FAKE_ELEMENTS; i++) {
        n += elements[i].used;
    }
    return n;
}

void fake_dynvar_reset(void)
{
    for (unsigned i = 0; i < FAKE_ELEMENTS; i++) {
        element_free(&elements[i]);
    }
}

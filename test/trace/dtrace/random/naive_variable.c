/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The naive interpreter: built-in variables as the tests' port (test/trace/dtrace/machine/fake.c)
 * answers, and a program's own. See naive.h.
 */
#include "test/trace/dtrace/random/naive.h"

#include <stdlib.h>
#include <string.h>

/* ---- built-in ---------------------------------------------------------------------- */

const uint16_t n_strings[N_WINDOWS] = {
    DIF_VAR_probeprov, DIF_VAR_probemod, DIF_VAR_probefunc, DIF_VAR_probename,
    DIF_VAR_execname,  DIF_VAR_execargs, DIF_VAR_zonename,  DIF_VAR_jailname,
};

static uint64_t look_up(struct naive *n, uint32_t id)
{
    switch (id) {
    case DIF_VAR_timestamp:
        return n->now += 1000;
    case DIF_VAR_vtimestamp:
        return 100 + n->lookups++;
    case DIF_VAR_walltimestamp:
        return 200 + n->lookups++;
    case DIF_VAR_cycles:
        return 300 + n->lookups++;
    case DIF_VAR_instructions:
        return 400 + n->lookups++;
    case DIF_VAR_stackdepth:
        return 3 + n->lookups++;
    default: /* ustackdepth */
        return 5 + n->lookups++;
    }
}

/* These are the same throughout a clause. */
static bool once(struct naive *n, uint32_t id, uint64_t *value)
{
    static const uint16_t ids[N_ONCE] = {
        DIF_VAR_timestamp,   DIF_VAR_vtimestamp, DIF_VAR_walltimestamp, DIF_VAR_stackdepth,
        DIF_VAR_ustackdepth, DIF_VAR_cycles,     DIF_VAR_instructions};

    for (unsigned i = 0; i < N_ONCE && ids[i]; i++) {
        if (ids[i] == id) {
            n->once[i] = n->present >> i & 1 ? n->once[i] : look_up(n, id);
            n->present |= 1u << i;
            *value = n->once[i];
            return true;
        }
    }
    return false;
}

static bool string(struct naive *n, uint32_t id, uint64_t *value)
{
    for (unsigned i = 0; i < N_WINDOWS; i++) {
        if (n_strings[i] == id) {
            n->windows |= 1u << i;
            *value = n->string_at[i];
            return true;
        }
    }
    return false;
}

static uint64_t argument(const struct naive *n, uint64_t i)
{
    return i < 5 ? n->args[i] : 1000 + i;
}

uint64_t n_builtin(struct naive *n, uint32_t id)
{
    static const struct {
        uint16_t id;
        uint64_t value;
    } constants[] = {
        {DIF_VAR_curthread, 0xabcd},
        {DIF_VAR_ipl, 1},

        {DIF_VAR_caller, 0x1111},
        {DIF_VAR_ucaller, 0x2222},
        {DIF_VAR_pid, 42},
        {DIF_VAR_tid, (uint64_t)-3},
        {DIF_VAR_ppid, 41},
        {DIF_VAR_uid, 0xfffffffe},
        {DIF_VAR_gid, 12},
        {DIF_VAR_errno, 2},
        {DIF_VAR_jid, 0},
        {DIF_VAR_cpu, 0},
    };
    uint64_t value = 0;

    if (DIF_VAR_arg0 <= id && id <= DIF_VAR_arg9) {
        return argument(n, id - DIF_VAR_arg0);
    }
    if (once(n, id, &value) || string(n, id, &value)) {
        return value;
    }
    if (id == DIF_VAR_epid || id == DIF_VAR_id) {
        return id == DIF_VAR_id ? n->id : n->epid;
    }
    for (unsigned i = 0; i < sizeof(constants) / sizeof(constants[0]); i++) {
        if (constants[i].id == id) {
            return constants[i].value;
        }
    }
    n_fault(n, DIF_FAULT_ILLOP, 0);
    return 0;
}

uint64_t n_builtin_array(struct naive *n, uint32_t id, uint64_t index)
{
    bool registers = id == DIF_VAR_regs || id == DIF_VAR_uregs;

    if (id == DIF_VAR_args && index < 256) {
        return argument(n, index);
    }
    if (registers && index < 4) {
        return (id == DIF_VAR_uregs ? 0x200 : 0x100) + index;
    }
    n_fault(n, DIF_FAULT_ILLOP, (uint64_t)id << 32 | (index & 0xffffffff));
    return 0;
}

static uint64_t read_value(struct naive *n, uint64_t at)
{
    return n_load(n, at, 8, false, 'r');
}

static void write_value(struct naive *n, uint64_t at, uint64_t value)
{
    for (unsigned i = 0; i < 8; i++) {
        *n_at(n, at + i) = (uint8_t)(value >> 8 * i);
    }
}

/* ---- elements ---------------------------------------------------------------------- */

/* The key that was pushed, its bytes read. False: it is too large, or faulted. */
static bool read_key(struct naive *n, const struct n_var *v, struct n_element *e)
{
    size_t used = 0;

    *e = (struct n_element){.used = true, .var = v, .nkeys = 0};
    e->thread = v->scope == DIF_SCOPE_THREAD ? n->thread : 0;
    for (unsigned i = 0; i < (v->kind == DIF_KIND_ARRAY ? n->nkeys : 0); i++) {
        const struct n_key *k = &n->keys[i];
        size_t bytes = k->ref ? (k->size + 7) / 8 * 8 : 8;
        if (used + bytes > n->key_room) {
            return false;
        }
        used += bytes;
        e->keys[e->nkeys] = *k;
        e->key_bytes[e->nkeys++] = calloc(1, k->size + 1);
        if (k->ref && !n_block(n, e->key_bytes[i], k->value, k->size, false)) {
            return false;
        }
    }
    return true;
}

static void free_key(struct n_element *e)
{
    for (unsigned i = 0; i < e->nkeys; i++) {
        free(e->key_bytes[i]);
    }
    e->nkeys = 0;
    e->used = false;
}

void n_forget(struct naive *n)
{
    for (unsigned i = 0; i < n->nelements; i++) {
        free_key(&n->elements[i]);
    }
    n->nelements = 0;
}

static bool same_key(const struct n_element *a, const struct n_element *b, unsigned i)
{
    const struct n_key *x = &a->keys[i], *y = &b->keys[i];

    if (x->ref != y->ref) {
        return false;
    }
    return x->ref ? x->size == y->size && memcmp(a->key_bytes[i], b->key_bytes[i], x->size) == 0
                  : x->value == y->value;
}

static struct n_element *find(struct naive *n, const struct n_element *wanted)
{
    for (unsigned i = 0; i < n->nelements; i++) {
        struct n_element *e = &n->elements[i];
        bool same = e->used && e->var->id == wanted->var->id &&
                    e->var->scope == wanted->var->scope && e->thread == wanted->thread &&
                    e->nkeys == wanted->nkeys;
        for (unsigned k = 0; k < wanted->nkeys && same; k++) {
            same = same_key(e, wanted, k);
        }
        if (same) {
            return e;
        }
    }
    return NULL;
}

/* Elements get their places one after the other; none is used twice before the cleaner ran. */
static struct n_element *make(struct naive *n, struct n_element *wanted)
{
    struct n_element *e = &n->elements[n->nelements];

    if (n->nelements == n->elements_max) {
        n->dynamic_drops++;
        return NULL;
    }
    *e = *wanted;
    *wanted = (struct n_element){.used = false};
    e->address = n->dynamic.base + n->nelements++ * n->chunk_bytes + n->data_at;
    return e;
}

static uint64_t element_value(struct naive *n, const struct n_var *v)
{
    struct n_element wanted;
    const struct n_element *e = read_key(n, v, &wanted) ? find(n, &wanted) : NULL;

    free_key(&wanted);
    if (v->ref) {
        return e ? e->address : v->string && v->kind == DIF_KIND_SCALAR ? 0 : n->zeros;
    }
    return e ? read_value(n, e->address) : 0;
}

static void assign_element(struct naive *n, const struct n_var *v, uint64_t value)
{
    struct n_element wanted;
    bool key = read_key(n, v, &wanted);
    struct n_element *e = key ? find(n, &wanted) : NULL;

    if (!key && value && n->fault == DIF_FAULT_NONE) {
        n->dynamic_drops++;
    } else if (key && value == 0 && e) {
        free_key(e);
    } else if (key && value) {
        e = e ? e : make(n, &wanted);
        if (e && v->ref) {
            n_assign(n, v, e->address, value);
        } else if (e) {
            write_value(n, e->address, value);
        }
    }
    free_key(&wanted);
}

/* ---- a program's own --------------------------------------------------------------- */

static const struct n_var *var(const struct naive *n, uint8_t scope, uint8_t kind, uint16_t id)
{
    const struct n_var *v = n->vars;

    while (v->id != id || v->scope != scope || v->kind != kind) {
        v++; /* it is there: the object was valid */
    }
    return v;
}

static bool is_static(const struct n_var *v)
{
    return v->scope != DIF_SCOPE_THREAD && v->kind == DIF_KIND_SCALAR;
}

uint64_t n_get(struct naive *n, uint8_t scope, uint8_t kind, uint16_t id)
{
    const struct n_var *v = var(n, scope, kind, id);

    if (!is_static(v)) {
        return element_value(n, v);
    }
    if (v->ref) { /* the byte 8 before its data says that it is NULL */
        return *n_at(n, v->address - 8) ? 0 : v->address;
    }
    return read_value(n, v->address);
}

void n_set(struct naive *n, uint8_t scope, uint8_t kind, uint16_t id, uint64_t value)
{
    const struct n_var *v = var(n, scope, kind, id);

    if (scope == DIF_SCOPE_THREAD) {
        n->predicate_cache = 0;
    }
    if (!is_static(v)) {
        assign_element(n, v, value);
    } else if (v->ref) {
        *n_at(n, v->address - 8) = value == 0;
        if (value) {
            n_assign(n, v, v->address, value);
        }
    } else {
        write_value(n, v->address, value);
    }
}

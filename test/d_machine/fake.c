/* SPDX-License-Identifier: BSD-2-Clause */
#include "test/d_machine/fake.h"

#include "trace/d/machine.h"
#include "trace/d/port.h"
#include "trace/d/speculate.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

struct fake fake;

struct element {
    bool used;
    uint64_t thread; /* 0: global */
    uint16_t id;
    unsigned nkeys;
    struct d_key keys[DIF_TUPLE_REGS];
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

void fake_reset(void)
{
    for (unsigned i = 0; i < FAKE_ELEMENTS; i++) {
        element_free(&elements[i]);
    }
    memset(&fake, 0, sizeof(fake));
    fake.thread = 7;
    fake.elements_max = FAKE_ELEMENTS;
    fake.execname = "kymo-test";
}

static void add_map(const void *memory, size_t size, bool kernel, bool user, bool toxic)
{
    assert(fake.nmaps < FAKE_MAPS);
    fake.maps[fake.nmaps++] = (struct fake_map){(uintptr_t)memory, size, user, kernel, toxic};
}

void fake_map(const void *memory, size_t size, bool kernel, bool user)
{
    add_map(memory, size, kernel, user, false);
}

void fake_toxic(const void *memory, size_t size)
{
    add_map(memory, size, true, true, true);
}

void *d_port_alloc(size_t bytes)
{
    if (fake.alloc_limit && fake.allocated + bytes > fake.alloc_limit) {
        return NULL;
    }
    fake.allocated += bytes;
    return calloc(1, bytes);
}

void d_port_free(void *block, size_t bytes)
{
    fake.allocated -= bytes;
    free(block);
}

static bool overlaps(const struct fake_map *m, uint64_t address, size_t bytes)
{
    return address < m->address + m->size && m->address < address + bytes;
}

bool d_port_toxic(uint64_t address, size_t bytes, bool user)
{
    (void)user;
    for (unsigned i = 0; i < fake.nmaps; i++) {
        if (fake.maps[i].toxic && overlaps(&fake.maps[i], address, bytes)) {
            return true;
        }
    }
    return address < 4096;
}

static bool mapped(uint64_t address, size_t bytes, bool user)
{
    for (unsigned i = 0; i < fake.nmaps; i++) {
        const struct fake_map *m = &fake.maps[i];
        if (address - m->address < m->size && bytes <= m->size - (address - m->address)) {
            return user ? m->user : m->kernel;
        }
    }
    return false;
}

bool d_port_peek(void *to, uint64_t address, size_t bytes, bool user)
{
    fake.peeks++;
    fake.toxic_read += d_port_toxic(address, bytes, user);
    if (!mapped(address, bytes, user)) {
        memset(to, 0xee, bytes); /* undefined */
        return false;
    }
    memcpy(to, (const void *)(uintptr_t)address, bytes);
    return true;
}

bool d_port_poke_user(uint64_t address, const void *from, size_t bytes)
{
    if (!mapped(address, bytes, true)) {
        return false;
    }
    memcpy((void *)(uintptr_t)address, from, bytes);
    return true;
}

unsigned d_port_cpu_count(void)
{
    return FAKE_CPUS;
}

uint64_t d_port_vtimestamp(void)
{
    return 100 + fake.lookups++;
}

uint64_t d_port_walltimestamp(void)
{
    return 200 + fake.lookups++;
}

unsigned d_port_stack(bool user, uint64_t *to, unsigned max)
{
    assert(!to && max > 0);
    return (user ? 5 : 3) + fake.lookups++;
}

uint64_t d_port_caller(bool user)
{
    return user ? 0x2222 : 0x1111;
}

uint64_t d_port_register(bool user, unsigned n, bool *exists)
{
    *exists = n < 4;
    return (user ? 0x200 : 0x100) + n;
}

int32_t d_port_pid(void)
{
    return 42;
}

int32_t d_port_tid(void)
{
    return -3; /* so that its sign shows */
}

int32_t d_port_ppid(void)
{
    return 41;
}

uint32_t d_port_uid(void)
{
    return 0xfffffffe;
}

uint32_t d_port_gid(void)
{
    return 12;
}

int32_t d_port_errno(void)
{
    return 2;
}

uint32_t d_port_ipl(void)
{
    return 1;
}

uint64_t d_port_curthread(void)
{
    return 0xabcd;
}

bool d_port_descends(int32_t pid)
{
    return pid == 42 || pid == 1;
}

const char *d_port_execname(void)
{
    return fake.execname;
}

const char *d_port_execargs(void)
{
    return "kymo-test -v";
}

uint64_t d_port_random(void)
{
    return fake.random;
}

uint32_t d_speculation_new(struct d_speculations *all)
{
    (void)all;
    return ++fake.speculations;
}

/* ---- dynamic variables -------------------------------------------------------------------------
 */

static bool same_key(struct d_context *c, const struct d_key *key, const struct d_key *old,
                     const uint8_t *data)
{
    uint8_t now[DIF_STATIC_VAR_MAX];

    if (!key->ref) {
        return key->value == old->value;
    }
    return key->size == old->size && d_load_block(c, now, key->value, key->size, false) &&
           memcmp(now, data, key->size) == 0;
}

static bool same_element(struct d_context *c, const struct element *e, const struct d_dynamic *v,
                         unsigned nkeys)
{
    uint64_t thread = v->scope == DIF_SCOPE_THREAD ? fake.thread : 0;
    bool same = e->used && e->id == v->id && e->thread == thread && e->nkeys == nkeys;

    for (unsigned i = 0; i < nkeys && same; i++) {
        same = same_key(c, &c->keys[i], &e->keys[i], e->key_data[i]);
    }
    return same;
}

static uint8_t *element_make(struct d_context *c, struct element *e, const struct d_dynamic *v,
                             unsigned nkeys)
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
            d_load_block(c, e->key_data[i], c->keys[i].value, c->keys[i].size, false);
        }
    }
    return data_of(e);
}

uint8_t *d_dynvar(struct d_context *c, const struct d_dynamic *v, unsigned nkeys,
                  enum d_dynvar_how how)
{
    struct element *free_one = NULL;

    for (unsigned i = 0; i < fake.elements_max; i++) {
        struct element *e = &elements[i];
        if (same_element(c, e, v, nkeys)) {
            if (how == D_DYNVAR_FREE) {
                element_free(e);
            }
            return how == D_DYNVAR_FREE ? NULL : data_of(e);
        }
        if (!e->used && !free_one) {
            free_one = e;
        }
    }
    if (how != D_DYNVAR_ALLOCATE || !free_one || c->fault.kind != DIF_FAULT_NONE) {
        return NULL;
    }
    return element_make(c, free_one, v, nkeys);
}

bool d_dynvar_holds(struct d_context *c, uint64_t address, uint64_t bytes)
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

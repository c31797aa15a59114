/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The provider `fbt`: entry and return of nearly every function of the kernel. fbt_fire.c fires its
 * probes.
 *
 * The functions are in a table made when the kernel is linked (fbt_table.h). A probe costs nothing
 * until it is enabled. Enabling replaces the function's first instruction, or each of its returns,
 * by a branch to a slot, which calls D, executes the displaced instructions and continues behind
 * them. docs/fbt.md has more.
 *
 * Enabling: kernel lock. Tested by test/boot's suite fbt; the table's generator by test/fbt.
 */
#include "abi/compiler.h"
#include "abi/errno.h"
#include "kernel/base/cpu.h"
#include "kernel/base/string.h"
#include "kernel/base/window.h"
#include "kernel/arch/cpu.h"
#include "kernel/arch/probe.h"
#include "kernel/dtrace/dtrace.h"
#include "kernel/dtrace/fbt_slot.h"
#include "kernel/dtrace/fbt_table.h"
#include "kernel/entry/entry.h"
#include "trace/dtrace/port.h"
#include "trace/dtrace/probe.h"
#include "trace/dtrace/short_text.h"

enum { FBT_ENTRY, FBT_RETURN, FBT_KINDS };
static const char *const fbt_kind_names[FBT_KINDS] = {"entry", "return"};

extern const char __kernel_start[];

static uint32_t fbt_created[FBT_KINDS][64]; /* [k] bitmaps, by number in the table */

/* A function of the table. */
struct fbt_function {
    uintptr_t at;
    unsigned head;          /* the number that it begins with */
    uintptr_t pad;          /* of the entry; 0: none */
    const uint8_t *returns; /* in the table */
};

static unsigned table_number(const uint8_t **table)
{
    unsigned number = 0, shift = 0;
    uint8_t byte;

    do {
        byte = *(*table)++;
        number += (unsigned)byte << shift;
        shift += FBT_MORE_BITS;
    } while (byte >= FBT_MORE);
    return number;
}

/* Reads a distance; returns the address at this distance. */
static uintptr_t table_near(const uint8_t **table, uintptr_t at)
{
    unsigned number = table_number(table);
    uintptr_t distance = (uintptr_t)(number + 1) / 2 << ARCH_CODE_SHIFT;

    return number & 1 ? at - distance : at + distance;
}

/* before: the address of the function before it, or of the kernel's start. */
static struct fbt_function table_function(const uint8_t *table, uintptr_t before)
{
    struct fbt_function f = {.head = table_number(&table)};

    f.at = table_near(&table, before);
    if (f.head & FBT_ENTRY_PAD) {
        f.pad = table_near(&table, f.at);
    }
    f.returns = table;
    return f;
}

/* Reads the next return; *at: the address of the one before, then its own. */
static struct fbt_place table_return(const uint8_t **table, const struct fbt_function *f,
                                     uintptr_t *at)
{
    static const uint8_t kinds[] = {FBT_RETURN_KINDS};
    unsigned number = table_number(table), kind = number % (FBT_RETURN_OTHER + 1);
    unsigned head = kind < FBT_RETURN_OTHER ? kinds[kind] : table_number(table);
    unsigned before = (head & FBT_DISPLACED) << 1;
    struct fbt_place p = {.returns = true};

    *at += number / (FBT_RETURN_OTHER + 1) << ARCH_CODE_SHIFT;
    p.at = *at - before;
    p.offset = (unsigned)(*at - f->at) * 2 | (head & FBT_RETURN_TAIL ? FBT_TAIL : 0);
    p.pad = head & FBT_RETURN_PAD ? table_near(table, p.at) : 0;
    p.length = before ? before + 2 : p.pad ? 2 : 4;
    return p;
}

static unsigned returns_of(const struct fbt_function *f)
{
    return f->head >> FBT_REST;
}

/* Returns the function behind f. */
static const uint8_t *table_next(const struct fbt_function *f)
{
    const uint8_t *table = f->returns;
    uintptr_t at = f->at;

    for (unsigned n = returns_of(f); n > 0; n--) {
        table_return(&table, f, &at);
    }
    return table;
}

/* Returns a probe's arg: kind, place of its first function in the table, and the address that the
 * place is read with. */
static void *make_arg(const uint8_t *first, uintptr_t before, unsigned kind)
{
    uintptr_t place = (uintptr_t)(first - fbt_functions);

    kernel_assert(place >> FBT_PLACE_BITS == 0);
    uintptr_t from_start = (before - (uintptr_t)__kernel_start) >> ARCH_CODE_SHIFT;
    return (void *)(from_start << (FBT_PLACE_BITS + 1) | place << 1 | kind);
}

static int place_set(const struct fbt_place *p, uint32_t probe, bool on)
{
    if (on) {
        return fbt_place_on(probe, p);
    }
    fbt_place_off(p);
    return 0;
}

static COLD int function_set(const struct fbt_function *f, uint32_t probe, unsigned kind, bool on)
{
    const uint8_t *table = f->returns;
    uintptr_t at = f->at;
    int error = 0;

    if (kind == FBT_ENTRY && (f->head & FBT_DISPLACED)) {
        struct fbt_place p = {at, f->pad, (f->head & FBT_DISPLACED) << 1, 0, false};
        return place_set(&p, probe, on);
    }
    for (unsigned n = kind == FBT_RETURN ? returns_of(f) : 0; n > 0 && !error; n--) {
        struct fbt_place p = table_return(&table, f, &at);
        error = place_set(&p, probe, on);
    }
    return error;
}

/* Patches all functions of the probe's name. */
static COLD int fbt_set(uint32_t probe, void *arg, bool on)
{
    uintptr_t place = (uintptr_t)arg >> 1;
    const uint8_t *table = fbt_functions + place % (1u << FBT_PLACE_BITS);
    uintptr_t before = (uintptr_t)__kernel_start + (place >> FBT_PLACE_BITS << ARCH_CODE_SHIFT);
    struct fbt_function f = table_function(table, before);
    int error;

    do {
        error = function_set(&f, probe, (uintptr_t)arg & 1, on);
        table = table_next(&f);
        f = table_function(table, f.at);
    } while (!error && (f.head & FBT_SAME_NAME));
    return error;
}

static unsigned fbt_enabled; /* [k] number of probes */

static void fbt_disable(uint32_t probe, void *arg)
{
    kernel_assert(kernel_locked() && fbt_enabled > 0);
    fbt_set(probe, arg, false);
    fbt_enabled--;
}

static int fbt_enable(uint32_t probe, void *arg)
{
    kernel_assert(kernel_locked());
    int error = probe > UINT16_MAX ? -ENOSPC : fbt_set(probe, arg, true);

    fbt_enabled++;
    if (error) {
        fbt_disable(probe, arg);
    }
    return error;
}

/* The fast path of messages runs none of the functions that a probe may be in. */
static void fbt_settle_all(void)
{
    kercall_use_direct(fbt_enabled == 0);
    fbt_settle();
}

static void fbt_provide(const char *module, const char *function, const char *name);
static const struct dtrace_provider_ops fbt_ops = {.attributes = DTRACE_KERNEL_ATTRIBUTES,
                                                   .provide = fbt_provide,
                                                   .enable = fbt_enable,
                                                   .disable = fbt_disable,
                                                   .settle = fbt_settle_all};
static const struct dtrace_provider fbt_provider = {"fbt", &fbt_ops};

/* A name of the table, and what its functions have. */
struct fbt_name {
    const uint8_t *first; /* its first function */
    uintptr_t before;     /* the address that this one is read with */
    uintptr_t last;       /* the address of its last function */
    const uint8_t *next;  /* the name behind it */
    const char *copy;     /* what its probes have; NULL: not made yet */
    char text[FBT_NAME_MOST];
    unsigned number;
    bool has[FBT_KINDS];
};

/* Makes the text of the next name from that of the one before. */
static void name_next(struct fbt_name *name)
{
    name->next = dtrace_short_text(name->next, fbt_codes, name->text);
    name->copy = NULL;
}

static COLD void fbt_create(struct fbt_name *name, unsigned kind)
{
    uint32_t bit = 1u << name->number % 32, *word = &fbt_created[kind][name->number / 32];

    if (!(*word & bit) && (name->copy || (name->copy = dtrace_name_keep(name->text))) &&
        dtrace_probe_add(&fbt_provider, "kernel", name->copy, fbt_kind_names[kind],
                         make_arg(name->first, name->before, kind))) {
        *word |= bit;
    }
}

/* Reads the functions of a name; returns those of the next one. */
static COLD const uint8_t *name_read(struct fbt_name *name, const uint8_t *table,
                                     unsigned *functions)
{
    struct fbt_function f = table_function(table, name->last);

    name->first = table;
    name->before = name->last;
    name->has[FBT_ENTRY] = name->has[FBT_RETURN] = false;
    do {
        name->has[FBT_ENTRY] |= (f.head & FBT_DISPLACED) != 0;
        name->has[FBT_RETURN] |= returns_of(&f) > 0;
        table = table_next(&f);
        name->last = f.at;
        f = table_function(table, f.at);
        *functions -= 1;
    } while (f.head & FBT_SAME_NAME);
    return table;
}

/* Probes are created on demand: there are many, and most are never used. */
static COLD void fbt_provide(const char *module, const char *function, const char *name)
{
    struct fbt_name n = {.next = fbt_names, .last = (uintptr_t)__kernel_start};
    const uint8_t *table = fbt_functions;

    for (unsigned left = dtrace_glob(module, "kernel") ? fbt_function_count : 0; left > 0;) {
        kernel_window();
        table = name_read(&n, table, &left);
        name_next(&n);
        for (unsigned kind = 0; kind < FBT_KINDS; kind++) {
            if (n.has[kind] && dtrace_glob(name, fbt_kind_names[kind]) &&
                dtrace_glob(function, n.text)) {
                fbt_create(&n, kind);
            }
        }
        n.number++;
    }
}

void dtrace_fbt_init(void)
{
    if (fbt_function_count <= sizeof(fbt_created[0]) * 8) {
        dtrace_provider_register(&fbt_provider);
    }
}

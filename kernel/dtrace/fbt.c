/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The provider `fbt`: entry and return of nearly every function of the kernel. fbt_fire.c fires its
 * probes.
 *
 * The functions are in a table made when the kernel is linked (fbt_table.h). A probe costs nothing
 * until it is enabled. Enabling replaces the function's first instruction, or each of its returns,
 * by a branch to a slot, which calls D, executes the displaced instructions and continues behind
 * them. docs/inside/fbt.md has more.
 *
 * Enabling: kernel lock. Tested by test/board's suite fbt; the table's generator by test/host/fbt.
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

_Static_assert(DTRACE_PROBE_CHUNKS *DTRACE_PROBE_CHUNK <= UINT16_MAX, "struct fbt_slot: probe");

static uint32_t fbt_created[FBT_KINDS][64]; /* [k] bitmaps, by number in the table */

/* The reading position in the table. */
struct fbt_cursor {
    unsigned bit;
    uintptr_t address; /* the base of the next distance */
};

/* A function of the table. */
struct fbt_function {
    uintptr_t at, pad;  /* pad: of the entry; 0: none */
    unsigned displaced; /* halfwords for the entry; 0: it has no probe */
    unsigned returns;
    bool same_name; /* as the previous function */
};

static uint32_t table_bits(const struct fbt_cursor *c)
{
    return short_text_bits(fbt_functions, c->bit);
}

/* Reads a number of this many bits. */
static unsigned table_number(struct fbt_cursor *c, unsigned bits)
{
    unsigned zeros = (unsigned)__builtin_ctz(table_bits(c)), least = 1u << bits;

    c->bit += zeros + 1;
    uint32_t rest = table_bits(c), all = least << zeros;
    c->bit += bits + zeros;
    return (rest & (all - 1)) + (all - least);
}

/* Reads the distance of a pad from `at`. Returns the pad. */
static uintptr_t table_pad(struct fbt_cursor *c, uintptr_t at)
{
    unsigned number = table_number(c, FBT_PAD_BITS);
    uintptr_t distance = (uintptr_t)(number + 1) / 2 << ARCH_CODE_SHIFT;

    return number & 1 ? at - distance : at + distance;
}

/* Reads a function. Its returns follow. */
static struct fbt_function table_function(struct fbt_cursor *c)
{
    static const uint8_t heads[] = {FBT_HEADS};
    c->bit += c->bit & 1;
    unsigned head = table_number(c, FBT_HEAD_BITS);
    head = head < sizeof(heads) ? heads[head] : head - sizeof(heads);
    struct fbt_function f = {.displaced = head & FBT_DISPLACED,
                             .same_name = head & FBT_SAME_NAME,
                             .returns = head >> FBT_REST};
    uintptr_t distance = table_number(c, FBT_ADDRESS_BITS);

    distance = distance ? distance : 0 - (uintptr_t)table_number(c, FBT_ADDRESS_BITS);
    f.at = c->address += distance << ARCH_CODE_SHIFT;
    f.pad = f.displaced == 1 ? table_pad(c, f.at) : 0;
    return f;
}

/* Reads the next return of f. */
static struct fbt_place table_return(struct fbt_cursor *c, const struct fbt_function *f)
{
    static const uint8_t kinds[] = {FBT_RETURN_KINDS};
    unsigned number = table_number(c, FBT_RETURN_BITS), other = 0;

    if (number == 0) {
        other = table_number(c, FBT_OTHER_BITS);
        number = table_number(c, FBT_RETURN_BITS);
    }
    unsigned head = other ? other : kinds[(number - 1) % sizeof(kinds)];
    unsigned before = (head & FBT_DISPLACED) << 1;
    struct fbt_place p = {.returns = true};

    c->address += (number - 1) / sizeof(kinds) << ARCH_CODE_SHIFT;
    p.at = c->address - before;
    p.offset = (unsigned)(c->address - f->at) * 2 | (head & FBT_RETURN_TAIL ? FBT_TAIL : 0);
    p.pad = head & FBT_RETURN_PAD ? table_pad(c, p.at) : 0;
    p.length = before ? before + 2 : p.pad ? 2 : 4;
    return p;
}

/* Skips the returns of f. */
static void table_skip(struct fbt_cursor *c, const struct fbt_function *f)
{
    for (unsigned n = f->returns; n > 0; n--) {
        table_return(c, f);
    }
}

/* Returns a probe's arg: its kind, and the position of its first function. */
static void *make_arg(const struct fbt_cursor *first, unsigned kind)
{
    uintptr_t place = (first->bit + 1) / 2;
    uintptr_t from_start = (first->address - (uintptr_t)__kernel_start) >> ARCH_CODE_SHIFT;

    kernel_assert(place >> FBT_PLACE_BITS == 0);
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

/* Patches the function's entry or its returns, which follow f in the table. */
static COLD int function_set(struct fbt_cursor *c, const struct fbt_function *f, uint32_t probe,
                             unsigned kind, bool on)
{
    int error = 0;

    if (kind == FBT_ENTRY && f->displaced) {
        struct fbt_place p = {f->at, f->pad, f->displaced << 1, 0, false};
        error = place_set(&p, probe, on);
    }
    for (unsigned n = f->returns; n > 0; n--) {
        struct fbt_place p = table_return(c, f);
        if (kind == FBT_RETURN && !error) {
            error = place_set(&p, probe, on);
        }
    }
    return error;
}

/* Patches all functions of the probe's name. */
static COLD int fbt_set(uint32_t probe, void *arg, bool on)
{
    uintptr_t place = (uintptr_t)arg >> 1;
    struct fbt_cursor c = {place % (1u << FBT_PLACE_BITS) * 2,
                           (uintptr_t)__kernel_start +
                               (place >> FBT_PLACE_BITS << ARCH_CODE_SHIFT)};
    struct fbt_function f = table_function(&c);
    int error;

    do {
        error = function_set(&c, &f, probe, (uintptr_t)arg & 1, on);
        f = table_function(&c);
    } while (!error && f.same_name);
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
    int error = fbt_set(probe, arg, true);

    fbt_enabled++;
    if (error) {
        fbt_disable(probe, arg);
    }
    return error;
}

/* Also switches the fast path of messages, which calls none of the functions that a probe may be
 * in. */
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

/* A name of the table, and its functions' properties. */
struct fbt_name {
    struct fbt_cursor first; /* its first function */
    unsigned next;           /* the bit after the name */
    const char *copy;        /* its probes' copy; NULL: none yet */
    unsigned number;
    bool has[FBT_KINDS];
    char text[FBT_NAME_MOST];
};

/* Expands the text of the next name from that of the previous one. */
static void name_next(struct fbt_name *name)
{
    name->next = dtrace_short_text(fbt_names, name->next, fbt_codes, name->text);
    name->copy = NULL;
}

static COLD void fbt_create(struct fbt_name *name, unsigned kind)
{
    uint32_t bit = 1u << name->number % 32, *word = &fbt_created[kind][name->number / 32];

    if (!(*word & bit) && (name->copy || (name->copy = dtrace_name_keep(name->text))) &&
        dtrace_probe_add(&fbt_provider, "kernel", name->copy, fbt_kind_names[kind],
                         make_arg(&name->first, kind))) {
        *word |= bit;
    }
}

/* Reads the functions of a name. */
static COLD void name_read(struct fbt_name *name, struct fbt_cursor *c, unsigned *functions)
{
    struct fbt_cursor next = *c;
    struct fbt_function f = table_function(&next);

    name->first = *c;
    name->has[FBT_ENTRY] = name->has[FBT_RETURN] = false;
    do {
        name->has[FBT_ENTRY] |= f.displaced != 0;
        name->has[FBT_RETURN] |= f.returns > 0;
        table_skip(&next, &f);
        *c = next;
        f = table_function(&next);
        *functions -= 1;
    } while (f.same_name);
}

/* Creates probes on demand, because there are many and most are never used. */
static COLD void fbt_provide(const char *module, const char *function, const char *name)
{
    struct fbt_name n = {.next = 0};
    struct fbt_cursor c = {.address = (uintptr_t)__kernel_start};

    for (unsigned left = dtrace_glob(module, "kernel") ? fbt_function_count : 0; left > 0;) {
        kernel_window();
        name_read(&n, &c, &left);
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

/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The provider `fbt`: entry and return of nearly every function of the kernel. Entry: arg0 … arg4
 * are the argument registers (and stack words, where there are fewer than five). Return: arg0 is
 * the offset of the return in the function, arg1 the value; arg2 is 1 if the function returns by a
 * jump to another function, whose value is not known yet: arg1 is 0.
 *
 * The functions are in a table made when the kernel is linked (fbt_table.h). A probe costs nothing
 * until it is enabled. Enabling replaces the function's first instruction, or each of its returns,
 * by a branch to a slot, which calls D, executes the displaced instructions and continues behind
 * them. docs/fbt.md has more.
 *
 * Enabling: kernel lock. Probe firing: any context; a function called by D itself does not fire.
 * Tested by test/boot's suite fbt; the table's generator by test/fbt.
 */
#include "abi/errno.h"
#include "kernel/base/cpu.h"
#include "kernel/base/window.h"
#include "kernel/arch/cpu.h"
#include "kernel/arch/entry.h"
#include "kernel/arch/probe.h"
#include "kernel/dtrace/dtrace.h"
#include "kernel/dtrace/fbt_slot.h"
#include "kernel/dtrace/fbt_table.h"
#include "kernel/entry/entry.h"
#include "trace/dtrace/port.h"
#include "trace/dtrace/probe.h"

enum { ENTRY, RETURN, KINDS };
static const char *const kind_names[KINDS] = {"entry", "return"};

extern const char __kernel_start[];

static uint32_t created[KINDS][64]; /* [k] bitmaps, by number in the table */

/* ---- probe firing ------------------------------------------------------------------ */

/* During a probe firing, in a function called by D itself, the event is a drop. */
static inline void fbt_fire(const struct fbt_slot *slot, const uintptr_t *regs,
                            const uint64_t args[5])
{
    uintptr_t irq = arch_irq_save();
    const struct dtrace_probe *probe = dtrace_probe_at(slot->probe);
    struct cpu *cpu = arch_cpu();

    if (cpu->trace.fired) {
        dtrace_probe_nested(probe);
    } else if (!dtrace_probe_skips(probe)) {
        cpu->trace.fired = (const void *)regs;
        dtrace_probe_fire(probe, args);
        cpu->trace.fired = NULL;
    }
    arch_irq_restore(irq);
}

void kernel_probe_entry(const void *back, const uintptr_t *regs)
{
    fbt_fire(fbt_slot_fired(back, false), regs,
             (const uint64_t[]){arch_probe_argument(regs, 0), arch_probe_argument(regs, 1),
                                arch_probe_argument(regs, 2), arch_probe_argument(regs, 3),
                                arch_probe_argument(regs, 4)});
}

void kernel_probe_return(const void *back, const uintptr_t *regs)
{
    const struct fbt_slot *slot = fbt_slot_fired(back, true);
    uint64_t args[5] = {slot->offset, arch_probe_argument(regs, 0), 0, 0, 0};

    if (unlikely(slot->offset & FBT_TAIL)) {
        args[0] -= FBT_TAIL;
        args[1] = 0;
        args[2] = 1;
    }
    fbt_fire(slot, regs, args);
}

/* ---- probes ------------------------------------------------------------------------ */

/* Returns a probe's arg: number of its first function, and kind. */
static void *make_arg(unsigned number, unsigned kind)
{
    return (void *)(uintptr_t)(number << 1 | kind);
}

static struct fbt_place entry_of(const struct fbt_function *f)
{
    uintptr_t at = (uintptr_t)__kernel_start + f->at;

    return (struct fbt_place){at, f->pad ? at + (uintptr_t)(intptr_t)f->pad : 0, f->entry, 0,
                              false};
}

static struct fbt_place return_of(const struct fbt_function *f, unsigned n)
{
    uint32_t packed = fbt_returns[f->returns + n];
    unsigned offset = (packed & 0x3fff) << 1, before = (packed >> 14 & 3) << 1;
    unsigned tail = packed >> 16 & FBT_TAIL, hop = packed >> 17 & 0x7ff;
    uintptr_t at = (uintptr_t)__kernel_start + f->at + offset - before;
    uintptr_t pad = at + (uintptr_t)(((intptr_t)(hop ^ 0x400) - 0x400) * 2);

    return (struct fbt_place){at, hop ? pad : 0,
                              before ? before + 2
                              : hop  ? 2
                                     : 4,
                              offset | tail, true};
}

static unsigned places_of(const struct fbt_function *f, unsigned kind)
{
    return kind == RETURN ? f->nreturns : f->entry > 0;
}

static int function_set(const struct fbt_function *f, uint32_t probe, unsigned kind, bool on)
{
    int error = 0;

    for (unsigned n = 0; n < places_of(f, kind) && !error; n++) {
        struct fbt_place p = kind == RETURN ? return_of(f, n) : entry_of(f);
        if (on) {
            error = fbt_place_on(probe, &p);
        } else {
            fbt_place_off(&p);
        }
    }
    return error;
}

/* Patches all functions of the probe's name. */
static int fbt_set(uint32_t probe, void *arg, bool on)
{
    unsigned first = (unsigned)((uintptr_t)arg >> 1), kind = (uintptr_t)arg & 1;
    int error = 0;

    for (unsigned i = first;
         i < fbt_function_count && !error && fbt_functions[i].name == fbt_functions[first].name;
         i++) {
        error = function_set(&fbt_functions[i], probe, kind, on);
    }
    return error;
}

static unsigned enabled; /* [k] number of probes */

static void fbt_disable(uint32_t probe, void *arg)
{
    kernel_assert(kernel_locked() && enabled > 0);
    fbt_set(probe, arg, false);
    enabled--;
}

static int fbt_enable(uint32_t probe, void *arg)
{
    kernel_assert(kernel_locked());
    int error = probe > UINT16_MAX ? -ENOSPC : fbt_set(probe, arg, true);

    enabled++;
    if (error) {
        fbt_disable(probe, arg);
    }
    return error;
}

/* The fast path of messages runs none of the functions that a probe may be in. */
static void fbt_settle_all(void)
{
    kercall_use_direct(enabled == 0);
    fbt_settle();
}

static void fbt_provide(const char *module, const char *function, const char *name);
static const struct dtrace_provider provider = {.name = "fbt",
                                                .attributes = DTRACE_KERNEL_ATTRIBUTES,
                                                .provide = fbt_provide,
                                                .enable = fbt_enable,
                                                .disable = fbt_disable,
                                                .settle = fbt_settle_all};

static void fbt_create(unsigned number, unsigned kind)
{
    uint32_t bit = 1u << number % 32, *word = &created[kind][number / 32];

    if (!(*word & bit) &&
        dtrace_probe_add(&provider, "kernel", &fbt_names[fbt_functions[number].name],
                         kind_names[kind], make_arg(number, kind))) {
        *word |= bit;
    }
}

/* Returns whether the functions of a name, from the first one on, have this probe. */
static bool fbt_has(unsigned first, unsigned kind)
{
    bool found = false;

    for (unsigned i = first;
         i < fbt_function_count && fbt_functions[i].name == fbt_functions[first].name; i++) {
        found |= places_of(&fbt_functions[i], kind) > 0;
    }
    return found;
}

/* Probes are created on demand: there are many, and most are never used. */
static void fbt_provide(const char *module, const char *function, const char *name)
{
    if (!dtrace_glob(module, "kernel")) {
        return;
    }
    for (unsigned i = 0; i < fbt_function_count; i++) {
        kernel_window();
        bool first = i == 0 || fbt_functions[i].name != fbt_functions[i - 1].name;
        for (unsigned kind = 0; kind < KINDS && first; kind++) {
            if (dtrace_glob(name, kind_names[kind]) && fbt_has(i, kind) &&
                dtrace_glob(function, &fbt_names[fbt_functions[i].name])) {
                fbt_create(i, kind);
            }
        }
    }
}

bool dtrace_fbt_site(uintptr_t ip, uintptr_t *site, unsigned *behind)
{
    const struct fbt_slot *slot = fbt_slot_of((const void *)ip);

    if (ip < (uintptr_t)fbt_slots || ip >= (uintptr_t)fbt_slots_end) {
        return false;
    }
    *site = fbt_slot_site(slot);
    *behind = (unsigned)(ip - (uintptr_t)slot);
    return true;
}

void dtrace_fbt_init(void)
{
    if (fbt_function_count <= sizeof(created[0]) * 8) {
        dtrace_provider_register(&provider);
    }
}

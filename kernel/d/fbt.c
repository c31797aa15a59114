/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The provider `fbt`: entry and return of nearly every function of the kernel. Entry: arg0 … arg4
 * are what is in the argument registers (and on the stack, where there are fewer than five).
 * Return: arg0 is where in the function it returns, arg1 the value.
 *
 * The functions are in a table made when the kernel is linked (fbt_table.h). Nothing is there of a
 * probe until it is enabled: then the first instruction of the function, or each of its returns, is
 * replaced by a branch to a slot, which calls D, does what was displaced and goes on behind it.
 * docs/probes.md has more.
 *
 * Enabling: kernel lock. Firing: any context; a function that D's own work calls does not fire.
 * Tested by test/boot's suite fbt; the table's maker by test/fbt.
 */
#include "kernel/abi/errno.h"
#include "kernel/cpu.h"
#include "kernel/d/d.h"
#include "kernel/d/fbt_table.h"
#include "kernel/string.h"
#include "trace/d/port.h"

enum { ENTRY, RETURN, KINDS };
static const char *const kind_names[KINDS] = {"entry", "return"};

/* In the text: read as data, written through arch_text_write(). */
struct slot {
    uint32_t code[ARCH_PROBE_WORDS];
    uint32_t original; /* what the branch has replaced; of a free slot: the next free one's number
                          from 1 */
    uint16_t probe;
    uint16_t offset; /* of the return */
};
_Static_assert(sizeof(struct slot) == 32, "host/fbt/main.c");

extern const char __kernel_start[];

static uint32_t created[KINDS][64]; /* [k] bits: by number in the table */
static uint32_t slots_used;         /* [k] from the start; some of them may be free again */
static uint32_t slots_free;         /* [k] first free one, from 1; 0: none */
static bool busy[CONFIG_CPUS];      /* [c] */

/* ---- firing ------------------------------------------------------------------------------------
 */

static const struct slot *slot_of(const void *back)
{
    uintptr_t at = (uintptr_t)back - (uintptr_t)fbt_slots;

    return (const struct slot *)fbt_slots + at / sizeof(struct slot);
}

void kernel_probe_entry(const void *back, const uintptr_t *regs)
{
    uintptr_t irq = arch_irq_save();
    bool *mine = &busy[d_port_cpu()];

    if (!*mine) {
        *mine = true;
        d_fire(slot_of(back)->probe, arch_probe_argument(regs, 0), arch_probe_argument(regs, 1),
               arch_probe_argument(regs, 2), arch_probe_argument(regs, 3),
               arch_probe_argument(regs, 4));
        *mine = false;
    }
    arch_irq_restore(irq);
}

void kernel_probe_return(const void *back, const uintptr_t *regs)
{
    uintptr_t irq = arch_irq_save();
    bool *mine = &busy[d_port_cpu()];

    if (!*mine) {
        const struct slot *slot = slot_of(back);
        *mine = true;
        d_fire(slot->probe, slot->offset, arch_probe_argument(regs, 0), 0, 0, 0);
        *mine = false;
    }
    arch_irq_restore(irq);
}

/* ---- changing an instruction that others may execute -------------------------------------------
 */

static struct meeting {
    volatile uint32_t waiting; /* [a] CPUs that have stopped */
    volatile uint32_t over;    /* [a] */
    uint32_t leader, others;   /* [k] */
    uintptr_t site;            /* [k] */
    uint32_t insn;             /* [k] */
} meeting;

/* The others stop in here, where nothing is patched. */
static void meet(void *arg)
{
    struct meeting *m = arg;

    if (arch_cpu()->id != m->leader) {
        __atomic_fetch_add(&m->waiting, 1, __ATOMIC_RELEASE);
        do {
            arch_spin_hint();
        } while (!__atomic_load_n(&m->over, __ATOMIC_ACQUIRE));
        arch_spin_hint(); /* what was fetched before is forgotten */
        return;
    }
    while (__atomic_load_n(&m->waiting, __ATOMIC_ACQUIRE) != m->others) {
        arch_spin_hint();
    }
    arch_text_write(m->site, &m->insn, sizeof(m->insn));
    __atomic_store_n(&m->over, 1, __ATOMIC_RELEASE);
}

static void replace(uintptr_t site, uint32_t insn)
{
    meeting = (struct meeting){
        .leader = arch_cpu()->id, .others = cpu_online_count() - 1, .site = site, .insn = insn};
    cpu_run_on_all(meet, &meeting);
}

/* ---- slots -------------------------------------------------------------------------------------
 */

static struct slot *slot_at(uint32_t number)
{
    return (struct slot *)fbt_slots + (number - 1);
}

static uint32_t slot_take(void)
{
    uint32_t number = slots_free;

    if (number) {
        slots_free = slot_at(number)->original;
        return number;
    }
    if ((const char *)(slot_at(slots_used + 1) + 1) > fbt_slots_end) {
        return 0;
    }
    return ++slots_used;
}

static void slot_give(uint32_t number)
{
    arch_text_write((uintptr_t)&slot_at(number)->original, &slots_free, sizeof(slots_free));
    slots_free = number;
}

struct place {
    uintptr_t at;    /* the branch */
    unsigned length; /* bytes displaced */
    unsigned offset; /* of the return instruction in the function */
    unsigned kind;
};

static int place_on(uint32_t probe, const struct place *p)
{
    uint32_t number = slot_take();
    uintptr_t at = (uintptr_t)slot_at(number);
    struct slot slot = {.probe = (uint16_t)probe, .offset = (uint16_t)p->offset};

    if (!number) {
        return -ENOSPC;
    }
    memcpy(&slot.original, (const void *)p->at, sizeof(slot.original));
    if (!arch_probe_slot(slot.code, at, p->at, p->length, p->kind == RETURN)) {
        slot_give(number);
        return -ENOTSUP;
    }
    arch_text_write(at, &slot, sizeof(slot));
    replace(p->at, arch_probe_branch(p->at, at));
    return 0;
}

/* When replace() is back no CPU is in the slot. */
static void place_off(const struct place *p)
{
    uintptr_t at = arch_probe_target(p->at);
    const struct slot *slot = slot_of((const void *)at);

    if (at >= (uintptr_t)fbt_slots && at < (uintptr_t)fbt_slots_end) {
        replace(p->at, slot->original);
        slot_give((uint32_t)(slot - (const struct slot *)fbt_slots) + 1);
    }
}

/* ---- probes ------------------------------------------------------------------------------------
 */

/* arg of a probe: number of its first function, and kind. */
static void *make_arg(unsigned number, unsigned kind)
{
    return (void *)(uintptr_t)(number << 1 | kind);
}

static struct place entry_of(const struct fbt_function *f)
{
    return (struct place){(uintptr_t)__kernel_start + f->at, f->entry, 0, ENTRY};
}

static struct place return_of(const struct fbt_function *f, unsigned n)
{
    unsigned packed = fbt_returns[f->returns + n];
    unsigned offset = packed >> 2 << 1, before = (packed & 3) << 1;

    return (struct place){(uintptr_t)__kernel_start + f->at + offset - before,
                          before ? before + 2 : 4, offset, RETURN};
}

static unsigned places_of(const struct fbt_function *f, unsigned kind)
{
    return kind == RETURN ? f->nreturns : f->entry > 0;
}

static int function_set(const struct fbt_function *f, uint32_t probe, unsigned kind, bool on)
{
    int error = 0;

    for (unsigned n = 0; n < places_of(f, kind) && !error; n++) {
        struct place p = kind == RETURN ? return_of(f, n) : entry_of(f);
        if (on) {
            error = place_on(probe, &p);
        } else {
            place_off(&p);
        }
    }
    return error;
}

/* All functions of the probe's name. */
static int set(uint32_t probe, void *arg, bool on)
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

static void disable(uint32_t probe, void *arg)
{
    set(probe, arg, false);
}

static int enable(uint32_t probe, void *arg)
{
    int error = probe > UINT16_MAX ? -ENOSPC : set(probe, arg, true);

    if (error) {
        disable(probe, arg);
    }
    return error;
}

static void provide(const char *module, const char *function, const char *name);
static const struct d_provider provider = {.name = "fbt",
                                           .attributes = D_KERNEL_ATTRIBUTES,
                                           .provide = provide,
                                           .enable = enable,
                                           .disable = disable};

static void create(unsigned number, unsigned kind)
{
    uint32_t bit = 1u << number % 32, *word = &created[kind][number / 32];

    if (!(*word & bit) && d_probe_add(&provider, "kernel", &fbt_names[fbt_functions[number].name],
                                      kind_names[kind], make_arg(number, kind))) {
        *word |= bit;
    }
}

/* The functions of a name from the first one on: do they have this probe? */
static bool has(unsigned first, unsigned kind)
{
    bool found = false;

    for (unsigned i = first;
         i < fbt_function_count && fbt_functions[i].name == fbt_functions[first].name; i++) {
        found |= places_of(&fbt_functions[i], kind) > 0;
    }
    return found;
}

/* Probes are made when somebody asks for them: there are many, and most are never asked for. */
static void provide(const char *module, const char *function, const char *name)
{
    if (!d_glob(module, "kernel")) {
        return;
    }
    for (unsigned i = 0; i < fbt_function_count; i++) {
        bool first = i == 0 || fbt_functions[i].name != fbt_functions[i - 1].name;
        for (unsigned kind = 0; kind < KINDS && first; kind++) {
            if (d_glob(name, kind_names[kind]) && has(i, kind) &&
                d_glob(function, &fbt_names[fbt_functions[i].name])) {
                create(i, kind);
            }
        }
    }
}

void d_fbt_init(void)
{
    if (fbt_function_count <= sizeof(created[0]) * 8) {
        d_provider_register(&provider);
    }
}

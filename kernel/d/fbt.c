/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The provider `fbt`: entry and return of nearly every function of the kernel. Entry: arg0 … arg4
 * are what is in the argument registers (and on the stack, where there are fewer than five).
 * Return: arg0 is where in the function it returns, arg1 the value; arg2 is 1 if it returns by a
 * jump to another function, whose value is not known yet: arg1 is 0.
 *
 * The functions are in a table made when the kernel is linked (fbt_table.h). Nothing is there of a
 * probe until it is enabled: then the first instruction of the function, or each of its returns, is
 * replaced by a branch to a slot, which calls D, does what was displaced and goes on behind it.
 * docs/fbt.md has more.
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
#include "trace/d/probe.h"

enum { ENTRY, RETURN, KINDS };
static const char *const kind_names[KINDS] = {"entry", "return"};

/* What is to become of a slot, or has. */
enum state { FREE, GOING_ON, ON, GOING_OFF };

/* In the text: read as data, written through arch_text_write(). */
struct slot {
    uint32_t code[ARCH_PROBE_WORDS];
    uint32_t original; /* what the branch replaces, if NARROW in the lower half and the branch in
                          the upper one; of a free slot: the next free one's number from 1 */
    uint32_t place;    /* NARROW, enum state, in 28 bits where the branch is, from __kernel_start */
    uint16_t probe;
    uint16_t offset; /* of the return; TAIL */
};
_Static_assert(sizeof(struct slot) == FBT_SLOT_BYTES, "host/fbt/main.c");
#define NARROW \
    (1u << 31)          /* the branch has 16 bits and goes to a pad, which goes on to the slot \
                         */
enum { TAIL = 1 };      /* the return is a jump to another function */
#define PAD 0xbf00bf00u /* what is in a pad, which only Thumb has: two NOPs */

extern const char __kernel_start[];

static uint32_t created[KINDS][64]; /* [k] bits: by number in the table */
static uint32_t slots_used;         /* [k] from the start; some of them may be free again */
static uint32_t slots_free;         /* [k] first free one, from 1; 0: none */
static bool pending;                /* [k] something is going on or off */

/* ---- firing ------------------------------------------------------------------------------------
 */

static const struct slot *slot_of(const void *back)
{
    uintptr_t at = (uintptr_t)back - (uintptr_t)fbt_slots;

    return (const struct slot *)fbt_slots + at / sizeof(struct slot);
}

/* Inside of a firing, in a function that D's own work calls, it is a drop. */
static inline void fire(const struct slot *slot, const uintptr_t *regs, const uint64_t args[5])
{
    uintptr_t irq = arch_irq_save();
    const struct d_probe *probe = d_probe_at(slot->probe);
    struct cpu *cpu = arch_cpu();

    if (cpu->fired) {
        d_probe_nested(probe);
    } else if (!d_probe_skips(probe)) {
        cpu->fired = (const void *)regs;
        d_probe_fire(probe, args);
        cpu->fired = NULL;
    }
    arch_irq_restore(irq);
}

void kernel_probe_entry(const void *back, const uintptr_t *regs)
{
    fire(slot_of(back), regs,
         (const uint64_t[]){arch_probe_argument(regs, 0), arch_probe_argument(regs, 1),
                            arch_probe_argument(regs, 2), arch_probe_argument(regs, 3),
                            arch_probe_argument(regs, 4)});
}

void kernel_probe_return(const void *back, const uintptr_t *regs)
{
    const struct slot *slot = slot_of(back);
    unsigned tail = slot->offset & TAIL;
    uintptr_t value = tail ? 0 : arch_probe_argument(regs, 0);

    fire(slot, regs, (const uint64_t[]){slot->offset - tail, value, tail, 0, 0});
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

static enum state slot_state(const struct slot *slot)
{
    return slot->place >> 28 & 3;
}

static uintptr_t slot_site(const struct slot *slot)
{
    return (uintptr_t)__kernel_start + (slot->place & 0x0fffffff);
}

static void slot_set(const struct slot *slot, enum state state)
{
    uint32_t place = (slot->place & ~(3u << 28)) | (uint32_t)state << 28;

    arch_text_write((uintptr_t)&slot->place, &place, sizeof(place));
}

static void slot_give(const struct slot *slot)
{
    arch_text_write((uintptr_t)&slot->original, &slots_free, sizeof(slots_free));
    slots_free = (uint32_t)(slot - (const struct slot *)fbt_slots) + 1;
    slot_set(slot, FREE);
}

/* The slot that a branch goes to, by way of a pad or not; NULL: to none. */
static const struct slot *slot_behind(uintptr_t branch)
{
    uintptr_t at = arch_probe_target(branch);

    for (unsigned hops = 0; hops < 2 && at; hops++) {
        if (at >= (uintptr_t)fbt_slots && at < (uintptr_t)fbt_slots_end) {
            return slot_of((const void *)at);
        }
        at = arch_probe_target(at);
    }
    return NULL;
}

/* The slot of what is or will be patched there; NULL: none. Usually the branch tells; what it
 * replaces may be a jump to a function that is probed. */
static const struct slot *slot_find(uintptr_t site)
{
    const struct slot *slot = slot_behind(site);

    if (slot && slot_site(slot) == site && slot_state(slot) != FREE) {
        return slot;
    }
    for (uint32_t n = 1; n <= slots_used; n++) {
        if (slot_state(slot_at(n)) == GOING_ON && slot_site(slot_at(n)) == site) {
            return slot_at(n);
        }
    }
    return NULL;
}

/* ---- changing instructions that others may execute ---------------------------------------------
 */

static struct meeting {
    volatile uint32_t waiting; /* [a] CPUs that have stopped */
    volatile uint32_t over;    /* [a] */
    uint32_t leader, others;   /* [k] */
} meeting;

/* Nothing goes there any more. */
static void pad_clear(uintptr_t pad)
{
    static const uint32_t nops = PAD;

    arch_text_write(pad, &nops, sizeof(nops));
}

static void patch(const struct slot *slot, bool on)
{
    uintptr_t site = slot_site(slot);
    uint32_t insn = slot->original;

    if (slot->place & NARROW) {
        uint16_t half = (uint16_t)(on ? insn >> 16 : insn);
        uintptr_t pad = arch_probe_target(site);
        arch_text_write(site, &half, sizeof(half));
        if (!on) {
            pad_clear(pad);
        }
        return;
    }
    if (on) {
        arch_probe_branch(&insn, site, (uintptr_t)slot, sizeof(insn));
    }
    arch_text_write(site, &insn, sizeof(insn));
}

static void patch_all(void)
{
    for (uint32_t n = 1; n <= slots_used; n++) {
        const struct slot *slot = slot_at(n);
        if (slot_state(slot) == GOING_ON || slot_state(slot) == GOING_OFF) {
            patch(slot, slot_state(slot) == GOING_ON);
        }
    }
}

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
    patch_all();
    __atomic_store_n(&m->over, 1, __ATOMIC_RELEASE);
}

/* All that enable() and disable() have asked for. Afterwards no CPU is in a slot that goes off. */
static void settle(void)
{
    if (!pending) {
        return;
    }
    pending = false;
    meeting = (struct meeting){.leader = arch_cpu()->id, .others = cpu_online_count() - 1};
    if (meeting.others) {
        cpu_run_on_all(meet, &meeting);
    } else {
        patch_all(); /* interrupts stay open */
    }
    for (uint32_t n = 1; n <= slots_used; n++) {
        const struct slot *slot = slot_at(n);
        if (slot_state(slot) == GOING_ON) {
            slot_set(slot, ON);
        } else if (slot_state(slot) == GOING_OFF) {
            slot_give(slot);
        }
    }
}

/* ---- places ------------------------------------------------------------------------------------
 */

struct place {
    uintptr_t at;    /* the branch */
    uintptr_t pad;   /* where it goes on from; 0: it goes to the slot */
    unsigned length; /* bytes displaced */
    unsigned offset; /* of the return instruction in the function; TAIL */
    unsigned kind;
};

/* Of both branches, if there are two: nothing gets to the pad before the first one is there. */
static bool branches_fit(struct slot *slot, const struct place *p, uintptr_t at)
{
    uint32_t first, second;

    memcpy(&slot->original, (const void *)p->at, sizeof(slot->original));
    if (!p->pad) {
        return arch_probe_branch(&first, p->at, at, 4);
    }
    if (!arch_probe_branch(&first, p->at, p->pad, 2) ||
        !arch_probe_branch(&second, p->pad, at, 4)) {
        return false;
    }
    slot->place |= NARROW;
    slot->original = (slot->original & 0xffff) | first << 16;
    arch_text_write(p->pad, &second, sizeof(second));
    return true;
}

static int place_on(uint32_t probe, const struct place *p)
{
    uint32_t number = slot_take(), from_start = (uint32_t)(p->at - (uintptr_t)__kernel_start);
    struct slot slot = {.place = from_start | (uint32_t)GOING_ON << 28,
                        .probe = (uint16_t)probe,
                        .offset = (uint16_t)p->offset};

    if (!number) {
        return -ENOSPC;
    }
    uintptr_t at = (uintptr_t)slot_at(number);
    if (!arch_probe_slot(slot.code, at, p->at, p->length, p->kind == RETURN) ||
        !branches_fit(&slot, p, at)) {
        slot_give(slot_at(number));
        return -ENOTSUP;
    }
    arch_text_write(at, &slot, sizeof(slot));
    pending = true;
    return 0;
}

static void place_off(const struct place *p)
{
    const struct slot *slot = slot_find(p->at);

    if (slot && slot_state(slot) == GOING_ON) {
        if (p->pad) {
            pad_clear(p->pad);
        }
        slot_give(slot);
    } else if (slot) {
        slot_set(slot, GOING_OFF);
        pending = true;
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
    uintptr_t at = (uintptr_t)__kernel_start + f->at;

    return (struct place){at, f->pad ? at + (uintptr_t)(intptr_t)f->pad : 0, f->entry, 0, ENTRY};
}

static struct place return_of(const struct fbt_function *f, unsigned n)
{
    uint32_t packed = fbt_returns[f->returns + n];
    unsigned offset = (packed & 0x3fff) << 1, before = (packed >> 14 & 3) << 1;
    unsigned tail = packed >> 16 & TAIL, hop = packed >> 17 & 0x7ff;
    uintptr_t at = (uintptr_t)__kernel_start + f->at + offset - before;
    uintptr_t pad = at + (uintptr_t)(((intptr_t)(hop ^ 0x400) - 0x400) * 2);

    return (struct place){at, hop ? pad : 0,
                          before ? before + 2
                          : hop  ? 2
                                 : 4,
                          offset | tail, RETURN};
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
                                           .disable = disable,
                                           .settle = settle};

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

bool d_fbt_made(uintptr_t ip)
{
    return ip >= (uintptr_t)fbt_slots && ip < (uintptr_t)fbt_slots_end;
}

void d_fbt_init(void)
{
    if (fbt_function_count <= sizeof(created[0]) * 8) {
        d_provider_register(&provider);
    }
}

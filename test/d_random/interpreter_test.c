/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Random programs on the machine and on a second, naive interpreter: both load the same ones, and
 * what both load gives the same values, the same faults, the same memory. STEPS programs from SEED,
 * both from the environment; each program has a seed of its own, which is printed when it fails:
 * SEED=that STEPS=1 repeats it.
 */
#include "test/d_random/pair.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

enum { STEPS = 500000 };

static struct {
    unsigned refused, ran, firings, faulted, unknown, wrong;
    unsigned faults[16];
} counts;

static uint64_t number(const char *name, uint64_t absent)
{
    const char *text = getenv(name);

    return text && *text ? strtoull(text, NULL, 0) : absent;
}

static void make(void)
{
    struct program *p = &pair.program;

    p_variables(p);
    p->nobjects = 1 + r_below(r_chance(70) ? 1 : 3);
    for (uint32_t i = 0; i < p->nobjects; i++) {
        p_object(p, i, 1 + r_below(r_chance(90) ? 24 : 80));
    }
    if (r_chance(25)) {
        for (uint32_t i = 1 + r_below(3); i > 0; i--) {
            p_damage(&p->objects[r_below(p->nobjects)]);
        }
    }
}

static void run_all(void)
{
    unsigned firings = 1 + r_below(3);

    counts.ran++;
    while (firings-- && !pair.wrong[0] && !pair.naive.unknown) {
        uint32_t i = 0;
        counts.firings++;
        while (i < pair.program.nobjects && pair_run(i)) {
            i++;
        }
        if (pair.naive.fault != DIF_FAULT_NONE) {
            counts.faulted++;
            counts.faults[pair.naive.fault & 15]++;
        }
        pair_clause();
    }
    counts.unknown += pair.naive.unknown;
}

/* For who repeats one program. */
static void show(void)
{
    static const char *const names[256] = {
#define DIF_OP(number, name, format, doc) [number] = #name,
#include "trace/d/opcodes.def"
    };

    printf("strsize %u, scratch %zu\n", pair.strsize, pair.scratch_size);
    for (uint32_t n = 0; n < pair.program.nobjects; n++) {
        const struct dif_object *o = &pair.program.objects[n].object;
        for (uint32_t i = 0; i < o->nvars; i++) {
            const struct dif_variable *v = &o->vars[i];
            printf("var %x kind %u scope %u type %u ref %u size %u\n", v->id, v->kind, v->scope,
                   v->type.kind, v->type.ref, v->type.size);
        }
        for (uint32_t i = 0; i < o->ntext; i++) {
            uint32_t op = DIF_INSN_OP(o->text[i]), index = DIF_INSN_INDEX(o->text[i]);
            printf("%u.%u %08x %s %x %x %x", n, i, o->text[i], names[op] ? names[op] : "?",
                   DIF_INSN_R1(o->text[i]), DIF_INSN_R2(o->text[i]), DIF_INSN_RD(o->text[i]));
            if (op == DIF_OP_setx && index < o->nints) {
                printf("   %llx", (unsigned long long)o->ints[index]);
            } else if (op == DIF_OP_sets && index < o->strings_size) {
                for (const char *p = o->strings + index; *p; p++) {
                    printf(*p >= ' ' && *p < 127 ? "%c" : "\\x%02x", (unsigned char)*p);
                }
            }
            printf("\n");
        }
    }
}

static bool one(uint64_t seed)
{
    r_seed(seed);
    pair_world();
    make();
    if (getenv("SHOW")) {
        show();
    }
    if (pair_load()) {
        run_all();
        pair_unload();
    } else {
        counts.refused++;
    }
    if (pair.wrong[0]) {
        printf("FAILED: SEED=%#" PRIx64 " STEPS=1: %s\n", seed, pair.wrong);
        counts.wrong++;
    }
    return counts.wrong < 5;
}

int main(void)
{
    uint64_t seed = number("SEED", 1), steps = number("STEPS", STEPS);

    pair_init();
    for (uint64_t i = 0; i < steps && one(seed + i * (steps > 1 ? 0x632be59bd9b4e019u : 0)); i++) {
    }
    printf("SEED=%" PRIu64
           ": %u ran, %u refused; %u of %u firings faulted, %u looked at what isn't known\n",
           seed, counts.ran, counts.refused, counts.faulted, counts.firings, counts.unknown);
    printf("dearest step: %.1f blocks and bytes (%" PRIu64 " for %" PRIu64 " steps)\n",
           pair.dearest, pair.most_work, pair.most_steps);
    for (unsigned i = 0; i < 10; i++) {
        printf("fault %u: %u\n", i, counts.faults[i]);
    }
    /* If chance no longer makes what it should, it proves nothing. */
    bool dull = steps >= 10000 && (counts.ran < steps / 2 || counts.refused < steps / 100 ||
                                   counts.unknown > steps / 20);
    printf("%u passed, %u failed\n", counts.ran - counts.wrong, counts.wrong + dull);
    return counts.wrong || dull;
}

/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What probes of programs displace: each class of AArch64's instructions, which of them is moved,
 * emulated or refused, and what the emulated ones do to registers; and where a function has places
 * for probes. Expected results are those of the Arm ARM. SEED=<n> repeats the random run.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>
#include <elf.h>

#include "isa/aarch64/step.h"
#include "test/isa/found.h"

#define PC 0x400100ull

/* ---- classes ----------------------------------------------------------------------- */

static const struct {
    uint32_t insn;
    enum a64_step kind;
    const char *text;
} kinds[] = {
    {0xa9be7bfd, A64_STEP_MOVED, "stp x29, x30, [sp, #-32]!"},
    {0xd10083ff, A64_STEP_MOVED, "sub sp, sp, #32"},
    {0x910003fd, A64_STEP_MOVED, "mov x29, sp"},
    {0xaa0103e0, A64_STEP_MOVED, "mov x0, x1"},
    {0xd2800020, A64_STEP_MOVED, "mov x0, #1"},
    {0xf9400000, A64_STEP_MOVED, "ldr x0, [x0]"},
    {0xb9000001, A64_STEP_MOVED, "str w1, [x0]"},
    {0x9b017c00, A64_STEP_MOVED, "mul x0, x0, x1"},
    {0x1e622820, A64_STEP_MOVED, "fadd d0, d1, d2"},
    {0x4e221c20, A64_STEP_MOVED, "and v0.16b, v1.16b, v2.16b"},
    {0x3dc00000, A64_STEP_MOVED, "ldr q0, [x0]"},
    {0x88dffc00, A64_STEP_MOVED, "ldar w0, [x0]"},
    {0x889ffc01, A64_STEP_MOVED, "stlr w1, [x0]"},
    {0x88a07c41, A64_STEP_MOVED, "cas w0, w1, [x2]"},
    {0xb8200041, A64_STEP_MOVED, "ldadd w0, w1, [x2]"},
    {0xd53bd040, A64_STEP_MOVED, "mrs x0, tpidr_el0"},
    {0xd51bd040, A64_STEP_MOVED, "msr tpidr_el0, x0"},
    {0xd50b7b20, A64_STEP_MOVED, "dc cvau, x0"},
    {0xd5033bbf, A64_STEP_MOVED, "dmb ish"},
    {0xd5033fdf, A64_STEP_MOVED, "isb"},
    {0xd503203f, A64_STEP_MOVED, "yield"},
    {0xd503233f, A64_STEP_MOVED, "paciasp"},
    {0xd503245f, A64_STEP_MOVED, "bti c"},
    {0xd503201f, A64_STEP_REFUSED, "nop"},
    {0xd503205f, A64_STEP_REFUSED, "wfe"},
    {0xd503207f, A64_STEP_REFUSED, "wfi"},
    {0xd4000001, A64_STEP_REFUSED, "svc #0"},
    {0xd4000002, A64_STEP_REFUSED, "hvc #0"},
    {0xd4200000, A64_STEP_REFUSED, "brk #0"},
    {0xd45e0000, A64_STEP_REFUSED, "hlt #0xf000"},
    {0xd69f03e0, A64_STEP_REFUSED, "eret"},
    {0xd65f0bff, A64_STEP_REFUSED, "retaa"},
    {0xd61f081f, A64_STEP_REFUSED, "braaz x0"},
    {0xd50342df, A64_STEP_REFUSED, "msr daifset, #2"},
    {0x885f7c00, A64_STEP_REFUSED, "ldxr w0, [x0]"},
    {0x88017c02, A64_STEP_REFUSED, "stxr w1, w2, [x0]"},
    {0xc87f0440, A64_STEP_REFUSED, "ldxp x0, x1, [x2]"},
    {0x1c000040, A64_STEP_REFUSED, "ldr s0, . + 8"},
    {0x9c000040, A64_STEP_REFUSED, "ldr q0, . + 8"},
    {0x00000000, A64_STEP_REFUSED, "udf #0"},
    {0x04200000, A64_STEP_REFUSED, "of SVE"},
    {0x14000002, A64_STEP_EMULATED, "b . + 8"},
    {0x94000002, A64_STEP_EMULATED, "bl . + 8"},
    {0x54000040, A64_STEP_EMULATED, "b.eq . + 8"},
    {0x54000050, A64_STEP_REFUSED, "bc.eq . + 8"},
    {0xb4000040, A64_STEP_EMULATED, "cbz x0, . + 8"},
    {0x37080040, A64_STEP_EMULATED, "tbnz w0, #1, . + 8"},
    {0xd61f0200, A64_STEP_EMULATED, "br x16"},
    {0xd63f0000, A64_STEP_EMULATED, "blr x0"},
    {0xd65f03c0, A64_STEP_EMULATED, "ret"},
    {0x10000040, A64_STEP_EMULATED, "adr x0, . + 8"},
    {0xb0000000, A64_STEP_EMULATED, "adrp x0, . + 4096"},
    {0x18000040, A64_STEP_EMULATED, "ldr w0, . + 8"},
    {0xd8000040, A64_STEP_EMULATED, "prfm pldl1keep, . + 8"},
};

static void classes(void **state)
{
    (void)state;
    for (unsigned i = 0; i < COUNT(kinds); i++) {
        if (a64_step_kind(kinds[i].insn) != kinds[i].kind) {
            fail_msg("%08x %s: kind %d", kinds[i].insn, kinds[i].text,
                     (int)a64_step_kind(kinds[i].insn));
        }
    }
}

/* ---- registers --------------------------------------------------------------------- */

/* x0 = 7, x1 = 0, x2 = 1 << 40, x16 = 0x500000, x30 = 0x600000; others are 100 + their number. */
static const struct {
    uint32_t insn;
    uint64_t flags, literal, next;
    unsigned reg; /* that changes; 31: none */
    uint64_t value;
    const char *text;
} steps[] = {
    {0x14000002, 0, 0, PC + 8, 31, 0, "b . + 8"},
    {0x17ffffff, 0, 0, PC - 4, 31, 0, "b . - 4"},
    {0x15ffffff, 0, 0, PC + 0x7fffffc, 31, 0, "b . + 128 MB - 4"},
    {0x16000000, 0, 0, PC - 0x8000000, 31, 0, "b . - 128 MB"},
    {0x94000004, 0, 0, PC + 16, 30, PC + 4, "bl . + 16"},
    {0x97fffffc, 0, 0, PC - 16, 30, PC + 4, "bl . - 16"},
    {0xd61f0200, 0, 0, 0x500000, 31, 0, "br x16"},
    {0xd63f0200, 0, 0, 0x500000, 30, PC + 4, "blr x16"},
    {0xd63f03c0, 0, 0, 0x600000, 30, PC + 4, "blr x30: the old one"},
    {0xd65f03c0, 0, 0, 0x600000, 31, 0, "ret"},
    {0xd65f0200, 0, 0, 0x500000, 31, 0, "ret x16"},
    {0xb4000041, 0, 0, PC + 8, 31, 0, "cbz x1"},
    {0xb4000040, 0, 0, PC + 4, 31, 0, "cbz x0"},
    {0xb5000040, 0, 0, PC + 8, 31, 0, "cbnz x0"},
    {0xb5000041, 0, 0, PC + 4, 31, 0, "cbnz x1"},
    {0x34000042, 0, 0, PC + 8, 31, 0, "cbz w2: its lower half"},
    {0xb4000042, 0, 0, PC + 4, 31, 0, "cbz x2"},
    {0x35ffffe0, 0, 0, PC - 4, 31, 0, "cbnz w0, . - 4"},
    {0xb400005f, 0, 0, PC + 8, 31, 0, "cbz xzr"},
    {0x36000040, 0, 0, PC + 4, 31, 0, "tbz w0, #0"},
    {0x37000040, 0, 0, PC + 8, 31, 0, "tbnz w0, #0"},
    {0x36180040, 0, 0, PC + 8, 31, 0, "tbz w0, #3"},
    {0xb7400042, 0, 0, PC + 8, 31, 0, "tbnz x2, #40"},
    {0xb6400042, 0, 0, PC + 4, 31, 0, "tbz x2, #40"},
    {0x3707ffe0, 0, 0, PC - 4, 31, 0, "tbnz w0, #0, . - 4"},
    {0x36040000, 0, 0, PC + 4, 31, 0, "tbz w0, #0, . - 32 KB, not taken"},
    {0x37040000, 0, 0, PC - 0x8000, 31, 0, "tbnz w0, #0, . - 32 KB"},
    {0x10000043, 0, 0, PC + 4, 3, PC + 8, "adr x3, . + 8"},
    {0x70000003, 0, 0, PC + 4, 3, PC + 3, "adr x3, . + 3"},
    {0x10ffffe3, 0, 0, PC + 4, 3, PC - 4, "adr x3, . - 4"},
    {0x70ffffe3, 0, 0, PC + 4, 3, PC - 1, "adr x3, . - 1"},
    {0x90000003, 0, 0, PC + 4, 3, 0x400000, "adrp x3, ."},
    {0xb0000003, 0, 0, PC + 4, 3, 0x401000, "adrp x3, . + 1 page"},
    {0xf0ffffe3, 0, 0, PC + 4, 3, 0x3ff000, "adrp x3, . - 1 page"},
    {0x9000001f, 0, 0, PC + 4, 31, 0, "adrp xzr"},
    {0x18000043, 0, 0x80000001, PC + 4, 3, 0x80000001, "ldr w3"},
    {0x58000043, 0, 0x8000000180000001, PC + 4, 3, 0x8000000180000001, "ldr x3"},
    {0x98000043, 0, 0x80000001, PC + 4, 3, 0xffffffff80000001, "ldrsw x3"},
    {0x5800005f, 0, 5, PC + 4, 31, 0, "ldr xzr"},
    {0xd8000043, 0, 5, PC + 4, 31, 0, "prfm"},
};

static void registers_set(uint64_t x[31])
{
    for (unsigned i = 0; i < 31; i++) {
        x[i] = 100 + i;
    }
    x[0] = 7;
    x[1] = 0;
    x[2] = 1ull << 40;
    x[16] = 0x500000;
    x[30] = 0x600000;
}

static void emulated(void **state)
{
    (void)state;
    for (unsigned i = 0; i < COUNT(steps); i++) {
        uint64_t x[31], wanted[31];
        registers_set(x);
        registers_set(wanted);
        if (steps[i].reg < 31) {
            wanted[steps[i].reg] = steps[i].value;
        }
        assert_int_equal(a64_step_kind(steps[i].insn), A64_STEP_EMULATED);
        uint64_t next = a64_step_emulate(steps[i].insn, PC, x, steps[i].flags, steps[i].literal);
        if (next != steps[i].next || memcmp(x, wanted, sizeof(x)) != 0) {
            fail_msg("%s: next %llx, x3 %llx, x30 %llx", steps[i].text, (unsigned long long)next,
                     (unsigned long long)x[3], (unsigned long long)x[30]);
        }
    }
}

/* Which of the 16 conditions holds, for each of NZCV: as the manual's table C1.2.4 has it. */
static bool condition_holds(unsigned condition, bool n, bool z, bool c, bool v)
{
    switch (condition) {
    case 0:
        return z;
    case 1:
        return !z;
    case 2:
        return c;
    case 3:
        return !c;
    case 4:
        return n;
    case 5:
        return !n;
    case 6:
        return v;
    case 7:
        return !v;
    case 8:
        return c && !z;
    case 9:
        return !(c && !z);
    case 10:
        return n == v;
    case 11:
        return n != v;
    case 12:
        return !z && n == v;
    case 13:
        return z || n != v;
    default:
        return true;
    }
}

static void conditions(void **state)
{
    uint64_t x[31];

    (void)state;
    registers_set(x);
    for (unsigned condition = 0; condition < 16; condition++) {
        for (unsigned flags = 0; flags < 16; flags++) {
            uint64_t next =
                a64_step_emulate(0x54000040 | condition, PC, x, (uint64_t)flags << 28, 0);
            bool holds = condition_holds(condition, flags >> 3 & 1, flags >> 2 & 1, flags >> 1 & 1,
                                         flags & 1);
            assert_int_equal(next, PC + (holds ? 8 : 4));
        }
    }
}

static void literals(void **state)
{
    unsigned bytes = 0;

    (void)state;
    assert_int_equal(a64_step_literal(0x18000043, PC, &bytes), PC + 8);
    assert_int_equal(bytes, 4);
    assert_int_equal(a64_step_literal(0x58ffffe3, PC, &bytes), PC - 4);
    assert_int_equal(bytes, 8);
    assert_int_equal(a64_step_literal(0x98000043, PC, &bytes), PC + 8);
    assert_int_equal(bytes, 4);
    assert_int_equal(a64_step_literal(0xd8000043, PC, &bytes), 0); /* prfm loads nothing */
    assert_int_equal(a64_step_literal(0xf9400000, PC, &bytes), 0);
}

/* No instruction at all makes it access what it must not, and what is emulated changes one register
 * at most. */
static void random_words(void **state)
{
    const char *given = getenv("SEED");
    unsigned seed = given ? (unsigned)strtoul(given, NULL, 0) : 1;
    uint64_t word = seed;

    (void)state;
    printf("SEED=%u\n", seed);
    fflush(stdout);
    for (unsigned i = 0; i < 2000000; i++) {
        word = word * 6364136223846793005u + 1442695040888963407u;
        uint32_t insn = (uint32_t)(word >> 32);
        uint64_t x[31], before[31];
        unsigned changed = 0;
        if (a64_step_kind(insn) != A64_STEP_EMULATED) {
            continue;
        }
        registers_set(x);
        registers_set(before);
        a64_step_emulate(insn, PC, x, word & 0xf0000000, word);
        for (unsigned n = 0; n < 31; n++) {
            changed += x[n] != before[n];
        }
        if (changed > 1) {
            fail_msg("%08x changes %u registers", insn, changed);
        }
    }
}

/* ---- places ------------------------------------------------------------------------ */

static struct found places_of(const uint32_t *code, size_t words, size_t data)
{
    struct found f = {.n = 0};
    const struct pid_code c = {.name = "f",
                               .text = (const uint8_t *)code,
                               .address = 0x400010,
                               .size = words * 4,
                               .code = (words - data) * 4,
                               .machine = EM_AARCH64,
                               .starts = starts_at_1000};

    assert_null(pid_places(&c, take, &f));
    return f;
}

static void returns(void **state)
{
    static const uint32_t code[] = {
        0xa9be7bfd, /* 0x10 stp */
        0x540000a0, /* 0x14 b.eq . + 20 */
        0xd65f03c0, /* 0x18 ret */
        0x17fffff9, /* 0x1c b 0x400000: a function begins there */
        0x14000100, /* 0x20 b: nothing begins there */
        0x14000001, /* 0x24 b . + 4 */
        0xd61f0020, /* 0x28 br x1 */
        0x8b228061, /* 0x2c add x1, x3, w2, sxtb */
        0xd61f0020, /* 0x30 br x1: by a table */
    };
    const struct found f = places_of(code, COUNT(code), 0);

    (void)state;
    assert_int_equal(f.n, COUNT(code));
    for (unsigned i = 0; i < f.n; i++) {
        assert_null(f.places[i].refuse);
        assert_int_equal(f.places[i].offset, i * 4);
        assert_int_equal(f.places[i].returns, i == 2 || i == 3 || i == 6);
        assert_int_equal(f.places[i].tail, i == 3 || i == 6);
    }
}

static void refusals(void **state)
{
    static const uint32_t code[] = {
        0xd503201f, /* nop */
        0x885f7c20, /* ldxr w0, [x1] */
        0x11000400, /* add w0, w0, #1 */
        0x88027c20, /* stxr w2, w0, [x1] */
        0x35ffffa2, /* cbnz w2, . - 12 */
        0xd4000001, /* svc */
        0xd65f03c0, /* ret */
        0xa9be7bfd, /* data, which looks like an instruction */
    };
    const struct found f = places_of(code, COUNT(code), 1);

    (void)state;
    assert_int_equal(f.n, 7);
    for (unsigned i = 0; i < f.n; i++) {
        assert_int_equal(f.places[i].refuse == NULL, i == 4 || i == 6);
    }
    assert_non_null(strstr(f.places[2].refuse, "never succeed"));
}

static void no_places(void **state)
{
    static const uint32_t ret = 0xd65f03c0;
    struct found f = {.n = 0};
    struct pid_code c = {.name = "f.cold",
                         .text = (const uint8_t *)&ret,
                         .size = 4,
                         .code = 4,
                         .machine = EM_AARCH64,
                         .starts = starts_at_1000};

    (void)state;
    assert_non_null(pid_places(&c, take, &f));
    c.name = "f";
    assert_null(pid_places(&c, take, &f));
    c.code = 0;
    assert_non_null(pid_places(&c, take, &f));
    c.code = 4;
    c.machine = EM_RISCV;
    assert_non_null(pid_places(&c, take, &f));
    assert_int_equal(f.n, 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(classes),  cmocka_unit_test(emulated),     cmocka_unit_test(conditions),
        cmocka_unit_test(literals), cmocka_unit_test(random_words), cmocka_unit_test(returns),
        cmocka_unit_test(refusals), cmocka_unit_test(no_places),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}

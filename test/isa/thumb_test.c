/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What probes of programs displace on Cortex-M: each class of Thumb-2 instructions, what the
 * emulated ones do to registers, and where a function has places for probes. Expected results are
 * those of the ARMv7-M ARM; thumb.py compares the classes with objdump. SEED=<n> repeats the random
 * run.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>
#include <elf.h>

#include "isa/armv7m/step.h"
#include "host/dt/dt.h"
#include "test/isa/found.h"

#define PC 0x1000100u
#define FLAGS(nzcv) ((uint32_t)(nzcv) << 28 | T2_STEP_THUMB)

/* ---- classes ----------------------------------------------------------------------- */

static const struct {
    uint32_t insn;
    enum t2_step kind;
    const char *text;
} kinds[] = {
    {0x0000b5f0, T2_STEP_IN_PLACE, "push {r4-r7, lr}"},
    {0x00001c40, T2_STEP_IN_PLACE, "adds r0, r0, #1"},
    {0x00004801, T2_STEP_IN_PLACE, "ldr r0, [pc, #4]"},
    {0x0000a001, T2_STEP_IN_PLACE, "adr r0, . + 8"},
    {0x00004478, T2_STEP_IN_PLACE, "add r0, pc"},
    {0x0000bc10, T2_STEP_IN_PLACE, "pop {r4}"},
    {0x0000bf10, T2_STEP_IN_PLACE, "yield"},
    {0x41f0e92d, T2_STEP_IN_PLACE, "stmdb sp!, {r4-r8, lr}"},
    {0x0a00ed9f, T2_STEP_IN_PLACE, "vldr s0, [pc]"},
    {0xfa10eef1, T2_STEP_IN_PLACE, "vmrs APSR_nzcv, fpscr"},
    {0xf3f1fb90, T2_STEP_IN_PLACE, "sdiv r3, r0, r1"},
    {0x8f5ff3bf, T2_STEP_IN_PLACE, "dmb"},
    {0x8000f3ef, T2_STEP_IN_PLACE, "mrs r0, apsr"},
    {0x0f00f110, T2_STEP_IN_PLACE, "cmn.w r0, #0"},
    {0x0000bf00, T2_STEP_REFUSED, "nop"},
    {0x8000f3af, T2_STEP_REFUSED, "nop.w"},
    {0x0000bf30, T2_STEP_REFUSED, "wfi"},
    {0x0000b672, T2_STEP_REFUSED, "cpsid i"},
    {0x0000be00, T2_STEP_REFUSED, "bkpt"},
    {0x0000de4b, T2_STEP_REFUSED, "udf #75"},
    {0x0000df00, T2_STEP_REFUSED, "svc #0"},
    {0xa000f7f0, T2_STEP_REFUSED, "udf.w #0"},
    {0x8810f380, T2_STEP_REFUSED, "msr primask, r0"},
    {0x8010f3ef, T2_STEP_REFUSED, "mrs r0, primask"},
    {0x0f00e850, T2_STEP_REFUSED, "ldrex r0, [r0]"},
    {0x2300e841, T2_STEP_REFUSED, "strex r3, r2, [r1]"},
    {0x0f4fe8d0, T2_STEP_REFUSED, "ldrexb r0, [r0]"},
    {0xc000e990, T2_STEP_REFUSED, "ldmib"},
    {0x0f04eb00, T2_STEP_REFUSED, "add pc, r0, r4"},
    {0x8f01f7ff, T2_STEP_REFUSED, "smc"},
    {0xe800f000, T2_STEP_REFUSED, "blx . to A32"},
    {0xfc04f84d, T2_STEP_REFUSED, "str pc"},
    {0x00010000, T2_STEP_REFUSED, "of 2 bytes, with more"},
    {0x0000bd10, T2_STEP_EMULATED, "pop {r4, pc}"},
    {0x0000bf08, T2_STEP_EMULATED, "it eq"},
    {0x0000b101, T2_STEP_EMULATED, "cbz r1"},
    {0x00004770, T2_STEP_EMULATED, "bx lr"},
    {0x00004780, T2_STEP_EMULATED, "blx r0"},
    {0x00004687, T2_STEP_EMULATED, "mov pc, r0"},
    {0xf000e8df, T2_STEP_EMULATED, "tbb [pc, r0]"},
    {0x81f0e8bd, T2_STEP_EMULATED, "ldmia sp!, {r4-r8, pc}"},
    {0xfb04f85d, T2_STEP_EMULATED, "ldr pc, [sp], #4"},
    {0xfd04f85d, T2_STEP_REFUSED, "ldr pc, [sp, #-4]!"},
    {0xf801f000, T2_STEP_EMULATED, "bl . + 6"},
};

static void classes(void **state)
{
    (void)state;
    for (unsigned i = 0; i < COUNT(kinds); i++) {
        if (t2_step_kind(kinds[i].insn) != kinds[i].kind) {
            fail_msg("%08x %s: kind %d", kinds[i].insn, kinds[i].text,
                     (int)t2_step_kind(kinds[i].insn));
        }
    }
}

/* ---- registers --------------------------------------------------------------------- */

/* r0 = 7, r1 = 0, r2 = 2, r3 = 0x1000201, r13 = 0x2000; others are 0x100 times their number. A word
 * that is loaded is 0x5001 and its number times 0x100; of two bytes, 3. */
static const struct {
    uint32_t insn, xpsr, from, next;
    unsigned bytes;
    unsigned reg; /* that changes; 15: none */
    uint32_t value;
    const char *text;
} steps[] = {
    {0xe002, FLAGS(0), 0, PC + 8, 0, 15, 0, "b . + 8"},
    {0xe7fe, FLAGS(0), 0, PC, 0, 15, 0, "b ."},
    {0xb802f000, FLAGS(0), 0, PC + 8, 0, 15, 0, "b.w . + 8"},
    {0xbffef7ff, FLAGS(0), 0, PC, 0, 15, 0, "b.w ."},
    {0x97fff3ff, FLAGS(0), 0, PC + 4 + 0xfffffe - 0, 0, 15, 0, "b.w . + 16 MB + 2"},
    {0xf802f000, FLAGS(0), 0, PC + 8, 0, 14, PC + 5, "bl . + 8"},
    {0xfffef7ff, FLAGS(0), 0, PC, 0, 14, PC + 5, "bl ."},
    {0x8001f000, FLAGS(4), 0, PC + 6, 0, 15, 0, "beq.w . + 6"},
    {0x8001f000, FLAGS(0), 0, PC + 4, 0, 15, 0, "beq.w, not taken"},
    {0xaffef43f, FLAGS(4), 0, PC, 0, 15, 0, "beq.w ."},
    {0xd1fe, FLAGS(0), 0, PC, 0, 15, 0, "bne ."},
    {0xd1fe, FLAGS(4), 0, PC + 2, 0, 15, 0, "bne, not taken"},
    {0xb119, FLAGS(0), 0, PC + 10, 0, 15, 0, "cbz r1, . + 10"},
    {0xb118, FLAGS(0), 0, PC + 2, 0, 15, 0, "cbz r0"},
    {0xbb18, FLAGS(0), 0, PC + 4 + 70, 0, 15, 0, "cbnz r0, . + 74"},
    {0x4718, FLAGS(0), 0, 0x1000200, 0, 15, 0, "bx r3"},
    {0x4798, FLAGS(0), 0, 0x1000200, 0, 14, PC + 3, "blx r3"},
    {0x469f, FLAGS(0), 0, 0x1000200, 0, 15, 0, "mov pc, r3"},
    {0x4487, FLAGS(0), 0, PC + 10, 0, 15, 0, "add pc, r0"},
    {0xbd00, FLAGS(0), 0x2000, 0x5000, 4, 13, 0x2004, "pop {pc}"},
    {0xfb04f85d, FLAGS(0), 0x2000, 0x5000, 4, 13, 0x2004, "ldr pc, [sp], #4"},
    {0xf004f8dd, FLAGS(0), 0x2004, 0x5000, 4, 15, 0, "ldr pc, [sp, #4]"},
    {0xf004f8df, FLAGS(0), PC + 8, 0x5000, 4, 15, 0, "ldr pc, . + 8"},
    {0xf004f85f, FLAGS(0), PC, 0x5000, 4, 15, 0, "ldr pc, ."},
    {0xf022f854, FLAGS(0), 0x408, 0x5000, 4, 15, 0, "ldr pc, [r4, r2, lsl #2]"},
    {0xfd04f854, FLAGS(0), 0x3fc, 0x5000, 4, 4, 0x3fc, "ldr pc, [r4, #-4]!"},
    {0xf904f854, FLAGS(0), 0x400, 0x5000, 4, 4, 0x3fc, "ldr pc, [r4], #-4"},
    {0xfc04f854, FLAGS(0), 0x3fc, 0x5000, 4, 15, 0, "ldr pc, [r4, #-4]"},
    {0xf002e8df, FLAGS(0), PC + 6, PC + 4 + 6, 1, 15, 0, "tbb [pc, r2]"},
    {0xf012e8d4, FLAGS(0), 0x404, PC + 4 + 6, 2, 15, 0, "tbh [r4, r2, lsl #1]"},
};

static void registers_set(struct t2_step_cpu *cpu, uint32_t xpsr)
{
    for (unsigned i = 0; i < 16; i++) {
        cpu->r[i] = 0x100 * i;
    }
    cpu->r[0] = 7;
    cpu->r[1] = 0;
    cpu->r[2] = 2;
    cpu->r[3] = 0x1000201;
    cpu->r[13] = 0x2000;
    cpu->r[15] = PC;
    cpu->xpsr = xpsr;
}

static void words_set(uint32_t words[T2_STEP_WORDS], unsigned bytes)
{
    for (unsigned i = 0; i < T2_STEP_WORDS; i++) {
        words[i] = bytes < 4 ? 3 : 0x5001 + 0x100 * i;
    }
}

static void emulated(void **state)
{
    (void)state;
    for (unsigned i = 0; i < COUNT(steps); i++) {
        struct t2_step_cpu cpu, wanted;
        uint32_t words[T2_STEP_WORDS], from = 0;
        registers_set(&cpu, steps[i].xpsr);
        registers_set(&wanted, steps[i].xpsr);
        wanted.r[steps[i].reg] = steps[i].value;
        wanted.r[15] = steps[i].next;
        assert_int_equal(t2_step_kind(steps[i].insn), T2_STEP_EMULATED);
        const unsigned bytes = t2_step_loads(steps[i].insn, &cpu, &from);
        words_set(words, bytes);
        t2_step_emulate(steps[i].insn, &cpu, words);
        if (bytes != steps[i].bytes || (bytes && from != steps[i].from) ||
            memcmp(&cpu, &wanted, sizeof(cpu)) != 0) {
            fail_msg("%s: next %x, %u bytes from %x, xpsr %x", steps[i].text, cpu.r[15], bytes,
                     from, cpu.xpsr);
        }
    }
}

/* Each register of a list, from its word. */
static void lists(void **state)
{
    static const struct {
        uint32_t insn, from, sp, r4;
    } loads[] = {
        {0xbdff, 0x2000, 0x2024, 0x5401},        /* pop {r0-r7, pc} */
        {0xdfffe8bd, 0x2000, 0, 0x5401},         /* (with LR: refused) */
        {0x9fffe8bd, 0x2000, 0x2038, 0x5401},    /* ldmia sp!, {r0-r12, pc} */
        {0x8f0fe914, 0x400 - 36, 0x2000, 0x400}, /* ldmdb r4, {r0-r3, r8-r11, pc} */
        {0x8f0fe934, 0x400 - 36, 0x2000, 0x400 - 36},
        {0x8f0fe8b4, 0x400, 0x2000, 0x424},
    };

    (void)state;
    for (unsigned i = 0; i < COUNT(loads); i++) {
        const uint32_t list =
            loads[i].insn >> 16 ? loads[i].insn >> 16 & 0x7fff : loads[i].insn & 0xff;
        struct t2_step_cpu cpu;
        uint32_t words[T2_STEP_WORDS], from = 0;
        unsigned n = 0;
        if (!loads[i].sp) {
            assert_int_equal(t2_step_kind(loads[i].insn), T2_STEP_REFUSED);
            continue;
        }
        registers_set(&cpu, FLAGS(0));
        words_set(words, 4);
        words[t2_step_count(list)] = 0x1234566; /* no Thumb code */
        assert_int_equal(t2_step_loads(loads[i].insn, &cpu, &from), 4 * t2_step_count(list) + 4);
        t2_step_emulate(loads[i].insn, &cpu, words);
        for (unsigned r = 0; r < 13; r++) {
            if (list >> r & 1) {
                assert_int_equal(cpu.r[r], words[n++]);
            }
        }
        assert_int_equal(from, loads[i].from);
        assert_int_equal(cpu.r[13], loads[i].sp);
        assert_int_equal(cpu.r[4], loads[i].r4);
        assert_int_equal(cpu.r[14], 0xe00);
        assert_int_equal(cpu.r[15], 0x1234566);
        assert_int_equal(cpu.xpsr, 0);
    }
}

/* The state after each instruction of each IT block, as the manual's table A7-2 has it. */
static void blocks(void **state)
{
    (void)state;
    for (uint32_t it = 0x01; it < 0xf0; it++) {
        struct t2_step_cpu cpu;
        const unsigned n = t2_step_it(0xbf00 | it);
        registers_set(&cpu, FLAGS(0));
        if (!(it & 15)) {
            assert_int_equal(n, 0);
            continue;
        }
        t2_step_emulate(0xbf00 | it, &cpu, NULL);
        assert_int_equal(cpu.r[15], PC + 2);
        uint32_t now = t2_step_it_state(cpu.xpsr);
        assert_int_equal(now, it);
        for (unsigned i = 0; i < n; i++) {
            /* The first has the condition itself, the next ones its lowest bit from the mask. */
            const uint32_t lowest = i ? it >> (4 - i) & 1 : it >> 4 & 1;
            assert_int_equal(now >> 4, (it >> 4 & 14) | lowest);
            now = t2_step_it_next(now);
        }
        assert_int_equal(now, 0);
        assert_int_equal(t2_step_with_it(cpu.xpsr, 0), FLAGS(0));
    }
    assert_int_equal(t2_step_it_state(0x5000 | FLAGS(0)), 0); /* a multiple transfer, at r5 */
}

/* No word makes it access what it must not. */
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
        uint32_t insn = (uint32_t)(word >> 32), from = 0, words[T2_STEP_WORDS];
        struct t2_step_cpu cpu;
        insn &= t2_step_bytes(insn) == 2 ? 0xffff : 0xffffffff;
        if (t2_step_kind(insn) != T2_STEP_EMULATED) {
            continue;
        }
        registers_set(&cpu, (uint32_t)word);
        const unsigned bytes = t2_step_loads(insn, &cpu, &from);
        assert_true(bytes <= sizeof(words));
        words_set(words, bytes);
        t2_step_emulate(insn, &cpu, words);
        assert_true(cpu.r[13] >= 0x2000); /* a frame never moves down */
        assert_int_equal(cpu.r[15] & 1, 0);
    }
}

/* ---- places ------------------------------------------------------------------------ */

static struct found places_of(const uint16_t *code, size_t halves, const struct dt_data *data,
                              unsigned data_count)
{
    struct found f = {.n = 0};
    const struct pid_code c = {.name = "f",
                               .text = (const uint8_t *)code,
                               .address = 0x1000010,
                               .size = halves * 2,
                               .code = halves * 2,
                               .data = data,
                               .data_count = data_count,
                               .machine = EM_ARM,
                               .starts = starts_at_1000};

    assert_null(pid_places(&c, take, &f));
    return f;
}

static void returns(void **state)
{
    static const uint16_t code[] = {
        0xb510,         /* 10 push {r4, lr} */
        0xd001,         /* 12 beq 18 */
        0xbd10,         /* 14 pop {r4, pc} */
        0xe7f3,         /* 16 b 0x1000000: a function begins there */
        0xf7ff, 0xbff2, /* 18 b.w 0x1000000 */
        0xf000, 0xbff0, /* 1c b.w 0x1001000 */
        0xf000, 0x8fee, /* 20 beq.w 0x1001000: refused */
        0xf000, 0xf802, /* 24 bl 2c */
        0xe8df, 0xf000, /* 28 tbb [pc, r0] */
        0x0102,         /* 2c its table */
        0x4718,         /* 2e bx r3 */
        0xe8bd, 0x81f0, /* 30 ldmia sp!, {r4-r8, pc} */
        0x469f,         /* 34 mov pc, r3: of a table */
        0xbf08,         /* 36 it eq */
        0x4770,         /* 38 bxeq lr */
        0xf85d, 0xfb04, /* 3a ldr pc, [sp], #4 */
        0xffff,         /* data, in two parts */
        0xffff,
    };
    static const struct dt_data data[] = {{0x1c, 0x1e}, {0x2e, 0x30}, {0x30, 0x32}};
    const struct found f = places_of(code, COUNT(code), data, COUNT(data));

    (void)state;
    static const uint32_t leaving[] = {4, 6, 8, 12, 16, 30, 32, 40, 42};
    unsigned n = 0;
    for (unsigned i = 0; i < f.n; i++) {
        const uint32_t at = f.places[i].offset;
        assert_true(at != 0x1c && at < 0x2e);
        if (f.places[i].returns) {
            assert_true(n < COUNT(leaving));
            assert_int_equal(at, leaving[n++]);
        }
        const bool tail = at == 6 || at == 8 || at == 12 || at == 16 || at == 30;
        assert_int_equal(f.places[i].tail, tail);
        assert_int_equal(f.places[i].refuse != NULL, at == 16);
    }
    assert_int_equal(n, COUNT(leaving));
}

static void refusals(void **state)
{
    static const uint16_t code[] = {
        0xbf00,         /* 0 nop */
        0xe851, 0x0f00, /* 2 ldrex r0, [r1] */
        0x1c40,         /* 6 adds r0, r0, #1 */
        0xe841, 0x0200, /* 8 strex r2, r0, [r1] */
        0xdf00,         /* c svc */
        0xbf0c,         /* e ite eq */
        0x1c40,         /* 10 addeq */
        0xf100, 0x0001, /* 12 addne.w */
        0xf100, 0x0001, /* 16 add.w */
        0xf100,         /* 1a half of one */
    };
    const struct found f = places_of(code, COUNT(code), NULL, 0);
    static const uint32_t good[] = {0xe, 0x10, 0x16};
    unsigned n = 0;

    (void)state;
    for (unsigned i = 0; i < f.n; i++) {
        if (!f.places[i].refuse) {
            assert_true(n < COUNT(good));
            assert_int_equal(f.places[i].offset, good[n++]);
        }
    }
    assert_int_equal(n, COUNT(good));
    assert_int_equal(f.n, 9);
    assert_non_null(strstr(f.places[2].refuse, "never succeed"));
    assert_non_null(strstr(f.places[4].refuse, "kernel call"));
    assert_non_null(strstr(f.places[7].refuse, "IT block"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(classes),  cmocka_unit_test(emulated),     cmocka_unit_test(lists),
        cmocka_unit_test(blocks),   cmocka_unit_test(random_words), cmocka_unit_test(returns),
        cmocka_unit_test(refusals),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}

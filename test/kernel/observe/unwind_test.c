/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * kernel/observe/unwind.c: a stack by a table made by hand; then random tables, random stacks and
 * random damage, under AddressSanitizer: nothing outside of the table is read, the stack pointer
 * only rises, every walk ends. SEED=n repeats a run, ROUNDS=n
 * says how many tables.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "abi/unwind.h"
#include "host/unwind/pack.h"
#include "kernel/arch/stack.h"
#include "kernel/dtrace/dtrace.h"
#include "kernel/dtrace/fbt_table.h"
#include "kernel/observe/observe.h"
#include "test/tool/random.h"
#include "kernel/proc/proc.h"

#define TEXT 0x10000u
#define STACK 0x40000u
#define CALLS 0x2000u /* below it, in the text, each address is behind a call */

/* ---- the port ---------------------------------------------------------------------- */

static uint32_t stack[1024];
static struct unwind_frame start;

static unsigned loads;

const uint32_t kernel_unwind[] = {0};
const unsigned kernel_unwind_words = 0;
const char __kernel_start[1];

bool arch_user_frame(const struct thread *t, struct unwind_frame *f)
{
    (void)t;
    *f = start;
    return true;
}

/* The words of the stack are 32 bits wide, as on the smaller CPU. */
bool arch_peek(void *to, uintptr_t address, size_t bytes, const struct thread *user)
{
    uintptr_t offset = address - STACK;

    assert_non_null(user);
    loads++;
    if (offset >= sizeof(stack) || bytes > sizeof(stack) - offset) {
        return false;
    }
    memcpy(to, (char *)stack + offset, bytes);
    return true;
}

bool arch_return_address(uintptr_t *word, const struct thread *user)
{
    assert_non_null(user);
    return *word >= TEXT && *word < TEXT + CALLS;
}

bool arch_exception_frame(struct unwind_frame *f)
{
    (void)f;
    return false;
}

bool arch_probe_frame(struct unwind_frame *f, uintptr_t site, unsigned behind)
{
    (void)f;
    (void)site;
    (void)behind;
    return false;
}

bool dtrace_fbt_site(uintptr_t ip, uintptr_t *site, unsigned *behind)
{
    (void)ip;
    (void)site;
    (void)behind;
    return false;
}

/* ---- a table ----------------------------------------------------------------------- */

static struct process proc;
static struct thread thread = {.proc = &proc};
static uintptr_t seen[64];
static unsigned nseen;

static void found(uintptr_t ip, void *arg)
{
    assert_ptr_equal(arg, &thread);
    assert_true(nseen < 64);
    seen[nseen++] = ip;
}

/* A copy of exactly its size, so that a read after it is noticed. */
static void walk(const uint32_t *table, size_t bytes, unsigned max)
{
    uint8_t *copy = malloc(bytes + !bytes);

    memcpy(copy, table, bytes);
    proc.program.unwind = copy;
    proc.program.unwind_len = bytes;
    proc.program.text = TEXT;
    nseen = loads = 0;

    unwind_user(&thread, max, found, &thread);
    free(copy);
    assert_true(nseen <= max);
}

#define PLACES(ra, fp) ((uint32_t)(uint16_t)(ra) | (uint32_t)(uint16_t)(fp) << 16)

/* Words that hold an address are as wide as this machine's. */
enum { WORD = sizeof(uintptr_t), W = WORD / 4 };

static void put(uintptr_t at, uintptr_t value)
{
    memcpy((char *)stack + (at - STACK), &value, sizeof(value));
}

/* leaf at 0x000, middle at 0x100 (frame of 4 words), by_fp at 0x200, first at 0x300 */
static const struct unwind_rule hand_rules[] = {
    {UINT32_MAX, 0},                               /* 0: nothing is known */
    {0, PLACES(0, 0)},                             /* 1: a leaf */
    {4 * WORD, PLACES(-W, -2 * W)},                /* 2: lr and fp are saved below the CFA */
    {UNWIND_BY_FP | 2 * WORD, PLACES(-W, -2 * W)}, /* 3: the stack pointer is anywhere below */
    {4 * WORD, PLACES(0, 0)},                      /* 4: a frame, but lr is in its register */
};
static const struct unwind_row hand_rows[] = {{0x000, 1}, {0x080, 1}, {0x081, 4}, {0x082, 2},
                                              {0x100, 1}, {0x102, 3}, {0x180, 0}};
static uint32_t *by_hand;
static size_t by_hand_bytes;

static int make_by_hand(void **state)
{
    size_t words;

    (void)state;
    by_hand = unwind_pack(hand_rules, sizeof(hand_rules) / sizeof(*hand_rules), hand_rows,
                          sizeof(hand_rows) / sizeof(*hand_rows), 0x400, &words);
    by_hand_bytes = 4 * words;
    return 0;
}

static int free_by_hand(void **state)
{
    (void)state;
    free(by_hand);
    return 0;
}

static void test_by_hand(void **state)
{
    (void)state;
    const uintptr_t sp = STACK + 0x100, fp = STACK + 0x300;

    memset(stack, 0, sizeof(stack));
    put(sp + 3 * WORD, TEXT + 0x210); /* middle's frame: back into by_fp */
    put(sp + 2 * WORD, fp);
    put(fp + WORD, TEXT + 0x310); /* by_fp's: back into first */
    put(fp, 0x1234);
    start = (struct unwind_frame){
        .pc = TEXT + 0x10, .sp = sp, .lr = TEXT + 0x110, .live = true, .fp = 77};
    walk(by_hand, by_hand_bytes, 10);
    assert_int_equal(nseen, 3);
    assert_int_equal(seen[0], TEXT + 0x110);
    assert_int_equal(seen[1], TEXT + 0x210);
    assert_int_equal(seen[2], TEXT + 0x310);
    walk(by_hand, by_hand_bytes, 2);
    assert_int_equal(nseen, 2);
    /* at the first instruction of middle, between making its frame and saving lr, and after */
    for (unsigned at = 0; at < 3; at++) {
        start.pc = TEXT + 0x100 + 2 * at;
        start.sp = at ? sp : sp + 4 * WORD;
        start.lr = TEXT + 0x210;
        start.fp = at == 2 ? 77 : fp;
        walk(by_hand, by_hand_bytes, 10);
        assert_int_equal(nseen, 2);
        assert_int_equal(seen[0], TEXT + 0x210);
        assert_int_equal(seen[1], TEXT + 0x310);
    }
    /* a return address that is the end of by_fp's last call belongs to it, not to first */
    start.pc = TEXT + 0x10;
    start.sp = sp;
    start.lr = TEXT + 0x300;
    start.fp = fp;
    walk(by_hand, by_hand_bytes, 10);
    assert_int_equal(nseen, 2);
    /* a call through a bad pointer; a return address that is none; a stack that can't be read */
    start.pc = 0;
    start.lr = TEXT + 0x110;
    walk(by_hand, by_hand_bytes, 10);
    assert_int_equal(nseen, 3);
    start.lr = TEXT + CALLS + 4;
    walk(by_hand, by_hand_bytes, 10);
    assert_int_equal(nseen, 0);
    start.lr = TEXT + 0x110;
    start.sp = 0x10;
    walk(by_hand, by_hand_bytes, 10);
    assert_int_equal(nseen, 1);
}

/* No table, or a damaged head, is a stack without callers. */
static void test_no_table(void **state)
{
    (void)state;
    uint32_t table[100];

    assert_true(by_hand_bytes <= sizeof(table));
    start = (struct unwind_frame){.pc = TEXT + 0x10, .sp = STACK, .lr = TEXT + 0x110, .live = true};
    for (size_t bytes = 0; bytes < by_hand_bytes; bytes++) {
        walk(by_hand, bytes, 10);
        assert_int_equal(nseen, 0);
    }
    for (unsigned word = 0; word < UNWIND_HEADER_WORDS; word++) {
        memcpy(table, by_hand, by_hand_bytes);
        table[word] = word == 1 ? 0 : UINT32_MAX; /* without text, pc is no code: lr counts */
        walk(table, by_hand_bytes, 10);
        assert_int_equal(nseen, word == 1);
    }
}

/* ---- random tables ----------------------------------------------------------------- */

static uint32_t random_place(void)
{
    int words = (int)random_below(30) - 28;

    return random_below(20) ? (uint16_t)(int16_t)(words * W) : random_below(0x10000);
}

static struct unwind_row rows[200];
static uint32_t nrows;

static uint32_t *random_table(size_t *words)
{
    struct unwind_rule rules[20];
    uint32_t nrules = 1 + random_below(20);

    for (uint32_t i = 0; i < nrules; i++) {
        rules[i].cfa =
            (random_below(9) ? WORD : 4) * random_below(30) | (random_below(4) ? 0 : UNWIND_BY_FP);
        rules[i].places = random_place() | random_place() << 16;
    }
    nrows = random_below(200);
    for (uint32_t i = 0, at = 0; i < nrows; i++) {
        at += random_below(random_below(60) ? 100 : 3000);
        rows[i] = (struct unwind_row){at, random_below(random_below(20) ? nrules : 256)};
    }
    return unwind_pack(rules, nrules, rows, nrows, 0x4000, words);
}

/* Every rule is a frame of another size, which is seen by where the return address is read: each
 * place has the rule of the last row before it. */
static void test_rows(void **state)
{
    enum { RULES = 200, END = 0x8000 }; /* more than a short entry may have */
    struct unwind_rule rules[RULES];

    (void)state;
    for (unsigned i = 0; i < RULES; i++) {
        rules[i] = (struct unwind_rule){i ? i * WORD : UINT32_MAX, PLACES(-W, 0)};
    }
    memset(stack, 0, sizeof(stack));
    for (unsigned i = 0; i < RULES; i++) {
        put(STACK + i * WORD, TEXT + 2 * i + 2); /* where nothing is known */
    }
    for (unsigned round = 0; round < 300; round++) {
        size_t words;
        uint32_t at = RULES;
        for (nrows = 0; nrows < 200 && at < END; nrows++) {
            rows[nrows] = (struct unwind_row){at, 1 + random_below(RULES - 1)};
            at += random_below(10) ? random_below(60) : random_below(2000);
        }
        uint32_t *table = unwind_pack(rules, RULES, rows, nrows, 2 * END, &words);
        for (unsigned n = 0; n < 20; n++) {
            uint32_t place = random_below(END), rule = 0;
            for (unsigned i = 0; i < nrows && rows[i].at <= place; i++) {
                rule = rows[i].rule;
            }
            start = (struct unwind_frame){.pc = TEXT + 2 * place, .sp = STACK, .live = true};
            walk(table, 4 * words, 1);
            assert_int_equal(nseen, rule > 0);
            assert_true(!rule || seen[0] == TEXT + 2 * (rule - 1) + 2);
        }
        free(table);
    }
}

static void random_stack(void)
{
    for (unsigned i = 0; i < sizeof(stack) / 4; i++) {
        stack[i] = random_below(3) ? TEXT + random_below(CALLS) : STACK + random_below(4096);
    }
    for (unsigned i = 0; W == 2 && i + 1 < sizeof(stack) / 4; i += 2) {
        stack[i + 1] = random_below(20) ? 0 : stack[i + 1];
    }
}

static void test_random(void **state)
{
    (void)state;
    const char *given = getenv("ROUNDS");
    unsigned rounds = given ? (unsigned)atoi(given) : 20000, frames = 0;

    random_start();
    for (unsigned round = 0; round < rounds; round++) {
        size_t words;
        uint32_t *table = random_table(&words);
        for (unsigned i = random_below(2); i > 0; i--) { /* damage */
            table[random_below((uint32_t)words)] = random_below(UINT32_MAX);
        }
        if (round % 16 == 0) {
            random_stack();
        }
        start = (struct unwind_frame){.pc = TEXT + random_below(0x4400),
                                      .sp = STACK + 8 * random_below(512),
                                      .fp = STACK + 8 * random_below(512),
                                      .lr = TEXT + random_below(CALLS),
                                      .live = random_below(8) != 0};
        walk(table, 4 * (random_below(20) ? words : random_below((uint32_t)words)), 64);
        free(table);
        frames += nseen;
        assert_true(loads <= 2 * 65);
    }
    printf("%u frames\n", frames);
    assert_true(frames > rounds / 2);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_by_hand),
        cmocka_unit_test(test_no_table),
        cmocka_unit_test(test_rows),
        cmocka_unit_test(test_random),
    };

    return cmocka_run_group_tests(tests, make_by_hand, free_by_hand);
}

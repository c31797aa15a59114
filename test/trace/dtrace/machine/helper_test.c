/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What helpers may do (trace/dtrace/helper.h): every opcode, built-in variable and subroutine
 * against a list that is written down a second time here; their steps; and the actions that have
 * them, in an image and in the bound of a clause.
 */
#include "test/trace/dtrace/machine/builder.h"
#include "test/trace/dtrace/machine/world.h"
#include "trace/dtrace/helper.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

static struct asm_object o;
static struct image_builder builder, *const b = &builder;

static enum dtrace_reason checked(const char *text, uint32_t *offset)
{
    uint32_t valid;

    assemble(&o, text);
    assert_int_equal(dtrace_validate(&o.object, &valid), DTRACE_REASON_NONE);
    return dtrace_helper_check(&o.object, offset);
}

static void may(const char *text, bool ok, uint32_t at)
{
    uint32_t offset = 0;
    enum dtrace_reason reason = checked(text, &offset);

    if (reason != (ok ? DTRACE_REASON_NONE : DTRACE_REASON_HELPER) || (!ok && offset != at)) {
        fail_msg("%s at %d: %s", ok ? "refused" : "allowed", (int)offset, text);
    }
}

/* ---- rules --------------------------------------------------------------------------- */

static void test_value(void **state)
{
    (void)state;
    may("result string; ret r0", true, 0);
    may("ret r0", false, UINT32_MAX);
    may("result ref 8; ret r0", false, UINT32_MAX);
}

static bool listed(const char *list, const char *name)
{
    char all[512], *rest = all;
    const char *one;

    snprintf(all, sizeof(all), "%s", list);
    while ((one = strsep(&rest, " ")) != NULL) {
        if (strcmp(one, name) == 0) {
            return true;
        }
    }
    return false;
}

static void test_variables(void **state)
{
    static const char *const scalars[] = {
#define ARRAY(name)
#define SCALAR(name) name,
#define DIF_VAR(number, name, kind, type, doc) kind(#name)
#include "trace/dtrace/opcodes.def"
    };
    char text[128];
    unsigned allowed = 0;

    (void)state;
    for (size_t i = 0; i < sizeof(scalars) / sizeof(*scalars); i++) {
        bool ok = listed("arg0 arg1 arg2 arg3 pid tid execname", scalars[i]);
        snprintf(text, sizeof(text), "result string; nop; ldgs %s r1; ret r1", scalars[i]);
        may(text, ok, 1);
        allowed += ok;
    }
    assert_int_equal(allowed, 7);
    may("result string; ldga args r1 r1; ret r1", false, 0);
    may("result string; ldga regs r1 r1; ret r1", false, 0);
    may("result string; ldga uregs r1 r1; ret r1", false, 0);
}

static void test_subroutines(void **state)
{
    static const char *const all[] = {
#define DIF_SUBR(number, name, result, args, cost, doc) #name,
#include "trace/dtrace/opcodes.def"
    };
    char text[128];
    unsigned allowed = 0;

    (void)state;
    for (size_t i = 0; i < sizeof(all) / sizeof(*all); i++) {
        bool ok = listed("copyin copyinstr strlen strjoin strchr strrchr substr basename lltostr "
                         "toupper tolower htons htonl htonll ntohs ntohl ntohll",
                         all[i]);
        snprintf(text, sizeof(text), "result string; nop; nop; call %s r1; ret r1", all[i]);
        may(text, ok, 2);
        allowed += ok;
    }
    assert_int_equal(allowed, 17);
    assert_int_equal(sizeof(all) / sizeof(*all), DIF_SUBR_MAX + 1);
}

/* What changes more than the clause's own variables, or reads those that outlive it. */
static void test_instructions(void **state)
{
    static const char *const forbidden[] = {
        "var x global scalar value 8; result string; ldgs x r1; ret r1",
        "var x global scalar value 8; result string; stgs x r1; ret r1",
        "var x thread scalar value 8; result string; ldts x r1; ret r1",
        "var x thread scalar value 8; result string; stts x r1; ret r1",
        "var x global array value 8; result string; ldgaa x r1; ret r1",
        "var x global array value 8; result string; stgaa x r1; ret r1",
        "var x thread array value 8; result string; ldtaa x r1; ret r1",
        "var x thread array value 8; result string; sttaa x r1; ret r1",
        "result string; allocs r1 r1; ret r1",
        "result string; copys r1 r2 r3; ret r1",
        "result string; stb r1 r2; ret r1",
        "result string; sth r1 r2; ret r1",
        "result string; stw r1 r2; ret r1",
        "result string; stx r1 r2; ret r1",
    };
    static const char *const allowed[] = {
        "var x local scalar value 8; result string; stls x r1; ldls x r1; ret r1",
        "var x local scalar string; result string; stls x r1; ldls x r1; ret r1",
        "result string; uldx r1 r1; ldx r1 r1; rldx r1 r1; ret r1",
        "result string; sets \"x\" r1; sets \"y\" r2; scmp r1 r2; be end; sets \"z\" r1; "
        "end: ret r1",
    };

    (void)state;
    for (size_t i = 0; i < sizeof(forbidden) / sizeof(*forbidden); i++) {
        may(forbidden[i], false, 0);
    }
    for (size_t i = 0; i < sizeof(allowed) / sizeof(*allowed); i++) {
        may(allowed[i], true, 0);
    }
}

/* ---- in an image ----------------------------------------------------------------------- */

static const char name[] = "result string; sets \"x\" r1; ret r1";
static struct dtrace_refusal refusal;

/* An action of this kind with helpers `first` to `last`, of so many objects of that text. */
static int with_helpers(uint16_t kind, uint64_t arg, uint32_t first, uint32_t last,
                        const char *text, uint32_t strsize)
{
    struct dtrace_code code;
    int error;

    image_begin(b);
    for (unsigned i = 0; i < 3; i++) {
        image_object(b, i == 1 ? text : name);
    }
    image_ecb(b, 0);
    struct dtrace_image_action *a = image_action(b, kind, first);
    a->weight = last;
    a->arg = arg;
    const struct dtrace_image *image = image_end(b);
    error = dtrace_image_check(image, b->size, &refusal);
    error = error ? error : dtrace_code_load(&code, image, strsize, &refusal);
    if (!error) {
        dtrace_code_unload(&code);
    }
    return error;
}

static void test_ranges(void **state)
{
    const uint64_t arg = 5 | 100ull << 32;
    static const struct {
        uint16_t kind;
        uint32_t first, last;
        bool ok;
    } rows[] = {
        {DTRACE_ACT_JSTACK, 1, 1, true},
        {DTRACE_ACT_JSTACK, 1, 3, true},
        {DTRACE_ACT_USTACK, 2, 3, true},
        {DTRACE_ACT_JSTACK, 3, 3, true},
        {DTRACE_ACT_JSTACK, 0, 0, true},
        {DTRACE_ACT_JSTACK, 0, 1, false},
        {DTRACE_ACT_JSTACK, 1, 0, false},
        {DTRACE_ACT_JSTACK, 2, 1, false},
        {DTRACE_ACT_JSTACK, 1, 4, false},
        {DTRACE_ACT_JSTACK, 4, 4, false},
        {DTRACE_ACT_STACK, 1, 1, false},
        {DTRACE_ACT_USYM, 1, 1, false},
        {DTRACE_ACT_JSTACK, 1, UINT32_MAX, false},
        {DTRACE_ACT_JSTACK, UINT32_MAX, UINT32_MAX, false},
    };

    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
        int error = with_helpers(rows[i].kind, arg, rows[i].first, rows[i].last, name, 256);
        if (error != (rows[i].ok ? 0 : -EINVAL)) {
            fail_msg("row %d: %d", (int)i, error);
        }
    }
    assert_int_equal(with_helpers(DTRACE_ACT_JSTACK, 5, 1, 1, name, 256), -EINVAL); /* no room */
    fake.cannot_help = true;
    assert_int_equal(with_helpers(DTRACE_ACT_JSTACK, arg, 1, 1, name, 256), -EINVAL);
    assert_int_equal(with_helpers(DTRACE_ACT_JSTACK, arg, 0, 0, name, 256), 0);
    fake.cannot_help = false;
}

static void test_many(void **state)
{
    (void)state;
    for (uint32_t more = 0; more < 2; more++) {
        image_begin(b);
        for (unsigned i = 0; i < DTRACE_HELPERS_MOST + more; i++) {
            image_object(b, name);
        }
        image_ecb(b, 0);
        struct dtrace_image_action *a = image_action(b, DTRACE_ACT_JSTACK, 1);
        a->weight = DTRACE_HELPERS_MOST + more;
        a->arg = 5 | 100ull << 32;
        image_end(b);
        assert_int_equal(dtrace_image_check(b->bytes, b->size, &refusal), more ? -EINVAL : 0);
    }
}

/* An action that no clause has is never done, and its range isn't checked: it may be any. */
static void test_action_of_no_clause(void **state)
{
    static const uint32_t ranges[][2] = {{1000000, 2000000}, {1, UINT32_MAX}, {3, 4}};
    struct dtrace_code code;

    (void)state;
    for (unsigned i = 0; i < sizeof(ranges) / sizeof(*ranges); i++) {
        image_begin(b);
        image_object(b, name);
        struct dtrace_image_ecb *e = image_ecb(b, 0);
        struct dtrace_image_action *a = image_action(b, DTRACE_ACT_JSTACK, ranges[i][0]);
        a->weight = ranges[i][1];
        e->nactions = 0;
        const struct dtrace_image *image = image_end(b);
        assert_int_equal(dtrace_image_check(image, b->size, &refusal), 0);
        assert_int_equal(dtrace_code_load(&code, image, 256, &refusal), 0);
        dtrace_code_unload(&code);
    }
}

/* The rules hold for helpers alone, and for all of the range. */
static void test_loaded(void **state)
{
    static const char bad[] = "result string; nop; ldgs timestamp r1; ret r1";
    const uint64_t arg = 5 | 100ull << 32;

    (void)state;
    assert_int_equal(with_helpers(DTRACE_ACT_JSTACK, arg, 1, 1, bad, 256), 0);
    assert_int_equal(with_helpers(DTRACE_ACT_JSTACK, arg, 3, 3, bad, 256), 0);
    for (uint32_t first = 1; first <= 2; first++) {
        assert_int_equal(with_helpers(DTRACE_ACT_JSTACK, arg, first, 3, bad, 256), -EINVAL);
        assert_int_equal(refusal.reason, DTRACE_REASON_HELPER);
        assert_int_equal(refusal.object, 1);
        assert_int_equal(refusal.offset, 1);
    }
}

/* Returns the error of a helper that copies so many strings. */
static int copies(unsigned n, uint32_t strsize)
{
    char text[8192];
    size_t at = (size_t)snprintf(text, sizeof(text), "result string; ldgs arg0 r1\n");

    for (unsigned i = 0; i < n; i++) {
        at += (size_t)snprintf(text + at, sizeof(text) - at,
                               "flushts; pushtv r1; call copyinstr r2\n");
    }
    snprintf(text + at, sizeof(text) - at, "ret r2");
    return with_helpers(DTRACE_ACT_JSTACK, 5 | 100ull << 32, 2, 2, text, strsize);
}

static void test_steps(void **state)
{
    (void)state;
    assert_int_equal(copies(30, 256), 0);
    assert_int_equal(copies(30, 1 << 20), 0);
    assert_int_equal(copies(90, 256), 0);
    assert_int_equal(copies(100, 256), -E2BIG); /* 16 K and 32 strings of 256 */
    assert_int_equal(refusal.reason, DTRACE_REASON_HELPER_STEPS);
    assert_int_equal(refusal.object, 1);
    assert_int_equal(copies(33, 1 << 20), -E2BIG);
}

/* A stack with helpers costs them for each frame, and no more than DTRACE_HELPER_FRAMES times. */
static void test_cost(void **state)
{
    uint64_t steps[4];
    static const uint32_t frames[4] = {1, 2, DTRACE_HELPER_FRAMES, DTRACE_HELPER_FRAMES + 1};

    (void)state;
    for (unsigned i = 0; i < 4; i++) {
        for (unsigned helpers = 0; helpers < 2; helpers++) {
            assert_int_equal(with_helpers(DTRACE_ACT_JSTACK, frames[i] | 100ull << 32, helpers,
                                          helpers, name, 256),
                             0);
            struct dtrace_cost cost = dtrace_ecb_cost(b->bytes, 0, 256);
            steps[i] = helpers ? cost.steps - steps[i] : cost.steps;
        }
    }
    assert_true(steps[0] > 0);
    assert_int_equal(steps[1], 2 * steps[0]);
    assert_int_equal(steps[2], DTRACE_HELPER_FRAMES * steps[0]);
    assert_int_equal(steps[3], steps[2]);
}

static int set_up(void **state)
{
    (void)state;
    fake_reset();
    return 0;
}

int main(void)
{
#define T(test) cmocka_unit_test_setup(test, set_up)
    static const struct CMUnitTest tests[] = {
        T(test_value),  T(test_variables), T(test_subroutines),         T(test_instructions),
        T(test_ranges), T(test_many),      T(test_action_of_no_clause), T(test_loaded),
        T(test_steps),  T(test_cost),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}

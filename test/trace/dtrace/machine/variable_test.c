/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Variables: scalars keep 64 bits; strings are cut at strsize and keep NULL; what was never
 * assigned; locals are each CPU's own; dynamic ones are made by assigning and freed by assigning 0.
 */
#include "test/trace/dtrace/machine/world.h"

#include <stdio.h>
#include <string.h>

static void test_scalars(void **state)
{
    (void)state;
    world_load(
        "var g global scalar value 4; var l local scalar value 1; var t thread scalar value 2;"
        "setx 0x1122334455667788 r1; stgs g r1; stls l r1; stts t r1; ret r0",
        "var g global scalar value 4; ldgs g r1; ret r1",
        "var l local scalar value 1; ldls l r1; ret r1",
        "var t thread scalar value 2; ldts t r1; ret r1", NULL);
    for (unsigned i = 1; i < 4; i++) {
        assert_int_equal(world_run(i), 0); /* never assigned */
    }
    world_run(0);
    for (unsigned i = 1; i < 4; i++) {
        assert_int_equal(world_run(i), 0x1122334455667788);
    }
}

/* One name, two scopes: two variables. */
static void test_scopes(void **state)
{
    (void)state;
    assert_int_equal(run("var x global scalar value 8; var x local scalar value 8;"
                         "setx 5 r1; stgs x r1; setx 6 r1; stls x r1; ldgs x r1; ldls x r2;"
                         "setx 8 r3; sll r1 r3 r1; or r1 r2 r1; ret r1"),
                     5 << 8 | 6);
}

static void test_many(void **state)
{
    char text[4096] = "";

    (void)state;
    for (unsigned i = 0; i < 30; i++) {
        char line[128];
        snprintf(line, sizeof(line), "var v%u global scalar value 8; setx %u r1; stgs v%u r1;", i,
                 i + 100, i);
        strcat(text, line);
    }
    strcat(text, "ldgs v0 r1; ldgs v29 r2; add r1 r2 r1; ret r1");
    assert_int_equal(run(text), 229);
}

static const char *const string_scopes[][2] = {{"global", "gs"}, {"local", "ls"}};

static void test_strings(void **state)
{
    char text[512];

    (void)state;
    for (unsigned i = 0; i < 2; i++) {
        const char *scope = string_scopes[i][0], *op = string_scopes[i][1];
        snprintf(text, sizeof(text),
                 "var s %s scalar string; result string; sets \"hello\" r1; st%s s r1;"
                 "sets \"hi\" r1; st%s s r1; ld%s s r2; ret r2",
                 scope, op, op, op);
        assert_string_equal(run_string(text), "hi");
        snprintf(text, sizeof(text), "var s %s scalar string; result string; ld%s s r2; ret r2",
                 scope, op);
        assert_string_equal(run_string(text), ""); /* never assigned */
        snprintf(text, sizeof(text), "var s %s scalar string; st%s s r0; ld%s s r1; ret r1", scope,
                 op, op);
        assert_int_equal(run(text), 0); /* NULL is kept */
        snprintf(text, sizeof(text),
                 "var s %s scalar string; st%s s r0; ld%s s r1; ldub r1 r2; ret r2", scope, op, op);
        run_faults(text, DIF_FAULT_BADADDR, 2, 0);
        snprintf(text, sizeof(text),
                 "var s %s scalar string; result string; st%s s r0; sets \"x\" r1; st%s s r1;"
                 "ld%s s r1; ret r1",
                 scope, op, op, op);
        assert_string_equal(run_string(text), "x"); /* and lost again */
        snprintf(text, sizeof(text),
                 "var s %s scalar string; result string; sets \"self\" r1; st%s s r1;"
                 "ld%s s r1; st%s s r1; ld%s s r1; ret r1",
                 scope, op, op, op, op);
        assert_string_equal(run_string(text), "self"); /* s = s */
    }
}

static void test_strsize(void **state)
{
    (void)state;
    for (uint32_t size = 1; size < 9; size++) {
        char want[9] = "abcdefgh";
        world_strsize(size);
        want[size] = '\0';
        assert_string_equal(run_string("var s global scalar string; result string;"
                                       "sets \"abcdefghijk\" r1; stgs s r1; ldgs s r1; ret r1"),
                            want);
        assert_int_equal(run("var s global scalar string; var z global scalar value 8;"
                             "sets \"abcdefghijk\" r1; stgs s r1; ldgs s r1;"
                             "pushtr string r0 r1; call strlen r1; ret r1"),
                         size);
    }
}

/* A string that has its own size, and that is the largest there may be. */
static void test_sizes(void **state)
{
    struct dtrace_refusal refusal;
    struct image_builder *b = &world.image;
    struct dtrace_code code;

    (void)state;
    world_strsize(4);
    assert_string_equal(run_string("var s global scalar string 4; result string;"
                                   "sets \"abcdef\" r1; stgs s r1; ldgs s r1; ret r1"),
                        "abcd");
    for (unsigned i = 0; i < 2; i++) {
        image_begin(b);
        image_object(b, "var s global scalar string; ret r0");
        struct dtrace_image *image = image_end(b);
        assert_int_equal(dtrace_image_check(image, b->size, &refusal), 0);
        if (i == 0) {
            assert_int_equal(dtrace_code_load(&code, image, DIF_STATIC_VAR_MAX, &refusal), 0);
            dtrace_code_unload(&code);
        } else {
            assert_int_equal(dtrace_code_load(&code, image, DIF_STATIC_VAR_MAX + 1, &refusal), -22);
            assert_string_equal(dtrace_refusal_text(&refusal), "a variable is too large");
            assert_int_equal(refusal.object, 0);
        }
    }
}

static void test_structs(void **state)
{
    (void)state;
    /* Assigned whole from what alloca gave, then an element is stored. */
    assert_int_equal(
        run("var g global scalar ref 16; setx 16 r1; allocs r1 r2; setx 7 r3; stx r3 r2;"
            "setx 8 r4; add r2 r4 r5; setx 9 r3; stx r3 r5; stgs g r2; ldgs g r6;"
            "setx 1 r3; stb r3 r6; add r6 r4 r5; ldx r6 r1; ldx r5 r2; add r1 r2 r1;"
            "ret r1"),
        1 + 9);
    assert_int_equal(run("var g global scalar ref 16; ldgs g r1; ldx r1 r1; ret r1"), 0);
    /* What lies after an array is another variable, or nothing. */
    run_faults("var g global scalar ref 12; ldgs g r1; setx 8 r2; add r1 r2 r1; stw r2 r1;"
               "stx r2 r1; ret r0",
               DIF_FAULT_BADADDR, 4, ANY_ADDRESS);
    assert_int_equal(world.context.fault.address, (uintptr_t)world.context.globals + 8 + 8);
    run_faults("var a global scalar ref 8; var b global scalar ref 8; ldgs a r1; ldgs b r2;"
               "setx 4 r3; add r1 r3 r4; stw r0 r4; add r2 r3 r4; stw r0 r4; stx r0 r4; ret r0",
               DIF_FAULT_BADADDR, 7, ANY_ADDRESS);
    run_faults("var g global scalar ref 16; ldgs g r1; setx 1 r2; sub r1 r2 r1; stb r0 r1; ret r0",
               DIF_FAULT_BADADDR, 3, ANY_ADDRESS);
    run_faults("var l local scalar ref 16; ldls l r1; setx 16 r2; add r1 r2 r1; stb r0 r1; ret r0",
               DIF_FAULT_BADADDR, 3, ANY_ADDRESS);
    run_faults("var g global scalar ref 16; ldgs g r1; setx 2 r2; add r1 r2 r1; stw r0 r1; ret r0",
               DIF_FAULT_BADALIGN, 3, ANY_ADDRESS);
    /* A scalar has no address; the area's words can't be stored to. */
    world_load("var x global scalar value 8; ldgs arg0 r1; stx r0 r1; ret r0", NULL);
    world.args[0] = (uintptr_t)world.context.globals;
    world_run(0);
    assert_fault(DIF_FAULT_BADADDR, 1, (uintptr_t)world.context.globals);
}

/* A fault while copying leaves what was copied. */
static void test_partial(void **state)
{
    static char memory[40] = "0123456789abcdefghijklmnopqrstuvwxyz";

    (void)state;
    world_load("var s global scalar string; ldgs arg0 r1; stgs s r1; ret r0",
               "var s global scalar string; ldgs s r1; ret r1", NULL);
    for (size_t n = 0; n < 36; n++) {
        char got[65];
        fake.nmaps = 0;
        fake_map(memory, n, true, false);
        world.args[0] = (uintptr_t)memory;
        world_run(0);
        assert_fault(DIF_FAULT_BADADDR, 1, (uintptr_t)memory + n);
        uint64_t s = world_run(1);
        size_t length = dtrace_load_string(&world.context, got, s, 64, false);
        assert_int_equal(length, n);
        assert_memory_equal(got, memory, n);
    }
}

static void test_cpus(void **state)
{
    struct dtrace_context other;

    (void)state;
    world_load("var l local scalar value 8; var s local scalar string; setx 5 r1; stls l r1;"
               "sets \"here\" r1; stls s r1; ret r0",
               "var l local scalar value 8; ldls l r1; ret r1",
               "var s local scalar string; ldls s r1; ldub r1 r1; ret r1", NULL);
    world_run(0);
    dtrace_context_init(&other, &world.code, NULL, NULL, 1, (struct dtrace_region){0, 0});
    dtrace_context_clause(&other, &world.ecb, world.args);
    assert_int_equal(dtrace_run(&other, &world.code.objects[1]), 0);
    assert_int_equal(dtrace_run(&other, &world.code.objects[2]), 0);
    assert_int_equal(world_run(1), 5);
    assert_int_equal(world_run(2), 'h');
}

static void test_thread(void **state)
{
    (void)state;
    world_load("var t thread scalar value 8; ldgs arg0 r1; stts t r1; ret r0",
               "var t thread scalar value 8; ldts t r1; ret r1", NULL);
    fake.state.predicate_cache = 99;
    world_run(1);
    assert_int_equal(fake_elements(), 0); /* reading allocates nothing */
    assert_int_equal(fake.state.predicate_cache, 99);
    world_run(0);
    assert_int_equal(fake.state.predicate_cache, 0);
    assert_int_equal(fake_elements(), 1);
    assert_int_equal(world_run(1), 10);
    fake.thread = 8;
    assert_int_equal(world_run(1), 0);
    world.args[0] = 0;
    world_run(0); /* nothing to free, and nothing allocated */
    assert_int_equal(fake_elements(), 1);
    fake.thread = 7;
    world_run(0);
    assert_int_equal(fake_elements(), 0);
}

static void test_thread_string(void **state)
{
    (void)state;
    assert_int_equal(run("var t thread scalar string; ldts t r1; ret r1"), 0); /* NULL */
    assert_string_equal(run_string("var t thread scalar string; result string; sets \"hey\" r1;"
                                   "stts t r1; ldts t r1; ret r1"),
                        "hey");
    assert_int_equal(run("var t thread scalar string; stts t r0; ldts t r1; ret r1"), 0);
    assert_int_equal(fake_elements(), 0);
    assert_int_equal(
        run("var o thread scalar ref 24; ldts o r1; setx 16 r2; add r1 r2 r1; ldx r1 r1;"
            "ret r1"),
        0);
    run_faults("var o thread scalar ref 24; ldts o r1; stb r0 r1; ret r0", DIF_FAULT_BADADDR, 1,
               ANY_ADDRESS);
}

static void test_arrays(void **state)
{
    (void)state;
    assert_int_equal(run("var a global array value 8; setx 5 r1; sets \"key\" r2;"
                         "flushts; pushtv r1; pushtr string r0 r2; stgaa a r1;"
                         "flushts; pushtv r1; pushtr string r0 r2; ldgaa a r3; ret r3"),
                     5);
    assert_int_equal(run("var a global array value 8; setx 5 r1; flushts; pushtv r1; ldgaa a r3;"
                         "ret r3"),
                     0);
    assert_int_equal(fake_elements(), 1);
    /* Another key, another thread's array, a key less. */
    assert_int_equal(
        run("var a global array value 8; setx 5 r1; sets \"kez\" r2; flushts; pushtv r1;"
            "pushtr string r0 r2; ldgaa a r3; ret r3"),
        0);
    assert_int_equal(run("var a thread array value 8; setx 5 r1; sets \"key\" r2; flushts;"
                         "pushtv r1; pushtr string r0 r2; ldtaa a r3; ret r3"),
                     0);
    run("var a global array value 8; setx 5 r1; sets \"key\" r2; flushts; pushtv r1;"
        "pushtr string r0 r2; stgaa a r0; ret r0");
    assert_int_equal(fake_elements(), 0);
    fake.state.predicate_cache = 3;
    run("var a thread array value 8; setx 5 r1; pushtv r1; sttaa a r1; ret r0");
    assert_int_equal(fake.state.predicate_cache, 0);
}

static void test_array_strings(void **state)
{
    (void)state;
    assert_string_equal(run_string("var a global array string; result string; setx 5 r1; pushtv r1;"
                                   "ldgaa a r2; ret r2"),
                        "");
    assert_string_equal(run_string("var a global array string; result string; sets \"v\" r1;"
                                   "pushtv r1; stgaa a r1; ldgaa a r2; ret r2"),
                        "v");
    assert_string_equal(run_string("var a global array string; result string; sets \"v\" r1;"
                                   "pushtv r1; stgaa a r0; ldgaa a r2; ret r2"),
                        "");
    assert_string_equal(run_string("var a thread array string; result string; pushtv r1;"
                                   "ldtaa a r2; ret r2"),
                        "");
    run_faults("var a global array string; pushtv r1; ldgaa a r1; stb r0 r1; ret r0",
               DIF_FAULT_BADADDR, 2, ANY_ADDRESS);
    /* Into an element that is there. */
    assert_int_equal(run("var a global array ref 16; setx 16 r1; allocs r1 r2; pushtv r1;"
                         "stgaa a r2; ldgaa a r3; setx 7 r4; setx 8 r5; add r3 r5 r5; stx r4 r5;"
                         "ldx r5 r6; ret r6"),
                     7);
    /* Storing what a load gave creates the element, or leaves it alone. */
    assert_int_equal(run("var a global array ref 16; setx 9 r1; pushtv r1; ldgaa a r2; stgaa a r2;"
                         "ldgaa a r2; setx 7 r4; stx r4 r2; ldgaa a r3; stgaa a r3; ldgaa a r3;"
                         "ldx r3 r5; setx 8 r6; add r3 r6 r3; ldx r3 r6; add r5 r6 r5; ret r5"),
                     7);
    run_faults("var a global array ref 16; setx 16 r1; allocs r1 r2; pushtv r1; stgaa a r2;"
               "ldgaa a r3; add r3 r1 r3; stb r0 r3; ret r0",
               DIF_FAULT_BADADDR, 6, ANY_ADDRESS);
}

/* No room: the value is lost, the clause goes on. A key that can't be read faults. */
static void test_no_room(void **state)
{
    (void)state;
    fake.elements_max = 0;
    assert_int_equal(run("var a global array value 8; setx 5 r1; pushtv r1; stgaa a r1; ret r1"),
                     5);
    fake.elements_max = 4;
    run_faults("var a global array value 8; setx 16 r1; pushtr ctf r1 r1; stgaa a r1; ldgaa a r1;"
               "ret r0",
               DIF_FAULT_BADADDR, 2, 16);
}

int main(void)
{
#define T(name) cmocka_unit_test_setup_teardown(name, world_open, world_close)
    const struct CMUnitTest tests[] = {
        T(test_scalars),       T(test_scopes),  T(test_many),          T(test_strings),
        T(test_strsize),       T(test_sizes),   T(test_structs),       T(test_partial),
        T(test_cpus),          T(test_thread),  T(test_thread_string), T(test_arrays),
        T(test_array_strings), T(test_no_room),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The subroutines that take and copy memory, of the kernel and of the current process.
 */
#include "test/trace/dtrace/machine/world.h"

#include <stdio.h>
#include <string.h>

enum { SIZE = 256 };
static char memory[SIZE];

static int open_memory(void **state)
{
    world_open(state);
    memset(memory, 0, SIZE);
    strcpy(memory, "text of the process");
    return 0;
}

/* With arg0 the address of memory. */
static uint64_t run_there(const char *text)
{
    world_load(text, NULL);
    world.args[0] = (uintptr_t)memory;
    return world_run(0);
}

static void no_fault(void)
{
    assert_int_equal(world.context.fault.kind, DIF_FAULT_NONE);
}

static void test_alloca(void **state)
{
    (void)state;
    assert_int_equal(run("setx 16 r1; pushtv r1; call alloca r2; ldx r2 r3; ret r3"), 0);
    assert_int_equal(
        run("setx 5 r1; pushtv r1; call alloca r2; call alloca r3; sub r3 r2 r3; ret r3"), 8);
    assert_int_equal(run("pushtv r0; call alloca r2; call alloca r3; sub r3 r2 r3; ret r3"), 0);
    run_faults("setx 4097 r1; pushtv r1; call alloca r2; ret r2", DIF_FAULT_NOSCRATCH, 2, 0);
    run_faults("not r0 r1; pushtv r1; call alloca r2; ret r2", DIF_FAULT_NOSCRATCH, 2, 0);
    assert_int_equal(run("setx 4096 r1; pushtv r1; call alloca r2; not r0 r3; setx 4088 r1;"
                         "add r2 r1 r2; stx r3 r2; ldx r2 r1; ret r1"),
                     UINT64_MAX);
}

/* What another action of the clause took is still there; the next clause's is new. */
static void test_clause(void **state)
{
    (void)state;
    world_load("var p global scalar value 8; setx 8 r1; pushtv r1; call alloca r2; stgs p r2;"
               "setx 77 r1; stx r1 r2; ret r0",
               "var p global scalar value 8; ldgs p r1; ldx r1 r2; stx r0 r1; ret r2", NULL);
    world_run(0);
    assert_int_equal(world_go_on(1), 77);
    no_fault();
    world_run(1);
    assert_fault(DIF_FAULT_BADADDR, 1, (uintptr_t)fake_scratch);
}

static void test_bcopy(void **state)
{
    (void)state;
    assert_string_equal(
        run_string(
            "result string; sets \"source\" r1; setx 7 r2; flushts; pushtv r2; call alloca r3;"
            "flushts; pushtv r1; pushtv r3; pushtv r2; call bcopy r4; ret r3"),
        "source");
    /* Inside itself, forward and back. */
    assert_string_equal(
        run_string(
            "result string; sets \"abcdef\" r1; setx 16 r2; pushtv r2; call alloca r3; flushts;"
            "setx 7 r2; pushtv r1; pushtv r3; pushtv r2; call bcopy r4; flushts; setx 2 r5;"
            "add r3 r5 r6; setx 4 r2; pushtv r3; pushtv r6; pushtv r2; call bcopy r4; ret r3"),
        "ababcd");
    run_faults("sets \"abc\" r1; setx 4 r2; pushtv r1; pushtv r1; pushtv r2; call bcopy r1; ret r0",
               DIF_FAULT_BADADDR, 5, ANY_ADDRESS);
    run_faults("setx 8 r2; pushtv r2; call alloca r3; flushts; setx 9 r2; pushtv r3; pushtv r3;"
               "pushtv r2; call bcopy r1; ret r0",
               DIF_FAULT_BADADDR, 8, (uintptr_t)fake_scratch);
    run_faults("var g global scalar ref 16; ldgs g r3; setx 8 r2; pushtv r3; pushtv r3; pushtv r2;"
               "call bcopy r1; ret r0",
               DIF_FAULT_BADADDR, 5, ANY_ADDRESS); /* a variable is no scratch */
    assert_int_equal(run("pushtv r0; pushtv r0; pushtv r0; call bcopy r1; ret r1"), 0);
    run_faults("setx 8 r2; pushtv r2; call alloca r3; flushts; pushtv r2; pushtv r3; pushtv r2;"
               "call bcopy r1; ret r0",
               DIF_FAULT_BADADDR, 7, 8);
}

static void test_copyin(void **state)
{
    (void)state;
    fake_map(memory, SIZE, false, true);
    run_there("ldgs arg0 r1; setx 4 r2; pushtv r1; pushtv r2; call copyin r3; lduw r3 r4; ret r4");
    no_fault();
    assert_memory_equal(fake_scratch, "text", 4);
    run_there("ldgs arg0 r1; setx 257 r2; pushtv r1; pushtv r2; call copyin r3; ret r3");
    assert_fault(DIF_FAULT_BADADDR, 4, (uintptr_t)memory + 256);
    run_there("ldgs arg0 r1; setx 4097 r2; pushtv r1; pushtv r2; call copyin r3; ret r3");
    assert_fault(DIF_FAULT_NOSCRATCH, 4, 0);
    run_faults("setx 4 r2; pushtv r0; pushtv r2; call copyin r3; ret r3", DIF_FAULT_BADADDR, 3, 0);
    fake.nmaps = 0;
    fake_map(memory, SIZE, true, false); /* of the kernel alone */
    run_there("ldgs arg0 r1; setx 4 r2; pushtv r1; pushtv r2; call copyin r3; ret r3");
    assert_fault(DIF_FAULT_BADADDR, 4, (uintptr_t)memory);
}

static void test_copyinstr(void **state)
{
    static const struct {
        const char *size, *want;
    } table[] = {{"0", ""},
                 {"1", "t"},
                 {"4", "text"},
                 {"99", "text of the process"},
                 {"0xffffffffffffffff", "text of the process"}};
    char text[256], got[80];

    (void)state;
    fake_map(memory, 20, false, true); /* the NUL is its last byte */
    uint64_t s = run_there("ldgs arg0 r1; pushtv r1; call copyinstr r2; ret r2");
    no_fault();
    assert_string_equal((const char *)(uintptr_t)s, "text of the process");
    for (unsigned i = 0; i < sizeof(table) / sizeof(table[0]); i++) {
        snprintf(text, sizeof(text),
                 "ldgs arg0 r1; setx %s r2; pushtv r1; pushtv r2; call copyinstr r2; ret r2",
                 table[i].size);
        s = run_there(text);
        no_fault();
        got[dtrace_load_string(&world.context, got, s, 64, false)] = '\0';
        assert_string_equal(got, table[i].want);
    }
    fake.nmaps = 0;
    fake_map(memory, 19, false, true); /* now it isn't */
    run_there("ldgs arg0 r1; pushtv r1; call copyinstr r2; ret r2");
    assert_fault(DIF_FAULT_BADADDR, 2, (uintptr_t)memory + 19);
    world_strsize(8);
    s = run_there("ldgs arg0 r1; pushtv r1; call copyinstr r2; ret r2");
    assert_string_equal((const char *)(uintptr_t)s, "text of");
}

static void test_copyinto(void **state)
{
    (void)state;
    fake_map(memory, SIZE, false, true);
    run_there("setx 8 r2; pushtv r2; call alloca r3; flushts; ldgs arg0 r1; setx 5 r2; pushtv r1;"
              "pushtv r2; pushtv r3; call copyinto r4; ret r3");
    no_fault();
    assert_memory_equal(fake_scratch, "text \0\0\0", 8);
    run_there("setx 8 r2; pushtv r2; call alloca r3; flushts; ldgs arg0 r1; setx 9 r2; pushtv r1;"
              "pushtv r2; pushtv r3; call copyinto r4; ret r3");
    assert_fault(DIF_FAULT_BADADDR, 9, (uintptr_t)fake_scratch);
    run_there("ldgs arg0 r1; setx 5 r2; pushtv r1; pushtv r2; pushtv r1; call copyinto r4; ret r0");
    assert_fault(DIF_FAULT_BADADDR, 5, (uintptr_t)memory);
}

static void test_copyout(void **state)
{
    (void)state;
    fake_map(memory, SIZE, false, true);
    run_there("sets \"TEXT\" r1; ldgs arg0 r2; setx 4 r3; pushtv r1; pushtv r2; pushtv r3;"
              "call copyout r4; ret r0");
    no_fault();
    assert_string_equal(memory, "TEXT of the process");
    run_there("sets \"a\" r1; ldgs arg0 r2; setx 99 r3; pushtr string r0 r1; pushtv r2; pushtv r3;"
              "call copyoutstr r4; ret r0");
    no_fault();
    assert_memory_equal(memory, "a\0XT", 4);
    run_there(
        "sets \"bcdef\" r1; ldgs arg0 r2; setx 3 r3; pushtr string r0 r1; pushtv r2; pushtv r3;"
        "call copyoutstr r4; ret r0");
    assert_memory_equal(memory, "bcdT of", 7);
    run_faults("setx 0x10001 r3; pushtv r0; pushtv r0; pushtv r3; call copyout r4; ret r0",
               DIF_FAULT_ILLOP, 4, 0);
    run_faults("sets \"a\" r1; setx 0x5000 r2; pushtv r1; pushtv r2; setx 1 r1; pushtv r1;"
               "call copyout r4; ret r0",
               DIF_FAULT_BADADDR, 6, 0x5000);
    run_faults(
        "setx 0x5000 r2; pushtv r2; pushtv r2; setx 1 r1; pushtv r1; call copyout r4; ret r0",
        DIF_FAULT_BADADDR, 5, 0x5000);
}

/* A long one crosses from what may be written to what may not. */
static void test_copyout_long(void **state)
{
    (void)state;
    fake_map(memory, 200, false, true);
    run_there("setx 201 r3; pushtv r3; call alloca r1; flushts; ldgs arg0 r2; pushtv r1; pushtv r2;"
              "pushtv r3; call copyout r4; ret r0");
    assert_fault(DIF_FAULT_BADADDR, 8, (uintptr_t)memory + 192);
    run_there("setx 200 r3; pushtv r3; call alloca r1; flushts; ldgs arg0 r2; pushtv r1; pushtv r2;"
              "pushtv r3; call copyout r4; ret r0");
    no_fault();
    for (unsigned i = 0; i < 200; i++) {
        assert_int_equal(memory[i], 0);
    }
}

static void test_memref(void **state)
{
    (void)state;
    assert_int_equal(run("setx 0x77 r1; setx 9 r2; pushtv r1; pushtv r2; call memref r3; ldx r3 r4;"
                         "setx 8 r5; add r3 r5 r3; ldx r3 r3; sll r4 r5 r4; or r4 r3 r3; ret r3"),
                     0x7709);
    world_scratch(8);
    run_faults("pushtv r0; pushtv r0; call memref r3; ret r3", DIF_FAULT_NOSCRATCH, 2, 0);
    world_scratch(WORLD_SCRATCH);
}

int main(void)
{
#define T(name) cmocka_unit_test_setup_teardown(name, open_memory, world_close)
    const struct CMUnitTest tests[] = {
        T(test_alloca),   T(test_clause),  T(test_bcopy),        T(test_copyin), T(test_copyinstr),
        T(test_copyinto), T(test_copyout), T(test_copyout_long), T(test_memref),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

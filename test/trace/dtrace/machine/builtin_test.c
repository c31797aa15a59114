/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The built-in variables: each has its value, strings are read without a peek, and what may change
 * is looked up once per clause.
 */
#include "test/trace/dtrace/machine/world.h"

#include <stdio.h>
#include <string.h>

static uint64_t value_of(const char *name)
{
    char text[64];

    snprintf(text, sizeof(text), "ldgs %s r1; ret r1", name);
    return run(text);
}

static void test_numbers(void **state)
{
    static const struct {
        const char *name;
        uint64_t value;
    } table[] = {
        {"curthread", 0xabcd},
        {"timestamp", 1000},
        {"ipl", 1},
        {"epid", 5},
        {"id", 17},
        {"arg0", 10},
        {"arg1", 11},
        {"arg2", 12},
        {"arg3", 13},
        {"arg4", 14},
        {"arg5", 1005},
        {"arg6", 1006},
        {"arg7", 1007},
        {"arg8", 1008},
        {"arg9", 1009},
        {"caller", 0x1111},
        {"ucaller", 0x2222},
        {"pid", 42},
        {"ppid", 41},
        {"uid", 0xfffffffe},
        {"tid", (uint64_t)-3},
        {"gid", 12},
        {"errno", 2},
        {"jid", 0},
        {"cpu", 0},
    };

    (void)state;
    for (unsigned i = 0; i < sizeof(table) / sizeof(table[0]); i++) {
        fake.now = 0;
        if (value_of(table[i].name) != table[i].value) {
            fail_msg("%s is %llx", table[i].name, (unsigned long long)value_of(table[i].name));
        }
    }
    fake.lookups = 0;
    assert_int_equal(value_of("vtimestamp"), 100);
    fake.lookups = 0;
    assert_int_equal(value_of("walltimestamp"), 200);
    fake.lookups = 0;
    assert_int_equal(value_of("stackdepth"), 3);
    fake.lookups = 0;
    assert_int_equal(value_of("ustackdepth"), 5);
    fake.lookups = 0;
    assert_int_equal(value_of("cycles"), 300);
    fake.lookups = 0;
    assert_int_equal(value_of("instructions"), 400);
}

/* Every scalar of the table gives a value without a fault. */
static void test_all(void **state)
{
    static const struct {
        const char *name, *kind;
    } all[] = {
#define DIF_VAR(number, name, kind, type, doc) {#name, #kind},
#include "trace/dtrace/opcodes.def"
    };

    (void)state;
    for (unsigned i = 0; i < sizeof(all) / sizeof(all[0]); i++) {
        if (strcmp(all[i].kind, "SCALAR") == 0) {
            value_of(all[i].name);
        }
    }
    run_faults("ldgs 0x124 r1; ret r1", DIF_FAULT_ILLOP, 0, 0);
    run_faults("ldgs 0x203 r1; ret r1", DIF_FAULT_ILLOP, 0, 0);
    run_faults("nop; ldgs 0x4ff r1; ret r1", DIF_FAULT_ILLOP, 1, 0);
}

static void test_strings(void **state)
{
    static const char *const table[][2] = {{"probeprov", "prov"},     {"probemod", "mod"},
                                           {"probefunc", "func"},     {"probename", "name"},
                                           {"execname", "kymo-test"}, {"execargs", "kymo-test -v"},
                                           {"zonename", "global"},    {"jailname", ""}};
    char all[512] = "result string;";

    (void)state;
    for (unsigned i = 0; i < 8; i++) {
        char text[128];
        snprintf(text, sizeof(text), "ldgs %s r1; result string; ret r1", table[i][0]);
        assert_string_equal(run_string(text), table[i][1]);
        snprintf(text, sizeof(text), "ldgs %s r1; ldgs %s r2;", table[i][0], table[7 - i][0]);
        strcat(all, text);
    }
    assert_int_equal(fake.peeks, 0);
    /* All of them in one clause, twice. */
    strcat(all, "ldgs probeprov r1; ret r1");
    assert_string_equal(run_string(all), "prov");
    assert_int_equal(world.context.nwindows, 8);
    assert_int_equal(fake.peeks, 0);
}

/* A window ends with its string, at strsize, and with its clause. */
static void test_windows(void **state)
{
    (void)state;
    fake.execname = "abc";
    run_faults("ldgs execname r1; setx 4 r2; add r1 r2 r1; ldub r1 r2; ret r2", DIF_FAULT_BADADDR,
               3, (uintptr_t)fake.execname + 4);
    assert_int_equal(run("ldgs execname r1; setx 3 r2; add r1 r2 r1; ldub r1 r2; ret r2"), 0);
    world_strsize(2);
    run_faults("ldgs execname r1; setx 2 r2; add r1 r2 r1; ldub r1 r2; ret r2", DIF_FAULT_BADADDR,
               3, (uintptr_t)fake.execname + 2);
    assert_string_equal(run_string("ldgs execname r1; result string; ret r1"), "ab");
    world_load("var p global scalar value 8; ldgs execname r1; stgs p r1; ret r0",
               "var p global scalar value 8; ldgs p r1; ldub r1 r1; ret r1", NULL);
    world_run(0);
    assert_int_equal(world_go_on(1), 'a');
    world_run(1);
    assert_fault(DIF_FAULT_BADADDR, 1, (uintptr_t)fake.execname);
}

static void test_once(void **state)
{
    static const char *const names[] = {"timestamp",   "vtimestamp", "walltimestamp", "stackdepth",
                                        "ustackdepth", "cycles",     "instructions"};
    char text[128];

    (void)state;
    for (unsigned i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        snprintf(text, sizeof(text), "ldgs %s r1; ldgs %s r2; sub r1 r2 r1; ret r1", names[i],
                 names[i]);
        assert_int_equal(run(text), 0);
        snprintf(text, sizeof(text), "ldgs %s r1; ret r1", names[i]);
        world_load(text, NULL);
        uint64_t first = world_run(0);
        assert_int_equal(world_go_on(0), first);
        assert_int_not_equal(world_run(0), first);
    }
    world_run(0);
    world_load("ldgs timestamp r1; ret r1", NULL);
    uint64_t now = world_run(0);
    assert_int_equal(world.context.once[DTRACE_ONCE_TIMESTAMP], now);
    assert_true(world.context.present >> DTRACE_ONCE_TIMESTAMP & 1);
}

static void test_arrays(void **state)
{
    (void)state;
    assert_int_equal(run("setx 3 r1; ldga args r1 r2; ret r2"), 13);
    assert_int_equal(run("setx 5 r1; ldga args r1 r2; ret r2"), 1005);
    assert_int_equal(run("setx 255 r1; ldga args r1 r2; ret r2"), 1255);
    /* The value names the element: the array's number, then the low half of the index. */
    run_faults("setx 256 r1; ldga args r1 r2; ret r2", DIF_FAULT_ILLOP, 1, 256);
    run_faults("not r0 r1; ldga args r1 r2; ret r2", DIF_FAULT_ILLOP, 1, 0xffffffff);
    assert_int_equal(run("setx 3 r1; ldga regs r1 r2; ret r2"), 0x103);
    assert_int_equal(run("setx 3 r1; ldga uregs r1 r2; ret r2"), 0x203);
    run_faults("setx 4 r1; ldga regs r1 r2; ret r2", DIF_FAULT_ILLOP, 1, 0x100000004);
    run_faults("setx 4 r1; ldga uregs r1 r2; ret r2", DIF_FAULT_ILLOP, 1, 0x200000004);
    run_faults("setx 256 r1; ldga uregs r1 r2; ret r2", DIF_FAULT_ILLOP, 1, 0x200000100);
    run_faults("not r0 r1; ldga uregs r1 r2; ret r2", DIF_FAULT_ILLOP, 1, 0x2ffffffff);
    run_faults("ldga 3 r0 r2; ret r2", DIF_FAULT_ILLOP, 0, 0x300000000);
    run_faults("ldga 128 r0 r2; ret r2", DIF_FAULT_ILLOP, 0, 0x8000000000);
    world_load("ldgs arg5 r1; ret r1", NULL);
    world.ops.argument = NULL;
    assert_int_equal(world_run(0), 0);
}

int main(void)
{
#define T(name) cmocka_unit_test_setup_teardown(name, world_open, world_close)
    const struct CMUnitTest tests[] = {
        T(test_numbers), T(test_all),  T(test_strings),
        T(test_windows), T(test_once), T(test_arrays),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

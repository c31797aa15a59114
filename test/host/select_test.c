/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The lists of the command line: CPUs, classes, events, numbers; a selection against a capture.
 * What is selected of whole captures: test/host/print/selections.py.
 */
#include <stdlib.h>
#include <string.h>

#include "host/select.h"
#include "test/host/support.h"

static void test_cpus(void **state)
{
    uint64_t mask;

    (void)state;
    assert_int_equal(kymo_parse_cpus("0", &mask), 0);
    assert_int_equal(mask, 1);
    assert_int_equal(kymo_parse_cpus("0,2-3,63", &mask), 0);
    assert_true(mask == (1ull | 12ull | 1ull << 63));
    assert_int_equal(kymo_parse_cpus("0-63", &mask), 0);
    assert_true(mask == UINT64_MAX);
}

static void test_cpus_wrong(void **state)
{
    static const char *const wrong[] = {
        "", "64", "-1", "1-", "3-2", ",", "1,", "a", "1a", "0 1", "99999999999999999999"};
    uint64_t mask;

    (void)state;
    for (unsigned i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
        assert_int_equal(kymo_parse_cpus(wrong[i], &mask), -1);
    }
}

static bool wanted(const char *list, unsigned class, unsigned number)
{
    struct kymo_classes classes = {.any = true};
    struct kev_event event = {.class = (uint8_t) class, .number = (uint16_t)number};
    const char *bad;

    assert_int_equal(kymo_parse_classes(list, &classes, &bad), 0);
    return kymo_class_wanted(&classes, &event);
}

static void test_classes(void **state)
{
    (void)state;
    assert_true(wanted("kercall", TRACE_CLASS_KER_CALL, 11));
    assert_true(wanted("kercall", TRACE_CLASS_KER_CALL, 11 + 256));
    assert_true(wanted("KerCallExit", TRACE_CLASS_KER_CALL, 11 + 128 + 512));
    assert_false(wanted("kercallexit", TRACE_CLASS_KER_CALL, 11));
    assert_true(wanted("kercallint", TRACE_CLASS_KER_CALL, 11 + 256));
    assert_true(wanted("thread", TRACE_CLASS_PR_TH, 24));
    assert_false(wanted("thread", TRACE_CLASS_PR_TH, 320));
    assert_true(wanted("process,int", TRACE_CLASS_PR_TH, 320));
    assert_true(wanted("process,int", TRACE_CLASS_INT, 1));
    assert_false(wanted("process,int", TRACE_CLASS_COMM, 1));
    assert_true(wanted("vthread", TRACE_CLASS_PR_TH, 27));
    assert_true(wanted("user", TRACE_CLASS_USER, 1023));
    assert_true(wanted("system", TRACE_CLASS_SYSTEM, 6));
    assert_true(wanted("control", TRACE_CLASS_CONTROL, 8));
    assert_true(wanted("other", 9, 8));
    for (unsigned kind = 0; kind < 3; kind++) {
        static const char *const names[] = {"kercallenter", "KER_EXIT", "int_call"};

        assert_true(wanted("kercall", TRACE_CLASS_KYMO_CALL, 108 + 128 * kind));
        assert_true(wanted("Kymo_Call", TRACE_CLASS_KYMO_CALL, 108 + 128 * kind + 512));
        assert_false(wanted("kymo_call", TRACE_CLASS_KER_CALL, 11 + 128 * kind));
        for (unsigned name = 0; name < 3; name++) {
            assert_int_equal(wanted(names[name], TRACE_CLASS_KYMO_CALL, 108 + 128 * kind),
                             name == kind);
        }
    }
    assert_false(wanted("other", TRACE_CLASS_KYMO_CALL, 108));
    assert_true(wanted("other", TRACE_CLASS_D, 2));
    assert_true(wanted("d", TRACE_CLASS_D, 2));
    assert_false(wanted("d", 9, 2));
    assert_true(wanted("KER_EXIT", TRACE_CLASS_KER_CALL, 11 + 128));
}

static void test_classes_wrong(void **state)
{
    struct kymo_classes classes = {.any = true};
    const char *bad;

    (void)state;
    assert_int_equal(kymo_parse_classes("int,nonsense", &classes, &bad), -1);
    assert_string_equal(bad, "nonsense");
    assert_int_equal(kymo_parse_classes("", &classes, &bad), -1);
    assert_int_equal(kymo_parse_classes("int,", &classes, &bad), -1);
}

/* A selection by one option against mkcapture's tables: which of these events it has. */
static int select_bind(struct kymo_select *select, unsigned ncpu, int option, const char *value)
{
    struct mk *mk = mk_new(&(struct mk_options){.ncpu = ncpu, .start = 1000});
    struct kev *kev;
    int status;

    mk_workload(mk, 50);
    kev = support_open(mk, NULL);
    kymo_select_init(select);
    status = kymo_select_option(select, "print", option, value);
    status = status == KYMO_OK ? kymo_select_bind(select, "print", kev) : status;
    kev_close(kev);
    mk_free(mk);
    return status;
}

static bool has(const char *events, unsigned class, unsigned number)
{
    struct kev_event event = {.class = (uint8_t) class, .number = (uint16_t)number};
    struct kymo_select *select = calloc(1, sizeof(*select));
    bool selected;

    assert_non_null(select);
    assert_int_equal(select_bind(select, 1, SELECT_EVENT, events), KYMO_OK);
    selected = kymo_select_event(select, &event, NULL, NULL);
    free(select);
    return selected;
}

static void test_events(void **state)
{
    (void)state;
    assert_true(has("THRUNNING", TRACE_CLASS_PR_TH, 1));
    assert_true(has("thrunning", TRACE_CLASS_PR_TH, 1 + 512));
    assert_false(has("THRUNNING", TRACE_CLASS_PR_TH, 2));
    assert_true(has("TH*,MMAP", TRACE_CLASS_PR_TH, 2));
    assert_true(has("TH*,MMAP", TRACE_CLASS_SYSTEM, 6));
    assert_false(has("TH*,MMAP", TRACE_CLASS_SYSTEM, 7));
    assert_true(has("MSG_SENDV", TRACE_CLASS_KER_CALL, 11));
    assert_true(has("MSG_SENDV", TRACE_CLASS_KER_CALL, 11 + 128 + 512));
    assert_true(has("MSG_SENDV", TRACE_CLASS_KER_CALL, 11 + 256));
    assert_false(has("kercallenter:MSG_SENDV", TRACE_CLASS_KER_CALL, 11 + 128));
    assert_true(has("KER_EXIT:MSG_*", TRACE_CLASS_KER_CALL, 11 + 128));
    assert_true(has("kercall:11", TRACE_CLASS_KER_CALL, 11 + 256));
    assert_true(has("NAME_ATTACH", TRACE_CLASS_KYMO_CALL, 108));
    assert_true(has("KER_EXIT:NAME_*", TRACE_CLASS_KYMO_CALL, 108 + 128 + 512));
    assert_false(has("KER_EXIT:NAME_*", TRACE_CLASS_KYMO_CALL, 108));
    assert_true(has("kercall:108", TRACE_CLASS_KYMO_CALL, 108 + 256));
    assert_true(has("kymo_call:*", TRACE_CLASS_KYMO_CALL, 108 + 128));
    assert_false(has("kymo_call:*", TRACE_CLASS_KER_CALL, 11));
    assert_true(has("USER:100", TRACE_CLASS_USER, 100));
    assert_false(has("USER:100", TRACE_CLASS_USER, 100 + 512)); /* 612: another event */
    assert_true(has("user:612", TRACE_CLASS_USER, 612));
    assert_true(has("usrevent:*", TRACE_CLASS_USER, 1023));
    assert_true(has("user:1?", TRACE_CLASS_USER, 17));
    assert_false(has("user:1?", TRACE_CLASS_USER, 117));
    assert_true(has("*", TRACE_CLASS_USER, 3));
    assert_true(has("*", 15, 1000));
    assert_true(has("other:7", 15, 7));
    assert_true(has("control:BUFFER,DROPPED", TRACE_CLASS_CONTROL, 8));
    assert_true(has("INT_ENTR", TRACE_CLASS_INT, 1 + 512));
    assert_true(has("OLD_EVENT", 9, 7)); /* of the capture's own table */
    assert_true(has("[ST]HR*,SND_?ESSAGE", TRACE_CLASS_COMM, 0));
}

static void test_events_wrong(void **state)
{
    static const char *const wrong[] = {"",           "FRED",       "THRUNNIN",
                                        "THRUNNING,", ",THRUNNING", "fred:THRUNNING",
                                        ":THRUNNING", "comm:",      "comm:THRUNNING",
                                        "100",        "user:1024",  "user:99999999999999999999",
                                        "Z*",         "[",          "user:x*"};
    struct kymo_select *select = calloc(1, sizeof(*select));
    char much[200];

    (void)state;
    assert_non_null(select);
    memset(much, 'x', sizeof(much));
    much[199] = '\0';
    assert_int_equal(select_bind(select, 1, SELECT_EVENT, much), KYMO_USAGE);
    for (unsigned i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
        if (select_bind(select, 1, SELECT_EVENT, wrong[i]) != KYMO_USAGE) {
            print_message("%s\n", wrong[i]);
            fail();
        }
    }
    free(select);
}

static void test_bind(void **state)
{
    struct kymo_select *select = calloc(1, sizeof(*select));

    (void)state;
    assert_non_null(select);
    assert_int_equal(select_bind(select, 4, SELECT_CPU, "0-3"), KYMO_OK);
    assert_int_equal(select_bind(select, 4, SELECT_CPU, "4"), KYMO_USAGE);
    assert_int_equal(select_bind(select, 1, SELECT_CPU, "0,63"), KYMO_USAGE);
    assert_int_equal(select_bind(select, 1, SELECT_FROM, "0.5"), KYMO_OK);
    assert_true(select->end == UINT64_MAX && !select->owned);
    assert_true(kymo_select_time(select, select->first) &&
                !kymo_select_time(select, select->first - 1) &&
                kymo_select_time(select, UINT64_MAX));
    assert_int_equal(select_bind(select, 1, SELECT_TO, "0"), KYMO_OK); /* from 0: the clock's */
    assert_false(kymo_select_time(select, select->end));
    assert_int_equal(select_bind(select, 1, SELECT_TO, "0x0"), KYMO_USAGE);
    assert_int_equal(select_bind(select, 1, SELECT_PID, "3,5-7"), KYMO_OK);
    assert_true(select->owned);
    free(select);
}

static void test_ranges(void **state)
{
    static const char *const wrong[] = {"",  ",",  "1,",  "-1",         "3-2",
                                        "a", "1-", "1 2", "2147483648", "1--2"};
    struct kymo_select select;
    struct owner owner = {.known = true};
    char many[8 * SELECT_MOST] = "1";

    (void)state;
    for (unsigned i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
        kymo_select_init(&select);
        assert_int_equal(kymo_select_option(&select, "print", SELECT_PID, wrong[i]), KYMO_USAGE);
    }
    for (unsigned i = 0; i < SELECT_MOST; i++) {
        strcat(many, ",1");
    }
    kymo_select_init(&select);
    assert_int_equal(kymo_select_option(&select, "print", SELECT_TID, many), KYMO_USAGE);
    kymo_select_init(&select);
    assert_int_equal(kymo_select_option(&select, "print", SELECT_PID, "3,5-7"), KYMO_OK);
    assert_int_equal(kymo_select_option(&select, "print", SELECT_PID, "2147483647"), KYMO_OK);
    select.owned = true;
    for (int pid = 0; pid < 10; pid++) {
        owner.pid = pid;
        assert_int_equal(kymo_select_owner(&select, &owner, NULL),
                         pid == 3 || (pid >= 5 && pid <= 7));
    }
    owner.pid = INT32_MAX;
    assert_true(kymo_select_owner(&select, &owner, NULL));
    owner.known = false;
    assert_false(kymo_select_owner(&select, &owner, NULL));
    owner.about = true; /* a process that the event tells of */
    owner.about_pid = 5;
    owner.about_tid = OWNER_NONE;
    assert_true(kymo_select_owner(&select, &owner, NULL));
    assert_int_equal(kymo_select_option(&select, "print", SELECT_TID, "1"), KYMO_OK);
    assert_false(kymo_select_owner(&select, &owner, NULL)); /* no thread of it */
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_cpus),    cmocka_unit_test(test_cpus_wrong),
        cmocka_unit_test(test_classes), cmocka_unit_test(test_classes_wrong),
        cmocka_unit_test(test_events),  cmocka_unit_test(test_events_wrong),
        cmocka_unit_test(test_bind),    cmocka_unit_test(test_ranges),
    };
    int result = cmocka_run_group_tests(tests, NULL, NULL);

    support_remove();
    return result;
}

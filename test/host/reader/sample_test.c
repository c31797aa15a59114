/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Captures that today's Kymo did not write: lines that QNX's manuals and public projects show, made
 * again from the words that they must have had; combine events that are not whole; other versions
 * of the format and of the system page.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "host/temporary.h"
#include "abi/syspage.h"
#include "test/host/support.h"

#define LEN(array) (sizeof(array) / sizeof((array)[0]))

struct capture {
    uint8_t bytes[4096];
    size_t len;
};

static void add(struct capture *capture, const void *bytes, size_t len)
{
    assert_true(capture->len + len <= sizeof(capture->bytes));
    memcpy(capture->bytes + capture->len, bytes, len);
    capture->len += len;
}

static void make(struct capture *capture, const char *head, const struct trace_slot *slots,
                 size_t n)
{
    capture->len = 0;
    add(capture, head, strlen(head));
    add(capture, slots, n * sizeof(*slots));
}

static struct kev *open_capture(const struct capture *capture)
{
    struct kev_options options = {0};
    struct kev_error error;
    struct kev *kev = kev_open(support_file(capture->bytes, capture->len), &options, &error);

    assert_non_null(kev);
    return kev;
}

/* Times are 64 bits here: their low halves, as in the originals. */
static void halve_times(char *text)
{
    for (char *at = strstr(text, "t:0x"); at != NULL; at = strstr(at + 1, "\nt:0x")) {
        char *digits = strstr(at, "0x") + 2;

        memmove(digits, digits + 8, strlen(digits + 8) + 1);
    }
}

static void header_read(struct kev *kev, char *text, size_t room)
{
    struct out *out = calloc(1, sizeof(*out));
    FILE *file = temporary_stream();

    assert_true(out != NULL && file != NULL);
    out->fd = fileno(file);
    line_header(out, kev, false);
    out_flush(out);
    rewind(file);
    text[fread(text, 1, room - 1, file)] = '\0';
    fclose(file);
    free(out);
}

/* The sample of the SAT's manual. */
static void test_manual(void **state)
{
    static const struct trace_slot slots[] = {
        {0x00000402, 0x4f81e320, 33, 714},
        {0x00000401, 0x4f81e320, 0x37b0, 0x4f81e014},
        {0x400010c0, 0x4f82017a, 0, 1},
        {0x800010c0, 0x4f82017a, 0x636f7270, 0x6f6f622f},
        {0x800010c0, 0x4f82017a, 0x72702f74, 0x746e636f},
        {0x800010c0, 0x4f82017a, 0x6d732d6f, 0x6e692d70},
        {0xc00010c0, 0x4f82017a, 0x00727473, 0},
        {0x00001018, 0x4f820f9a, 1, 1},
        {0x00001002, 0x4f821358, 1, 1},
    };
    static const char want[] =
        "TRACEPRINTER version 1.02\n"
        "TRACEPARSER LIBRARY version 1.02\n"
        " -- HEADER FILE INFORMATION --\n"
        "       TRACE_FILE_NAME:: all_classes.kev\n"
        "   TRACE_LITTLE_ENDIAN:: TRUE\n"
        "  TRACE_CYCLES_PER_SEC:: 736629000\n"
        "         TRACE_CPU_NUM:: 1\n"
        "TRACE_TRACELOGGER_ARGS:: tracelogger -d1 -n 3 -f all_classes.kev\n"
        " -- KERNEL EVENTS --\n"
        "t:0x4f81e320 CPU:00 CONTROL: BUFFER sequence = 33, num_events = 714\n"
        "t:0x4f81e320 CPU:00 CONTROL :TIME msb:0x000037b0 lsb(offset):0x4f81e014\n"
        "t:0x4f82017a CPU:00 PROCESS :PROCCREATE_NAME\n"
        "                      ppid:0\n"
        "                       pid:1\n"
        "                      name:proc/boot/procnto-smp-instr\n"
        "t:0x4f820f9a CPU:00 THREAD  :THCREATE      pid:1 tid:1\n"
        "t:0x4f821358 CPU:00 THREAD  :THREADY       pid:1 tid:1\n";
    struct capture capture;
    char got[4096];
    struct kev *kev;
    char *lines;

    (void)state;
    make(&capture,
         "TRACE_HEADER_BEGIN::TRACE_FILE_NAME::all_classes.kevTRACE_LITTLE_ENDIAN::TRUE"
         "TRACE_CYCLES_PER_SEC::736629000TRACE_CPU_NUM::1TRACE_TRACELOGGER_ARGS::tracelogger -d1 "
         "-n 3 "
         "-f all_classes.kevTRACE_HEADER_END::",
         slots, LEN(slots));
    kev = open_capture(&capture);
    header_read(kev, got, sizeof(got));
    lines = support_print(kev, false);
    assert_memory_equal(lines, "t:0x000037b04f81e320 ", 21);
    halve_times(lines);
    assert_true(strlen(got) + strlen(lines) < sizeof(got));
    strcat(got, lines);
    assert_string_equal(got, want);
    free(lines);
    kev_close(kev);
}

static const char plain_head[] = "TRACE_HEADER_BEGIN::TRACE_VER_MAJOR::1TRACE_VER_MINOR::01"
                                 "TRACE_LITTLE_ENDIAN::TRUETRACE_HEADER_END::";

static void expect(const struct trace_slot *slots, size_t n, const char *want, uint64_t broken)
{
    struct capture capture;
    struct kev *kev;
    char *lines;

    make(&capture, plain_head, slots, n);
    kev = open_capture(&capture);
    lines = support_print(kev, false);
    halve_times(lines);
    assert_string_equal(lines, want);
    assert_int_equal(kev_damage(kev)->events, broken);
    free(lines);
    kev_close(kev);
}

/* Lines that other projects show; and a wide thread event where partitions are scheduled. */
static void test_lines(void **state)
{
    static const struct trace_slot slots[] = {
        {0x00000c01, 0x2ccf9f5a, 0x80000000, 0x002d8b18},
        {0x00001864, 0x645dd86d, 2, 0},
        {0x000008d8, 0xd473951c, 2, 10},
        {0x40001001, 0xd4739600, 5, 1},
        {0x80001001, 0xd4739600, 10, 2},
        {0xc0001001, 0xd4739600, 3, 0x11},
    };

    (void)state;
    expect(
        slots, LEN(slots),
        "t:0x2ccf9f5a CPU:00 INT_ENTR:0x80000000 (-2147483648)       IP:0x002d8b18\n"
        "t:0x645dd86d CPU:00 USREVENT:EVENT:100, d0:0x00000002 d1:0x00000000\n"
        "t:0xd473951c CPU:00 KER_EXIT:SCHED_GET/88 ret_val:2 sched_priority:10\n"
        "t:0xd4739600 CPU:00 THREAD  :THRUNNING     pid:5 tid:1 priority:10 policy:2 partition:3 "
        "sched_flags:0x00000011\n",
        0);
}

/* Ends without a beginning, beginnings without an end: the others are whole, and are printed. */
static void test_unbalanced(void **state)
{
    static const struct trace_slot slots[] = {
        {0xc0001803, 0x10, 9, 9}, /* the capture begins inside one */
        {0x40001801, 0x20, 1, 2}, /* never ended */
        {0x40001802, 0x20, 3, 4}, /* another at the same time */
        {0xc0001802, 0x20, 5, 6},  {0x40001801, 0x30, 7, 8}, {0x80001805, 0x30, 0, 0},
        {0xc0001801, 0x30, 9, 10}, {0x40001804, 0x40, 1, 1}, {0x40001804, 0x40, 2, 2},
        {0xc0001804, 0x40, 3, 3},  {0x40001806, 0x50, 4, 4}, /* the capture ends inside it */
    };

    (void)state;
    expect(slots, LEN(slots),
           "t:0x00000020 CPU:00 USREVENT:EVENT:2, d0:0x00000003 d1:0x00000004 d2:0x00000005 "
           "d3:0x00000006\n"
           "t:0x00000030 CPU:00 USREVENT:EVENT:1, d0:0x00000007 d1:0x00000008 d2:0x00000009 "
           "d3:0x0000000a\n"
           "t:0x00000040 CPU:00 USREVENT:EVENT:4, d0:0x00000002 d1:0x00000002 d2:0x00000003 "
           "d3:0x00000003\n",
           5);
}

/* However many are never ended, later ones are joined. */
static void test_many_open(void **state)
{
    struct trace_slot slots[202];

    (void)state;
    for (unsigned i = 0; i < 200; i++) {
        slots[i] = (struct trace_slot){0x40001801, 0x100 + i, i, 0};
    }
    slots[200] = (struct trace_slot){0x40001802, 0x500, 1, 2};
    slots[201] = (struct trace_slot){0xc0001802, 0x500, 3, 4};
    expect(slots, LEN(slots),
           "t:0x00000500 CPU:00 USREVENT:EVENT:2, d0:0x00000001 d1:0x00000002 d2:0x00000003 "
           "d3:0x00000004\n",
           200);
}

/* Opens mk's capture with its `from` replaced by `to`, of the same length: NULL, or what
 * is wrong. */
static const char *opens_with(const void *from, const void *to, size_t len)
{
    static struct kev_error error;
    struct kev_options options = {0};
    struct mk *mk = mk_new(&(struct mk_options){.ncpu = 1});
    uint8_t *at = memmem(mk->bytes, mk->len, from, len);
    struct kev *kev;

    assert_non_null(at);
    memcpy(at, to, len);
    kev = kev_open(support_file(mk->bytes, mk->len), &options, &error);
    mk_free(mk);
    if (kev == NULL) {
        return error.text;
    }
    kev_close(kev);
    return NULL;
}

static void test_versions(void **state)
{
    static const uint32_t page[2] = {KYMO_SYSPAGE_MAGIC, KYMO_SYSPAGE_VERSION};
    static const uint32_t newer[2] = {KYMO_SYSPAGE_MAGIC, KYMO_SYSPAGE_VERSION + 1};
    const char *minor = "VER_MINOR::01", *major = "VER_MAJOR::1";

    (void)state;
    assert_null(opens_with(minor, "VER_MINOR::01", 13));
    assert_null(opens_with(minor, "VER_MINOR::02", 13)); /* it has no slots: cut, is said later */
    assert_non_null(strstr(opens_with(minor, "VER_MINOX::01", 13), "lacks TRACE_VER_MINOR"));
    assert_null(opens_with(major, "VER_MAJOX::1", 12));
    assert_non_null(strstr(opens_with(minor, "VER_MINOR::00", 13), "format version 1.00, only"));
    assert_non_null(strstr(opens_with(major, "VER_MAJOR::2", 12), "format version 2, only"));
    assert_non_null(strstr(opens_with(major, "VER_MAJOR::0", 12), "format version 0, only"));
    assert_non_null(strstr(opens_with(page, newer, 8), "system page version 5, only"));
}

/* Each table of a page, of each version, may end with the page and not after it. */
static void test_tables_outside(void **state)
{
    static const size_t fields[] = {
        offsetof(struct kymo_syspage, build_id_off), offsetof(struct kymo_syspage, events_off),
        offsetof(struct kymo_syspage, kercalls_off), offsetof(struct kymo_syspage, states_off),
        offsetof(struct kymo_syspage, irqs_off),     offsetof(struct kymo_syspage, errors_off)};
    static const uint32_t magic = KYMO_SYSPAGE_MAGIC;

    (void)state;
    for (unsigned i = 0; i < 3 * 6 * 3; i++) {
        unsigned version = i % 3, field = i / 3 % 6, how = i / 18;
        struct mk *mk = mk_new(&(struct mk_options){.ncpu = 1, .page = version});
        uint8_t *page = memmem(mk->bytes, mk->len, &magic, 4);
        uint32_t place[2] = {0, 0}, size = (uint32_t)(mk->bytes + mk->len - page);
        struct kev_options options = {0};
        struct kev_error error = {0};

        place[0] = how == 0 ? size : how == 1 ? size + 1 : 0;
        place[1] = how == 2 ? size + 1 : 0;
        if (field < 5 || version == 0) {
            memcpy(page + fields[field], place, sizeof(place));
        }
        struct kev *kev = kev_open(support_file(mk->bytes, mk->len), &options, &error);
        assert_int_equal(kev != NULL, how == 0 || (field == 5 && version != 0));
        if (kev == NULL) {
            assert_non_null(strstr(error.text, "lies outside it"));
        } else {
            kev_close(kev);
        }
        mk_free(mk);
    }
}

/* A page whose tables are empty, as if it were from before they were there: the reader's own. */
static void test_no_tables(void **state)
{
    struct mk *mk = mk_new(&(struct mk_options){.ncpu = 1});
    static const uint32_t words[2] = {5, 1}, magic = KYMO_SYSPAGE_MAGIC;
    uint8_t *page = memmem(mk->bytes, mk->len, &magic, 4);
    struct kev *kev;
    char *lines;

    (void)state;
    assert_non_null(page);
    memset(page + offsetof(struct kymo_syspage, events_off), 0, 8);
    memset(page + offsetof(struct kymo_syspage, kercalls_off), 0, 8);
    memset(page + offsetof(struct kymo_syspage, states_off), 0, 8);
    memset(page + offsetof(struct kymo_syspage, irqs_off), 0, 8);
    mk_event(mk, 0, 1, TRACE_CLASS_PR_TH, 13, words, 2);
    mk_event(mk, 0, 1, TRACE_CLASS_KER_CALL, 80, words, 2);
    mk_flush_all(mk);
    kev = support_open(mk, NULL);
    lines = support_print(kev, false);
    assert_non_null(strstr(lines, "THREAD  :THMUTEX       pid:5 tid:1\n"));
    assert_non_null(strstr(lines, "KER_CALL:SYNC_MUTEX_LOCK/80 "));
    free(lines);
    kev_close(kev);
    mk_free(mk);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_manual),     cmocka_unit_test(test_lines),
        cmocka_unit_test(test_unbalanced), cmocka_unit_test(test_many_open),
        cmocka_unit_test(test_versions),   cmocka_unit_test(test_tables_outside),
        cmocka_unit_test(test_no_tables),
    };
    int result = cmocka_run_group_tests(tests, NULL, NULL);

    support_remove();
    return result;
}

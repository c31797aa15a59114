/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The shape of every kind of line.
 */
#include <stdlib.h>
#include <string.h>

#include "host/reader/reader.h"
#include "test/host/support.h"

struct expect {
    unsigned class, event;
    uint32_t words[16];
    unsigned nwords;
    const char *text; /* string after the words, or NULL */
    const char *line; /* after time and CPU */
};

/* Beside mkcapture's: constants of four characters, and names that a terminal would obey. */
static const char more_events[] = "9 5 TAGGED S:tag,D:n S:tag,S:other,D:n\n"
                                  "9 6 ESC\033[31m H:a\033[31mb,D:c\x7f =\n";

/* Prints one event. */
static void check(const struct expect *expect, bool one_line)
{
    struct mk *mk = mk_new(&(struct mk_options){.ncpu = 1, .events = more_events});
    char *text, *line;
    struct kev *kev;

    if (expect->text != NULL) {
        mk_string(mk, 0, 1, expect->class, expect->event, expect->words, expect->nwords,
                  expect->text);
    } else {
        mk_event(mk, 0, 1, expect->class, expect->event, expect->words, expect->nwords);
    }
    mk_flush_all(mk);
    kev = support_open(mk, NULL);
    text = support_print(kev, one_line);
    line = strchr(strchr(text, '\n') + 1, '\n') + 1; /* after BUFFER and TIME */
    assert_memory_equal(line, "t:0x0000000000000002 CPU:00 ", 28);
    assert_string_equal(line + 28, expect->line);
    free(text);
    kev_close(kev);
    mk_free(mk);
}

#define CALL TRACE_CLASS_KER_CALL
#define OWN TRACE_CLASS_KYMO_CALL
#define M1 0xffffffffu
#define T1 0x5458544bu
#define T2 0xaba7abb4u

static const struct expect shapes[] = {
    {CALL, 90, {0}, 2, NULL, "KER_CALL:SCHED_YIELD/90\n"},
    {CALL, 90 + 128, {0}, 2, NULL, "KER_EXIT:SCHED_YIELD/90 ret_val:0\n"},
    {CALL, 90 + 256, {0}, 2, NULL, "INT_CALL:SCHED_YIELD/90\n"},
    {CALL, 11, {3, 9}, 2, NULL, "KER_CALL:MSG_SENDV/11 coid:0x00000003 msg0:0x00000009\n"},
    {CALL,
     11 + 512,
     {3, 0, 9, 1},
     4,
     NULL,
     "KER_CALL:MSG_SENDV/11 coid:0x00000003 msg0:0x0000000100000009\n"},
    {CALL,
     11,
     {3, 0xfffffff0u, 1, 7, 8, 9},
     6,
     NULL,
     "KER_CALL:MSG_SENDV/11\n"
     "                      coid:0x00000003\n"
     "                    sparts:-16\n"
     "                    rparts:1\n"
     "                      msg0:0x00000007\n"
     "                      msg1:0x00000008\n"
     "                      msg2:0x00000009\n"},
    {CALL, 11 + 128, {5, 6}, 2, NULL, "KER_EXIT:MSG_SENDV/11 ret_val:5 rmsg0:0x00000006\n"},
    {CALL, 11 + 128, {M1, 22}, 2, NULL, "KER_EXIT:MSG_SENDV/11 ret_val:-1, errno:22 (EINVAL)\n"},
    {CALL, 11 + 128, {M1, 23}, 2, NULL, "KER_EXIT:MSG_SENDV/11 ret_val:-1, errno:23\n"},
    {CALL, 11 + 128, {M1, M1}, 2, NULL, "KER_EXIT:MSG_SENDV/11 ret_val:-1, errno:-1\n"},
    {CALL,
     11 + 128 + 512,
     {M1, M1, 116, 0},
     4,
     NULL,
     "KER_EXIT:MSG_SENDV/11 ret_val:-1, errno:116 (ETIMEDOUT)\n"},
    {OWN, 108, {0x400010, 3}, 2, NULL, "KER_CALL:NAME_ATTACH/108 name:0x00400010 chid:3\n"},
    {OWN, 108, {3, 0}, 2, NULL, "KER_CALL:NAME_ATTACH/108 name:0x00000003 chid:0\n"},
    {OWN,
     108 + 512,
     {3, 0, 9, 1},
     4,
     NULL,
     "KER_CALL:NAME_ATTACH/108 name:0x0000000000000003 chid:4294967305\n"},
    {OWN, 108 + 128, {M1, 22}, 2, NULL, "KER_EXIT:NAME_ATTACH/108 ret_val:-1, errno:22 (EINVAL)\n"},
    {OWN, 108 + 256, {0}, 2, NULL, "INT_CALL:NAME_ATTACH/108\n"},
    {OWN, 127, {1, 2}, 2, NULL, "KER_CALL:EVENT:127 d0:0x00000001 d1:0x00000002\n"},
    /* QNX 7 has another call of that number. */
    {CALL, 108, {3, 0}, 2, NULL, "KER_CALL:EVENT:108 d0:0x00000003 d1:0x00000000\n"},
    {CALL, 22, {1, 2}, 2, NULL, "KER_CALL:MSG_KEYDATA/22 d1:0x00000001 d2:0x00000002\n"},
    {TRACE_CLASS_PR_TH, 27, {5, 1}, 2, NULL, "VTHREAD :VTHRUNNING    pid:5 tid:1\n"},
    {TRACE_CLASS_PR_TH, 64, {1, 5}, 2, NULL, "PROCESS :PROCCREATE    ppid:1 pid:5\n"},
    {TRACE_CLASS_SYSTEM,
     10,
     {16, 32},
     2,
     NULL,
     "SYSTEM  :FUNC_ENTER    thisfn:0x00000010 call_site:0x00000020\n"},
    {TRACE_CLASS_CONTROL,
     4,
     {0xe6e6e6e6u, 0xe6e6e6e6u},
     2,
     NULL,
     "CONTROL :BUFFER_END    d1:0xe6e6e6e6 d2:0xe6e6e6e6\n"},
    {CALL, 127, {1, 2}, 2, NULL, "KER_CALL:EVENT:127 d0:0x00000001 d1:0x00000002\n"},
    {TRACE_CLASS_INT, 1, {27, 0x2d8b18}, 2, NULL, "INT_ENTR:0x0000001b (27)       IP:0x002d8b18\n"},
    {TRACE_CLASS_INT,
     1 + 512,
     {0x80000000u, 0x80001000u, 0xffffff80u},
     3,
     NULL,
     "INT_ENTR:0x80000000 (-2147483648)       IP:0xffffff8080001000\n"},
    {TRACE_CLASS_INT, 2, {27, 1}, 2, NULL, "INT_EXIT:0x0000001b (27) inkernel:0x00000001\n"},
    {TRACE_CLASS_INT,
     3,
     {4, 27, 0x10, 0x20},
     4,
     NULL,
     "INT_HANDLER_ENTR:0x0000001b (27)       PID:4 IP:0x00000010 AREA:0x00000020\n"},
    {TRACE_CLASS_INT,
     4,
     {27, 4, 1, 5, 0x99},
     5,
     NULL,
     "INT_HANDLER_EXIT:0x0000001b (27) SIGEVENT:PULSE coid:1 code:5 value:0x00000099\n"},
    {TRACE_CLASS_INT,
     4,
     {27, 0, 0, 0, 0},
     5,
     NULL,
     "INT_HANDLER_EXIT:0x0000001b (27) SIGEVENT:NONE\n"},
    {TRACE_CLASS_PR_TH, 1, {5, 1}, 2, NULL, "THREAD  :THRUNNING     pid:5 tid:1\n"},
    {TRACE_CLASS_PR_TH,
     1,
     {5, 1, 10, 2},
     4,
     NULL,
     "THREAD  :THRUNNING     pid:5 tid:1 priority:10 policy:2\n"},
    {TRACE_CLASS_PR_TH, 7, {5, 1}, 2, NULL, "THREAD  :THSTACK       pid:5 tid:1\n"},
    {TRACE_CLASS_PR_TH, 24, {5, 1}, 2, NULL, "THREAD  :THCREATE      pid:5 tid:1\n"},
    {TRACE_CLASS_PR_TH, 128, {1, 5}, 2, NULL, "PROCESS :PROCDESTROY   ppid:1 pid:5\n"},
    {TRACE_CLASS_PR_TH,
     192,
     {0, 1},
     2,
     "proc/boot",
     "PROCESS :PROCCREATE_NAME\n"
     "                      ppid:0\n"
     "                       pid:1\n"
     "                      name:proc/boot\n"},
    {TRACE_CLASS_SYSTEM,
     6,
     {5, 0x1000, 0, 0x2000, 0, 3},
     6,
     NULL,
     "SYSTEM  :MMAP\n"
     "                       pid:5\n"
     "                      addr:0x0000000000001000\n"
     "                       len:0x0000000000002000\n"
     "                     flags:0x00000003\n"},
    {TRACE_CLASS_SYSTEM,
     12,
     {1, 2},
     2,
     "a\033[31m\\b\n",
     "SYSTEM  :SLOG\n"
     "                    opcode:1\n"
     "                  severity:2\n"
     "                      text:a\\033[31m\\\\b\\012\n"},
    {TRACE_CLASS_COMM, 0, {0x408, 5}, 2, NULL, "COMM    :SND_MESSAGE   rcvid:0x00000408 pid:5\n"},
    {TRACE_CLASS_COMM, 10, {1, 5}, 2, NULL, "COMM    :REPLY_MESSAGE tid:1 pid:5\n"},
    {TRACE_CLASS_USER, 100, {2, 0}, 2, NULL, "USREVENT:EVENT:100, d0:0x00000002 d1:0x00000000\n"},
    {TRACE_CLASS_USER,
     3,
     {1, 2, 3, 4, 5},
     5,
     NULL,
     "USREVENT:EVENT:3, d0:0x00000001 d1:0x00000002 d2:0x00000003 d3:0x00000004\n"
     "                      d4:0x00000005 d5:0x00000000\n"},
    {TRACE_CLASS_USER, 3, {0}, 0, "hello world", "USREVENT:EVENT:3 STR:\"hello world\"\n"},
    {TRACE_CLASS_USER, 3, {0}, 0, "hello", "USREVENT:EVENT:3 STR:\"hello\"\n"},
    /* Short strings are marked, whatever is in them; without the mark they are numbers. */
    {TRACE_CLASS_USER, 3, {0, 0, T1, T2}, 4, NULL, "USREVENT:EVENT:3 STR:\"\"\n"},
    {TRACE_CLASS_USER, 3, {0x61, 0, T1, T2}, 4, NULL, "USREVENT:EVENT:3 STR:\"a\"\n"},
    {TRACE_CLASS_USER, 3, {0x1b, 0, T1, T2}, 4, NULL, "USREVENT:EVENT:3 STR:\"\\033\"\n"},
    {TRACE_CLASS_USER,
     3,
     {0x64636261, 0x676665, T1, T2},
     4,
     NULL,
     "USREVENT:EVENT:3 STR:\"abcdefg\"\n"},
    {TRACE_CLASS_USER,
     3,
     {0x64636261, 0x68676665, T1, T2},
     4,
     NULL,
     "USREVENT:EVENT:3, d0:0x64636261 d1:0x68676665 d2:0x5458544b d3:0xaba7abb4\n"},
    {TRACE_CLASS_USER,
     3,
     {0x61, 0, T1, 0},
     4,
     NULL,
     "USREVENT:EVENT:3, d0:0x00000061 d1:0x00000000 d2:0x5458544b d3:0x00000000\n"},
    {TRACE_CLASS_USER,
     3,
     {0x61616161, 0},
     2,
     NULL,
     "USREVENT:EVENT:3, d0:0x61616161 d1:0x00000000\n"},
    {TRACE_CLASS_CONTROL,
     8,
     {0x206, 77},
     2,
     NULL,
     "CONTROL: DROPPED class = USER, num_events = 77, reason = no buffer\n"},
    /* Four-character constants: as many characters as stand before the first zero byte. */
    {9, 5, {0x64636261u, 7}, 2, NULL, "SEC:TAGGED        tag:abcd (0x64636261) n:7\n"},
    {9, 5, {0x00006261u, M1}, 2, NULL, "SEC:TAGGED        tag:ab (0x00006261) n:-1\n"},
    {9, 5, {0, 0}, 2, NULL, "SEC:TAGGED        tag: (0x00000000) n:0\n"},
    {9, 5, {0x64630061u, 0}, 2, NULL, "SEC:TAGGED        tag:a (0x64630061) n:0\n"},
    {9, 5, {0x6d335b1bu, 0}, 2, NULL, "SEC:TAGGED        tag:\\033[3m (0x6d335b1b) n:0\n"},
    {9, 5, {0xff9b5c20u, 0}, 2, NULL, "SEC:TAGGED        tag: \\\\\\233\\377 (0xff9b5c20) n:0\n"},
    {9,
     5,
     {0x64636261u, 0x6867u, 3},
     3,
     NULL,
     "SEC:TAGGED\n"
     "                       tag:abcd (0x64636261)\n"
     "                     other:gh (0x00006867)\n"
     "                         n:3\n"},
    /* A capture's own names are shown, not obeyed. */
    {9, 6, {1, 2}, 2, NULL, "SEC:ESC?[31m      a?[31mb:0x00000001 c?:2\n"},
    {9, 7, {1, 2}, 2, NULL, "SEC:OLD_EVENT     x:0x00000001 y:2\n"},
    {12, 2, {1, 2}, 2, NULL, "D:EVENT:2 d0:0x00000001 d1:0x00000002\n"},
    {15, 7, {1, 2}, 2, NULL, "CLASS 15:EVENT:7 d0:0x00000001 d1:0x00000002\n"},
};

static void test_shapes(void **state)
{
    (void)state;
    for (unsigned i = 0; i < sizeof(shapes) / sizeof(shapes[0]); i++) {
        check(&shapes[i], false);
    }
}

static const struct expect one_liners[] = {
    {CALL,
     11,
     {3, 0xfffffff0u, 1, 7, 8, 9},
     6,
     NULL,
     "KER_CALL:MSG_SENDV/11 coid:0x00000003 sparts:-16 rparts:1 msg0:0x00000007 "
     "msg1:0x00000008 msg2:0x00000009\n"},
    {TRACE_CLASS_PR_TH,
     192,
     {0, 1},
     2,
     "init",
     "PROCESS :PROCCREATE_NAME ppid:0 pid:1 name:init\n"},
    {TRACE_CLASS_SYSTEM,
     7,
     {5, 0x1000, 0, 0x2000, 0},
     5,
     NULL,
     "SYSTEM  :MUNMAP        pid:5 addr:0x0000000000001000 len:0x0000000000002000\n"},
};

static void test_one_line(void **state)
{
    (void)state;
    for (unsigned i = 0; i < sizeof(one_liners) / sizeof(one_liners[0]); i++) {
        check(&one_liners[i], true);
    }
}

struct dialect {
    unsigned class, event;
    uint32_t words[8];
    unsigned nwords;
    const char *six, *seven, *eight; /* after time and CPU; NULL: as the one before */
};

/* What --style changes: the message's words, numbers of calls, sequences; errors have no names. */
static const struct dialect dialects[] = {
    {CALL,
     11,
     {3, 0x64636261u},
     2,
     "KER_CALL:MSG_SENDV/11 coid:0x00000003 msg:\"abcd\" (0x64636261)\n",
     "KER_CALL        :MSG_SENDV/11       coid:0x00000003 msg:\"abcd\" (0x64636261)\n",
     "KER_CALL        :MSG_SENDV/11       coid:0x00000003 msg[0]:\"abcd\" (0x64636261)\n"},
    {CALL,
     11,
     {3, 0xfffffff0u, 1, 0x22075c41u, 0, 0x1b7f80ffu},
     6,
     "KER_CALL:MSG_SENDV/11 coid:0x00000003 sparts:-16 rparts:1 msg[0]:\"A\\\"\" (0x22075c41) "
     "msg[1]:\"\" (0x00000000) msg[2]:\"\" (0x1b7f80ff)\n",
     "KER_CALL        :MSG_SENDV/11       coid:0x00000003 sparts:-16 rparts:1 "
     "msg[0]:\"A\\\"\" (0x22075c41) msg[1]:\"\" (0x00000000) msg[2]:\"\" (0x1b7f80ff)\n",
     NULL},
    {CALL,
     11 + 128,
     {5, 0x40116},
     2,
     "KER_EXIT:MSG_SENDV/11 ret_val:5 rmsg:\"\" (0x00040116)\n",
     "KER_EXIT        :MSG_SENDV/11       ret_val:5 rmsg:\"\" (0x00040116)\n",
     "KER_EXIT        :MSG_SENDV/11       ret_val:5 rmsg[0]:\"\" (0x00040116)\n"},
    {CALL,
     11 + 512,
     {3, 0, 0x64636261u, 1},
     4,
     "KER_CALL:MSG_SENDV/11 coid:0x00000003 msg:\"abcd\" (0x0000000164636261)\n",
     "KER_CALL        :MSG_SENDV/11       coid:0x00000003 msg:\"abcd\" (0x0000000164636261)\n",
     "KER_CALL        :MSG_SENDV/11       coid:0x00000003 msg[0]:\"abcd\" (0x0000000164636261)\n"},
    {CALL,
     15,
     {3, 0xfffffff0u, 7, 0x64636261u, 8, 9},
     6,
     "KER_CALL:MSG_REPLYV/15 rcvid:0x00000003 sparts:-16 status:7 smsg[0]:\"abcd\" (0x64636261) "
     "smsg[1]:\"\" (0x00000008) smsg[2]:\"\" (0x00000009)\n",
     "KER_CALL        :MSG_REPLYV/15      rcvid:0x00000003 sparts:-16 status:7 "
     "smsg[0]:\"abcd\" (0x64636261) smsg[1]:\"\" (0x00000008) smsg[2]:\"\" (0x00000009)\n",
     NULL},
    {CALL,
     11 + 128,
     {M1, 22},
     2,
     "KER_EXIT:MSG_SENDV/11 ret_val:-1, errno:22\n",
     "KER_EXIT        :MSG_SENDV/11       ret_val:-1, errno:22\n",
     NULL},
    {CALL,
     1,
     {10, 0},
     2,
     "KER_CALL:TRACE_EVENT/01 cmd:0x0000000a a1:0x00000000\n",
     "KER_CALL        :TRACE_EVENT/01     cmd:0x0000000a a1:0x00000000\n",
     NULL},
    {CALL,
     1 + 256,
     {0},
     2,
     "INT_CALL:KER_TRACE_EVENT/1\n",
     "INT_CALL        :KER_TRACE_EVENT/1 \n",
     NULL},
    {TRACE_CLASS_PR_TH,
     1,
     {5, 1, 10, 2},
     4,
     "THREAD  :THRUNNING     pid:5 tid:1 priority:10 policy:2\n",
     "THREAD          :THRUNNING          pid:5 tid:1 priority:10 policy:2\n",
     NULL},
    {TRACE_CLASS_INT,
     1,
     {27, 0x2d8b18},
     2,
     "INT_ENTR:0x0000001b (27)       IP:0x002d8b18\n",
     "INT_ENTR        :0x0000001b (27)    IP:0x002d8b18\n",
     NULL},
    {TRACE_CLASS_USER,
     7,
     {0x6c6c6568, 0x6f},
     2,
     "USREVENT:EVENT:7 STR:\"hello\"\n",
     "USREVENT        :EVENT:7            STR:\"hello\"\n",
     NULL},
};

static void check_dialect(const struct dialect *row, enum line_dialect dialect,
                          const char *expected)
{
    struct mk *mk = mk_new(&(struct mk_options){.ncpu = 1, .start = UINT64_C(0x1234567890)});
    struct format format;
    const char *bad,
        *head = dialect == LINE_QNX6 ? "t:0x34567892 CPU:00 " : "t:0x1234567892 CPU:00 ";

    assert_int_equal(format_parse(&format, FORMAT_DEFAULT, &bad), 0);
    mk_event(mk, 0, 1, row->class, row->event, row->words, row->nwords);
    mk_flush_all(mk);
    struct kev *kev = support_open(mk, NULL);
    char *text = support_print_dialect(kev, dialect, dialect == LINE_QNX6 ? NULL : &format);
    const char *line = strchr(strchr(text, '\n') + 1, '\n') + 1;

    assert_memory_equal(line, head, strlen(head));
    assert_string_equal(line + strlen(head), expected);
    free(text);
    kev_close(kev);
    mk_free(mk);
}

static void test_dialects(void **state)
{
    (void)state;
    for (unsigned i = 0; i < sizeof(dialects) / sizeof(dialects[0]); i++) {
        const struct dialect *row = &dialects[i];

        check_dialect(row, LINE_QNX6, row->six);
        check_dialect(row, LINE_QNX7, row->seven);
        check_dialect(row, LINE_QNX8, row->eight == NULL ? row->seven : row->eight);
    }
}

/* Of sequences traceprinter 6 shows 11 bits. */
static void test_dialect_sequence(void **state)
{
    static const uint32_t words[] = {0x1805, 3};
    const struct kev_event buffer = {
        .class = TRACE_CLASS_CONTROL, .number = 2, .words = words, .nwords = 2};
    struct mk *mk = mk_new(&(struct mk_options){.ncpu = 1});
    struct kev *kev = support_open(mk, NULL);

    (void)state;
    for (unsigned dialect = LINE_KYMO; dialect <= LINE_QNX8; dialect++) {
        struct line_style style = {.dialect = (enum line_dialect)dialect};
        struct out *out = calloc(1, sizeof(*out));

        line_event(out, kev, &buffer, &style);
        assert_non_null(strstr(out->bytes, dialect == LINE_QNX6 ? " sequence = 5, num_events = 3\n"
                                                                : " sequence = 6149, "));
        free(out);
    }
    kev_close(kev);
    mk_free(mk);
}

/* Every row of the event table: as many fields as the form has, whatever the form. */
static void test_every_row(void **state)
{
    struct mk *mk = mk_new(&(struct mk_options){.ncpu = 1});
    struct kev *kev = support_open(mk, NULL);
    uint32_t words[64];
    unsigned rows = 0;

    (void)state;
    memset(words, 0x41, sizeof(words));
    for (unsigned i = 0; i < KEV_CLASSES * 1024; i++) {
        const struct kev_desc *desc = kev_describe(kev, i / 1024, i % 1024);
        struct kev_event event = {.class = (uint8_t)(i / 1024), .number = (uint16_t)(i % 1024)};
        struct kev_field fields[KEV_ARGS_MAX];

        if (desc == NULL) {
            continue;
        }
        rows++;
        for (event.nwords = 0; event.nwords <= 64; event.nwords += 2) {
            event.words = words;
            assert_true(kev_decode(&event, desc, fields) <= KEV_ARGS_MAX);
        }
    }
    assert_true(rows > 300);
    kev_close(kev);
    mk_free(mk);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_shapes),    cmocka_unit_test(test_one_line),
        cmocka_unit_test(test_dialects),  cmocka_unit_test(test_dialect_sequence),
        cmocka_unit_test(test_every_row),
    };
    int result = cmocka_run_group_tests(tests, NULL, NULL);

    support_remove();
    return result;
}

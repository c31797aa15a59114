/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Events that a program puts into the trace by the library's helpers, and what it may not. Each is
 * told on the console too, `TRUTH <step> <the line>`; test/board/events.py looks for that line in
 * the print of the capture, after the step's mark. Runs while tracelogger records; instrumented.c
 * is compiled with -finstrument-functions.
 */
#include <stdarg.h>
#include <stdio.h>

#include "lib/include/sys/slog.h"
#include "lib/include/sys/trace.h"
#include "test/board/programs/check.h"
#include "test/board/programs/instrumented.h"
#include "test/board/programs/truth.h"

static void words(void)
{
    truth_step();
    EXPECT_EQ(trace_logi(0, 0, 0xffffffff), 0);
    truth("USREVENT:EVENT:0, d0:0x00000000 d1:0xffffffff");
    truth_step();
    EXPECT_EQ(trace_logi(1023, 0x80000000, 12345), 0);
    truth("USREVENT:EVENT:1023, d0:0x80000000 d1:0x%08x", 12345);
    EXPECT_ERR(trace_logi(1024, 1, 2), EINVAL);
    EXPECT_ERR(trace_logi(~0u, 1, 2), EINVAL);
}

static int nlogf_of(int max, const char *format, ...) __attribute__((format(printf, 2, 3)));
static int nlogf_of(int max, const char *format, ...)
{
    va_list list;

    va_start(list, format);
    int result = trace_vnlogf(41, max, format, list);
    va_end(list);
    return result;
}

static void texts(void)
{
    char longest[300];

    memset(longest, 'y', sizeof(longest));
    longest[sizeof(longest) - 1] = '\0';
    for (unsigned len = 0; len < 9; len++) {
        const char *text = &"abcdefgh"[8 - len];

        truth_step();
        EXPECT_EQ(trace_logf(39, "%s", text), 0);
        truth("USREVENT:EVENT:39 STR:\"%s\"", text);
    }
    truth_step();
    EXPECT_EQ(trace_logf(38, "%c", '\033'), 0);
    truth("USREVENT:EVENT:38 STR:\"\\033\"");
    truth_step();
    EXPECT_EQ(trace_logf(40, "%s=%d%%", "load", 97), 0);
    truth("USREVENT:EVENT:40 STR:\"load=97%%\"");
    truth_step();
    EXPECT_EQ(nlogf_of(13, "%d things", 1234567), 0);
    truth("USREVENT:EVENT:41 STR:\"1234567 thin\"");
    truth_step();
    EXPECT_EQ(trace_nlogf(42, 1 << 30, "all of %c", 'x'), 0);
    truth("USREVENT:EVENT:42 STR:\"all of x\"");
    truth_step();
    EXPECT_EQ(trace_logs(43, longest), 0);
    longest[KYMO_TRACE_USER_COMBINE_MAX - 1] = '\0';
    EXPECT_EQ(trace_logf(44, "%s and more", longest), 0);
    truth_long("USREVENT:EVENT:43 STR:", longest);
    truth_long("USREVENT:EVENT:44 STR:", longest);
    EXPECT_ERR(trace_nlogf(45, 0, "x"), EINVAL);
    EXPECT_ERR(trace_nlogf(45, -1, "x"), EINVAL);
    EXPECT_ERR(trace_logf(1024, "x"), EINVAL);
}

/* Every length up to beyond the kernel's fast path, at each alignment, with bytes after the NUL
 * that a search by words could take for one. */
static void texts_of_every_length(void)
{
    char text[80];

    for (unsigned len = 0; len < 70; len++) {
        char *from = text + len % 5;

        memset(text, 1, sizeof(text));
        for (unsigned i = 0; i < len; i++) {
            from[i] = (char)('a' + (i + len) % 26);
        }
        from[len] = '\0';
        truth_step();
        EXPECT_EQ(trace_logs(46, from), 0);
        truth("USREVENT:EVENT:46 STR:\"%s\"", from);
    }
}

static void bytes(void)
{
    static const uint8_t data[KYMO_TRACE_USER_COMBINE_MAX + 1] = {1, 2, 3, 4, 5, 6, 7, 8, 9};

    truth_step();
    EXPECT_EQ(trace_logb(50, data, 9), 0);
    truth("USREVENT:EVENT:50, d0:0x04030201 d1:0x08070605 d2:0x00000009 d3:0x00000000");
    truth_step();
    EXPECT_EQ(trace_logb(51, data + 4, 5), 0);
    truth("USREVENT:EVENT:51, d0:0x08070605 d1:0x00000009");
    EXPECT_EQ(trace_logb(52, NULL, 0), 0);
    EXPECT_EQ(trace_logb(52, data, KYMO_TRACE_USER_COMBINE_MAX), 0);
    EXPECT_ERR(trace_logb(52, data, KYMO_TRACE_USER_COMBINE_MAX + 1), EINVAL);
    EXPECT_ERR(trace_logb(1024, data, 4), EINVAL);
}

static void classes(void)
{
    static const uint32_t data[] = {7, 2, 0x6c6c6568, 0x0000006f};

    truth_step();
    EXPECT_EQ(trace_logbc(TRACE_CLASS_SYSTEM, _NTO_TRACE_SYS_SLOG, data, sizeof(data)), 0);
    truth("SYSTEM :SLOG opcode:7 severity:2 text:hello");
    truth_step();
    EXPECT_EQ(trace_logbc(TRACE_CLASS_USER, 60, data, 8), 0);
    truth("USREVENT:EVENT:60, d0:0x00000007 d1:0x00000002");
    EXPECT_ERR(trace_logbc(TRACE_CLASS_PR_TH, STATE_READY, data, 8), EPERM);
    EXPECT_ERR(trace_logbc(TRACE_CLASS_KER_CALL, 11, data, 8), EPERM);
    EXPECT_ERR(trace_logbc(TRACE_CLASS_KYMO_CALL, 108, data, 8), EPERM);
    EXPECT_ERR(trace_logbc(TRACE_CLASS_SYSTEM, _NTO_TRACE_SYS_MMAP, data, 8), EPERM);
    EXPECT_ERR(trace_logbc(TRACE_CLASS_COMM, 0, data, 8), EPERM);
    EXPECT_ERR(trace_logbc(TRACE_CLASS_CONTROL, TRACE_CONTROL_TIME, data, 8), ENOTSUP);
    EXPECT_ERR(trace_logbc(TRACE_CLASS_D, 1, data, 8), ENOTSUP);
    EXPECT_ERR(trace_logbc(99, 1, data, 8), ENOTSUP);
    EXPECT_ERR(TraceEvent((int)_NTO_TRACE_INSERTCCLASSEVENT, TRACE_CLASS_SYSTEM,
                          _NTO_TRACE_SYS_SLOG, (void *)4, 4),
               EFAULT);
    EXPECT_ERR(TraceEvent((int)_NTO_TRACE_INSERTCCLASSEVENT, TRACE_CLASS_SYSTEM,
                          _NTO_TRACE_SYS_SLOG, data, 65),
               EINVAL);
}

static void lines(void)
{
    truth_step();
    EXPECT_EQ(slogf(_SLOG_SETCODE(7, 3), _SLOG_WARNING, "%d of %s", 3, "them"), 0);
    truth("SYSTEM :SLOG opcode:7003 severity:3 text:3 of them");
    EXPECT_ERR(slogf(1, _SLOG_DEBUG2 + 1, "x"), EINVAL);
    EXPECT_ERR(slogf(1, -1, "x"), EINVAL);
}

static __attribute__((noinline)) void here(void)
{
    EXPECT_EQ(trace_here(), 0);
}

/* trace_here()'s place lies in the function that called it. */
static void places(void)
{
    truth_step();
    uintptr_t from = (uintptr_t)&here & ~(uintptr_t)1;
    here();
    truth("SYSTEM :ADDRESS addr:within:%#lx:64 word:0x00000000", (unsigned long)from);
    truth_step();
    EXPECT_EQ(trace_func_enter((void *)0x1234, (void *)0x80000001), 0);
    EXPECT_EQ(trace_func_exit((void *)0xfffffffe, (void *)0), 0);
    truth("SYSTEM :FUNC_ENTER thisfn:0x00001234 call_site:0x80000001");
    truth("SYSTEM :FUNC_EXIT thisfn:0xfffffffe call_site:0x00000000");
#if UINTPTR_MAX > UINT32_MAX
    truth_step();
    EXPECT_EQ(trace_func_enter((void *)0xffff800012345678, (void *)0x1000000002), 0);
    EXPECT_EQ(trace_func_exit((void *)1, (void *)0x8000000000000000), 0);
    truth("SYSTEM :FUNC_ENTER thisfn:0xffff800012345678 call_site:0x0000001000000002");
    truth("SYSTEM :FUNC_EXIT thisfn:0x0000000000000001 call_site:0x8000000000000000");
#endif
}

/* The compiler's hooks: calls and returns of a recursion, in their order, and errno untouched. */
static void functions(void)
{
    truth_step();
    errno = 77;
    EXPECT_EQ(instrumented_sum(3), 6);
    EXPECT_EQ(errno, 77);
    unsigned long fn = (uintptr_t)&instrumented_sum;
    truth("SYSTEM :FUNC_ENTER thisfn:%#010lx call_site:within:0:0", fn);
    for (unsigned i = 0; i < 3; i++) { /* called by itself */
        truth("SYSTEM :FUNC_ENTER thisfn:%#010lx call_site:within:%#lx:128", fn, fn);
    }
    for (unsigned i = 0; i < 3; i++) {
        truth("SYSTEM :FUNC_EXIT thisfn:%#010lx call_site:within:%#lx:128", fn, fn);
    }
    truth("SYSTEM :FUNC_EXIT thisfn:%#010lx call_site:within:0:0", fn);
}

static const struct check table[] = {
    {"two words", words}, {"texts", texts},         {"lengths", texts_of_every_length},
    {"bytes", bytes},     {"classes", classes},     {"lines", lines},
    {"places", places},   {"functions", functions},
};

int main(void)
{
    truth_begin("t_events");
    return check_run("events", table, COUNT(table));
}

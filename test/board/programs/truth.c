/* SPDX-License-Identifier: BSD-2-Clause */
/* See truth.h. */
#include "test/board/programs/truth.h"

#include <stdarg.h>
#include <stdio.h>

#include "abi/errno.h"
#include "lib/include/sys/trace.h"
#include "test/board/programs/check.h"

static unsigned step;
static char line[512];

const char *truth_error_name(int error)
{
    switch (error) {
#define E(name, value) \
    case value: \
        return #name;
        KYMO_ERRNO_LIST(E)
#undef E
    default:
        return "?";
    }
}

void truth_step(void)
{
    trace_logi(TRUTH_MARK, ++step, 0);
}

/* The rest of the line, from n on. */
static void tell(int n, const char *format, va_list list)
{
    n += vsnprintf(line + n, sizeof(line) - 1 - (size_t)n, format, list);
    EXPECT(n < (int)sizeof(line) - 1);
    line[n++] = '\n';
    for (int from = 0, done; from < n; from += done) {
        done = (int)ConsoleWrite(line + from, (size_t)(n - from < 200 ? n - from : 200));
        if (done <= 0) {
            return;
        }
    }
}

void truth(const char *format, ...)
{
    va_list list;

    va_start(list, format);
    tell(snprintf(line, sizeof(line), "TRUTH %u ", step), format, list);
    va_end(list);
}

void truth_begin(const char *program)
{
    say("TRUTH-OF %s %d", program, self_pid());
}

void truth_long(const char *head, const char *text)
{
    truth("%s%u times %c", head, (unsigned)strlen(text), text[0]);
}

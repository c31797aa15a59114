/* SPDX-License-Identifier: BSD-2-Clause */
/* kernel_panic() and trace_port_failed() of unit tests. See failed.h. */
#include "test/tool/failed.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "trace/assert.h"

void kernel_panic(const char *fmt, ...) __attribute__((noreturn, format(printf, 1, 2)));

char failed_text[256];
static jmp_buf *expected;

static void __attribute__((noreturn)) end(void)
{
    if (expected) {
        longjmp(*expected, 1);
    }
    fprintf(stderr, "FAILED: %s\n", failed_text);
    abort();
}

void kernel_panic(const char *fmt, ...)
{
    va_list args;

    va_start(args, fmt);
    vsnprintf(failed_text, sizeof(failed_text), fmt, args);
    va_end(args);
    end();
}

void trace_port_failed(const char *file, unsigned line, const char *condition)
{
    snprintf(failed_text, sizeof(failed_text), "%s:%u: assertion failed: %s", file, line,
             condition);
    end();
}

bool failed_in(void (*step)(void))
{
    jmp_buf here;

    failed_text[0] = '\0';
    expected = &here;
    if (setjmp(here) == 0) {
        step();
        expected = NULL;
        return false;
    }
    expected = NULL;
    return true;
}

bool failed_as(void (*step)(void), const char *condition)
{
    bool as = failed_in(step) && strstr(failed_text, condition) &&
              strstr(failed_text, ": assertion failed: ");

    if (!as) {
        fprintf(stderr, "not \"%s\" but: \"%s\"\n", condition, failed_text);
    }
    return as;
}

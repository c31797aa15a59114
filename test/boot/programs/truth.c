/* SPDX-License-Identifier: BSD-2-Clause */
/* See truth.h. */
#include "test/boot/programs/truth.h"

#include <stdarg.h>
#include <stdio.h>

#include "lib/include/sys/tracelog.h"
#include "test/boot/programs/check.h"

static unsigned step;

void truth_step(void)
{
    trace_logi(TRUTH_MARK, ++step, 0);
}

void truth(const char *format, ...)
{
    char line[160];
    va_list list;

    va_start(list, format);
    vsnprintf(line, sizeof(line), format, list);
    va_end(list);
    say("TRUTH %u %s", step, line);
}

void truth_long(const char *head, const char *text)
{
    truth("%s%u times %c", head, (unsigned)strlen(text), text[0]);
}

/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A library does not print: takes the place of host/diag.c, whose messages the selection's
 * functions use, and keeps their messages for the fault of the capture. Each thread has its own.
 */
#include <stdarg.h>
#include <stdio.h>

#include "host/kev/capture.h"

static _Thread_local char kev_quiet_message_text[1024];

const char *quiet_said(void)
{
    return kev_quiet_message_text;
}

void kymo_error(const char *format, ...)
{
    va_list args;

    va_start(args, format);
    vsnprintf(kev_quiet_message_text, sizeof(kev_quiet_message_text), format, args);
    va_end(args);
}

int kymo_usage(const char *command, const char *format, ...)
{
    va_list args;

    (void)command;
    va_start(args, format);
    vsnprintf(kev_quiet_message_text, sizeof(kev_quiet_message_text), format, args);
    va_end(args);
    return KYMO_USAGE;
}

/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The output of kymo verify for a file: cmd.c fills in the result, show.c prints it. One thread.
 */
#ifndef HOST_VERIFY_SHOW_H
#define HOST_VERIFY_SHOW_H

#include "host/kev/kev.h"
#include "host/record.h"
#include "abi/sys/trace.h"

#define VERIFY_SCOPES 256
#define VERIFY_CLASSES (KEV_CLASSES + 1) /* the last: any class */
#define VERIFY_REASONS KYMO_DROP_REASONS /* 0: unknown */

enum verify_kind {
    VERIFY_WHOLE,
    VERIFY_DAMAGED,    /* it has bytes that can't be those written */
    VERIFY_CUT_SHORT,  /* the file ends too early */
    VERIFY_INCOMPLETE, /* buffers or bytes are missing that no account of losses explains */
    VERIFY_FOLLOWED,   /* another capture begins after it */
    VERIFY_UNREADABLE  /* it can't be read, or is no capture */
};

struct verify_scope {
    uint32_t kind;
    int32_t cpu;
    char *text;
};

struct verify_counts {
    uint64_t lost[KEV_CPUS][VERIFY_CLASSES][VERIFY_REASONS];
};

struct verify_result {
    const char *path;
    enum verify_kind kind;
    char message[1024]; /* what is wrong first; "": nothing */
    /* The capture, or the valid part of a damaged one; NULL or without facts: none. */
    struct kev_capture *capture;
    struct verify_scope scopes[VERIFY_SCOPES];
    unsigned nscopes;
    struct verify_counts *counts;
    uint64_t lost;
    bool no_memory;
};

void verify_show_text(const struct verify_result *result);
void verify_show_json(const struct verify_result *result);

#endif

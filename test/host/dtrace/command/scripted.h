/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * `kymo dtrace` on a target that does what a test has written down: which CPU has which records of
 * which time in each pass, what is dropped, when it stops. It compiles and describes as `self`
 * does.
 */
#ifndef TEST_HOST_DTRACE_COMMAND_SCRIPTED_H
#define TEST_HOST_DTRACE_COMMAND_SCRIPTED_H

#include "host/dtrace/consume/consume.h"
#include "host/kymo.h"

#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

enum { CPUS = 3, RECORDS = 8 };

/* A record of a clause that records nothing but its EPID, or, with a fault, of the one that tells
 * of it (ERROR's arg1 to arg5). epid 0: the end. */
struct scripted_record {
    unsigned cpu;
    uint32_t epid;
    uint64_t time;
    uint64_t fault[5];
};

/* One look of the consumer at all CPUs. */
struct scripted_pass {
    struct scripted_record records[RECORDS];
    uint64_t taken[CPUS]; /* when each buffer was taken */
    uint64_t drops[CPUS], aggregation_drops[CPUS];
    struct dtrace_status status;
    int error; /* what asking for the status gives */
};

/* What a clause is said to be on, instead of BEGIN. */
struct scripted_probe {
    uint32_t id;
    const char *provider, *function, *name;
};

struct scripted {
    const struct scripted_pass *passes; /* the last one is repeated */
    unsigned npasses, pass;
    unsigned begin_cpu, end_cpu;
    unsigned aggregations;               /* how often they were asked for */
    const struct scripted_probe *probes; /* by EPID; NULL: as it is */
    char out[4096], err[4096];           /* what was written */
    int status;
};
extern struct scripted scripted;

/* Runs `kymo dtrace` with these arguments, NULL at the end. */
void scripted_run(const struct scripted_pass *, unsigned npasses, const char *first, ...);

#endif

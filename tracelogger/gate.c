/* SPDX-License-Identifier: BSD-2-Clause */
/* See gate.h. */
#include "tracelogger/gate.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "kernel/abi/sys/trace.h"
#include "lib/include/kymo.h"
#include "tracelogger/report.h"

static const char *reason_text(uint32_t reason)
{
    switch (reason) {
#define R(number, name, text) \
    case number: \
        return text;
        KYMO_GATE_REASON_LIST(R)
#undef R
    default:
        return NULL;
    }
}

static void say_refusal(const char *file, const struct kymo_trace_refusal *why)
{
    const char *text = reason_text(why->reason);

    if (text) {
        printf("tracelogger: %s: clause %u: %s\n", file, (unsigned)why->clause + 1, text);
    } else if (errno == ESRCH) {
        printf("tracelogger: %s: a clause is on probes that this kernel hasn't\n", file);
    } else if (why->reason) {
        printf("tracelogger: %s is no program for this machine: %s, reason %u\n", file,
               strerror(errno), (unsigned)why->reason);
    } else {
        printf("tracelogger: %s: %s\n", file, strerror(errno));
    }
}

/* What has these is no name of a file but D. */
static int is_text(const char *word)
{
    return strpbrk(word, " :/{=<>\n") != NULL;
}

int gate_set(const char *file)
{
    struct kymo_trace_refusal why = {0};

    if (!file || TraceEvent(KYMO_TRACE_SETGATE, file, &why) == 0) {
        return 0;
    }
    if (errno == ENOENT || errno == ENAMETOOLONG) {
        printf("tracelogger: no file %s in the boot image\n", file);
    } else {
        say_refusal(file, &why);
    }
    if (is_text(file)) {
        printf(
            "-x takes a program that `kymo dtrace --compile FILE` has made on the host, and that "
            "is in the boot image: make image IMAGE_D=...\n");
    }
    return -1;
}

void gate_report(const char *file)
{
    uint64_t all = 0, sum[KYMO_TRACE_CLASSES] = {0};
    struct kymo_trace_stopped stopped;

    for (uint32_t cpu = 0; cpu < kymo_cpus(); cpu++) {
        if (TraceEvent(KYMO_TRACE_QUERYSTOPPED, cpu, &stopped) == 0) {
            for (unsigned i = 0; i < KYMO_TRACE_CLASSES; i++) {
                sum[i] += stopped.events[i];
                all += stopped.events[i];
            }
        }
    }
    printf("tracelogger: %llu events stopped by %s\n", (unsigned long long)all, file);
    for (unsigned i = 0; i < KYMO_TRACE_CLASSES; i++) {
        if (sum[i]) {
            printf("  stopped %llu of class %s\n", (unsigned long long)sum[i],
                   report_class_name(i));
        }
    }
}

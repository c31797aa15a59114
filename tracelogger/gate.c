/* SPDX-License-Identifier: BSD-2-Clause */
/* See gate.h. */
#include "tracelogger/gate.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "abi/sys/trace.h"
#include "lib/include/kymo.h"
#include "tracelogger/report.h"

/* Returns the remedy for a refusal by the gate, or else by the D machine. */
static const char *gate_remedy_text(uint32_t reason, int error)
{
    if (reason >= KYMO_GATE_PROBE) {
        return reason == KYMO_GATE_PROBE
                   ? "sdt's probes are those of the events, syscall's those of the kernel calls"
               : reason == KYMO_GATE_ABILITY
                   ? "tracelogger's line in the start script: ability=trace,dtrace_kernel,..."
               : reason == KYMO_GATE_ACTION
                   ? "leave them out; `kymo dtrace -x log=1` puts records beside the events"
                   : "leave out copyout() and copyoutstr(): a gate only looks";
    }
    switch (error) {
    case ESRCH:
        return "`kymo dtrace -l -t TARGET` on the host lists the probes of this kernel";
    case ENOMEM:
    case E2BIG:
    case ENOSPC:
        return "use smaller sizes (#pragma D option dynvarsize, bufsize), or fewer buffers (-k)";
    case EPERM:
        return "leave out what is destructive: a gate only looks";
    default:
        return "compile it again for this kernel: make image IMAGE_D=...";
    }
}

/* Returns the reason in words: the kernel reports a gate's own reasons as numbers. */
static const char *gate_reason_text(const struct kymo_trace_refusal *why)
{
    switch (why->reason) {
#define R(number, name, text) \
    case KYMO_GATE_##name: \
        return text;
        KYMO_GATE_REASON_LIST(R)
#undef R
    default:
        return why->text;
    }
}

#define WHENCE \
    "-x takes a program that `kymo dtrace --compile FILE` has made on the host, and that is in " \
    "the " \
    "boot image: make image IMAGE_D=..."

int gate_set(const char *file)
{
    struct kymo_trace_refusal why = {0};

    if (!file || TraceEvent(KYMO_TRACE_SETGATE, file, &why) == 0) {
        return 0;
    }
    if (errno == ENOENT || errno == ENAMETOOLONG) {
        printf("tracelogger: the boot image has no file %s\n%s\n", file, WHENCE);
    } else {
        const char *help = gate_remedy_text(why.reason, errno);

        if (why.reason >= KYMO_GATE_PROBE && why.reason != KYMO_GATE_ABILITY) {
            printf("tracelogger: %s: clause %u: %s\n%s\n", file, (unsigned)why.clause + 1,
                   gate_reason_text(&why), help);
        } else if (why.reason) {
            printf("tracelogger: %s is refused: %s\n%s\n", file, gate_reason_text(&why), help);
        } else {
            printf("tracelogger: %s: %s\n%s\n", file, strerror(errno), help);
        }
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

/* SPDX-License-Identifier: BSD-2-Clause */
/* The kernel's buffers, filters and modes: see capture.h, docs/inside/ring.md. */
#include "tracelogger/capture.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "lib/include/kymo.h"
#include "abi/sys/trace.h"
#include "trace/slot.h"
#include "tracelogger/keep.h"
#include "tracelogger/owner.h"
#include "tracelogger/refused.h"

static int logger_capture_print_trouble(const char *what)
{
    printf("tracelogger: %s: %s\n", what, strerror(errno));
    return -1;
}

static long alloc_buffers(const struct options *options, uint64_t *paddr)
{
    unsigned count = options->kernel_buffers;

    return options->retain ? TraceEvent(KYMO_TRACE_ALLOCRETAINED, count, paddr)
                           : keep_alloc(count, paddr);
}

static long get_buffers(const struct options *options)
{
    uint64_t paddr = 0;
    long result = alloc_buffers(options, &paddr);

    if (result < 0 && errno == EEXIST) {
        if (!owner_is_gone() || TraceEvent(_NTO_TRACE_STOP) < 0) {
            errno = EEXIST;
            return -1;
        }
        printf("tracelogger: the ring of a logger that has ended was still recording; it is "
               "stopped now\n");
        result = alloc_buffers(options, &paddr);
    }
    return result;
}

static int logger_allocate_capture(struct capture *capture)
{
    unsigned count = capture->options->kernel_buffers;

    if (get_buffers(capture->options) == 0) {
        return 0;
    }
    switch (errno) {
    case ENOMEM:
        printf("tracelogger: not enough %s for -k %u, %u buffers of %u bytes: give a smaller "
               "-k\n",
               capture->options->retain ? "retained memory" : "contiguous memory", count,
               count * kymo_cpus(), (unsigned)TRACE_BUFFER_BYTES);
        return -1;
    case EBUSY:
        printf("tracelogger: the recording of an earlier boot is still retained: save it with "
               "--recover, or free it with --discard\n");
        return -1;
    case EPERM:
        printf("tracelogger: start it with the abilities trace, interrupt and host\n");
        return -1;
    case EEXIST:
        owner_tell("end it, or have it free its buffers");
        return -1;
    default:
        return logger_capture_print_trouble("the kernel's buffers can't be allocated");
    }
}

/* In daemon mode without -E, the applications' filters are kept, except for -F, -w and --probes. */
static int set_filters(const struct options *options)
{
    /* The numbers of -F are the option's, not classes. */
    static const int class_of[FILTERS] = {
        [1] = _NTO_TRACE_KERCALL, [2] = _NTO_TRACE_INT,  [3] = _NTO_TRACE_PROCESS,
        [4] = _NTO_TRACE_THREAD,  [6] = _NTO_TRACE_COMM, [7] = _NTO_TRACE_SYSTEM,
    };
    bool ours = !options->daemon || options->everything;

    if (ours &&
        (TraceEvent(_NTO_TRACE_ADDALLCLASSES) < 0 || TraceEvent(KYMO_TRACE_CLRALLTHREADS) < 0)) {
        return -1;
    }
    if ((ours || options->probes) &&
        TraceEvent(options->probes ? _NTO_TRACE_ADDCLASS : _NTO_TRACE_DELCLASS,
                   KYMO_TRACE_SYSTEM_PROBES) < 0) {
        return -1;
    }
    for (int i = 0; i < FILTERS; i++) {
        if ((options->without >> i & 1) && class_of[i] &&
            TraceEvent(_NTO_TRACE_DELCLASS, class_of[i]) < 0) {
            return -1;
        }
    }
    if (options->wide) {
        return TraceEvent(_NTO_TRACE_SETALLCLASSESWIDE);
    }
    return ours ? TraceEvent(_NTO_TRACE_SETALLCLASSESFAST) : 0;
}

int capture_open(struct capture *capture, const struct options *options)
{
    uint64_t wanted = (uint64_t)options->kernel_buffers * kymo_cpus();

    memset(capture, 0, sizeof(*capture));
    capture->options = options;
    if (refused_open() != 0 || logger_allocate_capture(capture) != 0) {
        keep_close(options);
        return -1;
    }
    if (capture_buffers_map(&capture->buffers) != 0) {
        logger_capture_print_trouble("the kernel's buffers can't be mapped");
        capture_close(capture);
        return -1;
    }
    uint64_t made = capture->buffers.bytes / TRACE_BUFFER_BYTES;
    if (options->verbose && made != wanted) {
        printf("tracelogger: %u buffers were made of %u\n", (unsigned)made, (unsigned)wanted);
    }
    bool ring = options->mode == MODE_RING;
    capture_idle_begin(&capture->idle, ring ? 0 : options->idle_ms, kymo_cpus(),
                       kymo_cycles_per_sec());
    if (set_filters(options) < 0 ||
        TraceEvent(ring ? _NTO_TRACE_SETRINGMODE : _NTO_TRACE_SETLINEARMODE) < 0) {
        logger_capture_print_trouble("the filters and the mode can't be set");
        capture_close(capture);
        return -1;
    }
    return 0;
}

void capture_close(struct capture *capture)
{
    capture_buffers_unmap(&capture->buffers);
    TraceEvent(_NTO_TRACE_DEALLOCBUFFER);
    keep_close(capture->options);
}

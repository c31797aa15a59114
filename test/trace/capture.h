/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What the trace recorded, as a capture that the host's reader opens: a file with the head and the
 * system page that the tracelogger writes, made of trace/'s own table texts, then the buffers.
 */
#ifndef TEST_TRACE_CAPTURE_H
#define TEST_TRACE_CAPTURE_H

#include "test/trace/look.h"
#include "host/reader/kev.h"

/* Stops tracing, takes all buffers into a file, opens it (fails the test if the reader refuses),
 * and frees the buffers. kev_close() is the caller's. */
struct kev *capture_open(void);
/* The next event that is not CONTROL; false: no more. */
bool capture_next(struct kev *kev, struct kev_event *event);

#endif

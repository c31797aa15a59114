/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The notes that go into a capture with a consumer's records (-x log=1, -x retain): whatever a
 * reader must know that the target knew. Behind the head: what the program was compiled from
 * (host/dtrace/saved.h), then a transcript: requests of D's control call, each with its answer and
 * the bytes of both, one after the other without gaps. So a reader asks what a live consumer would
 * ask, and is answered the same. Little-endian; opaque to the target, but for the boot's own
 * consumer. Written by host/remote/log.c, trace/dtrace/control_boot.c, read by
 * host/dtrace/replay_wire.c.
 */
#ifndef TRACE_DTRACE_NOTES_H
#define TRACE_DTRACE_NOTES_H

#include <stdint.h>

#define NOTES_MAGIC 0x6e44796bu /* "kyDn" */

struct notes_head {
    uint32_t magic;
    uint32_t version; /* 1 */
    uint32_t saved;   /* bytes of what the program was compiled from */
    uint32_t pad;
};

#endif

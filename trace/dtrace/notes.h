/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The notes that accompany a consumer's records in a capture (-x log=1, -x retain): everything that
 * a reader needs to know about the target. After the header: the program's settings, sources and
 * arguments (host/dtrace/saved.h), then a transcript: requests of D's control call, each with its
 * answer and the bytes of both, without gaps. So a reader makes the same requests as to a live
 * consumer and gets the same answers. Little-endian; opaque to the target, except for the boot's
 * own consumer. Written by host/remote/log.c, trace/dtrace/control_boot.c, read by
 * host/dtrace/replay/wire.c.
 */
#ifndef TRACE_DTRACE_NOTES_H
#define TRACE_DTRACE_NOTES_H

#include <stdint.h>

#define NOTES_MAGIC 0x6e44796bu /* "kyDn" */
#define NOTES_VERSION 1

struct notes_head {
    uint32_t magic;
    uint32_t version; /* NOTES_VERSION */
    uint32_t saved;   /* bytes of the saved settings and sources */
    uint32_t pad;
};

#endif

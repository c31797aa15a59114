/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The messages of the link's services but "dtrace", which has abi/sys/dtrace.h. Layouts of
 * the wire, little-endian; docs/link.md has the rules.
 */
#ifndef LIB_LINK_SERVICE_H
#define LIB_LINK_SERVICE_H

#include <stdint.h>

/* "console": messages are text, both ways; no more than this at once to the target. */
#define LINK_CONSOLE_MOST 256

/* "capture": each message begins with this. */
struct link_capture {
    uint32_t kind;  /* enum link_capture_kind */
    int32_t result; /* STORED: 0, or a negative errno of abi/errno.h */
    uint64_t bytes; /* END, STORED: of the whole capture */
};
_Static_assert(sizeof(struct link_capture) == 16, "layout on the link");

enum link_capture_kind {
    LINK_CAPTURE_BEGIN = 1, /* to the host; the capture's name follows, no NUL */
    LINK_CAPTURE_DATA,      /* to the host; bytes of the capture follow */
    LINK_CAPTURE_END,       /* to the host: that was all */
    LINK_CAPTURE_STORED,    /* to the target: after END, or before it if it can't be stored */
};

/* "program": a request and its answer each begin with this. A channel starts one program. */
struct link_program {
    uint32_t kind;  /* enum link_program_kind, the same in the answer */
    int32_t result; /* answer: 0, or a negative errno of abi/errno.h */
    int32_t pid;    /* answer to START */
    int32_t status; /* answer to ENDED: as ProcWait() gives it */
};
_Static_assert(sizeof(struct link_program) == 16, "layout on the link");

enum link_program_kind {
    /* A line as in a start script follows, no NUL. The program is held: nothing of it runs yet. If
     * it can't be started, text follows the answer: the programs of the image, one a line, if the
     * result is ENOENT, else what is wrong with the line, or nothing. */
    LINK_PROGRAM_START = 1,
    LINK_PROGRAM_RUN,   /* lets it run */
    LINK_PROGRAM_ENDED, /* result EAGAIN: it has not ended */
};
#define LINK_PROGRAM_LINE 768  /* bytes of such a line */
#define LINK_PROGRAM_TEXT 2048 /* bytes of such a text */

/* "source": bytes made up by the target, to measure and prove the line. Request and answer. */
struct link_source {
    uint32_t bytes; /* wanted, at most LINK_MESSAGE_MOST */
    uint32_t seed;
};
/* What byte `at` of the answer is. */
static inline uint8_t link_source_byte(uint32_t seed, uint32_t at)
{
    return (uint8_t)((seed + at) * 0x9e3779b1u >> 23);
}

#endif

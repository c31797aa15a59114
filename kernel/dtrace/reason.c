/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The texts of refusals, which a board prints only for D programs of its own image (BOOT_D, the
 * event log's gate): over a link the number is sent. The texts are not in the kernel but in the
 * boot image together with such programs, in a file that scripts/mkcpio.c makes. The file is looked
 * up at boot; the kernel lock is held in later calls. Tested by test/board's suites gate and dlog.
 */
#include "kernel/arch/board.h"
#include "kernel/base/console.h"
#include "kernel/base/string.h"
#include "kernel/dtrace/dtrace.h"
#include "kernel/program/program.h"

#define OFFSET_BYTES 2

static struct cpio_file reason_texts; /* [I] after boot; no bytes: the image has no D program */

void dtrace_reasons_find(void)
{
    if (!boot_file("boot/d_reasons", &reason_texts)) {
        reason_texts.len = 0;
    }
}

/* Returns the offset of a reason's text in the file. */
static size_t reason_offset(uint32_t reason)
{
    const uint8_t *at = reason_texts.data + OFFSET_BYTES * (reason - 1);

    return at[0] | (unsigned)at[1] << 8;
}

/* The texts are ordered by reason, and the end's offset follows the texts' offsets. */
const char *dtrace_refusal_text(const struct dtrace_refusal *refusal)
{
    static char text[DTRACE_REFUSAL_TEXT]; /* [k] */
    uint32_t reason = refusal->reason;

    if (refusal->text[0] || reason == DTRACE_REASON_NONE) {
        return refusal->text;
    }
    kformat(text, sizeof(text), "reason %u", (unsigned)reason);
    if (reason < reason_texts.len / OFFSET_BYTES) {
        size_t from = reason_offset(reason), to = reason_offset(reason + 1);
        if (from < to && to <= reason_texts.len && to - from < sizeof(text)) {
            memcpy(text, reason_texts.data + from, to - from);
            text[to - from] = '\0';
        }
    }
    return text;
}

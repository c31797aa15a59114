/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Decides which D programs match this kernel: those compiled with its types, symbols and probes, or
 * with those of no kernel. A kernel and its boot image are one file, whose build id depends on the
 * programs in the image. So the deciding id is that of the kernel as first linked (fbt_code_id),
 * the same in all images of one build. Control context. Tested by test/board/gate.py and dlog.py.
 */
#include "kernel/dtrace/dtrace.h"
#include "kernel/dtrace/fbt_table.h"
#include "kernel/base/string.h"
#include "kernel/observe/observe.h"
#include "trace/dtrace/image.h"
#include "trace/dtrace/port.h"

static const uint8_t none[DTRACE_KERNEL_ID_BYTES];

/* A kernel without that table is linked only once. */
static const uint8_t *own_id(void)
{
    const uint8_t *id = fbt_code_id;

    if (memcmp(id, none, sizeof(none)) == 0 && syspage_build_id(&id) < sizeof(none)) {
        return none;
    }
    return id;
}

static char *build_put_text(char *to, const char *text)
{
    while (*text) {
        *to++ = *text++;
    }
    return to;
}

static char *put_id(char *to, const uint8_t *id)
{
    static const char digits[] = "0123456789abcdef";

    for (unsigned i = 0; i < DTRACE_KERNEL_ID_BYTES; i++) {
        *to++ = digits[id[i] >> 4];
        *to++ = digits[id[i] & 15];
    }
    return to;
}

bool dtrace_port_is_kernel(const uint8_t *id, char *text)
{
    const uint8_t *own = own_id();

    if (text) {
        text = put_id(build_put_text(text, "compiled for the kernel "), id);
        *put_id(build_put_text(text, ", this one is "), own) = '\0';
    }
    return memcmp(id, none, sizeof(none)) == 0 || memcmp(id, own, sizeof(none)) == 0;
}

_Static_assert(sizeof("compiled for the kernel , this one is ") + 4 * DTRACE_KERNEL_ID_BYTES <=
                   DTRACE_REFUSAL_TEXT,
               "both have room");

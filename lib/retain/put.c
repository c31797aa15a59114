/* SPDX-License-Identifier: BSD-2-Clause */
/* Writes a combine event of the finder's own, as the kernel would. */
#include "lib/retain/internal.h"

uint32_t retain_put(struct trace_slot *slot, uint32_t what, uint32_t time, const uint32_t *words,
                    uint32_t bytes)
{
    uint32_t count = (bytes + 7) / 8;

    for (uint32_t i = 0; i < count; i++) {
        uint32_t structure = i == 0 ? TRACE_STRUCT_CB : TRACE_STRUCT_CC;

        structure = i + 1 == count ? TRACE_STRUCT_CE : structure;
        slot[i] = (struct trace_slot){what | structure, time, words[2 * i], words[2 * i + 1]};
    }
    return count;
}

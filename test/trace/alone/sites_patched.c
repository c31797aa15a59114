/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The sites of a CPU whose port patches them (trace/port/patched.h), in Thumb-2: nop.w or b.w. The
 * text is in RAM, and nothing is cached.
 */
#include "trace/port.h"

struct trace_site {
    uintptr_t at, log, all, id;
};
extern const struct trace_site alone_sites_start[], alone_sites_end[];

void trace_port_site_set(unsigned id, enum trace_site_mode mode)
{
    for (const struct trace_site *site = alone_sites_start; site < alone_sites_end; site++) {
        volatile uint16_t *at = (volatile uint16_t *)(site->at & ~(uintptr_t)1);
        uintptr_t to = (mode == TRACE_SITE_ALL ? site->all : site->log) & ~(uintptr_t)1;
        int32_t offset = (int32_t)(to - (uintptr_t)at - 4);
        uint32_t sign = offset < 0, j1 = !((offset >> 23 & 1) ^ sign),
                 j2 = !((offset >> 22 & 1) ^ sign);

        if (site->id != id) {
            continue;
        }
        if (mode == TRACE_SITE_OFF) {
            at[0] = 0xf3af;
            at[1] = 0x8000;
        } else {
            at[0] = (uint16_t)(0xf000 | sign << 10 | (offset >> 12 & 0x3ff));
            at[1] = (uint16_t)(0x9000 | j1 << 13 | j2 << 11 | (offset >> 1 & 0x7ff));
        }
    }
    __asm__ volatile("dsb\n\tisb" ::: "memory");
}

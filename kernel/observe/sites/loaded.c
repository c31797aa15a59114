/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The kernel's part of trace/port.h that switches trace sites, where the text runs from flash: each
 * site loads its mode and tests it (trace/port/loaded.h). A makefile chooses this file or patched.c
 * by SITES. Kernel lock held. Tested by test/board/in_place/check.
 */
#include "kernel/base/assert.h"
#include "kernel/base/cpu.h"
#include "trace/filter.h"
#include "trace/trace.h"

volatile uint8_t trace_port_sites[TRACE_EV_COUNT];

void trace_port_site_set(unsigned id, enum trace_site_mode mode)
{
    kernel_assert(kernel_locked() && id < TRACE_EV_COUNT);
    trace_port_sites[id] = (uint8_t)mode;
}

/* Nothing to do: the one CPU reads its sites' modes from RAM without a cache. */
void trace_port_sites_sync(void)
{
    _Static_assert(CONFIG_CPUS == 1, "sites that are loaded are for one CPU here");
}

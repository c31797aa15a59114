/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The kernel's part of trace/port.h that switches trace sites, where the text is RAM: each site is
 * patched (trace/port/patched.h). A makefile chooses this file or loaded.c by SITES. Kernel lock
 * held. Tested by every boot that traces.
 */
#include "kernel/arch/aspace.h"
#include "kernel/arch/cpu.h"
#include "kernel/arch/irq.h"
#include "kernel/arch/probe.h"
#include "kernel/base/cpu.h"
#include "kernel/base/string.h"
#include "kernel/base/window.h"
#include "trace/filter.h"
#include "trace/trace.h"

/* The record of a trace site, which the site itself emits: trace/port/<cpu>.h. */
struct trace_site {
    uintptr_t at, log, all, id; /* log, all: branch targets in these modes */
};
extern const struct trace_site __trace_sites_start[], __trace_sites_end[];
extern const char __kernel_start[], __text_end[];

#define SITES_A_STEP 4 /* written between two preemption points */

static uint32_t patched[TRACE_BITS(TRACE_EV_COUNT)]; /* [k] sites patched since the previous sync */

/* At a preemption point some sites of an event may be on and others off, as may sites of different
 * events between two calls. */
void trace_port_site_set(unsigned id, enum trace_site_mode mode)
{
    unsigned written = 0;

    kernel_assert(kernel_locked() && id < TRACE_EV_COUNT);
    patched[id / 32] |= 1u << id % 32;
    for (const struct trace_site *site = __trace_sites_start; site < __trace_sites_end; site++) {
        if (site->id == id) {
            arch_site_patch(site->at, mode == TRACE_SITE_ALL ? site->all : site->log,
                            mode != TRACE_SITE_OFF);
            if (++written % SITES_A_STEP == 0) {
                kernel_window();
            }
        }
    }
    kernel_window();
}

static void trace_port_nothing(void *arg)
{
    (void)arg;
}

/* Writes the same words once more. */
static void write_again(void)
{
    for (const struct trace_site *site = __trace_sites_start; site < __trace_sites_end; site++) {
        if (trace_bit(patched, (unsigned)site->id)) {
            arch_text_write(site->at, (const void *)site->at, ARCH_SITE_BYTES);
            arch_irq_window();
        }
    }
}

/*
 * A CPU that was cross-called executes the new text. The second write is for machines that
 * translate code: QEMU keeps a translation that another CPU began before the write and finished
 * after it (seen with 7.2), and from then on every CPU executes the old text. After all CPUs have
 * been called no such translation is in progress, and the write discards the existing ones. Tested
 * by suite sites-multi.
 */
void trace_port_sites_sync(void)
{
    kernel_assert(kernel_locked());
    for (const char *at = __kernel_start; at < __text_end; at += CONFIG_CLEAR_CHUNK) {
        size_t left = (size_t)(__text_end - at);
        arch_text_sync((void *)(uintptr_t)at,
                       left < CONFIG_CLEAR_CHUNK ? left : CONFIG_CLEAR_CHUNK);
        kernel_window();
    }
    if (CONFIG_CPUS > 1 && cpu_online_count() > 1) {
        cpu_run_on_all(trace_port_nothing, NULL);
        write_again();
    }
    memset(patched, 0, sizeof(patched));
}

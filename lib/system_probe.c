/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The system's static probes (lib/system_probe/patched.h): the function that a probe calls while it
 * is on, and the registration of a program's probes. Linked into programs with such probes. Tested
 * by test/board/sysprobes.py.
 */
#include <stddef.h>
#include <stdint.h>

#include "abi/sys/trace.h"
#include "lib/kercall.h"
#include "lib/probe.h"
#include "lib/startup.h"

extern const struct kymo_probe_site __kymo_system_probes_start[], __kymo_system_probes_end[];

void kymo_system_probe_fire(const void *site, const unsigned long *args, unsigned n, unsigned wide);
void kymo_system_probe_two(const void *site, unsigned how, unsigned long a, unsigned long b);

__attribute__((constructor)) static void system_probe_register_sites(void)
{
    const ptrdiff_t count = __kymo_system_probes_end - __kymo_system_probes_start;

    kymo_startup->sites = __kymo_system_probes_start;
    __atomic_store_n(&kymo_startup->nsites, (uint32_t)count, __ATOMIC_SEQ_CST);
    if (__atomic_load_n(&kymo_startup->system_probes, __ATOMIC_SEQ_CST)) {
        kymo_raw_TRACE_EVENT(KYMO_TRACE_USERSITES, 0, KYMO_TRACE_SITES_SYSTEM, 0, 0);
    }
}

void kymo_system_probe_fire(const void *site, const unsigned long *args, unsigned n, unsigned wide)
{
    uint32_t words[PROBE_WORDS_MOST];
    const unsigned count = probe_words_put(words, site, args, n, wide);

    kymo_raw_TRACE_EVENT(KYMO_TRACE_INSERTPROBE, (uintptr_t)words, count, 0, 0);
}

void kymo_system_probe_two(const void *site, unsigned how, unsigned long a, unsigned long b)
{
    const unsigned long args[] = {a, b};

    kymo_system_probe_fire(site, args, how & 3, how >> 2);
}

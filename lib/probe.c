/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * <kymo_probe.h>: the function that a static probe calls while it is on, and the registration of a
 * program's probes with the kernel. Linked into programs with probes. Tested by test/board's
 * t_probe.
 */
#include <kymo_probe.h>

#include "abi/sys/trace.h"
#include "lib/kercall.h"
#include "lib/probe.h"

extern const struct kymo_probe_site __kymo_probes_start[], __kymo_probes_end[]; /* user.ld */

/* Where the kernel can't patch them, probes stay off. So would more of them than the kernel
 * accepts: the linker, which can count them, refuses those by kymo_probes_room. */
__attribute__((constructor)) static void probe_register_sites(void)
{
    __asm__ volatile(".globl kymo_probes_room\n\t.set kymo_probes_room, %c0"
                     :
                     : "i"(KYMO_TRACE_SITES_MOST * sizeof(struct kymo_probe_site)));
    kymo_raw_TRACE_EVENT(KYMO_TRACE_USERSITES, (uintptr_t)__kymo_probes_start,
                         (uintptr_t)(__kymo_probes_end - __kymo_probes_start), 0, 0);
}

void kymo_probe_fire(const void *site, const unsigned long *args, unsigned n, unsigned wide)
{
    uint32_t words[PROBE_WORDS_MOST];
    const unsigned count = probe_words_put(words, site, args, n, wide);

    if (count == 2) {
        kymo_raw_TRACE_EVENT(_NTO_TRACE_INSERTSUSEREVENT, KYMO_LOG_CODE, words[0], words[1], 0);
    } else {
        kymo_raw_TRACE_EVENT(_NTO_TRACE_INSERTCUSEREVENT, KYMO_LOG_CODE, (uintptr_t)words, count,
                             0);
    }
}

/* SPDX-License-Identifier: BSD-2-Clause */
/* No function probes on this CPU yet: the table of functions is empty (scripts/board.mk), so none
 * of these is called. */
#include "kernel/arch/probe.h"

bool arch_probe_slot(uint32_t code[ARCH_PROBE_WORDS], uintptr_t slot, uintptr_t site,
                     unsigned length, bool returns)
{
    (void)code;
    (void)slot;
    (void)site;
    (void)length;
    (void)returns;
    return false;
}

bool arch_probe_branch(uint32_t *insn, uintptr_t from, uintptr_t to, unsigned bytes)
{
    (void)insn;
    (void)from;
    (void)to;
    (void)bytes;
    return false;
}

uintptr_t arch_probe_target(uintptr_t site)
{
    (void)site;
    return 0;
}

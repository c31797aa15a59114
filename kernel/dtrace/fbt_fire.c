/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Fires the probes of fbt.c. Entry: arg0 … arg4 are the argument registers (and stack words, where
 * there are fewer than five). Return: arg0 is the offset of the return in the function, arg1 the
 * value; arg2 is 1 if the function returns by a jump to another function, whose value is not known
 * yet: arg1 is 0.
 *
 * Any context; a function called by D itself does not fire. Tested by test/board's suite fbt.
 */
#include "abi/compiler.h"
#include "kernel/base/cpu.h"
#include "kernel/arch/cpu.h"
#include "kernel/arch/entry.h"
#include "kernel/arch/probe.h"
#include "kernel/dtrace/dtrace.h"
#include "kernel/dtrace/fbt_slot.h"
#include "kernel/dtrace/fbt_table.h"
#include "trace/dtrace/port.h"
#include "trace/dtrace/probe.h"

/* If a probe is already firing, because D itself has called the function, the event is a drop. */
static inline void fbt_fire(const struct fbt_slot *slot, const uintptr_t *regs,
                            const uint64_t args[5])
{
    uintptr_t irq = arch_irq_save();
    const struct dtrace_probe *probe = dtrace_probe_at(slot->probe);
    struct cpu *cpu = arch_cpu();

    if (cpu->trace.fired) {
        dtrace_probe_nested(probe);
    } else if (!dtrace_probe_skips(probe)) {
        cpu->trace.fired = (const void *)regs;
        dtrace_probe_fire(probe, args);
        cpu->trace.fired = NULL;
    }
    arch_irq_restore(irq);
}

void kernel_probe_entry(const void *back, const uintptr_t *regs)
{
    fbt_fire(fbt_slot_fired(back, false), regs,
             (const uint64_t[]){arch_probe_argument(regs, 0), arch_probe_argument(regs, 1),
                                arch_probe_argument(regs, 2), arch_probe_argument(regs, 3),
                                arch_probe_argument(regs, 4)});
}

void kernel_probe_return(const void *back, const uintptr_t *regs)
{
    const struct fbt_slot *slot = fbt_slot_fired(back, true);
    uint64_t args[5] = {slot->offset / 2, arch_probe_result(regs), 0, 0, 0};

    if (unlikely(slot->offset & FBT_TAIL)) {
        args[1] = 0;
        args[2] = 1;
    }
    fbt_fire(slot, regs, args);
}

bool dtrace_fbt_site(uintptr_t ip, uintptr_t *site, unsigned *offset)
{
    const struct fbt_slot *slot = fbt_slot_of((const void *)ip);

    if (ip < (uintptr_t)fbt_slots || ip >= (uintptr_t)fbt_slots_end) {
        return false;
    }
    *site = fbt_slot_site(slot);
    *offset = (unsigned)(ip - (uintptr_t)slot);
    return true;
}

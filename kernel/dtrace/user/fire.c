/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Fires the probes of a trap in a program: see user.h. Entry: arg0 … are the function's arguments,
 * as far as they are in registers. Return: arg0 is the offset of the instruction in the function,
 * arg1 the value; for a tail call, whose value is not known yet, arg1 is 0 and arg2 1. A probe at
 * an offset: the argument registers. On the thread's CPU, without the lock. Tested by
 * test/board/pid.py.
 */
#include "kernel/dtrace/user/user.h"

#include "abi/compiler.h"
#include "kernel/arch/cpu.h"
#include "kernel/arch/entry.h"
#include "kernel/arch/step.h"
#include "kernel/base/cpu.h"
#include "trace/dtrace/port.h"

static void place_arguments(const struct user_place *place, const struct thread *self,
                            uint64_t args[5])
{
    if (place->kind == KYMO_D_USER_RETURN || place->kind == KYMO_D_USER_TAIL) {
        const bool tail = place->kind == KYMO_D_USER_TAIL;
        args[0] = place->offset;
        args[1] = tail ? 0 : arch_step_result(self);
        args[2] = tail;
        args[3] = args[4] = 0;
        return;
    }
    for (unsigned n = 0; n < 5; n++) {
        args[n] = arch_step_argument(self, n);
    }
}

static void place_fire(const struct user_place *place, const struct thread *self)
{
    const struct dtrace_probe *probe = dtrace_probe_at(user.probes[place->probe].id);
    struct cpu *cpu = arch_cpu();
    uint64_t args[5];

    if (!dtrace_probe_skips(probe)) {
        place_arguments(place, self, args);
        cpu->trace.fired = args;
        dtrace_probe_fire(probe, args);
        cpu->trace.fired = NULL;
    }
}

bool kernel_user_probe(struct thread *self, uintptr_t ip, struct arch_step *step)
{
    uintptr_t irq = arch_irq_save();
    const unsigned i = user_site_find(self->pid, ip);
    unsigned next;

    kernel_assert(self == arch_cpu()->current && !arch_cpu()->trace.fired);
    if (!i) {
        arch_irq_restore(irq);
        return false;
    }
    self->call = THREAD_CALL_NONE; /* for pr_syscall: its previous call has ended */
    *step = user.sites[i].step;
    for (unsigned p = __atomic_load_n(&user.sites[i].places, __ATOMIC_ACQUIRE); p; p = next) {
        next = __atomic_load_n(&user.places[p].at_site, __ATOMIC_ACQUIRE);
        if (user.places[p].enabled) {
            place_fire(&user.places[p], self);
        }
    }
    arch_irq_restore(irq);
    return true;
}

void kernel_user_displaced(const struct thread *t, uintptr_t ip, uint32_t *insn)
{
    const unsigned i = user_site_find(t->pid, ip);

    if (i) {
        *insn = user.sites[i].step.insn;
    }
}

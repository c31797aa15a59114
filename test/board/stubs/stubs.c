/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Linked into the kernel of one test image: a stub, as the contracts describe it, of each function
 * of a port that is not marked "boot" (kernel/arch/cpu.h). The linker sends all calls here
 * (--wrap), so the image shows that a bring-up may begin with them. scripts/check-seam compares the
 * list with the marks. Not arch_shutdown(): by it the test ends.
 */
#include "abi/errno.h"
#include "kernel/arch/aspace.h"
#include "kernel/arch/board.h"
#include "kernel/arch/count.h"
#include "kernel/arch/cpu.h"
#include "kernel/arch/host.h"
#include "kernel/arch/irq.h"
#include "kernel/arch/panic.h"
#include "kernel/arch/probe.h"
#include "kernel/arch/stack.h"
#include "kernel/arch/step.h"

#pragma GCC diagnostic ignored "-Wunused-parameter"
#define STUB(name, answer, ...) \
    __typeof__(name) __wrap_##name; \
    __typeof__(answer) __wrap_##name(__VA_ARGS__) \
    { \
        return answer; \
    }
#define EMPTY(name, ...) \
    __typeof__(name) __wrap_##name; \
    void __wrap_##name(__VA_ARGS__) \
    { \
    }

typedef const struct thread *thread;

/* smp */
STUB(arch_cpu_start, -ENOSYS, unsigned n)
EMPTY(arch_ipi, uint32_t cpus)
STUB(arch_clock_skew, (uint64_t)0, void)
/* trace */
EMPTY(arch_site_patch, uintptr_t site, uintptr_t target, bool on)
STUB(arch_user_site, (enum arch_user_site)0, const void *at, uintptr_t site, uintptr_t target)
EMPTY(arch_user_site_write, void *at, uintptr_t site, uintptr_t target, bool on)
EMPTY(arch_text_write, uintptr_t at, const void *from, size_t bytes)
/* d */
STUB(arch_in_interrupt, (bool)false, void)
STUB(arch_sample_able, (bool)false, void)
EMPTY(arch_sample_set, uint64_t cycles)
STUB(arch_peek, (bool)false, void *to, uintptr_t address, size_t bytes, thread user)
STUB(arch_poke, (bool)false, uintptr_t address, const void *from, size_t bytes, thread user)
STUB(arch_user_frame, (bool)false, thread t, struct unwind_frame *f)
STUB(arch_return_address, (bool)false, uintptr_t *word, thread user)
STUB(arch_exception_frame, (bool)false, struct unwind_frame *f)
STUB(arch_probe_frame, (bool)false, struct unwind_frame *f, uintptr_t site, unsigned behind)
STUB(arch_probe_slot, (bool)false, uint32_t *code, uintptr_t slot, uintptr_t site, unsigned length,
     bool returns)
STUB(arch_probe_branch, (bool)false, uint32_t *insn, uintptr_t from, uintptr_t to, unsigned bytes)
EMPTY(arch_probe_known, uintptr_t site, uintptr_t slot, bool on)
STUB(arch_probe_target, (uintptr_t)0, uintptr_t site)
/* count */
STUB(arch_count_name, (const char *)0, unsigned event)
STUB(arch_count_has, (bool)false, unsigned event)
STUB(arch_count_counters, 0u, void)
STUB(arch_count_interrupts, (bool)false, void)
EMPTY(arch_count_set, unsigned n, unsigned event, unsigned modes)
EMPTY(arch_count_write, unsigned n, uint32_t value)
STUB(arch_count_read, (uint64_t)0, unsigned n, bool *over)
EMPTY(arch_count_open, uint32_t counters)
/* step */
STUB(arch_step_able, (bool)false, const struct arch_step *step)
STUB(arch_step_slots, 0u, void)
EMPTY(arch_step_prepare, const struct arch_step *step)
STUB(arch_step_is_there, (bool)false, const void *at, const struct arch_step *step, bool trap)
EMPTY(arch_step_write, void *at, const struct arch_step *step, bool trap)
STUB(arch_step_argument, (uintptr_t)0, thread t, unsigned n)
STUB(arch_step_result, (uintptr_t)0, thread t)
/* stub */
STUB(arch_context_ip, (uintptr_t)0, thread t)
EMPTY(arch_context_allow_ports, struct thread *t)
STUB(arch_context_sp, (uintptr_t)0, thread t)
STUB(arch_context_registers, (uintptr_t)0, thread t, uintptr_t *registers)
STUB(arch_console_ready, (bool)true, void)
STUB(arch_backtrace_lost, (bool)false, thread t, unsigned *at, uintptr_t *to, unsigned *n,
     unsigned max)
EMPTY(arch_cache_clean, const void *start, size_t len)
STUB(arch_irq_name, (const char *)NULL, unsigned irq)
EMPTY(arch_irq_window, void)
STUB(arch_wall_clock, (uint64_t)0, void)
STUB(arch_watchdog_set, -ENOSYS, unsigned ms)
STUB(arch_host_open, (long)-ENOSYS, const char *path, size_t len, int mode)
STUB(arch_host_write, (long)-ENOSYS, int handle, const void *buf, size_t len)
STUB(arch_host_close, (long)-ENOSYS, int handle)
STUB(arch_host_time, (long)-ENOSYS, void)
EMPTY(arch_panic_registers, uint64_t *registers)

void __wrap_arch_reset(void) __attribute__((noreturn));
void __wrap_arch_reset(void)
{
    for (;;) {
    }
}

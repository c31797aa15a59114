/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Boot: kernel_main() on CPU 0, kernel_cpu_main() on the others, called by the ports on the CPUs'
 * kernel stacks. Both end in the kernel's exit, which returns the first thread to run.
 */
#include "kernel/arch/aspace.h"
#include "kernel/arch/board.h"
#include "kernel/arch/cpu.h"
#include "kernel/arch/entry.h"
#include "kernel/arch/irq.h"
#include "kernel/arch/panic.h"
#include "kernel/base/table.h"
#include "kernel/dtrace/dtrace.h"
#include "kernel/entry/crash.h"
#include "kernel/entry/exit.h"
#include "kernel/ipc/ipc.h"
#include "kernel/proc/proc.h"
#include "kernel/observe/observe.h"
#include "kernel/program/program.h"
#include "kernel/sync/sync.h"
#include "kernel/thread/sched.h"
#include "kernel/thread/thread.h"
#include "kernel/time/time.h"
#include "trace/trace.h"

/* Time that a CPU may take to start: an emulated CPU has to wait for one of the host's. If the
 * clock has stopped, this number of polls. */
#define CPU_START_NS 5000000000u
#define CPU_START_LOOKS UINT32_MAX

static void cpu_init(unsigned n)
{
    struct cpu *cpu = &cpus[n];

    cpu->id = n;
    cpu->bit = 1u << n;
    cpu->others = ~cpu->bit;
    cpu->timer_at = UINT64_MAX;
    cpu->quantum_end = UINT64_MAX;
    cpu->idle = thread_create_idle(kernel_process, n);
}

static void cpu_online(struct cpu *cpu)
{
    cpu->since = arch_cycles();
    cpu->online = true;
    __atomic_fetch_or(&cpus_online, 1u << cpu->id, __ATOMIC_RELEASE);
}

static bool cpu_comes(unsigned n)
{
    const uint64_t until = clock_now_ns() + CPU_START_NS;

    for (uint32_t looks = CPU_START_LOOKS; looks > 0; looks--) {
        if (cpus_online >> n & 1) {
            return true;
        }
        if (clock_now_ns() > until) {
            break;
        }
        arch_spin_hint();
    }
    return false;
}

/* Starts the other CPUs, one after the other. A CPU that does not respond is left out. */
static void start_cpus(void)
{
    for (unsigned n = 1; n < arch_cpu_count(); n++) {
        int error = arch_cpu_start(n);

        if (error || !cpu_comes(n)) {
            kprintf("CPU %u does not start (%d)\n", n, -error);
        }
    }
}

static void *table_memory(size_t bytes)
{
    paddr_t pa = phys_alloc(bytes, 64);

    if (!pa) {
        kernel_panic("no room for the kernel's tables");
    }
    return arch_phys_to_virt(pa);
}

/* Tables keep their memory, so it is placed where no program is linked to have its data. */
static void *table_further(void *at, size_t bytes)
{
    paddr_t pa = at ? arch_virt_to_phys(at) : phys_alloc_below(bytes, 1, CONFIG_PLACED_RAM);

    /* the memory that follows is another granule */
    kernel_assert(CONFIG_TABLE_PIECE % phys_granule() == 0);
    if (!pa || (at && (bytes > CONFIG_PLACED_RAM - pa || !phys_alloc_at(pa, bytes)))) {
        return NULL;
    }
    phys_clear(pa, bytes);
    return arch_phys_to_virt(pa);
}

static void init_modules(void)
{
    paddr_t ram;
    size_t ram_len;

    arch_ram(&ram, &ram_len);
    phys_init(ram, ram_len);
    retain_claim_ram(ram, ram_len);
    table_init(ram_len, table_memory, table_further);
    ram_init(ram, ram_len);
    thread_init();
    process_init();
    for (unsigned n = 0; n < arch_cpu_count(); n++) {
        cpu_init(n);
    }
    crash_init();
    trace_init();
    trace_cpu_init(&cpus[0].trace, 0);
    timer_init();
    sched_init();
    channel_init();
    name_init();
    sync_init();
}

struct thread *kernel_main(void)
{
    struct cpu *cpu = &cpus[0];

    kernel_debug(cpu->locked = true); /* no other code runs in the kernel yet */
    init_modules();
    cpu_online(cpu);
    start_cpus();
    syspage_init();
    retain_start();
    kprintf("kymo on %s, %u CPU(s), %lu KB free\n", BOARD_NAME, cpu_online_count(),
            (unsigned long)(phys_available() / 1024));
    kernel_debug(cpu->locked = false);
    kernel_lock();
    kernel_d_init();
    int error = spawn_first();
    if (error < 0) {
        kernel_panic("init can't be started: error %d", -error);
    }
    return exit_locked(cpu);
}

struct thread *kernel_cpu_main(unsigned n)
{
    struct cpu *cpu = &cpus[n];

    trace_cpu_init(&cpu->trace, n);
    cpu_online(cpu);
    kernel_lock();
    return exit_locked(cpu);
}

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

/* How long CPU 0 waits for another one; or this many looks, if the clock has stopped. */
#define CPU_START_NS (CPU_START_SECONDS * UINT64_C(1000000000))
#define CPU_START_LOOKS UINT32_MAX

/* [a] Of each CPU, whether it takes part: by itself, when it comes, or CPU 0 gives it up before. */
static uint8_t cpu_part[CONFIG_CPUS];
enum cpu_part { CPU_AWAITED, CPU_TAKES_PART, CPU_LEFT_OUT };

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

/* Decides on a CPU, unless that is done. Returns whether this decision is the first. */
static bool cpu_decide(unsigned n, enum cpu_part part)
{
    uint8_t awaited = CPU_AWAITED;

    return __atomic_compare_exchange_n(&cpu_part[n], &awaited, (uint8_t)part, false,
                                       __ATOMIC_ACQ_REL, __ATOMIC_RELAXED);
}

/* Returns false for a CPU that has not come in time. It stays out: programs know already which CPUs
 * there are. */
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
    if (cpu_decide(n, CPU_LEFT_OUT)) {
        return false;
    }
    while (!(cpus_online >> n & 1)) { /* it has come just now */
        arch_spin_hint();
    }
    return true;
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

    while (!cpu_decide(n, CPU_TAKES_PART)) { /* for ever: it comes too late */
        arch_spin_hint();
    }
    trace_cpu_init(&cpu->trace, n);
    cpu_online(cpu);
    kernel_lock();
    return exit_locked(cpu);
}

/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The startup block that a program finds above its main thread's stack: struct kymo_startup, argv[]
 * and the argument strings. Kernel lock held; the request has been checked.
 */
#include "kernel/base/cpu.h"
#include "kernel/arch/irq.h"
#include "kernel/program/spawn.h"
#include "kernel/base/string.h"

uint32_t spawn_block_size(const struct kymo_spawn *s)
{
    size_t size = sizeof(struct kymo_startup) + (s->argc + 1) * sizeof(uintptr_t) + s->arg_bytes;

    return (uint32_t)((size + 31) & ~(size_t)31);
}

/* Points argv[i] to the i-th string; the strings lie at `strings` in the process. */
static void write_argv(uintptr_t *argv, uintptr_t strings, const struct kymo_spawn *s)
{
    uint32_t at = 0;

    for (uint32_t i = 0; i < s->argc; i++) {
        argv[i] = strings + at;
        at += (uint32_t)strlen(s->args + at) + 1;
    }
}

void spawn_block_write(struct spawn_job *job, const struct kymo_spawn *s)
{
    struct kymo_startup *startup = (struct kymo_startup *)job->block_kva;
    size_t argv_bytes = (s->argc + 1) * sizeof(uintptr_t);
    uintptr_t argv = job->block + sizeof(*startup);

    memset(job->block_kva, 0, job->block_size);
    startup->size = sizeof(*startup);
    startup->argc = s->argc;
    startup->argv = (char **)argv;
    startup->heap_start = (void *)job->heap_low;
    startup->heap_end = (void *)job->heap_high;
    startup->stack_low = (void *)job->stack_low;
    startup->stack_high = (void *)job->stack_high;
    startup->pid = job->child->pid;
    startup->ppid = job->child->ppid;
    startup->ability = s->ability;
    startup->ncpu = cpu_online_count();
    startup->cycles_per_sec = arch_clock_hz();
    write_argv((uintptr_t *)(startup + 1), argv + argv_bytes, s);
    memcpy(job->block_kva + sizeof(*startup) + argv_bytes, s->args, s->arg_bytes);
}

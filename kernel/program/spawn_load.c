/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Loads a program's contents in steps, so that the kernel can be left between them: clears the
 * memory, copies the segments, relocates (spawn_reloc.c), makes the text visible to instruction
 * fetch. Kernel lock held. The whole file is untrusted: elf.c bounds all reads of it, and this code
 * writes nothing outside the bytes of a segment.
 *
 * A step does pieces of one or several phases until it has done STEP_WORK, which counts words of
 * memory that are read or written. Counting words instead of bytes makes all steps take about the
 * same time; even if one instruction moves many words, each of them takes the memory's time.
 */
#include "abi/errno.h"
#include "kernel/arch/aspace.h"
#include "kernel/arch/cpu.h"
#include "kernel/arch/irq.h"
#include "kernel/program/spawn.h"
#include "kernel/base/string.h"
#include "kernel/base/cpu.h"
#include "kernel/proc/proc.h"
#include "trace/filter.h"

enum {
    SPAWN_PHASE_CLEAR,
    SPAWN_PHASE_COPY,
    SPAWN_PHASE_RELOCATE,
    SPAWN_PHASE_SYNC,
    SPAWN_PHASE_DONE
};

#define STEP_WORK 4096u
#define STEP_REST (STEP_WORK / 8) /* this little is left for the next step */
#define SYNC_WORK 8u              /* for each cache line that is made visible */
#define WORD sizeof(uintptr_t)
#define LINE 64u /* bytes: pieces begin at multiples of this, so that they stay aligned */

void spawn_work(size_t *left, size_t done)
{
    *left -= done < *left ? done : *left;
}

static int next_phase(struct spawn_job *job)
{
    job->phase++;
    job->index = 0;
    job->offset = 0;
    return 1;
}

/* Returns the length of the next piece of an object with `total` bytes, for which the remaining
 * work is sufficient at this number of accesses per word; advances to the next object at its
 * end. */
static size_t next_piece(struct spawn_job *job, size_t total, size_t *work, size_t accesses)
{
    kernel_assert(job->offset <= total && *work > 0);
    size_t n = total - job->offset;
    size_t most = (*work * WORD / accesses + LINE - 1) / LINE * LINE;

    if (n <= most) {
        job->index++;
        job->offset = 0;
    } else {
        n = most;
        job->offset += n;
    }
    spawn_work(work, n / WORD * accesses + 1);
    return n;
}

static int clear_some(struct spawn_job *job, size_t *work)
{
    if (job->index == job->nclears) {
        return next_phase(job);
    }
    const struct spawn_clear *c = &job->clears[job->index];
    uint8_t *at = c->at + job->offset;
    arch_clear(at, next_piece(job, c->len, work, 1));
    return 1;
}

/* Words at unaligned addresses are copied one by one. */
static int copy_some(struct spawn_job *job, size_t *work)
{
    if (job->index == job->nsegments) {
        return next_phase(job);
    }
    const struct spawn_segment *s = &job->segments[job->index];
    size_t at = job->offset;
    if (s->kva == s->elf.data) { /* the text runs in the boot image */
        job->index++;
        return 1;
    }
    bool odd = ((uintptr_t)s->kva - (uintptr_t)s->elf.data) % WORD != 0;
    memcpy(s->kva + at, s->elf.data + at, next_piece(job, s->elf.file_len, work, odd ? 4 : 2));
    return 1;
}

static int relocate_some(struct spawn_job *job, size_t *work)
{
    int result = spawn_reloc_some(job, work);

    return result ? result : next_phase(job);
}

/* Needs an instruction or two for each cache line, whose time is not known. */
static int sync_some(struct spawn_job *job, size_t *work)
{
    if (job->index == job->nsegments) {
        return next_phase(job);
    }
    const struct spawn_segment *s = &job->segments[job->index];
    size_t at = job->offset, n = (size_t)s->elf.mem_len - at, most = *work * LINE / SYNC_WORK;

    if (n > most) {
        n = most;
        job->offset += n;
    } else {
        job->index++;
        job->offset = 0;
    }
    if (s->elf.flags & ELF_PF_X) {
        arch_text_sync(s->kva + at, n);
    }
    spawn_work(work, n * SYNC_WORK / LINE + 1);
    return 1;
}

static int load_some(struct spawn_job *job, size_t *work)
{
    switch (job->phase) {
    case SPAWN_PHASE_CLEAR:
        return clear_some(job, work);
    case SPAWN_PHASE_COPY:
        return copy_some(job, work);
    case SPAWN_PHASE_RELOCATE:
        return relocate_some(job, work);
    case SPAWN_PHASE_SYNC:
        return sync_some(job, work);
    default:
        return 0;
    }
}

int spawn_load_step(struct spawn_job *job)
{
    size_t work = STEP_WORK;
    int result;

    kernel_assert(kernel_locked() && job->child);
    do {
        result = load_some(job, &work);
    } while (result > 0 && work > STEP_REST);
    return result;
}

/* ---- the startup block ------------------------------------------------------------- */

/* The startup block is above the main thread's stack: struct kymo_startup, argv[] and the argument
 * strings. The request has been checked. */
uint32_t spawn_block_size(const struct kymo_spawn *s)
{
    size_t size = sizeof(struct kymo_startup) + (s->argc + 1) * sizeof(uintptr_t) + s->arg_bytes;

    return (uint32_t)((size + 31) & ~(size_t)31);
}

/* Points argv[i] to the i-th string; the strings are at `strings` in the process. */
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
    startup->ncpu = arch_cpu_count();
    startup->cpus = cpus_online;
    startup->cycles_per_sec = arch_clock_hz();
    startup->system_probes = trace_system_wanted;
    job->child->startup = job->block;
    write_argv((uintptr_t *)(startup + 1), argv + argv_bytes, s);
    memcpy(job->block_kva + sizeof(*startup) + argv_bytes, s->args, s->arg_bytes);
}

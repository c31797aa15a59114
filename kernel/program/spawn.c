/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * ProcSpawn(): creates a process from a program of the boot image. Kernel lock held.
 *
 * The whole request is copied and checked at once, so that the caller can't change it later. Then
 * the process is created, its memory laid out (spawn_layout.c) and its contents loaded
 * (spawn_load.c) in steps, with a preemption point (KER_AGAIN) after each. If the caller ends in
 * between, the incomplete process is removed. The state between the steps is in memory charged to
 * the caller, so no spawn, however slow, keeps another process from spawning.
 *
 * Errors: ENOENT: no such program. ENOEXEC: not a program for this machine. ENOMEM, EAGAIN: no
 * room. EPERM: without ABILITY_SPAWN, or more abilities, priority or limits than the caller may
 * give. EINVAL: all others. Tested by test/kernel (the readers) and test/board.
 */
#include "kernel/arch/aspace.h"
#include "kernel/arch/board.h"
#include "kernel/arch/elf.h"
#include "kernel/program/spawn.h"

#include "abi/errno.h"
#include "abi/sys/ability.h"
#include "kernel/program/cpio.h"
#include "kernel/base/cpu.h"
#include "kernel/base/kercall.h"
#include "kernel/observe/observe.h"
#include "kernel/base/string.h"
#include "kernel/thread/thread.h"

#define JOB_ALIGN 16u
#define STACK_MIN 512u
#define SIZE_MAX_ASKED 0x40000000u

static bool spawn_has_nul(const char *s, size_t size)
{
    for (size_t i = 0; i < size; i++) {
        if (s[i] == '\0') {
            return true;
        }
    }
    return false;
}

/* Returns whether exactly argc strings, each ended by NUL, fill the argument bytes. */
static bool args_well_formed(const struct kymo_spawn *s)
{
    uint32_t strings = 0;

    if (s->arg_bytes > KYMO_ARG_MAX || (s->arg_bytes && s->args[s->arg_bytes - 1] != '\0')) {
        return false;
    }
    for (uint32_t i = 0; i < s->arg_bytes; i++) {
        strings += s->args[i] == '\0';
    }
    return strings == s->argc;
}

static int spawn_request_check(const struct kymo_spawn *s)
{
    if (!spawn_has_nul(s->program, sizeof(s->program)) || !args_well_formed(s) ||
        (s->flags & ~(uint32_t)(KYMO_SPAWN_HOLD | KYMO_SPAWN_GROUP)) || s->limits >> KYMO_LIMITS) {
        return -EINVAL;
    }
    if (s->priority < 0 || s->priority > PRIORITY_MAX || s->policy < SCHED_NOCHANGE ||
        s->policy > SCHED_OTHER) {
        return -EINVAL;
    }
    if ((s->stack_size && s->stack_size < STACK_MIN) || s->stack_size > SIZE_MAX_ASKED ||
        s->heap_size > SIZE_MAX_ASKED) {
        return -EINVAL;
    }
    return s->runmask && !(s->runmask & cpus_online) ? -EINVAL : 0;
}

static int request_allowed(const struct thread *self, const struct kymo_spawn *s)
{
    const struct process *proc = self->proc;

    if (!process_able(proc, ABILITY_SPAWN) || !process_able(proc, s->ability)) {
        return -EPERM;
    }
    if (s->priority > PRIORITY_UNPRIVILEGED_MAX && s->priority > self->base_priority &&
        !process_able(proc, ABILITY_PRIORITY)) {
        return -EPERM;
    }
    return 0;
}

static int program_open(struct elf_image *elf, const char *name)
{
    struct cpio_file file;

    if (!name[0] || !boot_file(name, &file)) {
        return -ENOENT;
    }
    return elf_open(elf, file.data, file.len, arch_elf_machine(), arch_elf_class());
}

/* Returns NULL if there is no memory for it. */
static struct spawn_job *job_new(struct thread *caller)
{
    struct payer payer = process_payer(caller ? caller->proc : kernel_process);
    paddr_t pa = ram_alloc(process_account(payer), sizeof(struct spawn_job), JOB_ALIGN);

    if (!pa) {
        return NULL;
    }
    struct spawn_job *job = arch_phys_to_virt(pa);
    memset(job, 0, offsetof(struct spawn_job, request));
    job->caller = caller;
    job->payer = payer;
    return job;
}

static void job_free(struct spawn_job *job)
{
    ram_free(process_account(job->payer), arch_virt_to_phys(job), sizeof(*job));
}

/* Returns the thread on whose behalf the process is created. */
static struct thread *job_parent(const struct spawn_job *job)
{
    return job->caller ? job->caller : kernel_process->threads[0];
}

/* Removes a child whose creation was not reported, so that its end isn't reported either. */
static void job_drop(struct spawn_job *job)
{
    kernel_assert(kernel_locked());
    struct process *child = job->child;

    job_free(job);
    if (child) {
        kernel_assert(child->loading);
        process_leave_parent(child);
        process_end(child, 0);
    }
}

/* Stores the main thread's attributes: from the request, otherwise from its parent. */
static void job_note_thread(struct spawn_job *job, const struct thread *parent,
                            const struct kymo_spawn *s)
{
    job->attr = (struct _thread_attr){
        .priority = s->priority ? s->priority : parent->base_priority,
        .policy = s->policy ? s->policy : parent->policy,
        .runmask = s->runmask ? s->runmask : UINT32_MAX,
        .stackaddr = (void *)job->stack_low,
        .stacksize = job->stack_high - job->stack_low,
    };
    job->child->held = s->flags & KYMO_SPAWN_HOLD;
}

/* Finds the program in the boot image. */
static int job_open(struct spawn_job *job)
{
    int error = program_open(&job->elf, job->request.program);

    job->opened = !error;
    return error ? error : 1;
}

/* Creates the process, empty. */
static int job_make(struct spawn_job *job)
{
    const struct thread *parent = job_parent(job);
    const struct kymo_spawn *s = &job->request;
    int error = process_create(s->program, parent->proc->pid, s->ability, &job->child);

    if (error) {
        return error;
    }
    job->child->loading = true;
    job->stack_size = s->stack_size ? s->stack_size : CONFIG_STACK;
    job->heap_size = s->heap_size ? s->heap_size : CONFIG_HEAP;
    job->block_size = spawn_block_size(s);
    retain_process(job->child);
    error = process_limit(job->child, s->limits, s->limit, s->flags & KYMO_SPAWN_GROUP);
    return error ? error : 1;
}

/* Does the next step of the layout; after the last one writes the startup block. */
static int job_lay_out(struct spawn_job *job)
{
    int result = spawn_layout_step(job);

    if (result == 0) {
        job->laid_out = true;
        spawn_block_write(job, &job->request);
        job_note_thread(job, job_parent(job), &job->request);
        return 1;
    }
    return result;
}

/* Called when everything is loaded: creates the thread, and starts it unless it is held. The thread
 * isn't created earlier, because some ports keep a part of its context on its stack. */
static int job_end(struct spawn_job *job)
{
    kernel_assert(job->child->loading && job->child->nthreads == 0);
    struct process *child = job->child;
    struct thread *t;
    int error = thread_create(child, kernel_process->threads[0], spawn_placed(job, job->elf.entry),
                              job->block, &job->attr, &t);

    if (error) {
        job_drop(job);
        return error;
    }
    t->flags |= THREAD_MAIN;
    child->loading = false;
    trace_mapname((uint32_t)child->pid, child->program.text, child->program.text_len, child->name);
    retain_process(child); /* gdb stops there and reads the job: scripts/gdb_program.py */
    job_free(job);
    if (!child->held) {
        thread_start(t);
    }
    return child->pid;
}

static long job_step(struct spawn_job *job)
{
    int result = !job->opened     ? job_open(job)
                 : !job->child    ? job_make(job)
                 : !job->laid_out ? job_lay_out(job)
                                  : spawn_load_step(job);

    if (result > 0) {
        return KER_AGAIN;
    }
    if (result < 0) {
        job_drop(job);
        return result;
    }
    return job_end(job);
}

static long spawn_begin(struct thread *self, uintptr_t request)
{
    struct spawn_job *job = job_new(self);

    if (!job) {
        return -ENOMEM;
    }
    int error = copy_in(self->proc, &job->request, request, sizeof(job->request));
    if (!error) {
        error = spawn_request_check(&job->request);
    }
    if (!error) {
        error = request_allowed(self, &job->request);
    }
    if (error) {
        job_drop(job);
        return error;
    }
    self->spawning = job;
    self->step = 1;
    return KER_AGAIN;
}

long ker_proc_spawn(struct thread *self, const uintptr_t *args)
{
    if (self->step == 0) {
        return spawn_begin(self, args[0]);
    }
    return job_step(self->spawning);
}

void spawn_abandon(struct thread *t)
{
    kernel_assert(kernel_locked());
    if (t->step && t->call == KER_PROC_SPAWN) {
        job_drop(t->spawning);
    }
}

int spawn_first(void)
{
    static const struct kymo_spawn init = {
        .ability = ABILITY_EVERY,
        .limits = (1u << KYMO_LIMITS) - 1,
        .limit = {[0 ... KYMO_LIMITS - 1] = KYMO_LIMIT_MOST},
        .program = "init",
        .priority = 10,
        .policy = SCHED_RR,
        .argc = 1,
        .arg_bytes = sizeof("init"),
        .args = "init",
    };
    struct spawn_job *job = job_new(NULL);
    long result;

    if (!job) {
        return -ENOMEM;
    }
    job->request = init;
    do {
        result = job_step(job);
    } while (result == KER_AGAIN);
    return (int)result;
}

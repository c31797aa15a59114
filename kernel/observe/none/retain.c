/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A board without retained memory (board.mk: RETAIN := none), in place of kernel/observe/retain.c:
 * nothing survives a reset. TraceEvent() says ENODEV to what would use it. Contexts as there.
 * Proved by test/in_place/check.
 */
#include "abi/errno.h"
#include "abi/sys/ability.h"
#include "kernel/arch/entry.h"
#include "kernel/base/cpu.h"
#include "kernel/base/string.h"
#include "kernel/observe/retain.h"

/* struct cpu lies in a section that start-up code does not clear. */
void retain_boot(void)
{
    memset(cpus, 0, sizeof(cpus));
}

void retain_claim_ram(paddr_t ram, size_t bytes)
{
    (void)ram;
    (void)bytes;
}

void retain_start(void)
{
}

void retain_note(uint32_t id, const void *bytes, uint32_t n)
{
    (void)id;
    (void)bytes;
    (void)n;
}

void retain_process(const struct process *proc)
{
    (void)proc;
}

void retain_thread(const struct thread *t)
{
    (void)t;
}

void retain_process_ended(struct process *proc)
{
    (void)proc;
}

int retain_window(uint8_t **window, uint32_t *floor, uint32_t *boots)
{
    *window = NULL;
    *floor = *boots = 0;
    return -ENODEV;
}

struct kymo_panic *retain_panic(void)
{
    return NULL;
}

void retain_seal(void)
{
}

long retain_command(struct thread *self, uint32_t cmd, const uintptr_t *args)
{
    (void)cmd;
    (void)args;
    return process_able(self->proc, ABILITY_TRACE) ? -ENODEV : -EPERM;
}

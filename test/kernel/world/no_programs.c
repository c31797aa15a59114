/* SPDX-License-Identifier: BSD-2-Clause */
/* Stand-ins for kernel/program/spawn.c, kernel/ipc/name.c and kernel/mem/mem_calls.c: there are no
 * programs, no names, and MemMap() is fake_map.c's. */
#include "abi/errno.h"
#include "kernel/program/program.h"
#include "test/kernel/world/world.h"

void spawn_abandon(struct thread *t)
{
    (void)t;
}

bool name_process_gone(struct process *proc)
{
    (void)proc;
    return false;
}

ABSENT(proc_spawn)
ABSENT(name_attach)
ABSENT(name_detach)
ABSENT(name_lookup)
ABSENT(lib_word)
ABSENT(mem_protect)

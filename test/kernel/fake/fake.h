/* SPDX-License-Identifier: BSD-2-Clause */
/* What the tests of kernel files share: the fake machine's state. test/kernel/fake/fake.c. */
#ifndef TEST_KERNEL_FAKE_FAKE_H
#define TEST_KERNEL_FAKE_FAKE_H

#include <stdbool.h>
#include <stddef.h>

#include "kernel/base/cpu.h"
#include "kernel/proc/proc.h"

#define FAKE_GRANULE 64u

extern bool fake_relocates;       /* what arch_elf_relocates() says */
extern uint32_t fake_ipis;        /* CPUs that arch_ipi() was asked for */
extern uintptr_t fake_next_vaddr; /* what arch_aspace_map() gives next */
extern int fake_map_error;        /* what it returns, if not 0 */
/* Finds the process that pays for something; NULL: none does, all is the system's. */
extern void (*fake_window)(void); /* what happens at kernel_window(); NULL: nothing */
extern struct process *(*fake_payer)(int pid);
/* Gives a process that is all zero an account without limits but its tables' sizes. */
void fake_account(struct process *proc);

#endif

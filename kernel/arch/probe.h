/* SPDX-License-Identifier: BSD-2-Clause */
/* The port interface: trace sites and function probes. kernel/arch/cpu.h explains the marks. */
#ifndef KERNEL_ARCH_PROBE_H
#define KERNEL_ARCH_PROBE_H

#include "kernel/arch/cpu.h"

#define ARCH_PROBE_WORDS 6 /* size of a function probe's slot */
/* Each port's ops.h defines ARCH_PROBE_BYTES: the bytes that a probe's branch replaces;
 * ARCH_CODE_SHIFT: instructions are at multiples of 1 << ARCH_CODE_SHIFT. */

/* Patches a trace site; on: the site jumps to target. Lock held, or before SMP start. After a batch
 * the caller calls arch_text_sync(), and cross-calls all other CPUs if they must see the change at
 * once. [cpu, trace] */
void arch_site_patch(uintptr_t site, uintptr_t target, bool on);
/* Returns the state of a program's static probe, whose instruction has the address `site` in the
 * program and `at` in the kernel: the NOP, or a branch to `target`. OTHER also if the target is out
 * of reach. Lock held. [cpu, trace] */
enum arch_user_site { ARCH_USER_SITE_OTHER, ARCH_USER_SITE_OFF, ARCH_USER_SITE_ON };
enum arch_user_site arch_user_site(const void *at, uintptr_t site, uintptr_t target);
/* Writes the branch, or the NOP. Precondition: the instruction is one of the two; unless
 * ARCH_SITE_LIVE (ops.h) no other CPU executes the text. After a batch the caller calls
 * arch_text_sync() for the last of them. Lock held. [cpu, trace] */
void arch_user_site_write(void *at, uintptr_t site, uintptr_t target, bool on);
/* Writes to the kernel's text and makes the change visible to instruction fetch. Precondition: no
 * other CPU executes that text, or the bytes don't change. [cpu, trace] */
void arch_text_write(uintptr_t at, const void *from, size_t bytes);

/*
 * Builds the slot of a function probe (kernel/dtrace/fbt.c; only ports with a folder probe/). Lock
 * held. Writes ARCH_PROBE_WORDS of code that call kernel_probe_entry or _return, execute the
 * `length` displaced bytes of `site` (if `returns`, their last instruction is the return) and
 * continue after them. The code will run at address `slot`. Returns false if the site can't be
 * probed. [cpu, d]
 */
bool arch_probe_slot(uint32_t code[ARCH_PROBE_WORDS], uintptr_t slot, uintptr_t site,
                     unsigned length, bool returns);
/* Returns the offset in its slot at which the code continues, whose address kernel_probe_entry() or
 * _return() gets, or 0 if it differs between slots. [inline, d] */
static inline uintptr_t arch_probe_back(bool returns);
/* Encodes a branch of this many bytes, in memory order. Returns false if the target is out of range
 * or the CPU has no such branch. [cpu, d] */
bool arch_probe_branch(uint32_t *insn, uintptr_t from, uintptr_t to, unsigned bytes);
/* For ports whose branch is a trap, which finds its slot by its address: registers that `site` will
 * lead to `slot`, or no longer does. Kernel lock; the other CPUs wait in code without probes. [cpu,
 * d] */
void arch_probe_known(uintptr_t site, uintptr_t slot, bool on);
/* Returns the target of the branch at site, or 0 if it is not a branch. [cpu, d] */
uintptr_t arch_probe_target(uintptr_t site);
/* Returns argument n of the probed function from the registers that kernel_probe_entry() or
 * _return() got. [inline, d] */
static inline uintptr_t arch_probe_argument(const uintptr_t *regs, unsigned n);
/* Returns the probed function's return value. [inline, d] */
static inline uintptr_t arch_probe_result(const uintptr_t *regs);

#endif

/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The port interface: probes of programs (kernel/dtrace/user). A trap replaces an instruction; its
 * handler fires the probe, then the port executes the displaced instruction. Only for ports with a
 * folder step/. kernel/arch/cpu.h explains the marks.
 */
#ifndef KERNEL_ARCH_STEP_H
#define KERNEL_ARCH_STEP_H

#include "kernel/arch/cpu.h"

/* The bytes of the longest instruction: a port's ops.h defines it if there are more. */
#ifndef ARCH_STEP_MOST
#define ARCH_STEP_MOST 4
#endif

/* Bytes of text that must follow an instruction, for a second trap: likewise. */
#ifndef ARCH_STEP_AFTER
#define ARCH_STEP_AFTER 0
#endif

/* A location in a program's text that a trap replaces. */
struct arch_step {
    uintptr_t address;
    union {
        uint32_t insn; /* the displaced instruction; if it has 2 bytes the upper half is 0 */
        uint8_t code[ARCH_STEP_MOST]; /* all of it, then zeros */
    };
    uint16_t slot; /* the caller's number of the location */
    uint8_t bytes; /* its length */
};

/* Returns whether the instruction can be executed in this way. [cpu, step] */
bool arch_step_able(const struct arch_step *step);
/* Returns the largest possible number of locations: slots are below it. [cpu, step] */
unsigned arch_step_slots(void);
/* Prepares the execution of the displaced instruction. Lock held; the text has no trap at the
 * location yet. [cpu, step] */
void arch_step_prepare(const struct arch_step *step);
/* Returns whether the text at the kernel address `at` is the displaced instruction or, with `trap`,
 * the trap itself. [cpu, step] */
bool arch_step_is_there(const void *at, const struct arch_step *step, bool trap);
/* Writes the trap, or the instruction, to `at`. No other CPU executes the text. After a batch the
 * caller calls arch_text_sync() for the last of them. Lock held. [cpu, step] */
void arch_step_write(void *at, const struct arch_step *step, bool trap);
/* Return a word of the thread that has hit a trap: argument n of the function that begins at the
 * location, and the result of a function that returns there. [cpu, step] */
uintptr_t arch_step_argument(const struct thread *t, unsigned n);
uintptr_t arch_step_result(const struct thread *t);

#endif

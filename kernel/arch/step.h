/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The port interface: probes of programs (kernel/dtrace/user). A trap takes an instruction's place;
 * its handler fires the probe, then the port executes what the trap has displaced. Only ports with
 * a folder step/. kernel/arch/cpu.h explains the marks.
 */
#ifndef KERNEL_ARCH_STEP_H
#define KERNEL_ARCH_STEP_H

#include "kernel/arch/cpu.h"

/* The bytes of the longest instruction: the port's ops.h says so if these are more. */
#ifndef ARCH_STEP_MOST
#define ARCH_STEP_MOST 4
#endif

/* Bytes of the text that have to be behind an instruction, for a second trap: likewise. */
#ifndef ARCH_STEP_BEHIND
#define ARCH_STEP_BEHIND 0
#endif

/* A place in a program's text that a trap replaces. */
struct arch_step {
    uintptr_t address;
    union {
        uint32_t insn; /* the displaced instruction; of one of 2 bytes the upper half is 0 */
        uint8_t code[ARCH_STEP_MOST]; /* all of it, then zeros */
    };
    uint16_t slot; /* the caller's number of the place */
    uint8_t bytes; /* its length */
};

/* Returns whether the instruction can be executed in this way. [cpu, step] */
bool arch_step_able(const struct arch_step *step);
/* How many places there may be: slots are below this. [cpu, step] */
unsigned arch_step_slots(void);
/* Makes what executing it takes. Lock held; the text has no trap there yet. [cpu, step] */
void arch_step_prepare(const struct arch_step *step);
/* Returns whether the kernel finds the displaced instruction at `at`, where the trap is to be; the
 * trap itself. [cpu, step] */
bool arch_step_is_there(const void *at, const struct arch_step *step, bool trap);
/* Puts the trap, or the instruction, to `at`. No other CPU executes the text. After a batch the
 * caller calls arch_text_sync() for the last of them. Lock held. [cpu, step] */
void arch_step_write(void *at, const struct arch_step *step, bool trap);
/* Return a word of the thread that has met a trap: argument n of the function that begins there,
 * and the result of one that returns there. [cpu, step] */
uintptr_t arch_step_argument(const struct thread *t, unsigned n);
uintptr_t arch_step_result(const struct thread *t);

#endif

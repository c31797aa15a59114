/* SPDX-License-Identifier: BSD-2-Clause */
/* The port interface: memory that may be absent, stacks of threads and of the kernel.
 * kernel/arch/cpu.h explains the marks. */
#ifndef KERNEL_ARCH_STACK_H
#define KERNEL_ARCH_STACK_H

#include "kernel/arch/cpu.h"

/*
 * Fault-safe load and store for D. Return false if the access would fault, hit a device, or touch
 * memory of another process than the running one. user: the running thread (or, with the kernel
 * lock held, any thread) whose process's memory is accessed; NULL: kernel memory. Any context,
 * interrupts masked. [cpu, d]
 */
bool arch_peek(void *to, uintptr_t address, size_t bytes, const struct thread *user);
bool arch_poke(uintptr_t address, const void *from, size_t bytes, const struct thread *user);

/* Each port's ops.h defines ARCH_CALL_PUSHES: bytes of the return address that a call stores on the
 * stack; 0: it is in a link register. */

/* A stack frame, for kernel/observe/unwind.c. Any context, interrupts masked. */
struct unwind_frame {
    uintptr_t pc, sp, fp, lr;
    /* pc is the next instruction and lr the link register; otherwise pc is a return address and lr
     * is unknown */
    bool live;
    /* an exception returns to user level from this frame: fp is the thread's, lr is EXC_RETURN */
    bool to_user;
    /* a function probe is an exception, which returns from this frame */
    bool at_probe;
};
/* Returns the user-level frame of a thread that entered the kernel or faulted on this CPU. Returns
 * false if it is unknown, for example lost in a stack overflow. [cpu, d] */
bool arch_user_frame(const struct thread *t, struct unwind_frame *f);
/* Returns the registers of the function that this is inlined in. [inline, boot] */
static inline void arch_frame_here(uintptr_t *pc, uintptr_t *sp, uintptr_t *fp);
/* Converts a stack word to a code address. Returns false if no call instruction precedes that
 * address. user: searches this running thread's program; NULL: the kernel. [cpu, d] */
bool arch_return_address(uintptr_t *word, const struct thread *user);
/* Returns true if f->pc, a stored return address, is an exception return. f is then the interrupted
 * frame (live; at_probe or not), or f->to_user is set, or neither: that frame can't be read.
 * [cpu, d] */
bool arch_exception_frame(struct unwind_frame *f);
/* For an f->pc `offset` bytes after the start of a function probe's slot: replaces f with the frame
 * of the probed function at `site`, live. Unused where f->at_probe is. [cpu, d] */
bool arch_probe_frame(struct unwind_frame *f, uintptr_t site, unsigned offset);
/* Recovers a backtrace when a stack overflow made a fault lose the registers: adds stack words that
 * look like return addresses to the *n ones in to[], which has room for max. Stale words may be
 * among them. Examines as many words from word *at on as the time between two preemption points
 * allows, and advances *at. Returns whether there may be more; a stub returns false. [cpu, stub] */
bool arch_backtrace_lost(const struct thread *t, unsigned *at, uintptr_t *to, unsigned *n,
                         unsigned max);

#endif

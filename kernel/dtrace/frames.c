/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The frames of the current thread's stack in its program, with their stack pointers, and the
 * program's location: a frame's data for D's helpers (trace/dtrace/helper.h). Probe context. Tested
 * by test/board/helper.py.
 */
#include "kernel/arch/cpu.h"
#include "kernel/arch/stack.h"
#include "kernel/base/cpu.h"
#include "kernel/observe/observe.h"
#include "kernel/proc/proc.h"
#include "trace/dtrace/port.h"

/* A function that has not stored anything yet has no frame of its own: its stack pointer is its
 * caller's. */
static uint64_t own_stack(const struct unwind_frame *f, const struct unwind_frame *caller)
{
    return caller && caller->sp - f->sp <= ARCH_CALL_PUSHES ? 0 : f->sp;
}

unsigned dtrace_port_frames(void (*found)(void *arg, uint64_t pc, uint64_t sp), void *arg,
                            unsigned max)
{
    const struct thread *t = arch_cpu()->current;
    struct unwind_frame f, caller;
    unsigned n = 0;
    bool more = t && max > 0 && arch_user_frame(t, &f);

    while (more) {
        caller = f;
        more = unwind_user_next(t, &caller);
        found(arg, f.pc, own_stack(&f, more ? &caller : NULL));
        f = caller;
        more = ++n < max && more;
    }
    return n;
}

void dtrace_port_moved(uint64_t *text, uint64_t *data)
{
    const struct program *program = &dtrace_port_thread()->proc->program;

    *text = program->text - program->text_link;
    *data = program->data_moved;
}

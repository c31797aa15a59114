/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The interpreter: one loop for each running function, so that each frame of the C stack
 * corresponds to one of the machine's. A debugger or jstack() would see vm_run() as often as
 * functions are nested; the helper in stackvm.d returns their names.
 */
#include "apps/stackvm/vm.h"

#include <kymo_helper.h>
#include <stddef.h>

KYMO_HELPER("apps/stackvm/stackvm.d");

static int32_t vm_pop_value(int32_t **top)
{
    return *--*top;
}

/* Memory of the last alloca() is at the stack pointer whenever the function calls another one, or
 * is interrupted: the helper reads it at arg1. */
int32_t vm_run(const struct vm_function *function, const int32_t *arguments)
{
    volatile struct vm_frame *f = __builtin_alloca(sizeof(*f));
    int32_t *top = (int32_t *)f->stack, right;

    f->function = function;
    f->pc = 0;
    for (uint32_t i = 0; i < VM_SLOTS; i++) {
        f->slots[i] = i < function->arguments ? arguments[i] : 0;
    }
    f->magic = VM_FRAME_MAGIC;
    for (;;) {
        const uint8_t *at = &function->code[f->pc], operand = at[1];
        uint32_t next = f->pc + 2;

        switch (at[0]) {
        case VM_PUSH:
            *top++ = operand;
            break;
        case VM_LOAD:
            *top++ = f->slots[operand];
            break;
        case VM_STORE:
            f->slots[operand] = vm_pop_value(&top);
            break;
        case VM_ADD:
            right = vm_pop_value(&top);
            top[-1] += right;
            break;
        case VM_SUB:
            right = vm_pop_value(&top);
            top[-1] -= right;
            break;
        case VM_LESS:
            right = vm_pop_value(&top);
            top[-1] = top[-1] < right;
            break;
        case VM_JUMP:
            next = operand;
            break;
        case VM_JUMP_IF_ZERO:
            next = vm_pop_value(&top) == 0 ? operand : next;
            break;
        case VM_CALL:
            top -= vm_functions[operand].arguments;
            right = vm_run(&vm_functions[operand], top);
            *top++ = right;
            break;
        case VM_PAUSE:
            vm_pause();
            break;
        default:
            f->magic = 0; /* a later frame at this address is invalid until it sets magic */
            return vm_pop_value(&top);
        }
        f->pc = next;
    }
}

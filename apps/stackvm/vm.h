/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A stack machine of integers: its functions, and the frames by which its helper (stackvm.d) finds
 * them. See vm.c.
 */
#ifndef APPS_STACKVM_VM_H
#define APPS_STACKVM_VM_H

#include <stdint.h>

enum vm_op {
    VM_PUSH,  /* a number */
    VM_LOAD,  /* a slot */
    VM_STORE, /* a slot */
    VM_ADD,
    VM_SUB,
    VM_LESS,
    VM_JUMP, /* an offset in the function */
    VM_JUMP_IF_ZERO,
    VM_CALL, /* a function */
    VM_PAUSE,
    VM_RETURN,
};

enum { VM_FRAME_MAGIC = 0x4d56534b, VM_SLOTS = 4, VM_STACK = 16 };

/* Arguments are the first slots. An instruction is two bytes: its code and its operand. */
struct vm_function {
    const char *name;
    const uint8_t *code;
    uint32_t arguments;
};

/* A running function's frame. vm_run() has it at the lowest address of its own frame. */
struct vm_frame {
    uint32_t magic; /* VM_FRAME_MAGIC while the frame is valid */
    uint32_t pc;    /* of the current instruction */
    const struct vm_function *function;
    int32_t slots[VM_SLOTS];
    int32_t stack[VM_STACK];
};

extern const struct vm_function vm_functions[];

int32_t vm_run(const struct vm_function *, const int32_t *arguments);
/* The function that VM_PAUSE calls. */
void vm_pause(void);

#endif

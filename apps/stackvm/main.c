/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * An interpreted program: stackvm [ROUNDS]. Its functions, in the machine's own code, call each
 * other; without a number it runs forever. It is the example of docs/guide/helpers.md.
 */
#include "apps/stackvm/vm.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

enum { MAIN, AVERAGE, SUM, SAMPLE, FIBONACCI };

/* main(n): average(4) + fibonacci(n) */
static const uint8_t code_main[] = {
    VM_PUSH, 4, VM_CALL, AVERAGE, VM_LOAD, 0, VM_CALL, FIBONACCI, VM_ADD, 0, VM_RETURN, 0,
};

/* clang-format off */

/* average(n): number of times that n fits into sum(n) */
static const uint8_t code_average[] = {
    /*  0 */ VM_LOAD, 0, VM_CALL, SUM, VM_STORE, 1,
    /*  6 */ VM_LOAD, 1, VM_LOAD, 0, VM_LESS, 0, VM_JUMP_IF_ZERO, 18,
    /* 14 */ VM_LOAD, 2, VM_RETURN, 0,
    /* 18 */ VM_LOAD, 1, VM_LOAD, 0, VM_SUB, 0, VM_STORE, 1,
    /* 26 */ VM_LOAD, 2, VM_PUSH, 1, VM_ADD, 0, VM_STORE, 2, VM_JUMP, 6,
};

/* sum(n): sample(1) + … + sample(n) */
static const uint8_t code_sum[] = {
    /*  0 */ VM_LOAD, 0, VM_JUMP_IF_ZERO, 24,
    /*  4 */ VM_LOAD, 0, VM_CALL, SAMPLE, VM_LOAD, 1, VM_ADD, 0, VM_STORE, 1,
    /* 14 */ VM_LOAD, 0, VM_PUSH, 1, VM_SUB, 0, VM_STORE, 0, VM_JUMP, 0,
    /* 24 */ VM_LOAD, 1, VM_RETURN, 0,
};

/* sample(n): 2n, after a pause */
static const uint8_t code_sample[] = {
    VM_PAUSE, 0, VM_LOAD, 0, VM_LOAD, 0, VM_ADD, 0, VM_RETURN, 0,
};

static const uint8_t code_fibonacci[] = {
    /*  0 */ VM_LOAD, 0, VM_PUSH, 2, VM_LESS, 0, VM_JUMP_IF_ZERO, 12,
    /*  8 */ VM_LOAD, 0, VM_RETURN, 0,
    /* 12 */ VM_LOAD, 0, VM_PUSH, 1, VM_SUB, 0, VM_CALL, FIBONACCI,
    /* 20 */ VM_LOAD, 0, VM_PUSH, 2, VM_SUB, 0, VM_CALL, FIBONACCI,
    /* 28 */ VM_ADD, 0, VM_RETURN, 0,
};

/* clang-format on */

const struct vm_function vm_functions[] = {
    [MAIN] = {"main", code_main, 1},
    [AVERAGE] = {"average", code_average, 1},
    [SUM] = {"sum", code_sum, 1},
    [SAMPLE] = {"sample", code_sample, 1},
    [FIBONACCI] = {"fibonacci", code_fibonacci, 1},
};

void vm_pause(void)
{
    usleep(1000);
}

int main(int argc, char **argv)
{
    const int rounds = argc > 1 ? atoi(argv[1]) : 0;
    int32_t n = 14, result = 0;

    for (int i = 0; rounds == 0 || i < rounds; i++) {
        result = vm_run(&vm_functions[MAIN], &n);
    }
    printf("stackvm: %ld\n", (long)result);
    return 0;
}

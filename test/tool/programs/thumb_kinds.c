/* SPDX-License-Identifier: BSD-2-Clause */
/* For thumb.py: of each instruction of Thumb-2 on standard input, in hexadecimal, its length, what
 * a probe would do with it, and the target of a jump at address 0. */
#include <stdio.h>

#include "isa/armv7m/step.h"

int main(void)
{
    static const char *const kinds[] = {"refused", "in-place", "emulated"};
    unsigned insn;

    while (scanf("%x", &insn) == 1) {
        printf("%u %s %x\n", t2_step_bytes(insn), kinds[t2_step_kind(insn)],
               t2_step_target(insn, 0));
    }
    return 0;
}

/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Copies and fills memory: this port's arch_copy_turns() and arch_fill_turns(). LDM and STM move
 * eight words each; the compiler would move four. An interrupt does not wait for their end: the CPU
 * abandons them and continues or repeats them later. Tested by test/board/programs/t_align.c, with
 * messages of all lengths and alignments.
 */
#include "kernel/arch/cpu.h"

#define EIGHT "{r3-r6, r8-r10, r12}"
#define COPY_TURN \
    "ldmia %1!, " EIGHT "\n\tstmia %0!, " EIGHT "\n\t" \
    "ldmia %1!, " EIGHT "\n\tstmia %0!, " EIGHT "\n\t"
#define FILL_TURN "stmia %0!, " EIGHT "\n\tstmia %0!, " EIGHT "\n\t"
#define CLOBBERED "r3", "r4", "r5", "r6", "r8", "r9", "r10", "r12", "cc", "memory"

_Static_assert(ARCH_TURN == 64, "two times eight words");

void armv7m_copy_turns(uint8_t *restrict to, const uint8_t *restrict from, size_t len)
{
    const uint8_t *end = from + len;

    if (len & ARCH_TURN) {
        __asm__ volatile(COPY_TURN : "+r"(to), "+r"(from)::CLOBBERED);
    }
    if (from != end) {
        __asm__ volatile("1:\n\t" COPY_TURN COPY_TURN "cmp %1, %2\n\t"
                         "bne 1b"
                         : "+r"(to), "+r"(from)
                         : "r"(end)
                         : CLOBBERED);
    }
}

void armv7m_fill_turns(uint8_t *to, uint32_t word, size_t len)
{
    const uint8_t *end = to + len;

    __asm__ volatile("mov r3, %1\n\tmov r4, %1\n\tmov r5, %1\n\tmov r6, %1\n\t"
                     "mov r8, %1\n\tmov r9, %1\n\tmov r10, %1\n\tmov r12, %1\n"
                     "1:\n\t" FILL_TURN "cmp %0, %2\n\t"
                     "bne 1b"
                     : "+r"(to)
                     : "r"(word), "r"(end)
                     : CLOBBERED);
}

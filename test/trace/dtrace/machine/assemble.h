/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * DIF as text, for tests. A line is an instruction, or a declaration; operands as they stand in the
 * instruction from left to right, in D's order where a register is stored:
 *
 *   var x global scalar value 8     scopes global thread local; kinds scalar array;
 *   var s local scalar string       value N, ref N, string [N]
 *   top: add r1 r2 r3               r3 = r1 + r2
 *   ldub r1 r2                      r2 = [r1]; stb r1 r2: [r2] = r1
 *   setx 0x1234 r1                  its constant goes to the integer table
 *   sets "a\tb" r1                  likewise; \xHH \n \t \\ \" are known
 *   ldgs timestamp r1               ldgs x r1; stgs x r1; ldga args r2 r1
 *   be end                          label or number
 *   call strlen r1 · pushtr string r2 r1 · pushtr ctf r2 r1 · pushtv r1 · copys r1 r2 r3 · ret r1
 *   word 0x01020304                 any instruction
 *   result string [N] | ref N | value N      of the object; value 8 if not said
 *
 * ; and newline end a line, # begins a comment.
 */
#ifndef TEST_TRACE_DTRACE_MACHINE_ASSEMBLE_H
#define TEST_TRACE_DTRACE_MACHINE_ASSEMBLE_H

#include "trace/dtrace/dif.h"

enum { ASM_TEXT = 512, ASM_INTS = 128, ASM_STRINGS = 8192, ASM_VARS = 32 };

struct asm_object {
    struct dif_object object; /* its tables are these: */
    dif_insn text[ASM_TEXT];
    uint64_t ints[ASM_INTS];
    char strings[ASM_STRINGS];
    struct dif_variable vars[ASM_VARS];
};

/* Ends the test program with a message if the text is bad. Not thread-safe. */
void assemble(struct asm_object *, const char *text);

#endif

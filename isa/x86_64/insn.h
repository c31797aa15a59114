/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Decodes x86-64 instructions as far as is needed to move one: the length, PC-relative fields, and
 * whether it jumps. With it the host decides where fbt may put a breakpoint (host/fbt), and the
 * kernel builds a slot (kernel/arch/x86_64/probe). It knows the instructions that compilers
 * generate for the baseline CPU and refuses the others: length 0. Tested by test/host/fbt against
 * objdump's output for the whole kernel.
 */
#ifndef ISA_X86_64_INSN_H
#define ISA_X86_64_INSN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { X86_INSN_MOST = 15, X86_INSN_ADDRESS32 = 0x67 };

struct x86_insn {
    uint8_t length; /* 0: unknown */
    uint8_t opcode; /* after prefixes and, if `two`, after 0f */
    uint8_t rex;    /* 0: none */
    uint8_t modrm;  /* offset of the byte; 0: none */
    uint8_t near;   /* offset of a 32-bit field relative to the instruction's end; 0: none */
    uint8_t hop;    /* likewise of an 8-bit field */
    bool two;
};

/*
 * The bytes after an opcode, a row for 16 opcodes: - refused; n none; m ModRM; b, w, z an immediate
 * of 8, 16, 16 or 32 bits; B, Z ModRM and such an immediate; v MOV's, which may have 64 bits; g, G
 * ModRM and, of TEST only, an immediate; h, r a jump's 8 or 32 bits.
 */
static inline char x86_insn_form(uint8_t opcode, bool two)
{
    static const char one_byte[] = "mmmmbz--mmmmbz--" /* 00 */
                                   "mmmmbz--mmmmbz--"
                                   "mmmmbz--mmmmbz--"
                                   "mmmmbz--mmmmbz--"
                                   "----------------" /* 40 */
                                   "nnnnnnnnnnnnnnnn"
                                   "---m----zZbBnnnn"
                                   "hhhhhhhhhhhhhhhh"
                                   "BZ-Bmmmmmmmmmmmm" /* 80 */
                                   "nnnnnnnnnn-nnnnn"
                                   "----nnnnbznnnnnn"
                                   "bbbbbbbbvvvvvvvv"
                                   "BBwn--BZ-n--nb-n" /* c0 */
                                   "mmmm---nmmmmmmmm"
                                   "hhhhbbbbrr-hnnnn"
                                   "----nngGnnnnnnmm";
    static const char two_bytes[] = "mmmm-nnnnn-n-m--" /* 00 */
                                    "mmmmmmmmmmmmmmmm"
                                    "mmmm----mmmmmmmm"
                                    "nnnnnn----------"
                                    "mmmmmmmmmmmmmmmm" /* 40 */
                                    "mmmmmmmmmmmmmmmm"
                                    "mmmmmmmmmmmmmmmm"
                                    "BBBBmmmn----mmmm"
                                    "rrrrrrrrrrrrrrrr" /* 80 */
                                    "mmmmmmmmmmmmmmmm"
                                    "nnnmBm--nn-mBmmm"
                                    "mmmmmmmmm-Bmmmmm"
                                    "mmBmBBBmnnnnnnnn" /* c0 */
                                    "mmmmmmmmmmmmmmmm"
                                    "mmmmmmmmmmmmmmmm"
                                    "mmmmmmmmmmmmmmm-";

    return (two ? two_bytes : one_byte)[opcode];
}

static inline bool x86_insn_is_prefix(uint8_t byte)
{
    return byte == 0x66 || byte == 0xf0 || byte == 0xf2 || byte == 0xf3 || byte == 0x64 ||
           byte == 0x65 || byte == X86_INSN_ADDRESS32 || (byte & 0xe7) == 0x26;
}

/* Returns the bytes of ModRM, SIB and displacement; records a displacement relative to the
 * instruction's end. `at`: the offset of ModRM, of which two bytes are available. */
static inline unsigned x86_insn_operand(struct x86_insn *i, const uint8_t *bytes, unsigned at)
{
    unsigned mod = bytes[at] >> 6, rm = bytes[at] & 7, sib = mod != 3 && rm == 4;

    i->modrm = (uint8_t)at;
    if (mod == 0 && rm == 5) {
        i->near = (uint8_t)(at + 1);
        return 5;
    }
    if (mod == 0 && sib && (bytes[at + 1] & 7) == 5) {
        return 6;
    }
    return 1 + sib + (mod == 1 ? 1 : mod == 2 ? 4 : 0);
}

static inline unsigned x86_insn_immediate(const struct x86_insn *i, char form, bool short16,
                                          const uint8_t *bytes)
{
    bool test = (form == 'g' || form == 'G') && (bytes[i->modrm] & 0x30) == 0;

    switch (form) {
    case 'b':
    case 'B':
    case 'h':
        return 1;
    case 'w':
        return 2;
    case 'r':
        return 4;
    case 'v':
        return i->rex & 8 ? 8 : short16 ? 2 : 4;
    case 'z':
    case 'Z':
        return short16 ? 2 : 4;
    case 'g':
        return test;
    case 'G':
        return !test ? 0 : short16 ? 2 : 4;
    default:
        return 0;
    }
}

/* `room`: bytes that may be read. */
static inline struct x86_insn x86_insn_read(const uint8_t *bytes, size_t room)
{
    struct x86_insn unknown, i;
    uint8_t padded[X86_INSN_MOST + 2] = {0};
    bool short16 = false, low = false;
    unsigned at = 0;

    __builtin_memset(&unknown, 0, sizeof(unknown));
    i = unknown;
    for (unsigned n = 0; n < X86_INSN_MOST && n < room; n++) {
        padded[n] = bytes[n];
    }
    for (; at < X86_INSN_MOST - 1 && x86_insn_is_prefix(padded[at]); at++) {
        short16 |= padded[at] == 0x66;
        low |= padded[at] == X86_INSN_ADDRESS32;
    }
    if ((padded[at] & 0xf0) == 0x40) {
        i.rex = padded[at++];
        short16 &= !(i.rex & 8);
    }
    i.two = padded[at] == 0x0f;
    at += i.two;
    if (at >= X86_INSN_MOST) {
        return unknown;
    }
    i.opcode = padded[at++];
    char form = x86_insn_form(i.opcode, i.two);
    if (form == '-' || (short16 && (form == 'r' || form == 'h'))) {
        return unknown;
    }
    if (form == 'm' || form == 'B' || form == 'Z' || form == 'g' || form == 'G') {
        if (at >= X86_INSN_MOST) {
            return unknown;
        }
        at += x86_insn_operand(&i, padded, at);
    }
    i.near = form == 'r' ? (uint8_t)at : i.near;
    i.hop = form == 'h' ? (uint8_t)at : 0;
    at += x86_insn_immediate(&i, form, short16, padded);
    i.length = (uint8_t)at;
    return at > X86_INSN_MOST || at > room || (low && (i.near || i.hop)) ? unknown : i;
}

#endif

/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Properties of an instruction for D's provider fbt: can it be executed elsewhere, does it leave
 * the function, where does it go. Pure functions of the instruction's bytes and address. Tested by
 * test/host/fbt against golden cases, random code and objdump's reading of the real kernels.
 */
#ifndef HOST_FBT_INSN_H
#define HOST_FBT_INSN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum fbt_kind {
    FBT_PLAIN,    /* does the same at any address */
    FBT_SHIFTED,  /* relative to its address, but a slot can hold one that does the same */
    FBT_RELATIVE, /* relative to its address: stays where it is */
    FBT_RETURN,
    FBT_BRANCH,   /* to `target` */
    FBT_CALL,     /* to `target`, or through a register */
    FBT_INDIRECT, /* a jump through a register or from memory */
    FBT_TABLE,    /* TBB, TBH: `length` bytes later lie offsets, of `size` bytes each */
    FBT_IT,       /* the next `size` instructions depend on a condition */
    FBT_STOP,     /* traps, returns from exceptions, what no manual knows */
};

struct fbt_insn {
    enum fbt_kind kind;
    uint8_t length; /* bytes */
    uint8_t size;
    bool has_target;  /* of a branch, a call, or a conditional one that is FBT_SHIFTED */
    bool conditional; /* of a branch: by itself, not by an IT block */
    bool may_call;    /* FBT_INDIRECT: the compiler's tail calls through a pointer look like that */
    bool makes_frame; /* moves the stack pointer down: nothing loops back to it */
    bool too_long;    /* for a slot */
    uint64_t target;  /* of FBT_INDIRECT: the address of a table of its targets, or 0 */
};

struct fbt_insn fbt_a64_decode(const uint8_t *bytes, size_t room, uint64_t address);
struct fbt_insn fbt_thumb_decode(const uint8_t *bytes, size_t room, uint64_t address);
struct fbt_insn fbt_x86_decode(const uint8_t *bytes, size_t room, uint64_t address);

#endif

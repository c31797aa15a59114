/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Finds where in a kernel's text fbt may put its branches, and why not elsewhere. Works on bytes
 * and lists that come from an ELF file (elf.c) or from a test (test/host/fbt).
 */
#ifndef HOST_FBT_SCAN_H
#define HOST_FBT_SCAN_H

#include "host/fbt/insn.h"

/* The bytes of the branch that replaces instructions on Arm, and of x86's breakpoint. */
enum { FBT_SITE_BYTES = 4, FBT_BREAKPOINT_BYTES = 1 };

struct fbt_text {
    const uint8_t *bytes;
    uint64_t base;
    size_t size;
    bool thumb;
    uint8_t *marks;       /* FBT_MARK_*, one a byte: fbt_text_mark() */
    struct fbt_pad *pads; /* by address */
    size_t npads;
    bool x86;
};
/* FBT_SITE_BYTES that nothing executes. Where a branch of 16 bits is all that fits, it goes to one
 * of these, and from there a wide one continues. */
struct fbt_pad {
    uint64_t at;
    bool used;
};
enum {
    FBT_MARK_DATA = 1,   /* no instruction */
    FBT_MARK_TARGET = 2, /* something jumps here */
    FBT_MARK_PINNED = 4, /* is patched by others, or found by its address */
    FBT_MARK_START = 8,  /* a function begins here */
    FBT_MARK_EDGE = 16,  /* struct fbt_kernel's edges begin here */
};

struct fbt_return {
    uint64_t at;   /* where the branch goes */
    uint64_t insn; /* the return instruction itself */
    uint64_t pad;  /* 0: the branch reaches by itself */
    bool tail;     /* it jumps to another function */
    /* Bytes displaced, the return instruction the last of them. 2 without a pad: the branch covers
     * the filling after it, too. */
    uint8_t length;
};
enum { FBT_RETURNS_MAX = 64 };

struct fbt_function {
    const char *name;
    uint64_t at, size;
    const char *left_out;  /* why: neither entry nor return */
    const char *no_entry;  /* why */
    const char *no_return; /* why */
    uint8_t entry;         /* bytes displaced at the start; 0: no probe */
    uint64_t pad;          /* as of a return */
    unsigned nreturns;
    struct fbt_return returns[FBT_RETURNS_MAX];
};

/* Marks all targets of jumps, once data, starts and pinned places are marked. */
void fbt_text_mark(struct fbt_text *);
void fbt_mark(struct fbt_text *, uint64_t address, uint8_t mark);
bool fbt_marked(const struct fbt_text *, uint64_t address, uint8_t mark);
/* The lowest free pad that a 16-bit branch at `site` reaches; 0: none is near enough. */
uint64_t fbt_pad_take(const struct fbt_text *, uint64_t site);
void fbt_pad_give(const struct fbt_text *, uint64_t pad); /* 0: none */
/* Returns whether a NOP that nothing executes, and that is no part of a pad, lies there. */
bool fbt_is_filling(const struct fbt_text *, uint64_t at);
bool fbt_is_nop(const struct fbt_text *, uint64_t at); /* of 16 bits, not patched by others */
struct fbt_insn fbt_decode_at(const struct fbt_text *, uint64_t address);
/* Fills in all but name, at, size, left_out. */
void fbt_scan(const struct fbt_text *, struct fbt_function *);

#endif

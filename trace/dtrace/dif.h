/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * D's intermediate format: instructions, numbers and the objects that contain them. Shared by the
 * compiler, the machine, the disassembler and the tests. Names and numbers are DTrace's published
 * ones; opcodes.def lists them all.
 */
#ifndef TRACE_DTRACE_DIF_H
#define TRACE_DTRACE_DIF_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "abi/static_assert.h"

enum dif_op {
#define DIF_OP(number, name, format, doc) DIF_OP_##name = (number),
#include "trace/dtrace/opcodes.def"
};

/* Layout of an instruction's fields, as opcodes.def assigns it. */
enum dif_format {
    DIF_FORMAT_BAD, /* no such opcode */
    DIF_FORMAT_RRR,
    DIF_FORMAT_RR,
    DIF_FORMAT_CMP,
    DIF_FORMAT_TST,
    DIF_FORMAT_BRANCH,
    DIF_FORMAT_LOAD,
    DIF_FORMAT_STORE,
    DIF_FORMAT_RET,
    DIF_FORMAT_NONE,
    DIF_FORMAT_SETX,
    DIF_FORMAT_SETS,
    DIF_FORMAT_LDA,
    DIF_FORMAT_LDV,
    DIF_FORMAT_STV,
    DIF_FORMAT_CALL,
    DIF_FORMAT_PUSHR,
    DIF_FORMAT_PUSHV,
    DIF_FORMAT_COPY,
    DIF_FORMAT_XLATE,
};

enum dif_var {
#define DIF_VAR(number, name, kind, type, doc) DIF_VAR_##name = (number),
#include "trace/dtrace/opcodes.def"
};

enum dif_subr {
#define DIF_SUBR(number, name, result, args, cost, doc) DIF_SUBR_##name = (number),
#include "trace/dtrace/opcodes.def"
};

enum {
    DIF_VERSION = 2,
    DIF_REGS = 8,       /* r0-r7; r0 reads as 0 and can't be written */
    DIF_TUPLE_REGS = 8, /* data pushed at a time */
    DIF_OP_MAX = 79,
    DIF_SUBR_MAX = 57,
    DIF_VAR_ARRAY_MAX = 0xff,   /* array variables: 0 to this */
    DIF_VAR_ARRAY_USER = 0x80,  /* a program's own array variables begin here */
    DIF_VAR_OTHER_USER = 0x500, /* a program's own scalars and associative arrays begin here */
    DIF_VAR_OTHER_MAX = 0xffff,
    DIF_OBJECT_MAX = 256 * 1024,    /* bytes of an object's instructions and tables */
    DIF_STATIC_VAR_MAX = 16 * 1024, /* bytes of a variable that is not an associative element */
    DIF_ELEMENT_MAX = 1024 * 1024,  /* bytes of an associative element */
};

typedef uint32_t dif_insn;

#define DIF_INSN_OP(i) ((i) >> 24)
#define DIF_INSN_R1(i) ((i) >> 16 & 0xff)
#define DIF_INSN_R2(i) ((i) >> 8 & 0xff)
#define DIF_INSN_RD(i) ((i)&0xff)
#define DIF_INSN_LABEL(i) ((i)&0xffffff)
#define DIF_INSN_INDEX(i) ((i) >> 8 & 0xffff) /* SETX, SETS, LDV, STV, CALL */
#define DIF_INSN_VAR_A(i) DIF_INSN_R1(i)      /* LDA */
#define DIF_INSN_PUSH_TYPE(i) DIF_INSN_R1(i)  /* PUSHR, PUSHV */

#define DIF_RRR(op, r1, r2, rd) \
    ((uint32_t)(op) << 24 | (uint32_t)(r1) << 16 | (uint32_t)(r2) << 8 | (uint32_t)(rd))
#define DIF_BRANCH(op, label) ((uint32_t)(op) << 24 | (uint32_t)(label))
#define DIF_INDEX(op, index, rd) ((uint32_t)(op) << 24 | (uint32_t)(index) << 8 | (uint32_t)(rd))

/* Kind of a value: of a pushed datum, a variable, a result. */
enum dif_type_kind {
    DIF_TYPE_CTF = 0, /* a C value or object */
    DIF_TYPE_STRING = 1,
};

enum dif_var_kind { DIF_KIND_ARRAY = 0, DIF_KIND_SCALAR = 1 };
enum dif_scope { DIF_SCOPE_GLOBAL = 0, DIF_SCOPE_THREAD = 1, DIF_SCOPE_LOCAL = 2 };
enum dif_var_flags { DIF_FLAG_REF = 1, DIF_FLAG_MOD = 2 }; /* read; written */

struct dif_type {
    uint8_t kind; /* enum dif_type_kind */
    uint8_t ref;  /* 1: by reference, the register holds an address; 0: by value */
    uint16_t pad;
    uint32_t size; /* bytes; of a string 0 = strsize */
};

struct dif_variable {
    uint32_t name; /* offset in the object's strings */
    uint16_t id;
    uint8_t kind;  /* enum dif_var_kind; ARRAY = associative */
    uint8_t scope; /* enum dif_scope */
    uint32_t flags;
    struct dif_type type;
};

/* A compiled expression: a predicate, or the value that an action records. */
struct dif_object {
    const dif_insn *text;
    const uint64_t *ints;
    const char *strings; /* begins with an empty string; ends with a NUL */
    const struct dif_variable *vars;
    uint32_t ntext, nints, strings_size, nvars;
    struct dif_type result;
};

/* Faults: ERROR's arg4. */
enum dif_fault {
    DIF_FAULT_NONE = -1,
    DIF_FAULT_UNKNOWN = 0,
    DIF_FAULT_BADADDR = 1,
    DIF_FAULT_BADALIGN = 2,
    DIF_FAULT_ILLOP = 3, /* for a built-in array: its number << 32 | the index */
    DIF_FAULT_DIVZERO = 4,
    DIF_FAULT_NOSCRATCH = 5,
    DIF_FAULT_KPRIV = 6,
    DIF_FAULT_UPRIV = 7,
    DIF_FAULT_TUPOFLOW = 8,
    DIF_FAULT_BADSTACK = 9,
};

KYMO_STATIC_ASSERT(sizeof(struct dif_type) == 8, "part of the program image");
KYMO_STATIC_ASSERT(sizeof(struct dif_variable) == 20, "part of the program image");

#endif

/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A compiled D program in the form sent to a target: one flat image, little-endian, every table at
 * an offset from its start and aligned to 8. Written by host/dt/code/image_make.c; the machine
 * doesn't trust it (trace/dtrace/validate.c). Types, formats and names of aggregations stay with
 * the consumer, which finds them by the numbers `clause`, `format` and `uarg`, opaque to the
 * machine.
 */
#ifndef TRACE_DTRACE_IMAGE_H
#define TRACE_DTRACE_IMAGE_H

#include "abi/static_assert.h"
#include "trace/dtrace/action.h"
#include "trace/dtrace/dif.h"

#define DTRACE_IMAGE_MAGIC 0x44796bffu /* ff "kyD" */

enum {
    DTRACE_IMAGE_VERSION = 2,
    DTRACE_IMAGE_MAX = 8 * 1024 * 1024, /* bytes */
    DTRACE_ACTIONS_MAX = 16 * 1024,     /* in one enabling */
    DTRACE_KERNEL_ID_BYTES = 20,
};

/* dtrace_image_ecb.clause of the enabling that every program has in addition to its own: ERROR's,
 * by whose record the consumer reports the fault. */
#define DTRACE_CLAUSE_FAULT UINT32_MAX

struct dtrace_image_table {
    uint32_t offset; /* bytes from the image's start */
    uint32_t count;  /* elements */
};

struct dtrace_image {
    uint32_t magic;
    uint16_t version;
    uint8_t pointer_bytes; /* 4 or 8: must be the target's */
    uint8_t dif_version;
    uint32_t size; /* bytes, this header included */
    uint32_t pad;
    struct dtrace_image_table options;   /* struct dtrace_image_option */
    struct dtrace_image_table ecbs;      /* struct dtrace_image_ecb, in program order */
    struct dtrace_image_table actions;   /* struct dtrace_image_action */
    struct dtrace_image_table objects;   /* struct dtrace_image_object */
    struct dtrace_image_table variables; /* struct dif_variable */
    struct dtrace_image_table text;      /* dif_insn */
    struct dtrace_image_table ints;      /* uint64_t */
    struct dtrace_image_table strings;   /* char */
    /* Identifies the kernel whose types, symbols and probes the program was compiled with, the only
     * one on which it may run: fbt_code_id of kernel/dtrace/fbt_table.h. All 0: compiled without a
     * kernel. */
    uint8_t kernel[DTRACE_KERNEL_ID_BYTES];
    uint32_t pad2;
};

/* Options that the machine needs. Others concern only the consumer. */
enum dtrace_option {
    DTRACE_OPT_BUFSIZE = 1, /* bytes per CPU (each of the pair under switch) */
    DTRACE_OPT_AGGSIZE,     /* bytes per CPU */
    DTRACE_OPT_SPECSIZE,    /* bytes per speculation and CPU */
    DTRACE_OPT_NSPEC,
    DTRACE_OPT_DYNVARSIZE, /* bytes */
    DTRACE_OPT_STRSIZE,    /* bytes */
    DTRACE_OPT_BUFPOLICY,  /* enum dtrace_policy */
    DTRACE_OPT_BUFRESIZE,  /* enum dtrace_resize */
    DTRACE_OPT_CPU,        /* absent: all */
    DTRACE_OPT_CLEANRATE,  /* ns */
    DTRACE_OPT_STATUSRATE, /* ns */
    DTRACE_OPT_STACKFRAMES,
    DTRACE_OPT_USTACKFRAMES,
    DTRACE_OPT_DESTRUCTIVE, /* 1: allowed */
    DTRACE_OPT_RETAIN,      /* 1: its buffers are in retained memory: retained.h */
    DTRACE_OPT_MAX,
};
enum dtrace_policy { DTRACE_POLICY_SWITCH, DTRACE_POLICY_FILL, DTRACE_POLICY_RING };
enum dtrace_resize { DTRACE_RESIZE_AUTO, DTRACE_RESIZE_MANUAL };

struct dtrace_image_option {
    uint32_t option;
    uint32_t pad;
    uint64_t value;
};

/* A clause on a probe description. */
struct dtrace_image_ecb {
    uint32_t provider, module, function, name; /* in strings: globs; "" matches all */
    uint32_t probe;                            /* not 0: this id only */
    uint32_t predicate;                        /* object + 1; 0: none */
    uint32_t first_action, nactions;
    uint32_t clause; /* the consumer's number for the clause */
    uint32_t flags;  /* enum dtrace_image_ecb_flags */
};

enum dtrace_image_ecb_flags {
    DTRACE_ECB_PART = 1, /* continues the previous entry's clause: not counted as matched */
};

/* One action. An aggregating action uses the `nkeys` DIFEXPR (or stack, symbol) actions before it
 * as its key; its own object, if its function has a value, comes after them. */
struct dtrace_image_action {
    uint16_t kind;   /* enum dtrace_action_kind */
    uint16_t nkeys;  /* aggregating: number of preceding actions that form its key */
    uint32_t object; /* index + 1; 0: none. For ustack and jstack: the first helper */
    /* quantize kinds: object + 1 of the weight; 0: weight 1. For stacks: the last helper */
    uint32_t weight;
    uint32_t format; /* opaque: see dtrace_recdesc */
    /* frames << 0 | strsize << 32 for ustack, bytes of tracemem, quantize's shape … */
    uint64_t arg;
    uint64_t uarg; /* opaque; aggregating: the @variable's number */
};

struct dtrace_image_object {
    uint32_t first_text, ntext;
    uint32_t first_int, nints;
    uint32_t first_string, strings_size;
    uint32_t first_var, nvars;
    struct dif_type result;
};

KYMO_STATIC_ASSERT(sizeof(struct dtrace_image) == 104, "leaves the program");
KYMO_STATIC_ASSERT(sizeof(struct dtrace_image_option) == 16, "leaves the program");
KYMO_STATIC_ASSERT(sizeof(struct dtrace_image_ecb) == 40, "leaves the program");
KYMO_STATIC_ASSERT(sizeof(struct dtrace_image_action) == 32, "leaves the program");
KYMO_STATIC_ASSERT(sizeof(struct dtrace_image_object) == 40, "leaves the program");

/* ---- reading a checked image (image.c) --------------------------------------------- */

/* Upper bounds of a string and of an action's record, whatever the program requests; a record of
 * that size is always dropped. */
enum { DTRACE_STRSIZE_MAX = 1 << 30, DTRACE_ACTION_BYTES_MAX = 1 << 30 };

#define DTRACE_IMAGE_TABLE(image, table, type) \
    ((const type *)(const void *)((const char *)(image) + (image)->table.offset))

/* Returns the value of an option of a checked image, or `absent`. A value above DTRACE_OPTION_MOST,
 * more than any memory, CPU or interval, counts as that value, which can be halved to valid
 * sizes. */
#define DTRACE_OPTION_MOST (SIZE_MAX / 2 + 1)
size_t dtrace_image_option_value(const struct dtrace_image *, enum dtrace_option, size_t absent);
/* Returns an object of a checked image. */
void dtrace_image_object_at(const struct dtrace_image *, uint32_t object, struct dif_object *);
/* Returns the number of bytes that an action of a checked image records (0: none), and their
 * alignment. The value of an aggregating action has its own size, see dtrace_agg_value_size(). */
uint32_t dtrace_action_bytes(const struct dtrace_image *, const struct dtrace_image_action *,
                             uint32_t strsize, uint32_t *align);

/* Returns whether actions of this kind are described to the consumer even if they record
 * nothing. */
bool dtrace_action_described(uint16_t kind);
/* Returns whether the n-th of these actions is a key of a later aggregation. */
bool dtrace_action_is_key(const struct dtrace_image_action *actions, uint32_t n, uint32_t nactions);

#endif

/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Actions of a clause and the records that they write: action kinds, aggregating functions, record
 * descriptions. Shared by compiler, machine and consumer. The numbers are DTrace's published ones.
 */
#ifndef TRACE_DTRACE_ACTION_H
#define TRACE_DTRACE_ACTION_H

#include <stdint.h>

#include "abi/static_assert.h"

enum dtrace_action_kind {
    DTRACE_ACT_NONE = 0,
    DTRACE_ACT_DIFEXPR = 1, /* trace(), and each argument of the actions that take several */
    DTRACE_ACT_EXIT = 2,
    DTRACE_ACT_PRINTF = 3,
    DTRACE_ACT_PRINTA = 4,
    DTRACE_ACT_LIBACT = 5, /* executed by the consumer: arg is an enum dtrace_libact */
    DTRACE_ACT_TRACEMEM = 6,
    DTRACE_ACT_TRACEMEM_DYNSIZE = 7,
    DTRACE_ACT_PRINTM = 8,
    DTRACE_ACT_USTACK = 0x101,
    DTRACE_ACT_JSTACK = 0x102,
    DTRACE_ACT_USYM = 0x103,
    DTRACE_ACT_UMOD = 0x104,
    DTRACE_ACT_UADDR = 0x105,
    DTRACE_ACT_STOP = 0x201,
    DTRACE_ACT_RAISE = 0x202,
    DTRACE_ACT_SYSTEM = 0x203,
    DTRACE_ACT_FREOPEN = 0x204,
    DTRACE_ACT_STACK = 0x401,
    DTRACE_ACT_SYM = 0x402,
    DTRACE_ACT_MOD = 0x403,
    DTRACE_ACT_LOGSTOP = 0x409, /* Kymo's own */
    DTRACE_ACT_BREAKPOINT = 0x501,
    DTRACE_ACT_PANIC = 0x502,
    DTRACE_ACT_CHILL = 0x503,
    DTRACE_ACT_SPECULATE = 0x601,
    DTRACE_ACT_COMMIT = 0x602,
    DTRACE_ACT_DISCARD = 0x603,
    DTRACE_AGG_COUNT = 0x701,
    DTRACE_AGG_MIN = 0x702,
    DTRACE_AGG_MAX = 0x703,
    DTRACE_AGG_AVG = 0x704,
    DTRACE_AGG_SUM = 0x705,
    DTRACE_AGG_STDDEV = 0x706,
    DTRACE_AGG_QUANTIZE = 0x707,
    DTRACE_AGG_LQUANTIZE = 0x708,
    DTRACE_AGG_LLQUANTIZE = 0x709,
    DTRACE_AGG_KEPT = 0x8000, /* internal to the machine: entries in retained memory */
};

#define DTRACE_ACT_IS_AGG(kind) ((kind) >> 8 == 7)
#define DTRACE_ACT_IS_SPEC(kind) ((kind) >> 8 == 6)
#define DTRACE_ACT_IS_DESTRUCTIVE(kind) ((kind) >> 8 == 2 || (kind) >> 8 == 5)

/* LIBACT: the consumer's action when it reaches the record. The arguments follow as DIFEXPR with
 * the same format number, as printf's do. */
enum dtrace_libact {
    DTRACE_LIBACT_CLEAR = 1,
    DTRACE_LIBACT_NORMALIZE = 2,
    DTRACE_LIBACT_DENORMALIZE = 3,
    DTRACE_LIBACT_TRUNC = 4,
    DTRACE_LIBACT_SETOPT = 5,
    DTRACE_LIBACT_FTRUNCATE = 6,
    DTRACE_LIBACT_PRINT = 7,
};

/* Buckets. quantize has 127, with the zero bucket in the middle. The shape of lquantize and
 * llquantize is in the first word of the datum and in the record description's arg. */
enum { DTRACE_QUANTIZE_BUCKETS = 127, DTRACE_QUANTIZE_ZERO = 63 };
#define DTRACE_LQUANTIZE_ARG(step, levels, base) \
    ((uint64_t)(uint16_t)(step) << 48 | (uint64_t)(uint16_t)(levels) << 32 | \
     (uint64_t)(uint32_t)(base))
#define DTRACE_LQUANTIZE_STEP(arg) ((uint16_t)((arg) >> 48))
#define DTRACE_LQUANTIZE_LEVELS(arg) ((uint16_t)((arg) >> 32))
#define DTRACE_LQUANTIZE_BASE(arg) ((int32_t)(uint32_t)(arg))
#define DTRACE_LLQUANTIZE_ARG(factor, low, high, nsteps) \
    ((uint64_t)(uint16_t)(factor) << 48 | (uint64_t)(uint16_t)(low) << 32 | \
     (uint64_t)(uint16_t)(high) << 16 | (uint64_t)(uint16_t)(nsteps))
#define DTRACE_LLQUANTIZE_FACTOR(arg) ((uint16_t)((arg) >> 48))
#define DTRACE_LLQUANTIZE_LOW(arg) ((uint16_t)((arg) >> 32))
#define DTRACE_LLQUANTIZE_HIGH(arg) ((uint16_t)((arg) >> 16))
#define DTRACE_LLQUANTIZE_NSTEPS(arg) ((uint16_t)(arg))
/* Returns the size in bytes of an aggregating function's value, or 0 if there is no such function
 * (agg_function.c). */
uint32_t dtrace_agg_value_size(uint16_t kind, uint64_t shape);
/* Returns the number of buckets of llquantize, including the ones below and above. */
unsigned dtrace_llquantize_buckets(uint64_t shape);

/* Header of a record in a principal or speculative buffer, aligned to 4. The data follows at the
 * offsets in the record descriptions, counted from the header's start. EPID 0: a gap of 4 bytes. */
struct dtrace_record {
    uint32_t epid;
    uint32_t time_high, time_low; /* ns, as `timestamp` */
};

/* Description of a datum in a record (or in an aggregation's tuple: key data, then the value). */
struct dtrace_recdesc {
    uint16_t kind;      /* enum dtrace_action_kind */
    uint16_t alignment; /* bytes */
    uint32_t size;      /* bytes; 0: nothing is recorded */
    uint32_t offset;    /* from the record's start */
    uint32_t format;    /* as in the image's action */
    /* as in the image's action: frames, quantize's shape, LIBACT's function … */
    uint64_t arg;
    uint64_t uarg; /* as in the image's action: opaque to the machine */
};

/* Description of an EPID: constant once enabled. */
struct dtrace_epid_desc {
    uint32_t epid;
    uint32_t probe;  /* id */
    uint32_t clause; /* the image's ecb */
    uint32_t size;   /* bytes of a record, header included */
    uint32_t nrecs;
};

/* Description of an aggregation id: one per aggregating action of one clause on one probe. */
struct dtrace_agg_desc {
    uint32_t id;
    uint32_t epid;
    uint32_t variable; /* number of the @variable: image action's uarg */
    uint32_t size;     /* bytes of an entry in the aggregation buffer */
    uint32_t nrecs;    /* the keys, then the value */
};

/* Header of an entry in an aggregation buffer, aligned to 8; recdesc offsets count from here. */
struct dtrace_agg_entry {
    uint32_t id;
    uint32_t size;       /* bytes to the next entry, a multiple of 8 */
    uint32_t hash, next; /* private to the machine */
};

KYMO_STATIC_ASSERT(sizeof(struct dtrace_agg_entry) == 16, "leaves the program");
KYMO_STATIC_ASSERT(sizeof(struct dtrace_record) == 12, "leaves the program");
KYMO_STATIC_ASSERT(sizeof(struct dtrace_recdesc) == 32, "leaves the program");
KYMO_STATIC_ASSERT(sizeof(struct dtrace_epid_desc) == 20, "leaves the program");
KYMO_STATIC_ASSERT(sizeof(struct dtrace_agg_desc) == 20, "leaves the program");

#endif

/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What a clause does and what it records: action kinds, aggregating functions, record descriptions.
 * Shared by compiler, machine and consumer. The numbers are DTrace's published ones.
 */
#ifndef TRACE_D_ACTION_H
#define TRACE_D_ACTION_H

#include <stdint.h>

enum d_action_kind {
    D_ACT_NONE = 0,
    D_ACT_DIFEXPR = 1, /* trace(), and each argument of the actions that take several */
    D_ACT_EXIT = 2,
    D_ACT_PRINTF = 3,
    D_ACT_PRINTA = 4,
    D_ACT_LIBACT = 5, /* done by the consumer: arg is an enum d_libact */
    D_ACT_TRACEMEM = 6,
    D_ACT_TRACEMEM_DYNSIZE = 7,
    D_ACT_PRINTM = 8,
    D_ACT_USTACK = 0x101,
    D_ACT_JSTACK = 0x102,
    D_ACT_USYM = 0x103,
    D_ACT_UMOD = 0x104,
    D_ACT_UADDR = 0x105,
    D_ACT_STOP = 0x201,
    D_ACT_RAISE = 0x202,
    D_ACT_SYSTEM = 0x203,
    D_ACT_FREOPEN = 0x204,
    D_ACT_STACK = 0x401,
    D_ACT_SYM = 0x402,
    D_ACT_MOD = 0x403,
    D_ACT_LOGSTOP = 0x409, /* Kymo's own */
    D_ACT_BREAKPOINT = 0x501,
    D_ACT_PANIC = 0x502,
    D_ACT_CHILL = 0x503,
    D_ACT_SPECULATE = 0x601,
    D_ACT_COMMIT = 0x602,
    D_ACT_DISCARD = 0x603,
    D_AGG_COUNT = 0x701,
    D_AGG_MIN = 0x702,
    D_AGG_MAX = 0x703,
    D_AGG_AVG = 0x704,
    D_AGG_SUM = 0x705,
    D_AGG_STDDEV = 0x706,
    D_AGG_QUANTIZE = 0x707,
    D_AGG_LQUANTIZE = 0x708,
    D_AGG_LLQUANTIZE = 0x709,
    D_AGG_KEPT = 0x8000, /* inside of the machine: its entries are in retained memory */
};

#define D_ACT_IS_AGG(kind) ((kind) >> 8 == 7)
#define D_ACT_IS_SPEC(kind) ((kind) >> 8 == 6)
#define D_ACT_IS_DESTRUCTIVE(kind) ((kind) >> 8 == 2 || (kind) >> 8 == 5)

/* LIBACT: what the consumer does when it meets the record. Their arguments follow as DIFEXPR with
 * the same format number, as do printf's. */
enum d_libact {
    D_LIBACT_CLEAR = 1,
    D_LIBACT_NORMALIZE = 2,
    D_LIBACT_DENORMALIZE = 3,
    D_LIBACT_TRUNC = 4,
    D_LIBACT_SETOPT = 5,
    D_LIBACT_FTRUNCATE = 6,
    D_LIBACT_PRINT = 7,
};

/* Buckets. quantize has 127, the zero bucket in the middle. lquantize's and llquantize's shape is
 * in the first word of the datum and in the record description's arg. */
enum { D_QUANTIZE_BUCKETS = 127, D_QUANTIZE_ZERO = 63 };
#define D_LQUANTIZE_ARG(step, levels, base) \
    ((uint64_t)(uint16_t)(step) << 48 | (uint64_t)(uint16_t)(levels) << 32 | \
     (uint64_t)(uint32_t)(base))
#define D_LQUANTIZE_STEP(arg) ((uint16_t)((arg) >> 48))
#define D_LQUANTIZE_LEVELS(arg) ((uint16_t)((arg) >> 32))
#define D_LQUANTIZE_BASE(arg) ((int32_t)(uint32_t)(arg))
#define D_LLQUANTIZE_ARG(factor, low, high, nsteps) \
    ((uint64_t)(uint16_t)(factor) << 48 | (uint64_t)(uint16_t)(low) << 32 | \
     (uint64_t)(uint16_t)(high) << 16 | (uint64_t)(uint16_t)(nsteps))
#define D_LLQUANTIZE_FACTOR(arg) ((uint16_t)((arg) >> 48))
#define D_LLQUANTIZE_LOW(arg) ((uint16_t)((arg) >> 32))
#define D_LLQUANTIZE_HIGH(arg) ((uint16_t)((arg) >> 16))
#define D_LLQUANTIZE_NSTEPS(arg) ((uint16_t)(arg))

/* A record in a principal or speculative buffer begins with this, at 4; the data follow at the
 * offsets that the record descriptions say, from the header's start. EPID 0: a gap of 4 bytes. */
struct d_record {
    uint32_t epid;
    uint32_t time_high, time_low; /* ns, as `timestamp` */
};

/* One datum of a record (or of an aggregation's tuple: key data, then the value). */
struct d_recdesc {
    uint16_t kind;      /* enum d_action_kind */
    uint16_t alignment; /* bytes */
    uint32_t size;      /* bytes; 0: nothing is recorded */
    uint32_t offset;    /* from the record's start */
    uint32_t format;    /* of the image's action */
    uint64_t arg;       /* of the image's action: frames, quantize's shape, LIBACT's function … */
    uint64_t uarg;      /* of the image's action: opaque to the machine */
};

/* What an EPID is: constant from enabling on. */
struct d_epid_desc {
    uint32_t epid;
    uint32_t probe;  /* id */
    uint32_t clause; /* of the image's ecb */
    uint32_t size;   /* bytes of a record, header included */
    uint32_t nrecs;
};

/* What an aggregation id is: one per aggregating action of one clause on one probe. */
struct d_agg_desc {
    uint32_t id;
    uint32_t epid;
    uint32_t variable; /* number of the @variable: image action's uarg */
    uint32_t size;     /* bytes of an entry in the aggregation buffer */
    uint32_t nrecs;    /* the keys', and last the value's */
};

/* An entry of an aggregation buffer begins with this, at 8; recdesc offsets count from here. */
struct d_agg_entry {
    uint32_t id;
    uint32_t size;       /* bytes to the next entry, a multiple of 8 */
    uint32_t hash, next; /* the machine's */
};

_Static_assert(sizeof(struct d_agg_entry) == 16, "leaves the program");
_Static_assert(sizeof(struct d_record) == 12, "leaves the program");
_Static_assert(sizeof(struct d_recdesc) == 32, "leaves the program");
_Static_assert(sizeof(struct d_epid_desc) == 20, "leaves the program");
_Static_assert(sizeof(struct d_agg_desc) == 20, "leaves the program");

#endif

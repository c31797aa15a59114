/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The machine's core, to the rest of trace/dtrace/: a program's loaded code and variables, the
 * context of a firing, and running an object in it.
 *
 *   dtrace_image_check()     is this image well-formed? (image.c)
 *   dtrace_code_load()       validates and pre-decodes its objects, allocates its variables
 * (code.c) dtrace_context_init()    once per consumer and CPU per clause dtrace_context_clause(),
 * then dtrace_run()             a predicate, or what an action records (run.c)
 *
 * Control functions may allocate; everything else is of a firing: on its own CPU with nothing else
 * firing there, without a lock or an allocation. Proved by test/d_machine.
 */
#ifndef TRACE_DTRACE_MACHINE_H
#define TRACE_DTRACE_MACHINE_H

#include "trace/dtrace/dtrace.h"
#include "trace/dtrace/probe.h"

struct dtrace_ecb; /* trace/dtrace/ecb.h */
struct dtrace_speculations;

/* ---- loaded code ------------------------------------------------------------------- */

/* A pre-decoded instruction. op is a DIF_OP_*, or one of run.c's own above DIF_OP_MAX that it was
 * made into. */
struct dtrace_insn {
    uint8_t op, rd;
    union {
        struct {
            uint8_t r1, r2;
        };
        uint16_t index; /* label, constant, string, variable's place or number, subroutine */
    };
};

enum dtrace_object_flags {
    DTRACE_OBJECT_DESTRUCTIVE = 1, /* calls copyout or copyoutstr */
    DTRACE_OBJECT_CACHEABLE = 2,   /* its value hangs only on the thread: false once, false always,
                                 until a thread-local variable is stored */
    DTRACE_OBJECT_ARG = 4,         /* it is `ldgs argN; ret`: see dtrace_eval() */
    DTRACE_OBJECT_BUILTIN = 8,     /* it is `ldgs` of another built-in variable, `ret` */
};

struct dtrace_object {
    const struct dtrace_insn *text; /* [I] */
    const uint64_t *ints;           /* [I] */
    const char *strings;            /* [I] */
    struct dif_type result;         /* [I] size of a string: resolved, never 0 */
    uint32_t ntext;                 /* [I] */
    uint32_t flags;                 /* [I] enum dtrace_object_flags */
};

/* A variable by reference, global or clause-local: its data begins at `offset` of its area; 8 bytes
 * before, a byte that is not 0 says that the variable is NULL. */
struct dtrace_static {
    uint32_t offset; /* [I] */
    uint32_t size;   /* [I] */
    bool string;     /* [I] */
};

/* A thread-local variable or an associative array. */
struct dtrace_dynamic {
    uint16_t id;   /* [I] */
    uint8_t scope; /* [I] enum dif_scope */
    bool array;    /* [I] */
    bool ref;      /* [I] */
    bool string;   /* [I] */
    uint32_t size; /* [I] of its data: 8 by value */
};

/* A program's objects and variables, one for all CPUs of a consumer. Area of globals, and of each
 * CPU's locals: first a word for each scalar, then what is by reference. */
struct dtrace_code {
    struct dtrace_object *objects;         /* [I] */
    uint32_t nobjects;                     /* [I] */
    uint32_t strsize;                      /* [I] bytes of a string; at least 1 */
    const struct dtrace_static *globals;   /* [I] those by reference, by offset */
    const struct dtrace_static *locals;    /* [I] likewise */
    const struct dtrace_dynamic *dynamics; /* [I] */
    uint32_t nglobals, nlocals, ndynamics;
    uint8_t *global_area; /* [I] where; content: whoever fires, any CPU */
    uint8_t *local_area;  /* [I] where; content: [c]. By CPU, local_bytes each */
    size_t global_bytes, local_bytes;
    const uint8_t *zeros; /* [I] what an associative element never assigned reads as */
    size_t zero_bytes;    /* [I] */
    /* For whoever sizes dynamic variables: the most bytes that the key of one access needs, 8 for a
     * value, those of a string or an object rounded up to 8; and the largest datum. A key whose
     * size isn't known here counts nothing: it must be looked at when it comes. */
    uint32_t key_bytes, datum_bytes; /* [I] datum_bytes 0: there is no such variable */
    void *block;                     /* [I] all of the above, in one allocation */
    size_t block_bytes;              /* [I] */
};

/* Whether every offset, count and index is in bounds, every object, action and option well-formed.
 * The image is aligned to 8. 0, -EINVAL, -E2BIG. */
int dtrace_image_check(const void *image, size_t size, struct dtrace_refusal *);
/* The value of an option of a checked image, or `absent`. */
uint64_t dtrace_image_option_value(const struct dtrace_image *, enum dtrace_option,
                                   uint64_t absent);
/* An object of a checked image. */
void dtrace_image_object_at(const struct dtrace_image *, uint32_t object, struct dif_object *);
/* What an action of a checked image records: bytes (0: nothing), and their alignment. Aggregating
 * ones: their value has its own size, see dtrace_agg_value_size(). */
uint32_t dtrace_action_bytes(const struct dtrace_image *, const struct dtrace_image_action *,
                             uint32_t strsize, uint32_t *align);

/* The checked image's objects. Nothing of the image is needed afterwards. 0, -EINVAL, -ENOMEM. */
int dtrace_code_load(struct dtrace_code *, const struct dtrace_image *, uint32_t strsize,
                     struct dtrace_refusal *);
void dtrace_code_unload(struct dtrace_code *);

/* ---- a firing ---------------------------------------------------------------------- */

struct dtrace_region {
    uintptr_t base;
    size_t size;
};

struct dtrace_fault {
    int32_t kind;     /* enum dif_fault; DIF_FAULT_NONE */
    uint32_t offset;  /* bytes of the instruction in its object */
    uint64_t address; /* of the load or store; 0 for other kinds */
};

/* A datum that was pushed: an argument, or a part of a key. By reference it is `size` bytes at
 * address `value`, read with dtrace_load_block(); a string's `size` is its length, the
 * NUL apart. */
struct dtrace_key {
    uint64_t value;
    uint32_t size;
    bool ref, string;
};

enum { DTRACE_OWN_REGIONS = 2, DTRACE_WINDOWS = 8 };

/* What is looked up at most once per clause. */
enum dtrace_once {
    DTRACE_ONCE_TIMESTAMP,
    DTRACE_ONCE_VTIMESTAMP,
    DTRACE_ONCE_WALLTIMESTAMP,
    DTRACE_ONCE_STACKDEPTH,
    DTRACE_ONCE_USTACKDEPTH,
    DTRACE_ONCE_CALLER,
    DTRACE_ONCE_UCALLER,
    DTRACE_ONCE_IPL,
    DTRACE_ONCE_COUNT,
};

/* One per consumer and CPU; all of it [c]. */
struct dtrace_context {
    /* set for each clause */
    const struct dtrace_ecb *ecb;
    const uint64_t *args; /* five */
    size_t scratch_used;  /* 0: where scratch is is not known yet */
    uint32_t present;     /* 1 << enum dtrace_once: what is in once[] */
    uint32_t nwindows;
    struct dtrace_fault fault;
    /* set by dtrace_context_init() */
    const struct dtrace_code *code;
    struct dtrace_consumer *consumer;
    struct dtrace_speculations *speculations;
    uint64_t *globals, *locals; /* the areas, this CPU's locals */
    struct dtrace_region
        own[DTRACE_OWN_REGIONS]; /* needs no peek: the code's block, dynamic variables */
    uint32_t cpu;
    /* not set: see above */
    uint64_t strtok; /* where strtok() goes on in this firing of the probe; 0: nowhere */
    const struct dtrace_ecb
        *strtok_ecb;  /* that is in the scratch of this clause; NULL: it is not */
    uint32_t part;    /* after a fault of an aggregation: of which key; their number: its value */
    uint8_t *scratch; /* aligned to 8 */
    size_t scratch_size;
    size_t strtok_left;
    uint32_t nkeys; /* data pushed; 0 when an object begins */
    struct dtrace_key keys[DIF_TUPLE_REGS];
    uint64_t once[DTRACE_ONCE_COUNT];
    struct dtrace_region
        windows[DTRACE_WINDOWS]; /* strings of the kernel that this clause may read */
};

/* dynamic: the block of dynamic variables, for loads from them. */
void dtrace_context_init(struct dtrace_context *, const struct dtrace_code *,
                         struct dtrace_consumer *, struct dtrace_speculations *, uint32_t cpu,
                         struct dtrace_region dynamic);

/* A clause begins. */
static inline void dtrace_context_clause(struct dtrace_context *c, const struct dtrace_ecb *ecb,
                                         const uint64_t args[5])
{
    c->ecb = ecb;
    c->args = args;
    c->fault.kind = DIF_FAULT_NONE;
    c->scratch_used = 0;
    c->present = 0;
    c->nwindows = 0;
}

/* The object's value; 0 and .fault set if it faulted. By reference: an address, to be read with
 * dtrace_load_block() or dtrace_load_string(). */
uint64_t dtrace_run(struct dtrace_context *, const struct dtrace_object *);

uint64_t dtrace_builtin(struct dtrace_context *, uint32_t variable); /* builtin.c */
/* Copies a built-in string: its length, or DTRACE_NO_STRING: it isn't one. */
enum { DTRACE_NO_STRING = -1 };
uint32_t dtrace_builtin_copy(struct dtrace_context *, uint32_t variable, uint8_t *to,
                             uint32_t size);
uint64_t dtrace_builtin_array(struct dtrace_context *, uint32_t variable, uint64_t index);

/* The same as dtrace_run(), by a short way to what most clauses record. */
inline uint64_t dtrace_eval(struct dtrace_context *c, const struct dtrace_object *o)
{
    if (o->flags & DTRACE_OBJECT_ARG) {
        return c->args[o->text->index];
    }
    return o->flags & DTRACE_OBJECT_BUILTIN ? dtrace_builtin(c, o->text->index) : dtrace_run(c, o);
}

/* The first fault of a clause stands. (load.c) */
__attribute__((cold)) void dtrace_fault(struct dtrace_context *, enum dif_fault, uint64_t address);

/* ---- memory: load.c, store.c, text.c ----------------------------------------------- */

/* 1, 2, 4 or 8 bytes of the kernel, zero-extended. 0 and a fault if they can't be had. */
uint64_t dtrace_load(struct dtrace_context *, uint64_t address, unsigned bytes);
uint64_t dtrace_load_user(struct dtrace_context *, uint64_t address, unsigned bytes);
uint64_t dtrace_load_own(struct dtrace_context *, uint64_t address, unsigned bytes);
/* Bytes of the kernel (user: of the current process). False and a fault at the first byte that
 * can't be had; what is before it was copied. */
bool dtrace_load_block(struct dtrace_context *, void *to, uint64_t address, size_t bytes,
                       bool user);
/* A string of at most `limit` bytes: its length. Its NUL is copied if the limit leaves room.
 * Likewise faults. */
size_t dtrace_load_string(struct dtrace_context *, char *to, uint64_t address, size_t limit,
                          bool user);
/* These bytes directly, if they are the machine's own; NULL: they are not. */
const uint8_t *dtrace_own(const struct dtrace_context *, uint64_t address, size_t bytes);

/* Where a clause may store: its scratch so far taken, its variables. bytes is not 0. NULL and a
 * fault elsewhere. */
uint8_t *dtrace_storable(struct dtrace_context *, uint64_t address, uint64_t bytes);
/* Only scratch. */
uint8_t *dtrace_storable_scratch(struct dtrace_context *, uint64_t address, uint64_t bytes);
void dtrace_store(struct dtrace_context *, uint64_t address, uint64_t value, unsigned bytes);
/* Scratch, aligned to 8. NULL and a fault if there is no room. */
uint8_t *dtrace_scratch(struct dtrace_context *, uint64_t bytes);

/* ---- what the rest of the machine supplies ----------------------------------------- */

enum dtrace_dynvar_how { DTRACE_DYNVAR_FIND, DTRACE_DYNVAR_ALLOCATE, DTRACE_DYNVAR_FREE };

/* The data of a dynamic variable of this consumer, aligned to 8, `size` bytes; its key is
 * keys[0…nkeys) of the context (none for a thread-local scalar), and for scope THREAD the current
 * thread. FIND: NULL, there is none. ALLOCATE: found, or made with data of zeros; NULL: there is no
 * room, and that was counted. FREE: NULL always. NULL too if reading the key faulted. */
uint8_t *dtrace_dynvar(struct dtrace_context *, const struct dtrace_dynamic *, unsigned nkeys,
                       enum dtrace_dynvar_how how);
/* Sets .scratch and .scratch_size of this clause: aligned to 8, may be of size 0; the same whenever
 * it is asked. Called before the first byte of it is taken. */
void dtrace_scratch_find(struct dtrace_context *);
/* Whether these bytes lie within the data of one dynamic variable that is in use. */
bool dtrace_dynvar_holds(struct dtrace_context *, uintptr_t address, size_t bytes);

#endif

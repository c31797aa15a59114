/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The machine's core, to the rest of trace/d/: a program's loaded code and variables, the context
 * of a firing, and running an object in it.
 *
 *   d_image_check()     is this image well-formed? (image.c)
 *   d_code_load()       validates and pre-decodes its objects, allocates its variables (code.c)
 *   d_context_init()    once per consumer and CPU
 *   per clause          d_context_clause(), then
 *   d_run()             a predicate, or what an action records (run.c)
 *
 * Control functions may allocate; everything else is of a firing: on its own CPU with nothing else
 * firing there, without a lock or an allocation. Proved by test/d_machine.
 */
#ifndef TRACE_D_MACHINE_H
#define TRACE_D_MACHINE_H

#include "trace/d/d.h"
#include "trace/d/probe.h"

struct d_ecb; /* trace/d/ecb.h */
struct d_speculations;

/* ---- loaded code -------------------------------------------------------------------------------
 */

/* A pre-decoded instruction. op is a DIF_OP_*, or one of run.c's own above DIF_OP_MAX that it was
 * made into. */
struct d_insn {
    uint8_t op, rd;
    union {
        struct {
            uint8_t r1, r2;
        };
        uint16_t index; /* label, constant, string, variable's place or number, subroutine */
    };
};

enum d_object_flags {
    D_OBJECT_DESTRUCTIVE = 1, /* calls copyout or copyoutstr */
    D_OBJECT_CACHEABLE = 2,   /* its value hangs only on the thread: false once, false always, until
                                 a thread-local variable is stored */
    D_OBJECT_ARG = 4,         /* it is `ldgs argN; ret`: see d_eval() */
    D_OBJECT_BUILTIN = 8,     /* it is `ldgs` of another built-in variable, `ret` */
};

struct d_object {
    const struct d_insn *text; /* [I] */
    const uint64_t *ints;      /* [I] */
    const char *strings;       /* [I] */
    struct dif_type result;    /* [I] size of a string: resolved, never 0 */
    uint32_t ntext;            /* [I] */
    uint32_t flags;            /* [I] enum d_object_flags */
};

/* A variable by reference, global or clause-local: its data begins at `offset` of its area; 8 bytes
 * before, a byte that is not 0 says that the variable is NULL. */
struct d_static {
    uint32_t offset; /* [I] */
    uint32_t size;   /* [I] */
    bool string;     /* [I] */
};

/* A thread-local variable or an associative array. */
struct d_dynamic {
    uint16_t id;   /* [I] */
    uint8_t scope; /* [I] enum dif_scope */
    bool array;    /* [I] */
    bool ref;      /* [I] */
    bool string;   /* [I] */
    uint32_t size; /* [I] of its data: 8 by value */
};

/* A program's objects and variables, one for all CPUs of a consumer. Area of globals, and of each
 * CPU's locals: first a word for each scalar, then what is by reference. */
struct d_code {
    struct d_object *objects;         /* [I] */
    uint32_t nobjects;                /* [I] */
    uint32_t strsize;                 /* [I] bytes of a string; at least 1 */
    const struct d_static *globals;   /* [I] those by reference, by offset */
    const struct d_static *locals;    /* [I] likewise */
    const struct d_dynamic *dynamics; /* [I] */
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
int d_image_check(const void *image, size_t size, struct d_refusal *);
/* The value of an option of a checked image, or `absent`. */
uint64_t d_image_option_value(const struct d_image *, enum d_option, uint64_t absent);
/* An object of a checked image. */
void d_image_object_at(const struct d_image *, uint32_t object, struct dif_object *);
/* What an action of a checked image records: bytes (0: nothing), and their alignment. Aggregating
 * ones: their value has its own size, see d_agg_value_size(). */
uint32_t d_action_bytes(const struct d_image *, const struct d_image_action *, uint32_t strsize,
                        uint32_t *align);

/* The checked image's objects. Nothing of the image is needed afterwards. 0, -EINVAL, -ENOMEM. */
int d_code_load(struct d_code *, const struct d_image *, uint32_t strsize, struct d_refusal *);
void d_code_unload(struct d_code *);

/* ---- a firing ----------------------------------------------------------------------------------
 */

struct d_region {
    uintptr_t base;
    size_t size;
};

struct d_fault {
    int32_t kind;     /* enum dif_fault; DIF_FAULT_NONE */
    uint32_t offset;  /* bytes of the instruction in its object */
    uint64_t address; /* of the load or store; 0 for other kinds */
};

/* A datum that was pushed: an argument, or a part of a key. By reference it is `size` bytes at
 * address `value`, read with d_load_block(); a string's `size` is its length, the NUL apart. */
struct d_key {
    uint64_t value;
    uint32_t size;
    bool ref, string;
};

enum { D_OWN_REGIONS = 2, D_WINDOWS = 8 };

/* What is looked up at most once per clause. */
enum d_once {
    D_ONCE_TIMESTAMP,
    D_ONCE_VTIMESTAMP,
    D_ONCE_WALLTIMESTAMP,
    D_ONCE_STACKDEPTH,
    D_ONCE_USTACKDEPTH,
    D_ONCE_CALLER,
    D_ONCE_UCALLER,
    D_ONCE_IPL,
    D_ONCE_COUNT,
};

/* One per consumer and CPU; all of it [c]. */
struct d_context {
    /* set for each clause */
    const struct d_ecb *ecb;
    const uint64_t *args; /* five */
    size_t scratch_used;  /* 0: where scratch is is not known yet */
    uint32_t present;     /* 1 << enum d_once: what is in once[] */
    uint32_t nwindows;
    struct d_fault fault;
    /* set by d_context_init() */
    const struct d_code *code;
    struct d_consumer *consumer;
    struct d_speculations *speculations;
    uint64_t *globals, *locals;         /* the areas, this CPU's locals */
    struct d_region own[D_OWN_REGIONS]; /* needs no peek: the code's block, dynamic variables */
    uint32_t cpu;
    /* not set: see above */
    uint64_t strtok; /* where strtok() goes on in this firing of the probe; 0: nowhere */
    const struct d_ecb *strtok_ecb; /* that is in the scratch of this clause; NULL: it is not */
    uint32_t part;    /* after a fault of an aggregation: of which key; their number: its value */
    uint8_t *scratch; /* aligned to 8 */
    size_t scratch_size;
    size_t strtok_left;
    uint32_t nkeys; /* data pushed; 0 when an object begins */
    struct d_key keys[DIF_TUPLE_REGS];
    uint64_t once[D_ONCE_COUNT];
    struct d_region windows[D_WINDOWS]; /* strings of the kernel that this clause may read */
};

/* dynamic: the block of dynamic variables, for loads from them. */
void d_context_init(struct d_context *, const struct d_code *, struct d_consumer *,
                    struct d_speculations *, uint32_t cpu, struct d_region dynamic);

/* A clause begins. */
static inline void d_context_clause(struct d_context *c, const struct d_ecb *ecb,
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
 * d_load_block() or d_load_string(). */
uint64_t d_run(struct d_context *, const struct d_object *);

uint64_t d_builtin(struct d_context *, uint32_t variable); /* builtin.c */
/* Copies a built-in string: its length, or D_NO_STRING: it isn't one. */
enum { D_NO_STRING = -1 };
uint32_t d_builtin_copy(struct d_context *, uint32_t variable, uint8_t *to, uint32_t size);
uint64_t d_builtin_array(struct d_context *, uint32_t variable, uint64_t index);

/* The same as d_run(), by a short way to what most clauses record. */
inline uint64_t d_eval(struct d_context *c, const struct d_object *o)
{
    if (o->flags & D_OBJECT_ARG) {
        return c->args[o->text->index];
    }
    return o->flags & D_OBJECT_BUILTIN ? d_builtin(c, o->text->index) : d_run(c, o);
}

/* The first fault of a clause stands. (load.c) */
__attribute__((cold)) void d_fault(struct d_context *, enum dif_fault, uint64_t address);

/* ---- memory: load.c, store.c, text.c -----------------------------------------------------------
 */

/* 1, 2, 4 or 8 bytes of the kernel, zero-extended. 0 and a fault if they can't be had. */
uint64_t d_load(struct d_context *, uint64_t address, unsigned bytes);
uint64_t d_load_user(struct d_context *, uint64_t address, unsigned bytes);
uint64_t d_load_own(struct d_context *, uint64_t address, unsigned bytes);
/* Bytes of the kernel (user: of the current process). False and a fault at the first byte that
 * can't be had; what is before it was copied. */
bool d_load_block(struct d_context *, void *to, uint64_t address, size_t bytes, bool user);
/* A string of at most `limit` bytes: its length. Its NUL is copied if the limit leaves room.
 * Likewise faults. */
size_t d_load_string(struct d_context *, char *to, uint64_t address, size_t limit, bool user);
/* These bytes directly, if they are the machine's own; NULL: they are not. */
const uint8_t *d_own(const struct d_context *, uint64_t address, size_t bytes);

/* Where a clause may store: its scratch so far taken, its variables. bytes is not 0. NULL and a
 * fault elsewhere. */
uint8_t *d_storable(struct d_context *, uint64_t address, uint64_t bytes);
/* Only scratch. */
uint8_t *d_storable_scratch(struct d_context *, uint64_t address, uint64_t bytes);
void d_store(struct d_context *, uint64_t address, uint64_t value, unsigned bytes);
/* Scratch, aligned to 8. NULL and a fault if there is no room. */
uint8_t *d_scratch(struct d_context *, uint64_t bytes);

/* ---- what the rest of the machine supplies -----------------------------------------------------
 */

enum d_dynvar_how { D_DYNVAR_FIND, D_DYNVAR_ALLOCATE, D_DYNVAR_FREE };

/* The data of a dynamic variable of this consumer, aligned to 8, `size` bytes; its key is
 * keys[0…nkeys) of the context (none for a thread-local scalar), and for scope THREAD the current
 * thread. FIND: NULL, there is none. ALLOCATE: found, or made with data of zeros; NULL: there is no
 * room, and that was counted. FREE: NULL always. NULL too if reading the key faulted. */
uint8_t *d_dynvar(struct d_context *, const struct d_dynamic *, unsigned nkeys,
                  enum d_dynvar_how how);
/* Sets .scratch and .scratch_size of this clause: aligned to 8, may be of size 0; the same whenever
 * it is asked. Called before the first byte of it is taken. */
void d_scratch_find(struct d_context *);
/* Whether these bytes lie within the data of one dynamic variable that is in use. */
bool d_dynvar_holds(struct d_context *, uintptr_t address, size_t bytes);

#endif

/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Internal interface of the machine in trace/dtrace/: a program's loaded code and variables, the
 * context of a probe firing, and running an object in it.
 *
 *   dtrace_image_check()     checks that an image is well-formed (image.c)
 *   dtrace_code_load()       validates and pre-decodes its objects, creates its variables (code.c)
 *   dtrace_context_init()    once per consumer and CPU
 *   per clause dtrace_context_clause(), then
 *   dtrace_run()             a predicate, or an action's value (run.c)
 *
 * Control functions may allocate. All others run in probe context: on their own CPU with no other
 * probe firing on it, without a lock or an allocation. Tested by test/trace/dtrace/machine.
 */
#ifndef TRACE_DTRACE_MACHINE_H
#define TRACE_DTRACE_MACHINE_H

#include "trace/dtrace/dtrace.h"
#include "trace/dtrace/probe.h"

struct dtrace_ecb; /* trace/dtrace/ecb.h */
struct dtrace_speculations;

/* Code on the path of every probe firing is inlined wherever it is used, unless size counts more
 * (DTRACE_HOT_INLINED: it doesn't). */
#if defined(__OPTIMIZE_SIZE__) && !defined(DTRACE_HOT_INLINED)
#define DTRACE_HOT __attribute__((noinline))
#else
#define DTRACE_HOT inline __attribute__((always_inline))
#endif

/* ---- refusals ---------------------------------------------------------------------- */

/* Errors in refusals, negated; the numbers that all systems share. */
enum {
    DTRACE_EPERM = 1,
    DTRACE_E2BIG = 7,
    DTRACE_ENOMEM = 12,
    DTRACE_EBUSY = 16,
    DTRACE_EINVAL = 22
};

/* Stores the reason in the refusal; returns its error (image.c). */
int dtrace_refuse(struct dtrace_refusal *, enum dtrace_reason);

/* ---- loaded code ------------------------------------------------------------------- */

/* A pre-decoded instruction. op is a DIF_OP_*, or one of run.c's own opcodes above DIF_OP_MAX that
 * replaces it. */
struct dtrace_insn {
    uint8_t op, rd;
    union {
        struct {
            uint8_t r1, r2;
        };
        uint16_t index; /* label, constant, string, variable's location or number, subroutine */
    };
};

enum dtrace_object_flags {
    DTRACE_OBJECT_DESTRUCTIVE = 1, /* calls copyout or copyoutstr */
    /* depends only on the thread: once false, stays false until a thread-local variable is
     * stored */
    DTRACE_OBJECT_CACHEABLE = 2,
    DTRACE_OBJECT_ARG = 4,      /* is `ldgs argN; ret`: see dtrace_eval() */
    DTRACE_OBJECT_BUILTIN = 8,  /* is `ldgs` of another built-in variable, `ret` */
    DTRACE_OBJECT_WRITTEN = 16, /* reads only r0 and registers that it has written */
};

struct dtrace_object {
    const struct dtrace_insn *text; /* [I] */
    const uint64_t *ints;           /* [I] */
    const char *strings;            /* [I] */
    struct dif_type result;         /* [I] size of a string: resolved, never 0 */
    uint32_t ntext;                 /* [I] */
    uint32_t flags;                 /* [I] enum dtrace_object_flags */
};

/* A variable by reference, global or clause-local: its data begins at `offset` of its area. A
 * non-zero byte 8 bytes before the data means that the variable is NULL. */
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
    /* [I] never reused, so that a thread may cache a variable of a consumer that has ended */
    uint32_t unique;
    bool scalar; /* [I] thread-local, without keys */
};

/* A program's objects and variables, shared by all CPUs of a consumer. The area of globals and each
 * CPU's area of locals hold first a word for each scalar, then the variables by reference. */
struct dtrace_code {
    struct dtrace_object *objects;         /* [I] */
    uint32_t nobjects;                     /* [I] */
    uint32_t strsize;                      /* [I] bytes of a string; at least 1 */
    const struct dtrace_static *globals;   /* [I] variables by reference, by offset */
    const struct dtrace_static *locals;    /* [I] likewise */
    const struct dtrace_dynamic *dynamics; /* [I] */
    uint32_t nglobals, nlocals, ndynamics;
    uint8_t *global_area; /* [I] pointer; content: written by any probe firing, any CPU */
    uint8_t *local_area;  /* [I] pointer; content: [c]. By CPU, local_bytes each */
    size_t global_bytes, local_bytes;
    const uint8_t *zeros; /* [I] value of an associative element never assigned */
    size_t zero_bytes;    /* [I] */
    /* For sizing dynamic variables: the largest key of one access in bytes, counting 8 for a value
     * and a string's or object's size rounded up to 8; and the largest datum. Keys of a size
     * unknown at load time count 0: they must be checked at run time. */
    uint32_t key_bytes, datum_bytes; /* [I] datum_bytes 0: there is no such variable */
    void *block;                     /* [I] all of the above, in one allocation */
    size_t block_bytes;              /* [I] */
};

/* Checks that every offset, count and index is in bounds and every object, action and option
 * well-formed. The image is aligned to 8. Returns 0, -EINVAL or -E2BIG. */
int dtrace_image_check(const void *image, size_t size, struct dtrace_refusal *);

/* Loads the checked image's objects. The image is not needed afterwards. Returns 0, -EINVAL or
 * -ENOMEM. */
int dtrace_code_load(struct dtrace_code *, const struct dtrace_image *, uint32_t strsize,
                     struct dtrace_refusal *);
void dtrace_code_unload(struct dtrace_code *);

/* ---- probe context ----------------------------------------------------------------- */

struct dtrace_region {
    uintptr_t base;
    size_t size;
};

struct dtrace_fault {
    int32_t kind;     /* enum dif_fault; DIF_FAULT_NONE */
    uint32_t offset;  /* offset of the instruction in its object, in bytes */
    uint64_t address; /* of the load or store; 0 for other kinds */
};

/* A pushed datum: an argument, or a part of a key. By reference it is `size` bytes at address
 * `value`, read with dtrace_load_block(); a string's `size` is its length without the NUL. */
struct dtrace_key {
    uint64_t value;
    uint32_t size;
    bool ref, string;
};

enum { DTRACE_OWN_REGIONS = 2, DTRACE_WINDOWS = 8 };

/* Values that are looked up at most once per clause. */
enum dtrace_once {
    DTRACE_ONCE_TIMESTAMP,
    DTRACE_ONCE_VTIMESTAMP,
    DTRACE_ONCE_WALLTIMESTAMP,
    DTRACE_ONCE_STACKDEPTH,
    DTRACE_ONCE_USTACKDEPTH,
    DTRACE_ONCE_CALLER,
    DTRACE_ONCE_UCALLER,
    DTRACE_ONCE_IPL,
    DTRACE_ONCE_CYCLES, /* then instructions, where the port has them */
    DTRACE_ONCE_COUNT = DTRACE_ONCE_CYCLES + (DTRACE_PORT_COUNTS ? DTRACE_PORT_COUNTERS : 0),
};

/* Memory that the clause may not read: 1 << whether it belongs to the current process. */
enum dtrace_denied { DTRACE_DENIED_KERNEL = 1, DTRACE_DENIED_PROCESS = 2 };

/* Context of probe firings, one per consumer and CPU; all of it [c]. */
struct dtrace_context {
    /* set for each clause */
    const struct dtrace_ecb *ecb;
    const uint64_t *args; /* five */
    size_t scratch_used;  /* 0: the scratch's location is not determined yet */
    uint32_t present;     /* 1 << enum dtrace_once for each valid value in once[] */
    uint32_t nwindows;
    struct dtrace_fault fault;
    /* set by dtrace_context_init() */
    const struct dtrace_code *code;
    struct dtrace_consumer *consumer;
    struct dtrace_speculations *speculations;
    uint64_t *globals, *locals; /* the areas, this CPU's locals */
    struct dtrace_region
        own[DTRACE_OWN_REGIONS]; /* readable without a peek: the code's block, dynamic variables */
    uint32_t cpu;
    uint8_t denied; /* enum dtrace_denied; set by own.c for each clause of a restricted consumer */
    /* not set: see above */
    uint64_t strtok;      /* strtok()'s position in this probe firing; 0: none */
    uint32_t strtok_epid; /* of the ECB whose scratch holds it; 0: not in scratch */
    uint32_t part;        /* after a fault of an aggregation: the key's number; nkeys: its value */
    uint8_t *scratch;     /* aligned to 8 */
    size_t scratch_size;
    size_t strtok_left;
    uint32_t nkeys; /* data pushed; 0 when an object begins */
    struct dtrace_key keys[DIF_TUPLE_REGS];
    uint64_t once[DTRACE_ONCE_COUNT];
    struct dtrace_region windows[DTRACE_WINDOWS]; /* kernel strings that this clause may read */
};

/* dynamic: the block of dynamic variables, for loads from them. */
void dtrace_context_init(struct dtrace_context *, const struct dtrace_code *,
                         struct dtrace_consumer *, struct dtrace_speculations *, uint32_t cpu,
                         struct dtrace_region dynamic);

/* Prepares the context for a clause. */
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

/* Returns the object's value, or 0 with .fault set if it faulted. By reference: an address, to be
 * read with dtrace_load_block() or dtrace_load_string(). */
uint64_t dtrace_run(struct dtrace_context *, const struct dtrace_object *);

uint64_t dtrace_builtin(struct dtrace_context *, uint32_t variable); /* builtin.c */
/* Copies a built-in string. Returns its length, or DTRACE_NO_STRING if the variable isn't one. */
enum { DTRACE_NO_STRING = -1 };
uint32_t dtrace_builtin_copy(struct dtrace_context *, uint32_t variable, uint8_t *to,
                             uint32_t size);
uint64_t dtrace_builtin_array(struct dtrace_context *, uint32_t variable, uint64_t index);

/* Like dtrace_run(), with a fast path for the expressions that most clauses record. */
inline uint64_t dtrace_eval(struct dtrace_context *c, const struct dtrace_object *o)
{
    if (o->flags & DTRACE_OBJECT_ARG) {
        return c->args[o->text->index];
    }
    return o->flags & DTRACE_OBJECT_BUILTIN ? dtrace_builtin(c, o->text->index) : dtrace_run(c, o);
}

/* Records a fault; only the first one of a clause counts. (load.c) */
__attribute__((cold)) void dtrace_fault(struct dtrace_context *, enum dif_fault, uint64_t address);

/* ---- memory: load.c, store.c, text.c ----------------------------------------------- */

/* Loads 1, 2, 4 or 8 bytes of kernel memory, zero-extended. Returns 0 and faults if they are
 * inaccessible. */
uint64_t dtrace_load(struct dtrace_context *, uint64_t address, unsigned bytes);
uint64_t dtrace_load_user(struct dtrace_context *, uint64_t address, unsigned bytes);
uint64_t dtrace_load_own(struct dtrace_context *, uint64_t address, unsigned bytes);
/* Loads bytes of kernel memory (user: of the current process). Returns false and faults at the
 * first inaccessible byte; the bytes before it are copied. */
bool dtrace_load_block(struct dtrace_context *, void *to, uint64_t address, size_t bytes,
                       bool user);
/* Loads a string of at most `limit` bytes; returns its length. Its NUL is copied if the limit
 * leaves room. Faults like dtrace_load_block(). */
size_t dtrace_load_string(struct dtrace_context *, char *to, uint64_t address, size_t limit,
                          bool user);
/* Returns a direct pointer to these bytes if they are the machine's own, otherwise NULL. */
const uint8_t *dtrace_own(const struct dtrace_context *, uint64_t address, size_t bytes);

/* Returns a pointer for storing to the clause's memory: the scratch allocated so far, or its
 * variables. Otherwise returns NULL and faults. bytes is not 0. */
uint8_t *dtrace_storable(struct dtrace_context *, uint64_t address, uint64_t bytes);
/* Like dtrace_storable(), for scratch only. */
uint8_t *dtrace_storable_scratch(struct dtrace_context *, uint64_t address, uint64_t bytes);
void dtrace_store(struct dtrace_context *, uint64_t address, uint64_t value, unsigned bytes);
/* Allocates scratch, aligned to 8. Returns NULL and faults if there is no room. */
uint8_t *dtrace_scratch(struct dtrace_context *, uint64_t bytes);

/* ---- supplied by the rest of the machine ------------------------------------------- */

enum dtrace_dynvar_how { DTRACE_DYNVAR_FIND, DTRACE_DYNVAR_ALLOCATE, DTRACE_DYNVAR_FREE };

/*
 * Returns the data of a dynamic variable of this consumer, `size` bytes, aligned to 8. Its key is
 * keys[0…nkeys) of the context (none for a thread-local scalar) and, for scope THREAD, the current
 * thread. FIND: NULL if there is none. ALLOCATE: finds it or creates it zeroed; NULL if there is no
 * room, which is counted. FREE: always NULL. Also NULL if reading the key faulted.
 */
uint8_t *dtrace_dynvar(struct dtrace_context *, const struct dtrace_dynamic *, unsigned nkeys,
                       enum dtrace_dynvar_how how);
/* Sets .scratch and .scratch_size of this clause: aligned to 8, possibly of size 0; always the same
 * within a clause. Called before the first byte of scratch is allocated. */
void dtrace_scratch_find(struct dtrace_context *);
/* Returns whether these bytes are within the data of one dynamic variable that is in use. */
bool dtrace_dynvar_holds(struct dtrace_context *, uintptr_t address, size_t bytes);

#endif

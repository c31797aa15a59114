/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A second interpreter of DIF, for the tests: written from opcodes.def and the documentation in the
 * simplest way, with no code of trace/dtrace/ in it. It runs on copies of the memory that the
 * machine runs on: an address means the same to both. naive.c is the instructions, naive_memory.c
 * loads and stores, naive_variable.c variables, naive_subr.c and naive_json.c the subroutines,
 * naive_valid.c the rules for what may be loaded.
 *
 * Some bytes it can't know (the machine's own tables beside the variables, what lay in scratch
 * before): who reads them makes `unknown` true, and the program proves nothing from there on.
 */
#ifndef TEST_TRACE_DTRACE_RANDOM_NAIVE_H
#define TEST_TRACE_DTRACE_RANDOM_NAIVE_H

#include "trace/dtrace/dif.h"

enum { N_MAPS = 4, N_WINDOWS = 8, N_VARS = 16, N_ELEMENTS = 16, N_KEYS = 8, N_ONCE = 8 };

/* Memory as the machine has it at `base`, here as copies: bytes, and whether each is known. */
struct n_region {
    uint64_t base;
    size_t size;
    uint8_t *bytes;
    uint8_t *known;           /* NULL: all of it */
    bool kernel, user, toxic; /* of what is not the machine's own */
};

/* A variable that the program declares. */
struct n_var {
    uint16_t id;
    uint8_t scope, kind;
    bool ref, string;
    uint32_t size;    /* of its data by reference */
    uint64_t address; /* of its data; associative and thread-local ones have theirs by element */
};

struct n_key {
    bool ref, string;
    uint64_t value;
    size_t size;
};

/* One that was assigned, of an associative array or a thread. */
struct n_element {
    bool used;
    const struct n_var *var;
    uint64_t thread;
    unsigned nkeys;
    struct n_key keys[N_KEYS];
    uint8_t *key_bytes[N_KEYS]; /* by reference */
    uint64_t address;
};

struct naive {
    /* the world */
    uint32_t strsize;
    bool align;                              /* a misaligned load faults */
    struct n_region block, dynamic, scratch; /* the machine's own */
    struct n_region maps[N_MAPS];
    unsigned nmaps;
    struct n_var vars[N_VARS];
    unsigned nvars;
    uint64_t zeros;                /* what an element that isn't there reads as */
    uint64_t string_at[N_WINDOWS]; /* built-in strings: n_strings */
    const char *string_is[N_WINDOWS];
    size_t key_room, elements_max; /* of dynamic variables */
    size_t chunk_bytes, data_at;
    uint64_t thread, now, random, args[5], epid, id;
    unsigned lookups, speculations, speculations_max;
    uint64_t dynamic_drops;
    uint32_t predicate_cache;
    /* the firing: where strtok() goes on, and the clause in whose scratch that is, or 0 */
    uint64_t strtok, strtok_left, strtok_epid;
    /* the clause */
    size_t scratch_used;
    unsigned windows; /* 1 << string */
    unsigned present; /* 1 << once */
    uint64_t once[N_ONCE];
    int fault; /* enum dif_fault */
    uint32_t fault_offset;
    uint64_t fault_address;
    bool unknown;
    /* the object */
    struct n_key keys[N_KEYS];
    unsigned nkeys;
    /* dynamic variables */
    struct n_element elements[N_ELEMENTS];
    unsigned nelements; /* ever made */
};

/* By opcode; what is none has DIF_FORMAT_BAD. */
struct n_op {
    enum dif_format format;
    const char *name;
};
extern const struct n_op n_ops[256];
/* Which built-in strings there are. */
extern const uint16_t n_strings[N_WINDOWS];

/* NULL: the object may be loaded; else some reason. */
const char *n_valid(const struct dif_object *);

void n_firing(struct naive *); /* a probe firing begins; after it a clause */
void n_clause(struct naive *); /* a clause of it begins */
uint64_t n_run(struct naive *, const struct dif_object *);
void n_fault(struct naive *, int kind, uint64_t address);
void n_forget(struct naive *); /* frees what elements hold */

/* naive_memory.c */
uint64_t n_load(struct naive *, uint64_t address, unsigned bytes, bool sign, char which);
bool n_byte(struct naive *, uint64_t address, bool user, uint8_t *);
bool n_block(struct naive *, uint8_t *to, uint64_t address, size_t bytes, bool user);
/* Bytes of a string, at most limit. text: room for them, or NULL. */
size_t n_text(struct naive *, uint64_t address, size_t limit, bool user, uint8_t *text);
void n_copy(struct naive *, uint64_t to, uint64_t from, uint64_t bytes, bool user, bool variables);
void n_store(struct naive *, uint64_t address, uint64_t value, unsigned bytes);
/* Stores a string, or a block, to where a variable is. */
void n_assign(struct naive *, const struct n_var *, uint64_t at, uint64_t from);
uint64_t n_scratch(struct naive *, uint64_t bytes);           /* 0 and a fault */
uint64_t n_string(struct naive *, const uint8_t *, size_t n); /* a new one; likewise */
uint8_t *n_at(struct naive *, uint64_t address);              /* of own memory: the copy */

/* naive_variable.c */
uint64_t n_builtin(struct naive *, uint32_t id);
uint64_t n_builtin_array(struct naive *, uint32_t id, uint64_t index);
uint64_t n_get(struct naive *, uint8_t scope, uint8_t kind, uint16_t id);
void n_set(struct naive *, uint8_t scope, uint8_t kind, uint16_t id, uint64_t value);

/* naive_subr.c, naive_json.c */
uint64_t n_subr(struct naive *, uint32_t number);
uint64_t n_json(struct naive *, uint64_t text, uint64_t selector, size_t selector_size);
size_t n_arg_text(struct naive *, unsigned arg, uint8_t *text);

#endif

/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * C and D types as the compiler and print() see them. Sizes and layouts are the target's (struct
 * d_model). Types are made once and never change, but for a struct that is completed; they live as
 * long as the session. Two types are the same if d_type_same() says so, not if their addresses are.
 */
#ifndef HOST_D_TYPE_H
#define HOST_D_TYPE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum d_type_kind {
    D_TYPE_VOID,
    D_TYPE_INTEGER, /* also char and _Bool, and bit-fields (bits < size * 8) */
    D_TYPE_FLOAT,
    D_TYPE_POINTER,
    D_TYPE_ARRAY,
    D_TYPE_STRUCT,
    D_TYPE_UNION,
    D_TYPE_ENUM,
    D_TYPE_TYPEDEF,
    D_TYPE_CONST, /* qualifiers: transparent */
    D_TYPE_VOLATILE,
    D_TYPE_RESTRICT,
    D_TYPE_FUNCTION,
    D_TYPE_FORWARD,  /* a struct, union or enum only named so far: see tag_kind */
    D_TYPE_STRING,   /* D's string: strsize bytes, by reference */
    D_TYPE_DYNAMIC,  /* <DYN>: an action's or aggregation's, or not known yet */
    D_TYPE_STACK,    /* of stack() and ustack() as a key */
    D_TYPE_SYMADDR,  /* of sym(), mod(), func() */
    D_TYPE_USYMADDR, /* of usym(), umod(), ufunc(), uaddr() */
};

struct d_type;

struct d_member {
    const char *name; /* NULL: an anonymous struct or union, whose members count as the outer's */
    const struct d_type *type;
    uint64_t bit_offset; /* from the struct's start */
};

struct d_enumerator {
    const char *name;
    int64_t value;
};

struct d_type {
    enum d_type_kind kind;
    enum d_type_kind tag_kind; /* FORWARD: STRUCT, UNION or ENUM */
    const char *name;          /* tag, typedef's or base type's name; NULL: it has none */
    uint64_t size;             /* bytes */
    uint32_t align;            /* bytes */
    uint32_t bits;             /* INTEGER: width in bits; of a bit-field less than size * 8 */
    bool is_signed, is_char, is_bool, varargs;
    const struct d_type *to;    /* pointee, element, aliased or qualified type, function's result */
    uint64_t count;             /* ARRAY: elements; 0: no size given */
    const struct d_type *index; /* ARRAY: type of the index; a D associative array's is NULL */
    struct d_member *members;   /* STRUCT, UNION; FUNCTION: parameters */
    unsigned nmembers;
    struct d_enumerator *enumerators;
    unsigned nenumerators;
    const struct d_type *completed; /* FORWARD: the whole type, as soon as it is known */
};

/* The target's C: what `int`, `long` and pointers are, and how structs are laid out. */
struct d_model {
    unsigned pointer, int_, long_, long_long, short_; /* bytes */
    unsigned long_long_align, double_align;
    bool char_signed, short_enums;
    bool is_host; /* this process: errors have its numbers, not the boards' */
};
/* Of this process: as d_model_lp64 or d_model_lp64_arm, whichever this machine is. */
extern const struct d_model d_model_self;
extern const struct d_model d_model_lp64, d_model_lp64_arm, d_model_ilp32_arm;
/* Of an ELF's e_machine: as its C compiler has it. */
const struct d_model *d_model_of(unsigned machine);

struct d_session;

/* Without typedefs and qualifiers, forward declarations completed if they are. */
const struct d_type *d_type_resolve(const struct d_type *);
bool d_type_same(const struct d_type *, const struct d_type *);
/* As D and C write it, with `name` (may be NULL) declared: "int (*f)(char *)". Session's memory. */
const char *d_type_text(struct d_session *, const struct d_type *, const char *name);
/* The same without a name, and with the parameters of functions, as messages show types. */
const char *d_type_full_text(struct d_session *, const struct d_type *);
const struct d_member *d_type_member(const struct d_type *, const char *name, uint64_t *bit_offset);

bool d_type_is_integer(const struct d_type *); /* integers and enums, resolved */
bool d_type_is_arithmetic(const struct d_type *);
bool d_type_is_pointer(const struct d_type *); /* also arrays */
bool d_type_is_scalar(const struct d_type *);
bool d_type_is_string(const struct d_type *);
/* string, or char * and char [], which turn into one */
bool d_type_is_string_like(const struct d_type *);
bool d_type_is_struct(const struct d_type *); /* or union */

const struct d_type *d_type_new(struct d_session *, const struct d_type *);
const struct d_type *d_type_pointer(struct d_session *, const struct d_type *to);
const struct d_type *d_type_array(struct d_session *, const struct d_type *of, uint64_t count);
const struct d_type *d_type_qualified(struct d_session *, enum d_type_kind, const struct d_type *);

/* By name, as in a cast: "struct foo", "int64_t", "prog`struct bar" … NULL: unknown. */
const struct d_type *d_type_lookup(struct d_session *, const char *object, const char *name);
bool d_type_define(struct d_session *, const char *name,
                   const struct d_type *); /* false: is taken */

/* The predefined ones. */
enum d_basic {
    D_BASIC_VOID,
    D_BASIC_CHAR,
    D_BASIC_SCHAR,
    D_BASIC_UCHAR,
    D_BASIC_SHORT,
    D_BASIC_USHORT,
    D_BASIC_INT,
    D_BASIC_UINT,
    D_BASIC_LONG,
    D_BASIC_ULONG,
    D_BASIC_LLONG,
    D_BASIC_ULLONG,
    D_BASIC_BOOL,
    D_BASIC_FLOAT,
    D_BASIC_DOUBLE,
    D_BASIC_LDOUBLE,
    D_BASIC_INT8,
    D_BASIC_INT16,
    D_BASIC_INT32,
    D_BASIC_INT64,
    D_BASIC_UINT8,
    D_BASIC_UINT16,
    D_BASIC_UINT32,
    D_BASIC_UINT64,
    D_BASIC_INTPTR,
    D_BASIC_UINTPTR,
    D_BASIC_SIZE,
    D_BASIC_STRING,
    D_BASIC_DYNAMIC,
    D_BASIC_STACK,
    D_BASIC_SYMADDR,
    D_BASIC_USYMADDR,
    D_BASIC_VOIDPTR,
    D_BASIC_CHARPTR,
    D_BASIC_COUNT,
};
const struct d_type *d_type_basic(struct d_session *, enum d_basic);

#endif

/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * C and D types as the compiler and print() see them. Sizes and layouts are the target's (struct
 * dt_model). Types are made once and never change, but for a struct that is completed; they live as
 * long as the session. Two types are the same if dt_type_same() says so, not if their addresses
 * are.
 */
#ifndef HOST_DT_TYPE_H
#define HOST_DT_TYPE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum dt_type_kind {
    DT_TYPE_VOID,
    DT_TYPE_INTEGER, /* also char and _Bool, and bit-fields (bits < size * 8) */
    DT_TYPE_FLOAT,
    DT_TYPE_POINTER,
    DT_TYPE_ARRAY,
    DT_TYPE_STRUCT,
    DT_TYPE_UNION,
    DT_TYPE_ENUM,
    DT_TYPE_TYPEDEF,
    DT_TYPE_CONST, /* qualifiers: transparent */
    DT_TYPE_VOLATILE,
    DT_TYPE_RESTRICT,
    DT_TYPE_FUNCTION,
    DT_TYPE_FORWARD,  /* a struct, union or enum only named so far: see tag_kind */
    DT_TYPE_STRING,   /* D's string: strsize bytes, by reference */
    DT_TYPE_DYNAMIC,  /* <DYN>: an action's or aggregation's, or not known yet */
    DT_TYPE_STACK,    /* of stack() and ustack() as a key */
    DT_TYPE_SYMADDR,  /* of sym(), mod(), func() */
    DT_TYPE_USYMADDR, /* of usym(), umod(), ufunc(), uaddr() */
};

struct dt_type;

struct dt_member {
    const char *name; /* NULL: an anonymous struct or union, whose members count as the outer's */
    const struct dt_type *type;
    uint64_t bit_offset; /* from the struct's start */
};

struct dt_enumerator {
    const char *name;
    int64_t value;
};

struct dt_type {
    enum dt_type_kind kind;
    enum dt_type_kind tag_kind; /* FORWARD: STRUCT, UNION or ENUM */
    const char *name;           /* tag, typedef's or base type's name; NULL: it has none */
    uint64_t size;              /* bytes */
    uint32_t align;             /* bytes */
    uint32_t bits;              /* INTEGER: width in bits; of a bit-field less than size * 8 */
    bool is_signed, is_char, is_bool, varargs;
    const struct dt_type *to; /* pointee, element, aliased or qualified type, function's result */
    uint64_t count;           /* ARRAY: elements; 0: no size given */
    const struct dt_type *index; /* ARRAY: type of the index; a D associative array's is NULL */
    struct dt_member *members;   /* STRUCT, UNION; FUNCTION: parameters */
    unsigned nmembers;
    struct dt_enumerator *enumerators;
    unsigned nenumerators;
    const struct dt_type *completed; /* FORWARD: the whole type, as soon as it is known */
};

/* The target's C: what `int`, `long` and pointers are, and how structs are laid out. */
struct dt_model {
    unsigned machine;                                 /* an ELF's e_machine */
    unsigned pointer, int_, long_, long_long, short_; /* bytes */
    unsigned long_long_align, double_align;
    bool char_signed, short_enums;
    bool moves;   /* programs lie elsewhere than where they were linked */
    bool is_host; /* this process: errors have its numbers, not the boards' */
};
/* The model of this process: dt_model_lp64 or dt_model_lp64_arm, depending on the machine. */
extern const struct dt_model dt_model_self;
extern const struct dt_model dt_model_lp64, dt_model_lp64_arm, dt_model_ilp32_arm;
/* Returns the model of an ELF's e_machine, as its C compiler uses it. */
const struct dt_model *dt_model_of(unsigned machine);

struct dt_session;

/* Returns the type without typedefs and qualifiers; a forward declaration's whole type if known. */
const struct dt_type *dt_type_resolve(const struct dt_type *);
bool dt_type_same(const struct dt_type *, const struct dt_type *);
/* Returns the type as D and C write it, with `name` (may be NULL) declared: "int (*f)(char *)". The
 * text lives as long as the session. */
const char *dt_type_text(struct dt_session *, const struct dt_type *, const char *name);
/* Returns the type as messages show it: without a name, with the parameters of functions. */
const char *dt_type_full_text(struct dt_session *, const struct dt_type *);
const struct dt_member *dt_type_member(const struct dt_type *, const char *name,
                                       uint64_t *bit_offset);

bool dt_type_is_integer(const struct dt_type *); /* integers and enums, resolved */
bool dt_type_is_arithmetic(const struct dt_type *);
bool dt_type_is_pointer(const struct dt_type *); /* also arrays */
bool dt_type_is_scalar(const struct dt_type *);
bool dt_type_is_string(const struct dt_type *);
/* string, or char * and char [], which turn into one */
bool dt_type_is_string_like(const struct dt_type *);
bool dt_type_is_struct(const struct dt_type *); /* or union */

/* The bits of a value (a bit-field's are fewer than its type's), and whether it is signed. */
uint32_t dt_type_width(const struct dt_type *);
bool dt_type_is_signed(const struct dt_type *);
bool dt_type_is_bit_field(const struct dt_type *);

const struct dt_type *dt_type_new(struct dt_session *, const struct dt_type *);
const struct dt_type *dt_type_pointer(struct dt_session *, const struct dt_type *to);
const struct dt_type *dt_type_array(struct dt_session *, const struct dt_type *of, uint64_t count);
const struct dt_type *dt_type_qualified(struct dt_session *, enum dt_type_kind,
                                        const struct dt_type *);

/* By name, as in a cast: "struct foo", "int64_t", "prog`struct bar" … NULL: unknown. */
const struct dt_type *dt_type_lookup(struct dt_session *, const char *object, const char *name);
bool dt_type_define(struct dt_session *, const char *name,
                    const struct dt_type *); /* false: is taken */

/* The predefined ones. */
enum dt_basic {
    DT_BASIC_VOID,
    DT_BASIC_CHAR,
    DT_BASIC_SCHAR,
    DT_BASIC_UCHAR,
    DT_BASIC_SHORT,
    DT_BASIC_USHORT,
    DT_BASIC_INT,
    DT_BASIC_UINT,
    DT_BASIC_LONG,
    DT_BASIC_ULONG,
    DT_BASIC_LLONG,
    DT_BASIC_ULLONG,
    DT_BASIC_BOOL,
    DT_BASIC_FLOAT,
    DT_BASIC_DOUBLE,
    DT_BASIC_LDOUBLE,
    DT_BASIC_INT8,
    DT_BASIC_INT16,
    DT_BASIC_INT32,
    DT_BASIC_INT64,
    DT_BASIC_UINT8,
    DT_BASIC_UINT16,
    DT_BASIC_UINT32,
    DT_BASIC_UINT64,
    DT_BASIC_INTPTR,
    DT_BASIC_UINTPTR,
    DT_BASIC_SIZE,
    DT_BASIC_STRING,
    DT_BASIC_DYNAMIC,
    DT_BASIC_STACK,
    DT_BASIC_SYMADDR,
    DT_BASIC_USYMADDR,
    DT_BASIC_VOIDPTR,
    DT_BASIC_CHARPTR,
    DT_BASIC_COUNT,
};
const struct dt_type *dt_type_basic(struct dt_session *, enum dt_basic);

#endif

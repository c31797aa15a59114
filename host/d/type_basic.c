/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The types that every program knows, as the target's C has them.
 */
#include "host/d/front.h"

#include <elf.h>
#include <string.h>

#define LP64(signed_) \
    { \
        .pointer = 8, .int_ = 4, .long_ = 8, .long_long = 8, .short_ = 2, .long_long_align = 8, \
        .double_align = 8, .char_signed = signed_ \
    }

const struct d_model d_model_self = {
    .pointer = 8,
    .int_ = 4,
    .long_ = 8,
    .long_long = 8,
    .short_ = 2,
    .long_long_align = 8,
    .double_align = 8,
    .char_signed = (char)-1 < 0,
    .is_host = true,
};
const struct d_model d_model_lp64 = LP64(true);
const struct d_model d_model_lp64_arm = LP64(false);

const struct d_model d_model_ilp32_arm = {
    .pointer = 4,
    .int_ = 4,
    .long_ = 4,
    .long_long = 8,
    .short_ = 2,
    .long_long_align = 8,
    .double_align = 8,
    .char_signed = false,
    .short_enums = true,
};

const struct d_model *d_model_of(unsigned machine)
{
    switch (machine) {
    case EM_ARM:
        return &d_model_ilp32_arm;
    case EM_AARCH64:
        return &d_model_lp64_arm;
    default:
        return &d_model_lp64;
    }
}

static struct d_type *basic(struct d_session *d, enum d_basic which, enum d_type_kind kind,
                            const char *name, unsigned size)
{
    struct d_type *t = d_alloc(d, sizeof(*t));

    *t = (struct d_type){.kind = kind, .name = name, .size = size, .align = size ? size : 1};
    d->basics[which] = t;
    return t;
}

static struct d_type *integer(struct d_session *d, enum d_basic which, const char *name,
                              unsigned size, bool is_signed)
{
    struct d_type *t = basic(d, which, D_TYPE_INTEGER, name, size);

    t->bits = size * 8;
    t->is_signed = is_signed;
    d_type_define(d, name, t);
    return t;
}

static void define_integers(struct d_session *d, const struct d_model *m)
{
    integer(d, D_BASIC_CHAR, "char", 1, m->char_signed)->is_char = true;
    integer(d, D_BASIC_SCHAR, "signed char", 1, true)->is_char = true;
    integer(d, D_BASIC_UCHAR, "unsigned char", 1, false)->is_char = true;
    integer(d, D_BASIC_SHORT, "short", m->short_, true);
    integer(d, D_BASIC_USHORT, "unsigned short", m->short_, false);
    integer(d, D_BASIC_INT, "int", m->int_, true);
    integer(d, D_BASIC_UINT, "unsigned int", m->int_, false);
    integer(d, D_BASIC_LONG, "long", m->long_, true);
    integer(d, D_BASIC_ULONG, "unsigned long", m->long_, false);
    integer(d, D_BASIC_LLONG, "long long", m->long_long, true)->align = m->long_long_align;
    integer(d, D_BASIC_ULLONG, "unsigned long long", m->long_long, false)->align =
        m->long_long_align;
    integer(d, D_BASIC_BOOL, "_Bool", 1, false)->is_bool = true;
}

static void define_others(struct d_session *d, const struct d_model *m)
{
    bool wide = m->pointer == 8;
    struct d_type *quad = basic(d, D_BASIC_LDOUBLE, D_TYPE_FLOAT, "long double", wide ? 16 : 8);

    quad->align = wide ? 16 : m->double_align;
    basic(d, D_BASIC_FLOAT, D_TYPE_FLOAT, "float", 4);
    basic(d, D_BASIC_DOUBLE, D_TYPE_FLOAT, "double", 8)->align = m->double_align;
    d_type_define(d, "void", basic(d, D_BASIC_VOID, D_TYPE_VOID, "void", 0));
    d_type_define(d, "float", d->basics[D_BASIC_FLOAT]);
    d_type_define(d, "double", d->basics[D_BASIC_DOUBLE]);
    d_type_define(d, "long double", d->basics[D_BASIC_LDOUBLE]);
    d->string = basic(d, D_BASIC_STRING, D_TYPE_STRING, "string", 256);
    d->string->align = 1;
    d->string->is_char = true;
    d_type_define(d, "string", d->string);
    basic(d, D_BASIC_DYNAMIC, D_TYPE_DYNAMIC, "<DYN>", 0);
    basic(d, D_BASIC_STACK, D_TYPE_STACK, "stack", 0);
    basic(d, D_BASIC_SYMADDR, D_TYPE_SYMADDR, "_symaddr", 8);
    basic(d, D_BASIC_USYMADDR, D_TYPE_USYMADDR, "_usymaddr", 16);
}

static const struct d_type *define_typedef(struct d_session *d, const char *name, enum d_basic to)
{
    struct d_type *t = d_alloc(d, sizeof(*t));
    const struct d_type *target = d->basics[to];

    *t = (struct d_type){.kind = D_TYPE_TYPEDEF,
                         .name = name,
                         .size = target->size,
                         .align = target->align,
                         .to = target};
    d_type_define(d, name, t);
    return t;
}

static void define_sized(struct d_session *d, bool wide)
{
    enum d_basic word = wide ? D_BASIC_LONG : D_BASIC_INT;
    enum d_basic uword = wide ? D_BASIC_ULONG : D_BASIC_UINT;

    d->basics[D_BASIC_INT8] = define_typedef(d, "int8_t", D_BASIC_SCHAR);
    d->basics[D_BASIC_INT16] = define_typedef(d, "int16_t", D_BASIC_SHORT);
    d->basics[D_BASIC_INT32] = define_typedef(d, "int32_t", D_BASIC_INT);
    d->basics[D_BASIC_INT64] = define_typedef(d, "int64_t", wide ? D_BASIC_LONG : D_BASIC_LLONG);
    d->basics[D_BASIC_UINT8] = define_typedef(d, "uint8_t", D_BASIC_UCHAR);
    d->basics[D_BASIC_UINT16] = define_typedef(d, "uint16_t", D_BASIC_USHORT);
    d->basics[D_BASIC_UINT32] = define_typedef(d, "uint32_t", D_BASIC_UINT);
    d->basics[D_BASIC_UINT64] =
        define_typedef(d, "uint64_t", wide ? D_BASIC_ULONG : D_BASIC_ULLONG);
    d->basics[D_BASIC_INTPTR] = define_typedef(d, "intptr_t", word);
    d->basics[D_BASIC_UINTPTR] = define_typedef(d, "uintptr_t", uword);
    d->basics[D_BASIC_SIZE] = define_typedef(d, "size_t", uword);
    define_typedef(d, "ssize_t", word);
    define_typedef(d, "ptrdiff_t", word);
}

static void define_named(struct d_session *d)
{
    define_typedef(d, "uchar_t", D_BASIC_UCHAR);
    define_typedef(d, "ushort_t", D_BASIC_USHORT);
    define_typedef(d, "uint_t", D_BASIC_UINT);
    define_typedef(d, "ulong_t", D_BASIC_ULONG);
    define_typedef(d, "longlong_t", D_BASIC_LLONG);
    define_typedef(d, "u_longlong_t", D_BASIC_ULLONG);
    define_typedef(d, "id_t", D_BASIC_INT);
    define_typedef(d, "pid_t", D_BASIC_INT);
}

void d_types_define(struct d_session *d)
{
    define_others(d, d->model);
    define_integers(d, d->model);
    define_sized(d, d->model->pointer == 8);
    define_named(d);
    d->basics[D_BASIC_VOIDPTR] = d_type_pointer(d, d->basics[D_BASIC_VOID]);
    d->basics[D_BASIC_CHARPTR] = d_type_pointer(d, d->basics[D_BASIC_CHAR]);
}

const struct d_type *d_type_basic(struct d_session *d, enum d_basic which)
{
    return d->basics[which];
}

const struct d_type *d_type_new(struct d_session *d, const struct d_type *type)
{
    struct d_type *t = d_alloc(d, sizeof(*t));

    *t = *type;
    return t;
}

const struct d_type *d_type_pointer(struct d_session *d, const struct d_type *to)
{
    unsigned size = d->model->pointer;

    return d_type_new(
        d, &(struct d_type){.kind = D_TYPE_POINTER, .size = size, .align = size, .to = to});
}

const struct d_type *d_type_array(struct d_session *d, const struct d_type *of, uint64_t count)
{
    const struct d_type *element = d_type_resolve(of);

    return d_type_new(d, &(struct d_type){
                             .kind = D_TYPE_ARRAY,
                             .size = element->size * count,
                             .align = element->align,
                             .to = of,
                             .count = count,
                             .index = d->basics[D_BASIC_LONG],
                         });
}

const struct d_type *d_type_qualified(struct d_session *d, enum d_type_kind kind,
                                      const struct d_type *of)
{
    return d_type_new(
        d, &(struct d_type){.kind = kind, .size = of->size, .align = of->align, .to = of});
}

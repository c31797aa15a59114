/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The types that every program knows, as the target's C has them.
 */
#include "host/dt/types/type_name.h"

#include <elf.h>
#include <string.h>

#define LP64(machine_, signed_) \
    { \
        .machine = machine_, .pointer = 8, .int_ = 4, .long_ = 8, .long_long = 8, .short_ = 2, \
        .long_long_align = 8, .double_align = 8, .char_signed = signed_ \
    }

/* Its machine tells only the names of registers: a self has none. */
const struct dt_model dt_model_self = {
    .machine = EM_X86_64,
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
const struct dt_model dt_model_lp64 = LP64(EM_X86_64, true);
const struct dt_model dt_model_lp64_arm = LP64(EM_AARCH64, false);

const struct dt_model dt_model_ilp32_arm = {
    .machine = EM_ARM,
    .pointer = 4,
    .int_ = 4,
    .long_ = 4,
    .long_long = 8,
    .short_ = 2,
    .long_long_align = 8,
    .double_align = 8,
    .char_signed = false,
    .short_enums = true,
    .moves = true,
};

const struct dt_model *dt_model_of(unsigned machine)
{
    switch (machine) {
    case EM_ARM:
        return &dt_model_ilp32_arm;
    case EM_AARCH64:
        return &dt_model_lp64_arm;
    default:
        return &dt_model_lp64;
    }
}

static struct dt_type *type_add_basic(struct dt_session *d, enum dt_basic which,
                                      enum dt_type_kind kind, const char *name, unsigned size)
{
    struct dt_type *t = dt_alloc(d, sizeof(*t));

    *t = (struct dt_type){.kind = kind, .name = name, .size = size, .align = size ? size : 1};
    d->basics[which] = t;
    return t;
}

static struct dt_type *type_add_integer(struct dt_session *d, enum dt_basic which, const char *name,
                                        unsigned size, bool is_signed)
{
    struct dt_type *t = type_add_basic(d, which, DT_TYPE_INTEGER, name, size);

    t->bits = size * 8;
    t->is_signed = is_signed;
    dt_type_define(d, name, t);
    return t;
}

static const struct dt_type *define_typedef(struct dt_session *d, const char *name,
                                            enum dt_basic to)
{
    struct dt_type *t = dt_alloc(d, sizeof(*t));
    const struct dt_type *target = d->basics[to];

    *t = (struct dt_type){.kind = DT_TYPE_TYPEDEF,
                          .name = name,
                          .size = target->size,
                          .align = target->align,
                          .to = target};
    dt_type_define(d, name, t);
    return t;
}

static void define_sized(struct dt_session *d, bool wide)
{
    enum dt_basic word = wide ? DT_BASIC_LONG : DT_BASIC_INT;
    enum dt_basic uword = wide ? DT_BASIC_ULONG : DT_BASIC_UINT;

    d->basics[DT_BASIC_INT8] = define_typedef(d, "int8_t", DT_BASIC_SCHAR);
    d->basics[DT_BASIC_INT16] = define_typedef(d, "int16_t", DT_BASIC_SHORT);
    d->basics[DT_BASIC_INT32] = define_typedef(d, "int32_t", DT_BASIC_INT);
    d->basics[DT_BASIC_INT64] = define_typedef(d, "int64_t", wide ? DT_BASIC_LONG : DT_BASIC_LLONG);
    d->basics[DT_BASIC_UINT8] = define_typedef(d, "uint8_t", DT_BASIC_UCHAR);
    d->basics[DT_BASIC_UINT16] = define_typedef(d, "uint16_t", DT_BASIC_USHORT);
    d->basics[DT_BASIC_UINT32] = define_typedef(d, "uint32_t", DT_BASIC_UINT);
    d->basics[DT_BASIC_UINT64] =
        define_typedef(d, "uint64_t", wide ? DT_BASIC_ULONG : DT_BASIC_ULLONG);
    d->basics[DT_BASIC_INTPTR] = define_typedef(d, "intptr_t", word);
    d->basics[DT_BASIC_UINTPTR] = define_typedef(d, "uintptr_t", uword);
    d->basics[DT_BASIC_SIZE] = define_typedef(d, "size_t", uword);
    define_typedef(d, "ssize_t", word);
    define_typedef(d, "ptrdiff_t", word);
}

void dt_types_define(struct dt_session *d)
{
    bool wide = d->model->pointer == 8;
    struct dt_type *quad =
        type_add_basic(d, DT_BASIC_LDOUBLE, DT_TYPE_FLOAT, "long double", wide ? 16 : 8);

    quad->align = wide ? 16 : d->model->double_align;
    type_add_basic(d, DT_BASIC_FLOAT, DT_TYPE_FLOAT, "float", 4);
    type_add_basic(d, DT_BASIC_DOUBLE, DT_TYPE_FLOAT, "double", 8)->align = d->model->double_align;
    dt_type_define(d, "void", type_add_basic(d, DT_BASIC_VOID, DT_TYPE_VOID, "void", 0));
    dt_type_define(d, "float", d->basics[DT_BASIC_FLOAT]);
    dt_type_define(d, "double", d->basics[DT_BASIC_DOUBLE]);
    dt_type_define(d, "long double", d->basics[DT_BASIC_LDOUBLE]);
    d->string = type_add_basic(d, DT_BASIC_STRING, DT_TYPE_STRING, "string", 256);
    d->string->align = 1;
    d->string->is_char = true;
    dt_type_define(d, "string", d->string);
    type_add_basic(d, DT_BASIC_DYNAMIC, DT_TYPE_DYNAMIC, "<DYN>", 0);
    type_add_basic(d, DT_BASIC_STACK, DT_TYPE_STACK, "stack", 0);
    type_add_basic(d, DT_BASIC_SYMADDR, DT_TYPE_SYMADDR, "_symaddr", 8);
    type_add_basic(d, DT_BASIC_USYMADDR, DT_TYPE_USYMADDR, "_usymaddr", 16);
    type_add_integer(d, DT_BASIC_CHAR, "char", 1, d->model->char_signed)->is_char = true;
    type_add_integer(d, DT_BASIC_SCHAR, "signed char", 1, true)->is_char = true;
    type_add_integer(d, DT_BASIC_UCHAR, "unsigned char", 1, false)->is_char = true;
    type_add_integer(d, DT_BASIC_SHORT, "short", d->model->short_, true);
    type_add_integer(d, DT_BASIC_USHORT, "unsigned short", d->model->short_, false);
    type_add_integer(d, DT_BASIC_INT, "int", d->model->int_, true);
    type_add_integer(d, DT_BASIC_UINT, "unsigned int", d->model->int_, false);
    type_add_integer(d, DT_BASIC_LONG, "long", d->model->long_, true);
    type_add_integer(d, DT_BASIC_ULONG, "unsigned long", d->model->long_, false);
    type_add_integer(d, DT_BASIC_LLONG, "long long", d->model->long_long, true)->align =
        d->model->long_long_align;
    type_add_integer(d, DT_BASIC_ULLONG, "unsigned long long", d->model->long_long, false)->align =
        d->model->long_long_align;
    type_add_integer(d, DT_BASIC_BOOL, "_Bool", 1, false)->is_bool = true;
    define_sized(d, d->model->pointer == 8);
    define_typedef(d, "uchar_t", DT_BASIC_UCHAR);
    define_typedef(d, "ushort_t", DT_BASIC_USHORT);
    define_typedef(d, "uint_t", DT_BASIC_UINT);
    define_typedef(d, "ulong_t", DT_BASIC_ULONG);
    define_typedef(d, "longlong_t", DT_BASIC_LLONG);
    define_typedef(d, "u_longlong_t", DT_BASIC_ULLONG);
    define_typedef(d, "id_t", DT_BASIC_INT);
    define_typedef(d, "pid_t", DT_BASIC_INT);
    d->basics[DT_BASIC_VOIDPTR] = dt_type_pointer(d, d->basics[DT_BASIC_VOID]);
    d->basics[DT_BASIC_CHARPTR] = dt_type_pointer(d, d->basics[DT_BASIC_CHAR]);
}

const struct dt_type *dt_type_basic(struct dt_session *d, enum dt_basic which)
{
    return d->basics[which];
}

const struct dt_type *dt_type_new(struct dt_session *d, const struct dt_type *type)
{
    struct dt_type *t = dt_alloc(d, sizeof(*t));

    *t = *type;
    return t;
}

const struct dt_type *dt_type_pointer(struct dt_session *d, const struct dt_type *to)
{
    unsigned size = d->model->pointer;

    return dt_type_new(
        d, &(struct dt_type){.kind = DT_TYPE_POINTER, .size = size, .align = size, .to = to});
}

const struct dt_type *dt_type_array(struct dt_session *d, const struct dt_type *of, uint64_t count)
{
    const struct dt_type *element = dt_type_resolve(of);

    return dt_type_new(d, &(struct dt_type){
                              .kind = DT_TYPE_ARRAY,
                              .size = element->size * count,
                              .align = element->align,
                              .to = of,
                              .count = count,
                              .index = d->basics[DT_BASIC_LONG],
                          });
}

const struct dt_type *dt_type_qualified(struct dt_session *d, enum dt_type_kind kind,
                                        const struct dt_type *of)
{
    return dt_type_new(
        d, &(struct dt_type){.kind = kind, .size = of->size, .align = of->align, .to = of});
}

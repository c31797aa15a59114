/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Types by name. `space`: STRUCT, UNION, ENUM for tags, TYPEDEF for others.
 * Internal to host/dt.
 */
#ifndef HOST_DT_TYPES_TYPE_NAME_H
#define HOST_DT_TYPES_TYPE_NAME_H

#include "host/dt/base/session.h"

enum dt_spec_flags {
    DT_SPEC_SIGNED = 1,
    DT_SPEC_UNSIGNED = 2,
    DT_SPEC_SHORT = 4,
    DT_SPEC_LONG = 8,
    DT_SPEC_LONG_LONG = 16,
    DT_SPEC_SIZES = DT_SPEC_SHORT | DT_SPEC_LONG | DT_SPEC_LONG_LONG,
    DT_SPEC_CONST = 32,
    DT_SPEC_VOLATILE = 64,
    DT_SPEC_RESTRICT = 128,
};

enum dt_base {
    DT_BASE_NONE,
    DT_BASE_VOID,
    DT_BASE_CHAR,
    DT_BASE_INT,
    DT_BASE_FLOAT,
    DT_BASE_DOUBLE,
    DT_BASE_TYPE, /* a typedef, struct, union, enum, string: `type` */
};

/* Returns a type of D's own. NULL: unknown. */
struct dt_type *dt_type_own(const struct dt_session *, enum dt_type_kind space, const char *name);
void dt_type_enter(struct dt_session *, enum dt_type_kind space, const char *name,
                   struct dt_type *);
/* Returns a type of D's own or of an ELF. NULL: unknown. */
const struct dt_type *dt_type_find(struct dt_session *, const char *object, enum dt_type_kind space,
                                   const char *name);
const char *dt_name_split(struct dt_session *, const char *text, const char **object);
/* Returns the type of the words int, unsigned, long …; NULL: they don't combine. */
const struct dt_type *dt_type_arithmetic(struct dt_session *, enum dt_base, unsigned flags);
const struct dt_type *dt_type_qualify(struct dt_session *, const struct dt_type *, unsigned flags);
/* Defines the types that every program knows. */
void dt_types_define(struct dt_session *);

#endif

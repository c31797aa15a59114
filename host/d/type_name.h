/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Types by name, inside the front end. `space`: STRUCT, UNION, ENUM for tags, TYPEDEF for others.
 */
#ifndef HOST_D_TYPE_NAME_H
#define HOST_D_TYPE_NAME_H

#include "host/d/front.h"

/* D's own. NULL: unknown. */
struct d_type *d_type_own(const struct d_session *, enum d_type_kind space, const char *name);
void d_type_enter(struct d_session *, enum d_type_kind space, const char *name, struct d_type *);
/* D's own or an ELF's. */
const struct d_type *d_type_find(struct d_session *, const char *object, enum d_type_kind space,
                                 const char *name);
const char *d_name_split(struct d_session *, const char *text, const char **object);
/* Of the words int, unsigned, long …; NULL: they don't go together. */
const struct d_type *d_type_arithmetic(struct d_session *, enum d_base, unsigned flags);
const struct d_type *d_type_qualify(struct d_session *, const struct d_type *, unsigned flags);

#endif

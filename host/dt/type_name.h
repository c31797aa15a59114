/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Types by name, inside the front end. `space`: STRUCT, UNION, ENUM for tags, TYPEDEF for others.
 */
#ifndef HOST_DT_TYPE_NAME_H
#define HOST_DT_TYPE_NAME_H

#include "host/dt/front.h"

/* D's own. NULL: unknown. */
struct dt_type *dt_type_own(const struct dt_session *, enum dt_type_kind space, const char *name);
void dt_type_enter(struct dt_session *, enum dt_type_kind space, const char *name,
                   struct dt_type *);
/* D's own or an ELF's. */
const struct dt_type *dt_type_find(struct dt_session *, const char *object, enum dt_type_kind space,
                                   const char *name);
const char *dt_name_split(struct dt_session *, const char *text, const char **object);
/* Of the words int, unsigned, long …; NULL: they don't go together. */
const struct dt_type *dt_type_arithmetic(struct dt_session *, enum dt_base, unsigned flags);
const struct dt_type *dt_type_qualify(struct dt_session *, const struct dt_type *, unsigned flags);

#endif

/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Types and symbols of the session's ELFs. `object`: the name that an ELF was given, before the
 * backquote; NULL or "": the kernel's. Internal to host/dt.
 */
#ifndef HOST_DT_TYPES_ELF_H
#define HOST_DT_TYPES_ELF_H

#include "host/dt/base/session.h"

/* kind: STRUCT, UNION, ENUM, TYPEDEF (any other named type). NULL: unknown. */
const struct dt_type *dt_elf_type(struct dt_session *, const char *object, enum dt_type_kind,
                                  const char *name);
bool dt_elf_is_open(const struct dt_session *, const char *name);
/* False: unknown. *type is NULL if the ELF doesn't describe it. */
bool dt_elf_symbol(struct dt_session *, const char *object, const char *name, uint64_t *address,
                   const struct dt_type **type);
/* Whether the address, as linked, lies in the text of one of the ELFs. */
bool dt_elf_is_text(const struct dt_session *, uint64_t address);
/* Returns the type of a function; NULL: unknown, or not unique. */
const struct dt_type *dt_elf_function(struct dt_session *, const char *object, const char *name);
bool dt_elf_enumerator(struct dt_session *, const char *object, const char *name, int64_t *value);
void dt_elfs_close(struct dt_session *);

#endif

/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Objects of DIF, and what else a clause adds to the image. Internal to host/dt.
 */
#ifndef HOST_DT_CODE_OBJECT_H
#define HOST_DT_CODE_OBJECT_H

#include "host/dt/check/program.h"
#include "host/dt/tree/ast.h"

/* The object that computes the (checked) expression. discard: its value isn't wanted. Returns the
 * number + 1 of the object in the program. */
uint32_t dt_object_make(struct dt_session *, struct dt_program *, struct dt_node *, bool discard);
/* Numbers for the image; dt.h has their meaning. */
uint32_t dt_format_add(struct dt_session *, const struct dt_format *);
uint64_t dt_datum_type_add(struct dt_session *, const struct dt_type *);

#endif

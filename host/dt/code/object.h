/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Objects of DIF, and what else a clause adds to the image. Internal to host/dt.
 */
#ifndef HOST_DT_CODE_OBJECT_H
#define HOST_DT_CODE_OBJECT_H

#include "host/dt/check/program.h"
#include "host/dt/tree/ast.h"

/* Makes the object that computes the (checked) expression, and returns its number + 1 in the
 * program. discard: its value isn't used. */
uint32_t dt_object_make(struct dt_session *, struct dt_program *, struct dt_node *, bool discard);
/* Each adds an entry and returns its number for the image; dt.h has their meaning. */
uint32_t dt_format_add(struct dt_session *, const struct dt_format *);
uint64_t dt_datum_type_add(struct dt_session *, const struct dt_type *);

#endif

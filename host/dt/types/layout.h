/* SPDX-License-Identifier: BSD-2-Clause */
/* The layout of a struct or union, as the target's C compiler makes it. Internal to host/dt. */
#ifndef HOST_DT_TYPES_LAYOUT_H
#define HOST_DT_TYPES_LAYOUT_H

#include "host/dt/type.h"

struct dt_layout { /* while members are added */
    uint64_t end;  /* bytes used so far; union: the largest member's */
    uint32_t align;
    bool is_union, has_bit_fields;
};

/* Adds a member and returns its offset in bits. bits: its width; 0: no bit-field. */
uint64_t dt_layout_add(struct dt_layout *, const struct dt_type *, uint32_t bits);
uint64_t dt_layout_size(const struct dt_layout *);

#endif

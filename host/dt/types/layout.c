/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Where the members of a struct declared in D lie. As in the target's C, but for bit-fields, which
 * D lays out in its own way: each one begins on a byte, aligned to its size rounded up to a power
 * of two; the next member may follow right after the bytes it uses, and a struct that has one is
 * not padded at its end.
 */
#include "host/dt/types/layout.h"

static uint64_t layout_round_up(uint64_t n, uint64_t to)
{
    return (n + to - 1) / to * to;
}

uint64_t dt_layout_add(struct dt_layout *l, const struct dt_type *type, uint32_t bits)
{
    const struct dt_type *t = dt_type_resolve(type);
    uint32_t align = bits || !t->align ? 1 : t->align;
    uint64_t size = bits ? (bits + 7) / 8 : t->size;

    while (align * 8 < bits) {
        align *= 2;
    }
    uint64_t start = l->is_union ? 0 : layout_round_up(l->end, align);
    l->has_bit_fields |= bits != 0;
    l->align = align > l->align ? align : l->align;
    l->end = start + size > l->end ? start + size : l->end;
    return start * 8;
}

uint64_t dt_layout_size(const struct dt_layout *l)
{
    return l->has_bit_fields || !l->align ? l->end : layout_round_up(l->end, l->align);
}

/* SPDX-License-Identifier: BSD-2-Clause */
/* The state before an instruction: builds it from effects, and merges the states of two paths that
 * meet. See unwind.h. */
#include "host/unwind/unwind.h"

void unwind_moves_sp(struct unwind_state *s, int64_t down)
{
    s->sp += (int)down;
}

void unwind_store(struct unwind_state *s, bool is_ra, bool is_fp, int at)
{
    struct unwind_place *p = is_ra ? &s->ra : is_fp ? &s->fp_saved : NULL;

    if (p && p->where == UNWIND_AT_HOME && s->sp_known) {
        *p = (struct unwind_place){UNWIND_AT_STACK, at};
    }
}

void unwind_load(struct unwind_state *s, bool is_ra, bool is_fp, int at)
{
    struct unwind_place *p = is_ra ? &s->ra : is_fp ? &s->fp_saved : NULL;

    if (is_fp) {
        s->fp_known = false;
    }
    if (p) {
        bool own = p->where == UNWIND_AT_STACK && s->sp_known && p->at == at;
        p->where = own ? UNWIND_AT_HOME : p->where == UNWIND_AT_STACK ? p->where : UNWIND_NOWHERE;
    }
}

static bool join_place(struct unwind_place *to, const struct unwind_place *from)
{
    bool same = to->where == from->where && (to->where != UNWIND_AT_STACK || to->at == from->at);

    if (same || to->where == UNWIND_NOWHERE) {
        return false;
    }
    to->where = UNWIND_NOWHERE;
    return true;
}

bool unwind_join(struct unwind_state *to, const struct unwind_state *from)
{
    bool changed = false;

    if (!to->reached) {
        *to = *from;
        to->reached = true;
        return true;
    }
    if (to->sp_known && !(from->sp_known && from->sp == to->sp)) {
        to->sp_known = false;
        changed = true;
    }
    if (to->fp_known && !(from->fp_known && from->fp == to->fp)) {
        to->fp_known = false;
        changed = true;
    }
    changed |= join_place(&to->ra, &from->ra);
    changed |= join_place(&to->fp_saved, &from->fp_saved);
    if (to->constant_of >= 0 &&
        !(from->constant_of == to->constant_of && from->constant == to->constant)) {
        to->constant_of = -1;
        changed = true;
    }
    return changed;
}

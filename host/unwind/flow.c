/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Follows all paths through all functions and joins the states that meet: see unwind.h. Where two
 * paths disagree, what they disagree on is unknown.
 *
 * A call is not followed, but whether it comes back matters: what follows a call of abort()
 * belongs to another path. So first each function is asked whether it can return: it can if a way
 * leads from its start to a return, a jump out of it, or a jump that can't be followed.
 */
#include <stdlib.h>
#include <string.h>

#include "host/unwind/unwind.h"

struct flow {
    const struct fbt_kernel *k;
    const struct fbt_text *t;
    const struct fbt_function **covers; /* by slot: the function that it belongs to */
    struct unwind_state *states;        /* likewise */
    bool *returns;                      /* by function */
    uint64_t *todo;
    bool *queued; /* by slot */
    size_t ntodo;
};

/* The addresses at which execution can continue after an instruction. */
struct next {
    uint64_t at[2];
    unsigned n;
    bool leaves;   /* it returns, or jumps to another function */
    bool indirect; /* its target is unknown */
    bool calls;
};

static size_t unwind_flow_state_slot(const struct flow *f, uint64_t address)
{
    return unwind_slot(f->t, address);
}

static bool unwind_flow_in_text(const struct flow *f, uint64_t address)
{
    return address >= f->t->base && address < f->t->base + f->t->size;
}

static const struct fbt_function *function_of(const struct flow *f, uint64_t address)
{
    return unwind_flow_in_text(f, address) ? f->covers[unwind_flow_state_slot(f, address)] : NULL;
}

static bool is_piece(const struct fbt_function *fn)
{
    return strstr(fn->name, ".cold") != NULL;
}

static bool is_start(const struct flow *f, uint64_t address)
{
    const struct fbt_function *fn = function_of(f, address);

    return fn && fn->at == address && !is_piece(fn);
}

static bool can_return(const struct flow *f, uint64_t address)
{
    const struct fbt_function *fn = function_of(f, address);

    return !fn || fn->at != address || f->returns[fn - f->k->functions];
}

static uint32_t unwind_flow_half_at(const struct fbt_text *t, uint64_t address)
{
    const uint8_t *b = t->bytes + (address - t->base);

    return (uint32_t)b[0] | (uint32_t)b[1] << 8;
}

/* FBT_STOP is also what fbt must not move: a kernel call or a breakpoint continues after it. */
static bool goes_on(const struct flow *f, uint64_t address)
{
    const struct fbt_text *t = f->t;
    uint32_t low = unwind_flow_half_at(t, address);

    if (fbt_marked(t, address, FBT_MARK_DATA)) {
        return false;
    }
    if (t->x86) {
        return unwind_x86_goes_on(t, address);
    }
    if (t->thumb) {
        return (low & 0xff00) == 0xdf00 || (low & 0xff00) == 0xbe00;
    }
    uint32_t insn = low | unwind_flow_half_at(t, address + 2) << 16;
    return (insn & 0xff000000) == 0xd4000000 && (insn & 0xffe0001f) != 0xd4200000;
}

static void unwind_flow_add_next(struct next *n, uint64_t at)
{
    n->at[n->n++] = at;
}

/* The linker's stub around an erratum: one instruction, then a jump back. */
static bool is_stub(const struct flow *f, uint64_t target)
{
    return unwind_flow_in_text(f, target) && !function_of(f, target) &&
           !fbt_marked(f->t, target, FBT_MARK_DATA);
}

static void unwind_flow_add_branch(const struct flow *f, struct next *n, uint64_t at,
                                   const struct fbt_insn *i)
{
    const struct fbt_function *to = function_of(f, i->target);
    bool own = to && to == function_of(f, at) && i->target != to->at;

    if (own || is_stub(f, i->target) || (to && !is_start(f, i->target))) {
        unwind_flow_add_next(n, i->target);
    } else if (to && to == function_of(f, at)) {
        unwind_flow_add_next(n, i->target); /* a loop to its start */
    } else {
        n->leaves = can_return(f, i->target);
    }
}

static struct next unwind_flow_next_of(const struct flow *f, uint64_t at, const struct fbt_insn *i,
                                       bool conditional)
{
    struct next n = {.n = 0};
    bool on = i->conditional || conditional;

    switch (i->kind) {
    case FBT_RETURN:
        n.leaves = true;
        break;
    case FBT_BRANCH:
        unwind_flow_add_branch(f, &n, at, i);
        break;
    case FBT_SHIFTED:
        if (i->has_target) {
            unwind_flow_add_branch(f, &n, at, i);
        }
        on = true;
        break;
    case FBT_CALL:
        n.calls = true;
        on = on || !i->has_target || can_return(f, i->target);
        break;
    case FBT_INDIRECT:
        n.indirect = true;
        break;
    case FBT_TABLE:
        break;
    case FBT_STOP:
        on = on || goes_on(f, at);
        break;
    default:
        on = true;
        break;
    }
    if (on) {
        unwind_flow_add_next(&n, at + i->length);
    }
    return n;
}

static void unwind_flow_put_work(struct flow *f, uint64_t at)
{
    if (unwind_flow_in_text(f, at) && !f->queued[unwind_flow_state_slot(f, at)]) {
        f->queued[unwind_flow_state_slot(f, at)] = true;
        f->todo[f->ntodo++] = at;
    }
}

/* The jumps of TBB and TBH: the table goes on for as long as there is data. */
static void each_of_table(struct flow *f, uint64_t table, unsigned size,
                          void (*found)(struct flow *, uint64_t to, const struct unwind_state *),
                          const struct unwind_state *s)
{
    const struct fbt_text *t = f->t;

    for (uint64_t at = table; fbt_marked(t, at & ~1ull, FBT_MARK_DATA); at += size) {
        const uint8_t *b = t->bytes + (at - t->base);
        unsigned entry = size == 2 ? (unsigned)(b[0] | b[1] << 8) : b[0];
        uint64_t to = table + 2 * entry;
        if (function_of(f, to) == function_of(f, table - 2) && !fbt_marked(t, to, FBT_MARK_DATA)) {
            found(f, to, s);
        }
    }
}

/* ---- which functions return -------------------------------------------------------- */

static void unwind_flow_merge_state(struct flow *f, uint64_t to, const struct unwind_state *s)
{
    (void)s;
    unwind_flow_put_work(f, to);
}

/* Makes a pass over a function; returns whether it can return, as far as is known of the others. */
static bool finds_return(struct flow *f, const struct fbt_function *fn)
{
    bool found = false;
    size_t first = 0;

    f->ntodo = 0;
    unwind_flow_put_work(f, fn->at);
    for (; first < f->ntodo && !found; first++) {
        uint64_t at = f->todo[first];
        unsigned conditional = 0;
        bool more = true;
        while (more && unwind_flow_in_text(f, at)) { /* straight on, for the sake of IT blocks */
            struct fbt_insn i = fbt_decode_at(f->t, at);
            struct next n = unwind_flow_next_of(f, at, &i, conditional > 0);
            conditional = i.kind == FBT_IT ? i.size : conditional ? conditional - 1 : 0;
            found |= n.leaves || n.indirect;
            if (i.kind == FBT_TABLE) {
                each_of_table(f, at + i.length, i.size, unwind_flow_merge_state, NULL);
            }
            more = false;
            for (unsigned j = 0; j < n.n; j++) {
                bool straight = n.at[j] == at + i.length;
                if (!straight) {
                    unwind_flow_put_work(f, n.at[j]);
                } else if (!f->queued[unwind_flow_state_slot(f, n.at[j])] &&
                           unwind_flow_in_text(f, n.at[j])) {
                    more = true;
                    f->queued[unwind_flow_state_slot(f, n.at[j])] = true;
                    f->todo[f->ntodo++] = n.at[j]; /* to be cleared at the end */
                }
            }
            at += i.length;
        }
    }
    for (size_t j = 0; j < f->ntodo; j++) {
        f->queued[unwind_flow_state_slot(f, f->todo[j])] = false;
    }
    return found;
}

static void find_returns(struct flow *f)
{
    bool more = true;

    while (more) {
        more = false;
        for (size_t i = 0; i < f->k->nfunctions; i++) {
            if (!f->returns[i] && finds_return(f, &f->k->functions[i])) {
                f->returns[i] = more = true;
            }
        }
    }
}

/* ---- states ------------------------------------------------------------------------ */

static void unwind_flow_reach_address(struct flow *f, uint64_t at, const struct unwind_state *s)
{
    if (unwind_flow_in_text(f, at) && !is_start(f, at) &&
        unwind_join(&f->states[unwind_flow_state_slot(f, at)], s)) {
        unwind_flow_put_work(f, at);
    }
}

static void unwind_flow_apply_effect(const struct flow *f, struct unwind_state *s, uint64_t at)
{
    if (f->t->x86) {
        unwind_x86_effect(s, f->t, at);
    } else if (f->t->thumb) {
        unwind_thumb_effect(s, f->t, at);
    } else {
        unwind_a64_effect(s, f->t, at);
    }
}

static void after_call(struct unwind_state *s)
{
    s->constant_of = -1;
    if (s->ra.where == UNWIND_AT_HOME) {
        s->ra.where = UNWIND_NOWHERE;
    }
}

/* On x86-64 a call has pushed the return address. */
static struct unwind_state entry_state(const struct flow *f)
{
    struct unwind_state s = {.reached = true, .sp_known = true, .constant_of = -1};

    if (f->t->x86) {
        s.sp = 8;
        s.ra = (struct unwind_place){UNWIND_AT_STACK, -8};
    }
    return s;
}

/* Assembler may call a part of a function, which is then one of its own. */
static void call_inside(struct flow *f, const struct fbt_insn *i)
{
    const struct unwind_state entry = entry_state(f);

    if (i->has_target && function_of(f, i->target) && !is_start(f, i->target)) {
        unwind_flow_reach_address(f, i->target, &entry);
    }
}

/* A patched site jumps, a fault goes on, a table leads, in the state before the instruction. */
static void follow_edges(struct flow *f, uint64_t at, const struct unwind_state *s)
{
    for (size_t i = 0; fbt_marked(f->t, at, FBT_MARK_EDGE) && i < f->k->nedges; i++) {
        if (f->k->edges[i].from == at) {
            unwind_flow_reach_address(f, f->k->edges[i].to, s);
        }
    }
}

/* Decodes an instruction; s becomes the state after it. */
static struct next unwind_flow_step_insn(struct flow *f, uint64_t at, struct unwind_state *s,
                                         const struct fbt_insn *i, bool conditional)
{
    struct next n = unwind_flow_next_of(f, at, i, conditional);

    follow_edges(f, at, s);
    unwind_flow_apply_effect(f, s, at);
    if (n.calls) {
        call_inside(f, i);
        after_call(s);
    }
    if (i->kind == FBT_TABLE) {
        each_of_table(f, at + i->length, i->size, unwind_flow_reach_address, s);
    }
    return n;
}

/*
 * An IT block: its instructions may be executed or not. If the block leaves the function, what it
 * did to the stack is undone for those who go on; else both ways meet after it.
 */
static uint64_t step_it(struct flow *f, uint64_t at, struct unwind_state *s, unsigned count)
{
    struct unwind_state inside = *s;
    bool left = false;

    for (; count > 0 && unwind_flow_in_text(f, at); count--) {
        struct fbt_insn i = fbt_decode_at(f->t, at);
        struct unwind_state *here = &f->states[unwind_flow_state_slot(f, at)];
        unwind_join(here, &inside);
        struct next n = unwind_flow_step_insn(f, at, &inside, &i, true);
        left |= n.leaves || n.indirect;
        for (unsigned j = 0; j < n.n; j++) {
            if (n.at[j] != at + i.length) {
                unwind_flow_reach_address(f, n.at[j], &inside);
                left = true;
            }
        }
        at += i.length;
    }
    if (!left) {
        unwind_join(s, &inside);
    }
    return at;
}

static void unwind_flow_follow_paths(struct flow *f)
{
    while (f->ntodo > 0) {
        uint64_t at = f->todo[--f->ntodo];
        f->queued[unwind_flow_state_slot(f, at)] = false;
        struct unwind_state s = f->states[unwind_flow_state_slot(f, at)];
        struct fbt_insn i = fbt_decode_at(f->t, at);
        if (i.kind == FBT_IT) {
            unwind_flow_reach_address(f, step_it(f, at + i.length, &s, i.size), &s);
            continue;
        }
        struct next n = unwind_flow_step_insn(f, at, &s, &i, false);
        for (unsigned j = 0; j < n.n; j++) {
            if (n.at[j] != at + i.length || function_of(f, n.at[j]) == function_of(f, at)) {
                unwind_flow_reach_address(f, n.at[j], &s);
            }
        }
    }
}

/* Code that only jumps through registers reach has the frame of the jump before it. What looks like
 * a tail call and still has a frame is such a jump. */
static void follow_indirect(struct flow *f, const struct fbt_function *fn)
{
    const struct unwind_state *jump = NULL;

    for (uint64_t at = fn->at; at < fn->at + fn->size && unwind_flow_in_text(f, at);) {
        struct fbt_insn i = fbt_decode_at(f->t, at);
        const struct unwind_state *here = &f->states[unwind_flow_state_slot(f, at)];
        bool code = !fbt_marked(f->t, at, FBT_MARK_DATA);
        if (code && !here->reached && jump && !unwind_is_filling(f->t, at)) {
            struct unwind_state s = *jump;
            unwind_flow_reach_address(f, at, &s);
            unwind_flow_follow_paths(f);
        }
        bool call = i.may_call && (!here->sp_known || here->sp == entry_state(f).sp);
        if (code && here->reached && i.kind == FBT_INDIRECT && !call) {
            jump = here;
        }
        at += i.length;
    }
}

static void unwind_flow_cover_text(struct flow *f)
{
    const struct fbt_kernel *k = f->k;

    for (size_t i = 0; i < k->nfunctions; i++) {
        const struct fbt_function *fn = &k->functions[i];
        for (uint64_t at = fn->at; at < fn->at + fn->size && unwind_flow_in_text(f, at);
             at += unwind_unit(f->t)) {
            f->covers[unwind_flow_state_slot(f, at)] = fn;
        }
    }
}

/* Functions of assembler that are jumped to and never called: what is in the link register then is
 * not where they return to. */
static bool has_caller(const struct fbt_function *fn)
{
    static const char *const none[] = {"armv7m_resume"};

    for (unsigned i = 0; i < sizeof(none) / sizeof(*none); i++) {
        if (strcmp(fn->name, none[i]) == 0) {
            return false;
        }
    }
    return true;
}

static void unwind_flow_begin_functions(struct flow *f)
{
    for (size_t i = 0; i < f->k->nfunctions; i++) {
        const struct fbt_function *fn = &f->k->functions[i];
        if (!is_piece(fn) && unwind_flow_in_text(f, fn->at)) {
            f->states[unwind_flow_state_slot(f, fn->at)] = entry_state(f);
            if (!has_caller(fn)) {
                f->states[unwind_flow_state_slot(f, fn->at)].ra.where = UNWIND_NOWHERE;
            }
            unwind_flow_put_work(f, fn->at);
        }
    }
    unwind_flow_follow_paths(f);
    for (size_t i = 0; i < f->k->nfunctions; i++) {
        follow_indirect(f, &f->k->functions[i]);
    }
}

struct unwind_state *unwind_flow(const struct fbt_kernel *k)
{
    size_t slots = k->text.size / unwind_unit(&k->text) + 2;
    struct flow f = {.k = k,
                     .t = &k->text,
                     .covers = calloc(slots, sizeof(*f.covers)),
                     .states = calloc(slots, sizeof(*f.states)),
                     .returns = calloc(k->nfunctions + 1, sizeof(*f.returns)),
                     .todo = calloc(slots, sizeof(*f.todo)),
                     .queued = calloc(slots, sizeof(*f.queued))};

    if (!f.covers || !f.states || !f.returns || !f.todo || !f.queued) {
        fbt_die("no memory");
    }
    unwind_flow_cover_text(&f);
    find_returns(&f);
    unwind_flow_begin_functions(&f);
    free(f.covers);
    free(f.returns);
    free(f.todo);
    free(f.queued);
    return f.states;
}

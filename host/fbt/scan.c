/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Looks through a function for the instructions that fbt may displace: see scan.h. What is
 * displaced must do the same elsewhere, nothing may jump into its middle, and nobody else may patch
 * it or know it by its address. One instruction is enough on AArch64, and for a breakpoint of
 * x86-64. Of Thumb-2's 16-bit ones it takes two, or the filling after a function's last one, or a
 * pad near by (struct fbt_pad).
 */
#include "host/fbt/scan.h"

static unsigned site_bytes(const struct fbt_text *t)
{
    return t->x86 ? FBT_BREAKPOINT_BYTES : FBT_SITE_BYTES;
}

/* ---- a function -------------------------------------------------------------------- */

struct walk {
    const struct fbt_text *t;
    struct fbt_function *f;
    uint64_t at, end;
    struct fbt_insn insn;
    uint64_t before;             /* the instruction before it; 0: none */
    struct fbt_insn before_insn; /* of it */
    unsigned conditional; /* how many instructions the IT block still has, this one included */
    bool before_conditional;
    bool before_displaced;
    unsigned register_jumps;
};

static bool fbt_scan_is_movable(const struct fbt_insn *i)
{
    return i->kind == FBT_PLAIN || i->kind == FBT_SHIFTED;
}

static bool fbt_scan_is_pinned(const struct fbt_text *t, uint64_t at)
{
    return fbt_marked(t, at, FBT_MARK_PINNED);
}

/* ---- entry ------------------------------------------------------------------------- */

/* Returns how many jumps through a register the function has that may be tail calls. A computed
 * goto looks the same, but a function has several. */
static unsigned register_jumps(const struct fbt_text *t, const struct fbt_function *f)
{
    unsigned n = 0;

    for (uint64_t at = f->at; at < f->at + f->size; at += fbt_decode_at(t, at).length) {
        n += fbt_decode_at(t, at).may_call;
    }
    return n;
}

static bool is_tail_call(const struct walk *w)
{
    const struct fbt_insn *i = &w->insn;
    bool out = i->has_target && (i->target < w->f->at || i->target >= w->end);
    bool jump = i->kind == FBT_BRANCH && !i->conditional;

    return (jump && out && fbt_marked(w->t, i->target, FBT_MARK_START)) ||
           (i->may_call && w->register_jumps == 1);
}

/* Something in the function jumps to its start, or may do so. */
static bool loops_to_start(const struct fbt_text *t, const struct fbt_function *f)
{
    bool frame = fbt_decode_at(t, f->at).makes_frame, call = register_jumps(t, f) == 1;

    for (uint64_t at = f->at; at < f->at + f->size;) {
        struct fbt_insn i = fbt_decode_at(t, at);
        bool to_start = i.has_target && i.kind != FBT_CALL && i.target == f->at;
        if (to_start || (i.kind == FBT_INDIRECT && !frame && !(i.may_call && call))) {
            return true;
        }
        at += i.length;
    }
    return false;
}

/* Returns true if the instruction can be displaced alone or as the last one: its slot then has room
 * for a branch. */
static bool movable_last(const struct fbt_insn *i)
{
    bool jump = i->kind == FBT_BRANCH && (!i->conditional || i->length == 2);

    return fbt_scan_is_movable(i) || jump || i->kind == FBT_RETURN || i->may_call;
}

static const char *entry_wrong(const struct fbt_text *t, const struct fbt_function *f, uint64_t at,
                               const struct fbt_insn *i)
{
    if (fbt_scan_is_pinned(t, at)) {
        return "starts with a trace site";
    }
    if (at > f->at && fbt_marked(t, at, FBT_MARK_TARGET)) {
        return "jumps back into its first instructions";
    }
    if (i->too_long) {
        return "starts with an instruction that is too long";
    }
    if (at == f->at && i->length >= site_bytes(t) && movable_last(i)) {
        return NULL;
    }
    return fbt_scan_is_movable(i) ? NULL : "starts with an instruction that can't be moved";
}

/* As many instructions as a wide branch replaces. */
static void scan_wide_entry(const struct fbt_text *t, struct fbt_function *f)
{
    uint64_t at = f->at;

    while (!f->no_entry && at < f->at + site_bytes(t)) {
        struct fbt_insn i = fbt_decode_at(t, at);
        f->no_entry = entry_wrong(t, f, at, &i);
        at += i.length;
    }
    if (!f->no_entry && at > f->at + f->size) {
        f->no_entry = "too small";
    }
    f->entry = f->no_entry ? 0 : (uint8_t)(at - f->at);
}

static void scan_narrow_entry(const struct fbt_text *t, struct fbt_function *f)
{
    struct fbt_insn i = fbt_decode_at(t, f->at);

    if (i.length < site_bytes(t) && movable_last(&i) && !fbt_scan_is_pinned(t, f->at)) {
        f->pad = fbt_pad_take(t, f->at);
        f->entry = f->pad ? i.length : 0;
        f->no_entry = f->pad ? NULL : f->no_entry;
    }
}

static void scan_entry(const struct fbt_text *t, struct fbt_function *f)
{
    if (loops_to_start(t, f)) {
        f->no_entry = "a loop begins at its first instruction";
        return;
    }
    scan_wide_entry(t, f);
    if (f->no_entry) {
        scan_narrow_entry(t, f);
    }
}

/* ---- returns ----------------------------------------------------------------------- */

static const char *return_wrong(const struct walk *w)
{
    if (fbt_scan_is_pinned(w->t, w->at)) {
        return "a return that is known by its address";
    }
    return w->at < w->f->at + w->f->entry ? "its first instruction is its return" : NULL;
}

/* A narrow return and the instruction before it make room for a wide branch. */
static bool before_too(const struct walk *w)
{
    return w->before && !w->conditional && !w->before_conditional &&
           fbt_scan_is_movable(&w->before_insn) && !fbt_scan_is_pinned(w->t, w->before) &&
           !fbt_marked(w->t, w->at, FBT_MARK_TARGET) && w->before >= w->f->at + w->f->entry &&
           !w->before_displaced;
}

/* The function's code ends with a narrow return, and the filling after it makes room for a wide
 * branch. */
static bool filling_too(const struct walk *w)
{
    uint64_t filling = w->at + w->insn.length, behind = filling + 2;

    return !w->conditional && fbt_is_filling(w->t, filling) &&
           (behind >= w->end || fbt_marked(w->t, behind, FBT_MARK_DATA));
}

static void add_return(struct walk *w, bool tail)
{
    struct fbt_function *f = w->f;
    bool narrow = w->insn.length < site_bytes(w->t);
    uint64_t at = narrow && before_too(w) ? w->before : w->at;
    bool alone = narrow && at == w->at && !filling_too(w);
    uint64_t pad = alone ? fbt_pad_take(w->t, at) : 0;

    f->no_return = return_wrong(w);
    if (!f->no_return && alone && !pad) {
        f->no_return = "a narrow return that no branch can replace";
    }
    if (!f->no_return && f->nreturns == FBT_RETURNS_MAX) {
        f->no_return = "too many returns";
    }
    if (f->no_return) {
        fbt_pad_give(w->t, pad);
        return;
    }
    uint8_t length = (uint8_t)(w->at + w->insn.length - at);
    f->returns[f->nreturns++] = (struct fbt_return){at, w->at, pad, tail, length};
}

static void drop_returns(const struct fbt_text *t, struct fbt_function *f)
{
    for (unsigned i = 0; i < f->nreturns; i++) {
        fbt_pad_give(t, f->returns[i].pad);
    }
    f->nreturns = 0;
}

/* All returns or none: half of them would mislead. */
static void scan_returns(const struct fbt_text *t, struct fbt_function *f)
{
    struct walk w = {.t = t, .f = f, .at = f->at, .end = f->at + f->size};

    w.register_jumps = register_jumps(t, f);
    for (; w.at < w.end && !f->no_return; w.at += w.insn.length) {
        w.insn = fbt_decode_at(t, w.at);
        bool tail = is_tail_call(&w), leaves = tail || w.insn.kind == FBT_RETURN;
        if (leaves) {
            add_return(&w, tail);
        }
        w.before = w.at;
        w.before_insn = w.insn;
        w.before_conditional = w.conditional > 0;
        w.conditional = w.insn.kind == FBT_IT ? w.insn.size : w.conditional - !!w.conditional;
        w.before_displaced = leaves;
    }
    if (!f->no_return && f->nreturns == 0) {
        f->no_return = "never returns";
    }
    if (f->no_return) {
        drop_returns(t, f);
    }
}

void fbt_scan(const struct fbt_text *t, struct fbt_function *f)
{
    f->entry = 0;
    f->pad = 0;
    f->nreturns = 0;
    f->no_entry = f->no_return = f->left_out;
    if (!f->left_out) {
        scan_entry(t, f);
        scan_returns(t, f);
    }
}

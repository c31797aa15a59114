/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Looks through a function for the instructions that fbt may displace: see scan.h. What is
 * displaced must do the same elsewhere, nothing may jump into its middle, and nobody else may patch
 * it or know it by its address. One instruction is enough on AArch64; on Thumb-2, where some have
 * 16 bits, it takes two.
 */
#include "host/fbt/scan.h"

/* Most bytes that are displaced: a narrow instruction and a wide one. */
enum { DISPLACED_MAX = 6 };

static bool inside(const struct fbt_text *t, uint64_t address)
{
    return address >= t->base && address < t->base + t->size;
}

void fbt_mark(struct fbt_text *t, uint64_t address, uint8_t mark)
{
    if (inside(t, address)) {
        t->marks[(address - t->base) / 2] |= mark;
    }
}

bool fbt_marked(const struct fbt_text *t, uint64_t address, uint8_t mark)
{
    return inside(t, address) && (t->marks[(address - t->base) / 2] & mark);
}

struct fbt_insn fbt_decode_at(const struct fbt_text *t, uint64_t address)
{
    size_t offset = (size_t)(address - t->base), room = t->size - offset;

    if (fbt_marked(t, address, FBT_MARK_DATA)) {
        return (struct fbt_insn){.kind = FBT_STOP, .length = 2};
    }
    return t->thumb ? fbt_thumb_decode(t->bytes + offset, room, address)
                    : fbt_a64_decode(t->bytes + offset, room, address);
}

/* The table of TBB or TBH goes on for as long as there is data. */
static void mark_table(struct fbt_text *t, uint64_t table, unsigned size)
{
    for (uint64_t at = table; fbt_marked(t, at & ~1ull, FBT_MARK_DATA); at += size) {
        const uint8_t *b = t->bytes + (at - t->base);
        unsigned entry = size == 2 ? (unsigned)(b[0] | b[1] << 8) : b[0];
        fbt_mark(t, table + 2 * entry, FBT_MARK_TARGET);
    }
}

void fbt_text_mark(struct fbt_text *t)
{
    uint64_t end = t->base + t->size, at = t->base;

    while (at + 2 <= end) {
        struct fbt_insn i = fbt_decode_at(t, at);
        if (i.has_target && i.kind != FBT_CALL) {
            fbt_mark(t, i.target, FBT_MARK_TARGET);
        }
        if (i.kind == FBT_TABLE) {
            mark_table(t, at + i.length, i.size);
        }
        at += i.length;
    }
}

/* ---- a function --------------------------------------------------------------------------------
 */

struct walk {
    const struct fbt_text *t;
    struct fbt_function *f;
    uint64_t at, end;
    struct fbt_insn insn;
    uint64_t before;             /* the instruction before it; 0: none */
    struct fbt_insn before_insn; /* of it */
    unsigned conditional; /* how many instructions the IT block still has, this one included */
    bool before_conditional;
};

static bool movable(const struct fbt_insn *i)
{
    return i->kind == FBT_PLAIN || i->kind == FBT_SHIFTED;
}

static bool pinned(const struct fbt_text *t, uint64_t at)
{
    return fbt_marked(t, at, FBT_MARK_PINNED);
}

/* ---- entry -------------------------------------------------------------------------------------
 */

/* Something in the function jumps to its start, or may do so. */
static bool loops_to_start(const struct fbt_text *t, const struct fbt_function *f)
{
    bool frame = fbt_decode_at(t, f->at).makes_frame;

    for (uint64_t at = f->at; at < f->at + f->size;) {
        struct fbt_insn i = fbt_decode_at(t, at);
        bool to_start = i.has_target && i.kind != FBT_CALL && i.target == f->at;
        if (to_start || (i.kind == FBT_INDIRECT && !frame)) {
            return true;
        }
        at += i.length;
    }
    return false;
}

static const char *entry_wrong(const struct fbt_text *t, const struct fbt_function *f, uint64_t at,
                               const struct fbt_insn *i, bool last)
{
    if (pinned(t, at)) {
        return "starts with a trace site";
    }
    if (at > f->at && fbt_marked(t, at, FBT_MARK_TARGET)) {
        return "jumps back into its first instructions";
    }
    if (at > f->at && last && i->kind == FBT_RETURN) {
        return NULL;
    }
    return movable(i) ? NULL : "starts with an instruction that can't be moved";
}

static void scan_entry(const struct fbt_text *t, struct fbt_function *f)
{
    uint64_t at = f->at;

    while (!f->no_entry && at < f->at + FBT_SITE_BYTES) {
        struct fbt_insn i = fbt_decode_at(t, at);
        bool last = at + i.length >= f->at + FBT_SITE_BYTES;
        f->no_entry = entry_wrong(t, f, at, &i, last);
        at += i.length;
    }
    if (!f->no_entry && at > f->at + f->size) {
        f->no_entry = "too small";
    }
    if (!f->no_entry && loops_to_start(t, f)) {
        f->no_entry = "a loop begins at its first instruction";
    }
    f->entry = f->no_entry ? 0 : (uint8_t)(at - f->at);
}

/* ---- returns -----------------------------------------------------------------------------------
 */

static const char *return_wrong(const struct walk *w)
{
    if (w->conditional) {
        return "a conditional return";
    }
    if (pinned(w->t, w->at)) {
        return "a return that is known by its address";
    }
    if (w->insn.length >= FBT_SITE_BYTES) {
        return w->at < w->f->at + w->f->entry ? "entry and return overlap" : NULL;
    }
    if (fbt_marked(w->t, w->at, FBT_MARK_TARGET)) {
        return "a narrow return that is jumped to";
    }
    if (!w->before || w->before_conditional || !movable(&w->before_insn) ||
        pinned(w->t, w->before)) {
        return "a narrow return after an instruction that can't be moved";
    }
    return w->before < w->f->at + w->f->entry ? "entry and return overlap" : NULL;
}

static void add_return(struct walk *w)
{
    struct fbt_function *f = w->f;
    uint64_t at = w->insn.length >= FBT_SITE_BYTES ? w->at : w->before;

    f->no_return = return_wrong(w);
    if (!f->no_return && f->nreturns == FBT_RETURNS_MAX) {
        f->no_return = "too many returns";
    }
    if (!f->no_return) {
        uint8_t length = (uint8_t)(w->at + w->insn.length - at);
        f->returns[f->nreturns++] = (struct fbt_return){at, w->at, length};
    }
}

/* All returns or none: half of them would mislead. */
static void scan_returns(const struct fbt_text *t, struct fbt_function *f)
{
    struct walk w = {.t = t, .f = f, .at = f->at, .end = f->at + f->size};

    for (; w.at < w.end && !f->no_return; w.at += w.insn.length) {
        w.insn = fbt_decode_at(t, w.at);
        if (w.insn.kind == FBT_RETURN) {
            add_return(&w);
        }
        w.before = w.at;
        w.before_insn = w.insn;
        w.before_conditional = w.conditional > 0;
        w.conditional = w.insn.kind == FBT_IT ? w.insn.size : w.conditional - !!w.conditional;
    }
    if (!f->no_return && f->nreturns == 0) {
        f->no_return = "never returns, or by a tail call";
    }
    f->nreturns = f->no_return ? 0 : f->nreturns;
}

void fbt_scan(const struct fbt_text *t, struct fbt_function *f)
{
    f->entry = 0;
    f->nreturns = 0;
    f->no_entry = f->no_return = f->left_out;
    if (!f->left_out) {
        scan_entry(t, f);
        scan_returns(t, f);
    }
}

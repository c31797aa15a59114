/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A kernel's text: finds instructions, jump targets, instructions that must not be displaced, and
 * free pads. See scan.h.
 */
#include "host/fbt/scan.h"

/* Range of a 16-bit branch, from its own address: the nearest and the farthest pad. */
enum { HOP_LEAST = -2044, HOP_MOST = 2046 };

static bool fbt_text_is_inside(const struct fbt_text *t, uint64_t address)
{
    return address >= t->base && address < t->base + t->size;
}

void fbt_mark(struct fbt_text *t, uint64_t address, uint8_t mark)
{
    if (fbt_text_is_inside(t, address)) {
        t->marks[address - t->base] |= mark;
    }
}

bool fbt_marked(const struct fbt_text *t, uint64_t address, uint8_t mark)
{
    return fbt_text_is_inside(t, address) && (t->marks[address - t->base] & mark);
}

struct fbt_insn fbt_decode_at(const struct fbt_text *t, uint64_t address)
{
    size_t offset = (size_t)(address - t->base), room = t->size - offset;

    if (fbt_marked(t, address, FBT_MARK_DATA)) {
        return (struct fbt_insn){.kind = FBT_STOP, .length = 2};
    }
    if (t->x86) {
        return fbt_x86_decode(t->bytes + offset, room, address);
    }
    return t->thumb ? fbt_thumb_decode(t->bytes + offset, room, address)
                    : fbt_a64_decode(t->bytes + offset, room, address);
}

/* The table of TBB or TBH extends as far as there is data. */
static void mark_table(struct fbt_text *t, uint64_t table, unsigned size)
{
    for (uint64_t at = table; fbt_marked(t, at & ~1ull, FBT_MARK_DATA); at += size) {
        const uint8_t *b = t->bytes + (at - t->base);
        unsigned entry = size == 2 ? (unsigned)(b[0] | b[1] << 8) : b[0];
        fbt_mark(t, table + 2 * entry, FBT_MARK_TARGET);
    }
}

/* Returns the end of the instruction at `at`, or where a function begins before: x86's instructions
 * have no alignment, and what lies between functions may be none. */
static uint64_t next_start(const struct fbt_text *t, uint64_t at, uint64_t end)
{
    for (at++; at < end && !fbt_marked(t, at, FBT_MARK_START); at++) {
    }
    return at;
}

void fbt_text_mark(struct fbt_text *t)
{
    uint64_t end = t->base + t->size, at = t->base;

    while (at < end) {
        struct fbt_insn i = fbt_decode_at(t, at);
        if (i.has_target && i.kind != FBT_CALL) {
            fbt_mark(t, i.target, FBT_MARK_TARGET);
        }
        if (i.kind == FBT_TABLE) {
            mark_table(t, at + i.length, i.size);
        }
        at = next_start(t, at, at + i.length);
    }
}

/* ---- pads -------------------------------------------------------------------------- */

enum { NOP = 0xbf00 };

bool fbt_is_nop(const struct fbt_text *t, uint64_t at)
{
    const uint8_t *b = t->bytes + (at - t->base);

    return fbt_text_is_inside(t, at) && (b[0] | b[1] << 8) == NOP &&
           !fbt_marked(t, at, FBT_MARK_DATA | FBT_MARK_PINNED);
}

bool fbt_is_filling(const struct fbt_text *t, uint64_t at)
{
    for (size_t i = 0; i < t->npads; i++) {
        if (at - t->pads[i].at < FBT_SITE_BYTES) {
            return false;
        }
    }
    return fbt_is_nop(t, at) && !fbt_marked(t, at, FBT_MARK_TARGET | FBT_MARK_START);
}

static bool in_reach(uint64_t site, uint64_t pad)
{
    int64_t hop = (int64_t)(pad - site);

    return hop >= HOP_LEAST && hop <= HOP_MOST;
}

/* The lowest free one in reach: sites come by address, so later ones reach the most of the others.
 * 0: none is near enough. */
uint64_t fbt_pad_take(const struct fbt_text *t, uint64_t site)
{
    struct fbt_pad *best = NULL;

    for (size_t i = 0; i < t->npads; i++) {
        struct fbt_pad *p = &t->pads[i];
        if (!p->used && in_reach(site, p->at) && (!best || p->at < best->at)) {
            best = p;
        }
    }
    if (best) {
        best->used = true;
    }
    return best ? best->at : 0;
}

void fbt_pad_give(const struct fbt_text *t, uint64_t at)
{
    for (size_t i = 0; at && i < t->npads; i++) {
        t->pads[i].used &= t->pads[i].at != at;
    }
}

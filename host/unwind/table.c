/* SPDX-License-Identifier: BSD-2-Clause */
/* The states of a text's instructions as a table: abi/unwind.h. */
#include <stdlib.h>
#include <string.h>

#include "host/unwind/pack.h"
#include "host/unwind/unwind.h"
#include "abi/unwind.h"
#include "isa/x86_64/insn.h"

struct making {
    struct unwind_rule *rules;
    struct unwind_row *rows;
    size_t nrules, nrows;
};

/* Returns false if the location has no number in a table. */
static bool place_number(const struct unwind_place *p, bool is_fp, uint32_t *out)
{
    if (p->where == UNWIND_AT_HOME) {
        *out = UNWIND_IN_REGISTER;
        return true;
    }
    bool fits = p->where == UNWIND_AT_STACK && p->at % 4 == 0 && p->at != 0 &&
                p->at / 4 > INT16_MIN && p->at / 4 < UNWIND_LOST;
    *out = fits ? (uint16_t)(int16_t)(p->at / 4) : UNWIND_LOST;
    return fits || is_fp;
}

/*
 * Rule 0, of code that nothing reaches, says that nothing is known. Where programs keep a frame
 * pointer (by_fp) it is preferred: a stack pointer that a caller has lost does no harm then.
 */
static struct unwind_rule rule_of(const struct unwind_state *s, bool by_fp)
{
    const struct unwind_rule unknown = {UINT32_MAX, 0};
    bool fp_counts = s->fp_known && (by_fp || !s->sp_known), known = s->sp_known || s->fp_known;
    int cfa = fp_counts ? s->fp : s->sp;
    uint32_t ra, fp;

    if (!s->reached || !place_number(&s->ra, false, &ra)) {
        return unknown;
    }
    place_number(&s->fp_saved, true, &fp);
    if (!known && ra == UNWIND_IN_REGISTER && fp == UNWIND_IN_REGISTER) {
        return (struct unwind_rule){UNWIND_NO_CFA, 0};
    }
    if (!known || cfa < 0 || cfa % 4) {
        return unknown;
    }
    return (struct unwind_rule){(uint32_t)cfa | (fp_counts ? UNWIND_BY_FP : 0), ra | fp << 16};
}

static uint32_t unwind_table_number_of(struct making *m, struct unwind_rule rule)
{
    for (size_t i = 0; i < m->nrules; i++) {
        if (m->rules[i].cfa == rule.cfa && m->rules[i].places == rule.places) {
            return (uint32_t)i;
        }
    }
    if (m->nrules == UNWIND_RULES_MOST) {
        return 0;
    }
    m->rules[m->nrules] = rule;
    return (uint32_t)m->nrules++;
}

static void add_row(struct making *m, const struct fbt_text *t, uint64_t offset, uint32_t rule)
{
    if (m->nrows > 0 && m->rows[m->nrows - 1].rule == rule) {
        return;
    }
    m->rows[m->nrows++] = (struct unwind_row){(uint32_t)(offset / unwind_unit(t)), rule};
}

/* NOP of any length, or zeros. */
static bool is_x86_filling(const struct fbt_text *t, uint64_t at)
{
    const uint8_t *b = t->bytes + (at - t->base);
    struct x86_insn i = x86_insn_read(b, t->size - (size_t)(at - t->base));

    return (i.length && i.two && i.opcode == 0x1f) || (i.length && !i.two && i.opcode == 0x90) ||
           *b == 0 || *b == 0xcc;
}

/* Filling up to a boundary. */
bool unwind_is_filling(const struct fbt_text *t, uint64_t at)
{
    if (t->x86) {
        return is_x86_filling(t, at);
    }
    static const uint8_t thumb[] = {0x00, 0xbf}, a64[] = {0x1f, 0x20, 0x03, 0xd5}, none[4];
    const uint8_t *b = t->bytes + (at - t->base);
    size_t width = t->thumb ? 2 : 4;

    return memcmp(b, t->thumb ? thumb : a64, width) == 0 || memcmp(b, none, width) == 0;
}

static void unwind_table_add_function(struct making *m, const struct fbt_kernel *k,
                                      const struct fbt_function *fn,
                                      const struct unwind_state *states, uint64_t base,
                                      uint64_t *done)
{
    const struct fbt_text *t = &k->text;

    for (uint64_t at = fn->at; at < fn->at + fn->size && at < t->base + t->size;) {
        struct fbt_insn i = fbt_decode_at(t, at);
        const struct unwind_state *state = &states[unwind_slot(t, at)];
        bool code = !fbt_marked(t, at, FBT_MARK_DATA) && at >= *done;
        if (code && (state->reached || !unwind_is_filling(t, at))) {
            add_row(m, t, at - base, unwind_table_number_of(m, rule_of(state, !t->thumb)));
            *done = at + i.length;
        }
        at += i.length;
    }
}

/* Returns true if there is code after a function, and not only padding: it belongs to no function,
 * and nothing is known about it. */
static bool is_code(const struct fbt_kernel *k, uint64_t from, uint64_t to)
{
    const struct fbt_text *t = &k->text;
    size_t width = t->thumb ? 2 : 4;

    for (uint64_t at = from; at + width <= to; at += t->x86 ? fbt_decode_at(t, at).length : width) {
        if (!fbt_marked(t, at, FBT_MARK_DATA) && !unwind_is_filling(t, at)) {
            return true;
        }
    }
    return false;
}

/* Ends what the function's last row says, if there is code before the next one. */
static void add_gap(struct making *m, const struct fbt_kernel *k, size_t i, uint64_t base)
{
    const struct fbt_function *fn = &k->functions[i];
    uint64_t end = fn->at + fn->size, text_end = k->text.base + k->text.size;
    uint64_t next = i + 1 < k->nfunctions ? fn[1].at : text_end;

    if (end < next && next <= text_end && is_code(k, end, next)) {
        add_row(m, &k->text, end - base, 0);
    }
}

void unwind_table_make(struct unwind_table *table, const struct fbt_kernel *k,
                       const struct unwind_state *states, uint64_t base)
{
    size_t slots = k->text.size / unwind_unit(&k->text) + 2;
    struct making m = {.rules = calloc(UNWIND_RULES_MOST, sizeof(*m.rules)),
                       .rows = calloc(slots, sizeof(*m.rows))};
    uint64_t end = k->text.base + k->text.size, done = base;

    if (!m.rules || !m.rows) {
        fbt_die("no memory");
    }
    if (k->text.base < base || end - base > UINT32_MAX) {
        fbt_die("the text is too large for an unwind table");
    }
    m.rules[m.nrules++] = rule_of(&(const struct unwind_state){.reached = false}, false);
    for (size_t i = 0; i < k->nfunctions; i++) {
        unwind_table_add_function(&m, k, &k->functions[i], states, base, &done);
        add_gap(&m, k, i, base);
    }
    add_row(&m, &k->text, end - base, 0);
    table->words =
        unwind_pack(m.rules, m.nrules, m.rows, m.nrows, (uint32_t)(end - base), &table->nwords);
    if (!table->words) {
        fbt_die("no memory");
    }
    free(m.rules);
    free(m.rows);
}

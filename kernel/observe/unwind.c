/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Stack traces by the unwind tables: see unwind.h. A table is part of the kernel, or is in the ELF
 * of a program in the boot image. host/unwind generates it, but it is not trusted: nothing outside
 * of it is read. A program's stack is not trusted either: its content can only shorten the trace or
 * lead it through other functions of the same program, upwards in memory and to addresses that
 * follow calls.
 *
 * The trace ends where the table says that the caller is unknown (first functions, exception
 * entries, functions that move the stack pointer by a computed amount), at a return address that
 * doesn't follow a call, and at unreadable memory.
 *
 * Tested by test/host/unwind (the tables against the compiler's), test/kernel (damaged ones) and
 * test/board's suite stacks.
 */
#include "kernel/arch/entry.h"
#include "kernel/arch/stack.h"
#include "kernel/observe/observe.h"

#include "abi/unwind.h"
#include "kernel/base/cpu.h"
#include "kernel/dtrace/dtrace.h"
#include "kernel/proc/proc.h"

enum { KERNEL_FRAMES = 96 }; /* including D's own and those of nested interrupts */

extern const char __kernel_start[];

/* The unwind table of a text, and the text's address. */
struct text {
    const uint8_t *table;
    const uint8_t *pairs, *blocks; /* in the table */
    uintptr_t start, bytes;
    uint32_t nrules, nblocks, npairs;
    const struct thread *user; /* the thread whose memory the stack is; NULL: it is the kernel's */
    const struct unwind_copy *copy; /* of the stack; NULL: read the stack itself */
};

static uint32_t unwind_word_at(const uint8_t *table, size_t n)
{
    uint32_t word;

    __builtin_memcpy(&word, table + n * sizeof(word), sizeof(word));
    return word;
}

static bool text_open(struct text *text, const void *table, size_t len, uintptr_t start)
{
    const size_t words = len / sizeof(uint32_t);

    if (words < UNWIND_HEADER_WORDS || unwind_word_at(table, 0) != UNWIND_MAGIC) {
        return false;
    }
    text->table = table;
    text->start = start;
    text->bytes = unwind_word_at(table, 1);
    text->nrules = unwind_word_at(table, 2);
    text->nblocks = unwind_word_at(table, 3);
    text->npairs = unwind_word_at(table, 4);
    if (text->nrules > UNWIND_RULES_MOST || text->npairs > UNWIND_PAIRS_MOST ||
        text->nblocks > words / (1 + UNWIND_BLOCK / 4)) {
        return false;
    }
    size_t pairs = UNWIND_HEADER_WORDS + 2 * text->nrules + text->nblocks;
    size_t blocks = pairs + (text->npairs + 1) / 2;
    text->pairs = text->table + 4 * pairs;
    text->blocks = text->table + 4 * blocks;
    return blocks + text->nblocks * (UNWIND_BLOCK / 4) <= words;
}

static bool text_of_kernel(struct text *text)
{
    text->user = NULL;
    text->copy = NULL;
    return text_open(text, kernel_unwind, kernel_unwind_words * sizeof(uint32_t),
                     (uintptr_t)__kernel_start);
}

static bool text_of_thread(struct text *text, const struct thread *t)
{
    const struct program *program = &t->proc->program;

    text->user = t;
    text->copy = NULL;
    return program->unwind && text_open(text, program->unwind, program->unwind_len, program->text);
}

/* Returns the rule that applies at `place` in a block that begins at `at`, or 0. */
static uint32_t rule_in_block(const struct text *text, uint32_t block, uint32_t at, uint32_t place)
{
    const uint8_t *entry = text->blocks + block * UNWIND_BLOCK, *end = entry + UNWIND_BLOCK;
    uint32_t rule = *entry++;

    while (entry < end) {
        uint32_t code = *entry++, next;
        if (code - 1 < text->npairs) {
            const uint8_t *pair = text->pairs + 2 * (code - 1);
            at += pair[0];
            next = pair[1];
        } else if (code >= UNWIND_LONG &&
                   end - entry > (code == (UNWIND_LONG | UNWIND_LONG_RULE))) {
            next = code & UNWIND_LONG_RULE;
            next = next == UNWIND_LONG_RULE ? *entry++ : next;
            at += *entry++;
        } else {
            break;
        }
        if (at > place) {
            break;
        }
        rule = next;
    }
    return rule < text->nrules ? rule : 0;
}

/* Returns the rule that applies at `offset` bytes from the text's start, or 0. */
static uint32_t rule_at(const struct text *text, uintptr_t offset)
{
    const uint8_t *starts = text->table + 4 * (UNWIND_HEADER_WORDS + 2 * text->nrules);
    uint32_t key = (uint32_t)(offset >> ARCH_CODE_SHIFT), low = 0, high = text->nblocks;

    while (low < high) { /* the last block that begins at or below key has an index below `high` */
        uint32_t middle = low + (high - low) / 2;
        if (unwind_word_at(starts, middle) <= key) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return low ? rule_in_block(text, low - 1, unwind_word_at(starts, low - 1), key) : 0;
}

static bool unwind_load(const struct text *text, uintptr_t cfa, int16_t words, uintptr_t *out)
{
    uintptr_t at = cfa + (uintptr_t)(intptr_t)words * 4;

    if (at % sizeof(*out) != 0) {
        return false;
    }
    if (text->copy) {
        uintptr_t n = (at - text->copy->at) / sizeof(*out);
        *out = n < text->copy->count ? text->copy->words[n] : 0;
        return n < text->copy->count;
    }
    return arch_peek(out, at, sizeof(*out), text->user);
}

/* Replaces f, whose instruction has this rule, by its caller. Returns false if the caller can't be
 * found. */
static bool unwind_apply(const struct text *text, uint32_t rule, struct unwind_frame *f)
{
    uint32_t cfa_word = unwind_word_at(text->table, UNWIND_HEADER_WORDS + 2 * rule);
    uint32_t places = unwind_word_at(text->table, UNWIND_HEADER_WORDS + 2 * rule + 1);
    int16_t ra = (int16_t)(places & 0xffff), fp = (int16_t)(places >> 16);

    if (cfa_word == UNWIND_NO_CFA) {
        f->pc = f->lr;
        f->sp = 0; /* a caller with a frame pointer needs no sp */
        bool live = f->live;
        f->live = false;
        return live;
    }
    uintptr_t base = cfa_word & UNWIND_BY_FP ? f->fp : f->sp;
    uintptr_t cfa = base + (cfa_word & ~UNWIND_BY_FP), back = f->lr;

    /* A function of the kernel may save registers in its caller's frame: a64_probe_entry. */
    if (cfa < f->sp || cfa < base || (cfa == f->sp && !f->live && text->user)) {
        return false;
    }
    if (ra == UNWIND_IN_REGISTER ? !f->live : !unwind_load(text, cfa, ra, &back)) {
        return false;
    }
    if (fp != UNWIND_IN_REGISTER && (fp == UNWIND_LOST || !unwind_load(text, cfa, fp, &f->fp))) {
        f->fp = 0; /* no stack pointer is below it */
    }
    f->pc = back;
    f->sp = cfa;
    f->live = false;
    return true;
}

/* Handles a call through a bad pointer, to an address without code, which has only stored the
 * return address. */
static bool unwind_bad_call(const struct text *text, struct unwind_frame *f)
{
    uintptr_t back = f->lr;

    if (!f->live || (ARCH_CALL_PUSHES && !unwind_load(text, f->sp, 0, &back))) {
        return false;
    }
    f->pc = back;
    f->sp += ARCH_CALL_PUSHES;
    f->live = false;
    return true;
}

/* Steps up one frame. A return address belongs to the instruction before it, which may be the last
 * one of its function. */
static bool unwind_step(const struct text *text, struct unwind_frame *f)
{
    uintptr_t offset = f->pc - (f->live ? 0 : 1) - text->start;

    if (offset < text->bytes) {
        uint32_t rule = rule_at(text, offset);
        return rule && unwind_apply(text, rule, f);
    }
    return unwind_bad_call(text, f);
}

/* ---- a thread ---------------------------------------------------------------------- */

void unwind_user(const struct thread *t, unsigned max, unwind_found found, void *arg)
{
    struct unwind_frame f;
    struct text text;

    if (!text_of_thread(&text, t) || !arch_user_frame(t, &f)) {
        return;
    }
    for (unsigned n = 0; n < max && unwind_step(&text, &f) && arch_return_address(&f.pc, t); n++) {
        found(f.pc, arg);
    }
}

bool unwind_user_next(const struct thread *t, struct unwind_frame *f)
{
    struct text text;

    return text_of_thread(&text, t) && unwind_step(&text, f) && arch_return_address(&f->pc, t);
}

/* ---- the kernel -------------------------------------------------------------------- */

struct kernel_walk {
    struct text text;
    struct unwind_frame f;
    uintptr_t above;
    uintptr_t *to;
    unsigned n, max;
};

static void unwind_add(struct kernel_walk *w, uintptr_t ip)
{
    if (w->n < w->max && w->f.sp > w->above) {
        w->to[w->n++] = ip;
    }
}

/* Returns true if there is a next frame. A function probe's frame is skipped: the probed function
 * is next. */
static bool kernel_step(struct kernel_walk *w)
{
    uintptr_t site;
    unsigned offset;

    if (!unwind_step(&w->text, &w->f)) {
        return false;
    }
    if (arch_exception_frame(&w->f)) {
        if (w->f.live && !w->f.at_probe) {
            unwind_add(w, w->f.pc);
        }
        return w->f.live;
    }
    if (!arch_return_address(&w->f.pc, NULL)) {
        return false;
    }
    if (dtrace_fbt_site(w->f.pc, &site, &offset)) {
        return arch_probe_frame(&w->f, site, offset);
    }
    unwind_add(w, w->f.pc);
    return true;
}

/* Inlined: the frame at which the walk begins must exist for the whole walk. */
static inline __attribute__((always_inline)) bool kernel_begin(struct kernel_walk *w,
                                                               const struct unwind_frame *from)
{
    if (from) {
        w->f = *from;
    } else {
        arch_frame_here(&w->f.pc, &w->f.sp, &w->f.fp);
        w->f.live = true;
    }
    return text_of_kernel(&w->text);
}

__attribute__((noinline)) unsigned unwind_kernel(const struct unwind_frame *from, uintptr_t above,
                                                 uintptr_t *to, unsigned max)
{
    struct kernel_walk w = {.above = above, .to = to, .max = max};

    if (kernel_begin(&w, from)) {
        for (unsigned i = 0; i < KERNEL_FRAMES && w.n < max && kernel_step(&w); i++) {
        }
    }
    return w.n;
}

unsigned unwind_kernel_copy(const struct unwind_frame *from, const struct unwind_copy *copy,
                            uintptr_t *to, unsigned max)
{
    struct unwind_frame f = *from;
    struct text text;
    uintptr_t site;
    unsigned n = 0, offset;

    if (!text_of_kernel(&text)) {
        return 0;
    }
    text.copy = copy;
    while (n < max && unwind_step(&text, &f) && arch_return_address(&f.pc, NULL) &&
           !dtrace_fbt_site(f.pc, &site, &offset)) {
        to[n++] = f.pc;
    }
    return n;
}

__attribute__((noinline)) bool kernel_unwind_to_user(struct unwind_frame *out)
{
    struct kernel_walk w = {.above = UINTPTR_MAX};

    if (kernel_begin(&w, NULL)) {
        for (unsigned i = 0; i < KERNEL_FRAMES && kernel_step(&w); i++) {
        }
    }
    *out = w.f;
    return w.f.to_user;
}

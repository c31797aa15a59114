/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Subroutines that measure strings and make new ones, in scratch. Of a firing. Tested by
 * test/d_machine/subr_test.c.
 */
#include "trace/d/subr.h"

uint64_t d_subr_strlen(struct d_context *c)
{
    return d_arg_length(c, 0);
}

static void put_part(struct d_writer *w, uint64_t from, size_t n)
{
    struct d_text t;

    d_text_open(&t, w->context, from, false);
    for (size_t i = 0; i < n; i++) {
        d_writer_put(w, d_text_byte(&t, i));
    }
}

/* What is longer than a string is not cut here, but has no room. */
uint64_t d_subr_strjoin(struct d_context *c)
{
    size_t first = d_arg_length(c, 0), second = d_arg_length(c, 1);
    struct d_writer w;

    d_writer_open(&w, c, c->code->strsize - 1);
    if (first + second >= c->code->strsize) {
        d_fault(c, DIF_FAULT_NOSCRATCH, 0);
        return 0;
    }
    put_part(&w, d_arg(c, 0), first);
    put_part(&w, d_arg(c, 1), second);
    return d_writer_close(&w);
}

/* A negative start counts from the end, and what lies before the string is taken off the count; a
 * negative count leaves that many out at the end. */
uint64_t d_subr_substr(struct d_context *c)
{
    int64_t length = (int64_t)d_arg_length(c, 0), size = c->code->strsize;
    int64_t start = (int64_t)d_arg(c, 1), count = (int64_t)d_arg_or(c, 2, (uint64_t)size);
    struct d_writer w;

    d_writer_open(&w, c, c->code->strsize);
    if (start < 0) {
        start += length;
        if (start < 0 && count > 0 && (uint64_t)count > 0 - (uint64_t)start) {
            count += start;
            start = 0;
        }
    }
    if (start < 0 || start >= length) {
        count = 0;
    } else if (count < 0) {
        count += length - start;
    } else if (count > length - start) {
        count = length - start;
    }
    put_part(&w, d_arg(c, 0) + (uint64_t)start, count > 0 ? (size_t)count : 0);
    return d_writer_close(&w);
}

/* ASCII alone: what is from `low` on, 26 of them, moves by 32. */
static uint64_t change_case(struct d_context *c, uint8_t low)
{
    size_t length = d_arg_length(c, 0);
    struct d_writer w;
    struct d_text t;

    d_writer_open(&w, c, c->code->strsize - 1);
    d_text_open(&t, c, d_arg(c, 0), false);
    for (size_t i = 0; i < length; i++) {
        uint8_t byte = d_text_byte(&t, i);
        d_writer_put(&w, (uint8_t)(byte - low) < 26 ? byte ^ 32 : byte);
    }
    return d_writer_close(&w);
}

uint64_t d_subr_toupper(struct d_context *c)
{
    return change_case(c, 'a');
}

uint64_t d_subr_tolower(struct d_context *c)
{
    return change_case(c, 'A');
}

/* A set of bytes. */
struct set {
    uint32_t bits[8];
};

static bool set_has(const struct set *s, uint8_t byte)
{
    return s->bits[byte >> 5] >> (byte & 31) & 1;
}

static void set_fill(struct set *s, struct d_context *c, uint64_t from, size_t n)
{
    struct d_text t;

    *s = (struct set){{0}};
    d_text_open(&t, c, from, false);
    for (size_t i = 0; i < n; i++) {
        uint8_t byte = d_text_byte(&t, i);
        s->bits[byte >> 5] |= 1u << (byte & 31);
    }
}

/* Goes on where it stopped if its first argument is NULL; at the end there is no more. */
uint64_t d_subr_strtok(struct d_context *c)
{
    bool on = d_arg(c, 0) == 0;
    uint64_t from = on ? c->strtok : d_arg(c, 0);
    size_t end = on && from ? c->strtok_left : c->code->strsize, i = 0;
    struct d_writer w;
    struct d_text t;
    struct set separators;
    uint8_t byte = 0;

    set_fill(&separators, c, d_arg(c, 1), d_arg_length(c, 1));
    d_writer_open(&w, c, c->code->strsize - 1);
    d_text_open(&t, c, from, false);
    while (i < end && (byte = d_text_byte(&t, i)) != 0 && set_has(&separators, byte)) {
        i++;
    }
    c->strtok = 0;
    if (i == end || byte == 0) {
        return 0;
    }
    while (i < end && (byte = d_text_byte(&t, i)) != 0 && !set_has(&separators, byte)) {
        d_writer_put(&w, byte);
        i++;
    }
    c->strtok = from + i;
    c->strtok_left = end - i;
    return d_writer_close(&w);
}

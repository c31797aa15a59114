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

enum { CLIP = 1 << 30 }; /* no string is longer */

static int32_t clipped(uint64_t n)
{
    int64_t value = (int64_t)n;

    return value > CLIP ? CLIP : value < -CLIP ? -CLIP : (int32_t)value;
}

/* A negative start counts from the end, and what lies before the string is taken off the count; a
 * negative count leaves that many out at the end. */
uint64_t d_subr_substr(struct d_context *c)
{
    int32_t length = (int32_t)d_arg_length(c, 0);
    int32_t start = clipped(d_arg(c, 1)), count = clipped(d_arg_or(c, 2, c->code->strsize));
    struct d_writer w;

    d_writer_open(&w, c, c->code->strsize);
    if (start < 0) {
        start += length;
        if (start < 0 && count > -start) {
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

/* Whether a byte is one of the separators: few, as a rule. */
static bool separates(struct d_text *separators, size_t n, uint8_t byte)
{
    size_t i = 0;

    while (i < n && d_text_byte(separators, i) != byte) {
        i++;
    }
    return i < n;
}

/* Goes on where it stopped if its first argument is NULL, also in a later clause of the firing; but
 * what was in the scratch of an earlier clause is gone. At the end there is no more. */
uint64_t d_subr_strtok(struct d_context *c)
{
    bool on = d_arg(c, 0) == 0, lost = c->strtok_ecb && c->strtok_ecb != c->ecb;
    uint64_t from = on ? lost ? 0 : c->strtok : d_arg(c, 0);
    size_t end = on && from ? c->strtok_left : c->code->strsize, i = 0;
    struct d_writer w;
    struct d_text t, separators;
    size_t n = d_arg_length(c, 1);
    uint8_t byte = 0;

    d_text_open(&separators, c, d_arg(c, 1), false);
    d_writer_open(&w, c, c->code->strsize - 1);
    d_text_open(&t, c, from, false);
    while (i < end && (byte = d_text_byte(&t, i)) != 0 && separates(&separators, n, byte)) {
        i++;
    }
    c->strtok = 0;
    if (i == end || byte == 0) {
        return 0;
    }
    while (i < end && (byte = d_text_byte(&t, i)) != 0 && !separates(&separators, n, byte)) {
        d_writer_put(&w, byte);
        i++;
    }
    c->strtok = from + i;
    c->strtok_ecb = from - (uintptr_t)c->scratch < c->scratch_used ? c->ecb : NULL;
    c->strtok_left = end - i;
    return d_writer_close(&w);
}

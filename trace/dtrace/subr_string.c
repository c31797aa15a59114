/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Subroutines that measure strings and make new ones, in scratch. Probe context. Tested by
 * test/trace/dtrace/machine/subr_test.c.
 */
#include "trace/dtrace/ecb.h"
#include "trace/dtrace/subr.h"

uint64_t dtrace_subr_strlen(struct dtrace_context *c)
{
    return dtrace_arg_length(c, 0);
}

static void put_part(struct dtrace_writer *w, uint64_t from, size_t n)
{
    struct dtrace_text t;

    dtrace_text_open(&t, w->context, from, false);
    for (size_t i = 0; i < n; i++) {
        dtrace_writer_put(w, dtrace_text_byte(&t, i));
    }
}

/* A result longer than a string is not truncated, but has no room. */
uint64_t dtrace_subr_strjoin(struct dtrace_context *c)
{
    size_t first = dtrace_arg_length(c, 0), second = dtrace_arg_length(c, 1);
    struct dtrace_writer w;

    dtrace_writer_open(&w, c, c->code->strsize - 1);
    if (first + second >= c->code->strsize) {
        dtrace_fault(c, DIF_FAULT_NOSCRATCH, 0);
        return 0;
    }
    put_part(&w, dtrace_arg(c, 0), first);
    put_part(&w, dtrace_arg(c, 1), second);
    return dtrace_writer_close(&w);
}

enum { CLIP = 1 << 30 }; /* no string is longer */

static int32_t subr_string_clipped(uint64_t n)
{
    int64_t value = (int64_t)n;

    return value > CLIP ? CLIP : value < -CLIP ? -CLIP : (int32_t)value;
}

/* A negative start counts from the end; the part before the string is subtracted from the count. A
 * negative count leaves out that many characters at the end. */
uint64_t dtrace_subr_substr(struct dtrace_context *c)
{
    int32_t length = (int32_t)dtrace_arg_length(c, 0);
    int32_t start = subr_string_clipped(dtrace_arg(c, 1)),
            count = subr_string_clipped(dtrace_arg_or(c, 2, c->code->strsize));
    struct dtrace_writer w;

    dtrace_writer_open(&w, c, c->code->strsize);
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
    put_part(&w, dtrace_arg(c, 0) + (uint64_t)start, count > 0 ? (size_t)count : 0);
    return dtrace_writer_close(&w);
}

/* Changes the case of ASCII letters only: shifts the 26 letters from `low` on by 32. */
static uint64_t change_case(struct dtrace_context *c, uint8_t low)
{
    size_t length = dtrace_arg_length(c, 0);
    struct dtrace_writer w;
    struct dtrace_text t;

    dtrace_writer_open(&w, c, c->code->strsize - 1);
    dtrace_text_open(&t, c, dtrace_arg(c, 0), false);
    for (size_t i = 0; i < length; i++) {
        uint8_t byte = dtrace_text_byte(&t, i);
        dtrace_writer_put(&w, (uint8_t)(byte - low) < 26 ? byte ^ 32 : byte);
    }
    return dtrace_writer_close(&w);
}

uint64_t dtrace_subr_toupper(struct dtrace_context *c)
{
    return change_case(c, 'a');
}

uint64_t dtrace_subr_tolower(struct dtrace_context *c)
{
    return change_case(c, 'A');
}

/* Returns whether a byte is one of the separators, which usually are few. */
static bool subr_string_separates(struct dtrace_text *separators, size_t n, uint8_t byte)
{
    size_t i = 0;

    while (i < n && dtrace_text_byte(separators, i) != byte) {
        i++;
    }
    return i < n;
}

/* Implements strtok(): if its first argument is NULL, continues where it stopped, also in a later
 * clause of the same probe firing; but a string in an earlier clause's scratch is lost. Returns
 * NULL at the end. */
uint64_t dtrace_subr_strtok(struct dtrace_context *c)
{
    bool on = dtrace_arg(c, 0) == 0, lost = c->strtok_epid && c->strtok_epid != c->ecb->epid;
    uint64_t from = on ? lost ? 0 : c->strtok : dtrace_arg(c, 0);
    size_t end = on && from ? c->strtok_left : c->code->strsize, i = 0;
    struct dtrace_writer w;
    struct dtrace_text t, separators;
    size_t n = dtrace_arg_length(c, 1);
    uint8_t byte = 0;

    dtrace_text_open(&separators, c, dtrace_arg(c, 1), false);
    dtrace_writer_open(&w, c, c->code->strsize - 1);
    dtrace_text_open(&t, c, from, false);
    while (i < end && (byte = dtrace_text_byte(&t, i)) != 0 &&
           subr_string_separates(&separators, n, byte)) {
        i++;
    }
    c->strtok = 0;
    if (i == end || byte == 0) {
        return 0;
    }
    while (i < end && (byte = dtrace_text_byte(&t, i)) != 0 &&
           !subr_string_separates(&separators, n, byte)) {
        dtrace_writer_put(&w, byte);
        i++;
    }
    c->strtok = from + i;
    c->strtok_epid = from - (uintptr_t)c->scratch < c->scratch_used ? c->ecb->epid : 0;
    c->strtok_left = end - i;
    return dtrace_writer_close(&w);
}

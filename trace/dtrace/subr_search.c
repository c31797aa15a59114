/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Subroutines that search a string. Those that return a string return an address in the searched
 * string, or NULL if nothing is found. Probe context. Tested by
 * test/trace/dtrace/machine/subr_test.c.
 */
#include "trace/dtrace/subr.h"

/* Finds the first, or last, such character, the final NUL included. */
static uint64_t find_character(struct dtrace_context *c, bool last)
{
    uint64_t at = dtrace_arg(c, 0), found = 0;
    uint8_t wanted = (uint8_t)dtrace_arg(c, 1);
    struct dtrace_text t;

    dtrace_text_open(&t, c, at, false);
    for (uint32_t i = 0; i < c->code->strsize; i++) {
        uint8_t byte = dtrace_text_byte(&t, i);
        if (byte == wanted) {
            found = at + i;
            if (!last) {
                break;
            }
        }
        if (byte == 0) {
            break;
        }
    }
    return found;
}

uint64_t dtrace_subr_strchr(struct dtrace_context *c)
{
    return find_character(c, false);
}

uint64_t dtrace_subr_strrchr(struct dtrace_context *c)
{
    return find_character(c, true);
}

/* Two string arguments being compared. */
struct search {
    struct dtrace_text text, part;
    size_t length, part_length;
};

static void search_open(struct search *s, struct dtrace_context *c)
{
    dtrace_text_open(&s->text, c, dtrace_arg(c, 0), false);
    dtrace_text_open(&s->part, c, dtrace_arg(c, 1), false);
    s->length = dtrace_arg_length(c, 0);
    s->part_length = dtrace_arg_length(c, 1);
}

static bool subr_search_matches(struct search *s, size_t position)
{
    for (size_t i = 0; i < s->part_length; i++) {
        if (dtrace_text_byte(&s->text, position + i) != dtrace_text_byte(&s->part, i)) {
            return false;
        }
    }
    return true;
}

/* Returns the first position from `from` on, or -1. */
static int64_t find_forward(struct search *s, size_t from)
{
    for (size_t i = from; s->part_length <= s->length && i <= s->length - s->part_length; i++) {
        if (subr_search_matches(s, i)) {
            return (int64_t)i;
        }
    }
    return -1;
}

uint64_t dtrace_subr_strstr(struct dtrace_context *c)
{
    struct search s;

    search_open(&s, c);
    int64_t position = find_forward(&s, 0);
    return position < 0 ? 0 : dtrace_arg(c, 0) + (uint64_t)position;
}

uint64_t dtrace_subr_index(struct dtrace_context *c)
{
    int64_t from = (int64_t)dtrace_arg_or(c, 2, 0);
    struct search s;

    search_open(&s, c);
    from = from < 0 ? 0 : from;
    if (from >= (int64_t)s.length && s.part_length == 0) {
        return s.length;
    }
    return (uint64_t)(from > (int64_t)s.length ? -1 : find_forward(&s, (size_t)from));
}

uint64_t dtrace_subr_rindex(struct dtrace_context *c)
{
    int64_t from = (int64_t)dtrace_arg_or(c, 2, INT64_MAX);
    struct search s;

    search_open(&s, c);
    if (from < 0) {
        return s.part_length == 0 ? 0 : (uint64_t)-1;
    }
    int64_t last = (int64_t)s.length - (int64_t)s.part_length;
    for (int64_t i = from < last ? from : last; i >= 0; i--) {
        if (subr_search_matches(&s, (size_t)i)) {
            return (uint64_t)i;
        }
    }
    return (uint64_t)-1;
}

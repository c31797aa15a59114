/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Prints the table of D's probes on trace sites, from trace/events.def and trace/probes.def: what
 * many entries have in common stands once, and an entry has its number. The build writes it to
 * build/gen/d_sites.inc.h, which trace/dtrace/site/sites.c includes. Proved by
 * test/dtrace/scripts.py.
 */
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "abi/sys/states.h"
#include "trace/event_args.h"
#include "trace/sdt_types.h"

enum { ARGUMENTS = 10, FIRST = 5, TEXT_MOST = 8192, LIST_MOST = 256 };

struct probe {
    const char *provider, *function, *name, *site;
    uint32_t to, from;
    uint8_t words[ARGUMENTS];
};

#define IDENTITY LIST(0, 1, 2, 3, 4)
#define ALL 0xffffffffu
#define LIST(...) \
    { \
        __VA_ARGS__ \
    }
#define ARGS(...) LIST(__VA_ARGS__)
#define TYPES(...) LIST(__VA_ARGS__)
#define A(type, word) word

/* The tables twice: for the words, and for the types. */
static const struct probe d_sites_probe_table[] = {
#define EVENT(id, CLASS, number, EXT, NAME, fast, wide, doc) \
    {"sdt", #CLASS, #id, #id, ALL, ALL, IDENTITY},
#define EVENT_STATE(id, CLASS, number, EXT, NAME, fast, wide, doc) \
    {"sdt", #CLASS, #id, "thread_state", 1u << (number), ALL, IDENTITY},
#define EVENT_CONTROL(...)
#include "trace/events.def"
#undef EVENT
#undef EVENT_STATE
#undef EVENT_CONTROL
#define PROBE(prov, func, probe, id, NEW, OLD, args, doc) {#prov, func, probe, #id, NEW, OLD, args},
#define PROBE_TYPED(prov, func, probe, id, NEW, OLD, args, typed, doc) \
    {#prov, func, probe, #id, NEW, OLD, args},
#include "trace/probes.def"
#undef PROBE
#undef PROBE_TYPED
#undef A
};
enum { PROBES = sizeof(d_sites_probe_table) / sizeof(*d_sites_probe_table) };

static const char *const d_sites_type_names[PROBES][ARGUMENTS + 1] = {
#define A(type, name) SDT_TYPE_##type
#define EVENT(id, CLASS, number, EXT, NAME, fast, wide, doc) {TRACE_ARGS(fast, wide)},
#define EVENT_CONTROL(...)
#include "trace/events.def"
#undef EVENT
#undef EVENT_CONTROL
#undef A
#define A(type, word) #type
#define PROBE(prov, func, probe, id, NEW, OLD, args, doc) args,
#define PROBE_TYPED(prov, func, probe, id, NEW, OLD, args, typed, doc) typed,
#include "trace/probes.def"
#undef PROBE
#undef PROBE_TYPED
#undef A
};

static void d_sites_exit_with(const char *why)
{
    fprintf(stderr, "gen_d_sites: %s\n", why);
    exit(1);
}

/* ---- what entries have in common --------------------------------------------------- */

static struct {
    char bytes[TEXT_MOST];
    size_t length;
} texts;

/* Returns where the text stands, and adds it if it is not there yet. */
static unsigned text_place(const char *text)
{
    size_t bytes = strlen(text) + 1, at = 0;

    while (at + bytes <= texts.length && memcmp(texts.bytes + at, text, bytes) != 0) {
        at++;
    }
    if (at + bytes > texts.length) {
        at = texts.length;
        if (at + bytes > TEXT_MOST) {
            d_sites_exit_with("more text than there is room for");
        }
        memcpy(texts.bytes + at, text, bytes);
        texts.length += bytes;
    }
    return (unsigned)at;
}

/* Rows of bytes: each kind of row stands once. */
struct rows {
    uint8_t bytes[LIST_MOST * 8];
    size_t length;
};
static struct rows type_lists, word_lists, state_pairs;

/* Returns where the bytes stand, at a multiple of `step`, and adds them if need be. */
static unsigned rows_place(struct rows *rows, const void *bytes, size_t length, size_t step)
{
    size_t at = 0;

    while (at + length <= rows->length && memcmp(rows->bytes + at, bytes, length) != 0) {
        at += step;
    }
    if (at + length > rows->length) {
        at = rows->length;
        if (at / step >= LIST_MOST) {
            d_sites_exit_with("more kinds of rows than a byte can number");
        }
        memcpy(rows->bytes + at, bytes, length);
        rows->length += length;
    }
    return (unsigned)(at / step);
}

static unsigned type_places[LIST_MOST], type_count;

/* Returns the number of a type, from 1 on. */
static uint8_t type_number(const char *type)
{
    unsigned place = text_place(type), n = 0;

    while (n < type_count && type_places[n] != place) {
        n++;
    }
    if (n == type_count) {
        if (++type_count == LIST_MOST) {
            d_sites_exit_with("more types than a byte can number");
        }
        type_places[n] = place;
    }
    return (uint8_t)(n + 1);
}

static unsigned types_place(const char *const *list)
{
    uint8_t numbers[ARGUMENTS + 1] = {0};
    size_t n = 0;

    for (; list[n]; n++) {
        numbers[n] = type_number(list[n]);
    }
    return rows_place(&type_lists, numbers, n + 1, 1);
}

static unsigned states_place(const struct probe *p)
{
    const uint32_t pair[] = {p->to, p->from};

    return rows_place(&state_pairs, pair, sizeof(pair), sizeof(pair));
}

/* ---- the file ---------------------------------------------------------------------- */

static void print_texts(void)
{
    printf("static const char site_texts[] =");
    for (size_t at = 0; at < texts.length; at += strlen(texts.bytes + at) + 1) {
        printf("\n    \"%s\\0\"", texts.bytes + at);
    }
    printf(";\n");
}

static void print_lists(void)
{
    printf("static const uint16_t type_texts[] = {");
    for (unsigned i = 0; i < type_count; i++) {
        printf("%u, ", type_places[i]);
    }
    printf("};\nstatic const uint8_t type_lists[] = {");
    for (size_t i = 0; i < type_lists.length; i++) {
        printf("%u, ", type_lists.bytes[i]);
    }
    printf("};\nstatic const uint8_t word_lists[][FIRST] = {");
    for (size_t i = 0; i < word_lists.length; i++) {
        printf("%s%u%s", i % FIRST ? "" : "{", word_lists.bytes[i],
               i % FIRST == FIRST - 1 ? "}, " : ", ");
    }
    printf("};\nstatic const struct states state_pairs[] = {");
    for (size_t i = 0; i < state_pairs.length; i += sizeof(uint32_t[2])) {
        uint32_t pair[2];
        memcpy(pair, state_pairs.bytes + i, sizeof(pair));
        printf("{%#x, %#x}, ", pair[0], pair[1]);
    }
    printf("};\n");
}

/* Returns `place`, which must fit into that many bits of an entry. */
static unsigned d_sites_check_fit(unsigned place, unsigned bits)
{
    if (place >> bits) {
        d_sites_exit_with("an entry's place has too few bits: trace/dtrace/site/sites.c");
    }
    return place;
}

static void print_entries(void)
{
    printf("static const struct entry entries[] = {\n");
    for (unsigned i = 0; i < PROBES; i++) {
        const struct probe *p = &d_sites_probe_table[i];
        printf("    {%u, %u, %u, %u, PROVIDER_%s, %u, TRACE_EV_%s},\n",
               d_sites_check_fit(text_place(p->name), 11), d_sites_check_fit(states_place(p), 5),
               d_sites_check_fit(text_place(p->function), 7),
               d_sites_check_fit(rows_place(&word_lists, p->words, FIRST, FIRST), 5), p->provider,
               types_place(d_sites_type_names[i]), p->site);
    }
    printf("};\n");
}

int main(void)
{
    static const uint8_t identity[FIRST] = {0, 1, 2, 3, 4};
    static const struct probe any = {.to = ALL, .from = ALL};

    /* both are number 0; functions have places of few bits */
    rows_place(&word_lists, identity, FIRST, FIRST);
    states_place(&any);
    for (unsigned i = 0; i < PROBES; i++) {
        text_place(d_sites_probe_table[i].function);
    }
    for (unsigned i = 0; i < PROBES; i++) {
        text_place(d_sites_probe_table[i].name);
        types_place(d_sites_type_names[i]);
        rows_place(&word_lists, d_sites_probe_table[i].words, FIRST, FIRST);
        states_place(&d_sites_probe_table[i]);
    }
    printf("/* SPDX-License-Identifier: BSD-2-Clause */\n"
           "/* Generated from trace/events.def and trace/probes.def by host/gen/gen_d_sites.c:\n"
           " * change the tables. Included by trace/dtrace/site/sites.c only. */\n");
    print_texts();
    print_lists();
    print_entries();
    return fflush(stdout) == 0 ? 0 : 1;
}

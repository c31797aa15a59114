/* SPDX-License-Identifier: BSD-2-Clause */
/* See clauses.h. */
#include "test/trace/dtrace/random/clauses.h"

static uint32_t probe;

static uint32_t object(struct program *p, struct dif_type type)
{
    p_object(p, p->nobjects, 1 + r_below(14));
    p_result(&p->objects[p->nobjects], type);
    return ++p->nobjects;
}

static struct dif_type datum_type(void)
{
    static const uint8_t sizes[] = {0, 1, 2, 4, 8, 8};

    if (r_chance(60)) {
        return (struct dif_type){.size = R_PICK(sizes)};
    }
    return r_chance(60) ? (struct dif_type){.kind = DIF_TYPE_STRING, .ref = 1}
                        : (struct dif_type){.ref = 1, .size = 1 + r_below(40)};
}

static void add_action(struct p_image *image, uint16_t kind, uint32_t of, uint16_t nkeys)
{
    image->actions[image->nactions++] =
        (struct dtrace_image_action){.kind = kind, .object = of, .nkeys = nkeys};
    image->ecbs[image->necbs].nactions++;
}

static void aggregate(struct program *p, struct p_image *image)
{
    static const uint16_t kinds[] = {DTRACE_AGG_COUNT, DTRACE_AGG_SUM, DTRACE_AGG_MIN,
                                     DTRACE_AGG_MAX, DTRACE_AGG_AVG};
    uint16_t kind = R_PICK(kinds), nkeys = (uint16_t)r_below(3);

    for (unsigned i = 0; i < nkeys; i++) {
        struct dif_type type = datum_type();
        type.size += type.size == 0 && type.kind == DIF_TYPE_CTF; /* a key has a value */
        add_action(image, DTRACE_ACT_DIFEXPR, object(p, type), 0);
    }
    uint32_t value = kind == DTRACE_AGG_COUNT ? 0 : object(p, (struct dif_type){.size = 8});
    add_action(image, kind, value, nkeys);
}

static void clause(struct program *p, struct p_image *image)
{
    struct dtrace_image_ecb *e = &image->ecbs[image->necbs];

    *e = (struct dtrace_image_ecb){.probe = probe, .first_action = image->nactions};
    if (r_chance(40)) {
        e->predicate = object(p, (struct dif_type){.size = 8});
    }
    for (unsigned i = r_below(3); i > 0 && p->nobjects < P_OBJECTS - 4; i--) {
        if (r_chance(30)) {
            aggregate(p, image);
        } else {
            add_action(image, DTRACE_ACT_DIFEXPR, object(p, datum_type()), 0);
        }
    }
    image->necbs++;
}

/* One to three in pair.image, of pair.program. */
static void some_clauses(void (*make)(struct program *, struct p_image *))
{
    struct program *p = &pair.program;
    struct p_image *image = &pair.image;

    p_variables(p);
    p->nobjects = 0;
    image->noptions = image->necbs = image->nactions = 0;
    for (unsigned i = 1 + r_below(3); i > 0 && p->nobjects < P_OBJECTS - 6; i--) {
        make(p, image);
    }
}

struct dtrace_image *clauses_make(uint32_t on)
{
    struct p_image *image = &pair.image;

    probe = on;
    some_clauses(clause);
    p_option(image, DTRACE_OPT_DESTRUCTIVE, 1);
    p_option(image, DTRACE_OPT_BUFSIZE, CLAUSES_BUFFER);
    p_option(image, DTRACE_OPT_AGGSIZE, 8192);
    p_option(image, DTRACE_OPT_DYNVARSIZE, 300 + r_below(600));
    p_option(image, DTRACE_OPT_STRSIZE, pair.strsize);
    p_option(image, DTRACE_OPT_NSPEC, 2);
    return p_image(image, &pair.program);
}

/* ---- wild ones --------------------------------------------------------------------- */

static uint64_t wild_shape(uint16_t kind)
{
    uint32_t factor = 2 + r_below(9), low = r_below(6);

    if (kind == DTRACE_AGG_LQUANTIZE) {
        return DTRACE_LQUANTIZE_ARG(1 + r_below(100), 1 + r_below(50), r_below(1000));
    }
    return kind == DTRACE_AGG_LLQUANTIZE ? DTRACE_LLQUANTIZE_ARG(factor, low, low + 1 + r_below(10),
                                                                 factor * (1 + r_below(4)))
                                         : 0;
}

/* Some of the last actions, which are data, as its keys. */
static void wild_aggregation(struct program *p, struct p_image *image, unsigned ndata)
{
    uint16_t kind =
        (uint16_t)(DTRACE_AGG_COUNT + r_below(DTRACE_AGG_LLQUANTIZE - DTRACE_AGG_COUNT + 1));
    struct dif_type value = {.size = 8};
    uint32_t of = kind == DTRACE_AGG_COUNT ? 0 : object(p, value);

    add_action(image, kind, of, (uint16_t)r_below(ndata + 1));
    image->actions[image->nactions - 1].arg = wild_shape(kind);
    if (kind >= DTRACE_AGG_QUANTIZE && r_chance(50)) {
        image->actions[image->nactions - 1].weight = object(p, value);
    }
}

/* True: it is a datum, of which a key can be made. */
static bool wild_action(struct program *p, struct p_image *image)
{
    static const uint16_t kinds[] = {
        DTRACE_ACT_DIFEXPR,   DTRACE_ACT_DIFEXPR,    DTRACE_ACT_STACK,  DTRACE_ACT_USTACK,
        DTRACE_ACT_SYM,       DTRACE_ACT_UADDR,      DTRACE_ACT_EXIT,   DTRACE_ACT_TRACEMEM,
        DTRACE_ACT_PRINTF,    DTRACE_ACT_PRINTA,     DTRACE_ACT_COMMIT, DTRACE_ACT_DISCARD,
        DTRACE_ACT_SPECULATE, DTRACE_ACT_STOP,       DTRACE_ACT_RAISE,  DTRACE_ACT_PANIC,
        DTRACE_ACT_CHILL,     DTRACE_ACT_BREAKPOINT, DTRACE_ACT_LOGSTOP};
    uint16_t kind = R_PICK(kinds);
    bool alone = kind == DTRACE_ACT_STACK || kind == DTRACE_ACT_USTACK ||
                 kind == DTRACE_ACT_PRINTF || kind == DTRACE_ACT_PRINTA ||
                 kind == DTRACE_ACT_STOP || kind == DTRACE_ACT_PANIC ||
                 kind == DTRACE_ACT_BREAKPOINT || kind == DTRACE_ACT_LOGSTOP;
    struct dif_type type = kind == DTRACE_ACT_DIFEXPR ? datum_type() : (struct dif_type){.size = 8};

    add_action(image, kind, alone ? 0 : object(p, type), 0);
    image->actions[image->nactions - 1].arg =
        kind == DTRACE_ACT_TRACEMEM || kind == DTRACE_ACT_STACK || kind == DTRACE_ACT_USTACK
            ? r_below(40)
            : 0;
    return (kind == DTRACE_ACT_DIFEXPR && (type.size || type.ref)) || kind == DTRACE_ACT_STACK ||
           kind == DTRACE_ACT_USTACK || kind == DTRACE_ACT_SYM || kind == DTRACE_ACT_UADDR;
}

static void wild_clause(struct program *p, struct p_image *image)
{
    struct dtrace_image_ecb *e = &image->ecbs[image->necbs];
    unsigned ndata = 0;

    *e = (struct dtrace_image_ecb){.probe = r_chance(10) ? DTRACE_PROBE_ERROR : probe,
                                   .first_action = image->nactions};
    if (r_chance(30)) {
        e->predicate = object(p, (struct dif_type){.size = 8});
    }
    for (unsigned i = r_below(5); i > 0 && p->nobjects < P_OBJECTS - 4; i--) {
        if (r_chance(40)) {
            wild_aggregation(p, image, ndata);
            ndata = 0;
        } else {
            ndata = wild_action(p, image) ? ndata + 1 : 0;
        }
    }
    image->necbs++;
}

struct dtrace_image *clauses_make_wild(uint32_t on)
{
    static const uint32_t sizes[] = {8, 16, 100, 700, 5000, 100000, 1u << 31};
    static const enum dtrace_option sized[] = {DTRACE_OPT_BUFSIZE, DTRACE_OPT_AGGSIZE,
                                               DTRACE_OPT_SPECSIZE, DTRACE_OPT_DYNVARSIZE};
    struct p_image *image = &pair.image;

    probe = on;
    some_clauses(wild_clause);
    p_option(image, DTRACE_OPT_DESTRUCTIVE, 1);
    for (unsigned i = 0; i < 4; i++) {
        p_option(image, sized[i], R_PICK(sizes));
    }
    p_option(image, DTRACE_OPT_BUFPOLICY, r_below(3));
    p_option(image, DTRACE_OPT_STRSIZE, pair.strsize);
    p_option(image, DTRACE_OPT_NSPEC, r_below(4));
    return p_image(image, &pair.program);
}

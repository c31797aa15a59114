/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Images: each rule for them by an image that breaks it alone; what loading makes of variables and
 * objects; no memory; and every single bit of a corpus flipped: refused, or loaded and run without
 * touching anything it may not (ASan, guard bytes).
 */
#include "test/trace/dtrace/machine/world.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static struct image_builder *b = &world.image;

/* One clause that uses much. */
static void build(void)
{
    image_begin(b);
    image_option(b, DTRACE_OPT_STRSIZE, 32);
    image_option(b, DTRACE_OPT_DESTRUCTIVE, 1);
    uint32_t predicate = image_object(b, "ldgs pid r1; setx 42 r2; cmp r1 r2; setx 1 r3; be l;"
                                         "mov r0 r3; l: ret r3");
    uint32_t value = image_object(
        b, "var x global scalar value 8; var s local scalar string; var a global array value 8;"
           "var t thread scalar string; ldgs x r1; setx 3 r2; add r1 r2 r1; stgs x r1;"
           "sets \"/usr/bin/x\" r3; stls s r3; pushtr string r0 r3; call basename r4; stts t r4;"
           "flushts; pushtv r1; pushtr string r0 r4; stgaa a r1; ldgaa a r5; ret r5");
    uint32_t text = image_object(
        b,
        "result string; var g global scalar ref 16; setx 16 r1; allocs r1 r2; setx 7 r3; stx r3 r2;"
        "stgs g r2; ldgs g r4; ldx r4 r5; pushtv r5; call lltostr r6; sets \"!\" r7; flushts;"
        "pushtr string r0 r6; pushtr string r0 r7; call strjoin r1; ret r1");
    image_ecb(b, predicate);
    image_action(b, DTRACE_ACT_DIFEXPR, value);
    image_action(b, DTRACE_ACT_DIFEXPR, text);
    image_ecb(b, 0);
    image_action(b, DTRACE_ACT_DIFEXPR, text);
    image_action(b, DTRACE_ACT_STACK, 0)->arg = 20;
    struct dtrace_image_action *a = image_action(b, DTRACE_AGG_QUANTIZE, value);
    a->nkeys = 2;
    a->weight = value;
    image_action(b, DTRACE_ACT_EXIT, value);
}

static void refused(int error, const char *reason)
{
    struct dtrace_refusal refusal;
    int got = dtrace_image_check(b->bytes, b->size, &refusal);

    if (got != error || (error && !strstr(dtrace_refusal_text(&refusal), reason))) {
        fail_msg("wanted %d (%s), got %d (%s)", error, reason, got,
                 got ? dtrace_refusal_text(&refusal) : "");
    }
    assert_true(got == 0 || refusal.error == got);
}

#define IMAGE ((struct dtrace_image *)b->bytes)
#define TABLE(table, type) ((type *)((char *)b->bytes + IMAGE->table.offset))
/* Builds, breaks, expects. */
#define BREAKS(change, reason) \
    do { \
        build(); \
        image_end(b); \
        change; \
        refused(-EINVAL, reason); \
    } while (0)

static void test_good(void **state)
{
    (void)state;
    build();
    image_end(b);
    refused(0, "");
    assert_int_equal(dtrace_image_option_value(IMAGE, DTRACE_OPT_STRSIZE, 9), 32);
    assert_int_equal(dtrace_image_option_value(IMAGE, DTRACE_OPT_CPU, 9), 9);
    image_option(b, DTRACE_OPT_CPU, DTRACE_OPTION_MOST); /* so many and more are alike */
    image_option(b, DTRACE_OPT_BUFSIZE, DTRACE_OPTION_MOST + 8ull);
    image_option(b, DTRACE_OPT_AGGSIZE, UINT64_MAX);
    image_end(b);
    refused(0, "");
    assert_true(dtrace_image_option_value(IMAGE, DTRACE_OPT_CPU, SIZE_MAX) == DTRACE_OPTION_MOST);
    assert_true(dtrace_image_option_value(IMAGE, DTRACE_OPT_BUFSIZE, 0) == DTRACE_OPTION_MOST);
    assert_true(dtrace_image_option_value(IMAGE, DTRACE_OPT_AGGSIZE, 0) == DTRACE_OPTION_MOST);
    image_begin(b); /* nothing at all */
    image_end(b);
    refused(0, "");
}

static void test_header(void **state)
{
    struct dtrace_refusal refusal;

    (void)state;
    BREAKS(IMAGE->magic++, "of this version");
    BREAKS(IMAGE->version++, "of this version");
    BREAKS(IMAGE->pad = 1, "of this version");
    BREAKS(IMAGE->pad2 = 1, "of this version");
    BREAKS(IMAGE->dif_version++, "another kind of machine");
    BREAKS(IMAGE->pointer_bytes ^= 12, "another kind of machine");
    BREAKS(IMAGE->size++, "cut off");
    BREAKS(b->size--, "cut off");
    build();
    image_end(b);
    for (size_t n = 0; n < b->size; n++) { /* ASan: it reads no further */
        void *copy = malloc(n ? n : 1);
        memcpy(copy, b->bytes, n);
        assert_int_equal(dtrace_image_check(copy, n, &refusal), -EINVAL);
        free(copy);
    }
    assert_int_equal(dtrace_image_check((char *)b->bytes + 4, b->size, &refusal), -EINVAL);
    assert_int_equal(refusal.reason, DTRACE_REASON_CUT_OFF);
    assert_int_equal(dtrace_image_check(b->bytes, DTRACE_IMAGE_MAX + 1u, &refusal), -E2BIG);
    assert_int_equal(refusal.reason, DTRACE_REASON_PROGRAM_SIZE);
}

static void test_tables(void **state)
{
    (void)state;
    for (unsigned t = 0; t < 8; t++) {
        image_begin(b);
        struct dtrace_image_table *tables = &IMAGE->options;
        BREAKS(tables[t].offset += 4, "table is not in");
        BREAKS(tables[t].offset = 72, "table is not in");
        BREAKS(tables[t].offset = IMAGE->size + 8, "table is not in");
        BREAKS(tables[t].offset = UINT32_MAX - 7, "table is not in");
        BREAKS(tables[t].count = UINT32_MAX, "table is not in");
        BREAKS(tables[t].count = IMAGE->size, "table is not in");
    }
    BREAKS(TABLE(strings, char)[IMAGE->strings.count - 1] = 'x', "strings don't end with a NUL");
}

static void test_options(void **state)
{
    (void)state;
    BREAKS(TABLE(options, struct dtrace_image_option)->option = 0, "unknown option");
    BREAKS(TABLE(options, struct dtrace_image_option)->option = DTRACE_OPT_MAX, "unknown option");
    BREAKS(TABLE(options, struct dtrace_image_option)->pad = 1, "unknown option");
    BREAKS(TABLE(options, struct dtrace_image_option)->value = 0, "out of range"); /* strsize */
    BREAKS(TABLE(options, struct dtrace_image_option)->value = 1ull << 31, "out of range");
    BREAKS((TABLE(options, struct dtrace_image_option)->option = DTRACE_OPT_BUFPOLICY,
            TABLE(options, struct dtrace_image_option)->value = 3),
           "out of range");
    BREAKS((TABLE(options, struct dtrace_image_option)->option = DTRACE_OPT_BUFRESIZE,
            TABLE(options, struct dtrace_image_option)->value = 2),
           "out of range");
    BREAKS(TABLE(options, struct dtrace_image_option)[1].value = 2, "out of range");
    build();
    image_option(b, DTRACE_OPT_BUFSIZE, UINT64_MAX);
    image_end(b);
    refused(0, "");
}

static void test_objects(void **state)
{
    (void)state;
    BREAKS(TABLE(objects, struct dtrace_image_object)->ntext = IMAGE->text.count + 1,
           "object is not in");
    BREAKS(TABLE(objects, struct dtrace_image_object)->first_text = IMAGE->text.count,
           "object is not");
    BREAKS(TABLE(objects, struct dtrace_image_object)->first_text = UINT32_MAX, "object is not in");
    BREAKS(TABLE(objects, struct dtrace_image_object)->nints = UINT32_MAX, "object is not in");
    BREAKS(TABLE(objects, struct dtrace_image_object)->first_int = UINT32_MAX, "object is not in");
    BREAKS(TABLE(objects, struct dtrace_image_object)->strings_size = UINT32_MAX,
           "object is not in");
    BREAKS(TABLE(objects, struct dtrace_image_object)->first_string = UINT32_MAX,
           "object is not in");
    BREAKS(TABLE(objects, struct dtrace_image_object)->nvars = UINT32_MAX, "object is not in");
    BREAKS(TABLE(objects, struct dtrace_image_object)->first_var = UINT32_MAX, "object is not in");
    BREAKS(TABLE(objects, struct dtrace_image_object)[2].ntext = UINT32_MAX, "object is not in");
}

static void test_ecbs(void **state)
{
    (void)state;
    BREAKS(TABLE(ecbs, struct dtrace_image_ecb)->provider = IMAGE->strings.count,
           "a description is not");
    BREAKS(TABLE(ecbs, struct dtrace_image_ecb)->module = UINT32_MAX, "a description is not");
    BREAKS(TABLE(ecbs, struct dtrace_image_ecb)->function = UINT32_MAX, "a description is not");
    BREAKS(TABLE(ecbs, struct dtrace_image_ecb)->name = UINT32_MAX, "a description is not");
    BREAKS(TABLE(ecbs, struct dtrace_image_ecb)->nactions = 7, "clause's actions");
    BREAKS(TABLE(ecbs, struct dtrace_image_ecb)->first_action = UINT32_MAX, "clause's actions");
    BREAKS(TABLE(ecbs, struct dtrace_image_ecb)->flags = 2, "clause's actions");
    BREAKS(TABLE(ecbs, struct dtrace_image_ecb)->predicate = 4, "predicate that is no value");
    BREAKS(TABLE(ecbs, struct dtrace_image_ecb)->predicate = UINT32_MAX,
           "predicate that is no value");
    BREAKS(TABLE(ecbs, struct dtrace_image_ecb)->predicate = 3, "predicate that is no value");
}

/* An image of objects that share all they have: so much text, so many variables in each's part. */
static struct dtrace_image *large(uint32_t objects, uint32_t ntext, uint32_t vars_each,
                                  size_t *size)
{
    uint32_t object_bytes = objects * (uint32_t)sizeof(struct dtrace_image_object);
    uint32_t var_bytes = objects * vars_each * (uint32_t)sizeof(struct dif_variable);
    enum { HEAD = sizeof(struct dtrace_image) };
    uint32_t vars = HEAD + object_bytes, text = vars + ((var_bytes + 7) & ~7u);
    uint32_t strings = text + ((ntext * 4 + 7) & ~7u);

    *size = strings + 8;
    struct dtrace_image *image = calloc(1, *size);
    *image = (struct dtrace_image){.magic = DTRACE_IMAGE_MAGIC,
                                   .version = DTRACE_IMAGE_VERSION,
                                   .pointer_bytes = sizeof(void *),
                                   .dif_version = DIF_VERSION,
                                   .size = (uint32_t)*size,
                                   .options = {HEAD, 0},
                                   .ecbs = {HEAD, 0},
                                   .actions = {HEAD, 0},
                                   .objects = {HEAD, objects},
                                   .variables = {vars, objects * vars_each},
                                   .text = {text, ntext},
                                   .ints = {HEAD, 0},
                                   .strings = {strings, 1}};
    struct dtrace_image_object *o = (void *)((char *)image + HEAD);
    for (uint32_t i = 0; i < objects; i++) {
        o[i] = (struct dtrace_image_object){.ntext = ntext,
                                            .strings_size = 1,
                                            .first_var = i * vars_each,
                                            .nvars = vars_each,
                                            .result = {.size = 8}};
    }
    dif_insn *insn = (void *)((char *)image + text);
    for (uint32_t i = 0; i < ntext; i++) {
        insn[i] = DIF_RRR(i + 1 < ntext ? DIF_OP_nop : DIF_OP_ret, 0, 0, 0);
    }
    return image;
}

/* Objects may share text: each counts with all of it. */
static void test_large_objects(void **state)
{
    enum { TEXT = 60000, MOST = DTRACE_IMAGE_MAX / (TEXT * 4 + 1) };
    struct dtrace_refusal refusal;
    size_t size;

    (void)state;
    for (uint32_t n = MOST; n <= MOST + 1; n++) {
        struct dtrace_image *image = large(n, TEXT, 0, &size);
        int error = dtrace_image_check(image, size, &refusal);
        assert_int_equal(error, n > MOST ? -E2BIG : 0);
        assert_true(!error || refusal.reason == DTRACE_REASON_OBJECTS_SIZE);
        free(image);
    }
}

/* Associative arrays are told apart by 16 bits. */
static void test_many_variables(void **state)
{
    enum { OBJECTS = 8, EACH = 8500 };
    struct dtrace_refusal refusal;
    struct dtrace_code code;
    size_t size;

    (void)state;
    for (unsigned more = 0; more < 2; more++) {
        struct dtrace_image *image = large(OBJECTS, 1, EACH, &size);
        struct dif_variable *v = (void *)((char *)image + image->variables.offset);
        for (uint32_t i = 0; i < OBJECTS * EACH; i++) {
            uint32_t n = i < 65536 + more ? i : 0; /* the rest are the first one again */
            v[i] = (struct dif_variable){.id = (uint16_t)(DIF_VAR_OTHER_USER + n % 60000),
                                         .kind = DIF_KIND_ARRAY,
                                         .scope = n < 60000 ? DIF_SCOPE_GLOBAL : DIF_SCOPE_THREAD,
                                         .type = {.size = 8}};
        }
        assert_int_equal(dtrace_image_check(image, size, &refusal), 0);
        int error = dtrace_code_load(&code, image, 32, &refusal);
        assert_int_equal(error, more ? -EINVAL : 0);
        if (error) {
            assert_int_equal(refusal.reason, DTRACE_REASON_VARIABLES);
        } else {
            dtrace_code_unload(&code);
        }
        free(image);
    }
}

/* ---- actions ----------------------------------------------------------------------- */

/* A clause of keys, then this action. Objects: 1 a value, 2 a string. */
static void with_action(struct dtrace_image_action a, unsigned keys, int error, const char *reason)
{
    image_begin(b);
    image_object(b, "ret r0");
    image_object(b, "result string; sets \"a\" r1; ret r1");
    image_ecb(b, 0);
    while (keys--) {
        image_action(b, DTRACE_ACT_DIFEXPR, 2);
    }
    *image_action(b, 0, 0) = a;
    if (error == 0) {
        image_option(b, DTRACE_OPT_DESTRUCTIVE, 1);
    }
    image_end(b);
    refused(error, reason);
}

#define ACTION(...) \
    (struct dtrace_image_action) \
    { \
        __VA_ARGS__ \
    }

static void test_kinds(void **state)
{
    static const uint16_t values[] = {
        DTRACE_ACT_EXIT,   DTRACE_ACT_TRACEMEM, DTRACE_ACT_TRACEMEM_DYNSIZE,
        DTRACE_ACT_PRINTM, DTRACE_ACT_USYM,     DTRACE_ACT_UMOD,
        DTRACE_ACT_UADDR,  DTRACE_ACT_RAISE,    DTRACE_ACT_SYM,
        DTRACE_ACT_MOD,    DTRACE_ACT_CHILL,    DTRACE_ACT_SPECULATE,
        DTRACE_ACT_COMMIT, DTRACE_ACT_DISCARD,  DTRACE_AGG_MIN,
        DTRACE_AGG_MAX,    DTRACE_AGG_AVG,      DTRACE_AGG_SUM,
        DTRACE_AGG_STDDEV, DTRACE_AGG_QUANTIZE};
    static const uint16_t nothings[] = {DTRACE_ACT_NONE,   DTRACE_ACT_STACK, DTRACE_ACT_USTACK,
                                        DTRACE_ACT_JSTACK, DTRACE_ACT_STOP,  DTRACE_ACT_BREAKPOINT,
                                        DTRACE_ACT_PANIC,  DTRACE_AGG_COUNT, DTRACE_ACT_LOGSTOP};
    static const uint16_t maybes[] = {DTRACE_ACT_PRINTF, DTRACE_ACT_PRINTA, DTRACE_ACT_SYSTEM,
                                      DTRACE_ACT_FREOPEN};
    unsigned known = 0;

    (void)state;
    for (unsigned i = 0; i < sizeof(values) / 2; i++, known++) {
        with_action(ACTION(.kind = values[i], .object = 1), 0, 0, "");
        with_action(ACTION(.kind = values[i]), 0, -EINVAL, "without the object");
        with_action(ACTION(.kind = values[i], .object = 2), 0, -EINVAL, "without the object");
        with_action(ACTION(.kind = values[i], .object = 3), 0, -EINVAL, "without the object");
    }
    for (unsigned i = 0; i < sizeof(nothings) / 2; i++, known++) {
        with_action(ACTION(.kind = nothings[i]), 0, 0, "");
        with_action(ACTION(.kind = nothings[i], .object = 1), 0, -EINVAL, "without the object");
    }
    for (unsigned i = 0; i < sizeof(maybes) / 2; i++, known++) {
        for (uint32_t object = 0; object < 3; object++) {
            with_action(ACTION(.kind = maybes[i], .object = object), 0, 0, "");
        }
        with_action(ACTION(.kind = maybes[i], .object = 3), 0, -EINVAL, "without the object");
    }
    with_action(ACTION(.kind = DTRACE_ACT_DIFEXPR, .object = 2), 0, 0, "");
    with_action(ACTION(.kind = DTRACE_ACT_DIFEXPR), 0, -EINVAL, "without the object");
    for (uint32_t libact = 0; libact < 10; libact++) {
        bool ok = DTRACE_LIBACT_CLEAR <= libact && libact <= DTRACE_LIBACT_PRINT;
        with_action(ACTION(.kind = DTRACE_ACT_LIBACT, .arg = libact), 0, ok ? 0 : -EINVAL,
                    "action of the consumer");
    }
    /* Whatever else there is a number for. */
    unsigned unknown = 0;
    for (uint32_t kind = 0; kind <= UINT16_MAX; kind++) {
        image_begin(b);
        image_ecb(b, 0);
        image_action(b, (uint16_t)kind, 0);
        struct dtrace_refusal refusal;
        image_end(b);
        unknown += dtrace_image_check(b->bytes, b->size, &refusal) == -EINVAL &&
                   strcmp(dtrace_refusal_text(&refusal), "an unknown action") == 0;
        kind += kind == 0x1000 ? 0xe000 : 0;
    }
    assert_int_equal(unknown,
                     0x1001 + 0xfff - (known + 2 + 2)); /* DIFEXPR, LIBACT, l- and llquantize */
}

static void test_destructive(void **state)
{
    static const uint16_t kinds[] = {DTRACE_ACT_STOP, DTRACE_ACT_SYSTEM, DTRACE_ACT_FREOPEN,
                                     DTRACE_ACT_BREAKPOINT, DTRACE_ACT_PANIC};

    (void)state;
    for (unsigned i = 0; i < sizeof(kinds) / 2; i++) {
        with_action(ACTION(.kind = kinds[i]), 0, -EPERM, "Destructive actions not allowed");
    }
    with_action(ACTION(.kind = DTRACE_ACT_RAISE, .object = 1), 0, -EPERM, "not allowed");
    with_action(ACTION(.kind = DTRACE_ACT_CHILL, .object = 1), 0, -EPERM, "not allowed");
    /* And copyout(), which is in an object. */
    for (unsigned allowed = 0; allowed < 2; allowed++) {
        struct dtrace_code code;
        struct dtrace_refusal refusal;
        image_begin(b);
        image_option(b, DTRACE_OPT_DESTRUCTIVE, allowed);
        image_object(b, "ret r0");
        image_object(b, "pushtv r0; pushtv r0; pushtv r0; call copyout r1; ret r0");
        struct dtrace_image *image = image_end(b);
        refused(0, "");
        int error = dtrace_code_load(&code, image, 64, &refusal);
        assert_int_equal(error, allowed ? 0 : -EPERM);
        if (allowed) {
            assert_int_equal(code.objects[0].flags & DTRACE_OBJECT_DESTRUCTIVE, 0);
            assert_int_equal(code.objects[1].flags & DTRACE_OBJECT_DESTRUCTIVE,
                             DTRACE_OBJECT_DESTRUCTIVE);
            dtrace_code_unload(&code);
        } else {
            assert_int_equal(refusal.object, 1);
            assert_string_equal(dtrace_refusal_text(&refusal), "Destructive actions not allowed");
        }
    }
}

static void test_aggregations(void **state)
{
    const uint64_t lq = DTRACE_LQUANTIZE_ARG(1, 10, 0), llq = DTRACE_LLQUANTIZE_ARG(10, 0, 6, 20);
    static const uint64_t bad_llq[] = {
        DTRACE_LLQUANTIZE_ARG(0, 0, 6, 20),   DTRACE_LLQUANTIZE_ARG(1, 0, 6, 20),
        DTRACE_LLQUANTIZE_ARG(10, 6, 6, 20),  DTRACE_LLQUANTIZE_ARG(10, 7, 6, 20),
        DTRACE_LLQUANTIZE_ARG(10, 0, 6, 5),   DTRACE_LLQUANTIZE_ARG(10, 0, 6, 25),
        DTRACE_LLQUANTIZE_ARG(10, 0, 6, 0),   DTRACE_LLQUANTIZE_ARG(10, 0, 19, 20),
        DTRACE_LLQUANTIZE_ARG(2, 0, 65535, 2)};

    (void)state;
    with_action(ACTION(.kind = DTRACE_AGG_LQUANTIZE, .object = 1, .arg = lq), 0, 0, "");
    with_action(ACTION(.kind = DTRACE_AGG_LLQUANTIZE, .object = 1, .arg = llq), 0, 0, "");
    with_action(ACTION(.kind = DTRACE_AGG_LLQUANTIZE, .object = 1,
                       .arg = DTRACE_LLQUANTIZE_ARG(10, 0, 18, 20)),
                0, 0, "");
    with_action(
        ACTION(.kind = DTRACE_AGG_LQUANTIZE, .object = 1, .arg = DTRACE_LQUANTIZE_ARG(0, 10, 0)), 0,
        -EINVAL, "impossible shape");
    with_action(
        ACTION(.kind = DTRACE_AGG_LQUANTIZE, .object = 1, .arg = DTRACE_LQUANTIZE_ARG(1, 0, 0)), 0,
        -EINVAL, "impossible shape");
    for (unsigned i = 0; i < sizeof(bad_llq) / 8; i++) {
        with_action(ACTION(.kind = DTRACE_AGG_LLQUANTIZE, .object = 1, .arg = bad_llq[i]), 0,
                    -EINVAL, "impossible shape");
    }
    with_action(ACTION(.kind = DTRACE_AGG_SUM, .object = 1, .arg = 1), 0, -EINVAL,
                "impossible shape");
    with_action(ACTION(.kind = DTRACE_AGG_SUM, .object = 1, .nkeys = 2), 2, 0, "");
    with_action(ACTION(.kind = DTRACE_AGG_SUM, .object = 1, .nkeys = 2), 1, -EINVAL,
                "without its keys");
    with_action(ACTION(.kind = DTRACE_AGG_SUM, .object = 1, .nkeys = 65535), 1, -EINVAL,
                "without its keys");
    with_action(ACTION(.kind = DTRACE_AGG_QUANTIZE, .object = 1, .weight = 1), 0, 0, "");
    with_action(ACTION(.kind = DTRACE_AGG_QUANTIZE, .object = 1, .weight = 2), 0, -EINVAL,
                "weight that is no value");
    with_action(ACTION(.kind = DTRACE_AGG_QUANTIZE, .object = 1, .weight = 3), 0, -EINVAL,
                "weight that is no value");
    with_action(ACTION(.kind = DTRACE_AGG_SUM, .object = 1, .weight = 1), 0, -EINVAL,
                "where there is none");
    with_action(ACTION(.kind = DTRACE_ACT_EXIT, .object = 1, .weight = 1), 0, -EINVAL,
                "what doesn't aggregate");
    with_action(ACTION(.kind = DTRACE_ACT_EXIT, .object = 1, .nkeys = 1), 1, -EINVAL,
                "what doesn't aggregate");
    /* A key must be one. */
    image_begin(b);
    image_object(b, "ret r0");
    image_ecb(b, 0);
    image_action(b, DTRACE_ACT_EXIT, 1);
    image_action(b, DTRACE_AGG_SUM, 1)->nkeys = 1;
    image_end(b);
    refused(-EINVAL, "without its keys");
}

static void test_bytes(void **state)
{
    static const struct {
        struct dtrace_image_action action;
        uint32_t bytes, align;
    } table[] = {
        {{.kind = DTRACE_ACT_DIFEXPR, .object = 1}, 8, 8},
        {{.kind = DTRACE_ACT_DIFEXPR, .object = 2}, 50, 1},
        {{.kind = DTRACE_ACT_DIFEXPR, .object = 3}, 2, 2},
        {{.kind = DTRACE_ACT_DIFEXPR, .object = 4}, 12, 4},
        {{.kind = DTRACE_ACT_PRINTF}, 0, 1},
        {{.kind = DTRACE_ACT_PRINTF, .object = 1}, 8, 8},
        {{.kind = DTRACE_ACT_EXIT, .object = 1}, 4, 4},
        {{.kind = DTRACE_ACT_STACK, .arg = 20}, 160, 8},
        {{.kind = DTRACE_ACT_STACK, .arg = UINT32_MAX}, 1 << 30, 8},
        {{.kind = DTRACE_ACT_USTACK, .arg = 3 | 100ull << 32}, 132, 8},
        {{.kind = DTRACE_ACT_USTACK, .arg = UINT64_MAX}, 1 << 30, 8},
        {{.kind = DTRACE_ACT_SYM, .object = 1}, 8, 8},
        {{.kind = DTRACE_ACT_UADDR, .object = 1}, 16, 8},
        {{.kind = DTRACE_ACT_TRACEMEM, .object = 1, .arg = 33}, 33, 1},
        {{.kind = DTRACE_ACT_TRACEMEM, .object = 1, .arg = UINT64_MAX}, 1 << 30, 1},
        {{.kind = DTRACE_ACT_SPECULATE, .object = 1}, 0, 1},
        {{.kind = DTRACE_ACT_COMMIT, .object = 1}, 0, 1},
        {{.kind = DTRACE_ACT_RAISE, .object = 1}, 0, 1},
        {{.kind = DTRACE_ACT_STOP}, 0, 1},
        {{.kind = DTRACE_AGG_SUM, .object = 1}, 0, 1},
    };

    (void)state;
    image_begin(b);
    image_object(b, "ret r0");
    image_object(b, "result string; ret r0");
    image_object(b, "result value 2; ret r0");
    image_object(b, "result ref 12; ret r0");
    struct dtrace_image *image = image_end(b);
    for (unsigned i = 0; i < sizeof(table) / sizeof(table[0]); i++) {
        uint32_t align, bytes = dtrace_action_bytes(image, &table[i].action, 50, &align);
        assert_int_equal(bytes, table[i].bytes);
        assert_int_equal(align, table[i].align);
    }
}

/* ---- loading ----------------------------------------------------------------------- */

static void load_refused(const char *one, const char *two, int error, const char *reason,
                         uint32_t object, uint32_t offset)
{
    struct dtrace_code code;
    struct dtrace_refusal refusal;

    image_begin(b);
    image_object(b, one);
    image_object(b, two);
    struct dtrace_image *image = image_end(b);
    refused(0, "");
    size_t before = fake.allocated;
    assert_int_equal(dtrace_code_load(&code, image, 64, &refusal), error);
    assert_non_null(strstr(dtrace_refusal_text(&refusal), reason));
    assert_int_equal(refusal.object, object);
    assert_int_equal(refusal.offset, offset);
    assert_int_equal(fake.allocated, before);
}

static void test_load_refuses(void **state)
{
    static const char *const others[] = {"var x global array value 8; ret r0",
                                         "var x global scalar ref 8; ret r0",
                                         "var x global scalar string; ret r0"};
    static const char *const strings[] = {"var s global scalar string 63; ret r0",
                                          "var s global scalar ref 64; ret r0"};

    (void)state;
    load_refused("ret r0", "nop; add r9 r1 r1; ret r0", -EINVAL, "no such register", 1, 1);
    for (unsigned i = 0; i < 3; i++) {
        load_refused("var x global scalar value 8; ret r0", others[i], -EINVAL, "in two ways", 1,
                     UINT32_MAX);
    }
    for (unsigned i = 0; i < 2; i++) {
        load_refused("var s global scalar string; ret r0", strings[i], -EINVAL, "in two ways", 1,
                     UINT32_MAX);
    }
    load_refused("ret r0", "var s global array string 65; ret r0", -EINVAL, "longer than strsize",
                 1, UINT32_MAX);
    load_refused("ret r0", "result string 65; ret r0", -EINVAL, "longer than strsize", 1,
                 UINT32_MAX);
}

/* 0 and strsize are the same for a string; a value's size is none of the machine's business. */
static void test_load_agrees(void **state)
{
    (void)state;
    world_load("var s global scalar string; var x global scalar value 4; ret r0",
               "var s global scalar string 64; var x global scalar value 8; ret r0", NULL);
    assert_int_equal(world.code.nglobals, 1);
    assert_int_equal(world.code.global_bytes, 8 + 8 + 64);
    world_load("result string; ret r0", "result string 7; ret r0", NULL);
    assert_int_equal(world.code.objects[0].result.size, 64);
    assert_int_equal(world.code.objects[1].result.size, 7);
}

static void test_key_bytes(void **state)
{
    (void)state;
    world_load("var a global array value 8; pushtv r1; pushtv r1; ldgaa a r1; ret r0", NULL);
    assert_int_equal(world.code.key_bytes, 16);
    assert_int_equal(world.code.datum_bytes, 8);
    world_load("var a global array ref 40; setx 9 r2; flushts; pushtv r1; pushtr string r0 r1;"
               "pushtr ctf r2 r1; ldgaa a r1; ret r0",
               "var t thread scalar value 8; ldts t r1; ret r0", NULL);
    assert_int_equal(world.code.key_bytes, 8 + 64 + 16);
    assert_int_equal(world.code.datum_bytes, 40);
    world_load(
        "var a thread array string; setx 9 r2; pushtr string r2 r1; popts; pushtr string r2 r1;"
        "mov r1 r2; pushtr ctf r2 r1; sttaa a r1; ret r0",
        NULL);
    assert_int_equal(world.code.key_bytes, 16); /* the size of the other isn't known */
    assert_int_equal(world.code.datum_bytes, 64);
    world_load("ret r0", NULL);
    assert_int_equal(world.code.datum_bytes, 0);
}

static void test_cacheable(void **state)
{
    static const struct {
        const char *text;
        bool cacheable;
    } table[] = {
        {"ldgs pid r1; setx 1 r2; cmp r1 r2; be l; l: ret r1", true},
        {"ldgs tid r1; ret r1", true},
        {"ldgs execname r1; sets \"a\" r2; scmp r1 r2; ret r1", true},
        {"ldgs curthread r1; ldgs zonename r2; ret r1", true},
        {"var t thread scalar value 8; ldts t r1; ret r1", true},
        {"var t thread scalar value 8; stts t r1; ret r1", false},
        {"var a thread array value 8; ldtaa a r1; ret r1", false},
        {"var x global scalar value 8; ldgs x r1; ret r1", false},
        {"var x local scalar value 8; ldls x r1; ret r1", false},
        {"ldgs arg0 r1; ret r1", false},
        {"ldgs timestamp r1; ret r1", false},
        {"ldgs probename r1; ret r1", false},
        {"ldga args r0 r1; ret r1", false},
        {"ldub r1 r2; ret r1", false},
        {"uldub r1 r2; ret r1", false},
        {"call rand r1; ret r1", false},
        {"allocs r1 r2; ret r2", false},
        {"stb r1 r2; ret r2", false},
    };

    (void)state;
    for (unsigned i = 0; i < sizeof(table) / sizeof(table[0]); i++) {
        world_load(table[i].text, NULL);
        bool got = world.code.objects[0].flags & DTRACE_OBJECT_CACHEABLE;
        if (got != table[i].cacheable) {
            fail_msg("%s: %d", table[i].text, got);
        }
    }
}

/* Nothing of the image is needed afterwards, and all that was taken is given back. */
static void test_memory(void **state)
{
    struct dtrace_code code;
    struct dtrace_refusal refusal;
    size_t most;

    (void)state;
    build();
    struct dtrace_image *image = image_end(b);
    assert_int_equal(dtrace_code_load(&code, image, 32, &refusal), 0);
    memset(b->bytes, 0xee, IMAGE_ROOM);
    most = fake.allocated;
    dtrace_context_init(&world.context, &code, NULL, NULL, 0,
                        (struct dtrace_region){(uintptr_t)fake_dynamic, sizeof(fake_dynamic)});
    world_clause();
    assert_int_equal(dtrace_run(&world.context, &code.objects[0]), 1);
    assert_int_equal(dtrace_run(&world.context, &code.objects[1]), 3);
    const char *s = (const char *)(uintptr_t)dtrace_run(&world.context, &code.objects[2]);
    assert_string_equal(s, "7!");
    dtrace_code_unload(&code);
    assert_int_equal(fake.allocated, 0);
    for (fake.alloc_limit = 1; fake.alloc_limit < 2 * most; fake.alloc_limit += 16) {
        build();
        int error = dtrace_code_load(&code, image_end(b), 32, &refusal);
        if (error == 0) {
            dtrace_code_unload(&code);
        } else {
            assert_int_equal(error, -ENOMEM);
        }
        assert_int_equal(fake.allocated, 0);
    }
}

/* ---- flipped bits ------------------------------------------------------------------ */

static void run_all(struct dtrace_code *code)
{
    uint8_t *guard = malloc(512 + 16), *before = fake_scratch;
    size_t before_size = fake_scratch_size;

    memset(guard, 0x5c, 512 + 16);
    fake_scratch = guard + 8;
    fake_scratch_size = 512;
    dtrace_context_init(&world.context, code, NULL, NULL, 0,
                        (struct dtrace_region){(uintptr_t)fake_dynamic, sizeof(fake_dynamic)});
    for (uint32_t i = 0; i < code->nobjects; i++) {
        world_clause();
        uint64_t value = dtrace_run(&world.context, &code->objects[i]);
        assert_true(world.context.fault.kind == DIF_FAULT_NONE || value == 0);
        assert_true(world.context.fault.kind >= DIF_FAULT_NONE &&
                    world.context.fault.kind <= DIF_FAULT_BADSTACK);
        for (unsigned k = 0; k < 8; k++) {
            assert_int_equal(guard[k], 0x5c);
            assert_int_equal(guard[8 + 512 + k], 0x5c);
        }
    }
    fake_scratch = before;
    fake_scratch_size = before_size;
    free(guard);
}

/* Loads and runs what is in the image; whether it was accepted. */
static bool try_image(void)
{
    struct dtrace_refusal refusal;
    struct dtrace_code code;
    void *copy = malloc(b->size); /* exact, for ASan */
    bool ok = false;

    memcpy(copy, b->bytes, b->size);
    if (dtrace_image_check(copy, b->size, &refusal) == 0) {
        const struct dtrace_image *image = copy;
        uint64_t strsize = dtrace_image_option_value(image, DTRACE_OPT_STRSIZE, 32);
        fake.alloc_limit = 64 << 20;
        ok = dtrace_code_load(&code, image, (uint32_t)strsize, &refusal) == 0;
        for (uint32_t e = 0; ok && e < image->ecbs.count; e++) {
            struct dtrace_cost cost = dtrace_ecb_cost(image, e, 32);
            const struct dtrace_image_ecb *ecbs = (void *)((char *)copy + image->ecbs.offset);
            assert_true(cost.steps >= ecbs[e].nactions);
        }
        if (ok) {
            run_all(&code);
            dtrace_code_unload(&code);
        } else {
            assert_true(dtrace_refusal_text(&refusal)[0] != '\0' && refusal.error < 0);
        }
    } else {
        assert_true(dtrace_refusal_text(&refusal)[0] != '\0' && refusal.error < 0);
    }
    free(copy);
    return ok;
}

static const char *const corpus[] = {
    "ldgs arg0 r1; ret r1",
    "setx 1 r1; setx 2 r2; sub r1 r2 r3; sdiv r3 r2 r4; srem r4 r3 r5; sll r5 r1 r6; sra r6 r1 r7;"
    "udiv r7 r1 r7; urem r7 r2 r7; not r7 r7; mul r7 r7 r7; ret r7",
    "setx 64 r1; allocs r1 r2; not r0 r3; stb r3 r2; sth r3 r2; stw r3 r2; stx r3 r2; ldsb r2 r4;"
    "ldsh r2 r4; ldsw r2 r4; ldub r2 r4; lduh r2 r4; lduw r2 r4; ldx r2 r4; ret r4",
    "setx 16 r1; pushtv r1; call alloca r2; flushts; pushtv r2; pushtv r2; pushtv r1; call bcopy "
    "r3;"
    "setx 8 r4; add r2 r4 r5; copys r2 r4 r5; ldx r5 r6; ret r6",
    "result string; sets \"a,b;c\" r1; sets \",;\" r2; pushtr string r0 r1; pushtr string r0 r2;"
    "call strtok r3; flushts; pushtv r0; pushtr string r0 r2; call strtok r3; ret r3",
    "result string; sets \"{\\\"a\\\":[1,{\\\"b\\\":\\\"c\\\"}]}\" r1; sets \"a[1].b\" r2;"
    "pushtr string r0 r1; pushtr string r0 r2; call json r3; ret r3",
    "result string; sets \"/a/./b/../c\" r1; pushtr string r0 r1; call cleanpath r2; flushts;"
    "pushtr string r0 r2; call toupper r3; flushts; setx 1 r4; pushtr string r0 r3; pushtv r4;"
    "pushtv r4; call substr r5; ret r5",
    "sets \"hello\" r1; sets \"lo\" r2; pushtr string r0 r1; pushtr string r0 r2; call index r3;"
    "call rindex r4; call strstr r5; flushts; pushtr string r0 r1; setx 0x6c r6; pushtv r6;"
    "call strchr r7; call strrchr r7; scmp r1 r2; bl l; add r3 r4 r3; l: ret r3",
    "var s global scalar string; var l local scalar string; var g global scalar ref 24;"
    "var t thread scalar string; var v thread scalar value 8; sets \"text\" r1; stgs s r1; ldgs s "
    "r2;"
    "stls l r2; ldls l r3; stts t r3; ldts t r4; setx 9 r5; stts v r5; ldts v r6; ldgs g r7;"
    "stx r5 r7; ret r6",
    "var a global array string; var b thread array value 8; sets \"k\" r1; setx 5 r2; setx 8 r3;"
    "flushts; pushtr string r0 r1; pushtv r2; stgaa a r1; ldgaa a r4; pushtr ctf r3 r4; sttaa b r2;"
    "ldtaa b r5; popts; ret r5",
    "ldgs timestamp r1; ldgs execname r2; ldgs probefunc r3; ldgs stackdepth r4; ldgs arg7 r5;"
    "setx 1 r6; ldga args r6 r7; ldga regs r6 r7; ldgs pid r1; scmp r2 r3; bne e; nop; e: ret r7",
    "result string; setx 255 r1; setx 16 r2; pushtv r1; pushtv r2; call lltostr r3; flushts;"
    "pushtr string r0 r3; pushtv r2; call strtoll r4; sets \"\\x01\\x02\\x03\\x04\" r5; flushts;"
    "pushtv r5; call inet_ntoa r6; call htonl r7; call rand r7; call memref r7; ret r6",
    "setx 1 r1; setx 2 r2; cmp r1 r2; be a; bne a; bg a; a: bgu b; bge b; bgeu b; b: bl c; blu c;"
    "ble c; bleu c; c: tst r1; ba d; nop; d: ret r1",
    "sets \"own\" r1; rldsb r1 r2; rldub r1 r2; rlduh r1 r2; uldub r1 r2; ret r2",
};

static void test_flips(void **state)
{
    unsigned accepted = 0, refused_n = 0;

    (void)state;
    for (unsigned n = 0; n < sizeof(corpus) / sizeof(corpus[0]); n++) {
        image_begin(b);
        image_option(b, DTRACE_OPT_STRSIZE, 32);
        uint32_t object = image_object(b, corpus[n]);
        image_ecb(b, 0);
        image_action(b, DTRACE_ACT_DIFEXPR, object);
        image_end(b);
        assert_true(try_image());
        uint8_t *bytes = b->bytes;
        for (size_t bit = 0; bit < b->size * 8; bit++) {
            bytes[bit / 8] ^= 1 << bit % 8;
            if (try_image()) {
                accepted++;
            } else {
                refused_n++;
            }
            bytes[bit / 8] ^= 1 << bit % 8;
        }
    }
    build();
    image_end(b);
    uint8_t *bytes = b->bytes;
    for (size_t bit = 0; bit < b->size * 8; bit++) {
        bytes[bit / 8] ^= 1 << bit % 8;
        try_image();
        bytes[bit / 8] ^= 1 << bit % 8;
    }
    assert_true(accepted > 1000 && refused_n > 1000); /* both happen, so both are tested */
}

int main(void)
{
#define T(name) cmocka_unit_test_setup_teardown(name, world_open, world_close)
    const struct CMUnitTest tests[] = {
        T(test_good),          T(test_header),         T(test_tables),       T(test_options),
        T(test_objects),       T(test_ecbs),           T(test_kinds),        T(test_destructive),
        T(test_aggregations),  T(test_bytes),          T(test_load_refuses), T(test_load_agrees),
        T(test_key_bytes),     T(test_cacheable),      T(test_memory),       T(test_flips),
        T(test_large_objects), T(test_many_variables),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Types and symbols from ELFs of all three CPUs: layouts are the target's.
 */
#include "test/host/dt/front.h"

#include <stddef.h>
#include <stdio.h>
#include <string.h>

#ifndef SAMPLES
#error SAMPLES: the folder of the compiled samples
#endif

static const struct sample {
    const char *file;
    const struct dt_model *model;
    unsigned word, double_align;
} samples[] = {
    {SAMPLES "/sample-x86_64.elf", &dt_model_lp64, 8, 8},
    {SAMPLES "/sample-aarch64.elf", &dt_model_lp64_arm, 8, 8},
    {SAMPLES "/sample-arm.elf", &dt_model_ilp32_arm, 4, 8},
};
static const struct sample *sample;

static void use(const struct sample *s, bool kernel)
{
    sample = s;
    front_open_model(s->model);
    if (!dt_session_add_elf(front.d, s->file, "prog", kernel)) {
        fail_msg("%s can't be read", s->file);
    }
}

static uint64_t at(const struct dt_type *t, const char *member)
{
    uint64_t bits = 0;

    if (!dt_type_member(t, member, &bits)) {
        fail_msg("no member %s", member);
    }
    return bits;
}

static const char *text_of(const struct dt_type *t, const char *member)
{
    uint64_t bits;
    const struct dt_member *m = dt_type_member(t, member, &bits);

    assert_non_null(m);
    return dt_type_text(front.d, m->type, NULL);
}

/* The layout that the target's compiler chose for struct node. */
static void check_node(const struct dt_type *t)
{
    uint64_t word = sample->word * 8, wide = (word * 3 + 63) / 64 * 64;

    EQUAL(DT_TYPE_STRUCT, t->kind);
    SAME("struct node", dt_type_text(front.d, t, NULL));
    EQUAL(0, at(t, "next"));
    EQUAL(word, at(t, "name"));
    EQUAL(word * 2, at(t, "number"));
    EQUAL(wide, at(t, "wide"));
    EQUAL(wide + 64, at(t, "colour"));
    SAME("struct node *", text_of(t, "next"));
    SAME("const char *", text_of(t, "name"));
    SAME("long", text_of(t, "number"));
    SAME("uint64_t", text_of(t, "wide"));
    SAME("enum colour", text_of(t, "colour"));
    SAME("struct hidden *", text_of(t, "hidden"));
    SAME("void (*)()", text_of(t, "call"));
    EQUAL(at(t, "as_int"), at(t, "as_text"));
    EQUAL(at(t, "bits") + 3, at(t, "more"));
    uint64_t bits;
    const struct dt_type *more = dt_type_resolve(dt_type_member(t, "more", &bits)->type);
    EQUAL(9, more->bits);
    EQUAL(false, more->is_signed);
    EQUAL(20, dt_type_resolve(dt_type_member(t, "negative", &bits)->type)->bits);
    EQUAL(t, dt_type_resolve(dt_type_resolve(dt_type_member(t, "next", &bits)->type)->to));
    EQUAL(sample->word == 4 ? 1 : 4, dt_type_resolve(type("prog`enum colour"))->size);
}

static void types_of(const struct sample *s)
{
    use(s, false);
    check_node(dt_type_resolve(type("struct prog`node")));
    check_node(dt_type_resolve(type("prog`struct node")));
    check_node(dt_type_resolve(type("prog`node_t")));
    assert_null(dt_type_lookup(front.d, NULL, "struct node"));
    assert_null(dt_type_lookup(front.d, NULL, "node_t"));
    assert_null(dt_type_lookup(front.d, "other", "node_t"));
    assert_null(dt_type_lookup(front.d, "prog", "struct nosuch"));
    const struct dt_type *hidden =
        dt_type_resolve(dt_type_lookup(front.d, "prog", "struct hidden"));
    EQUAL(8, hidden->size);
    EQUAL(32, at(hidden, "second"));
    const struct dt_type *bytes = dt_type_resolve(type("prog`bytes_t"));
    EQUAL(s->model->char_signed, dt_type_resolve(type("prog`char"))->is_signed);
    EQUAL(15, bytes->size);
    EQUAL(3, bytes->count);
    EQUAL(5, dt_type_resolve(bytes->to)->count);
    SAME("int (*)()", dt_type_text(front.d, type("prog`callback_t")->to, NULL));
    SAME("int (*f)(const node_t *, ...)", dt_type_text(front.d, type("prog`callback_t")->to, "f"));
    const struct dt_type *colour = dt_type_resolve(type("enum prog`colour"));
    EQUAL(3, colour->nenumerators);
    EQUAL(5, colour->enumerators[1].value);
    EQUAL(-1, colour->enumerators[2].value);
    front_close(NULL);
}

static void types(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof(samples) / sizeof(*samples); i++) {
        types_of(&samples[i]);
    }
}

static const char *symbol_type(const char *object, const char *name, uint64_t *address)
{
    const struct dt_type *t = NULL;

    if (!dt_symbol_lookup(front.d, object, name, address, &t)) {
        return "unknown";
    }
    return t ? dt_type_text(front.d, t, NULL) : "untyped";
}

static void symbols_of(const struct sample *s)
{
    uint64_t add, other;

    use(s, true);
    SAME("struct node", symbol_type("", "first", &other));
    SAME("struct node", symbol_type("prog", "first", &other));
    SAME("unknown", symbol_type("other", "first", &other));
    SAME("unknown", symbol_type("", "nosuch", &other));
    SAME("node_t *", symbol_type("", "list", &other));
    SAME("int", symbol_type("", "secret", &other));
    SAME("char", symbol_type("", "letter", &other));
    SAME("_Bool", symbol_type("", "flag", &other));
    SAME("double", symbol_type("", "real", &other));
    SAME("const char *const", symbol_type("", "text", &other));
    SAME("callback_t", symbol_type("", "callback", &other));
    SAME("int ()", symbol_type("", "sample_add", &add));
    EQUAL(0, add & 1); /* no Thumb bit */

    struct dt_symbol at;
    assert_true(dt_symbol_at(front.d, add, false, &at));
    SAME("prog", at.object);
    SAME("sample_add", at.name);
    EQUAL(0, at.offset);
    assert_true(dt_symbol_at(front.d, add + 2, false, &at));
    SAME("sample_add", at.name);
    EQUAL(2, at.offset);
    assert_false(dt_symbol_at(front.d, add, true, &at));
    assert_false(dt_symbol_at(front.d, 3, false, &at));
    assert_false(dt_symbol_at(front.d, UINT64_MAX, false, &at));
    front_close(NULL);
}

static void symbols(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof(samples) / sizeof(*samples); i++) {
        symbols_of(&samples[i]);
    }
}

static void in_programs_of(const struct sample *s)
{
    use(s, true);
    compiles("BEGIN { x = `first.number + `list->number; s = stringof(`text);"
             " y = ((struct node *)arg0)->next->more; z = ((node_t *)arg1)->colour;"
             " w = ((struct prog`node *)arg0)->hidden->second; v = `bytes[1][2]; }");
    SAME("long", dt_type_text(front.d, global("x")->type, NULL));
    compiles("struct node n; node_t *p; struct prog`hidden h; enum colour c; BEGIN {}");
    check_node(dt_type_resolve(global("n")->type));
    SAME("D_IDENT_UNDEF", tag_of("BEGIN { x = `nosuch; }"));
    SAME("D_IDENT_UNDEF", tag_of("BEGIN { x = other`first; }"));
    SAME("D_TYPE_MEMBER", tag_of("BEGIN { x = `first.nosuch; }"));
    SAME("D_UNKNOWN", tag_of("struct prog`nosuch x;"));
    EQUAL(0, value("offsetof(struct node, next)"));
    EQUAL(sample->word, value("sizeof(node_t *)"));
    compiles("#pragma D depends_on module prog\nBEGIN {}");
    front_close(NULL);
}

static void in_programs(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof(samples) / sizeof(*samples); i++) {
        in_programs_of(&samples[i]);
    }
}

static void moved(void **state)
{
    uint64_t linked, address;
    struct dt_symbol at;

    (void)state;
    use(&samples[0], true);
    symbol_type("", "main", &linked);
    assert_true(dt_session_add_elf_at(front.d, samples[0].file, "moved", false, 0x100000));
    symbol_type("moved", "main", &address);
    EQUAL(linked + 0x100000, address);
    assert_true(dt_symbol_at(front.d, address + 1, true, &at));
    SAME("moved", at.object);
    SAME("main", at.name);
    EQUAL(1, at.offset);
    front_close(NULL);
}

/* Whoever prints a value has no more than the bytes of its type. */
static void members_are_inside(const char *name)
{
    const struct dt_type *t = dt_type_lookup(front.d, "prog", name);

    t = t ? dt_type_resolve(t) : NULL;
    for (uint32_t i = 0; t && t->kind == DT_TYPE_STRUCT && i < t->nmembers; i++) {
        const struct dt_type *of = dt_type_resolve(t->members[i].type);
        bool field = of->kind == DT_TYPE_INTEGER && of->bits < of->size * 8;
        uint64_t bits = field ? of->bits : of->size * 8;
        assert_true(t->members[i].bit_offset <= t->size * 8);
        assert_true(bits <= t->size * 8 - t->members[i].bit_offset);
    }
}

/* Damaged files are refused or give what they can; they don't crash. */
static void damaged(void **state)
{
    static char bytes[1 << 17];
    uint64_t seed = 20240229;

    (void)state;
    FILE *f = fopen(samples[1].file, "r");
    assert_non_null(f);
    size_t n = fread(bytes, 1, sizeof(bytes), f);
    fclose(f);
    print_message("seed %llu\n", (unsigned long long)seed);
    for (unsigned round = 0; round < 300; round++) {
        front_open(NULL);
        const char *path = file_write("damaged.elf", "");
        char *copy = dt_alloc(front.d, n);
        memcpy(copy, bytes, n);
        for (unsigned i = 0; i < 1 + round % 40; i++) {
            seed = seed * 6364136223846793005u + 1442695040888963407u;
            copy[(seed >> 20) % n] = (char)(seed >> 50);
        }
        f = fopen(path, "w");
        fwrite(copy, 1, round % 7 == 0 ? (seed >> 33) % n : n, f);
        fclose(f);
        if (dt_session_add_elf(front.d, path, "prog", true)) {
            uint64_t address;
            symbol_type("", "first", &address);
            symbol_type("", "callback", &address);
            members_are_inside("struct node");
            members_are_inside("struct hidden");
            tag_of("struct node n; BEGIN { x = `list->next->more; y = sizeof(struct hidden); }");
        }
        front_close(NULL);
    }
    front_open(NULL);
    assert_false(dt_session_add_elf(front.d, "/nowhere", "x", false));
    assert_false(dt_session_add_elf(front.d, file_write("text", "no ELF"), "x", false));
    assert_false(dt_session_add_elf(front.d, file_write("empty", ""), "x", false));
    front_close(NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(types), cmocka_unit_test(symbols), cmocka_unit_test(in_programs),
        cmocka_unit_test(moved), cmocka_unit_test(damaged),
    };

    return cmocka_run_group_tests_name("d_front elf", tests, NULL, NULL);
}

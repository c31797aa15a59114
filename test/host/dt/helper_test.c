/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Helpers of programs: what their D may say, how each error is told, and that nothing of them gets
 * into the user's session but the object.
 */
#include "test/host/dt/front.h"
#include "trace/dtrace/image.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#ifndef SAMPLES
#error SAMPLES: the folder of the compiled samples
#endif
#define ELF SAMPLES "/sample-aarch64.elf"
#define ELF_ARM SAMPLES "/sample-arm.elf"

static const uint8_t id[DT_HELPER_ID_BYTES] = "0123456789abcdefghi";
static char said[4096];

static void offer_of(const char *elf, const char *program, const char *text, const char *why)
{
    const struct dt_helper_source s = {
        .program = program, .path = elf, .text = text, .why = why, .id = id, .id_at = 0x400224};
    dt_session_helper(front.d, &s);
}

static void offer(const char *program, const char *text, const char *why)
{
    offer_of(ELF, program, text, why);
}

/* The image of a script; what was said meanwhile is in `said`. */
static struct dtrace_image *image_of(const char *text)
{
    struct dt_program *program = script(text);
    FILE *to = fopen(file_write("said", ""), "r+");
    int before = dup(STDERR_FILENO);
    size_t size, n;

    assert_non_null(program);
    assert_non_null(to);
    fflush(stderr);
    dup2(fileno(to), STDERR_FILENO);
    struct dtrace_image *image = dt_image_make(front.d, &program, 1, &size);
    fflush(stderr);
    dup2(before, STDERR_FILENO);
    close(before);
    rewind(to);
    n = fread(said, 1, sizeof(said) - 1, to);
    said[n] = '\0';
    fclose(to);
    assert_non_null(image);
    return image;
}

static void again(void)
{
    front_close(NULL);
    front_open_model(&dt_model_lp64_arm);
}

/* Whether the helper got into an image with jstack(). */
static bool is_in(const char *helper)
{
    again();
    offer("prog", helper, NULL);
    struct dtrace_image *image = image_of("BEGIN { jstack(); }");
    const struct dtrace_image_action *a =
        DTRACE_IMAGE_TABLE(image, actions, struct dtrace_image_action);
    bool in = a->object != 0;

    assert_int_equal(a->kind, DTRACE_ACT_JSTACK);
    assert_int_equal(a->weight, a->object);
    free(image);
    return in;
}

#define CLAUSE "dtrace:helper:ustack: "

static void test_helpers_that_are_good(void **state)
{
    static const char *const good[] = {
        CLAUSE "{ \"name\"; }",
        CLAUSE "{ this->x = arg0; } " CLAUSE "/this->x/ { \"name\" }",
        CLAUSE "/arg0 > 7/ { this->p = copyinstr(arg1); strjoin(this->p, lltostr(pid)); }",
        CLAUSE "{ this->n = (struct node *)copyin(arg1, sizeof (struct node)); "
               "copyinstr((uintptr_t)this->n->name) }",
        "dtrace:helper:ustack:main { \"in main\" }",
        CLAUSE "{ strjoin(lltostr(arg2), lltostr(arg3)) }",
        CLAUSE "{ copyinstr((uintptr_t)&`first) }",
        "inline int seven = 7; typedef int number; " CLAUSE "/(number)arg0 == seven/ { \"7\" }",
    };

    (void)state;
    for (size_t i = 0; i < sizeof(good) / sizeof(*good); i++) {
        if (!is_in(good[i]) || *said) {
            fail_msg("%s: %s", good[i], said);
        }
    }
}

static void test_errors_are_told_by_name(void **state)
{
    static const struct {
        const char *text, *said;
    } bad[] = {
        {CLAUSE "{ strstr(\"a\", \"b\") }", "may not use strstr()"},
        {CLAUSE "{ strtok(\"a\", \"b\") }", "may not use strtok()"},
        {CLAUSE "{ this->i = index(\"a\", \"b\"); \"x\" }", "may not use index()"},
        {CLAUSE "{ this->r = rand(); \"x\" }", "may not use rand()"},
        {CLAUSE "{ this->p = alloca(8); \"x\" }", "may not use"},
        {CLAUSE "{ bcopy(&`sample_global, &`sample_global, 1); \"x\" }", ""},
        {CLAUSE "{ copyout(0, 0, 1); \"x\" }", ""},
        {CLAUSE "{ copyoutstr(\"\", 0, 1); \"x\" }", ""},
        {CLAUSE "{ this->s = speculation(); \"x\" }", "may not use speculation()"},
        {CLAUSE "{ probename }", "may not use probename"},
        {CLAUSE "{ this->t = timestamp; \"x\" }", "may not use timestamp"},
        {CLAUSE "{ this->t = (uintptr_t)curthread; \"x\" }", ""},
        {CLAUSE "{ this->t = arg4; \"x\" }", "may not use arg4"},
        {CLAUSE "{ this->t = uregs[0]; \"x\" }", "may not use uregs"},
        {CLAUSE "{ glob_x = 1; \"x\" }", "may not use global variables"},
        {CLAUSE "{ glob_y[pid] = 1; \"x\" }", "may not use global variables"},
        {CLAUSE "{ self->x = 1; \"x\" }", "may not use variables of self->"},
        {CLAUSE "{ self->x[pid] = 1; \"x\" }", "may not use variables of self->"},
        {CLAUSE "{ @ = count(); \"x\" }", "may not aggregate"},
        {CLAUSE "{ @[pid] = count(); }", "may not aggregate"},
        {CLAUSE "{ if (pid) { \"x\" } }", "may not use if"},
        {CLAUSE "{ printf(\"x\"); }", "printf"},
        {CLAUSE "{ trace(1); \"x\" }", "trace"},
        {CLAUSE "{ stack(); }", "stack"},
        {CLAUSE "{ raise(9); \"x\" }", "raise"},
        {CLAUSE "{ 7 }", "incompatible"},
        {CLAUSE "{ this->x = 7; } " CLAUSE "{ nothing }", "nothing"},
        {CLAUSE "{ \"x\" ", ""},
        {CLAUSE "{ }", "no clause names a frame"},
        {"BEGIN { \"x\" }", "dtrace:helper:ustack:"},
        {"dtrace:helper:: { \"x\" }", "dtrace:helper:ustack:"},
        {"dtrace:helper:ustack:, dtrace:helper:ustack:main { \"x\" }", "dtrace:helper:ustack:"},
        {"syscall:::entry { \"x\" }", "dtrace:helper:ustack:"},
        {"dtrace:helper:ustack:mian { \"x\" }", "prog has no function mian; main?"},
        {"", ""},
        {"no D at all", ""},
        {"#pragma D option destructive\n" CLAUSE "{ \"x\" }", ""},
        {"#pragma D option cpp\n" CLAUSE "{ \"x\" }", ""},
        {"#pragma D option libdir=/\n" CLAUSE "{ \"x\" }", ""},
    };

    (void)state;
    for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++) {
        bool in = is_in(bad[i].text);
        if (in || strncmp(said, "dtrace: the helper of prog is left out: ", 40) != 0 ||
            !strstr(said, bad[i].said) || strchr(said, '\n') != said + strlen(said) - 1) {
            fail_msg("%s: %s%s", bad[i].text, in ? "it is in: " : "", said);
        }
    }
}

static void test_a_line_is_told(void **state)
{
    (void)state;
    assert_false(is_in("\n\n" CLAUSE "\n{ this->x = nothing; }"));
    assert_non_null(strstr(said, "left out: line 4: "));
}

static void test_what_the_file_has_is_told(void **state)
{
    (void)state;
    offer("prog", NULL, "it is cut off");
    free(image_of("BEGIN { jstack(); }"));
    SAME("dtrace: the helper of prog is left out: it is cut off (" ELF ")\n", said);
}

/* Nothing is compiled, and nothing said, for programs without jstack(). */
static void test_only_where_it_is_wanted(void **state)
{
    static const struct {
        const char *action;
        bool wanted;
    } rows[] = {
        {"jstack()", true},
        {"jstack(5)", true},
        {"ustack(5, 100)", true},
        {"ustack()", false},
        {"ustack(5)", false},
        {"jstack(5, 0)", false},
        {"stack()", false},
        {"trace(1)", false},
        {"@[jstack()] = count()", true},
        {"@[ustack()] = count()", false},
    };
    char text[64];

    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
        again();
        offer("prog", "not D", NULL);
        snprintf(text, sizeof(text), "BEGIN { %s; }", rows[i].action);
        free(image_of(text));
        if ((*said != '\0') != rows[i].wanted) {
            fail_msg("%s: %s", text, said);
        }
    }
}

static void test_a_target_without(void **state)
{
    (void)state;
    dt_session_no_helpers(front.d);
    offer("prog", CLAUSE "{ \"x\" }", NULL);
    struct dtrace_image *image = image_of("BEGIN { jstack(); }");
    SAME("dtrace: this target runs no helpers: jstack() has no names of prog's own\n", said);
    assert_int_equal(DTRACE_IMAGE_TABLE(image, actions, struct dtrace_image_action)->object, 0);
    free(image);
}

/* All actions have all helpers that are good, the first 16 of them, and each is said once. */
static void test_many(void **state)
{
    char name[16];

    (void)state;
    offer("bad", "not D", NULL);
    for (unsigned i = 0; i < DTRACE_HELPERS_MOST + 1; i++) {
        snprintf(name, sizeof(name), "prog%u", i);
        offer(name, CLAUSE "{ \"x\" }", NULL);
    }
    struct dtrace_image *image = image_of("BEGIN { jstack(); trace(1); } END { jstack(); }");
    const struct dtrace_image_action *a =
        DTRACE_IMAGE_TABLE(image, actions, struct dtrace_image_action);
    assert_int_equal(a[0].weight - a[0].object, DTRACE_HELPERS_MOST - 1);
    assert_int_equal(a[2].object, a[0].object);
    assert_int_equal(a[2].weight, a[0].weight);
    assert_int_equal(a[1].kind, DTRACE_ACT_DIFEXPR);
    assert_int_equal(a[1].weight, 0);
    assert_true(a[0].weight <= image->objects.count);
    char *first = strchr(said, '\n');
    assert_non_null(strstr(said, "the helper of bad is left out"));
    SAME("\ndtrace: the helper of prog16 is left out: there are more than 16\n", first);
    free(image);
}

/* The helper's names are not the user's, and the other way round; nor are its variables. */
static void test_sessions_are_apart(void **state)
{
    (void)state;
    offer("prog",
          "typedef int mine; inline int seven = 7; int declared; " CLAUSE
          "{ this->x = (mine)seven; this->s = \"y\"; this->s }",
          NULL);
    struct dtrace_image *image = image_of("BEGIN { this->x = 1; this->s = 3; jstack(); }");
    SAME("", said);
    const struct dif_variable *v = DTRACE_IMAGE_TABLE(image, variables, struct dif_variable);
    unsigned users = 0, helpers = 0;
    for (uint32_t i = 0; i < image->variables.count; i++) {
        assert_int_equal(v[i].scope,
                         v[i].id < DIF_VAR_OTHER_USER ? DIF_SCOPE_GLOBAL : DIF_SCOPE_LOCAL);
        for (uint32_t k = 0; k < i; k++) {
            if (v[i].id == v[k].id) { /* declared in two objects: the same one */
                assert_memory_equal(&v[i].type, &v[k].type, sizeof(v[i].type));
            }
        }
        users += v[i].id >= DIF_VAR_OTHER_USER && v[i].type.kind == DIF_TYPE_CTF;
        helpers += v[i].type.kind == DIF_TYPE_STRING;
    }
    assert_int_equal(users, 3);   /* x and s of the user, x of the helper */
    assert_int_equal(helpers, 2); /* its s, and the name */
    free(image);
    SAME("D_IDENT_UNDEF", tag_of("BEGIN { trace(seven); }"));
    SAME("D_IDENT_UNDEF", tag_of("BEGIN { trace(declared); }"));
    compiles("BEGIN { trace(this->s + 1); }");
}

/* How often the helper has an instruction, of one that loads a variable with this one. */
static unsigned count_of(const struct dtrace_image *image, unsigned op, unsigned variable)
{
    const uint32_t n = DTRACE_IMAGE_TABLE(image, actions, struct dtrace_image_action)->object;
    unsigned count = 0;

    assert_int_not_equal(n, 0);
    const struct dtrace_image_object *o =
        &DTRACE_IMAGE_TABLE(image, objects, struct dtrace_image_object)[n - 1];
    const dif_insn *insn = DTRACE_IMAGE_TABLE(image, text, dif_insn) + o->first_text;
    for (uint32_t i = 0; i < o->ntext; i++) {
        count += DIF_INSN_OP(insn[i]) == op &&
                 (op != DIF_OP_ldgs || DIF_INSN_INDEX(insn[i]) == variable);
    }
    return count;
}

/* Where programs are not where they were linked, all that lies in one is found by arg2, in its
 * text, or by arg3, in its data: the build id, whose halves are read, the function, symbols, whose
 * addresses are cut to a pointer's size. */
static void test_programs_that_are_moved(void **state)
{
    static const struct {
        const char *text;
        unsigned by_text, by_data; /* loads of arg2 and arg3 */
        unsigned symbols;
    } rows[] = {
        {CLAUSE "{ \"x\" }", 2, 0, 0},
        {"dtrace:helper:ustack:main { \"x\" }", 3, 0, 0},
        {CLAUSE "{ copyinstr((uintptr_t)&`text) }", 3, 0, 1},
        {CLAUSE "{ copyinstr((uintptr_t)&`first) }", 2, 1, 1},
        {CLAUSE "{ copyinstr((uintptr_t)&`first.name) }", 2, 1, 1},
        {CLAUSE "{ strjoin(lltostr((uintptr_t)&`main), lltostr((uintptr_t)&`letter)) }", 3, 1, 2},
    };

    (void)state;
    for (unsigned moved = 0; moved < 2; moved++) {
        for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
            front_close(NULL);
            front_open_model(moved ? &dt_model_ilp32_arm : &dt_model_lp64_arm);
            offer_of(moved ? ELF_ARM : ELF, "prog", rows[i].text, NULL);
            struct dtrace_image *image = image_of("BEGIN { jstack(); }");
            SAME("", said);
            const unsigned by_text = count_of(image, DIF_OP_ldgs, DIF_VAR_arg2);
            const unsigned by_data = count_of(image, DIF_OP_ldgs, DIF_VAR_arg3);
            const unsigned cut = count_of(image, DIF_OP_and, 0);
            free(image);
            if (by_text != moved * rows[i].by_text || by_data != moved * rows[i].by_data ||
                cut != moved * rows[i].symbols) {
                fail_msg("%s: %u, %u, %u", rows[i].text, by_text, by_data, cut);
            }
        }
    }
}

static int set_up(void **state)
{
    (void)state;
    return front_open_model(&dt_model_lp64_arm);
}

int main(void)
{
#define T(test) cmocka_unit_test_setup_teardown(test, set_up, front_close)
    static const struct CMUnitTest tests[] = {
        T(test_helpers_that_are_good),
        T(test_errors_are_told_by_name),
        T(test_a_line_is_told),
        T(test_what_the_file_has_is_told),
        T(test_only_where_it_is_wanted),
        T(test_a_target_without),
        T(test_many),
        T(test_sessions_are_apart),
        T(test_programs_that_are_moved),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}

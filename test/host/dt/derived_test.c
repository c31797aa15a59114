/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Derived probes: which descriptions they match, what a clause on them becomes, and what its
 * variables mean, for random ones, too.
 */
#include "test/host/dt/front.h"
#include "test/tool/random.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void derive(const char *provider, const char *module, const char *name,
                   const char *predicate, const char *value)
{
    dt_session_derive(front.d, &(struct dt_derived){.provider = provider,
                                                    .module = module,
                                                    .function = "",
                                                    .name = name,
                                                    .base = "profile",
                                                    .base_function = "",
                                                    .base_name = "tick-1sec",
                                                    .predicate = predicate,
                                                    .args = {{"int", "n", value}},
                                                    .nargs = value ? 1 : 0});
}

static unsigned matched(const char *text)
{
    struct dt_program *p = script(text);

    return p ? dt_program_matched(p) : 0;
}

/* The ECBs that image_make() would make: all on the base, each clause of its own number. */
static void ecbs_are_on_the_base(const char *text, unsigned n)
{
    size_t size;
    struct dt_program *p = script(text);
    unsigned before = dt_session_clauses(front.d) - n;

    assert_non_null(p);
    struct dtrace_image *image = dt_image_make(front.d, &p, 1, &size);
    const struct dtrace_image_ecb *e = DTRACE_IMAGE_TABLE(image, ecbs, struct dtrace_image_ecb);
    const char *strings = (const char *)image + image->strings.offset;

    EQUAL(n + 1, image->ecbs.count); /* and the fault's */
    for (unsigned i = 0; i < n; i++) {
        SAME("profile", strings + e[i].provider);
        SAME("tick-1sec", strings + e[i].name);
        EQUAL(before + i, e[i].clause);
        assert_true(e[i].predicate != 0);
        assert_non_null(dt_session_clause(front.d, e[i].clause)->derived);
    }
    free(image);
}

static void descriptions(void **state)
{
    (void)state;
    derive("app", "one", "request-start", "arg0 == 1", "arg1");
    derive("app", "one", "request-done", "arg0 == 2", "arg1");
    derive("app", "two", "request-start", "arg0 == 3", NULL);
    derive("app", "two", "request-start", "arg0 == 3", NULL); /* known already */
    derive("profile", "two", "tick-1sec", "arg0 == 4", NULL); /* hidden by the target's */
    EQUAL(3, matched("app::: { trace(1); }"));
    EQUAL(2, matched("app:::request-start { trace(1); }"));
    EQUAL(1, matched("app:two:: { trace(1); }"));
    EQUAL(3, matched("*:::request-* { trace(1); }"));
    EQUAL(2, matched("request-start { trace(1); }"));
    EQUAL(1, matched("tick-1sec { trace(1); }"));
    EQUAL(1, matched("profile:::tick-1sec { trace(1); }"));
    EQUAL(2, matched("prof*:::tick-1sec { trace(1); }"));
    EQUAL(3, matched("BEGIN, app:::request-start { trace(1); }"));
    SAME("D_PDESC_ZERO", tag_of("app:::request { trace(1); }"));
    ecbs_are_on_the_base("app:::request-start { trace(1); }", 2);
    ecbs_are_on_the_base("app::: /arg0/ { trace(probename); }", 3);
}

/* An older target has the base, but not all of its arguments: that is said. */
static void older_base(void **state)
{
    struct dt_derived probe = {.provider = "app",
                               .module = "one",
                               .function = "",
                               .name = "start",
                               .base = "profile",
                               .base_function = "",
                               .base_name = "tick-1sec",
                               .base_args = 1};

    (void)state;
    dt_session_derive(front.d, &probe);
    SAME("D_PDESC_ZERO", tag_of("app:::start { trace(1); }"));
    assert_non_null(strstr(dt_session_error(front.d)->text, "kernel is older"));
    SAME("D_PDESC_ZERO", tag_of("app:::stop { trace(1); }"));
    assert_null(strstr(dt_session_error(front.d)->text, "kernel is older"));
    probe.base_args = 0;
    dt_session_derive(front.d, &probe);
    EQUAL(1, matched("app:::start { trace(1); }"));
}

static void variables(void **state)
{
    (void)state;
    derive("app", "one", "start", "arg0 == 1", "*(int *)(arg1 + 8)");
    derive("app", "two", "start", NULL, NULL);
    compiles("app:one:: { trace(args[0] + arg0); @[probeprov, probemod, probename] = count(); }");
    compiles("app:one:: /arg0 == 5/ { trace(args[0]); } app:two:: { trace(arg3); }");
    compiles("app:one:: /execname == \"x\"/ { if (arg0 > 3) { trace(1); } else { trace(2); } }");
    compiles("inline int x = arg0; app:one:: { trace(x); }");
    compiles("app:one:: /self->x == arg0/ { self->x = arg0 + 1; }");
    SAME("D_ARGS_IDX", tag_of("app:one:: { trace(args[1]); }"));
    SAME("D_ARGS_IDX", tag_of("app:two:: { trace(args[0]); }"));
    SAME("D_ARGS_IDX", tag_of("app::: { trace(args[0]); }"));
}

static void suggestions(void **state)
{
    (void)state;
    derive("app", "one", "request-start", "arg0 == 1", NULL);
    SAME("D_PDESC_ZERO", tag_of("app:::reqest-start { trace(1); }"));
    assert_non_null(strstr(dt_session_error(front.d)->text, "did you mean app:::request-start?"));
    SAME("D_PDESC_ZERO", tag_of("apq:::request-start { trace(1); }"));
    assert_non_null(strstr(dt_session_error(front.d)->text, "did you mean app:::request-start?"));
}

static unsigned finds;

static void find(void *arg, struct dt_session *session)
{
    (void)arg;
    (void)session;
    finds++;
    derive("late", "one", "start", "arg0 == 1", NULL);
}

static void found_when_they_are_asked_for(void **state)
{
    (void)state;
    finds = 0;
    dt_session_derive_from(front.d, find, NULL);
    compiles("BEGIN { trace(1); }");
    EQUAL(0, finds);
    EQUAL(1, matched("late:::start { trace(1); }"));
    EQUAL(1, matched("late:::start { trace(2); }"));
    EQUAL(1, finds);
}

/* Any number of them, of names that may be equal: a description matches what it matches among
 * them. */
static void random_ones(void **state)
{
    enum { MOST = 40, NAMES = 6 };
    static const char *const names[NAMES] = {"a", "b", "ab", "start", "start-2", "c-a"};

    (void)state;
    random_start();
    for (unsigned round = 0; round < 20; round++) {
        unsigned provider[MOST], module[MOST], name[MOST], n = random_below(MOST), same = 0;
        char text[128];

        front_close(NULL);
        front_open(NULL);
        for (unsigned i = 0; i < n; i++) {
            provider[i] = random_below(NAMES);
            module[i] = random_below(NAMES);
            name[i] = random_below(NAMES);
            snprintf(text, sizeof(text), "arg0 == %u", i);
            derive(names[provider[i]], names[module[i]], names[name[i]], text, "arg0");
        }
        unsigned p = random_below(NAMES), m = random_below(NAMES + 1), k = random_below(NAMES + 1);
        for (unsigned i = 0; i < n; i++) {
            same +=
                provider[i] == p && (m == NAMES || module[i] == m) && (k == NAMES || name[i] == k);
        }
        snprintf(text, sizeof(text), "%s:%s::%s { trace(args[0]); }", names[p],
                 m == NAMES ? "" : names[m], k == NAMES ? "" : names[k]);
        EQUAL(same, matched(text));
    }
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, front_open, front_close)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(descriptions),
        TEST(older_base),
        TEST(variables),
        TEST(suggestions),
        TEST(found_when_they_are_asked_for),
        TEST(random_ones),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}

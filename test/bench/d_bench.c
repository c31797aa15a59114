/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * d_bench CASE FIRINGS [N]: enables one clause and fires its probe so often. `bench` runs it under
 * callgrind with two numbers of probe firings and takes the slope, so setting up doesn't count. A
 * case's clause is written out in DIF, as the compiler makes it.
 */
#include "test/trace/dtrace/machine/builder.h"
#include "trace/dtrace/dtrace.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static struct image_builder b;

/* N instructions of the four simple kinds, in turn. */
static void insn(unsigned n)
{
    static char text[16384];
    static const char *const kinds[] = {"add r1 r2 r3;", "xor r1 r3 r2;", "setx 77 r1;",
                                        "ldgs x r2;"};

    strcpy(text, "var x global scalar value 8; result value 0;");
    for (unsigned i = 0; i < n; i++) {
        strcat(text, kinds[i % 4]);
    }
    uint32_t object = image_object(&b, strcat(text, "ret r0"));
    image_ecb(&b, 0);
    image_action(&b, DTRACE_ACT_DIFEXPR, object);
}

static void empty(unsigned n)
{
    (void)n;
    image_ecb(&b, 0);
}

static void trace(unsigned n)
{
    (void)n;
    uint32_t object = image_object(&b, "ldgs arg0 r1; ret r1");
    image_ecb(&b, 0);
    image_action(&b, DTRACE_ACT_DIFEXPR, object);
}

static void count(unsigned n)
{
    (void)n;
    image_ecb(&b, 0);
    image_action(&b, DTRACE_AGG_COUNT, 0)->uarg = 1;
}

static void count_execname(unsigned n)
{
    (void)n;
    uint32_t object = image_object(&b, "result string; ldgs execname r1; ret r1");
    image_ecb(&b, 0);
    image_action(&b, DTRACE_ACT_DIFEXPR, object);
    struct dtrace_image_action *a = image_action(&b, DTRACE_AGG_COUNT, 0);
    a->uarg = 1;
    a->nkeys = 1;
}

static void predicate(const char *variable)
{
    char text[128];

    snprintf(text, sizeof(text),
             "ldgs %s r1; setx 99 r2; cmp r1 r2; be t; mov r0 r3; ba e; t: setx 1 r3; e: ret r3",
             variable);
    image_ecb(&b, image_object(&b, text));
}

static void pred_false(unsigned n)
{
    (void)n;
    predicate("arg0");
}

static void pred_cached(unsigned n)
{
    (void)n;
    predicate("pid");
}

static const struct {
    const char *name;
    void (*build)(unsigned n);
} cases[] = {{"dif_insn", insn},
             {"d_empty", empty},
             {"d_trace", trace},
             {"d_count", count},
             {"d_count_execname", count_execname},
             {"d_pred_false", pred_false},
             {"d_pred_cached", pred_cached}};

static const struct dtrace_provider_ops ops;
static const struct dtrace_provider provider = {"bench", &ops};

static void die(const char *what)
{
    fprintf(stderr, "d_bench: %s\n", what);
    exit(1);
}

static struct dtrace_consumer *enable(const char *name, unsigned n, uint32_t probe)
{
    struct dtrace_consumer *consumer = NULL;
    struct dtrace_refusal refusal;
    unsigned cpu;

    image_begin(&b);
    image_option(&b, DTRACE_OPT_BUFSIZE, 1 << 20);
    image_option(&b, DTRACE_OPT_AGGSIZE, 1 << 20);
    for (unsigned i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        if (strcmp(cases[i].name, name) == 0) {
            cases[i].build(n);
        }
    }
    if (b.necbs == 0) {
        die("no such case");
    }
    b.ecbs[0].probe = probe;
    const void *image = image_end(&b);
    if (dtrace_consumer_create(image, b.size, 0, &consumer, &refusal) != 0) {
        die(dtrace_refusal_text(&refusal));
    }
    dtrace_consumer_go(consumer, &cpu);
    return consumer;
}

int main(int argc, char **argv)
{
    if (argc < 3) {
        die("usage: d_bench CASE FIRINGS [N]");
    }
    dtrace_machine_init();
    dtrace_provider_register(&provider);
    uint32_t probe = dtrace_probe_create(&provider, "m", "f", "n", NULL);
    struct dtrace_consumer *c = enable(argv[1], argc > 3 ? (unsigned)atoi(argv[3]) : 0, probe);
    struct dtrace_status status;

    for (int i = 0; i < atoi(argv[2]); i++) {
        dtrace_fire(probe, 7, 0, 0, 0, 0);
    }
    dtrace_consumer_status(c, &status);
    if (status.errors || status.state != DTRACE_STATE_ACTIVE) {
        die("the clause faulted");
    }
    return 0;
}

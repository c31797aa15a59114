/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * libFuzzer's target for the D compiler: any text is compiled as a script with two arguments, and
 * what compiles is made into an image, disassembled and checked as a target would. Nothing but a
 * crash, a sanitizer's report, a hang, a leak or an image that the machine refuses is wrong. Built
 * and run by test/fuzz/run; its corpus starts from the scripts of test/dtrace/rows.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "host/dt/dt.h"
#include "trace/dtrace/machine.h"

static const struct dt_probe_info probes[] = {
    {.id = 1, .provider = "dtrace", .module = "", .function = "", .name = "BEGIN"},
    {.id = 2, .provider = "dtrace", .module = "", .function = "", .name = "END"},
    {.id = 3, .provider = "dtrace", .module = "", .function = "", .name = "ERROR"},
    {.id = 4, .provider = "profile", .module = "", .function = "", .name = "tick-1sec"},
};

static unsigned each(void *arg, const char *provider, const char *module, const char *function,
                     const char *name, uint32_t id,
                     bool (*fn)(void *fn_arg, const struct dt_probe_info *), void *fn_arg)
{
    unsigned n = 0;

    (void)arg;
    for (size_t i = 0; i < sizeof(probes) / sizeof(*probes); i++) {
        const struct dt_probe_info *p = &probes[i];
        bool matches = id ? p->id == id
                          : dtrace_glob(provider, p->provider) && dtrace_glob(module, "") &&
                                dtrace_glob(function, "") && dtrace_glob(name, p->name);
        n += matches;
        if (matches && !fn(fn_arg, p)) {
            break;
        }
    }
    return n;
}

static const char *argument_type(void *arg, uint32_t id, unsigned n)
{
    (void)arg;
    (void)id;
    return n == 0 ? "int" : NULL;
}

/* ---- what a target would say ------------------------------------------------------- */

static _Noreturn void refused(const char *why)
{
    fprintf(stderr, "the image is refused: %s\n", why);
    abort();
}

/* Every program is for the kernel that there isn't. */
bool dtrace_port_is_kernel(const uint8_t *id, char *text)
{
    (void)id;
    (void)text;
    return true;
}

static const void *table(const struct dtrace_image *image, struct dtrace_image_table t)
{
    return (const char *)image + t.offset;
}

static void check_objects(const struct dtrace_image *image)
{
    const struct dtrace_image_object *o = table(image, image->objects);

    for (uint32_t i = 0; i < image->objects.count; i++) {
        struct dif_object object = {
            .text = (const dif_insn *)table(image, image->text) + o[i].first_text,
            .ntext = o[i].ntext,
            .ints = (const uint64_t *)table(image, image->ints) + o[i].first_int,
            .nints = o[i].nints,
            .strings = (const char *)table(image, image->strings) + o[i].first_string,
            .strings_size = o[i].strings_size,
            .vars = (const struct dif_variable *)table(image, image->variables) + o[i].first_var,
            .nvars = o[i].nvars,
            .result = o[i].result,
        };
        uint32_t at;
        const char *why = dtrace_reason_text(dtrace_validate(&object, &at));
        if (why) {
            refused(why);
        }
    }
}

/* Sizes may be more than a target has; nothing else may be wrong. */
static void check_program(struct dt_session *d, struct dt_program *p)
{
    static FILE *nowhere;
    struct dtrace_refusal refusal;
    size_t size;

    nowhere = nowhere ? nowhere : fopen("/dev/null", "w");
    dt_program_disassemble(p, nowhere);
    void *image = dt_image_make(d, &p, 1, &size);
    if (dtrace_image_check(image, size, &refusal) != 0) {
        if (!strstr(dtrace_refusal_text(&refusal), "option's value") &&
            !strstr(dtrace_refusal_text(&refusal), "too")) {
            refused(dtrace_refusal_text(&refusal));
        }
    } else {
        check_objects(image);
    }
    free(image);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
    static const struct dt_probe_source source = {.each = each, .argument_type = argument_type};
    static const char *const arguments[] = {"fuzz.d", "12", "word"};
    struct dt_session *d = dt_session_new(&dt_model_lp64, &source);
    char *text = malloc(n + 1);

    memcpy(text, data, n);
    text[n] = '\0';
    dt_option_set(d, "argref", NULL, DT_FROM_COMMAND);
    dt_option_set(d, "destructive", NULL, DT_FROM_COMMAND);
    struct dt_source s = {.text = text, .spec = DT_SPEC_NAME, .argc = 3, .argv = arguments};
    struct dt_program *p = dt_compile(d, &s);
    if (p) {
        check_program(d, p);
    }
    dt_session_free(d);
    free(text);
    return 0;
}

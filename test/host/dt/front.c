/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The session that the tests of the front end use.
 */
#include "test/host/dt/front.h"
#include "host/temporary.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct front front;

static char temporary[PATH_MAX];
static const char *files[32];
static unsigned nfiles, nvalues;

/* ---- probes ------------------------------------------------------------------------ */

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
                          : dtrace_glob(provider, p->provider) && dtrace_glob(module, p->module) &&
                                dtrace_glob(function, p->function) && dtrace_glob(name, p->name);
        if (matches) {
            n++;
            if (!fn(fn_arg, p)) {
                break;
            }
        }
    }
    return n;
}

static const char *argument_type(void *arg, uint32_t id, unsigned n)
{
    (void)arg;
    (void)id;
    (void)n;
    return NULL;
}

static const struct dt_probe_source source = {.each = each, .argument_type = argument_type};

/* ---- the session ------------------------------------------------------------------- */

int front_open_model(const struct dt_model *model)
{
    front = (struct front){.d = dt_session_new(model, &source), .argv = {"test.d"}, .argc = 1};
    nvalues = 0;
    return 0;
}

int front_open(void **state)
{
    (void)state;
    return front_open_model(&dt_model_lp64);
}

int front_open_arm(void **state)
{
    (void)state;
    return front_open_model(&dt_model_ilp32_arm);
}

int front_close(void **state)
{
    (void)state;
    dt_session_free(front.d);
    while (nfiles > 0) {
        unlink(files[--nfiles]);
        free((char *)files[nfiles]);
    }
    if (temporary[0]) {
        rmdir(temporary);
        temporary[0] = '\0';
    }
    return 0;
}

static struct dt_program *compile(const char *text, const char *file, bool is_description)
{
    struct dt_source s = {
        .text = text,
        .file = file,
        .spec = DT_SPEC_NAME,
        .is_description = is_description,
        .argc = front.argc,
        .argv = front.argv,
    };

    return dt_compile(front.d, &s);
}

struct dt_program *script(const char *text)
{
    return compile(text, "test.d", false);
}

struct dt_program *description(const char *text)
{
    return compile(text, NULL, true);
}

const char *tag_of(const char *text)
{
    return script(text) ? "ok" : dt_session_error(front.d)->tag;
}

void compiles(const char *text)
{
    if (!script(text)) {
        const struct dt_error *e = dt_session_error(front.d);
        fail_msg("%s\n[%s] %u:%u: %s", text, e->tag, e->line, e->column, e->text);
    }
}

void fails_at(const char *text, const char *tag, unsigned line, unsigned column)
{
    SAME(tag, tag_of(text));
    const struct dt_error *e = dt_session_error(front.d);
    if (e->line != line || e->column != column) {
        fail_msg("%s\n[%s] is at %u:%u, not %u:%u", text, tag, e->line, e->column, line, column);
    }
}

/* ---- what it knows ----------------------------------------------------------------- */

const struct dt_type *type(const char *name)
{
    const struct dt_type *t = dt_type_lookup(front.d, NULL, name);

    if (!t) {
        fail_msg("there is no type %s", name);
    }
    return t;
}

int64_t value(const char *expression)
{
    char text[512];

    snprintf(text, sizeof(text), "enum { value%u = (%s) };", ++nvalues, expression);
    compiles(text);
    snprintf(text, sizeof(text), "value%u", nvalues);
    return global(text)->value;
}

struct dt_ident *global(const char *name)
{
    struct dt_ident *i = dt_ident_lookup(front.d->globals, name);

    if (!i) {
        fail_msg("there is no %s", name);
    }
    return i;
}

/* ---- files ------------------------------------------------------------------------- */

const char *directory(void)
{
    if (!temporary[0]) {
        assert_int_equal(temporary_directory("front", temporary, sizeof(temporary)), 0);
    }
    return temporary;
}

const char *file_write(const char *name, const char *text)
{
    char path[PATH_MAX + 64];

    snprintf(path, sizeof(path), "%s/%.60s", directory(), name);
    FILE *f = fopen(path, "w");
    assert_non_null(f);
    fputs(text, f);
    fclose(f);
    files[nfiles] = strdup(path);
    return files[nfiles++];
}

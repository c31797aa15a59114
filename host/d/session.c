/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The compiler's session: what it knows between one source and the next.
 */
#include "host/d/front.h"
#include "trace/d/dif.h"

#include <stdlib.h>
#include <unistd.h>

enum { VARIABLES_MAX = 0xffff };

struct d_session *d_session_new(const struct d_model *model, const struct d_probe_source *probes)
{
    struct d_session *d = calloc(1, sizeof(*d));

    if (!d) {
        abort();
    }
    d->model = model;
    d->probes = probes;
    d->consumer = getpid();
    d->translators_end = &d->translators;
    d->elfs_end = &d->elfs;
    d->next_variable = DIF_VAR_OTHER_USER;
    d->globals = d_identhash_new(d);
    d->threads = d_identhash_new(d);
    d->locals = d_identhash_new(d);
    d->aggregations = d_identhash_new(d);
    d->externs = d_identhash_new(d);
    d_types_define(d);
    d_options_start(d);
    d->back = d_back_new(d);
    d_builtins_define(d);
    d_ident_add(d, d->globals, "NULL", D_IDENT_ENUMERATOR)->flags = D_IDENT_DECLARED;
    return d;
}

void d_session_free(struct d_session *d)
{
    if (!d) {
        return;
    }
    d_elfs_close(d);
    d_arena_free(&d->arena);
    free(d);
}

const struct d_error *d_session_error(const struct d_session *d)
{
    return d->failed ? &d->error : NULL;
}

void d_session_distrust(struct d_session *d)
{
    d->distrusted = true;
}

void d_session_target(struct d_session *d, int32_t pid)
{
    d->target = pid;
}

struct d_identhash *d_session_globals(struct d_session *d)
{
    return d->globals;
}

struct d_identhash *d_session_threads(struct d_session *d)
{
    return d->threads;
}

struct d_identhash *d_session_locals(struct d_session *d)
{
    return d->locals;
}

struct d_identhash *d_session_agg_idents(struct d_session *d)
{
    return d->aggregations;
}

void d_session_consumer(struct d_session *d, int32_t pid)
{
    d->consumer = pid;
}

uint32_t d_variable_number(struct d_session *d)
{
    if (d->next_variable > VARIABLES_MAX) {
        d_fail(d, d->parse->place, "D_UNKNOWN", "there are too many variables");
    }
    return d->next_variable++;
}

struct d_translator *d_session_translators(struct d_session *d)
{
    return d->translators;
}

const struct d_model *d_session_model(const struct d_session *d)
{
    return d->model;
}

const struct d_probe_source *d_session_probes(const struct d_session *d)
{
    return d->probes;
}

unsigned d_session_version(const struct d_session *d)
{
    uint64_t version = d->options.values[D_O_version];

    return version == D_OPTION_UNSET ? D_VERSION_NEWEST : (unsigned)version;
}

struct d_back *d_session_back(const struct d_session *d)
{
    return d->back;
}

bool d_symbol_lookup(struct d_session *d, const char *object, const char *name, uint64_t *address,
                     const struct d_type **type)
{
    const struct d_ident *declared = d_ident_lookup(d->externs, name);
    bool known = d_elf_symbol(d, object, name, address, type);

    if (!known && declared) {
        *address = 0;
    }
    if (declared && (!known || !*type)) {
        *type = declared->type;
    }
    return known || declared;
}

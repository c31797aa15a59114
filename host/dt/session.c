/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The compiler's session: what it knows between one source and the next.
 */
#include "host/dt/front.h"
#include "trace/dtrace/dif.h"

#include <stdlib.h>
#include <unistd.h>

enum { VARIABLES_MAX = 0xffff };

struct dt_session *dt_session_new(const struct dt_model *model,
                                  const struct dt_probe_source *probes)
{
    struct dt_session *d = calloc(1, sizeof(*d));

    if (!d) {
        abort();
    }
    d->model = model;
    d->probes = probes;
    d->consumer = getpid();
    d->translators_end = &d->translators;
    d->elfs_end = &d->elfs;
    d->next_variable = DIF_VAR_OTHER_USER;
    d->globals = dt_identhash_new(d);
    d->threads = dt_identhash_new(d);
    d->locals = dt_identhash_new(d);
    d->aggregations = dt_identhash_new(d);
    d->externs = dt_identhash_new(d);
    dt_types_define(d);
    dt_options_start(d);
    d->back = dt_back_new(d);
    dt_builtins_define(d);
    dt_ident_add(d, d->globals, "NULL", DT_IDENT_ENUMERATOR)->flags = DT_IDENT_DECLARED;
    return d;
}

void dt_session_free(struct dt_session *d)
{
    if (!d) {
        return;
    }
    dt_elfs_close(d);
    dt_arena_free(&d->arena);
    free(d);
}

const struct dt_error *dt_session_error(const struct dt_session *d)
{
    return d->failed ? &d->error : NULL;
}

void dt_session_distrust(struct dt_session *d)
{
    d->distrusted = true;
}

void dt_session_target(struct dt_session *d, int32_t pid)
{
    d->target = pid;
}

struct dt_identhash *dt_session_globals(struct dt_session *d)
{
    return d->globals;
}

struct dt_identhash *dt_session_threads(struct dt_session *d)
{
    return d->threads;
}

struct dt_identhash *dt_session_locals(struct dt_session *d)
{
    return d->locals;
}

struct dt_identhash *dt_session_agg_idents(struct dt_session *d)
{
    return d->aggregations;
}

void dt_session_consumer(struct dt_session *d, int32_t pid)
{
    d->consumer = pid;
}

uint32_t dt_variable_number(struct dt_session *d)
{
    if (d->next_variable > VARIABLES_MAX) {
        dt_fail(d, d->parse->place, "D_UNKNOWN", "there are too many variables");
    }
    return d->next_variable++;
}

struct dt_translator *dt_session_translators(struct dt_session *d)
{
    return d->translators;
}

const struct dt_model *dt_session_model(const struct dt_session *d)
{
    return d->model;
}

const struct dt_probe_source *dt_session_probes(const struct dt_session *d)
{
    return d->probes;
}

unsigned dt_session_version(const struct dt_session *d)
{
    uint64_t version = d->options.values[DT_O_version];

    return version == DT_OPTION_UNSET ? DT_VERSION_NEWEST : (unsigned)version;
}

struct dt_back *dt_session_back(const struct dt_session *d)
{
    return d->back;
}

bool dt_symbol_lookup(struct dt_session *d, const char *object, const char *name, uint64_t *address,
                      const struct dt_type **type)
{
    const struct dt_ident *declared = dt_ident_lookup(d->externs, name);
    bool known = dt_elf_symbol(d, object, name, address, type);

    if (!known && declared) {
        *address = 0;
    }
    if (declared && (!known || !*type)) {
        *type = declared->type;
    }
    return known || declared;
}

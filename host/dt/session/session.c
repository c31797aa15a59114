/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The compiler's session: what it knows between one source and the next.
 */
#include "host/dt/clause/clause.h"
#include "host/dt/session/compile.h"
#include "host/dt/types/elf.h"
#include "host/dt/types/type_name.h"
#include "trace/dtrace/dif.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct dt_session *dt_session_new(const struct dt_model *model,
                                  const struct dt_probe_source *probes)
{
    struct dt_session *d = calloc(1, sizeof(*d));

    if (!d) {
        dt_no_memory();
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
    d->programs = dt_programs_new(d);
    d->define_inline = dt_inline_define;
    d->make_helpers = dt_helpers_make;
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

void dt_session_targets(struct dt_session *d, const int32_t *pids, unsigned n)
{
    int32_t *copy = dt_alloc(d, (n + 1) * sizeof(*copy));

    if (n) {
        memcpy(copy, pids, n * sizeof(*copy));
    }
    d->targets = copy;
    d->ntargets = n;
    d->target = copy[0];
}

void dt_session_consumer(struct dt_session *d, int32_t pid)
{
    d->consumer = pid;
}

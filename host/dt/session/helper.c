/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Helpers of programs (docs/guide/helpers.md), compiled when a script of the user has a jstack()
 * that may run them. Each has a session of its own, which is not the user's: its types, names and
 * options stay there, and of it only the object comes here, with other numbers for its variables.
 */
#include "host/dt/clause/clause.h"
#include "host/dt/clause/helper.h"
#include "host/dt/session/compile.h"
#include "trace/dtrace/dtrace.h"

#include <stdio.h>
#include <string.h>

/* A helper that was found. */
struct dt_helper_entry {
    struct dt_helper_source source; /* copies */
    struct dt_helper_entry *next;
};

void dt_session_helper(struct dt_session *d, const struct dt_helper_source *s)
{
    struct dt_helper_entry *e = dt_alloc(d, sizeof(*e)), **end = &d->helpers;
    uint8_t *id = dt_alloc(d, DT_HELPER_ID_BYTES);

    memcpy(id, s->id, DT_HELPER_ID_BYTES);
    e->source = (struct dt_helper_source){.program = dt_strdup(d, s->program),
                                          .path = dt_strdup(d, s->path),
                                          .text = s->text ? dt_strdup(d, s->text) : NULL,
                                          .why = s->why,
                                          .id = id,
                                          .id_at = s->id_at};
    for (; *end; end = &(*end)->next) {
    }
    *end = e;
}

void dt_session_no_helpers(struct dt_session *d)
{
    d->no_helpers = true;
}

/* ---- an object of another session ------------------------------------------------------ */

static void *copy_bytes(struct dt_session *d, const void *from, size_t bytes)
{
    void *to = dt_alloc(d, bytes + 1);

    if (bytes) {
        memcpy(to, from, bytes);
    }
    return to;
}

/* The variables are clause-local; they get numbers that no variable here has. */
static void object_adopt(struct dt_session *d, struct dt_program *to, const struct dif_object *o)
{
    struct dt_made_object *made = dt_list_add(d, &to->objects, sizeof(*made));
    struct dif_variable *vars = copy_bytes(d, o->vars, o->nvars * sizeof(*o->vars));
    dif_insn *text = copy_bytes(d, o->text, o->ntext * sizeof(*o->text));

    made->result = dt_type_basic(d, DT_BASIC_STRING);
    made->dif = *o;
    made->dif.text = text;
    made->dif.vars = vars;
    made->dif.ints = copy_bytes(d, o->ints, o->nints * sizeof(*o->ints));
    made->dif.strings = copy_bytes(d, o->strings, o->strings_size);
    for (uint32_t v = 0; v < o->nvars; v++) {
        if (vars[v].id < DIF_VAR_OTHER_USER) {
            continue;
        }
        vars[v].id = (uint16_t)d->next_variable++;
        for (uint32_t i = 0; i < o->ntext; i++) {
            uint32_t op = DIF_INSN_OP(o->text[i]);
            if ((op == DIF_OP_ldls || op == DIF_OP_stls) &&
                DIF_INSN_INDEX(o->text[i]) == o->vars[v].id) {
                text[i] = DIF_INDEX(op, vars[v].id, DIF_INSN_RD(text[i]));
            }
        }
    }
}

/* ---- compiling ------------------------------------------------------------------------- */

/* D: the process has these 8 bytes there, an address as linked. */
static const char *guard_part(struct dt_session *d, uint64_t at, uint64_t bytes)
{
    return dt_sprintf(d,
                      d->model->moves
                          ? "*(uint64_t *)copyin((uint32_t)(%lluull + arg2), 8) == %lluull"
                          : "*(uint64_t *)copyin(%lluull, 8) == %lluull",
                      (unsigned long long)at, (unsigned long long)bytes);
}

/* The process has the first 16 bytes of the build id where the program has it. */
static const char *guard_text(struct dt_session *d, const struct dt_helper_source *s)
{
    uint64_t id[2];

    memcpy(id, s->id, sizeof(id)); /* of this machine's byte order, which is the target's */
    return dt_sprintf(d, "%s && %s", guard_part(d, s->id_at, id[0]),
                      guard_part(d, s->id_at + 8, id[1]));
}

static void helper_failed(const struct dt_helper_source *s, const struct dt_session *own)
{
    const struct dt_error *e = own ? dt_session_error(own) : NULL;

    fprintf(stderr, "dtrace: the helper of %s is left out: ", s->program);
    if (e && e->line) {
        fprintf(stderr, "line %u: ", e->line);
    }
    fprintf(stderr, "%s (%s)\n", e ? e->text : s->why, s->path);
}

static void helper_compile(struct dt_session *d, struct dt_program *to,
                           const struct dt_helper_source *s)
{
    struct dt_session *own = dt_session_new(d->model, d->probes);
    const char *const argv[] = {s->program};
    struct dt_helper helper = {.guard = guard_text(own, s), .program = s->program};
    const struct dt_source source = {
        .text = s->text, .file = s->program, .spec = DT_SPEC_NAME, .argc = 1, .argv = argv};

    dt_session_distrust(own);
    dt_option_set(own, "nolibs", NULL, DT_FROM_COMMAND);
    dt_option_put(own, "strsize", dtrace_option(d, "strsize"));
    dt_session_add_elf(own, s->path, s->program, true); /* types without a name before them */
    dt_session_add_elf(own, s->path, s->program, false);
    own->helper = &helper;
    struct dt_program *program = dt_compile(own, &source);
    if (program) {
        object_adopt(d, to, &((struct dt_made_object *)program->objects.data)->dif);
    } else {
        helper_failed(s, own);
    }
    dt_session_free(own);
}

struct dt_program *dt_helpers_make(struct dt_session *d)
{
    struct dt_program *all = d->helpers_made;

    if (all) {
        return all;
    }
    d->helpers_made = all = dt_program_new(d);
    for (const struct dt_helper_entry *e = d->helpers; e; e = e->next) {
        if (d->no_helpers) {
            fprintf(stderr,
                    "dtrace: this target runs no helpers: jstack() has no names of %s's own\n",
                    e->source.program);
        } else if (all->objects.n == DTRACE_HELPERS_MOST) {
            fprintf(stderr, "dtrace: the helper of %s is left out: there are more than %d\n",
                    e->source.program, DTRACE_HELPERS_MOST);
        } else if (e->source.text) {
            helper_compile(d, all, &e->source);
        } else {
            helper_failed(&e->source, NULL);
        }
    }
    return all;
}

/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Types of args[]: the target's description of the probe; for a function probe, which has none, the
 * function's DWARF in the kernel's ELF. Only as far as each parameter has a register of its own, so
 * that args[n] is argn with a type: a parameter of 64 bits on a 32-bit CPU, a float or a struct
 * ends the list. The target also describes which arguments an args[n] consists of, if it isn't
 * argn: a psinfo_t of a pid. Tested by test/dtrace/provider_rows.py.
 */
#include "host/dt/check/check.h"
#include "host/dt/types/elf.h"

#include <string.h>

enum { RAW_ARGUMENTS = 5 }; /* that the provider has: arg0 to arg4 */

static bool fits_register(const struct dt_session *d, const struct dt_type *type)
{
    const struct dt_type *t = dt_type_resolve(type);

    return (dt_type_is_integer(t) || t->kind == DT_TYPE_POINTER) && t->size <= d->model->pointer;
}

/* The kernel's functions, or a process's: pid and its number. */
static bool is_of_functions(const char *provider)
{
    return strcmp(provider, "fbt") == 0 ||
           (strncmp(provider, "pid", 3) == 0 && provider[3] >= '0' && provider[3] <= '9');
}

static const struct dt_type *of_function(struct dt_session *d, const struct dt_probe_info *info,
                                         unsigned n)
{
    bool entry = strcmp(info->name, "entry") == 0;
    const bool of_kernel = strcmp(info->provider, "fbt") == 0;
    const struct dt_type *function =
        dt_elf_function(d, of_kernel ? NULL : info->module, info->function);
    const bool returns = strcmp(info->name, "return") == 0;

    if (!function || !(entry || returns)) {
        return NULL;
    }
    if (returns) { /* where it returns, and the value */
        return n == 0                                     ? dt_type_basic(d, DT_BASIC_INT)
               : n == 1 && fits_register(d, function->to) ? function->to
                                                          : NULL;
    }
    for (unsigned i = 0; i <= n; i++) {
        if (i == RAW_ARGUMENTS || i == function->nmembers ||
            !fits_register(d, function->members[i].type)) {
            return NULL;
        }
    }
    return function->members[n].type;
}

/* The numbers after the `<` of a type's text, with commas between them. False: they are none. */
static bool read_from(const char *at, struct dt_argument *a)
{
    a->nfrom = 0;
    while (*at) {
        if (*at < '0' || *at > '9' || a->nfrom == DT_ARGUMENT_FROM ||
            (at[1] != '\0' && (at[1] != ',' || at[2] == '\0'))) {
            return false;
        }
        a->from[a->nfrom++] = (unsigned)(*at - '0');
        at += at[1] ? 2 : 1;
    }
    return true;
}

/* Parses the target's text: see TYPES in trace/probes.def. */
static bool of_text(struct dt_session *d, const char *text, unsigned n, struct dt_argument *a)
{
    const char *made = strchr(text, '<');

    *a = (struct dt_argument){.from = {n}, .nfrom = 1};
    if (!made) {
        a->type = dt_type_lookup(d, NULL, text);
        return a->type != NULL;
    }
    a->type = dt_type_lookup(d, NULL, dt_strndup(d, text, (size_t)(made - text)));
    if (!a->type || !read_from(made + 1, a)) {
        return false;
    }
    const struct dt_type *t = dt_type_resolve(a->type);
    a->translated = t->kind == DT_TYPE_POINTER && dt_type_is_struct(dt_type_resolve(t->to));
    return a->translated || a->nfrom == 1;
}

bool dt_argument_of(struct dt_session *d, const struct dt_probe_info *info, unsigned n,
                    struct dt_argument *a)
{
    const struct dt_probe_source *probes = d->probes;
    const char *text = probes->argument_type(probes->arg, info->id, n);

    if (!text && is_of_functions(info->provider)) {
        *a = (struct dt_argument){.type = of_function(d, info, n), .from = {n}, .nfrom = 1};
        return a->type != NULL;
    }
    return text && of_text(d, text, n, a);
}

/* Several probes agree on args[n] if the target says the same of it for each. */
bool dt_arguments_agree(struct dt_session *d, const struct dt_probe_info *x,
                        const struct dt_probe_info *y, unsigned n)
{
    const struct dt_probe_source *probes = d->probes;
    const char *a = probes->argument_type(probes->arg, x->id, n);
    const char *first = a ? dt_strdup(d, a) : NULL; /* the next answer may take its place */
    const char *b = probes->argument_type(probes->arg, y->id, n);

    return first && b ? strcmp(first, b) == 0 : first == b;
}

const char *dt_session_argument_type(struct dt_session *d, const struct dt_probe_info *info,
                                     unsigned n)
{
    const struct dt_probe_source *probes = d->probes;
    struct dt_argument a;

    if (info->derived) {
        return n < info->derived->nargs ? info->derived->args[n].type : NULL;
    }
    const char *text = probes->argument_type(probes->arg, info->id, n);

    if (text) {
        return dt_strndup(d, text, strcspn(text, "<"));
    }
    return dt_argument_of(d, info, n, &a) ? dt_type_full_text(d, a.type) : NULL;
}

/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Types of args[]: what the target says of a probe; of a function probe, which says nothing, what
 * the DWARF of the kernel's ELF says of the function. Only as far as each parameter has a register
 * of its own, so that args[n] is argn with a type: a parameter of 64 bits on a 32-bit CPU, a float
 * or a struct ends the list. Tested by test/d/provider_rows.py (fbt).
 */
#include "host/d/back.h"
#include "host/d/front.h"

#include <string.h>

enum { RAW_ARGUMENTS = 5 }; /* that the provider has: arg0 to arg4 */

static bool fits_register(const struct d_session *d, const struct d_type *type)
{
    const struct d_type *t = d_type_resolve(type);

    return (d_type_is_integer(t) || t->kind == D_TYPE_POINTER) &&
           t->size <= d_session_model(d)->pointer;
}

static const struct d_type *of_entry(const struct d_session *d, const struct d_type *function,
                                     unsigned n)
{
    for (unsigned i = 0; i <= n; i++) {
        if (i == RAW_ARGUMENTS || i == function->nmembers ||
            !fits_register(d, function->members[i].type)) {
            return NULL;
        }
    }
    return function->members[n].type;
}

/* Where it returns, and the value. */
static const struct d_type *of_return(struct d_session *d, const struct d_type *function,
                                      unsigned n)
{
    if (n == 0) {
        return d_type_basic(d, D_BASIC_INT);
    }
    return n == 1 && fits_register(d, function->to) ? function->to : NULL;
}

static const struct d_type *of_function(struct d_session *d, const struct d_probe_info *info,
                                        unsigned n)
{
    bool entry = strcmp(info->name, "entry") == 0;
    const struct d_type *function = d_elf_function(d, info->function);

    if (!function) {
        return NULL;
    }
    return entry ? of_entry(d, function, n) : of_return(d, function, n);
}

const struct d_type *d_argument_type(struct d_session *d, const struct d_probe_info *info,
                                     unsigned n)
{
    const struct d_probe_source *probes = d_session_probes(d);
    const char *text = probes->argument_type(probes->arg, info->id, n);

    if (!text && strcmp(info->provider, "fbt") == 0) {
        return of_function(d, info, n);
    }
    return text ? d_type_lookup(d, NULL, text) : NULL;
}

const char *d_session_argument_type(struct d_session *d, const struct d_probe_info *info,
                                    unsigned n)
{
    const struct d_probe_source *probes = d_session_probes(d);
    const char *text = probes->argument_type(probes->arg, info->id, n);
    const struct d_type *type = text ? NULL : d_argument_type(d, info, n);

    return type ? d_type_text(d, type, NULL) : text;
}

/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The probes of `self`, for the compiler and -l.
 */
#include "host/self/self.h"
#include "host/self/target.h"

static struct dt_probe_info self_probes_info_of(const struct dtrace_probe_names *names)
{
    const struct dtrace_attributes *attributes = &names->provider->ops->attributes;

    return (struct dt_probe_info){
        .id = names->id,
        .provider = names->provider->name,
        .module = names->module,
        .function = names->function,
        .name = names->name,
        .attributes = *attributes,
        .argument_attributes = *attributes,
    };
}

static bool self_probes_name_matches(const struct dtrace_probe_names *names,
                                     const char *const pattern[4], uint32_t id)
{
    if (id) {
        return names->id == id;
    }
    return dtrace_glob(pattern[0], names->provider->name) &&
           dtrace_glob(pattern[1], names->module) && dtrace_glob(pattern[2], names->function) &&
           dtrace_glob(pattern[3], names->name);
}

static unsigned self_probes_each(void *arg, const char *provider, const char *module,
                                 const char *function, const char *name, uint32_t id,
                                 bool (*fn)(void *fn_arg, const struct dt_probe_info *),
                                 void *fn_arg)
{
    const char *const pattern[4] = {provider, module, function, name};
    struct dtrace_probe_names names = {.id = 0};
    unsigned calls = 0;

    (void)arg;
    self_lock();
    if (!id) {
        dtrace_probe_provide(provider, module, function, name);
    }
    while (dtrace_probe_next(names.id, &names)) {
        struct dt_probe_info info = self_probes_info_of(&names);
        if (self_probes_name_matches(&names, pattern, id)) {
            calls++;
            if (!fn(fn_arg, &info)) {
                break;
            }
        }
    }
    self_unlock();
    return calls;
}

static const char *no_argument_type(void *arg, uint32_t id, unsigned n)
{
    (void)arg;
    (void)id;
    (void)n;
    return NULL;
}

static const struct dt_probe_source probe_source = {.each = self_probes_each,
                                                    .argument_type = no_argument_type};

const struct dt_probe_source *self_probes(struct target *t)
{
    (void)t;
    return &probe_source;
}

bool self_probe_names(struct target *t, uint32_t id, struct dt_probe_info *info)
{
    struct dtrace_probe_names names;
    bool found;

    (void)t;
    self_lock();
    found = id && dtrace_probe_next(id - 1, &names) && names.id == id;
    if (found) {
        *info = self_probes_info_of(&names);
    }
    self_unlock();
    return found;
}

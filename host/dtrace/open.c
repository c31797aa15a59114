/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Opens the target and a session on it, with the options of the command line. Internal to
 * host/dtrace; reports errors. Tested by test/d/rows/command.rows.
 */
#include "host/dtrace/command.h"

#include <stdlib.h>
#include <string.h>

/* For cpp, system() and the command of -c. */
static void change_environment(const struct setting *s)
{
    const char *equals = s->value ? strchr(s->value, '=') : NULL;
    char *name = strndup(s->value ? s->value : "", equals ? (size_t)(equals - s->value) : SIZE_MAX);

    if (name && strcmp(s->name, "setenv") == 0) {
        setenv(name, equals ? equals + 1 : "", 1);
    } else if (name && strcmp(s->name, "unsetenv") == 0) {
        unsetenv(name);
    }
    free(name);
}

static int apply_settings(struct command *c)
{
    for (unsigned i = 0; i < c->nsettings; i++) {
        const struct setting *s = &c->settings[i];
        const char *why = dt_option_set(c->session, s->name, s->value, s->origin);
        if (why && s->shown) {
            fprintf(stderr, "dtrace: failed to set %s %s: %s\n", s->shown, s->value, why);
        } else if (why) {
            fprintf(stderr, "dtrace: failed to set -x %s: %s\n", s->name, why);
        }
        if (why) {
            return 1;
        }
        change_environment(s);
    }
    return 0;
}

/* Sizes that the target prefers, before the user's. */
static void apply_target_defaults(struct command *c)
{
    static const char *const names[] = {"bufsize", "aggsize", "specsize", "dynvarsize", "strsize"};

    for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++) {
        uint64_t value = c->target->ops->option_default(c->target, names[i]);
        if (value != DT_OPTION_UNSET) {
            dt_option_put(c->session, names[i], value);
        }
    }
}

static bool add_elves(struct command *c)
{
    const struct target_ops *ops = c->target->ops;

    if (!ops->elves) {
        return command_add_elves_here(c);
    }
    return ops->elves(c->target, c->session, c->elves, c->nelves,
                      dt_option_on(c->session, "quiet") || c->json);
}

int command_open(struct command *c)
{
    const char *why;

    c->target = c->target ? c->target : target_open(c->target_spec, &why);
    if (!c->target) {
        fprintf(stderr, "dtrace: failed to open target %s: %s\n", c->target_spec, why);
        return 1;
    }
    unsigned bits = c->target->ops->model(c->target)->pointer * 8u;
    if (c->bits && c->bits != bits) {
        fprintf(stderr, "dtrace: -%u is not available: the target has %u bits\n", c->bits, bits);
        return 1;
    }
    c->session =
        dt_session_new(c->target->ops->model(c->target), c->target->ops->probes(c->target));
    if (c->target->ops->consumer) {
        dt_session_consumer(c->session, c->target->ops->consumer(c->target));
    }
    if (c->foreign) {
        dt_session_distrust(c->session);
    }
    apply_target_defaults(c);
    return apply_settings(c) ? 1 : !add_elves(c);
}

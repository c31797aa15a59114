/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Opens the target and a session on it, with the options of the command line and the ELF files.
 * Tested by test/dtrace/rows/command.rows.
 */
#include "host/dtrace/command.h"

#include "host/log/log.h"
#include "host/nearest.h"
#include "host/remote/elf_id.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* Returns "; did you mean NAME?" for the name of no option, or "". */
static const char *setting_hint(const char *name)
{
    static struct nearest nearest;

    nearest = (struct nearest){.word = name};
    for (unsigned i = 0; dt_option_name(i); i++) {
        if (strcmp(dt_option_name(i), name) == 0) {
            return ""; /* its value is wrong */
        }
        nearest_offer(&nearest, dt_option_name(i));
    }
    return nearest_hint(&nearest);
}

static int apply_settings(struct command *c)
{
    for (unsigned i = 0; i < c->nsettings; i++) {
        const struct setting *s = &c->settings[i];
        const char *why = dt_option_set(c->session, s->name, s->value, s->origin);
        if (why && s->shown) {
            fprintf(stderr, "dtrace: failed to set %s %s: %s\n", s->shown, s->value, why);
        } else if (why) {
            fprintf(stderr, "dtrace: failed to set -x %s: %s%s\n", s->name, why,
                    setting_hint(s->name));
        }
        if (why) {
            return 1;
        }
        /* The environment of cpp, of system() and of -c's command. */
        size_t n = s->value ? strcspn(s->value, "=") : 0;
        char *name = strndup(s->value ? s->value : "", n);
        if (name && strcmp(s->name, "setenv") == 0) {
            setenv(name, s->value && s->value[n] ? s->value + n + 1 : "", 1);
        } else if (name && strcmp(s->name, "unsetenv") == 0) {
            unsetenv(name);
        }
        free(name);
    }
    return 0;
}

/* Static probes of programs that the user named: of those that the target's ELF files lack. */
static void dtrace_open_find_probes(void *arg, struct dt_session *session)
{
    (void)arg;
    log_probes_find(session, NULL);
}

/* Gives the session the ELF files of --elf. A target that is this machine has no others. */
static bool add_elf_files(struct command *c)
{
    const struct target_ops *ops = c->target->ops;

    dt_session_derive_from(c->session, dtrace_open_find_probes, NULL);
    if (ops->elf_files) {
        return ops->elf_files(c->target, c->session, c->elf_files, c->nelf_files,
                              dt_option_on(c->session, "quiet") || c->json);
    }
    for (unsigned i = 0; i < c->nelf_files; i++) {
        const char *path = c->elf_files[i], *why = elf_id_trouble(path);

        if (why || !dt_session_add_elf(c->session, path, basename(path), false)) {
            fprintf(stderr, "dtrace: --elf %s: %s\n", path,
                    why ? why : "an ELF file of this machine is wanted");
            return false;
        }
    }
    return true;
}

int command_open(struct command *c)
{
    static const char *const sizes[] = {"bufsize", "aggsize", "specsize", "dynvarsize", "strsize"};
    static const char *const counted[] = {"cycles", "instructions"};
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
    for (size_t i = 0; c->target->ops->lacks && i < sizeof(counted) / sizeof(*counted); i++) {
        why = c->target->ops->lacks(c->target, counted[i]);
        if (why) {
            dt_session_lacks(c->session, counted[i], why);
        }
    }
    if (c->foreign) {
        dt_session_distrust(c->session);
    }
    for (size_t i = 0; i < sizeof(sizes) / sizeof(*sizes); i++) {
        uint64_t preferred = c->target->ops->option_default(c->target, sizes[i]);
        if (preferred != DT_OPTION_UNSET) {
            dt_option_put(c->session, sizes[i], preferred);
        }
    }
    return apply_settings(c) ? 1 : !add_elf_files(c);
}

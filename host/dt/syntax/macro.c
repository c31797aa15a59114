/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Macro variables: $pid and the like, and the command line's arguments $0, $1 …
 */
#include "host/dt/syntax/parse.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Missing arguments are "" with defaultargs. */
static bool macro_argument_text(struct dt_parse *p, const char *name, size_t n, const char **text)
{
    const struct dt_source *s = p->source;
    long number = n < 7 ? strtol(name, NULL, 10) : INT32_MAX;

    if (number < s->argc) {
        *text = s->argv[number];
        p->argument_used[number] = true;
        return true;
    }
    *text = "";
    return p->session->options.values[DT_O_defaultargs] != 0;
}

bool dt_macro_value(struct dt_parse *p, const char *name, size_t n, const char **text)
{
    const struct dt_session *d = p->session;
    const struct {
        const char *name;
        int64_t value;
    } numbers[] = {
        {"pid", d->consumer},  {"ppid", getppid()}, {"pgid", getpgid(0)}, {"sid", getsid(0)},
        {"uid", getuid()},     {"euid", geteuid()}, {"gid", getgid()},    {"egid", getegid()},
        {"target", d->target}, {"projid", 0},       {"taskid", 0},
    };

    if (n && isdigit((unsigned char)*name)) {
        return macro_argument_text(p, name, n, text);
    }
    for (size_t i = 0; i < sizeof(numbers) / sizeof(*numbers); i++) {
        if (strlen(numbers[i].name) == n && memcmp(numbers[i].name, name, n) == 0) {
            *text = dt_sprintf(p->session, "%lld", (long long)numbers[i].value);
            p->targets_named += d->ntargets > 1 && strcmp(numbers[i].name, "target") == 0;
            return true;
        }
    }
    return false;
}

/* Classifies an argument: a missing one is the integer 0. */
enum dt_macro_kind dt_macro_kind(const char *value)
{
    char *end;

    if (*value == '\0') {
        return DT_MACRO_INTEGER;
    }
    if (isdigit((unsigned char)*value) || *value == '-' || *value == '+') {
        strtoull(value, &end, 0);
        return *end || !isalnum((unsigned char)end[-1]) ? DT_MACRO_STRING : DT_MACRO_INTEGER;
    }
    while (isalnum((unsigned char)*value) || *value == '_' || *value == '`') {
        value++;
    }
    return *value ? DT_MACRO_STRING : DT_MACRO_NAME;
}

void dt_macros_check_used(struct dt_parse *p)
{
    const uint64_t *options = p->session->options.values;

    if (options[DT_O_argref] || options[DT_O_defaultargs]) {
        return;
    }
    for (int i = 1; i < p->source->argc; i++) {
        if (!p->argument_used[i]) {
            dt_fail(p->session, p->location, "D_MACRO_UNUSED",
                    "extraneous argument '%s' ($%d is not referenced)", p->source->argv[i], i);
        }
    }
}

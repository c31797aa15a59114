/* SPDX-License-Identifier: BSD-2-Clause */
/* Start scripts: the options in brackets, `key=value key=value`. */
#include <stdlib.h>
#include <string.h>

#include "apps/init/script.h"

bool script_number(const char *text, uint32_t most, uint32_t *value)
{
    char *end;
    unsigned long long n = strtoull(text, &end, 0);
    unsigned shift = *end == 'k' ? 10 : *end == 'm' ? 20 : 0;

    end += shift != 0;
    *value = (uint32_t)(n << shift);
    return *text >= '0' && *text <= '9' && *end == '\0' && n <= most >> shift;
}

static bool ability_bit(const char *name, uint32_t *abilities)
{
    static const struct {
        const char *name;
        uint32_t bit;
    } known[] = {
#define ABILITY(bit, NAME, text, doc) {text, UINT32_C(1) << (bit)},
        ABILITY_LIST(ABILITY)
#undef ABILITY
    };

    if (strcmp(name, "all") == 0) {
        *abilities = UINT32_MAX;
        return true;
    }
    for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++) {
        if (strcmp(known[i].name, name) == 0) {
            *abilities |= known[i].bit;
            return true;
        }
    }
    return false;
}

static const char *set_ability(char *value, struct line *line)
{
    char *rest;

    for (char *name = strtok_r(value, ",", &rest); name; name = strtok_r(NULL, ",", &rest)) {
        if (!ability_bit(name, &line->attr.ability)) {
            return "no such ability";
        }
    }
    line->exceeds |= line->attr.ability != UINT32_MAX && (line->attr.ability & ~kymo_abilities());
    line->attr.ability &= kymo_abilities();
    return NULL;
}

static const char *init_options_limit_names(const char *name, uint32_t *which)
{
    static const char *const known[KYMO_LIMITS] = {
#define LIMIT(number, NAME, text, doc) [number] = text,
        LIMIT_LIST(LIMIT)
#undef LIMIT
    };

    *which = strcmp(name, "all") == 0 ? (UINT32_C(1) << KYMO_LIMITS) - 1 : 0;
    for (unsigned i = 0; i < KYMO_LIMITS; i++) {
        *which |= strcmp(name, known[i]) == 0 ? UINT32_C(1) << i : 0;
    }
    return *which ? NULL : "no such limit";
}

/* Parses name:number or name:max. */
static const char *set_one_limit(char *text, struct line *line)
{
    char *number = strchr(text, ':');
    uint32_t which, most = 0;

    if (!number) {
        return "a limit is name:number";
    }
    *number++ = '\0';
    bool max = strcmp(number, "max") == 0;
    if (!max && !script_number(number, UINT32_MAX, &most)) {
        return "a limit is a number or max";
    }
    const char *error = init_options_limit_names(text, &which);
    for (unsigned i = 0; i < KYMO_LIMITS; i++) {
        if (which >> i & 1) {
            line->attr.limit[i] = max ? KYMO_LIMIT_MOST : most;
        }
    }
    line->attr.limits |= which;
    return error;
}

static const char *set_limit(char *value, struct line *line)
{
    const char *error = line->attr.flags & KYMO_SPAWN_GROUP ? "limit or group, not both" : NULL;
    char *rest;

    for (char *one = strtok_r(value, ",", &rest); one && !error; one = strtok_r(NULL, ",", &rest)) {
        error = set_one_limit(one, line);
    }
    return error;
}

static const char *init_set_group(char *value, struct line *line)
{
    const char *error = line->attr.limits ? "limit or group, not both" : set_limit(value, line);

    line->attr.flags |= KYMO_SPAWN_GROUP;
    return error;
}

static const char *set_policy(char *value, struct line *line)
{
    line->attr.policy = strcmp(value, "fifo") == 0    ? SCHED_FIFO
                        : strcmp(value, "rr") == 0    ? SCHED_RR
                        : strcmp(value, "other") == 0 ? SCHED_OTHER
                                                      : SCHED_NOCHANGE;
    return line->attr.policy == SCHED_NOCHANGE ? "policy is fifo, rr or other" : NULL;
}

static const char *set_priority(char *value, struct line *line)
{
    uint32_t priority;

    if (!script_number(value, PRIORITY_MAX, &priority) || priority < PRIORITY_MIN) {
        return "pri is 1 to 255";
    }
    line->attr.priority = (int)priority;
    return NULL;
}

static const char *set_heap(char *value, struct line *line)
{
    return script_number(value, UINT32_MAX, &line->attr.heap_size) ? NULL : "bad heap size";
}

static const char *set_stack(char *value, struct line *line)
{
    return script_number(value, UINT32_MAX, &line->attr.stack_size) ? NULL : "bad stack size";
}

static const char *set_runmask(char *value, struct line *line)
{
    return script_number(value, UINT32_MAX, &line->attr.runmask) ? NULL : "bad runmask";
}

static const char *set_name(char *value, struct line *line)
{
    line->name = value;
    return *value ? NULL : "name is empty";
}

static const char *set_status(char *value, struct line *line)
{
    line->may_fail = strcmp(value, "any") == 0;
    return line->may_fail || strcmp(value, "0") == 0 ? NULL : "status is 0 or any";
}

static const char *set_server(char *value, struct line *line)
{
    bool yes = strcmp(value, "yes") == 0;

    line->server = yes ? SERVER_YES : SERVER_NO;
    return yes || strcmp(value, "no") == 0 ? NULL : "server is yes or no";
}

static const struct {
    const char *key;
    const char *(*set)(char *value, struct line *line);
} settings[] = {
    {"pri", set_priority}, {"policy", set_policy},    {"heap", set_heap},
    {"stack", set_stack},  {"ability", set_ability},  {"runmask", set_runmask},
    {"name", set_name},    {"status", set_status},    {"server", set_server},
    {"limit", set_limit},  {"group", init_set_group},
};

static const char *init_options_set_value(const char *key, char *value, struct line *line)
{
    for (size_t i = 0; i < sizeof(settings) / sizeof(settings[0]); i++) {
        if (strcmp(settings[i].key, key) == 0) {
            return settings[i].set(value, line);
        }
    }
    return "no such option (pri policy heap stack ability runmask name status server limit group)";
}

const char *options_parse(char *text, struct line *line)
{
    char *rest;

    for (char *word = strtok_r(text, " \t", &rest); word; word = strtok_r(NULL, " \t", &rest)) {
        char *equals = strchr(word, '=');

        if (!equals) {
            return "an option is key=value";
        }
        *equals = '\0';
        const char *error = init_options_set_value(word, equals + 1, line);
        if (error) {
            return error;
        }
    }
    return NULL;
}

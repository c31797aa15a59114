/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The rules of the command line: the user's scripts and texts, and the ready ones, whose programs
 * are the files of host/rules/. See assert.h.
 */
#include <inttypes.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "host/assert/assert.h"
#include "host/home.h"
#include "host/kymo.h"
#include "host/when.h"

enum { NAME_MOST = 60, DAY = 86400 };

/* A word of a ready rule: T a time, which the program gets in ns; N a user event. */
static const struct {
    const char *option, *words;
    enum rule_kind kind;
    const char *file; /* in host/rules/, of a program; of others the rule's name */
    const char *last; /* the program's last argument; NULL: none */
    const char *says;
} ready_rules[READY_RULES] = {
    {"no-loss", "", RULE_LOSS, "", NULL,
     "no event was lost, no buffer is missing, nothing is damaged"},
    {"message", "T", RULE_WAITS, "message", NULL,
     "no thread waits longer than T for the reply to a message"},
    {"inversion", "T", RULE_WAITS, "inversion", NULL,
     "no thread waits longer than T for one of lower priority"},
    {"deadline", "NNT", RULE_SCRIPT, "deadline", "0",
     "after each user event A comes an event B of the same thread within T"},
    {"deadline-any", "NNT", RULE_SCRIPT, "deadline", "1", "the same, of any thread"},
};

/* ---- adding ------------------------------------------------------------------------ */

static bool name_is_taken(const struct assertion *a, const char *name)
{
    for (unsigned i = 0; i < a->nrules; i++) {
        if (strcmp(a->rules[i].name, name) == 0) {
            return true;
        }
    }
    return false;
}

/* A second rule of the same name is called "NAME (2)". */
static struct rule *rule_add(struct assertion *a, enum rule_kind kind, const char *name,
                             const char *source)
{
    char text[NAME_MOST + 16];
    struct rule *rule;

    snprintf(text, sizeof(text), "%.*s", NAME_MOST, name);
    for (unsigned n = 2; name_is_taken(a, text); n++) {
        snprintf(text, sizeof(text), "%.*s (%u)", NAME_MOST, name, n);
    }
    a->rules = kymo_memory(realloc(a->rules, (a->nrules + 1) * sizeof(*a->rules)));
    rule = &a->rules[a->nrules++];
    *rule = (struct rule){.kind = kind,
                          .name = kymo_memory(strdup(text)),
                          .source = kymo_memory(strdup(source)),
                          .args = kymo_memory(calloc(RULE_ARGS, sizeof(*rule->args)))};
    return rule;
}

int rules_add_script(struct assertion *a, const char *path)
{
    const char *slash = strrchr(path, '/');
    char *name = kymo_memory(strdup(slash ? slash + 1 : path));
    size_t n = strlen(name);

    if (access(path, R_OK) != 0) {
        kymo_error("%s: can't be read: give a D script", path);
        free(name);
        return KYMO_FAILURE;
    }
    if (n > 2 && strcmp(name + n - 2, ".d") == 0) {
        name[n - 2] = '\0';
    }
    rule_add(a, RULE_SCRIPT, name, path);
    free(name);
    return KYMO_OK;
}

/* Its name is what stands before the first action or predicate. */
int rules_add_text(struct assertion *a, const char *text)
{
    size_t n = strcspn(text, "{/;");
    char *name;

    while (n > 0 && strchr(" \t\n", text[n - 1]) != NULL) {
        n--;
    }
    name = kymo_memory(strndup(text, n));
    rule_add(a, RULE_TEXT, name, text);
    free(name);
    return KYMO_OK;
}

/* ---- ready rules ------------------------------------------------------------------- */

const char *rules_ready(unsigned ready, unsigned *words)
{
    *words = (unsigned)strlen(ready_rules[ready].words);
    return ready_rules[ready].option;
}

/* The file of a ready rule: beside the boards, or in the source tree. */
static bool ready_path(const char *file, char path[PATH_MAX])
{
    struct home home;
    int n = 0;

    if (home_find(&home)) {
        n = home.tree[0] ? snprintf(path, PATH_MAX, "%s/host/rules/%s.d", home.tree, file)
                         : snprintf(path, PATH_MAX, "%s/rules/%s.d", home.boards, file);
    }
    if (n > 0 && n < PATH_MAX && access(path, R_OK) == 0) {
        return true;
    }
    kymo_error("assert: the ready rules are not beside this kymo (%s): run make install",
               n > 0 && n < PATH_MAX ? path : "host/rules");
    return false;
}

/* Writes the word as the program's argument. Returns false if it is none of its kind. */
static bool word_argument(char kind, const char *word, char to[32])
{
    struct kymo_when when;
    unsigned long event;
    char *end;

    if (kind == 'N') {
        event = strtoul(word, &end, 10);
        snprintf(to, 32, "%lu", event);
        return *word >= '0' && *word <= '9' && *end == '\0' && event < 1024;
    }
    if (kymo_parse_when(word, &when) != 0 || when.absolute || word[strlen(word) - 1] != 's') {
        return false;
    }
    uint64_t ns = kymo_when_cycles(&when, 0, 1000000000);
    snprintf(to, 32, "%" PRIu64, ns);
    return ns > 0 && ns <= (uint64_t)DAY * 1000000000;
}

int rules_add_ready(struct assertion *a, unsigned ready, const char *value, char **more,
                    unsigned *taken)
{
    const char *words = ready_rules[ready].words, *option = ready_rules[ready].option;
    const char *last = ready_rules[ready].last;
    unsigned n = (unsigned)strlen(words);
    char path[PATH_MAX] = "", name[NAME_MOST + 1], text[RULE_ARGS][32];
    size_t at = (size_t)snprintf(name, sizeof(name), "%s", option);

    *taken = n > 1 ? n - 1 : 0;
    for (unsigned i = 0; i < n; i++) {
        const char *word = i == 0 ? value : more[i - 1];

        if (word == NULL) {
            return kymo_usage("assert", "assert: --%s takes %s", option,
                              n == 1 ? "a time, as 2ms" : "two user events and a time: 1 2 5ms");
        }
        if (!word_argument(words[i], word, text[i])) {
            return kymo_usage("assert",
                              words[i] == 'N' ? "assert: --%s: %s is no user event: 0 to 1023"
                                              : "assert: --%s: %s is no time as 2ms, 500us, 1.5s",
                              option, word);
        }
        if (at < sizeof(name)) {
            at += (size_t)snprintf(name + at, sizeof(name) - at, " %s", word);
        }
    }
    const char *file = ready_rules[ready].file;
    bool program = ready_rules[ready].kind == RULE_SCRIPT;

    if (program && !ready_path(file, path)) {
        return KYMO_FAILURE;
    }
    if (last != NULL) {
        snprintf(text[n++], sizeof(text[0]), "%s", last);
    }
    struct rule *rule = rule_add(a, ready_rules[ready].kind, name, program ? path : file);
    for (unsigned i = 0; i < n; i++) {
        rule->args[i] = kymo_memory(strdup(text[i]));
    }
    rule->nargs = n;
    rule->counts = true;
    return KYMO_OK;
}

void rules_list(FILE *out)
{
    for (unsigned i = 0; i < READY_RULES; i++) {
        char option[40];

        snprintf(option, sizeof(option), "--%s%s", ready_rules[i].option,
                 strcmp(ready_rules[i].words, "T") == 0     ? " T"
                 : strcmp(ready_rules[i].words, "NNT") == 0 ? " A B T"
                                                            : "");
        fprintf(out, "%-22s %s\n", option, ready_rules[i].says);
    }
}

void rules_free(struct assertion *a)
{
    for (unsigned i = 0; i < a->nrules; i++) {
        struct rule *rule = &a->rules[i];

        for (unsigned n = 0; n < RULE_KEPT; n++) {
            free(rule->kept[n]);
        }
        for (unsigned n = 0; rule->counts && n < rule->nargs; n++) {
            free((char *)rule->args[n]);
        }
        free(rule->args);
        free(rule->name);
        free(rule->source);
    }
    free(a->rules);
}

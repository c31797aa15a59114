/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * -l: the probes that descriptions match; with -v what can be relied on, and their arguments. -v
 * with an enabling: the stability of each clause, and the most it can cost.
 */
#include "host/dtrace/command.h"

#include <stdlib.h>
#include <string.h>

static const char *const stabilities[] = {"Internal", "Private",  "Obsolete", "External",
                                          "Unstable", "Evolving", "Stable",   "Standard"};
static const char *const classes[] = {"Unknown", "CPU", "Platform", "Group", "ISA", "Common"};

static void print_attributes(FILE *out, const char *title, uint8_t name, uint8_t data,
                             uint8_t class)
{
    fprintf(out, "\t%s\n", title);
    fprintf(out, "\t\tIdentifier Names: %s\n", stabilities[name % 8]);
    fprintf(out, "\t\tData Semantics:   %s\n", stabilities[data % 8]);
    fprintf(out, "\t\tDependency Class: %s\n", classes[class % 6]);
}

static uint8_t least(const uint8_t values[5], bool wide)
{
    uint8_t low = values[0];

    for (unsigned i = 1; i < 4 && wide; i++) {
        low = values[i] < low ? values[i] : low;
    }
    return low;
}

struct lister {
    struct command *c;
    bool heading;
};

static void print_arguments(const struct command *c, const struct d_probe_info *info)
{
    const struct d_probe_source *probes = c->target->ops->probes(c->target);
    unsigned n = 0;
    const char *type;

    puts("\tArgument Types");
    while ((type = probes->argument_type(probes->arg, info->id, n)) != NULL) {
        printf("\t\targs[%u]: %s\n", n++, type);
    }
    puts(n ? "" : "\t\tNone\n");
}

static void print_verbose(const struct command *c, const struct d_probe_info *info)
{
    const struct d_attributes *a = &info->attributes, *b = &info->argument_attributes;

    putchar('\n');
    print_attributes(stdout, "Probe Description Attributes", least(a->name, true),
                     least(a->data, true), least(a->class, true));
    putchar('\n');
    print_attributes(stdout, "Argument Attributes", b->name[4], b->data[4], b->class[4]);
    putchar('\n');
    print_arguments(c, info);
}

static bool list_probe(void *arg, const struct d_probe_info *info)
{
    struct lister *l = arg;

    if (!l->heading) {
        printf("%5s %10s %17s %33s %s\n", "ID", "PROVIDER", "MODULE", "FUNCTION", "NAME");
        l->heading = true;
    }
    printf("%5u %10s %17s %33s %s\n", info->id, info->provider, info->module, info->function,
           info->name);
    if (l->c->verbose) {
        print_verbose(l->c, info);
    }
    return true;
}

/* "a:b:c:d" into its fields, filled from the right; a field that the kind of option names last. */
static bool split(const struct program_source *s, char *text, const char *fields[4])
{
    unsigned last = s->spec == D_SPEC_PROVIDER   ? 0
                    : s->spec == D_SPEC_MODULE   ? 1
                    : s->spec == D_SPEC_FUNCTION ? 2
                                                 : 3;
    char *parts[5];
    unsigned n = 0;

    for (unsigned i = 0; i < 4; i++) {
        fields[i] = "";
    }
    text[strcspn(text, "{/; \t")] = '\0';
    for (char *p = text; p && n < 5; p = p ? p + 1 : NULL) {
        parts[n++] = p;
        p = strchr(p, ':');
        if (p) {
            *p = '\0';
        }
        if (!p) {
            break;
        }
    }
    if (n > last + 1) {
        return false;
    }
    for (unsigned i = 0; i < n; i++) {
        fields[last - i] = parts[n - 1 - i];
    }
    return true;
}

static int list_source(struct lister *l, const struct program_source *s)
{
    const struct d_probe_source *probes = l->c->target->ops->probes(l->c->target);
    char *text = strdup(s->text);
    const char *fields[4] = {"", "", "", ""};
    uint32_t id = 0;
    unsigned n = 0;

    if (s->spec == D_SPEC_ID) {
        id = (uint32_t)strtoul(text, NULL, 0);
    }
    if (s->spec == D_SPEC_ID ? id != 0 : split(s, text, fields)) {
        n = probes->each(probes->arg, fields[0], fields[1], fields[2], fields[3], id, list_probe,
                         l);
    }
    if (n == 0) {
        fprintf(stderr, "dtrace: failed to match %s: No probe matches description\n", s->text);
    }
    free(text);
    return n == 0;
}

int command_list(struct command *c)
{
    const struct d_probe_source *probes = c->target->ops->probes(c->target);
    struct lister l = {.c = c};
    int status = 0;

    if (c->nsources == 0) {
        probes->each(probes->arg, "", "", "", "", 0, list_probe, &l);
    }
    for (unsigned i = 0; i < c->nsources; i++) {
        status |= list_source(&l, &c->sources[i]);
    }
    return status;
}

/* ---- -v with an enabling -----------------------------------------------------------------------
 */

/* Of all clauses of the program the least. */
void command_report(struct command *c, const struct program_source *s)
{
    struct d_attributes probes = {.name = {7}, .data = {7}, .class = {5}};
    struct d_attributes statements = probes;

    for (unsigned i = 0; i < d_session_clauses(c->session); i++) {
        const struct d_clause_info *info = d_session_clause(c->session, i);
        const struct d_attributes *a = &info->description_attributes;
        const struct d_attributes *b = &info->statement_attributes;
        probes.name[0] = a->name[0] < probes.name[0] ? a->name[0] : probes.name[0];
        probes.data[0] = a->data[0] < probes.data[0] ? a->data[0] : probes.data[0];
        probes.class[0] = a->class[0] < probes.class[0] ? a->class[0] : probes.class[0];
        statements.name[0] = b->name[0] < statements.name[0] ? b->name[0] : statements.name[0];
        statements.data[0] = b->data[0] < statements.data[0] ? b->data[0] : statements.data[0];
        statements.class[0] = b->class[0] < statements.class[0] ? b->class[0] : statements.class[0];
    }
    printf("\nStability attributes for %s %s:\n\n", s->is_script ? "script" : "description",
           s->name);
    print_attributes(stdout, "Minimum Probe Description Attributes", probes.name[0], probes.data[0],
                     probes.class[0]);
    print_attributes(stdout, "Minimum Statement Attributes", statements.name[0], statements.data[0],
                     statements.class[0]);
    putchar('\n');
}

void command_costs(struct command *c, const void *image)
{
    uint32_t strsize = (uint32_t)d_option(c->session, "strsize");

    for (unsigned i = 0; i < d_session_clauses(c->session); i++) {
        const struct d_clause_info *info = d_session_clause(c->session, i);
        struct d_cost cost = {0};
        for (uint32_t e = 0; e < info->necbs; e++) {
            struct d_cost one = d_ecb_cost(image, info->first_ecb + e, strsize);
            cost.steps = one.steps > cost.steps ? one.steps : cost.steps;
            cost.record = one.record > cost.record ? one.record : cost.record;
        }
        printf("Clause at line %u (%s): at most %llu DIF instructions, %u bytes recorded\n",
               info->line, info->description, (unsigned long long)cost.steps, cost.record);
    }
}

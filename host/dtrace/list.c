/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * -l: lists the probes that the descriptions match; with -v their stability and their arguments. -v
 * with an enabling: the stability of each program, and the most that each clause can cost. Tested
 * by test/dtrace/rows/command.rows.
 */
#include "host/dtrace/command.h"

#include <string.h>

static const char *const dtrace_list_stability_names[] = {
    "Internal", "Private", "Obsolete", "External", "Unstable", "Evolving", "Stable", "Standard"};
static const char *const dtrace_list_class_names[] = {"Unknown", "CPU", "Platform",
                                                      "Group",   "ISA", "Common"};

static void print_attributes(FILE *out, const char *title, uint8_t name, uint8_t data,
                             uint8_t class)
{
    fprintf(out, "\t%s\n", title);
    fprintf(out, "\t\tIdentifier Names: %s\n", dtrace_list_stability_names[name % 8]);
    fprintf(out, "\t\tData Semantics:   %s\n", dtrace_list_stability_names[data % 8]);
    fprintf(out, "\t\tDependency Class: %s\n", dtrace_list_class_names[class % 6]);
}

/* Returns the least of the values of the parts that the probe's name has: a module and a function
 * may be empty. */
static uint8_t dtrace_list_least_stability(const uint8_t values[5],
                                           const struct dt_probe_info *info)
{
    uint8_t low = values[3] < values[0] ? values[3] : values[0];

    low = *info->module && values[1] < low ? values[1] : low;
    return *info->function && values[2] < low ? values[2] : low;
}

static bool list_probe(void *arg, const struct dt_probe_info *info)
{
    const struct command *c = arg;
    const char *type;
    unsigned n = 0;

    char id[12] = "-"; /* a derived probe is none of the target's */

    if (!info->derived) {
        snprintf(id, sizeof(id), "%u", info->id);
    }
    fprintf(c->out, "%5s %10s %17s %33s %s\n", id, info->provider, info->module, info->function,
            info->name);
    if (!c->verbose) {
        return true;
    }
    struct dt_probe_info given = dt_session_stability(c->session, info);
    const struct dtrace_attributes *a = &given.attributes, *b = &given.argument_attributes;
    putc('\n', c->out);
    print_attributes(c->out, "Probe Description Attributes",
                     dtrace_list_least_stability(a->name, info),
                     dtrace_list_least_stability(a->data, info),
                     dtrace_list_least_stability(a->dependency, info));
    putc('\n', c->out);
    print_attributes(c->out, "Argument Attributes", b->name[4], b->data[4], b->dependency[4]);
    fputs("\n\tArgument Types\n", c->out);
    while ((type = dt_session_argument_type(c->session, info, n)) != NULL) {
        fprintf(c->out, "\t\targs[%u]: %s\n", n++, type);
    }
    fputs(n ? "\n" : "\t\tNone\n\n", c->out);
    return true;
}

int command_list(struct command *c, const void *data)
{
    const struct dt_probe_source *probes = c->target->ops->probes(c->target);
    const struct dtrace_image *image = data;
    int status = 0;

    if (c->verbose && c->target->ops->describe) {
        c->target->ops->describe(c->target, c->out);
    }
    fprintf(c->out, "%5s %10s %17s %33s %s\n", "ID", "PROVIDER", "MODULE", "FUNCTION", "NAME");
    if (!image) {
        probes->each(probes->arg, "", "", "", "", 0, list_probe, c);
        dt_derived_each(c->session, "", "", "", "", list_probe, c);
        return 0;
    }
    const struct dtrace_image_ecb *ecbs = (const void *)((const char *)data + image->ecbs.offset);
    const char *strings = (const char *)image + image->strings.offset;
    for (uint32_t i = 0; i < image->ecbs.count; i++) {
        const struct dtrace_image_ecb *e = &ecbs[i];
        const char *provider = strings + e->provider, *module = strings + e->module;
        const char *function = strings + e->function, *name = strings + e->name;
        const struct dt_clause_info *info = dt_session_clause(c->session, e->clause);
        const struct dt_derived *p = info ? info->derived : NULL;
        if (p) {
            struct dt_probe_info derived = dt_derived_info(p);

            if (!(e->flags & DTRACE_ECB_PART)) {
                list_probe(c, &derived);
            }
            continue;
        }
        if (e->clause != DTRACE_CLAUSE_FAULT && !(e->flags & DTRACE_ECB_PART) &&
            probes->each(probes->arg, provider, module, function, name, e->probe, list_probe, c) <=
                0) {
            const char *const fields[4] = {provider, module, function, name};
            const char *why =
                probes->why_none ? probes->why_none(probes->arg, c->session, fields) : NULL;
            fprintf(stderr, "dtrace: failed to match %s:%s:%s:%s: No probe matches description%s\n",
                    provider, module, function, name, why ? why : "");
            status = 1;
        }
    }
    return status;
}

/* ---- -v with an enabling ----------------------------------------------------------- */

/* A program's stability is the least of all its clauses'. */
void command_report(struct command *c)
{
    struct dtrace_attributes probes = {.name = {7}, .data = {7}, .dependency = {5}};
    struct dtrace_attributes statements = probes;

    for (unsigned i = 0; c->verbose && i < dt_session_clauses(c->session); i++) {
        const struct dt_clause_info *info = dt_session_clause(c->session, i);
        const struct dtrace_attributes *a = &info->description_attributes;
        const struct dtrace_attributes *b = &info->statement_attributes;
        probes.name[0] = a->name[0] < probes.name[0] ? a->name[0] : probes.name[0];
        probes.data[0] = a->data[0] < probes.data[0] ? a->data[0] : probes.data[0];
        probes.dependency[0] =
            a->dependency[0] < probes.dependency[0] ? a->dependency[0] : probes.dependency[0];
        statements.name[0] = b->name[0] < statements.name[0] ? b->name[0] : statements.name[0];
        statements.data[0] = b->data[0] < statements.data[0] ? b->data[0] : statements.data[0];
        statements.dependency[0] = b->dependency[0] < statements.dependency[0]
                                       ? b->dependency[0]
                                       : statements.dependency[0];
    }
    for (unsigned i = 0; c->verbose && i < c->nsources; i++) {
        const struct program_source *s = &c->sources[i];
        fprintf(c->out, "\nStability attributes for %s %s:\n\n",
                s->is_script ? "script" : "description", s->name);
        print_attributes(c->out, "Minimum Probe Description Attributes", probes.name[0],
                         probes.data[0], probes.dependency[0]);
        putc('\n', c->out);
        print_attributes(c->out, "Minimum Statement Attributes", statements.name[0],
                         statements.data[0], statements.dependency[0]);
        putc('\n', c->out);
    }
}

/* Returns the most that a clause can cost, on any of its probes. */
static struct dtrace_cost cost_of(const struct command *c, const void *image,
                                  const struct dt_clause_info *info)
{
    uint32_t strsize = (uint32_t)dtrace_option(c->session, "strsize");
    struct dtrace_cost cost = {0};

    for (uint32_t e = 0; e < info->necbs; e++) {
        struct dtrace_cost one = dtrace_ecb_cost(image, info->first_ecb + e, strsize);
        cost.steps = one.steps > cost.steps ? one.steps : cost.steps;
        cost.record = one.record > cost.record ? one.record : cost.record;
    }
    return cost;
}

/* Clauses of the same description fire together. */
static bool is_first_of_its_description(const struct command *c, unsigned clause)
{
    const char *description = dt_session_clause(c->session, clause)->description;

    for (unsigned i = 0; i < clause; i++) {
        if (strcmp(dt_session_clause(c->session, i)->description, description) == 0) {
            return false;
        }
    }
    return true;
}

/* Returns the weights of the target's machine. Steps, where its instructions are not known. */
static const struct dtrace_weights *weights_of(const struct command *c, const char **machine)
{
    const struct dt_model *model = c->target->ops->model(c->target);

    if (model == &dt_model_ilp32_arm || model == &dt_model_lp64_arm) {
        *machine = model == &dt_model_lp64_arm ? " of AArch64" : " of Cortex-M4";
        return model == &dt_model_lp64_arm ? &dtrace_weights_a64 : &dtrace_weights_m4;
    }
    *machine = "";
    return &dtrace_weights_steps;
}

/* Prints the bound that a target compares with its dtrace_max_cost: of the clauses of one
 * description; other descriptions may match the same probe. */
static void firing_cost(const struct command *c, const void *image, unsigned clause)
{
    const struct dt_clause_info *first = dt_session_clause(c->session, clause);
    const char *machine;
    struct dtrace_bounding by = {.weights = weights_of(c, &machine),
                                 .strsize = (uint32_t)dtrace_option(c->session, "strsize"),
                                 .logs = dt_option_on(c->session, "log")};
    uint64_t sum = 0;
    unsigned n = 0;

    by.error = dtrace_error_bound(image, &by);
    for (unsigned i = clause; i < dt_session_clauses(c->session); i++) {
        const struct dt_clause_info *info = dt_session_clause(c->session, i);
        uint64_t most = 0;
        if (strcmp(info->description, first->description) != 0) {
            continue;
        }
        for (uint32_t e = 0; e < info->necbs; e++) {
            uint64_t one = dtrace_ecb_bound(image, info->first_ecb + e, &by);
            most = one > most ? one : most;
        }
        sum = sum + most < sum ? UINT64_MAX : sum + most;
        n++;
    }
    sum = dtrace_firing_bound(by.weights, sum);
    fprintf(c->out, "Firing of %s: ", first->description);
    if (sum == UINT64_MAX) {
        fprintf(c->out, "no bound in %u clause%s\n", n, n == 1 ? "" : "s");
        return;
    }
    fprintf(c->out, "at most %llu %s%s in %u clause%s, faults included\n", (unsigned long long)sum,
            dtrace_weights_unit(by.weights), machine, n, n == 1 ? "" : "s");
}

void command_costs(struct command *c, const void *image)
{
    for (unsigned i = 0; i < dt_session_clauses(c->session); i++) {
        const struct dt_clause_info *info = dt_session_clause(c->session, i);
        struct dtrace_cost cost = cost_of(c, image, info);
        fprintf(c->out,
                "Clause at line %u (%s): at most %llu DIF instructions, %u bytes recorded\n",
                info->line, info->description, (unsigned long long)cost.steps, cost.record);
    }
    for (unsigned i = 0; i < dt_session_clauses(c->session); i++) {
        if (is_first_of_its_description(c, i)) {
            firing_cost(c, image, i);
        }
    }
}

bool command_affordable(struct command *c, const void *image)
{
    uint64_t most = dtrace_option(c->session, "maxinsns");

    for (unsigned i = 0; i < dt_session_clauses(c->session); i++) {
        const struct dt_clause_info *info = dt_session_clause(c->session, i);
        struct dtrace_cost cost = cost_of(c, image, info);
        if (most != DT_OPTION_UNSET && cost.steps > most) {
            fprintf(stderr,
                    "dtrace: could not enable tracing: clause at line %u (%s) may take %llu DIF "
                    "instructions, maxinsns allows %llu\n",
                    info->line, info->description, (unsigned long long)cost.steps,
                    (unsigned long long)most);
            return false;
        }
    }
    return true;
}

/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Checks an action's requirements for its clause and its arguments. All failures end the
 * compilation with dtrace(1M)'s tag.
 */
#include "host/dt/check/check.h"
#include "host/dt/clause/action.h"

#include <string.h>

static const char *first_problem(const struct dt_clause *c, enum dt_action_name what, bool records)
{
    if (what == DT_DO_SPECULATE) {
        return c->speculates ? "D_SPEC_SPEC"
               : c->commits  ? "D_SPEC_COMM"
               : c->records  ? "D_SPEC_DREC"
                             : NULL;
    }
    if (what == DT_DO_COMMIT) {
        return c->commits ? "D_COMM_COMM" : c->records ? "D_COMM_DREC" : NULL;
    }
    if (records && c->commits) {
        return "D_DREC_COMM";
    }
    return what == DT_DO_EXIT && c->speculates ? "D_EXIT_SPEC" : NULL;
}

static const char *problem_text(const char *tag)
{
    static const struct {
        const char *tag, *text;
    } rows[] = {
        {"D_SPEC_SPEC", "speculate( ) may not follow speculate( )"},
        {"D_SPEC_COMM", "speculate( ) may not follow commit( )"},
        {"D_SPEC_DREC", "speculate( ) may not follow data-recording action(s)"},
        {"D_COMM_COMM", "commit( ) may not follow commit( )"},
        {"D_COMM_DREC", "commit( ) may not follow data-recording action(s)"},
        {"D_DREC_COMM", "data-recording actions may not follow commit( )"},
        {"D_EXIT_SPEC", "exit( ) may not follow speculate( )"},
    };
    unsigned i = 0;

    while (strcmp(rows[i].tag, tag) != 0) {
        i++;
    }
    return rows[i].text;
}

void dt_action_check_order(struct dt_session *d, struct dt_clause *c, const struct dt_node *call,
                           enum dt_action_name what, bool records)
{
    const char *problem = first_problem(c, what, records);

    if (problem) {
        dt_fail(d, call->location, problem, "%s", problem_text(problem));
    }
    c->records |= records;
    c->speculates |= what == DT_DO_SPECULATE;
    c->commits |= what == DT_DO_COMMIT;
    c->exits |= what == DT_DO_EXIT;
}

void dt_action_not_speculative(struct dt_session *d, const struct dt_clause *c,
                               const struct dt_node *call)
{
    if (c->speculates) {
        dt_fail(d, call->location, "D_ACT_SPEC", "destructive actions may not follow speculate( )");
    }
}

void dt_action_destructive(struct dt_session *d, struct dt_clause *c, const struct dt_node *call)
{
    dt_action_not_speculative(d, c, call);
    c->destructive = true;
}

void dt_action_check_args(struct dt_session *d, struct dt_node *call)
{
    for (struct dt_node *arg = call->args; arg; arg = arg->next) {
        dt_check_expression(d, arg);
    }
}

void dt_action_want(struct dt_session *d, const struct dt_node *call, bool ok, const char *tag,
                    const char *what)
{
    if (!ok) {
        dt_fail(d, call->location, tag, "%s( ) %s", call->text, what);
    }
}

void dt_action_want_count(struct dt_session *d, const struct dt_node *call, unsigned least,
                          unsigned most, const char *tag)
{
    unsigned n = dt_list_length(call->args);

    if (n < least || n > most) {
        bool stack = strcmp(tag, "D_STACK_PROTO") == 0 || strcmp(tag, "D_USTACK_PROTO") == 0;

        dt_action_want(d, call, false, tag,
                       stack ? "prototype mismatch: too many arguments"
                             : dt_mismatch_text(d, n, "arg", least, most));
    }
}

void dt_action_want_type(struct dt_session *d, const struct dt_node *call,
                         const struct dt_node *arg, bool ok, const char *tag, const char *prototype)
{
    unsigned number = dt_list_length(call->args) - dt_list_length(arg) + 1;

    if (!ok) {
        dt_fail(d, call->location, tag,
                "%s( ) argument #%u is incompatible with prototype:\n"
                "\tprototype: %s\n\t argument: %s",
                call->text, number, prototype, dt_value_text(d, arg));
    }
}

bool dt_action_is_address(const struct dt_node *n)
{
    return dt_type_is_pointer(n->type) || dt_type_is_integer(n->type);
}

uint64_t dt_action_constant(struct dt_session *d, const struct dt_node *call,
                            const struct dt_node *arg, const char *tag, bool zero_ok)
{
    bool ok = arg->kind == DT_NODE_INT && dt_type_is_integer(arg->type) &&
              (int64_t)arg->value >= !zero_ok && arg->value <= INT32_MAX;

    dt_action_want(d, call, ok, tag,
                   strcmp(tag, "D_USTACK_FRAMES") == 0
                       ? "argument #1 must be a non-zero positive integer constant"
                   : strcmp(tag, "D_USTACK_STRSIZE") == 0
                       ? "argument #2 must be a positive integer constant"
                   : strcmp(tag, "D_TRACEMEM_SIZE") == 0
                       ? "argument #2 must be a non-zero positive integral constant expression"
                       : "size must be a non-zero positive integral constant expression");
    return arg->value;
}

/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What an action asks of its clause and of its arguments. All fail the compilation with the tag
 * that dtrace(1M) has for it.
 */
#include "host/d/action.h"

#include <string.h>

static const char *first_problem(const struct d_clause *c, enum d_action_name what, bool records)
{
    if (what == D_DO_SPECULATE) {
        return c->speculates ? "D_SPEC_SPEC"
               : c->commits  ? "D_SPEC_COMM"
               : c->records  ? "D_SPEC_DREC"
                             : NULL;
    }
    if (what == D_DO_COMMIT) {
        return c->commits ? "D_COMM_COMM" : c->records ? "D_COMM_DREC" : NULL;
    }
    if (records && c->commits) {
        return "D_DREC_COMM";
    }
    return what == D_DO_EXIT && c->speculates ? "D_EXIT_SPEC" : NULL;
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

void d_action_check_order(struct d_session *d, struct d_clause *c, const struct d_node *call,
                          enum d_action_name what, bool records)
{
    const char *problem = first_problem(c, what, records);

    if (problem) {
        d_fail(d, call->place, problem, "%s", problem_text(problem));
    }
    c->records |= records;
    c->speculates |= what == D_DO_SPECULATE;
    c->commits |= what == D_DO_COMMIT;
    c->exits |= what == D_DO_EXIT;
}

void d_action_not_speculative(struct d_session *d, const struct d_clause *c,
                              const struct d_node *call)
{
    if (c->speculates) {
        d_fail(d, call->place, "D_ACT_SPEC", "destructive actions may not follow speculate( )");
    }
}

void d_action_destructive(struct d_session *d, struct d_clause *c, const struct d_node *call)
{
    d_action_not_speculative(d, c, call);
    c->destructive = true;
}

void d_action_check_args(struct d_session *d, struct d_node *call)
{
    for (struct d_node *arg = call->args; arg; arg = arg->next) {
        d_check_expression(d, arg);
    }
}

void d_action_want(struct d_session *d, const struct d_node *call, bool ok, const char *tag,
                   const char *what)
{
    if (!ok) {
        d_fail(d, call->place, tag, "%s( ) %s", call->text, what);
    }
}

void d_action_want_count(struct d_session *d, const struct d_node *call, unsigned least,
                         unsigned most, const char *tag)
{
    unsigned n = d_list_length(call->args);

    if (n < least || n > most) {
        bool stack = strcmp(tag, "D_STACK_PROTO") == 0 || strcmp(tag, "D_USTACK_PROTO") == 0;

        d_action_want(d, call, false, tag,
                      stack ? "prototype mismatch: too many arguments"
                            : d_mismatch_text(d, n, "arg", least, most));
    }
}

void d_action_want_type(struct d_session *d, const struct d_node *call, const struct d_node *arg,
                        bool ok, const char *tag, const char *prototype)
{
    unsigned number = d_list_length(call->args) - d_list_length(arg) + 1;

    if (!ok) {
        d_fail(d, call->place, tag,
               "%s( ) argument #%u is incompatible with prototype:\n"
               "\tprototype: %s\n\t argument: %s",
               call->text, number, prototype, d_value_text(d, arg));
    }
}

bool d_action_is_address(const struct d_node *n)
{
    return d_type_is_pointer(n->type) || d_type_is_integer(n->type);
}

uint64_t d_action_constant(struct d_session *d, const struct d_node *call, const struct d_node *arg,
                           const char *tag, bool zero_ok)
{
    bool ok = arg->kind == D_NODE_INT && d_type_is_integer(arg->type) &&
              (int64_t)arg->value >= !zero_ok && arg->value <= INT32_MAX;

    d_action_want(d, call, ok, tag,
                  strcmp(tag, "D_USTACK_FRAMES") == 0
                      ? "argument #1 must be a non-zero positive integer constant"
                  : strcmp(tag, "D_USTACK_STRSIZE") == 0
                      ? "argument #2 must be a positive integer constant"
                  : strcmp(tag, "D_TRACEMEM_SIZE") == 0
                      ? "argument #2 must be a non-zero positive integral constant expression"
                      : "size must be a non-zero positive integral constant expression");
    return arg->value;
}

/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * -x tree: the syntax tree of each clause on standard error, as parsed (bit 0) and as checked, with
 * types and constants folded (bit 1). For developers of the compiler.
 */
#include "host/dt/tree/ast.h"

#include <stdio.h>
#include <string.h>

static void show_print_list(struct dt_session *d, const struct dt_node *n, const char *what,
                            unsigned depth);

static const char *kind_text(enum dt_node_kind kind)
{
    static const char *const texts[] = {
        [DT_NODE_INT] = "INT",
        [DT_NODE_STRING] = "STRING",
        [DT_NODE_NAME] = "NAME",
        [DT_NODE_IDENT] = "IDENT",
        [DT_NODE_CALL] = "CALL",
        [DT_NODE_TYPE] = "TYPE",
        [DT_NODE_UNARY] = "UNARY",
        [DT_NODE_BINARY] = "BINARY",
        [DT_NODE_TERNARY] = "TERNARY",
        [DT_NODE_CAST] = "CAST",
        [DT_NODE_SIZEOF] = "SIZEOF",
        [DT_NODE_OFFSETOF] = "OFFSETOF",
        [DT_NODE_STRINGOF] = "STRINGOF",
        [DT_NODE_XLATE] = "XLATE",
        [DT_NODE_MEMBER] = "MEMBER",
        [DT_NODE_AGG] = "AGGREGATION",
        [DT_NODE_EXPR_STATEMENT] = "STATEMENT",
        [DT_NODE_IF] = "IF",
        [DT_NODE_PROBE] = "PROBE",
        [DT_NODE_CLAUSE] = "CLAUSE",
        [DT_NODE_INLINE_DEFINITION] = "INLINE",
        [DT_NODE_TRANSLATOR] = "TRANSLATOR",
    };

    return texts[kind];
}

static void show_print_head(struct dt_session *d, const struct dt_node *n)
{
    fputs(kind_text(n->kind), stderr);
    if (n->kind == DT_NODE_UNARY || n->kind == DT_NODE_BINARY) {
        fprintf(stderr, " %s", dt_operator_text(n->op));
    } else if (n->kind == DT_NODE_INT) {
        fprintf(stderr, " %lld", (long long)n->value);
    } else if (n->kind == DT_NODE_STRING) {
        fprintf(stderr, " \"%s\"", n->text);
    } else if (n->kind == DT_NODE_PROBE && n->probe_id) {
        fprintf(stderr, " %u", n->probe_id);
    } else if (n->kind == DT_NODE_PROBE) {
        fprintf(stderr, " %s:%s:%s:%s", n->provider, n->module, n->function, n->probe_name);
    } else if (n->text) {
        const char *scope = n->scope ? n->scope : "";
        bool of_thread = strcmp(scope, "this") == 0 || strcmp(scope, "self") == 0;

        fprintf(stderr, " %s%s%s", scope, of_thread ? "->" : n->scope ? "`" : "", n->text);
    }
    if (n->type) {
        fprintf(stderr, " (%s)", dt_type_full_text(d, n->type));
    }
    putc('\n', stderr);
}

static void print_node(struct dt_session *d, const struct dt_node *n, const char *what,
                       unsigned depth)
{
    fprintf(stderr, "%*s%s", (int)depth * 2, "", what);
    show_print_head(d, n);
    show_print_list(d, n->probes, "", depth + 1);
    show_print_list(d, n->args, "argument ", depth + 1);
    show_print_list(d, n->left, n->kind == DT_NODE_CLAUSE ? "predicate " : "", depth + 1);
    show_print_list(d, n->right, "", depth + 1);
    show_print_list(d, n->third, "", depth + 1);
    show_print_list(d, n->body, "", depth + 1);
    show_print_list(d, n->otherwise, "else ", depth + 1);
}

static void show_print_list(struct dt_session *d, const struct dt_node *n, const char *what,
                            unsigned depth)
{
    for (; n; n = n->next) {
        print_node(d, n, what, depth);
    }
}

void dt_tree_show(struct dt_session *d, const struct dt_node *clause, unsigned pass)
{
    uint64_t wanted = dtrace_option(d, "tree");

    if (wanted != DT_OPTION_UNSET && (wanted >> pass & 1)) {
        fprintf(stderr, "\nParse tree (%s):\n", pass ? "checked" : "as read");
        print_node(d, clause, "", 0);
    }
}

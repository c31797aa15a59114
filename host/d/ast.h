/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The syntax tree. The parser (grammar.y) builds it, check.c gives every node its type and meaning
 * (D's word is to "cook" it) and folds constants, codegen.c makes DIF of it. Nodes live as long as
 * the session. Internal to host/d.
 */
#ifndef HOST_D_AST_H
#define HOST_D_AST_H

#include "host/d/ident.h"

enum d_node_kind {
    D_NODE_INT,     /* value; type says signedness and size */
    D_NODE_STRING,  /* text */
    D_NODE_NAME,    /* text (scope: what comes before the backquote): not yet looked up */
    D_NODE_IDENT,   /* ident; args: keys or indices, if it has any */
    D_NODE_CALL,    /* ident, args: a subroutine, action or aggregating function */
    D_NODE_TYPE,    /* a type where an expression may stand: sizeof(int), xlate, offsetof */
    D_NODE_UNARY,   /* op, left */
    D_NODE_BINARY,  /* op, left, right; also = op= , . -> [] */
    D_NODE_TERNARY, /* left ? right : third */
    D_NODE_CAST,    /* type, left */
    D_NODE_SIZEOF,
    D_NODE_OFFSETOF,
    D_NODE_STRINGOF,
    D_NODE_XLATE,          /* type, left */
    D_NODE_MEMBER,         /* of a translator: text = name, left = expression */
    D_NODE_AGG,            /* ident (AGG), args: keys, left: the function's call or NULL */
    D_NODE_EXPR_STATEMENT, /* left */
    D_NODE_IF,             /* left: condition; body, otherwise */
    D_NODE_PROBE,          /* a probe description */
    D_NODE_CLAUSE,         /* probes, predicate (left), body */
    D_NODE_INLINE_DEFINITION,
    D_NODE_TRANSLATOR,
};

/* Operators that are no single character. */
enum d_operator {
    D_OP_EQ = 256,
    D_OP_NE,
    D_OP_LE,
    D_OP_GE,
    D_OP_SHL,
    D_OP_SHR,
    D_OP_ANDAND,
    D_OP_OROR,
    D_OP_XORXOR,
    D_OP_ADD_SET,
    D_OP_SUB_SET,
    D_OP_MUL_SET,
    D_OP_DIV_SET,
    D_OP_MOD_SET,
    D_OP_AND_SET,
    D_OP_OR_SET,
    D_OP_XOR_SET,
    D_OP_SHL_SET,
    D_OP_SHR_SET,
    D_OP_PREINC,
    D_OP_PREDEC,
    D_OP_POSTINC,
    D_OP_POSTDEC,
    D_OP_ARROW,
    D_OP_INDEX,
    D_OP_PLUS,
    D_OP_MINUS,
    D_OP_DEREF,
    D_OP_ADDRESS,
};

struct d_place { /* where in the source */
    const char *file;
    unsigned line, column;
};

struct d_node {
    enum d_node_kind kind;
    int op; /* a character, or enum d_operator */
    struct d_place place;
    struct d_node *next; /* in a list: statements, arguments, clauses, members */
    unsigned depth;      /* of the tree below it; the parser's limit */

    /* set by check.c */
    const struct d_type *type;
    bool is_cooked;                       /* CAST, XLATE: they have a type before they are cooked */
    bool is_ref;                          /* by reference: a register holds its address */
    bool is_lvalue, is_writable, is_user; /* user: the address is of the current process */
    bool is_constant;                     /* an integer constant expression: value */
    struct d_attributes_short attributes;

    uint64_t value;
    const char *text, *scope;
    struct d_ident *ident;
    struct d_node *left, *right, *third;
    struct d_node *args;
    struct d_node *body, *otherwise;
    struct d_node *probes;                                 /* CLAUSE */
    const char *provider, *module, *function, *probe_name; /* PROBE */
    uint32_t probe_id;                                     /* PROBE: a number alone */
    const struct d_member *member;                         /* . and ->: which */
    uint64_t bit_offset;
    struct d_translator *translator; /* XLATE, and . and -> on its result */
};

struct d_node *d_node_new(struct d_session *, enum d_node_kind, struct d_place);

#endif

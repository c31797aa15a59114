/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The syntax tree. syntax/ builds it, check/ gives every node its type and meaning (D's word is to
 * "cook" it) and folds constants, code/ makes DIF of it. Nodes live as long as
 * the session. Internal to host/dt.
 */
#ifndef HOST_DT_TREE_AST_H
#define HOST_DT_TREE_AST_H

#include "host/dt/tree/ident.h"

enum dt_node_kind {
    DT_NODE_INT,     /* value; type says signedness and size */
    DT_NODE_STRING,  /* text */
    DT_NODE_NAME,    /* text (scope: what comes before the backquote): not yet looked up */
    DT_NODE_IDENT,   /* ident; args: keys or indices, if it has any */
    DT_NODE_CALL,    /* ident, args: a subroutine, action or aggregating function */
    DT_NODE_TYPE,    /* a type where an expression may stand: sizeof(int), xlate, offsetof */
    DT_NODE_UNARY,   /* op, left */
    DT_NODE_BINARY,  /* op, left, right; also = op= , . -> [] */
    DT_NODE_TERNARY, /* left ? right : third */
    DT_NODE_CAST,    /* type, left */
    DT_NODE_SIZEOF,
    DT_NODE_OFFSETOF,
    DT_NODE_STRINGOF,
    DT_NODE_XLATE,          /* type, left */
    DT_NODE_MEMBER,         /* of a translator: text = name, left = expression */
    DT_NODE_AGG,            /* ident (AGG), args: keys, left: the function's call or NULL */
    DT_NODE_EXPR_STATEMENT, /* left */
    DT_NODE_IF,             /* left: condition; body, otherwise */
    DT_NODE_PROBE,          /* a probe description */
    DT_NODE_CLAUSE,         /* probes, predicate (left), body */
    DT_NODE_INLINE_DEFINITION,
    DT_NODE_TRANSLATOR,
};

/* Operators that are no single character. */
enum dt_operator {
    DT_OP_EQ = 256,
    DT_OP_NE,
    DT_OP_LE,
    DT_OP_GE,
    DT_OP_SHL,
    DT_OP_SHR,
    DT_OP_ANDAND,
    DT_OP_OROR,
    DT_OP_XORXOR,
    DT_OP_ADD_SET,
    DT_OP_SUB_SET,
    DT_OP_MUL_SET,
    DT_OP_DIV_SET,
    DT_OP_MOD_SET,
    DT_OP_AND_SET,
    DT_OP_OR_SET,
    DT_OP_XOR_SET,
    DT_OP_SHL_SET,
    DT_OP_SHR_SET,
    DT_OP_PREINC,
    DT_OP_PREDEC,
    DT_OP_POSTINC,
    DT_OP_POSTDEC,
    DT_OP_ARROW,
    DT_OP_INDEX,
    DT_OP_PLUS,
    DT_OP_MINUS,
    DT_OP_DEREF,
    DT_OP_ADDRESS,
};

struct dt_node {
    enum dt_node_kind kind;
    int op; /* a character, or enum dt_operator */
    struct dt_location location;
    struct dt_node *next; /* in a list: statements, arguments, clauses, members */
    unsigned depth;       /* of the tree below it; the parser's limit */

    /* set by check.c */
    const struct dt_type *type;
    bool is_cooked;                       /* CAST, XLATE: they have a type before they are cooked */
    bool is_ref;                          /* by reference: a register holds its address */
    bool is_lvalue, is_writable, is_user; /* user: the address is of the current process */
    bool is_constant;                     /* an integer constant expression: value */
    /* INT, STRING, PROBE: names $target, which is several processes. A copy has the number of the
     * one for which the session compiles. */
    bool is_target;
    struct dt_attributes_short attributes;

    uint64_t value;
    const char *text, *scope;
    struct dt_ident *ident;
    struct dt_node *left, *right, *third;
    struct dt_node *args;
    struct dt_node *body, *otherwise;
    struct dt_node *probes;                                /* CLAUSE */
    const char *provider, *module, *function, *probe_name; /* PROBE */
    uint32_t probe_id;                                     /* PROBE: a number alone */
    const struct dt_member *member;                        /* . and ->: which */
    uint64_t bit_offset;
    struct dt_translator *translator; /* XLATE, and . and -> on its result */
};

struct dt_member_value { /* of a translator: member = expression; */
    const char *name;
    struct dt_node *value;
    struct dt_location location;
    struct dt_member_value *next;
};
struct dt_translator { /* translator OUTPUT < INPUT name > { members }; */
    const struct dt_type *output, *input;
    const char *input_name;
    struct dt_ident *input_ident; /* XLATOR: what input_name means inside it */
    struct dt_member_value *members;
    struct dt_location location;
    struct dt_translator *next;
};

struct dt_node *dt_node_new(struct dt_session *, enum dt_node_kind, struct dt_location);
/* An operator with two operands, at the left one's location. */
struct dt_node *dt_node_operator(struct dt_session *, int op, struct dt_node *left,
                                 struct dt_node *right);
struct dt_node *dt_node_int(struct dt_session *, struct dt_location, int64_t,
                            const struct dt_type *);
struct dt_node *dt_node_cast(struct dt_session *, struct dt_node *, const struct dt_type *);
/* Sets the type of a node, and whether its value is an address. */
void dt_set_type(struct dt_node *, const struct dt_type *);
unsigned dt_list_length(const struct dt_node *);
/* Return a deep copy, in which the name is replaced by copies of `with` (NULL: nothing is). */
struct dt_node *dt_copy(struct dt_session *, const struct dt_node *, const char *name,
                        const struct dt_node *with);
struct dt_node *dt_copy_list(struct dt_session *, const struct dt_node *, const char *name,
                             const struct dt_node *with);
/* Turns the node into another one, in place. */
void dt_become(struct dt_node *, const struct dt_node *);
const char *dt_operator_text(int op);
/* Shows the tree of a clause, for -x tree. pass: 0 as read, 1 as checked. */
void dt_tree_show(struct dt_session *, const struct dt_node *clause, unsigned pass);

#endif

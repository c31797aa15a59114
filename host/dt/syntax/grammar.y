/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * D's grammar. Declarations take effect while they are parsed (a typedef is a type for the very
 * next token), so rules that change what a name means end where bison needs no token ahead.
 */
%define api.pure full
%define api.prefix {dt_yy}
%define api.location.type {struct dt_location}
%define parse.error verbose
%locations
%parse-param {struct dt_parse *p}
%lex-param {struct dt_parse *p}
%expect 1 /* if if else */

%code requires {
#include "host/dt/syntax/lexer.h"
}

%code {

#define YYLLOC_DEFAULT(current, rhs, n) ((current) = (n) ? YYRHSLOC(rhs, 1) : YYRHSLOC(rhs, 0))
#define YYMAXDEPTH 4000
#define YYMALLOC(size) dt_alloc(p->session, size)
#define YYFREE(memory) ((void)(memory))

static int dt_yylex(union DT_YYSTYPE *value, struct dt_location *location, struct dt_parse *p);
static void dt_yyerror(struct dt_location *location, struct dt_parse *p, const char *text);

static struct dt_nodes one(struct dt_node *n)
{
    return (struct dt_nodes){n, n};
}

static struct dt_nodes append(struct dt_nodes list, struct dt_node *n)
{
    if (!n) {
        return list;
    }
    if (!list.first) {
        return one(n);
    }
    list.last->next = n;
    list.last = n;
    return list;
}
}

%union {
    struct dt_node *node;
    struct dt_nodes nodes;
    const char *text;
    int op;
    unsigned flags;
    const struct dt_type *type;
    struct dt_declarator *declarator;
    struct dt_parameters *parameters;
    struct dt_ident *ident;
    struct dt_translator *translator;
}

%token END 0 "the end"
%token <text> PROBE NAME TYPE_NAME AGGREGATION
%token <node> INTEGER STRING
%token <op> SET
%token PREDICATE_END RESERVED
%token AUTO REGISTER STATIC EXTERN TYPEDEF SELF THIS
%token CONST VOLATILE RESTRICT SIGNED UNSIGNED SHORT LONG
%token VOID CHAR INT FLOAT DOUBLE STRING_TYPE STRUCT UNION ENUM
%token INLINE TRANSLATOR XLATE SIZEOF OFFSETOF STRINGOF IF ELSE
%token INCREMENT DECREMENT ARROW ELLIPSIS
%token EQ NE LE GE SHL SHR ANDAND OROR XORXOR

%type <text> any_name
%type <flags> qualifiers qualifier
%type <op> tag_kind
%type <type> struct_type enum_type type_name
%type <declarator> declarator direct abstract direct_abstract
%type <parameters> parameters parameter_list
%type <ident> inline_begin
%type <translator> translator_begin
%type <node> probe predicate constant
%type <nodes> probes statements closed_statements branch arguments
%type <node> closed_statement open_statement
%type <node> expression assignment conditional binary cast unary postfix primary

%left OROR
%left XORXOR
%left ANDAND
%left '|'
%left '^'
%left '&'
%left EQ NE
%left '<' '>' LE GE
%left SHL SHR
%left '+' '-'
%left '*' '/' '%'

%%

program: items;

items:
    %empty
    | items item { p->items++; }
    ;

item: clause | declaration | inline | translator;

/* ---- clauses ----------------------------------------------------------------------- */

clause:
    probes '{' statements '}' { dt_clause_end(p, @1, $1.first, NULL, $3.first); }
    | probes '/' predicate '{' statements '}' { dt_clause_end(p, @1, $1.first, $3, $5.first); }
    | probes {
        if (!p->source->is_description) {
            dt_fail(p->session, @1, "D_SYNTAX",
                    "expected predicate and/or actions following probe description");
        }
        dt_clause_end(p, @1, $1.first, NULL, NULL);
    }
    ;

predicate: expression PREDICATE_END;

probes:
    probe { $$ = one($1); }
    | probes ',' probe { $$ = append($1, $3); }
    ;

probe:
    PROBE { $$ = dt_probe_by_text(p, @1, $1); }
    | INTEGER { $$ = dt_probe_by_id(p, @1, $1->value); }
    ;

/* ---- statements: the last one needs no ; ------------------------------------------- */

statements:
    closed_statements
    | closed_statements open_statement { $$ = append($1, $2); }
    ;

closed_statements:
    %empty { $$ = (struct dt_nodes){NULL, NULL}; }
    | closed_statements closed_statement { $$ = append($1, $2); }
    ;

closed_statement:
    ';' { $$ = NULL; }
    | expression ';' { $$ = dt_node_with(p, DT_NODE_EXPR_STATEMENT, @1, $1); }
    | IF '(' expression ')' branch { $$ = dt_node_if(p, @1, $3, $5.first, NULL); }
    | IF '(' expression ')' branch ELSE branch {
        $$ = dt_node_if(p, @1, $3, $5.first, $7.first);
    }
    ;

branch:
    closed_statement { $$ = one($1); }
    | '{' statements '}' { $$ = $2; }
    ;

open_statement:
    expression { $$ = dt_node_with(p, DT_NODE_EXPR_STATEMENT, @1, $1); }
    | IF '(' expression ')' open_statement { $$ = dt_node_if(p, @1, $3, $5, NULL); }
    | IF '(' expression ')' branch ELSE open_statement {
        $$ = dt_node_if(p, @1, $3, $5.first, $7);
    }
    ;

/* ---- declarations ------------------------------------------------------------------ */

declaration:
    specifiers ';' { dt_declare_nothing(p, @1); dt_specs_end(p); }
    | specifiers declared ';' { dt_specs_end(p); }
    ;

declared:
    declarator { dt_declare(p, $1); }
    | declared ',' declarator { dt_declare(p, $3); }
    ;

specifiers: specifier | specifiers specifier;

specifier:
    AUTO { dt_spec_storage(p, @1, DT_STORAGE_AUTO); }
    | REGISTER { dt_spec_storage(p, @1, DT_STORAGE_REGISTER); }
    | STATIC { dt_spec_storage(p, @1, DT_STORAGE_STATIC); }
    | EXTERN { dt_spec_storage(p, @1, DT_STORAGE_EXTERN); }
    | TYPEDEF { dt_spec_storage(p, @1, DT_STORAGE_TYPEDEF); }
    | SELF { dt_spec_storage(p, @1, DT_STORAGE_SELF); }
    | THIS { dt_spec_storage(p, @1, DT_STORAGE_THIS); }
    | qualifier { dt_spec_flag(p, @1, $1); }
    | SIGNED { dt_spec_flag(p, @1, DT_SPEC_SIGNED); }
    | UNSIGNED { dt_spec_flag(p, @1, DT_SPEC_UNSIGNED); }
    | SHORT { dt_spec_flag(p, @1, DT_SPEC_SHORT); }
    | LONG { dt_spec_flag(p, @1, DT_SPEC_LONG); }
    | VOID { dt_spec_base(p, @1, DT_BASE_VOID, NULL, false); }
    | CHAR { dt_spec_base(p, @1, DT_BASE_CHAR, NULL, false); }
    | INT { dt_spec_base(p, @1, DT_BASE_INT, NULL, false); }
    | FLOAT { dt_spec_base(p, @1, DT_BASE_FLOAT, NULL, false); }
    | DOUBLE { dt_spec_base(p, @1, DT_BASE_DOUBLE, NULL, false); }
    | STRING_TYPE { dt_spec_base(p, @1, DT_BASE_TYPE, p->session->string, false); }
    | TYPE_NAME { dt_spec_named(p, @1, $1); }
    | struct_type { dt_spec_base(p, @1, DT_BASE_TYPE, $1, true); }
    | enum_type { dt_spec_base(p, @1, DT_BASE_TYPE, $1, true); }
    ;

qualifier:
    CONST { $$ = DT_SPEC_CONST; }
    | VOLATILE { $$ = DT_SPEC_VOLATILE; }
    | RESTRICT { $$ = DT_SPEC_RESTRICT; }
    ;

qualifiers:
    %empty { $$ = 0; }
    | qualifiers qualifier { $$ = $1 | $2; }
    ;

tag_kind:
    STRUCT { $$ = DT_TYPE_STRUCT; }
    | UNION { $$ = DT_TYPE_UNION; }
    ;

struct_type:
    tag_kind NAME { $$ = dt_struct_by_tag(p, @2, (enum dt_type_kind)$1, $2); }
    | tag_kind NAME '{' { dt_struct_begin(p, @2, (enum dt_type_kind)$1, $2); } members '}' {
        $$ = dt_struct_end(p);
    }
    | tag_kind '{' { dt_struct_begin(p, @1, (enum dt_type_kind)$1, NULL); } members '}' {
        $$ = dt_struct_end(p);
    }
    ;

members: %empty | members member;

member:
    specifiers ';' { dt_struct_anonymous(p, @1); dt_specs_end(p); }
    | specifiers member_list ';' { dt_specs_end(p); }
    ;

member_list: member_declarator | member_list ',' member_declarator;

member_declarator:
    declarator { dt_struct_member(p, $1->location, $1, NULL); }
    | declarator ':' push constant { dt_scope_pop(p); dt_struct_member(p, $1->location, $1, $4); }
    | ':' push constant { dt_scope_pop(p); dt_struct_member(p, @1, NULL, $3); }
    ;

enum_type:
    ENUM NAME { $$ = dt_struct_by_tag(p, @2, DT_TYPE_ENUM, $2); }
    | ENUM NAME '{' { dt_enum_begin(p, @2, $2); } enumerators '}' { $$ = dt_enum_end(p); }
    | ENUM '{' { dt_enum_begin(p, @1, NULL); } enumerators '}' { $$ = dt_enum_end(p); }
    ;

enumerators: enumerator | enumerators ',' enumerator;

enumerator:
    any_name { dt_enumerator_add(p, @1, $1, NULL); }
    | any_name '=' constant { dt_enumerator_add(p, @1, $1, $3); }
    ;

any_name: NAME | TYPE_NAME;

declarator:
    direct
    | '*' qualifiers declarator { $$ = $3; dt_declarator_pointer(p, $$, @1, $2); }
    ;

push: %empty { dt_scope_push(p); };

direct:
    NAME { $$ = dt_declarator_new(p, @1, $1); }
    | '(' declarator ')' { $$ = $2; }
    | direct '[' push ']' {
        dt_scope_pop(p);
        dt_declarator_array(p, $$ = $1, @2, NULL, NULL);
    }
    | direct '[' push constant ']' {
        dt_scope_pop(p);
        dt_declarator_array(p, $$ = $1, @2, $4, NULL);
    }
    | direct '[' push parameters ']' {
        dt_scope_pop(p);
        dt_declarator_array(p, $$ = $1, @2, NULL, $4);
    }
    | direct '(' push ')' {
        dt_scope_pop(p);
        dt_declarator_function(p, $$ = $1, @2, dt_parameters_new(p));
    }
    | direct '(' push parameters ')' {
        dt_scope_pop(p);
        dt_declarator_function(p, $$ = $1, @2, $4);
    }
    ;

abstract:
    direct_abstract
    | '*' qualifiers {
        $$ = dt_declarator_new(p, @1, NULL);
        dt_declarator_pointer(p, $$, @1, $2);
    }
    | '*' qualifiers abstract { $$ = $3; dt_declarator_pointer(p, $$, @1, $2); }
    ;

direct_abstract:
    '(' abstract ')' { $$ = $2; }
    | '[' push ']' {
        dt_scope_pop(p);
        dt_declarator_array(p, $$ = dt_declarator_new(p, @1, NULL), @1, NULL, NULL);
    }
    | '[' push constant ']' {
        dt_scope_pop(p);
        dt_declarator_array(p, $$ = dt_declarator_new(p, @1, NULL), @1, $3, NULL);
    }
    | direct_abstract '[' push ']' {
        dt_scope_pop(p);
        dt_declarator_array(p, $$ = $1, @2, NULL, NULL);
    }
    | direct_abstract '[' push constant ']' {
        dt_scope_pop(p);
        dt_declarator_array(p, $$ = $1, @2, $4, NULL);
    }
    | '(' push ')' {
        dt_scope_pop(p);
        dt_declarator_function(p, $$ = dt_declarator_new(p, @1, NULL), @1, dt_parameters_new(p));
    }
    | '(' push parameters ')' {
        dt_scope_pop(p);
        dt_declarator_function(p, $$ = dt_declarator_new(p, @1, NULL), @1, $3);
    }
    | direct_abstract '(' push ')' {
        dt_scope_pop(p);
        dt_declarator_function(p, $$ = $1, @2, dt_parameters_new(p));
    }
    | direct_abstract '(' push parameters ')' {
        dt_scope_pop(p);
        dt_declarator_function(p, $$ = $1, @2, $4);
    }
    ;

parameters:
    parameter_list
    | parameter_list ',' ELLIPSIS { $$ = $1; $$->varargs = true; }
    | ELLIPSIS { $$ = dt_parameters_new(p); $$->varargs = true; }
    ;

/* The list is made by its first parameter, after whose specifiers the scope is clear again. */
parameter_list:
    specifiers { $$ = dt_parameters_new(p); dt_parameters_add(p, $$, @1, NULL); }
    | specifiers declarator { $$ = dt_parameters_new(p); dt_parameters_add(p, $$, @1, $2); }
    | specifiers abstract { $$ = dt_parameters_new(p); dt_parameters_add(p, $$, @1, $2); }
    | parameter_list ',' specifiers { dt_parameters_add(p, $$ = $1, @3, NULL); }
    | parameter_list ',' specifiers declarator { dt_parameters_add(p, $$ = $1, @3, $4); }
    | parameter_list ',' specifiers abstract { dt_parameters_add(p, $$ = $1, @3, $4); }
    ;

type_name:
    specifiers { $$ = dt_type_name_end(p, NULL); }
    | specifiers abstract { $$ = dt_type_name_end(p, $2); }
    ;

/* ---- inlines and translators ------------------------------------------------------- */

inline: inline_begin assignment ';' { dt_inline_end(p, $1, $2); };

inline_begin: INLINE specifiers declarator '=' { $$ = dt_inline_begin(p, $3); };

translator: translator_begin translations '}' ';' { dt_translator_end(p, $1); };

translator_begin:
    TRANSLATOR type_name '<' type_name NAME '>' '{' {
        $$ = dt_translator_begin(p, @1, $2, $4, $5);
    }
    ;

translations: %empty | translations translation;

translation:
    any_name '=' assignment ';' {
        dt_translator_member(p, $<translator>-1, @1, $1, $3);
    }
    ;

/* ---- expressions ------------------------------------------------------------------- */

constant: conditional;

expression:
    assignment
    | expression ',' assignment { $$ = dt_node_binary(p, @2, ',', $1, $3); }
    ;

assignment:
    conditional
    | unary '=' assignment { $$ = dt_node_binary(p, @2, '=', $1, $3); }
    | unary SET assignment { $$ = dt_node_binary(p, @2, $2, $1, $3); }
    ;

conditional:
    binary
    | binary '?' expression ':' conditional { $$ = dt_node_ternary(p, @2, $1, $3, $5); }
    ;

binary:
    cast
    | binary OROR binary { $$ = dt_node_binary(p, @2, DT_OP_OROR, $1, $3); }
    | binary XORXOR binary { $$ = dt_node_binary(p, @2, DT_OP_XORXOR, $1, $3); }
    | binary ANDAND binary { $$ = dt_node_binary(p, @2, DT_OP_ANDAND, $1, $3); }
    | binary '|' binary { $$ = dt_node_binary(p, @2, '|', $1, $3); }
    | binary '^' binary { $$ = dt_node_binary(p, @2, '^', $1, $3); }
    | binary '&' binary { $$ = dt_node_binary(p, @2, '&', $1, $3); }
    | binary EQ binary { $$ = dt_node_binary(p, @2, DT_OP_EQ, $1, $3); }
    | binary NE binary { $$ = dt_node_binary(p, @2, DT_OP_NE, $1, $3); }
    | binary '<' binary { $$ = dt_node_binary(p, @2, '<', $1, $3); }
    | binary '>' binary { $$ = dt_node_binary(p, @2, '>', $1, $3); }
    | binary LE binary { $$ = dt_node_binary(p, @2, DT_OP_LE, $1, $3); }
    | binary GE binary { $$ = dt_node_binary(p, @2, DT_OP_GE, $1, $3); }
    | binary SHL binary { $$ = dt_node_binary(p, @2, DT_OP_SHL, $1, $3); }
    | binary SHR binary { $$ = dt_node_binary(p, @2, DT_OP_SHR, $1, $3); }
    | binary '+' binary { $$ = dt_node_binary(p, @2, '+', $1, $3); }
    | binary '-' binary { $$ = dt_node_binary(p, @2, '-', $1, $3); }
    | binary '*' binary { $$ = dt_node_binary(p, @2, '*', $1, $3); }
    | binary '/' binary { $$ = dt_node_binary(p, @2, '/', $1, $3); }
    | binary '%' binary { $$ = dt_node_binary(p, @2, '%', $1, $3); }
    ;

cast:
    unary
    | '(' type_name ')' cast {
        $$ = dt_node_with(p, DT_NODE_CAST, @1, $4);
        $$->type = $2;
    }
    ;

unary:
    postfix
    | INCREMENT unary { $$ = dt_node_unary(p, @1, DT_OP_PREINC, $2); }
    | DECREMENT unary { $$ = dt_node_unary(p, @1, DT_OP_PREDEC, $2); }
    | '&' cast { $$ = dt_node_unary(p, @1, DT_OP_ADDRESS, $2); }
    | '*' cast { $$ = dt_node_unary(p, @1, DT_OP_DEREF, $2); }
    | '+' cast { $$ = dt_node_unary(p, @1, DT_OP_PLUS, $2); }
    | '-' cast { $$ = dt_node_unary(p, @1, DT_OP_MINUS, $2); }
    | '~' cast { $$ = dt_node_unary(p, @1, '~', $2); }
    | '!' cast { $$ = dt_node_unary(p, @1, '!', $2); }
    | SIZEOF unary { $$ = dt_node_with(p, DT_NODE_SIZEOF, @1, $2); }
    | SIZEOF '(' type_name ')' {
        $$ = dt_node_with(p, DT_NODE_SIZEOF, @1, dt_node_new(p->session, DT_NODE_TYPE, @3));
        $$->left->type = $3;
    }
    | STRINGOF unary { $$ = dt_node_with(p, DT_NODE_STRINGOF, @1, $2); }
    ;

postfix:
    primary
    | postfix '[' arguments ']' { $$ = dt_node_index(p, @1, $1, $3.first); }
    | postfix '(' ')' { $$ = dt_node_call(p, @1, $1, NULL); }
    | postfix '(' arguments ')' { $$ = dt_node_call(p, @1, $1, $3.first); }
    | postfix '.' NAME {
        $$ = dt_node_binary(p, @3, '.', $1, NULL);
        $$->text = $3;
    }
    | postfix ARROW NAME {
        $$ = dt_node_binary(p, @3, DT_OP_ARROW, $1, NULL);
        $$->text = $3;
    }
    | postfix INCREMENT { $$ = dt_node_unary(p, @2, DT_OP_POSTINC, $1); }
    | postfix DECREMENT { $$ = dt_node_unary(p, @2, DT_OP_POSTDEC, $1); }
    | OFFSETOF '(' type_name ',' any_name ')' {
        $$ = dt_node_new(p->session, DT_NODE_OFFSETOF, @1);
        $$->type = NULL;
        $$->left = dt_node_new(p->session, DT_NODE_TYPE, @3);
        $$->left->type = $3;
        $$->text = $5;
    }
    | XLATE '<' type_name '>' '(' expression ')' {
        $$ = dt_node_xlate(p, @1, $3, $6);
    }
    ;

primary:
    NAME { $$ = dt_node_name(p, @1, NULL, $1); }
    | SELF ARROW NAME { $$ = dt_node_name(p, @1, "self", $3); }
    | THIS ARROW NAME { $$ = dt_node_name(p, @1, "this", $3); }
    | AGGREGATION {
        $$ = dt_node_new(p->session, DT_NODE_AGG, @1);
        $$->text = $1;
    }
    | INTEGER
    | STRING
    | '(' expression ')' { $$ = $2; }
    ;

arguments:
    assignment { $$ = one($1); }
    | arguments ',' assignment { $$ = append($1, $3); }
    ;

%%

static int dt_yylex(union DT_YYSTYPE *value, struct dt_location *location, struct dt_parse *p)
{
    int before = p->previous;
    int token = dt_lexer_lex(value, location, p->scanner);

    p->after_tag = token == NAME && (before == STRUCT || before == UNION || before == ENUM);
    p->in_heading = token == TRANSLATOR || (p->in_heading && token != '>');
    p->previous = token;
    return token;
}

static void dt_yyerror(struct dt_location *location, struct dt_parse *p, const char *text)
{
    size_t n = (size_t)(p->at - p->token);
    bool at_end = p->previous == END;

    if (strstr(text, "exhausted")) {
        dt_fail(p->session, *location, "D_SYNTAX", "the program is nested too deeply");
    }
    if (at_end) {
        dt_fail(p->session, *location, "D_SYNTAX", "syntax error near end of input");
    }
    dt_fail(p->session, *location, "D_SYNTAX", "syntax error near \"%.*s\"", (int)(n < 64 ? n : 64),
           p->token);
}

/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * D's grammar. Declarations take effect while they are parsed (a typedef is a type for the very
 * next token), so rules that change what a name means end where bison needs no token ahead.
 */
%define api.pure full
%define api.prefix {d_yy}
%define api.location.type {struct d_place}
%define parse.error verbose
%locations
%parse-param {struct d_parse *p}
%lex-param {struct d_parse *p}
%expect 1 /* if if else */

%code requires {
#include "host/d/front.h"
}

%code {
#include "host/d/lexer.h"

#define YYLLOC_DEFAULT(current, rhs, n) ((current) = (n) ? YYRHSLOC(rhs, 1) : YYRHSLOC(rhs, 0))
#define YYMAXDEPTH 4000
#define YYMALLOC(size) d_alloc(p->session, size)
#define YYFREE(memory) ((void)(memory))

static int d_yylex(union D_YYSTYPE *value, struct d_place *place, struct d_parse *p);
static void d_yyerror(struct d_place *place, struct d_parse *p, const char *text);

static struct d_nodes one(struct d_node *n)
{
    return (struct d_nodes){n, n};
}

static struct d_nodes append(struct d_nodes list, struct d_node *n)
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
    struct d_node *node;
    struct d_nodes nodes;
    const char *text;
    int op;
    unsigned flags;
    const struct d_type *type;
    struct d_declarator *declarator;
    struct d_parameters *parameters;
    struct d_ident *ident;
    struct d_translator *translator;
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

/* ---- clauses ---- */

clause:
    probes '{' statements '}' { d_clause_end(p, @1, $1.first, NULL, $3.first); }
    | probes '/' predicate '{' statements '}' { d_clause_end(p, @1, $1.first, $3, $5.first); }
    | probes {
        if (!p->source->is_description) {
            d_fail(p->session, @1, "D_SYNTAX", "a predicate or { } must follow a probe description");
        }
        d_clause_end(p, @1, $1.first, NULL, NULL);
    }
    ;

predicate: expression PREDICATE_END;

probes:
    probe { $$ = one($1); }
    | probes ',' probe { $$ = append($1, $3); }
    ;

probe:
    PROBE { $$ = d_probe_by_text(p, @1, $1); }
    | INTEGER { $$ = d_probe_by_id(p, @1, $1->value); }
    ;

/* ---- statements: the last one needs no ; ---- */

statements:
    closed_statements
    | closed_statements open_statement { $$ = append($1, $2); }
    ;

closed_statements:
    %empty { $$ = (struct d_nodes){NULL, NULL}; }
    | closed_statements closed_statement { $$ = append($1, $2); }
    ;

closed_statement:
    ';' { $$ = NULL; }
    | expression ';' { $$ = d_node_with(p, D_NODE_EXPR_STATEMENT, @1, $1); }
    | IF '(' expression ')' branch { $$ = d_node_if(p, @1, $3, $5.first, NULL); }
    | IF '(' expression ')' branch ELSE branch {
        $$ = d_node_if(p, @1, $3, $5.first, $7.first);
    }
    ;

branch:
    closed_statement { $$ = one($1); }
    | '{' statements '}' { $$ = $2; }
    ;

open_statement:
    expression { $$ = d_node_with(p, D_NODE_EXPR_STATEMENT, @1, $1); }
    | IF '(' expression ')' open_statement { $$ = d_node_if(p, @1, $3, $5, NULL); }
    | IF '(' expression ')' branch ELSE open_statement {
        $$ = d_node_if(p, @1, $3, $5.first, $7);
    }
    ;

/* ---- declarations ---- */

declaration:
    specifiers ';' { d_declare_nothing(p, @1); d_specs_end(p); }
    | specifiers declared ';' { d_specs_end(p); }
    ;

declared:
    declarator { d_declare(p, $1); }
    | declared ',' declarator { d_declare(p, $3); }
    ;

specifiers: specifier | specifiers specifier;

specifier:
    AUTO { d_spec_storage(p, @1, D_STORAGE_AUTO); }
    | REGISTER { d_spec_storage(p, @1, D_STORAGE_REGISTER); }
    | STATIC { d_spec_storage(p, @1, D_STORAGE_STATIC); }
    | EXTERN { d_spec_storage(p, @1, D_STORAGE_EXTERN); }
    | TYPEDEF { d_spec_storage(p, @1, D_STORAGE_TYPEDEF); }
    | SELF { d_spec_storage(p, @1, D_STORAGE_SELF); }
    | THIS { d_spec_storage(p, @1, D_STORAGE_THIS); }
    | qualifier { d_spec_flag(p, @1, $1); }
    | SIGNED { d_spec_flag(p, @1, D_SPEC_SIGNED); }
    | UNSIGNED { d_spec_flag(p, @1, D_SPEC_UNSIGNED); }
    | SHORT { d_spec_flag(p, @1, D_SPEC_SHORT); }
    | LONG { d_spec_flag(p, @1, D_SPEC_LONG); }
    | VOID { d_spec_base(p, @1, D_BASE_VOID, NULL, false); }
    | CHAR { d_spec_base(p, @1, D_BASE_CHAR, NULL, false); }
    | INT { d_spec_base(p, @1, D_BASE_INT, NULL, false); }
    | FLOAT { d_spec_base(p, @1, D_BASE_FLOAT, NULL, false); }
    | DOUBLE { d_spec_base(p, @1, D_BASE_DOUBLE, NULL, false); }
    | STRING_TYPE { d_spec_base(p, @1, D_BASE_TYPE, p->session->string, false); }
    | TYPE_NAME { d_spec_named(p, @1, $1); }
    | struct_type { d_spec_base(p, @1, D_BASE_TYPE, $1, true); }
    | enum_type { d_spec_base(p, @1, D_BASE_TYPE, $1, true); }
    ;

qualifier:
    CONST { $$ = D_SPEC_CONST; }
    | VOLATILE { $$ = D_SPEC_VOLATILE; }
    | RESTRICT { $$ = D_SPEC_RESTRICT; }
    ;

qualifiers:
    %empty { $$ = 0; }
    | qualifiers qualifier { $$ = $1 | $2; }
    ;

tag_kind:
    STRUCT { $$ = D_TYPE_STRUCT; }
    | UNION { $$ = D_TYPE_UNION; }
    ;

struct_type:
    tag_kind NAME { $$ = d_struct_by_tag(p, @2, (enum d_type_kind)$1, $2); }
    | tag_kind NAME '{' { d_struct_begin(p, @2, (enum d_type_kind)$1, $2); } members '}' {
        $$ = d_struct_end(p);
    }
    | tag_kind '{' { d_struct_begin(p, @1, (enum d_type_kind)$1, NULL); } members '}' {
        $$ = d_struct_end(p);
    }
    ;

members: %empty | members member;

member:
    specifiers ';' { d_struct_anonymous(p, @1); d_specs_end(p); }
    | specifiers member_list ';' { d_specs_end(p); }
    ;

member_list: member_declarator | member_list ',' member_declarator;

member_declarator:
    declarator { d_struct_member(p, $1->place, $1, NULL); }
    | declarator ':' push constant { d_scope_pop(p); d_struct_member(p, $1->place, $1, $4); }
    | ':' push constant { d_scope_pop(p); d_struct_member(p, @1, NULL, $3); }
    ;

enum_type:
    ENUM NAME { $$ = d_struct_by_tag(p, @2, D_TYPE_ENUM, $2); }
    | ENUM NAME '{' { d_enum_begin(p, @2, $2); } enumerators '}' { $$ = d_enum_end(p); }
    | ENUM '{' { d_enum_begin(p, @1, NULL); } enumerators '}' { $$ = d_enum_end(p); }
    ;

enumerators: enumerator | enumerators ',' enumerator;

enumerator:
    any_name { d_enumerator_add(p, @1, $1, NULL); }
    | any_name '=' constant { d_enumerator_add(p, @1, $1, $3); }
    ;

any_name: NAME | TYPE_NAME;

declarator:
    direct
    | '*' qualifiers declarator { $$ = $3; d_declarator_pointer(p, $$, @1, $2); }
    ;

push: %empty { d_scope_push(p); };

direct:
    NAME { $$ = d_declarator_new(p, @1, $1); }
    | '(' declarator ')' { $$ = $2; }
    | direct '[' push ']' {
        d_scope_pop(p);
        d_declarator_array(p, $$ = $1, @2, NULL, NULL);
    }
    | direct '[' push constant ']' {
        d_scope_pop(p);
        d_declarator_array(p, $$ = $1, @2, $4, NULL);
    }
    | direct '[' push parameters ']' {
        d_scope_pop(p);
        d_declarator_array(p, $$ = $1, @2, NULL, $4);
    }
    | direct '(' push ')' {
        d_scope_pop(p);
        d_declarator_function(p, $$ = $1, @2, d_parameters_new(p));
    }
    | direct '(' push parameters ')' {
        d_scope_pop(p);
        d_declarator_function(p, $$ = $1, @2, $4);
    }
    ;

abstract:
    direct_abstract
    | '*' qualifiers {
        $$ = d_declarator_new(p, @1, NULL);
        d_declarator_pointer(p, $$, @1, $2);
    }
    | '*' qualifiers abstract { $$ = $3; d_declarator_pointer(p, $$, @1, $2); }
    ;

direct_abstract:
    '(' abstract ')' { $$ = $2; }
    | '[' push ']' {
        d_scope_pop(p);
        d_declarator_array(p, $$ = d_declarator_new(p, @1, NULL), @1, NULL, NULL);
    }
    | '[' push constant ']' {
        d_scope_pop(p);
        d_declarator_array(p, $$ = d_declarator_new(p, @1, NULL), @1, $3, NULL);
    }
    | direct_abstract '[' push ']' {
        d_scope_pop(p);
        d_declarator_array(p, $$ = $1, @2, NULL, NULL);
    }
    | direct_abstract '[' push constant ']' {
        d_scope_pop(p);
        d_declarator_array(p, $$ = $1, @2, $4, NULL);
    }
    | '(' push ')' {
        d_scope_pop(p);
        d_declarator_function(p, $$ = d_declarator_new(p, @1, NULL), @1, d_parameters_new(p));
    }
    | '(' push parameters ')' {
        d_scope_pop(p);
        d_declarator_function(p, $$ = d_declarator_new(p, @1, NULL), @1, $3);
    }
    | direct_abstract '(' push ')' {
        d_scope_pop(p);
        d_declarator_function(p, $$ = $1, @2, d_parameters_new(p));
    }
    | direct_abstract '(' push parameters ')' {
        d_scope_pop(p);
        d_declarator_function(p, $$ = $1, @2, $4);
    }
    ;

parameters:
    parameter_list
    | parameter_list ',' ELLIPSIS { $$ = $1; $$->varargs = true; }
    | ELLIPSIS { $$ = d_parameters_new(p); $$->varargs = true; }
    ;

/* The list is made by its first parameter, after whose specifiers the scope is clear again. */
parameter_list:
    specifiers { $$ = d_parameters_new(p); d_parameters_add(p, $$, @1, NULL); }
    | specifiers declarator { $$ = d_parameters_new(p); d_parameters_add(p, $$, @1, $2); }
    | specifiers abstract { $$ = d_parameters_new(p); d_parameters_add(p, $$, @1, $2); }
    | parameter_list ',' specifiers { d_parameters_add(p, $$ = $1, @3, NULL); }
    | parameter_list ',' specifiers declarator { d_parameters_add(p, $$ = $1, @3, $4); }
    | parameter_list ',' specifiers abstract { d_parameters_add(p, $$ = $1, @3, $4); }
    ;

type_name:
    specifiers { $$ = d_type_name_end(p, NULL); }
    | specifiers abstract { $$ = d_type_name_end(p, $2); }
    ;

/* ---- inlines and translators ---- */

inline: inline_begin assignment ';' { d_inline_end(p, $1, $2); };

inline_begin: INLINE specifiers declarator '=' { $$ = d_inline_begin(p, $3); };

translator: translator_begin translations '}' ';' { d_translator_end(p, $1); };

translator_begin:
    TRANSLATOR type_name '<' type_name NAME '>' '{' {
        $$ = d_translator_begin(p, @1, $2, $4, $5);
    }
    ;

translations: %empty | translations translation;

translation:
    any_name '=' assignment ';' {
        d_translator_member(p, $<translator>-1, @1, $1, $3);
    }
    ;

/* ---- expressions ---- */

constant: conditional;

expression:
    assignment
    | expression ',' assignment { $$ = d_node_binary(p, @2, ',', $1, $3); }
    ;

assignment:
    conditional
    | unary '=' assignment { $$ = d_node_binary(p, @2, '=', $1, $3); }
    | unary SET assignment { $$ = d_node_binary(p, @2, $2, $1, $3); }
    ;

conditional:
    binary
    | binary '?' expression ':' conditional { $$ = d_node_ternary(p, @2, $1, $3, $5); }
    ;

binary:
    cast
    | binary OROR binary { $$ = d_node_binary(p, @2, D_OP_OROR, $1, $3); }
    | binary XORXOR binary { $$ = d_node_binary(p, @2, D_OP_XORXOR, $1, $3); }
    | binary ANDAND binary { $$ = d_node_binary(p, @2, D_OP_ANDAND, $1, $3); }
    | binary '|' binary { $$ = d_node_binary(p, @2, '|', $1, $3); }
    | binary '^' binary { $$ = d_node_binary(p, @2, '^', $1, $3); }
    | binary '&' binary { $$ = d_node_binary(p, @2, '&', $1, $3); }
    | binary EQ binary { $$ = d_node_binary(p, @2, D_OP_EQ, $1, $3); }
    | binary NE binary { $$ = d_node_binary(p, @2, D_OP_NE, $1, $3); }
    | binary '<' binary { $$ = d_node_binary(p, @2, '<', $1, $3); }
    | binary '>' binary { $$ = d_node_binary(p, @2, '>', $1, $3); }
    | binary LE binary { $$ = d_node_binary(p, @2, D_OP_LE, $1, $3); }
    | binary GE binary { $$ = d_node_binary(p, @2, D_OP_GE, $1, $3); }
    | binary SHL binary { $$ = d_node_binary(p, @2, D_OP_SHL, $1, $3); }
    | binary SHR binary { $$ = d_node_binary(p, @2, D_OP_SHR, $1, $3); }
    | binary '+' binary { $$ = d_node_binary(p, @2, '+', $1, $3); }
    | binary '-' binary { $$ = d_node_binary(p, @2, '-', $1, $3); }
    | binary '*' binary { $$ = d_node_binary(p, @2, '*', $1, $3); }
    | binary '/' binary { $$ = d_node_binary(p, @2, '/', $1, $3); }
    | binary '%' binary { $$ = d_node_binary(p, @2, '%', $1, $3); }
    ;

cast:
    unary
    | '(' type_name ')' cast {
        $$ = d_node_with(p, D_NODE_CAST, @1, $4);
        $$->type = $2;
    }
    ;

unary:
    postfix
    | INCREMENT unary { $$ = d_node_unary(p, @1, D_OP_PREINC, $2); }
    | DECREMENT unary { $$ = d_node_unary(p, @1, D_OP_PREDEC, $2); }
    | '&' cast { $$ = d_node_unary(p, @1, D_OP_ADDRESS, $2); }
    | '*' cast { $$ = d_node_unary(p, @1, D_OP_DEREF, $2); }
    | '+' cast { $$ = d_node_unary(p, @1, D_OP_PLUS, $2); }
    | '-' cast { $$ = d_node_unary(p, @1, D_OP_MINUS, $2); }
    | '~' cast { $$ = d_node_unary(p, @1, '~', $2); }
    | '!' cast { $$ = d_node_unary(p, @1, '!', $2); }
    | SIZEOF unary { $$ = d_node_with(p, D_NODE_SIZEOF, @1, $2); }
    | SIZEOF '(' type_name ')' {
        $$ = d_node_with(p, D_NODE_SIZEOF, @1, d_node_new(p->session, D_NODE_TYPE, @3));
        $$->left->type = $3;
    }
    | STRINGOF unary { $$ = d_node_with(p, D_NODE_STRINGOF, @1, $2); }
    ;

postfix:
    primary
    | postfix '[' arguments ']' { $$ = d_node_index(p, @1, $1, $3.first); }
    | postfix '(' ')' { $$ = d_node_call(p, @1, $1, NULL); }
    | postfix '(' arguments ')' { $$ = d_node_call(p, @1, $1, $3.first); }
    | postfix '.' NAME {
        $$ = d_node_binary(p, @3, '.', $1, NULL);
        $$->text = $3;
    }
    | postfix ARROW NAME {
        $$ = d_node_binary(p, @3, D_OP_ARROW, $1, NULL);
        $$->text = $3;
    }
    | postfix INCREMENT { $$ = d_node_unary(p, @2, D_OP_POSTINC, $1); }
    | postfix DECREMENT { $$ = d_node_unary(p, @2, D_OP_POSTDEC, $1); }
    | OFFSETOF '(' type_name ',' any_name ')' {
        $$ = d_node_new(p->session, D_NODE_OFFSETOF, @1);
        $$->type = NULL;
        $$->left = d_node_new(p->session, D_NODE_TYPE, @3);
        $$->left->type = $3;
        $$->text = $5;
    }
    | XLATE '<' type_name '>' '(' expression ')' {
        $$ = d_node_xlate(p, @1, $3, $6);
    }
    ;

primary:
    NAME { $$ = d_node_name(p, @1, NULL, $1); }
    | SELF ARROW NAME { $$ = d_node_name(p, @1, "self", $3); }
    | THIS ARROW NAME { $$ = d_node_name(p, @1, "this", $3); }
    | AGGREGATION {
        $$ = d_node_new(p->session, D_NODE_AGG, @1);
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

static int d_yylex(union D_YYSTYPE *value, struct d_place *place, struct d_parse *p)
{
    int before = p->previous;
    int token = d_lexer_lex(value, place, p->scanner);

    p->after_tag = token == NAME && (before == STRUCT || before == UNION || before == ENUM);
    p->in_heading = token == TRANSLATOR || (p->in_heading && token != '>');
    p->previous = token;
    return token;
}

static void d_yyerror(struct d_place *place, struct d_parse *p, const char *text)
{
    size_t n = (size_t)(p->at - p->token);
    bool at_end = p->previous == END;

    if (strstr(text, "exhausted")) {
        d_fail(p->session, *place, "D_SYNTAX", "the program is nested too deeply");
    }
    d_fail(p->session, *place, "D_SYNTAX", "syntax error near %s%.*s%s", at_end ? "the end" : "\"",
           at_end ? 0 : (int)(n < 64 ? n : 64), p->token, at_end ? "" : "\"");
}

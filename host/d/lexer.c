/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What lexer.l's rules do: where items begin and end, words, macro variables, strings.
 */
#include "host/d/lexer.h"
#include "host/d/type_name.h"

#include <ctype.h>
#include <string.h>

/* ---- places ------------------------------------------------------------------------------------
 */

static void line_start(struct d_parse *p)
{
    d_room(p->session, &p->lines, sizeof(struct d_line));
    ((struct d_line *)p->lines.data)[p->lines.n++] =
        (struct d_line){p->place.file, p->at, p->place.line};
}

void d_lexer_advance(struct d_parse *p, const char *text, size_t n)
{
    p->token = p->at;
    for (size_t i = 0; i < n; i++) {
        p->at++;
        p->place.column++;
        if (text[i] == '\n') {
            p->place.line++;
            p->place.column = 1;
            line_start(p);
        }
    }
}

static void go_back(struct d_parse *p, size_t n)
{
    p->at -= n;
    p->place.column -= (unsigned)n;
}

_Noreturn void d_lex_fail(struct d_parse *p, struct d_place place, const char *why)
{
    d_fail(p->session, place, "D_SYNTAX", "%s", why);
}

_Noreturn void d_lex_fail_character(struct d_parse *p, struct d_place place, char c)
{
    d_fail(p->session, place, "D_SYNTAX",
           isprint((unsigned char)c) ? "syntax error near \"%c\"" : "syntax error near \\%03o",
           (unsigned char)c);
}

void d_lex_comment_check(struct d_parse *p, int previous, int c)
{
    if (previous == '/' && c == '*') {
        d_lex_fail(p, p->place, "a comment begins inside a comment");
    }
}

bool d_lex_is_first_line(const struct d_parse *p, const char *text, size_t n)
{
    const char *hash = memchr(text, '#', n);

    return hash + 1 < text + n && hash[1] == '!' && !d_lex_in_item(p);
}

/* ---- items -------------------------------------------------------------------------------------
 */

bool d_lex_in_item(const struct d_parse *p)
{
    return p->in_item;
}

static void item_begin(struct d_parse *p, bool clause)
{
    p->in_item = true;
    p->in_clause = clause;
    p->in_predicate = false;
    p->braces = p->parens = p->brackets = 0;
}

static void description(struct d_parse *p)
{
    if (p->previous != ',') {
        p->description_start = p->token;
    }
    p->description_end = p->at;
}

int d_lex_predicate(struct d_parse *p)
{
    item_begin(p, true);
    p->in_predicate = true;
    return '/';
}

int d_lex_clause(struct d_parse *p)
{
    item_begin(p, true);
    p->braces = 1;
    return '{';
}

int d_lex_probe_id(struct d_parse *p, union D_YYSTYPE *v, struct d_place place, const char *text,
                   size_t n)
{
    v->node = d_integer_constant(p, place, text, n);
    description(p);
    return INTEGER;
}

int d_lex_end(struct d_parse *p)
{
    if (p->in_item) {
        d_fail(p->session, p->place, "D_SYNTAX", "the program ends %s",
               p->braces     ? "before a }"
               : p->parens   ? "before a )"
               : p->brackets ? "before a ]"
                             : "unexpectedly");
    }
    return 0;
}

/* Whether this / ends the predicate: the next thing must be its clause's body. */
static bool ends_predicate(const struct d_parse *p)
{
    const char *at = p->at;

    while (at < p->end) {
        if (isspace((unsigned char)*at)) {
            at++;
        } else if (*at == '/' && at + 1 < p->end && at[1] == '*') {
            for (at += 2; at < p->end && !(at[-1] == '*' && *at == '/'); at++) {
            }
            at += at < p->end;
        } else {
            return *at == '{' || *at == ';' || *at == '/';
        }
    }
    return true;
}

int d_lex_slash(struct d_parse *p)
{
    if (p->in_predicate && p->parens == 0 && p->brackets == 0 && ends_predicate(p)) {
        p->in_predicate = false;
        return PREDICATE_END;
    }
    return '/';
}

static void closing(struct d_parse *p, struct d_place place, unsigned *count, const char *why)
{
    if (*count == 0) {
        d_lex_fail(p, place, why);
    }
    --*count;
}

int d_lex_bracket(struct d_parse *p, struct d_place place, char c)
{
    p->braces += c == '{';
    p->parens += c == '(';
    p->brackets += c == '[';
    if (c == '}') {
        closing(p, place, &p->braces, "there is a } too many");
        p->in_item = !(p->in_clause && p->braces == 0);
    } else if (c == ')') {
        closing(p, place, &p->parens, "there is a ) too many");
    } else if (c == ']') {
        closing(p, place, &p->brackets, "there is a ] too many");
    } else if (c == ';' && !p->in_clause && !p->braces && !p->parens && !p->brackets) {
        p->in_item = false;
    }
    return (unsigned char)c;
}

int d_lex_punctuation(struct d_parse *p, int token)
{
    (void)p;
    return token;
}

/* ---- words -------------------------------------------------------------------------------------
 */

static const struct keyword {
    const char *text;
    int token;
    bool declares; /* may begin a declaration */
} keywords[] = {
    {"auto", AUTO, true},
    {"break", RESERVED, false},
    {"case", RESERVED, false},
    {"char", CHAR, true},
    {"const", CONST, true},
    {"continue", RESERVED, false},
    {"counter", RESERVED, true},
    {"default", RESERVED, false},
    {"do", RESERVED, false},
    {"double", DOUBLE, true},
    {"else", ELSE, false},
    {"enum", ENUM, true},
    {"extern", EXTERN, true},
    {"float", FLOAT, true},
    {"for", RESERVED, false},
    {"goto", RESERVED, false},
    {"if", IF, false},
    {"import", RESERVED, true},
    {"inline", INLINE, true},
    {"int", INT, true},
    {"long", LONG, true},
    {"offsetof", OFFSETOF, false},
    {"probe", RESERVED, true},
    {"provider", RESERVED, true},
    {"register", REGISTER, true},
    {"restrict", RESTRICT, true},
    {"return", RESERVED, false},
    {"self", SELF, true},
    {"short", SHORT, true},
    {"signed", SIGNED, true},
    {"sizeof", SIZEOF, false},
    {"static", STATIC, true},
    {"string", STRING_TYPE, true},
    {"stringof", STRINGOF, false},
    {"struct", STRUCT, true},
    {"switch", RESERVED, false},
    {"this", THIS, true},
    {"translator", TRANSLATOR, true},
    {"typedef", TYPEDEF, true},
    {"union", UNION, true},
    {"unsigned", UNSIGNED, true},
    {"void", VOID, true},
    {"volatile", VOLATILE, true},
    {"while", RESERVED, false},
    {"xlate", XLATE, false},
};

static const struct keyword *find_keyword(const char *text, size_t n)
{
    for (size_t i = 0; i < sizeof(keywords) / sizeof(*keywords); i++) {
        if (strlen(keywords[i].text) == n && memcmp(keywords[i].text, text, n) == 0) {
            return &keywords[i];
        }
    }
    return NULL;
}

static bool is_hidden(const struct d_parse *p, const char *name)
{
    const char *const *names = p->names.data;

    for (unsigned i = 0; i < p->names.n; i++) {
        if (strcmp(names[i], name) == 0) {
            return true;
        }
    }
    return false;
}

/* A declaration that has its type already goes on with a name: `typedef int foo; struct s { foo
 * foo; };` is C. */
bool d_name_is_type(struct d_parse *p, const char *text)
{
    struct d_session *d = p->session;
    const struct d_ident *i = d_ident_lookup(d->globals, text);
    const char *object;

    if (p->scope->specs.base != D_BASE_NONE || p->after_tag || is_hidden(p, text)) {
        return false;
    }
    if (i && i->version <= d_session_version(d)) {
        return false;
    }
    const char *name = d_name_split(d, text, &object);
    return d_type_find(d, object, D_TYPE_TYPEDEF, name) != NULL;
}

int d_lex_word(struct d_parse *p, union D_YYSTYPE *v, const char *text)
{
    const struct keyword *k = find_keyword(text, strlen(text));
    bool member = p->previous == '.' || p->previous == ARROW;
    bool tag = p->previous == STRUCT || p->previous == UNION || p->previous == ENUM;

    if (k && !member) {
        return k->token;
    }
    if (text[strlen(text) - 1] == '`') {
        d_lex_fail(p, p->place, "a name must follow the `");
    }
    v->text = d_strdup(p->session, text);
    return !member && !tag && d_name_is_type(p, text) ? TYPE_NAME : NAME;
}

/* "int*x" may be a glob or begin a declaration: it does if a type stands before the star. */
int d_lex_program_word(struct d_parse *p, union D_YYSTYPE *v, const char *text, int *keep)
{
    size_t length = strlen(text), n = strcspn(text, "*");
    const char *word = d_strndup(p->session, text, n);
    const struct keyword *k = find_keyword(text, n);

    bool types = !strchr(text, ':') && !p->session->options.values[D_O_pspec];
    bool whole_keyword = k && n == length;
    if (k && k->declares && (whole_keyword || types)) {
        v->text = word;
    } else if (!k && types && n > 0 && d_name_is_type(p, word)) {
        v->text = word;
    } else {
        v->text = d_strdup(p->session, text);
        description(p);
        return PROBE;
    }
    go_back(p, length - n);
    *keep = (int)n;
    item_begin(p, false);
    return k ? k->token : TYPE_NAME;
}

/* ---- macro variables ---------------------------------------------------------------------------
 */

static struct d_node *signed_integer(struct d_parse *p, struct d_place place, const char *text)
{
    bool negative = *text == '-';
    const char *digits = text + (negative || *text == '+');

    if (*digits == '\0') {
        digits = "0";
    }
    struct d_node *n = d_integer_constant(p, place, digits, strlen(digits));
    n->value = negative ? 0 - n->value : n->value;
    return n;
}

/* A string, perhaps in quotes, which are taken off. */
static struct d_node *string_node(struct d_parse *p, struct d_place place, const char *text)
{
    size_t n = strlen(text);
    bool quoted = n > 1 && text[0] == '"' && text[n - 1] == '"';
    struct d_node *node = d_node_new(p->session, D_NODE_STRING, place);

    node->text = d_strndup(p->session, text + quoted, n - 2 * quoted);
    return node;
}

int d_lex_macro(struct d_parse *p, union D_YYSTYPE *v, struct d_place place, const char *text,
                size_t n)
{
    bool as_string = text[1] == '$', is_argument;
    const char *name = text + 1 + as_string, *value;

    n -= 1 + as_string;
    if (!d_macro_value(p, name, n, &value)) {
        d_fail(p->session, place, "D_MACRO_UNDEF", "%s has no value", text);
    }
    is_argument = isdigit((unsigned char)*name);
    enum d_macro_kind kind =
        as_string || (is_argument && n == 1 && *name == '0') ? D_MACRO_STRING : d_macro_kind(value);
    switch (kind) {
    case D_MACRO_INTEGER:
        v->node = signed_integer(p, place, value);
        return INTEGER;
    case D_MACRO_STRING:
        v->node = string_node(p, place, value);
        return STRING;
    default:
        return d_lex_word(p, v, value);
    }
}

/* ---- quotes ------------------------------------------------------------------------------------
 */

/* The pattern also takes what has no closing quote. */
static void check_closed(struct d_parse *p, struct d_place place, const char *text, size_t n,
                         const char *tag)
{
    size_t backslashes = 0;

    while (n - 1 - backslashes > 1 && text[n - 2 - backslashes] == '\\') {
        backslashes++;
    }
    if (n >= 2 && text[n - 1] == text[0] && backslashes % 2 == 0) {
        return;
    }
    d_fail(p->session, place, p->at < p->end ? tag : "D_SYNTAX", "%s before the closing %c",
           p->at < p->end ? "the line ends" : "the program ends", text[0]);
}

int d_lex_string(struct d_parse *p, union D_YYSTYPE *v, struct d_place place, const char *text,
                 size_t n)
{
    check_closed(p, place, text, n, "D_STR_NL");
    v->node = d_string_constant(p, place, text + 1, n - 2);
    return STRING;
}

int d_lex_character(struct d_parse *p, union D_YYSTYPE *v, struct d_place place, const char *text,
                    size_t n)
{
    check_closed(p, place, text, n, "D_CHR_NL");
    v->node = d_character_constant(p, place, text + 1, n - 2);
    return INTEGER;
}

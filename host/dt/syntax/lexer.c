/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Functions for lexer.l's rules: the lexer's position, the beginning and end of items, words, and
 * macro variables, strings and characters.
 */
#include "host/dt/syntax/lexer.h"

#include <ctype.h>
#include <string.h>

/* ---- locations --------------------------------------------------------------------- */

void dt_lexer_advance(struct dt_parse *p, const char *text, size_t n)
{
    p->token = p->at;
    for (size_t i = 0; i < n; i++) {
        p->at++;
        p->location.column++;
        if (text[i] == '\n') {
            p->location.line++;
            p->location.column = 1;
            *(struct dt_line *)dt_list_add(p->session, &p->text->lines, sizeof(struct dt_line)) =
                (struct dt_line){p->location.file, p->at, p->location.line};
        }
    }
}

_Noreturn void dt_lex_fail(struct dt_parse *p, struct dt_location location, const char *why)
{
    dt_fail(p->session, location, "D_SYNTAX", "%s", why);
}

_Noreturn void dt_lex_fail_character(struct dt_parse *p, struct dt_location location, char c)
{
    dt_fail(p->session, location, "D_SYNTAX",
            isprint((unsigned char)c) ? "syntax error near \"%c\"" : "syntax error near \\%03o",
            (unsigned char)c);
}

void dt_lex_comment_check(struct dt_parse *p, int previous, int c)
{
    if (previous == '/' && c == '*') {
        dt_lex_fail(p, p->location,
                    "/"
                    "* encountered inside a comment");
    }
}

bool dt_lex_is_first_line(const struct dt_parse *p, const char *text, size_t n)
{
    const char *hash = memchr(text, '#', n);

    return hash + 1 < text + n && hash[1] == '!' && !dt_lex_in_item(p);
}

/* ---- items ------------------------------------------------------------------------- */

bool dt_lex_in_item(const struct dt_parse *p)
{
    return p->in_item;
}

/* An item of the program begins: a clause or a declaration. */
static void lexer_item_begin(struct dt_parse *p, bool clause)
{
    p->in_item = true;
    p->in_clause = clause;
    p->in_predicate = false;
    p->braces = p->parens = p->brackets = 0;
}

/* The token belongs to a clause's probe descriptions, whose text the clause keeps. */
static void lexer_description(struct dt_parse *p)
{
    if (p->previous != ',') {
        p->description_start = p->token;
    }
    p->description_end = p->at;
}

int dt_lex_predicate(struct dt_parse *p)
{
    lexer_item_begin(p, true);
    p->in_predicate = true;
    return '/';
}

int dt_lex_clause(struct dt_parse *p)
{
    lexer_item_begin(p, true);
    p->braces = 1;
    return '{';
}

int dt_lex_probe_id(struct dt_parse *p, union DT_YYSTYPE *v, struct dt_location location,
                    const char *text, size_t n)
{
    v->node = dt_integer_constant(p, location, text, n);
    lexer_description(p);
    return INTEGER;
}

int dt_lex_end(struct dt_parse *p)
{
    if (p->in_item) {
        dt_fail(p->session, p->location, "D_SYNTAX", "end of file encountered%s",
                p->braces     ? " before matching '}'"
                : p->parens   ? " before matching ')'"
                : p->brackets ? " before matching ']'"
                              : " inside a declaration or clause");
    }
    return 0;
}

/* Whether this / ends the predicate: the next thing must be its clause's body. */
static bool ends_predicate(const struct dt_parse *p)
{
    const char *at = p->at;

    while (at < p->text->end) {
        if (isspace((unsigned char)*at)) {
            at++;
        } else if (*at == '/' && at + 1 < p->text->end && at[1] == '*') {
            for (at += 2; at < p->text->end && !(at[-1] == '*' && *at == '/'); at++) {
            }
            at += at < p->text->end;
        } else {
            return *at == '{' || *at == ';' || *at == '/';
        }
    }
    return true;
}

int dt_lex_slash(struct dt_parse *p)
{
    if (p->in_predicate && p->parens == 0 && p->brackets == 0 && ends_predicate(p)) {
        p->in_predicate = false;
        return PREDICATE_END;
    }
    return '/';
}

static void lexer_close_bracket(struct dt_parse *p, struct dt_location location, unsigned *count,
                                const char *why)
{
    if (*count == 0) {
        dt_lex_fail(p, location, why);
    }
    --*count;
}

int dt_lex_bracket(struct dt_parse *p, struct dt_location location, char c)
{
    p->braces += c == '{';
    p->parens += c == '(';
    p->brackets += c == '[';
    if (c == '}') {
        lexer_close_bracket(p, location, &p->braces, "unmatched '}'");
        p->in_item = !(p->in_clause && p->braces == 0);
    } else if (c == ')') {
        lexer_close_bracket(p, location, &p->parens, "unmatched ')'");
    } else if (c == ']') {
        lexer_close_bracket(p, location, &p->brackets, "unmatched ']'");
    } else if (c == ';' && !p->in_clause && !p->braces && !p->parens && !p->brackets) {
        p->in_item = false;
    }
    return (unsigned char)c;
}

int dt_lex_punctuation(struct dt_parse *p, int token)
{
    (void)p;
    return token;
}

/* ---- words -------------------------------------------------------------------------- */

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

/* A declaration that has its type already goes on with a name: `typedef int foo; struct s { foo
 * foo; };` is C. */
static bool name_is_type(struct dt_parse *p, const char *text)
{
    struct dt_session *d = p->session;
    const struct dt_ident *i = dt_ident_lookup(d->globals, text);
    const char *const *hidden = p->names.data;
    const char *object;

    if (p->scope->specs.base != DT_BASE_NONE || p->after_tag) {
        return false;
    }
    for (unsigned n = 0; n < p->names.n; n++) {
        if (strcmp(hidden[n], text) == 0) {
            return false;
        }
    }
    if (i && i->version <= dt_session_version(d)) {
        return false;
    }
    const char *name = dt_name_split(d, text, &object);
    return dt_type_find(d, object, DT_TYPE_TYPEDEF, name) != NULL;
}

int dt_lex_word(struct dt_parse *p, union DT_YYSTYPE *v, const char *text)
{
    const struct keyword *k = find_keyword(text, strlen(text));
    bool member = p->previous == '.' || p->previous == ARROW;
    bool tag = p->previous == STRUCT || p->previous == UNION || p->previous == ENUM;

    if (k && !member) {
        return k->token;
    }
    if (text[strlen(text) - 1] == '`') {
        dt_lex_fail(p, p->location, "expected a name after the scoping operator (`)");
    }
    v->text = dt_strdup(p->session, text);
    return !member && !tag && name_is_type(p, text) ? TYPE_NAME : NAME;
}

/* "int*x" may be a glob or begin a declaration: it does if a type stands before the star. */
int dt_lex_program_word(struct dt_parse *p, union DT_YYSTYPE *v, const char *text, int *keep)
{
    size_t length = strlen(text), n = strcspn(text, "*");
    const char *word = dt_strndup(p->session, text, n);
    const struct keyword *k = find_keyword(text, n);

    bool types = !strchr(text, ':') && !p->session->options.values[DT_O_pspec];
    bool whole_keyword = k && n == length;
    if (k && k->declares && (whole_keyword || types)) {
        v->text = word;
    } else if (!k && types && n > 0 && name_is_type(p, word)) {
        v->text = word;
    } else {
        v->text = dt_strdup(p->session, text);
        lexer_description(p);
        return PROBE;
    }
    /* Takes back the last n characters of the token. */
    p->at -= (length - n);
    p->location.column -= (unsigned)(length - n);
    *keep = (int)n;
    lexer_item_begin(p, false);
    return k ? k->token : TYPE_NAME;
}

/* ---- macro variables, strings, characters ------------------------------------------- */

int dt_lex_macro(struct dt_parse *p, union DT_YYSTYPE *v, struct dt_location location,
                 const char *text, size_t n)
{
    bool as_string = text[1] == '$', is_argument;
    const char *name = text + 1 + as_string, *value;
    const unsigned targets = p->targets_named;

    n -= 1 + as_string;
    if (!dt_macro_value(p, name, n, &value)) {
        dt_fail(p->session, location, "D_MACRO_UNDEF", "macro argument %s is not defined", text);
    }
    is_argument = isdigit((unsigned char)*name);
    enum dt_macro_kind kind = as_string || (is_argument && n == 1 && *name == '0')
                                  ? DT_MACRO_STRING
                                  : dt_macro_kind(value);
    if (kind == DT_MACRO_INTEGER) {
        bool negative = *value == '-';
        const char *digits = value + (negative || *value == '+');
        digits = *digits ? digits : "0";
        v->node = dt_integer_constant(p, location, digits, strlen(digits));
        v->node->value = negative ? 0 - v->node->value : v->node->value;
        v->node->is_target = p->targets_named != targets;
        return INTEGER;
    }
    if (kind == DT_MACRO_STRING) { /* perhaps in quotes, which are taken off */
        size_t length = strlen(value);
        bool quoted = length > 1 && value[0] == '"' && value[length - 1] == '"';
        v->node = dt_node_new(p->session, DT_NODE_STRING, location);
        v->node->text = dt_strndup(p->session, value + quoted, length - 2 * quoted);
        v->node->is_target = p->targets_named != targets;
        return STRING;
    }
    return dt_lex_word(p, v, value);
}

/* The pattern also takes what has no closing quote. */
static void check_closed(struct dt_parse *p, struct dt_location location, const char *text,
                         size_t n, const char *tag)
{
    size_t backslashes = 0;

    while (n - 1 - backslashes > 1 && text[n - 2 - backslashes] == '\\') {
        backslashes++;
    }
    if (n >= 2 && text[n - 1] == text[0] && backslashes % 2 == 0) {
        return;
    }
    dt_fail(p->session, location, p->at < p->text->end ? tag : "D_SYNTAX", "%s encountered in %s",
            p->at < p->text->end ? "newline" : "end of file",
            text[0] == '"' ? "string literal" : "character constant");
}

int dt_lex_string(struct dt_parse *p, union DT_YYSTYPE *v, struct dt_location location,
                  const char *text, size_t n)
{
    check_closed(p, location, text, n, "D_STR_NL");
    v->node = dt_string_constant(p, location, text + 1, n - 2);
    return STRING;
}

int dt_lex_character(struct dt_parse *p, union DT_YYSTYPE *v, struct dt_location location,
                     const char *text, size_t n)
{
    check_closed(p, location, text, n, "D_CHR_NL");
    v->node = dt_character_constant(p, location, text + 1, n - 2);
    return INTEGER;
}

/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Words: keywords, names of types and other names, and where a declaration begins.
 */
#include "host/dt/syntax/lexer.h"

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
bool dt_name_is_type(struct dt_parse *p, const char *text)
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
        dt_lex_fail(p, p->place, "expected a name after the scoping operator (`)");
    }
    v->text = dt_strdup(p->session, text);
    return !member && !tag && dt_name_is_type(p, text) ? TYPE_NAME : NAME;
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
    } else if (!k && types && n > 0 && dt_name_is_type(p, word)) {
        v->text = word;
    } else {
        v->text = dt_strdup(p->session, text);
        dt_lexer_description(p);
        return PROBE;
    }
    dt_lexer_go_back(p, length - n);
    *keep = (int)n;
    dt_lexer_item_begin(p, false);
    return k ? k->token : TYPE_NAME;
}

/* SPDX-License-Identifier: BSD-2-Clause */
/* Functions for lexer.l's rules: the lexer's position, and the beginning and end of items. */
#include "host/dt/syntax/lexer.h"

#include <ctype.h>
#include <string.h>

/* ---- places ------------------------------------------------------------------------ */

void dt_lexer_advance(struct dt_parse *p, const char *text, size_t n)
{
    p->token = p->at;
    for (size_t i = 0; i < n; i++) {
        p->at++;
        p->place.column++;
        if (text[i] == '\n') {
            p->place.line++;
            p->place.column = 1;
            *(struct dt_line *)dt_list_add(p->session, &p->text->lines, sizeof(struct dt_line)) =
                (struct dt_line){p->place.file, p->at, p->place.line};
        }
    }
}

void dt_lexer_go_back(struct dt_parse *p, size_t n)
{
    p->at -= n;
    p->place.column -= (unsigned)n;
}

_Noreturn void dt_lex_fail(struct dt_parse *p, struct dt_place place, const char *why)
{
    dt_fail(p->session, place, "D_SYNTAX", "%s", why);
}

_Noreturn void dt_lex_fail_character(struct dt_parse *p, struct dt_place place, char c)
{
    dt_fail(p->session, place, "D_SYNTAX",
            isprint((unsigned char)c) ? "syntax error near \"%c\"" : "syntax error near \\%03o",
            (unsigned char)c);
}

void dt_lex_comment_check(struct dt_parse *p, int previous, int c)
{
    if (previous == '/' && c == '*') {
        dt_lex_fail(p, p->place, "/* encountered inside a comment");
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

void dt_lexer_item_begin(struct dt_parse *p, bool clause)
{
    p->in_item = true;
    p->in_clause = clause;
    p->in_predicate = false;
    p->braces = p->parens = p->brackets = 0;
}

void dt_lexer_description(struct dt_parse *p)
{
    if (p->previous != ',') {
        p->description_start = p->token;
    }
    p->description_end = p->at;
}

int dt_lex_predicate(struct dt_parse *p)
{
    dt_lexer_item_begin(p, true);
    p->in_predicate = true;
    return '/';
}

int dt_lex_clause(struct dt_parse *p)
{
    dt_lexer_item_begin(p, true);
    p->braces = 1;
    return '{';
}

int dt_lex_probe_id(struct dt_parse *p, union DT_YYSTYPE *v, struct dt_place place,
                    const char *text, size_t n)
{
    v->node = dt_integer_constant(p, place, text, n);
    dt_lexer_description(p);
    return INTEGER;
}

int dt_lex_end(struct dt_parse *p)
{
    if (p->in_item) {
        dt_fail(p->session, p->place, "D_SYNTAX", "end of file encountered%s",
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

static void closing(struct dt_parse *p, struct dt_place place, unsigned *count, const char *why)
{
    if (*count == 0) {
        dt_lex_fail(p, place, why);
    }
    --*count;
}

int dt_lex_bracket(struct dt_parse *p, struct dt_place place, char c)
{
    p->braces += c == '{';
    p->parens += c == '(';
    p->brackets += c == '[';
    if (c == '}') {
        closing(p, place, &p->braces, "unmatched '}'");
        p->in_item = !(p->in_clause && p->braces == 0);
    } else if (c == ')') {
        closing(p, place, &p->parens, "unmatched ')'");
    } else if (c == ']') {
        closing(p, place, &p->brackets, "unmatched ']'");
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

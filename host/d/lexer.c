/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What lexer.l's rules do: where the lexer is, and where items begin and end.
 */
#include "host/d/lexer.h"

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

void d_lexer_go_back(struct d_parse *p, size_t n)
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

void d_lexer_item_begin(struct d_parse *p, bool clause)
{
    p->in_item = true;
    p->in_clause = clause;
    p->in_predicate = false;
    p->braces = p->parens = p->brackets = 0;
}

void d_lexer_description(struct d_parse *p)
{
    if (p->previous != ',') {
        p->description_start = p->token;
    }
    p->description_end = p->at;
}

int d_lex_predicate(struct d_parse *p)
{
    d_lexer_item_begin(p, true);
    p->in_predicate = true;
    return '/';
}

int d_lex_clause(struct d_parse *p)
{
    d_lexer_item_begin(p, true);
    p->braces = 1;
    return '{';
}

int d_lex_probe_id(struct d_parse *p, union D_YYSTYPE *v, struct d_place place, const char *text,
                   size_t n)
{
    v->node = d_integer_constant(p, place, text, n);
    d_lexer_description(p);
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

/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Macro variables, strings and characters.
 */
#include "host/d/lexer.h"

#include <ctype.h>

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
        d_fail(p->session, place, "D_MACRO_UNDEF", "macro argument %s is not defined", text);
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
    d_fail(p->session, place, p->at < p->end ? tag : "D_SYNTAX", "%s encountered in %s",
           p->at < p->end ? "newline" : "end of file",
           text[0] == '"' ? "string literal" : "character constant");
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

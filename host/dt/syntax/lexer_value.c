/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Macro variables, strings and characters.
 */
#include "host/dt/syntax/lexer.h"

#include <ctype.h>

int dt_lex_macro(struct dt_parse *p, union DT_YYSTYPE *v, struct dt_place place, const char *text,
                 size_t n)
{
    bool as_string = text[1] == '$', is_argument;
    const char *name = text + 1 + as_string, *value;

    n -= 1 + as_string;
    if (!dt_macro_value(p, name, n, &value)) {
        dt_fail(p->session, place, "D_MACRO_UNDEF", "macro argument %s is not defined", text);
    }
    is_argument = isdigit((unsigned char)*name);
    enum dt_macro_kind kind = as_string || (is_argument && n == 1 && *name == '0')
                                  ? DT_MACRO_STRING
                                  : dt_macro_kind(value);
    if (kind == DT_MACRO_INTEGER) {
        bool negative = *value == '-';
        const char *digits = value + (negative || *value == '+');
        digits = *digits ? digits : "0";
        v->node = dt_integer_constant(p, place, digits, strlen(digits));
        v->node->value = negative ? 0 - v->node->value : v->node->value;
        return INTEGER;
    }
    if (kind == DT_MACRO_STRING) { /* perhaps in quotes, which are taken off */
        size_t length = strlen(value);
        bool quoted = length > 1 && value[0] == '"' && value[length - 1] == '"';
        v->node = dt_node_new(p->session, DT_NODE_STRING, place);
        v->node->text = dt_strndup(p->session, value + quoted, length - 2 * quoted);
        return STRING;
    }
    return dt_lex_word(p, v, value);
}

/* The pattern also takes what has no closing quote. */
static void check_closed(struct dt_parse *p, struct dt_place place, const char *text, size_t n,
                         const char *tag)
{
    size_t backslashes = 0;

    while (n - 1 - backslashes > 1 && text[n - 2 - backslashes] == '\\') {
        backslashes++;
    }
    if (n >= 2 && text[n - 1] == text[0] && backslashes % 2 == 0) {
        return;
    }
    dt_fail(p->session, place, p->at < p->text->end ? tag : "D_SYNTAX", "%s encountered in %s",
            p->at < p->text->end ? "newline" : "end of file",
            text[0] == '"' ? "string literal" : "character constant");
}

int dt_lex_string(struct dt_parse *p, union DT_YYSTYPE *v, struct dt_place place, const char *text,
                  size_t n)
{
    check_closed(p, place, text, n, "D_STR_NL");
    v->node = dt_string_constant(p, place, text + 1, n - 2);
    return STRING;
}

int dt_lex_character(struct dt_parse *p, union DT_YYSTYPE *v, struct dt_place place,
                     const char *text, size_t n)
{
    check_closed(p, place, text, n, "D_CHR_NL");
    v->node = dt_character_constant(p, place, text + 1, n - 2);
    return INTEGER;
}

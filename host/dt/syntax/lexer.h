/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Functions for lexer.l's rules. Those that return an int return a token. Internal to the parser.
 */
#ifndef HOST_DT_SYNTAX_LEXER_H
#define HOST_DT_SYNTAX_LEXER_H

#include "host/dt/syntax/parse.h"

union DT_YYSTYPE;
#include <dt_grammar.h>

#include <string.h>

int dt_lexer_lex(union DT_YYSTYPE *, struct dt_location *, void *scanner);

_Noreturn void dt_lex_fail(struct dt_parse *, struct dt_location, const char *why);
_Noreturn void dt_lex_fail_character(struct dt_parse *, struct dt_location, char);
void dt_lex_comment_check(struct dt_parse *, int previous, int c);
bool dt_lex_is_first_line(const struct dt_parse *, const char *text, size_t n); /* #! */

/* Between items: a description, or a declaration's first word (of which *keep characters are
 * taken). */
int dt_lex_program_word(struct dt_parse *, union DT_YYSTYPE *, const char *text, int *keep);
int dt_lex_probe_id(struct dt_parse *, union DT_YYSTYPE *, struct dt_location, const char *,
                    size_t);
int dt_lex_predicate(struct dt_parse *);
int dt_lex_clause(struct dt_parse *);
bool dt_lex_in_item(const struct dt_parse *);
int dt_lex_end(struct dt_parse *);

/* Inside one. */
int dt_lex_word(struct dt_parse *, union DT_YYSTYPE *, const char *text);
int dt_lex_macro(struct dt_parse *, union DT_YYSTYPE *, struct dt_location, const char *, size_t);
int dt_lex_string(struct dt_parse *, union DT_YYSTYPE *, struct dt_location, const char *, size_t);
int dt_lex_character(struct dt_parse *, union DT_YYSTYPE *, struct dt_location, const char *,
                     size_t);
int dt_lex_slash(struct dt_parse *);
int dt_lex_bracket(struct dt_parse *, struct dt_location, char);
int dt_lex_punctuation(struct dt_parse *, int token);

#endif

/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What lexer.l's rules do: lexer.c, lexer_word.c, lexer_value.c. Those that return an int return a
 * token. Internal to the front end.
 */
#ifndef HOST_D_LEXER_H
#define HOST_D_LEXER_H

#include "host/d/front.h"

union D_YYSTYPE;
#include <d_grammar.h>

#include <string.h>

int d_lexer_lex(union D_YYSTYPE *, struct d_place *, void *scanner);

/* Takes back the last n characters of the token. */
void d_lexer_go_back(struct d_parse *, size_t n);
/* An item of the program begins: a clause or a declaration. */
void d_lexer_item_begin(struct d_parse *, bool clause);
/* The token belongs to a clause's probe descriptions, whose text the clause keeps. */
void d_lexer_description(struct d_parse *);

_Noreturn void d_lex_fail(struct d_parse *, struct d_place, const char *why);
_Noreturn void d_lex_fail_character(struct d_parse *, struct d_place, char);
void d_lex_comment_check(struct d_parse *, int previous, int c);
bool d_lex_is_first_line(const struct d_parse *, const char *text, size_t n); /* #! */

/* Between items: a description, or a declaration's first word (of which *keep characters are
 * taken). */
int d_lex_program_word(struct d_parse *, union D_YYSTYPE *, const char *text, int *keep);
int d_lex_probe_id(struct d_parse *, union D_YYSTYPE *, struct d_place, const char *, size_t);
int d_lex_predicate(struct d_parse *);
int d_lex_clause(struct d_parse *);
bool d_lex_in_item(const struct d_parse *);
int d_lex_end(struct d_parse *);

/* Inside one. */
int d_lex_word(struct d_parse *, union D_YYSTYPE *, const char *text);
int d_lex_macro(struct d_parse *, union D_YYSTYPE *, struct d_place, const char *, size_t);
int d_lex_string(struct d_parse *, union D_YYSTYPE *, struct d_place, const char *, size_t);
int d_lex_character(struct d_parse *, union D_YYSTYPE *, struct d_place, const char *, size_t);
int d_lex_slash(struct d_parse *);
int d_lex_bracket(struct d_parse *, struct d_place, char);
int d_lex_punctuation(struct d_parse *, int token);

#endif

/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Values of options, from text. Each returns false for text that is none.
 */
#ifndef HOST_D_OPTION_VALUE_H
#define HOST_D_OPTION_VALUE_H

#include "host/d/ident.h"

bool d_value_number(const char *text, uint64_t *value); /* also yes, no, on, off … */
bool d_value_size(const char *text, uint64_t *bytes);
bool d_value_rate(const char *text, uint64_t *ns);
bool d_value_version(const char *text, unsigned *version); /* major << 16 | minor << 8 | micro */
bool d_version_is_known(unsigned version);
bool d_value_attributes(const char *text, struct d_attributes_short *);
/* The number of a word in a list that ends with NULL. */
bool d_value_word(const char *text, const char *const *words, uint64_t *value);

#endif

/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Values of options, from text. Each returns false if the text is not such a value.
 */
#ifndef HOST_DT_BASE_OPTION_VALUE_H
#define HOST_DT_BASE_OPTION_VALUE_H

#include <stdbool.h>
#include <stdint.h>

struct dt_attributes_short { /* stability as D programs state it */
    uint8_t name, data, class;
};

bool dt_value_number(const char *text, uint64_t *value); /* also yes, no, on, off … */
bool dt_value_size(const char *text, uint64_t *bytes);
bool dt_value_rate(const char *text, uint64_t *ns);
bool dt_value_version(const char *text, unsigned *version); /* major << 16 | minor << 8 | micro */
bool dt_version_is_known(unsigned version);
bool dt_value_attributes(const char *text, struct dt_attributes_short *);
/* Sets *value to the index of a word in a list that ends with NULL. */
bool dt_value_word(const char *text, const char *const *words, uint64_t *value);

#endif

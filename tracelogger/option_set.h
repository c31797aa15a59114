/* SPDX-License-Identifier: BSD-2-Clause */
/* Sets struct options for each option of tracelogger/options.def: option_<set>(). */
#ifndef TRACELOGGER_OPTION_SET_H
#define TRACELOGGER_OPTION_SET_H

#include <stddef.h>

#include "tracelogger/options.h"

enum option_result {
    OPTION_TAKEN,
    OPTION_WRONG,   /* not a valid argument: the caller reports it */
    OPTION_REFUSED, /* already reported, with the alternative */
    OPTION_HELP,    /* help is requested */
};

/* `text`: the argument; NULL if it has none. */
#define OPTION(letter, name, argument, takes, set, help) \
    enum option_result option_##set(struct options *options, const char *text);
#include "tracelogger/options.def"
#undef OPTION

/* Parses a number of at most `most` that is all of the text. */
bool option_number(const char *text, uint32_t most, uint32_t *value);

/* Checks -M, -S and -f together: option_memory.c. Returns 0 or -1 (reported). */
int option_memory_agree(struct options *options);

/* Checks conflicting options: option_together.c, after the others. Returns 0 or -1 (reported). */
int option_together_agree(const struct options *options);

#endif

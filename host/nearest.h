/* SPDX-License-Identifier: BSD-2-Clause */
/* The known name that was probably meant by an unknown one: for messages. */
#ifndef HOST_NEAREST_H
#define HOST_NEAREST_H

#include <getopt.h>
#include <stddef.h>

/* Begins as {.word = the unknown name}. */
struct nearest {
    const char *word;
    const char *name; /* the nearest of those offered, or NULL: none is near */
    unsigned slips;   /* how many slips of a finger it is away from the word */
    const char *dashes;
    char hint[72];
};

/* Returns how many slips of a finger make one name of the other: letters that are missing, too
 * many, different (of another case: not at all), or exchanged with their neighbour. */
unsigned nearest_slips(const char *a, const char *b);
/* Returns the most slips in a name of this length that was still meant. */
unsigned nearest_most(size_t length);
/* Offers a known name, which the caller keeps. */
void nearest_offer(struct nearest *nearest, const char *name);
/* Offers the long options. The word is one of a command line: "--name" or "--name=value". */
void nearest_offer_options(struct nearest *nearest, const struct option *options);
/* Returns "; did you mean NAME?", to be put after a message, or "". */
const char *nearest_hint(struct nearest *nearest);

#endif

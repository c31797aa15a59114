/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Types of events, for formats that declare each once: a type is made when its first event is met,
 * because only the event says which values it has. One thread.
 */
#ifndef HOST_EXPORT_TYPES_H
#define HOST_EXPORT_TYPES_H

#include <stdio.h>

#include "host/export/linux.h"

#define TYPES_BUCKETS 4096 /* a power of two */
#define TYPES_LOST 100     /* a role: what is written of a loss */

struct type {
    struct type *next;  /* in its bucket */
    struct type *after; /* by id */
    uint32_t class_id, number;
    int role; /* enum linux_event, or TYPES_LOST */
    uint32_t id, nvalues;
    char *form; /* name, type and bits of each value: what makes two events the same type */
    char *text; /* its declaration, NULL if the format keeps it elsewhere */
};

struct types {
    struct type *buckets[TYPES_BUCKETS], *first, **end;
    uint32_t ntypes, most;
    /* Declares the type of the event last given, of which class, number, role and id are set: in
     * ->text, or elsewhere. 0 or -1, reported. */
    int (*declare)(struct export *export, const struct kev_item *item, struct type *type);
};

/* The type of the event last given; NULL: no memory or too many types, reported. */
const struct type *types_find(struct types *types, struct export *export,
                              const struct kev_item *item, int role);
void types_free(struct types *types);

/* A text of the capture as tools may print it: controls and bytes that are no UTF-8 are \ooo. To be
 * freed; without memory the command ends. */
char *types_text(const char *text, size_t length);
/* Likewise, of newlines and tabs, too. */
char *types_line(const char *text, size_t length);
/* A name of the capture in lower case, with _ for all but letters and digits. */
void types_name_put(FILE *file, const char *name);

#endif

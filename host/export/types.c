/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Types of events (types.h).
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "host/escape.h"
#include "host/export/types.h"
#include "host/kymo.h"

char *types_text(const char *text, size_t length)
{
    char *copy = malloc(ESCAPE_MOST(length) + 1);

    if (copy == NULL) {
        kymo_no_memory();
    }
    copy[escape_whole(text, length, copy)] = '\0';
    return copy;
}

char *types_line(const char *text, size_t length)
{
    char *escaped = types_text(text, length), *line, *to;

    if (strpbrk(escaped, "\n\t") == NULL) {
        return escaped;
    }
    to = line = malloc(4 * strlen(escaped) + 1);
    if (line == NULL) {
        kymo_no_memory();
    }
    for (const char *c = escaped; *c != '\0'; c++) {
        if (*c == '\n' || *c == '\t') {
            to += sprintf(to, "\\%03o", *c);
        } else {
            *to++ = *c;
        }
    }
    *to = '\0';
    free(escaped);
    return line;
}

/* Lower case, for letters, digits and _ only. */
void types_name_put(FILE *file, const char *name)
{
    for (; *name != '\0'; name++) {
        char c = *name;

        c = c >= 'A' && c <= 'Z' ? (char)(c - 'A' + 'a') : c;
        putc((c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') ? c : '_', file);
    }
}

/* The key that makes two events the same type, and its hash. */
static uint32_t form_hash(struct kev_capture *capture, unsigned *nvalues)
{
    const struct kev_value *value;
    uint32_t hash = 2166136261u;
    unsigned n;

    for (n = 0; (value = kev_capture_value(capture, n)) != NULL; n++) {
        hash = (hash ^ (value->type * 128 + value->bits)) * 16777619u;
        for (const char *c = value->name; *c != '\0'; c++) {
            hash = (hash ^ (uint8_t)*c) * 16777619u;
        }
    }
    *nvalues = n;
    return hash;
}

static bool form_is(struct kev_capture *capture, const char *form)
{
    const struct kev_value *value;

    for (unsigned i = 0; (value = kev_capture_value(capture, i)) != NULL; i++) {
        size_t length = strlen(value->name);

        if ((uint8_t)form[0] != value->type || (uint8_t)form[1] != value->bits ||
            strcmp(form + 2, value->name) != 0) {
            return false;
        }
        form += 2 + length + 1;
    }
    return true;
}

static char *export_types_form_make(struct kev_capture *capture)
{
    const struct kev_value *value;
    size_t size = 1, at = 0;
    char *form;

    for (unsigned i = 0; (value = kev_capture_value(capture, i)) != NULL; i++) {
        size += 2 + strlen(value->name) + 1;
    }
    form = malloc(size);
    for (unsigned i = 0; form != NULL && (value = kev_capture_value(capture, i)) != NULL; i++) {
        form[at++] = (char)value->type;
        form[at++] = (char)value->bits;
        at += strlen(strcpy(form + at, value->name)) + 1;
    }
    if (form == NULL) {
        kymo_error("out of memory");
    } else {
        form[at] = '\0';
    }
    return form;
}

/* NULL: no memory, reported. */
static struct type *type_make(struct types *types, struct export *export,
                              const struct kev_item *item, const struct type *key)
{
    struct type *type = malloc(sizeof(*type));

    if (type == NULL) {
        kymo_error("out of memory");
        return NULL;
    }
    *type = *key;
    type->form = type->role == TYPES_LOST ? calloc(1, 1) : export_types_form_make(export->capture);
    if (type->form == NULL || types->declare(export, item, type) != 0) {
        free(type->form);
        free(type->text);
        free(type);
        return NULL;
    }
    return type;
}

const struct type *types_find(struct types *types, struct export *export,
                              const struct kev_item *item, int role)
{
    bool lost = role == TYPES_LOST;
    uint32_t class_id = lost ? 0 : item->class_id, number = lost ? 0 : item->number;
    unsigned nvalues = 0;
    uint32_t hash = lost ? 0 : form_hash(export->capture, &nvalues);
    struct type **bucket, *type;

    hash = (hash ^ (class_id * 1024 + number) * 128 ^ (uint32_t)role) * 2654435761u;
    bucket = &types->buckets[hash >> 20 & (TYPES_BUCKETS - 1)];
    for (type = *bucket; type != NULL; type = type->next) {
        if (type->class_id == class_id && type->number == number && type->role == role &&
            type->nvalues == nvalues && (lost || form_is(export->capture, type->form))) {
            return type;
        }
    }
    if (types->ntypes == types->most) {
        kymo_error("%s: more than %" PRIu32 " types of events, which --%s can't tell apart",
                   export->input, types->most, export->format->name);
        return NULL;
    }
    type = type_make(types, export, item,
                     &(struct type){.class_id = class_id,
                                    .number = number,
                                    .role = role,
                                    .id = types->ntypes,
                                    .nvalues = nvalues});
    if (type == NULL) {
        return NULL;
    }
    types->ntypes++;
    type->next = *bucket;
    *bucket = type;
    types->end = types->end == NULL ? &types->first : types->end;
    *types->end = type;
    types->end = &type->after;
    return type;
}

void types_free(struct types *types)
{
    while (types->first != NULL) {
        struct type *type = types->first;

        types->first = type->after;
        free(type->form);
        free(type->text);
        free(type);
    }
}

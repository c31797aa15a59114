/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * --trace-dat: what host/export/tracedat.c (pages, file) and tracedat_types.c (formats of events,
 * records) share.
 */
#ifndef HOST_EXPORT_TRACEDAT_H
#define HOST_EXPORT_TRACEDAT_H

#include "host/export/types.h"

#define TRACEDAT_TYPES 60000
#define TRACEDAT_SYSTEMS 4
#define TRACEDAT_PART 101 /* a role: a part of an event that is too long for a page */

extern const char *const tracedat_system_names[TRACEDAT_SYSTEMS];
unsigned tracedat_system(int role);
/* An event's format, as a kernel has it in events/SYSTEM/EVENT/format; to be freed. NULL: no
 * memory. */
char *tracedat_declare(struct export *export, const struct kev_item *item, int role, uint32_t id);

/* An event's bytes: fields, then texts, of which the fields have offset and length. */
struct record {
    uint8_t *bytes, *texts;
    size_t used, room, texts_used, texts_room;
    uint32_t locations[256]; /* of fields that refer to a text */
    unsigned nlocations;
    bool failed; /* no memory, reported */
};

void record_event(struct record *record, struct export *export, const struct kev_item *item,
                  const struct flow_step *step, const struct type *type);
void record_lost(struct record *record, const struct kev_item *item, const struct type *type);
/* Part `part` of the event's words; false: there is none, or no memory. */
bool record_part(struct record *record, struct export *export, const struct kev_item *item,
                 const struct flow_step *step, const struct type *type, unsigned part);
void record_free(struct record *record);

#endif

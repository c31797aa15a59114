/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * --ctf: what host/export/ctf.c (streams, events) and ctf_types.c (event types, metadata) share.
 */
#ifndef HOST_EXPORT_CTF_H
#define HOST_EXPORT_CTF_H

#include "host/export/linux.h"
#include "host/output.h"

#define CTF_TYPES 65536  /* an event's id has 16 bits */
#define CTF_BUCKETS 4096 /* a power of two */
#define CTF_SCOPES 64

struct ctf_type {
    struct ctf_type *next;  /* in its bucket */
    struct ctf_type *after; /* by id */
    uint32_t class_id, number;
    int role; /* enum linux_event, or CTF_LOST */
    uint32_t id, nvalues;
    char *form; /* name, type and bits of each value: what makes two events the same type */
    char *text; /* its declaration */
};
#define CTF_LOST 100

struct ctf_stream { /* of a CPU */
    struct output output;
    char *path;
    bool open;
    uint8_t *bytes; /* events of the packet in the making */
    size_t used, room;
    uint64_t first, last; /* stamps; last: of the stream */
    uint64_t packets, discarded;
    bool any;   /* a packet is in the file */
    bool fresh; /* in the packet are at most events of class CONTROL */
};

struct ctf_trace {      /* a folder of its own */
    const char *domain; /* "kernel", "ust" */
    struct ctf_stream streams[FOLLOW_CPUS];
    struct ctf_type *buckets[CTF_BUCKETS], *first, **end;
    uint32_t ntypes;
    bool used;
};

/* The type of the event last given; NULL: no memory or too many types, reported. */
const struct ctf_type *ctf_type_of(struct ctf_trace *trace, struct export *export,
                                   const struct kev_item *item, int role);
/* The metadata of a trace as text into an open file. scopes: what was not recorded. 0 or -1. */
int ctf_metadata_write(const struct ctf_trace *trace, const struct export *export, FILE *file,
                       char *const *scopes, unsigned nscopes);
void ctf_types_free(struct ctf_trace *trace);
/* A text of the capture as babeltrace2 may print it: controls and bytes that are no UTF-8 are \ooo.
 * To be freed; NULL: no memory, reported. */
char *ctf_text(const char *text, size_t length);
/* The trace's id, from what the capture says of itself. */
void ctf_uuid(const struct export *export, const char *domain, uint8_t uuid[16]);

#endif

/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * --ctf: what host/export/ctf.c (streams, events) and ctf_types.c (event types, metadata) share.
 */
#ifndef HOST_EXPORT_CTF_H
#define HOST_EXPORT_CTF_H

#include "host/export/types.h"
#include "host/output.h"

#define CTF_TYPES 65536 /* an event's id has 16 bits */
#define CTF_SCOPES 64

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
    struct ctf_stream streams[FLOW_CPUS];
    struct types types;
    bool used;
};

/* An event's declaration in TSDL; see struct types. */
int ctf_declare(struct export *export, const struct kev_item *item, struct type *type);
/* The metadata of a trace as text into an open file. scopes: what was not recorded. */
void ctf_metadata_write(const struct ctf_trace *trace, const struct export *export, FILE *file,
                        char *const *scopes, unsigned nscopes);
/* The trace's id, from what the capture says of itself. */
void ctf_uuid(const struct export *export, const char *domain, uint8_t uuid[16]);

#endif

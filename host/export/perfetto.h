/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * --perfetto: what host/export/perfetto.c (events, losses) and perfetto_packet.c (packets) share.
 */
#ifndef HOST_EXPORT_PERFETTO_H
#define HOST_EXPORT_PERFETTO_H

#include <perfetto.pb-c.h>

#include "host/export/types.h"

#define NOTES 4096 /* annotations of an event: a buffer of 1024 slots holds fewer words */
#define SEQUENCE 1 /* of packets: there is one */

/* Kinds of tracks: the upper bits of a track's uuid, of which the lower ones are a number. */
enum { OF_CAPTURE = 1, OF_PROCESS, OF_THREAD, OF_STATES, OF_CPU, OF_COUNTER, OF_MESSAGE, OF_LOSS };

struct perfetto {
    struct flow *flow;
    uint8_t *bytes; /* of a packet */
    size_t room;
    Perfetto__DebugAnnotation notes[NOTES], *note_at[NOTES];
    unsigned nnotes;
    char *texts[NOTES + 16]; /* escaped ones, of the packet in the making */
    unsigned ntexts;
    unsigned ready, unknown;
    bool counted, told[FLOW_CPUS], lost_told[FLOW_CPUS + 1], failed;
    uint64_t losses, lost[FLOW_CPUS + 1];
    int64_t last; /* ns of the last event */
};

static inline struct perfetto *perfetto_of(const struct export *export)
{
    return export->state;
}

static inline uint64_t perfetto_uuid(unsigned kind, uint64_t number)
{
    return (uint64_t)kind << 56 | (number & (UINT64_MAX >> 8));
}

/* A text of the capture as UTF-8 that moves no cursor; lives until the packet is written. */
char *perfetto_string_of(struct export *export, const char *text);
/* Likewise, of a text that the caller takes back before. */
char *perfetto_copy_of(struct export *export, const char *text);
/* Writes a packet; what fails is noted in perfetto->failed. */
void perfetto_packet_put(struct export *export, Perfetto__TracePacket *packet);
/* A track; `counter`: of numbers. */
void perfetto_track_put(struct export *export, uint64_t uuid, uint64_t parent, const char *name,
                        bool counter);
/* Annotations of the next track event: a number, a text, the values of the capture's event. */
void perfetto_note_number(struct export *export, const char *name, int64_t value);
void perfetto_note_text(struct export *export, const char *name, const char *text);
void perfetto_note_values(struct export *export);
/* A track event with the annotations so far. Its flows are set by the caller. */
void perfetto_event_put(struct export *export, Perfetto__TrackEvent *event,
                        Perfetto__TrackEvent__Type type, uint64_t track, int64_t ns);
void perfetto_named_put(struct export *export, Perfetto__TrackEvent__Type type, uint64_t track,
                        int64_t ns, const char *category, const char *name);
void perfetto_counter_put(struct export *export, uint64_t track, int64_t ns, uint64_t value);

#endif

/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The babeltrace2 source component class source.kymo.kev: what its files share. source.c has the
 * component, metadata.c what describes a capture (trace, streams, event classes), iterator.c the
 * messages. The capture is read by libkev; docs/guide/python.md explains the plugin, the suite
 * babeltrace2 (test/host/babeltrace2/check.py) proves it.
 */
#ifndef HOST_BABELTRACE2_SOURCE_H
#define HOST_BABELTRACE2_SOURCE_H

#include <babeltrace2/babeltrace.h>
#include <stdbool.h>
#include <stdint.h>

#include "host/kev/kev.h"

#define SOURCE_CPUS 64

struct source_event; /* an event class, by class, number and form */

struct source {
    bt_self_component *self;
    char *path;
    char *elf; /* parameter; NULL: none */
    bool recover;
    unsigned cpus;
    struct kev_facts facts; /* numbers only are used after opening: its strings are the capture's */
    bt_clock_class *clock_class;
    bt_stream_class *stream_class;
    bt_trace *trace;
    bt_stream *streams[SOURCE_CPUS];
    struct source_event **events; /* a hash table */
    unsigned nevents;
};

/* A text as babeltrace2 wants it, in UTF-8; control characters and other bytes are \ooo. The
 * caller frees it. NULL: no memory. */
char *source_text(const char *text);

/* Makes clock, classes, trace and streams from an open capture whose items up to the first that is
 * no scope are read here. False: no memory, or the capture is damaged (its fault says how). */
bool source_describe(struct source *, struct kev_capture *);
/* Ends what source_describe() made. */
void source_forget(struct source *);

/* The class of the event that the capture gave last; NULL: no memory, or too many classes. */
const bt_event_class *source_event_class(struct source *, struct kev_capture *,
                                         const struct kev_item *);
/* Fills the event's fields. False: no memory. */
bool source_event_fill(bt_event *, struct kev_capture *, const struct kev_item *);

/* An open capture, limited to a CPU (-1: none in particular). NULL: *why says why not; the caller
 * frees it. */
struct kev_capture *source_open(const struct source *, int cpu, char **why);

bt_message_iterator_class_initialize_method_status
iterator_initialize(bt_self_message_iterator *, bt_self_message_iterator_configuration *,
                    bt_self_component_port_output *);
void iterator_finalize(bt_self_message_iterator *);
bt_message_iterator_class_next_method_status
iterator_next(bt_self_message_iterator *, bt_message_array_const, uint64_t, uint64_t *);
bt_message_iterator_class_seek_beginning_method_status
iterator_seek_beginning(bt_self_message_iterator *);

#endif

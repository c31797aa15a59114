/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The messages of one CPU. A buffer of the capture is a packet. What was lost is one message of
 * discarded events between two packets, from the last event before it to the first after it, with
 * its count if every loss of this place has one. An empty packet follows that ends where the loss
 * ends: CTF counts discarded events to the end of a packet, so only so does sink.ctf.fs keep the
 * time range.
 *
 * A loss is reported by slots inside the buffer after it. So the events of class CONTROL that
 * open a buffer are kept until another event comes, and the loss stands before them.
 */
#include <stdlib.h>
#include <string.h>

#include "host/babeltrace2/source.h"

#define KEPT_MOST 96
#define QUEUE_MOST (KEPT_MOST + 16)

struct iterator {
    bt_self_message_iterator *self;
    struct source *source;
    struct kev_capture *capture;
    unsigned cpu;
    const bt_message *queue[QUEUE_MOST];
    unsigned first, queued;
    bt_message *kept[KEPT_MOST];
    unsigned nkept;
    uint64_t kept_cycles; /* of the first one */
    bt_packet *packet;    /* open, or of the kept events */
    bool is_open;         /* its beginning is in the queue */
    bool is_begun, is_ended, any;
    uint64_t last; /* stamp of the last event; of the last message */
    bool is_lost, is_counted;
    uint64_t lost;
    int64_t lost_to_ns;
};

static void messages_drop(struct iterator *iterator)
{
    while (iterator->queued > 0) {
        bt_message_put_ref(iterator->queue[iterator->first++]);
        iterator->queued--;
    }
    while (iterator->nkept > 0) {
        bt_message_put_ref(iterator->kept[--iterator->nkept]);
    }
    bt_packet_put_ref(iterator->packet);
    iterator->packet = NULL;
}

static bool queue_add(struct iterator *iterator, const bt_message *message)
{
    if (message == NULL) {
        return false;
    }
    iterator->queue[iterator->first + iterator->queued++] = message;
    return true;
}

static bool packet_make(struct iterator *iterator)
{
    iterator->packet = bt_packet_create(iterator->source->streams[iterator->cpu]);
    if (iterator->packet == NULL) {
        return false;
    }
    bt_field *context = bt_packet_borrow_context_field(iterator->packet);

    bt_field_integer_unsigned_set_value(bt_field_structure_borrow_member_field_by_index(context, 0),
                                        iterator->cpu);
    return true;
}

static bool packet_begin(struct iterator *iterator, uint64_t cycles)
{
    iterator->is_open = true;
    return queue_add(iterator, bt_message_packet_beginning_create_with_default_clock_snapshot(
                                   iterator->self, iterator->packet, cycles));
}

static bool bt2_iterator_packet_end(struct iterator *iterator, uint64_t cycles)
{
    bool ok = queue_add(iterator, bt_message_packet_end_create_with_default_clock_snapshot(
                                      iterator->self, iterator->packet, cycles));

    bt_packet_put_ref(iterator->packet);
    iterator->packet = NULL;
    iterator->is_open = false;
    return ok;
}

/* The loss that is to be reported, which ends at `end`; no packet is open. */
static bool loss_report(struct iterator *iterator, uint64_t end)
{
    /* CTF counts from packet to packet: the first packet of a stream can't have lost a number. */
    if (!iterator->any && (!packet_make(iterator) || !packet_begin(iterator, end) ||
                           !bt2_iterator_packet_end(iterator, end))) {
        return false;
    }
    uint64_t begin = iterator->any ? iterator->last : end;
    bt_message *message = bt_message_discarded_events_create_with_default_clock_snapshots(
        iterator->self, iterator->source->streams[iterator->cpu], begin, end);

    if (message != NULL && iterator->is_counted && iterator->lost > 0) {
        bt_message_discarded_events_set_count(message, iterator->lost);
    }
    iterator->is_lost = false;
    iterator->lost = 0;
    iterator->last = end;
    iterator->any = true;
    return queue_add(iterator, message) && packet_make(iterator) && packet_begin(iterator, end) &&
           bt2_iterator_packet_end(iterator, end);
}

static void bt2_iterator_loss_note(struct iterator *iterator, const struct kev_item *item)
{
    if (!iterator->is_lost) {
        iterator->is_lost = iterator->is_counted = true;
        iterator->lost_to_ns = KEV_EVER;
    }
    iterator->is_counted = iterator->is_counted && item->loss->events > 0;
    iterator->lost += item->loss->events;
    if (item->loss->to_ns > iterator->lost_to_ns) {
        iterator->lost_to_ns = item->loss->to_ns;
    }
}

/* Queues the events that were kept, in a packet of their own, which stays open. */
static bool kept_flush(struct iterator *iterator)
{
    bt_packet *packet = iterator->packet;

    if (iterator->nkept == 0) {
        return true;
    }
    iterator->packet = NULL;
    if (iterator->is_lost && !loss_report(iterator, iterator->kept_cycles)) {
        bt_packet_put_ref(packet);
        return false;
    }
    iterator->packet = packet;
    bool ok = packet_begin(iterator, iterator->kept_cycles);

    for (unsigned i = 0; i < iterator->nkept; i++) {
        const bt_clock_snapshot *snapshot =
            bt_message_event_borrow_default_clock_snapshot_const(iterator->kept[i]);

        iterator->last = bt_clock_snapshot_get_value(snapshot);
        iterator->any = true;
        queue_add(iterator, iterator->kept[i]);
    }
    iterator->nkept = 0;
    return ok;
}

static bt_message *event_make(struct iterator *iterator, const struct kev_item *item,
                              uint64_t cycles)
{
    const bt_event_class *class = source_event_class(iterator->source, iterator->capture, item);
    bt_message *message = class == NULL
                              ? NULL
                              : bt_message_event_create_with_packet_and_default_clock_snapshot(
                                    iterator->self, class, iterator->packet, cycles);

    if (message != NULL &&
        !source_event_fill(bt_message_event_borrow_event(message), iterator->capture, item)) {
        bt_message_put_ref(message);
        message = NULL;
    }
    return message;
}

static bool event_give(struct iterator *iterator, const struct kev_item *item)
{
    bool control = strcmp(item->class_name, "CONTROL") == 0;
    bool opens = control && item->name != NULL && strcmp(item->name, "BUFFER") == 0;
    /* The clock of a capture that is recovered may go back; that of messages may not. */
    uint64_t cycles = item->cycles, least = iterator->last;

    if (iterator->nkept > 0) {
        const bt_clock_snapshot *snapshot = bt_message_event_borrow_default_clock_snapshot_const(
            iterator->kept[iterator->nkept - 1]);

        least = bt_clock_snapshot_get_value(snapshot);
    }
    if ((iterator->any || iterator->nkept > 0) && cycles < least) {
        cycles = least;
    }
    if (iterator->nkept > 0 && (!control || opens || iterator->nkept == KEPT_MOST) &&
        !kept_flush(iterator)) {
        return false;
    }
    bool cut = opens || (iterator->is_lost && iterator->nkept == 0);

    if (cut && iterator->is_open && !bt2_iterator_packet_end(iterator, iterator->last)) {
        return false;
    }
    if (opens) {
        iterator->kept_cycles = cycles;
    } else if (iterator->is_lost && iterator->nkept == 0 && !loss_report(iterator, cycles)) {
        return false;
    }
    if (iterator->packet == NULL &&
        (!packet_make(iterator) || (!opens && !packet_begin(iterator, cycles)))) {
        return false;
    }
    bt_message *message = event_make(iterator, item, cycles);

    if (message != NULL && (opens || iterator->nkept > 0)) {
        iterator->kept[iterator->nkept++] = message;
        return true;
    }
    iterator->last = cycles;
    iterator->any = true;
    return queue_add(iterator, message);
}

/* The capture's clock at a time; a time that is not known or can't be is `otherwise`. */
static uint64_t cycles_at(const struct iterator *iterator, int64_t ns, uint64_t otherwise)
{
    const struct kev_facts *facts = &iterator->source->facts;

    if (ns < 0 || ns == KEV_NEVER) {
        return otherwise;
    }
    unsigned __int128 cycles =
        (unsigned __int128)(uint64_t)ns * facts->cycles_per_second / 1000000000 + facts->start;

    return cycles > INT64_MAX ? otherwise : (uint64_t)cycles;
}

static bool stream_end(struct iterator *iterator)
{
    bool ok = kept_flush(iterator);

    if (ok && iterator->is_open) {
        ok = bt2_iterator_packet_end(iterator, iterator->last);
    }
    if (ok && iterator->is_lost) {
        uint64_t otherwise = iterator->any ? iterator->last : iterator->source->facts.start;
        uint64_t end = cycles_at(iterator, iterator->lost_to_ns, otherwise);

        ok = loss_report(iterator, end < otherwise ? otherwise : end);
    }
    iterator->is_ended = true;
    return ok && queue_add(iterator, bt_message_stream_end_create(
                                         iterator->self, iterator->source->streams[iterator->cpu]));
}

/* Reads on until something is queued. False: the error has its cause. */
static bool queue_fill(struct iterator *iterator)
{
    iterator->first = 0;
    if (!iterator->is_begun) {
        iterator->is_begun = true;
        return queue_add(iterator, bt_message_stream_beginning_create(
                                       iterator->self, iterator->source->streams[iterator->cpu]));
    }
    while (iterator->queued == 0 && !iterator->is_ended) {
        const struct kev_item *item;
        int outcome = kev_capture_next(iterator->capture, &item);
        bool ok = true;

        if (outcome == KEV_FAILED) {
            char *why = source_text(kev_capture_fault(iterator->capture)->text);

            bt_current_thread_error_append_cause_from_message_iterator(
                iterator->self, __FILE__, __LINE__, "%s", why != NULL ? why : "no memory");
            free(why);
            return false;
        }
        if (outcome != KEV_GIVEN) {
            ok = stream_end(iterator);
        } else if (item->kind == KEV_ITEM_LOSS &&
                   (item->cpu == (int)iterator->cpu || (item->cpu < 0 && iterator->cpu == 0))) {
            bt2_iterator_loss_note(iterator, item);
        } else if (item->kind == KEV_ITEM_EVENT && item->cpu == (int)iterator->cpu) {
            ok = event_give(iterator, item);
        }
        if (!ok) {
            bt_current_thread_error_append_cause_from_message_iterator(
                iterator->self, __FILE__, __LINE__, "%s: no memory, or too many kinds of events",
                iterator->source->path);
            return false;
        }
    }
    return true;
}

bt_message_iterator_class_next_method_status iterator_next(bt_self_message_iterator *self,
                                                           bt_message_array_const messages,
                                                           uint64_t capacity, uint64_t *count)
{
    struct iterator *iterator = bt_self_message_iterator_get_data(self);
    uint64_t n = 0;

    /* A failure loses the messages of this call, so a call gives only what is queued already. */
    if (iterator->queued == 0 && !queue_fill(iterator)) {
        return BT_MESSAGE_ITERATOR_CLASS_NEXT_METHOD_STATUS_ERROR;
    }
    for (; n < capacity && iterator->queued > 0; n++, iterator->queued--) {
        messages[n] = iterator->queue[iterator->first++];
    }
    *count = n;
    return n > 0 ? BT_MESSAGE_ITERATOR_CLASS_NEXT_METHOD_STATUS_OK
                 : BT_MESSAGE_ITERATOR_CLASS_NEXT_METHOD_STATUS_END;
}

/* From the capture's beginning. False: the error has its cause. */
static bool iterator_begin(struct iterator *iterator)
{
    char *why;
    struct kev_capture *capture = source_open(iterator->source, (int)iterator->cpu, &why);

    if (capture == NULL) {
        bt_current_thread_error_append_cause_from_message_iterator(
            iterator->self, __FILE__, __LINE__, "%s", why != NULL ? why : "no memory");
        free(why);
        return false;
    }
    messages_drop(iterator);
    kev_capture_free(iterator->capture);
    *iterator = (struct iterator){.self = iterator->self,
                                  .source = iterator->source,
                                  .capture = capture,
                                  .cpu = iterator->cpu};
    return true;
}

bt_message_iterator_class_seek_beginning_method_status
iterator_seek_beginning(bt_self_message_iterator *self)
{
    return iterator_begin(bt_self_message_iterator_get_data(self))
               ? BT_MESSAGE_ITERATOR_CLASS_SEEK_BEGINNING_METHOD_STATUS_OK
               : BT_MESSAGE_ITERATOR_CLASS_SEEK_BEGINNING_METHOD_STATUS_ERROR;
}

bt_message_iterator_class_initialize_method_status
iterator_initialize(bt_self_message_iterator *self,
                    bt_self_message_iterator_configuration *configuration,
                    bt_self_component_port_output *port)
{
    struct iterator *iterator = calloc(1, sizeof(*iterator));
    bt_self_component_port *as_port = bt_self_component_port_output_as_self_component_port(port);

    bt_self_message_iterator_configuration_set_can_seek_forward(configuration, BT_TRUE);
    if (iterator == NULL) {
        return BT_MESSAGE_ITERATOR_CLASS_INITIALIZE_METHOD_STATUS_MEMORY_ERROR;
    }
    iterator->self = self;
    iterator->source = bt_self_component_get_data(bt_self_message_iterator_borrow_component(self));
    iterator->cpu = (unsigned)(uintptr_t)bt_self_component_port_get_data(as_port);
    if (!iterator_begin(iterator)) {
        free(iterator);
        return BT_MESSAGE_ITERATOR_CLASS_INITIALIZE_METHOD_STATUS_ERROR;
    }
    bt_self_message_iterator_set_data(self, iterator);
    return BT_MESSAGE_ITERATOR_CLASS_INITIALIZE_METHOD_STATUS_OK;
}

void iterator_finalize(bt_self_message_iterator *self)
{
    struct iterator *iterator = bt_self_message_iterator_get_data(self);

    messages_drop(iterator);
    kev_capture_free(iterator->capture);
    free(iterator);
}

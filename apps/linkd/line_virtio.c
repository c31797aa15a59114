/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The link over a virtio console's second port (QEMU: virtio-serial-device and virtserialport): the
 * first is for a virtconsole, which loses bytes when its reader is slow; a virtserialport waits.
 * The device reports when a host comes and goes. Virtio 1.1, 5.3.
 *
 * QEMU never returns a buffer that a host had not taken completely when it went: after eight of
 * those no data could be sent any more. So the device is restarted if it still has buffers after a
 * host went; if another host is there already, data in transit to it is lost, as on any line, and
 * sent again. test/board/link.py hosts_that_do_not_read.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "apps/linkd/line.h"
#include "apps/virtio/virtio.h"
#include "abi/sys/kymo.h"
#include "abi/sys/neutrino.h"

#define VIRTIO_CONSOLE 3
#define FEATURE_MULTIPORT 2u
#define PORT 1
#define BUFFER 8192u
#define CONTROL_BUFFER 256u
#define CONTROL_AT_ONCE 64 /* messages; the others come with the next interrupt */

enum { CONTROL_IN, CONTROL_OUT, PORT_IN, PORT_OUT, QUEUES };

struct control {
    uint32_t port;
    uint16_t event, value;
};
enum { DEVICE_READY = 0, DEVICE_ADD = 1, PORT_READY = 3, PORT_OPEN = 6 };

static struct virtio_device line_virtio_device;
static struct virtio_queue line_virtio_queues[QUEUES] = {
    [CONTROL_IN] = {.device = &line_virtio_device, .index = 2, .buffer_bytes = CONTROL_BUFFER},
    [CONTROL_OUT] = {.device = &line_virtio_device,
                     .index = 3,
                     .buffer_bytes = CONTROL_BUFFER,
                     .to_device = 1},
    [PORT_IN] = {.device = &line_virtio_device, .index = 4, .buffer_bytes = BUFFER},
    [PORT_OUT] = {.device = &line_virtio_device,
                  .index = 5,
                  .buffer_bytes = BUFFER,
                  .to_device = 1},
};
static struct kymo_map line_virtio_memory;
static size_t memory_at[QUEUES];
static int line_virtio_interrupt_id;
static uint8_t *line_virtio_input_buffers; /* the buffer being read */
static size_t in_at, in_bytes;
static uint8_t *line_virtio_output_buffer; /* the buffer being filled */
static size_t line_virtio_output_bytes;
static bool line_virtio_host_plugged;

static int line_virtio_attach_device(int coid, int code)
{
    struct sigevent event;

    SIGEV_PULSE_INIT(&event, coid, SIGEV_PULSE_PRIO_INHERIT, code, 0);
    line_virtio_interrupt_id = InterruptAttachEvent(line_virtio_device.interrupt, &event, 0);
    return line_virtio_interrupt_id < 0 ? -1 : 0;
}

static int line_virtio_memory_map(void)
{
    size_t at = 0;

    line_virtio_memory.flags = KYMO_PROT_READ | KYMO_PROT_WRITE;
    for (unsigned i = 0; i < QUEUES; i++) {
        line_virtio_memory.len += VIRTIO_QUEUE_BYTES(line_virtio_queues[i].buffer_bytes);
    }
    if (MemMap(&line_virtio_memory) < 0) {
        return -1;
    }
    for (unsigned i = 0; i < QUEUES; i++) {
        memory_at[i] = at;
        at += VIRTIO_QUEUE_BYTES(line_virtio_queues[i].buffer_bytes);
    }
    return 0;
}

static void line_virtio_fill_queue(struct virtio_queue *queue)
{
    for (unsigned i = 0; i < VIRTIO_BUFFERS; i++) {
        virtio_queue_give(queue, queue->buffers + i * queue->buffer_bytes,
                          (uint32_t)queue->buffer_bytes);
    }
    virtio_queue_notify(queue);
}

/* There are never more of them in transit than there are buffers: each answers one that came. */
static void line_virtio_control_out(uint32_t port, uint16_t event, uint16_t value)
{
    const struct control message = {port, event, value};
    uint32_t bytes;
    uint8_t *buffer = virtio_queue_used(&line_virtio_queues[CONTROL_OUT], &bytes);

    if (buffer) {
        memcpy(buffer, &message, sizeof(message));
        virtio_queue_give(&line_virtio_queues[CONTROL_OUT], buffer, sizeof(message));
        virtio_queue_notify(&line_virtio_queues[CONTROL_OUT]);
    }
}

/* Also for a device in use, which loses its state. */
static bool device_begin(void)
{
    if (!virtio_begin(&line_virtio_device, FEATURE_MULTIPORT, 0)) {
        return false;
    }
    for (unsigned i = 0; i < QUEUES; i++) {
        uint8_t *start = (uint8_t *)(uintptr_t)line_virtio_memory.vaddr + memory_at[i];

        if (!virtio_queue_begin(&line_virtio_queues[i], start,
                                line_virtio_memory.phys + memory_at[i],
                                line_virtio_queues[i].buffer_bytes)) {
            return false;
        }
    }
    line_virtio_input_buffers = line_virtio_output_buffer = NULL;
    line_virtio_output_bytes = 0;
    line_virtio_host_plugged = false;
    virtio_ready(&line_virtio_device);
    line_virtio_fill_queue(&line_virtio_queues[CONTROL_IN]);
    line_virtio_fill_queue(&line_virtio_queues[PORT_IN]);
    line_virtio_control_out(0, DEVICE_READY, 1);
    return true;
}

static int line_virtio_open(int coid, int code)
{
    if (!virtio_find(&line_virtio_device, VIRTIO_CONSOLE) || line_virtio_memory_map() != 0 ||
        line_virtio_attach_device(coid, code) != 0) {
        return -1;
    }
    if (!device_begin()) {
        errno = EIO;
        return -1;
    }
    return 0;
}

static enum line_state control_in(const struct control *message)
{
    if (message->port != PORT) {
        return LINE_STEADY;
    }
    if (message->event == DEVICE_ADD) {
        line_virtio_control_out(PORT, PORT_READY, 1);
        line_virtio_control_out(PORT, PORT_OPEN, 1);
        /* A host that came before that has spoken already, and QEMU reads its data only after
         * another event. */
        virtio_queue_notify(&line_virtio_queues[PORT_IN]);
    }
    if (message->event == PORT_OPEN && line_virtio_host_plugged != (message->value != 0)) {
        line_virtio_host_plugged = message->value != 0;
        return line_virtio_host_plugged ? LINE_PLUGGED : LINE_UNPLUGGED;
    }
    return LINE_STEADY;
}

/* Handles all messages of the device; *gone: a host went, whether or not one is there now. */
static enum line_state line_virtio_take_controls(bool *gone)
{
    struct virtio_queue *queue = &line_virtio_queues[CONTROL_IN];
    enum line_state state = LINE_STEADY;
    struct control message;
    uint8_t *buffer;
    uint32_t bytes;

    for (unsigned i = 0; i < CONTROL_AT_ONCE; i++) {
        buffer = virtio_queue_used(queue, &bytes);
        if (!buffer) {
            break;
        }
        if (bytes >= sizeof(message)) {
            memcpy(&message, buffer, sizeof(message));
            enum line_state now = control_in(&message);
            state = now == LINE_STEADY ? state : now;
            *gone |= now == LINE_UNPLUGGED;
        }
        virtio_queue_give(queue, buffer, CONTROL_BUFFER);
        virtio_queue_notify(queue);
    }
    return state;
}

static enum line_state line_virtio_on_interrupt(void)
{
    bool gone = false;

    virtio_interrupt(&line_virtio_device);
    enum line_state state = line_virtio_take_controls(&gone);
    if (gone && virtio_queue_waits(&line_virtio_queues[PORT_OUT]) && !device_begin()) {
        printf("linkd: the device does not begin again\n");
    }
    return state;
}

static void line_virtio_rearm(void)
{
    InterruptUnmask(line_virtio_device.interrupt, line_virtio_interrupt_id);
}

static void in_return(void)
{
    virtio_queue_give(&line_virtio_queues[PORT_IN], line_virtio_input_buffers, BUFFER);
    virtio_queue_notify(&line_virtio_queues[PORT_IN]);
    line_virtio_input_buffers = NULL;
}

/* The device's value of a buffer's length is read once: it could change. Empty buffers, of which
 * the device has no more than there are, are returned. */
static bool in_next(void)
{
    for (unsigned i = 0; !line_virtio_input_buffers && i <= VIRTIO_BUFFERS; i++) {
        uint32_t there;

        line_virtio_input_buffers = virtio_queue_used(&line_virtio_queues[PORT_IN], &there);
        if (!line_virtio_input_buffers) {
            return false;
        }
        in_at = 0;
        in_bytes = there;
        if (there == 0) {
            in_return();
        }
    }
    return line_virtio_input_buffers != NULL;
}

static size_t line_virtio_read(uint8_t *bytes, size_t room)
{
    if (!in_next()) {
        return 0;
    }
    size_t left = in_bytes - in_at;
    size_t count = left < room ? left : room;
    memcpy(bytes, line_virtio_input_buffers + in_at, count);
    in_at += count;
    if (in_at == in_bytes) {
        in_return();
    }
    return count;
}

static void line_virtio_flush_output(void)
{
    if (line_virtio_output_buffer && line_virtio_output_bytes > 0) {
        virtio_queue_give(&line_virtio_queues[PORT_OUT], line_virtio_output_buffer,
                          (uint32_t)line_virtio_output_bytes);
        virtio_queue_notify(&line_virtio_queues[PORT_OUT]);
    }
    line_virtio_output_buffer = NULL;
    line_virtio_output_bytes = 0;
}

/* Small frames share a buffer until it is full or flushed. */
static size_t line_virtio_write(const uint8_t *bytes, size_t count)
{
    uint32_t written;

    if (!line_virtio_output_buffer) {
        line_virtio_output_buffer = virtio_queue_used(&line_virtio_queues[PORT_OUT], &written);
        line_virtio_output_bytes = 0;
    }
    if (!line_virtio_output_buffer) {
        return 0;
    }
    size_t room = BUFFER - line_virtio_output_bytes;
    size_t part = count < room ? count : room;
    memcpy(line_virtio_output_buffer + line_virtio_output_bytes, bytes, part);
    line_virtio_output_bytes += part;
    if (line_virtio_output_bytes == BUFFER) {
        line_virtio_flush_output();
    }
    return part;
}

const struct line_driver line_virtio = {
    .name = "virtio",
    .open = line_virtio_open,
    .interrupt = line_virtio_on_interrupt,
    .rearm = line_virtio_rearm,
    .read = line_virtio_read,
    .write = line_virtio_write,
    .flush = line_virtio_flush_output,
};

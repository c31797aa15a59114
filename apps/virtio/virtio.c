/* SPDX-License-Identifier: BSD-2-Clause */
/* See virtio.h: the queues. Values from the device are checked where they could lead outside our
 * memory. Virtio 1.1, 2.6. */
#include <string.h>

#include "apps/virtio/transport.h"

#define GOES_ON 1
#define DEVICE_WRITES 2

bool virtio_queue_begin(struct virtio_queue *queue, uint8_t *memory, uint64_t phys,
                        size_t buffer_bytes)
{
    queue->descriptors = (volatile struct virtio_descriptor *)memory;
    queue->available = (volatile uint16_t *)(memory + VIRTIO_AVAILABLE);
    queue->used = (volatile uint16_t *)(memory + VIRTIO_USED);
    queue->buffers = memory + 2 * VIRTIO_PAGE;
    queue->phys = phys + 2 * VIRTIO_PAGE;
    queue->buffer_bytes = buffer_bytes;
    queue->used_seen = queue->made = 0;
    memset(memory, 0, 2 * VIRTIO_PAGE);
    return virtio_queue_place(queue, phys);
}

/* Initially all buffers of a queue to the device are free. */
uint8_t *virtio_queue_used(struct virtio_queue *queue, uint32_t *bytes)
{
    volatile uint32_t *pair;

    *bytes = 0;
    if (queue->to_device && queue->made < VIRTIO_BUFFERS) {
        return queue->buffers + queue->made * queue->buffer_bytes;
    }
    const uint16_t returned = (uint16_t)(queue->used[1] - queue->used_seen);
    if (returned == 0 || returned > queue->made) { /* more buffers than it has: it is broken */
        return NULL;
    }
    virtio_barrier();
    pair = (volatile uint32_t *)(queue->used + 2) + queue->used_seen % VIRTIO_BUFFERS * 2;
    uint32_t index = pair[0] % VIRTIO_BUFFERS, length = pair[1];
    *bytes = length < queue->buffer_bytes ? length : (uint32_t)queue->buffer_bytes;
    return queue->buffers + index * queue->buffer_bytes;
}

void virtio_queue_give(struct virtio_queue *queue, uint8_t *buffer, uint32_t bytes)
{
    size_t offset = (size_t)(buffer - queue->buffers);
    uint16_t index = (uint16_t)(offset / queue->buffer_bytes);
    bool first_time = queue->made < VIRTIO_BUFFERS;

    queue->descriptors[index].address = queue->phys + offset;
    queue->descriptors[index].bytes = bytes;
    queue->descriptors[index].flags = queue->to_device ? 0 : DEVICE_WRITES;
    queue->available[2 + queue->available[1] % VIRTIO_BUFFERS] = index;
    virtio_barrier();
    queue->available[1] = (uint16_t)(queue->available[1] + 1);
    queue->made = (uint16_t)(queue->made + first_time);
    queue->used_seen = (uint16_t)(queue->used_seen + !first_time);
}

bool virtio_queue_waits(const struct virtio_queue *queue)
{
    return queue->available[1] != queue->used[1];
}

void virtio_queue_request(struct virtio_queue *queue, const struct virtio_part *parts,
                          unsigned count)
{
    for (unsigned i = 0; i < count; i++) {
        volatile struct virtio_descriptor *descriptor = &queue->descriptors[i];

        descriptor->address = parts[i].phys;
        descriptor->bytes = parts[i].bytes;
        descriptor->flags = (uint16_t)((parts[i].device_writes ? DEVICE_WRITES : 0) |
                                       (i + 1 < count ? GOES_ON : 0));
        descriptor->next = (uint16_t)(i + 1);
    }
    queue->available[2 + queue->available[1] % VIRTIO_BUFFERS] = 0;
    virtio_barrier();
    queue->available[1] = (uint16_t)(queue->available[1] + 1);
    virtio_queue_notify(queue);
}

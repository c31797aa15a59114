/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * virtio over mmio, as much as a driver process needs: version 1 ("legacy") and 2 registers, and
 * queues of one buffer a descriptor. One thread. Virtio 1.1, 2.6 and 4.2.
 */
#ifndef APPS_LINKD_VIRTIO_H
#define APPS_LINKD_VIRTIO_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define VIRTIO_BUFFERS 8 /* of a queue */
#define VIRTIO_PAGE 4096u
/* Memory of one queue, in whole pages: two of rings, then its buffers. */
#define VIRTIO_QUEUE_BYTES(buffer) \
    (2 * VIRTIO_PAGE + (VIRTIO_BUFFERS * (buffer) + VIRTIO_PAGE - 1) / VIRTIO_PAGE * VIRTIO_PAGE)

struct virtio_device {
    volatile uint32_t *registers;
    bool legacy;
    int interrupt;
};

struct virtio_descriptor {
    uint64_t address;
    uint32_t bytes;
    uint16_t flags, next;
};

struct virtio_queue {
    struct virtio_device *device;
    unsigned index; /* of the device's queues */
    volatile struct virtio_descriptor *descriptors;
    volatile uint16_t *available; /* flags, index, ring */
    volatile uint16_t *used;      /* flags, index, then pairs of u32 */
    uint8_t *buffers;
    uint64_t phys; /* of the first buffer */
    size_t buffer_bytes;
    uint16_t used_seen;
    uint16_t made; /* buffers made available so far */
    bool to_device;
};

/* The first device of this kind; false: there is none, or errno says what is wrong. */
bool virtio_find(struct virtio_device *device, uint32_t kind);
/* Up to the features, of which these are wanted; false: the device refuses. */
bool virtio_begin(struct virtio_device *device, uint32_t features);
void virtio_ready(struct virtio_device *device);
/* Reads and acknowledges why it interrupted. */
uint32_t virtio_interrupt(struct virtio_device *device);

/* `memory`: VIRTIO_QUEUE_BYTES(buffer_bytes), at a page's begin, physically contiguous at `phys`.
 * What an earlier begin left there is forgotten. */
bool virtio_queue_begin(struct virtio_queue *queue, uint8_t *memory, uint64_t phys,
                        size_t buffer_bytes);
/* The buffer that comes next back from the device, NULL: none. *bytes: what it has written. */
uint8_t *virtio_queue_used(struct virtio_queue *queue, uint32_t *bytes);
/* Gives it on: to be filled, or with so many bytes for the device. Then virtio_queue_notify(). */
void virtio_queue_give(struct virtio_queue *queue, uint8_t *buffer, uint32_t bytes);
void virtio_queue_notify(struct virtio_queue *queue);
/* Has the device buffers that it has not returned? */
bool virtio_queue_waits(const struct virtio_queue *queue);

#endif

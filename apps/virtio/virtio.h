/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * virtio over mmio or PCI, as far as driver processes need it: queues with one buffer per
 * descriptor, and queues of one request at a time. One thread. Virtio 1.1, 2.6, 4.1, 4.2.
 */
#ifndef APPS_VIRTIO_VIRTIO_H
#define APPS_VIRTIO_VIRTIO_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define VIRTIO_BUFFERS 8 /* of a queue */
#define VIRTIO_PAGE 4096u
/* Memory of one queue, in whole pages: two of rings, then its buffers. */
#define VIRTIO_QUEUE_BYTES(buffer) \
    (2 * VIRTIO_PAGE + (VIRTIO_BUFFERS * (buffer) + VIRTIO_PAGE - 1) / VIRTIO_PAGE * VIRTIO_PAGE)

struct virtio_device {
    volatile uint32_t *registers; /* over PCI, the common configuration */
    bool legacy;                  /* mmio: version 1 */
    volatile uint32_t *config;    /* PCI: the device's own configuration, and its length */
    uint32_t config_bytes;
    volatile uint8_t *notify; /* PCI: where queues are notified, its length, and the distance */
    uint32_t notify_bytes, notify_step; /* between the registers of two queues */
    int interrupt;
    uint32_t features; /* bits 0 to 31 of those that both the device and the driver support */
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
    volatile uint16_t *notify; /* PCI */
};

/* Finds the first device of this kind. Returns false if there is none, or on an error (errno). */
bool virtio_find(struct virtio_device *device, uint32_t kind);
/* Initializes the device up to the features: it must have `needed`; `wanted` are used if it has
 * them. Returns false if the device refuses them. */
bool virtio_begin(struct virtio_device *device, uint32_t needed, uint32_t wanted);
void virtio_ready(struct virtio_device *device);
/* Acknowledges an interrupt. */
void virtio_interrupt(struct virtio_device *device);

/* `memory`: VIRTIO_QUEUE_BYTES(buffer_bytes), page-aligned, physically contiguous at `phys`.
 * Discards an earlier queue there. */
bool virtio_queue_begin(struct virtio_queue *queue, uint8_t *memory, uint64_t phys,
                        size_t buffer_bytes);
/* Returns the next buffer that the device has finished, or NULL; *bytes: how many it has
 * written. */
uint8_t *virtio_queue_used(struct virtio_queue *queue, uint32_t *bytes);
/* Passes a buffer to the device: to be filled, or with so many bytes to read. Call
 * virtio_queue_notify() then. */
void virtio_queue_give(struct virtio_queue *queue, uint8_t *buffer, uint32_t bytes);
void virtio_queue_notify(struct virtio_queue *queue);
/* Returns whether the device has buffers that it has not returned. */
bool virtio_queue_waits(const struct virtio_queue *queue);

/* ---- a queue of requests, one at a time; its buffer_bytes are 0 -------------------- */

struct virtio_part {
    uint64_t phys;
    uint32_t bytes;
    bool device_writes;
};

/* Sends a request: parts that the device reads come first; at most VIRTIO_BUFFERS. Notifies the
 * device. */
void virtio_queue_request(struct virtio_queue *queue, const struct virtio_part *parts,
                          unsigned count);

/* Returns word `at` of the device's own configuration. */
uint32_t virtio_config(const struct virtio_device *device, unsigned at);

#endif

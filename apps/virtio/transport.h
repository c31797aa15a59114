/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Interface between virtio's queues (virtio.c) and the transport: virtio_mmio.c or virtio_pci.c, of
 * which a program links one. That file defines the functions of virtio.h for devices,
 * virtio_queue_notify(), and:
 */
#ifndef APPS_VIRTIO_TRANSPORT_H
#define APPS_VIRTIO_TRANSPORT_H

#include "apps/virtio/virtio.h"

/* Offsets of the rings in a queue's memory. */
#define VIRTIO_AVAILABLE (VIRTIO_BUFFERS * 16)
#define VIRTIO_USED VIRTIO_PAGE

#define VIRTIO_ACKNOWLEDGE 1u /* the device's status */
#define VIRTIO_DRIVER 2u
#define VIRTIO_DRIVER_OK 4u
#define VIRTIO_FEATURES_OK 8u
#define VIRTIO_VERSION_1 1u /* feature bit 32 */

/* Sets the addresses of the queue's rings in the device. Returns false if it has no such queue, or
 * a shorter one. */
bool virtio_queue_place(struct virtio_queue *queue, uint64_t phys);

static inline void virtio_barrier(void)
{
    __atomic_thread_fence(__ATOMIC_SEQ_CST);
}

#endif

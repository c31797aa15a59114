/* SPDX-License-Identifier: BSD-2-Clause */
/* virtio over mmio, on QEMU virt: registers of version 1 ("legacy") and 2. Virtio 1.1, 4.2. */
#include <errno.h>

#include "abi/sys/kymo.h"
#include "abi/sys/neutrino.h"
#include "apps/virtio/transport.h"

/* QEMU virt's transports. */
#define TRANSPORTS 0x0a000000u
#define TRANSPORT_BYTES 0x200u
#define TRANSPORT_COUNT 32
#define TRANSPORT_IRQ 48

/* Word offsets. */
enum {
    MAGIC = 0,
    VERSION = 0x004 / 4,
    DEVICE_ID = 0x008 / 4,
    DEVICE_FEATURES = 0x010 / 4,
    DEVICE_FEATURES_SELECT = 0x014 / 4,
    DRIVER_FEATURES = 0x020 / 4,
    DRIVER_FEATURES_SELECT = 0x024 / 4,
    GUEST_PAGE = 0x028 / 4,
    QUEUE_SELECT = 0x030 / 4,
    QUEUE_MOST = 0x034 / 4,
    QUEUE_SIZE = 0x038 / 4,
    QUEUE_ALIGN = 0x03c / 4,
    QUEUE_PAGE = 0x040 / 4,
    QUEUE_READY = 0x044 / 4,
    QUEUE_NOTIFY = 0x050 / 4,
    INTERRUPT_STATUS = 0x060 / 4,
    INTERRUPT_ACK = 0x064 / 4,
    STATUS = 0x070 / 4,
    QUEUE_DESCRIPTORS = 0x080 / 4,
    QUEUE_AVAILABLE = 0x090 / 4,
    QUEUE_USED = 0x0a0 / 4,
    CONFIG = 0x100 / 4,
};

#define MAGIC_VALUE 0x74726976u

bool virtio_find(struct virtio_device *device, uint32_t kind)
{
    struct kymo_map map = {
        .phys = TRANSPORTS,
        .len = TRANSPORT_COUNT * TRANSPORT_BYTES,
        .flags = KYMO_MAP_DEVICE | KYMO_PROT_READ | KYMO_PROT_WRITE,
    };

    if (MemMap(&map) < 0) {
        return false;
    }
    for (int i = 0; i < TRANSPORT_COUNT; i++) {
        volatile uint32_t *registers =
            (volatile uint32_t *)((uintptr_t)map.vaddr + (uintptr_t)i * TRANSPORT_BYTES);

        if (registers[MAGIC] == MAGIC_VALUE && registers[DEVICE_ID] == kind) {
            device->registers = registers;
            device->legacy = registers[VERSION] == 1;
            device->interrupt = TRANSPORT_IRQ + i;
            return true;
        }
    }
    errno = ENODEV;
    return false;
}

static uint32_t virtio_mmio_accept_features(volatile uint32_t *registers, uint32_t word,
                                            uint32_t wanted)
{
    registers[DEVICE_FEATURES_SELECT] = word;
    uint32_t got = registers[DEVICE_FEATURES] & wanted;

    registers[DRIVER_FEATURES_SELECT] = word;
    registers[DRIVER_FEATURES] = got;
    return got;
}

bool virtio_begin(struct virtio_device *device, uint32_t needed, uint32_t wanted)
{
    volatile uint32_t *registers = device->registers;

    registers[STATUS] = 0;
    registers[STATUS] = VIRTIO_ACKNOWLEDGE;
    registers[STATUS] = VIRTIO_ACKNOWLEDGE | VIRTIO_DRIVER;
    device->features = virtio_mmio_accept_features(registers, 0, needed | wanted);
    if ((device->features & needed) != needed) {
        return false;
    }
    if (device->legacy) {
        registers[GUEST_PAGE] = VIRTIO_PAGE;
        return true;
    }
    if (virtio_mmio_accept_features(registers, 1, VIRTIO_VERSION_1) != VIRTIO_VERSION_1) {
        return false;
    }
    registers[STATUS] |= VIRTIO_FEATURES_OK;
    return registers[STATUS] & VIRTIO_FEATURES_OK;
}

void virtio_ready(struct virtio_device *device)
{
    device->registers[STATUS] |= VIRTIO_DRIVER_OK;
}

void virtio_interrupt(struct virtio_device *device)
{
    device->registers[INTERRUPT_ACK] = device->registers[INTERRUPT_STATUS];
}

static void virtio_mmio_address_set(volatile uint32_t *registers, unsigned at, uint64_t phys)
{
    registers[at] = (uint32_t)phys;
    registers[at + 1] = (uint32_t)(phys >> 32);
}

bool virtio_queue_place(struct virtio_queue *queue, uint64_t phys)
{
    volatile uint32_t *registers = queue->device->registers;

    registers[QUEUE_SELECT] = queue->index;
    if (registers[QUEUE_MOST] < VIRTIO_BUFFERS) {
        return false;
    }
    registers[QUEUE_SIZE] = VIRTIO_BUFFERS;
    if (queue->device->legacy) {
        registers[QUEUE_ALIGN] = VIRTIO_PAGE;
        registers[QUEUE_PAGE] = (uint32_t)(phys / VIRTIO_PAGE);
        return true;
    }
    virtio_mmio_address_set(registers, QUEUE_DESCRIPTORS, phys);
    virtio_mmio_address_set(registers, QUEUE_AVAILABLE, phys + VIRTIO_AVAILABLE);
    virtio_mmio_address_set(registers, QUEUE_USED, phys + VIRTIO_USED);
    registers[QUEUE_READY] = 1;
    return true;
}

void virtio_queue_notify(struct virtio_queue *queue)
{
    virtio_barrier();
    queue->device->registers[QUEUE_NOTIFY] = queue->index;
}

uint32_t virtio_config(const struct virtio_device *device, unsigned at)
{
    return device->registers[CONFIG + at];
}

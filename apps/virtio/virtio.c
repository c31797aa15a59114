/* SPDX-License-Identifier: BSD-2-Clause */
/* See virtio.h. Values from the device are checked where they could lead outside our memory. */
#include "apps/virtio/virtio.h"

#include <errno.h>
#include <string.h>

#include "abi/sys/kymo.h"
#include "abi/sys/neutrino.h"

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
#define STATUS_ACKNOWLEDGE 1u
#define STATUS_DRIVER 2u
#define STATUS_DRIVER_OK 4u
#define STATUS_FEATURES_OK 8u
#define VERSION_1 1u /* feature bit 32 */
#define GOES_ON 1
#define DEVICE_WRITES 2

static void barrier(void)
{
    __atomic_thread_fence(__ATOMIC_SEQ_CST);
}

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

static uint32_t accept(volatile uint32_t *registers, uint32_t word, uint32_t wanted)
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
    registers[STATUS] = STATUS_ACKNOWLEDGE;
    registers[STATUS] = STATUS_ACKNOWLEDGE | STATUS_DRIVER;
    device->features = accept(registers, 0, needed | wanted);
    if ((device->features & needed) != needed) {
        return false;
    }
    if (device->legacy) {
        registers[GUEST_PAGE] = VIRTIO_PAGE;
        return true;
    }
    if (accept(registers, 1, VERSION_1) != VERSION_1) {
        return false;
    }
    registers[STATUS] |= STATUS_FEATURES_OK;
    return registers[STATUS] & STATUS_FEATURES_OK;
}

void virtio_ready(struct virtio_device *device)
{
    device->registers[STATUS] |= STATUS_DRIVER_OK;
}

uint32_t virtio_interrupt(struct virtio_device *device)
{
    uint32_t why = device->registers[INTERRUPT_STATUS];

    device->registers[INTERRUPT_ACK] = why;
    return why;
}

static void address_set(volatile uint32_t *registers, unsigned at, uint64_t phys)
{
    registers[at] = (uint32_t)phys;
    registers[at + 1] = (uint32_t)(phys >> 32);
}

bool virtio_queue_begin(struct virtio_queue *queue, uint8_t *memory, uint64_t phys,
                        size_t buffer_bytes)
{
    volatile uint32_t *registers = queue->device->registers;

    queue->descriptors = (volatile struct virtio_descriptor *)memory;
    queue->available = (volatile uint16_t *)(memory + VIRTIO_BUFFERS * 16);
    queue->used = (volatile uint16_t *)(memory + VIRTIO_PAGE);
    queue->buffers = memory + 2 * VIRTIO_PAGE;
    queue->phys = phys + 2 * VIRTIO_PAGE;
    queue->buffer_bytes = buffer_bytes;
    queue->used_seen = queue->made = 0;
    memset(memory, 0, 2 * VIRTIO_PAGE);
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
    address_set(registers, QUEUE_DESCRIPTORS, phys);
    address_set(registers, QUEUE_AVAILABLE, phys + VIRTIO_BUFFERS * 16);
    address_set(registers, QUEUE_USED, phys + VIRTIO_PAGE);
    registers[QUEUE_READY] = 1;
    return true;
}

/* At first, of a queue to the device, all buffers are here. */
uint8_t *virtio_queue_used(struct virtio_queue *queue, uint32_t *bytes)
{
    volatile uint32_t *pair;

    *bytes = 0;
    if (queue->to_device && queue->made < VIRTIO_BUFFERS) {
        return queue->buffers + queue->made * queue->buffer_bytes;
    }
    if (queue->used[1] == queue->used_seen) {
        return NULL;
    }
    barrier();
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
    barrier();
    queue->available[1] = (uint16_t)(queue->available[1] + 1);
    queue->made = (uint16_t)(queue->made + first_time);
    queue->used_seen = (uint16_t)(queue->used_seen + !first_time);
}

void virtio_queue_notify(struct virtio_queue *queue)
{
    barrier();
    queue->device->registers[QUEUE_NOTIFY] = queue->index;
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
    barrier();
    queue->available[1] = (uint16_t)(queue->available[1] + 1);
    virtio_queue_notify(queue);
}

uint32_t virtio_config(const struct virtio_device *device, unsigned at)
{
    return device->registers[CONFIG + at];
}

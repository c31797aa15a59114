/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * virtio over PCI, version 1: four structures in the function's memory, found by vendor
 * capabilities. All queues and the device's configuration send one message (MSI-X). Virtio 1.1,
 * 4.1; tested by test/apps/virtio/virtio_pci_test.c.
 */
#include <errno.h>

#include "apps/pci/pci.h"
#include "apps/virtio/transport.h"

#define VENDOR 0x1af4u
#define DEVICE_FIRST 0x1040u /* plus the kind */
#define TRANSITIONAL_FIRST 0x1000u
#define TRANSITIONAL_END 0x1040u /* below it the subsystem has the kind */
#define CAPABILITY_VENDOR 9
#define RESET_TRIES 1000000u

/* Offsets in a capability, and of the structure that it describes. */
enum { CAP_LENGTH = 2, CAP_KIND = 3, CAP_BAR = 4, CAP_OFFSET = 8, CAP_BYTES = 12, CAP_STEP = 16 };
enum { KIND_COMMON = 1, KIND_NOTIFY = 2, KIND_CONFIG = 4 };
#define CAP_LEAST 16u
#define CAP_NOTIFY_LEAST 20u

/* Offsets in the common configuration. */
enum {
    DEVICE_FEATURES_SELECT = 0,
    DEVICE_FEATURES = 4,
    DRIVER_FEATURES_SELECT = 8,
    DRIVER_FEATURES = 12,
    CONFIG_MESSAGE = 16,
    STATUS = 20,
    QUEUE_SELECT = 22,
    QUEUE_SIZE = 24,
    QUEUE_MESSAGE = 26,
    QUEUE_ENABLE = 28,
    QUEUE_NOTIFY = 30,
    QUEUE_DESCRIPTORS = 32,
    QUEUE_AVAILABLE = 40,
    QUEUE_USED = 48,
    COMMON_BYTES = 56,
};

static volatile uint8_t *virtio_pci_common8(const struct virtio_device *device, unsigned at)
{
    return (volatile uint8_t *)device->registers + at;
}

static volatile uint16_t *virtio_pci_common16(const struct virtio_device *device, unsigned at)
{
    return (volatile uint16_t *)(volatile void *)virtio_pci_common8(device, at);
}

static volatile uint32_t *virtio_pci_common32(const struct virtio_device *device, unsigned at)
{
    return (volatile uint32_t *)(volatile void *)virtio_pci_common8(device, at);
}

/* ---- finding ----------------------------------------------------------------------- */

static bool is_of_kind(const struct kymo_pci_function *f, uint32_t kind)
{
    uint32_t device = PCI_DEVICE(f);

    if (PCI_VENDOR(f) != VENDOR) {
        return false;
    }
    return device == DEVICE_FIRST + kind ||
           (device >= TRANSITIONAL_FIRST && device < TRANSITIONAL_END && PCI_SUBSYSTEM(f) == kind);
}

/* Maps a structure; of several of one kind the first that can be mapped. All begin at a multiple of
 * 4. */
static void structure_map(struct virtio_device *device, const struct kymo_pci_function *f,
                          unsigned at)
{
    const unsigned kind = f->config[at + CAP_KIND], bar = f->config[at + CAP_BAR];
    const uint32_t offset = pci_config32(f, at + CAP_OFFSET);
    const uint32_t bytes = pci_config32(f, at + CAP_BYTES);

    if (offset % 4 != 0) {
        return;
    }
    if (kind == KIND_COMMON && !device->registers && bytes >= COMMON_BYTES) {
        device->registers = pci_map(f, bar, offset, COMMON_BYTES);
    } else if (kind == KIND_CONFIG && !device->config) {
        device->config = pci_map(f, bar, offset, bytes);
        device->config_bytes = bytes;
    } else if (kind == KIND_NOTIFY && !device->notify &&
               f->config[at + CAP_LENGTH] >= CAP_NOTIFY_LEAST) {
        device->notify = pci_map(f, bar, offset, bytes);
        device->notify_bytes = bytes;
        device->notify_step = pci_config32(f, at + CAP_STEP);
    }
}

static bool structures_find(struct virtio_device *device, const struct kymo_pci_function *f)
{
    unsigned at = pci_capability_next(f, 0);

    for (unsigned i = 0; at && i < PCI_CAPABILITIES; i++) {
        if (f->config[at] == CAPABILITY_VENDOR && at + CAP_LEAST <= KYMO_PCI_CONFIG &&
            f->config[at + CAP_LENGTH] >= CAP_LEAST) {
            structure_map(device, f, at);
        }
        at = pci_capability_next(f, at);
    }
    return device->registers && device->notify && device->config;
}

bool virtio_find(struct virtio_device *device, uint32_t kind)
{
    unsigned count = 0;
    const struct kymo_pci_function *f = pci_functions(&count);

    for (; f && count > 0; f++, count--) {
        device->registers = NULL;
        device->config = NULL;
        device->notify = NULL;
        if (is_of_kind(f, kind) && f->line != KYMO_PCI_NO_LINE && structures_find(device, f) &&
            pci_messages_begin(f) == 0) {
            device->interrupt = f->line;
            return true;
        }
    }
    if (f) {
        errno = ENODEV;
    }
    return false;
}

/* ---- starting ---------------------------------------------------------------------- */

static uint32_t virtio_pci_accept_features(struct virtio_device *device, uint32_t word,
                                           uint32_t wanted)
{
    *virtio_pci_common32(device, DEVICE_FEATURES_SELECT) = word;
    uint32_t got = *virtio_pci_common32(device, DEVICE_FEATURES) & wanted;

    *virtio_pci_common32(device, DRIVER_FEATURES_SELECT) = word;
    *virtio_pci_common32(device, DRIVER_FEATURES) = got;
    return got;
}

/* The device is reset when its status reads 0. */
static bool virtio_pci_reset_device(struct virtio_device *device)
{
    *virtio_pci_common8(device, STATUS) = 0;
    for (unsigned i = 0; i < RESET_TRIES; i++) {
        if (*virtio_pci_common8(device, STATUS) == 0) {
            return true;
        }
    }
    return false;
}

bool virtio_begin(struct virtio_device *device, uint32_t needed, uint32_t wanted)
{
    volatile uint8_t *status = virtio_pci_common8(device, STATUS);

    if (!virtio_pci_reset_device(device)) {
        return false;
    }
    *status = VIRTIO_ACKNOWLEDGE;
    *status = VIRTIO_ACKNOWLEDGE | VIRTIO_DRIVER;
    device->features = virtio_pci_accept_features(device, 0, needed | wanted);
    if ((device->features & needed) != needed ||
        virtio_pci_accept_features(device, 1, VIRTIO_VERSION_1) != VIRTIO_VERSION_1) {
        return false;
    }
    *status |= VIRTIO_FEATURES_OK;
    *virtio_pci_common16(device, CONFIG_MESSAGE) = 0;
    return (*status & VIRTIO_FEATURES_OK) && *virtio_pci_common16(device, CONFIG_MESSAGE) == 0;
}

void virtio_ready(struct virtio_device *device)
{
    *virtio_pci_common8(device, STATUS) |= VIRTIO_DRIVER_OK;
}

/* A message needs no acknowledgement. */
void virtio_interrupt(struct virtio_device *device)
{
    (void)device;
}

static void virtio_pci_address_set(struct virtio_device *device, unsigned at, uint64_t phys)
{
    *virtio_pci_common32(device, at) = (uint32_t)phys;
    *virtio_pci_common32(device, at + 4) = (uint32_t)(phys >> 32);
}

bool virtio_queue_place(struct virtio_queue *queue, uint64_t phys)
{
    struct virtio_device *device = queue->device;

    *virtio_pci_common16(device, QUEUE_SELECT) = (uint16_t)queue->index;
    const uint64_t notify =
        (uint64_t)*virtio_pci_common16(device, QUEUE_NOTIFY) * device->notify_step;
    if (*virtio_pci_common16(device, QUEUE_SIZE) < VIRTIO_BUFFERS || notify % 2 != 0 ||
        notify + 2 > device->notify_bytes) {
        return false;
    }
    queue->notify = (volatile uint16_t *)(volatile void *)(device->notify + notify);
    *virtio_pci_common16(device, QUEUE_SIZE) = VIRTIO_BUFFERS;
    *virtio_pci_common16(device, QUEUE_MESSAGE) = 0;
    virtio_pci_address_set(device, QUEUE_DESCRIPTORS, phys);
    virtio_pci_address_set(device, QUEUE_AVAILABLE, phys + VIRTIO_AVAILABLE);
    virtio_pci_address_set(device, QUEUE_USED, phys + VIRTIO_USED);
    *virtio_pci_common16(device, QUEUE_ENABLE) = 1;
    return *virtio_pci_common16(device, QUEUE_MESSAGE) == 0;
}

void virtio_queue_notify(struct virtio_queue *queue)
{
    virtio_barrier();
    *queue->notify = (uint16_t)queue->index;
}

/* Returns 0 beyond the end. */
uint32_t virtio_config(const struct virtio_device *device, unsigned at)
{
    return at < device->config_bytes / 4 ? device->config[at] : 0;
}

/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A virtio block device. A request is three descriptors: the request's header, the data, the
 * status; they are in one page and a buffer after it, which the device reads and writes itself.
 * Virtio 1.1, 5.2. A device that does not answer is given up permanently: it may still write into
 * the buffer.
 */
#include <errno.h>
#include <string.h>

#include "apps/diskd/disk.h"
#include "apps/diskd/partition.h"
#include "apps/diskd/wait.h"
#include "apps/virtio/virtio.h"
#include "abi/sys/kymo.h"
#include "abi/sys/neutrino.h"

#define VIRTIO_BLOCK 2
#define FEATURE_READ_ONLY (1u << 5)
#define FEATURE_SECTOR_BYTES (1u << 6)
#define FEATURE_FLUSH (1u << 9)
#define FEATURE_TOPOLOGY (1u << 10)

/* Words of the configuration. */
enum { CAPACITY = 0, SECTOR_BYTES = 20 / 4, TOPOLOGY = 24 / 4 };

enum { REQUEST_READ = 0, REQUEST_WRITE = 1, REQUEST_FLUSH = 4 };
enum { STATUS_OK = 0, STATUS_NONE = 0xff };

struct request {
    uint32_t type, reserved;
    uint64_t sector;
    uint8_t status;
};

#define BUFFER_BYTES (DISKMSG_SECTORS_MOST * DISKMSG_SECTOR)
#define MEMORY_BYTES (VIRTIO_QUEUE_BYTES(0) + VIRTIO_PAGE + BUFFER_BYTES)

static struct virtio_device virtio_blk_device;
static struct virtio_queue virtio_blk_queue = {.device = &virtio_blk_device};
static volatile struct request *virtio_blk_request;
static uint64_t request_phys, buffer_phys;
static int virtio_blk_interrupt_id;
static int virtio_blk_device_gone;
static struct partition virtio_blk_partition;

static int virtio_blk_memory_map(void)
{
    struct kymo_map map = {.flags = KYMO_PROT_READ | KYMO_PROT_WRITE, .len = MEMORY_BYTES};

    if (MemMap(&map) < 0) {
        return errno;
    }
    uint8_t *memory = (uint8_t *)(uintptr_t)map.vaddr;

    if (!virtio_queue_begin(&virtio_blk_queue, memory, map.phys, 0)) {
        return ENODEV;
    }
    virtio_blk_request = (volatile struct request *)(memory + VIRTIO_QUEUE_BYTES(0));
    request_phys = map.phys + VIRTIO_QUEUE_BYTES(0);
    buffer_phys = request_phys + VIRTIO_PAGE;
    disk_virtio.buffer = memory + VIRTIO_QUEUE_BYTES(0) + VIRTIO_PAGE;
    return 0;
}

static int virtio_blk_attach_interrupt(void)
{
    struct sigevent event = {.sigev_notify = SIGEV_INTR};

    virtio_blk_interrupt_id = InterruptAttachEvent(virtio_blk_device.interrupt, &event, 0);
    return virtio_blk_interrupt_id < 0 ? errno : 0;
}

static void virtio_blk_describe_disk(struct diskmsg_info *info)
{
    uint32_t bytes = DISKMSG_SECTOR;

    info->sectors = virtio_config(&virtio_blk_device, CAPACITY) |
                    (uint64_t)virtio_config(&virtio_blk_device, CAPACITY + 1) << 32;
    if (virtio_blk_device.features & FEATURE_SECTOR_BYTES) {
        bytes = virtio_config(&virtio_blk_device, SECTOR_BYTES);
    }
    if (virtio_blk_device.features & FEATURE_TOPOLOGY) {
        bytes <<= virtio_config(&virtio_blk_device, TOPOLOGY) &
                  15; /* log2 of sectors in a physical one */
    }
    info->physical_bytes = bytes;
    info->read_only = (virtio_blk_device.features & FEATURE_READ_ONLY) != 0;
}

/* Waits until the device has answered; each interrupt may be an old one. */
static int wait_answer(void)
{
    const uint64_t deadline = disk_deadline(&disk_virtio);

    for (bool late = false; virtio_queue_waits(&virtio_blk_queue);) {
        if (late) {
            virtio_blk_device_gone = 1;
            return ENODEV;
        }
        late = !disk_interrupt(deadline);
        virtio_interrupt(&virtio_blk_device);
        InterruptUnmask(virtio_blk_device.interrupt, virtio_blk_interrupt_id);
    }
    return 0;
}

/* Makes a request with so many bytes of the buffer, which the device writes or reads. */
static int do_request(uint32_t type, uint64_t sector, uint32_t bytes)
{
    struct virtio_part parts[3] = {{request_phys, 16, false}};
    unsigned count = 1;

    if (virtio_blk_device_gone) {
        return ENODEV;
    }
    virtio_blk_request->type = type;
    virtio_blk_request->reserved = 0;
    virtio_blk_request->sector = sector;
    virtio_blk_request->status = STATUS_NONE;
    if (bytes > 0) {
        parts[count++] = (struct virtio_part){buffer_phys, bytes, type == REQUEST_READ};
    }
    parts[count++] = (struct virtio_part){request_phys + offsetof(struct request, status), 1, true};
    virtio_queue_request(&virtio_blk_queue, parts, count);
    int error = wait_answer();
    if (error) {
        return error;
    }
    return virtio_blk_request->status == STATUS_OK ? 0 : EIO;
}

static int virtio_blk_read_sectors(uint64_t sector, uint32_t sectors)
{
    return do_request(REQUEST_READ, virtio_blk_partition.first + sector, sectors * DISKMSG_SECTOR);
}

static int virtio_blk_write_sectors(uint64_t sector, uint32_t sectors)
{
    return do_request(REQUEST_WRITE, virtio_blk_partition.first + sector, sectors * DISKMSG_SECTOR);
}

/* Without the feature the device has no cache: data that it has acknowledged is on the medium. */
static int virtio_blk_flush_cache(void)
{
    return virtio_blk_device.features & FEATURE_FLUSH ? do_request(REQUEST_FLUSH, 0, 0) : 0;
}

static int virtio_blk_open_disk(struct diskmsg_info *info)
{
    if (!virtio_find(&virtio_blk_device, VIRTIO_BLOCK)) {
        return errno;
    }
    if (!virtio_begin(&virtio_blk_device, 0,
                      FEATURE_READ_ONLY | FEATURE_SECTOR_BYTES | FEATURE_FLUSH |
                          FEATURE_TOPOLOGY)) {
        return ENODEV;
    }
    int error = virtio_blk_memory_map();
    error = error ? error : virtio_blk_attach_interrupt();
    if (error) {
        return error;
    }
    virtio_ready(&virtio_blk_device);
    virtio_blk_describe_disk(info);
    error = do_request(REQUEST_READ, 0, DISKMSG_SECTOR);
    error =
        error ? error : partition_find(disk_virtio.buffer, info->sectors, &virtio_blk_partition);
    info->sectors = virtio_blk_partition.sectors;
    return error;
}

struct disk disk_virtio = {
    .name = "virtio-blk",
    .open = virtio_blk_open_disk,
    .read = virtio_blk_read_sectors,
    .write = virtio_blk_write_sectors,
    .flush = virtio_blk_flush_cache,
};

/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The sink "block:NAME": the capture goes to a disk without a file system, through its driver
 * process (diskd), as a block log (lib/blocklog, docs/reference/format.md): when a write returns,
 * the data is on the medium. Buffers that are READY together form a record; smaller data is
 * combined. A buffer that the medium refuses permanently is lost, and only that; data for a full
 * disk is lost and counted there, in reserved frames. `kymo extract` reads the captures from the
 * disk, and adds each buffer's CHECK and BUFFER_END, which are computed from its slots and take no
 * room on the disk.
 */
#include <errno.h>
#include <kymo.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/diskmsg.h>
#include <sys/dispatch.h>
#include <time.h>
#include <unistd.h>

#include "abi/sys/neutrino.h"
#include "lib/blocklog/blocklog.h"
#include "tracelogger/sink.h"
#include "trace/slot.h"

enum { LOOK_MS = 10, SAY_MS = 1000 };

_Static_assert(SINK_TOGETHER <= BLOCKLOG_TOGETHER, "pieces of a record");

static struct blocklog sink_block_log_state;
static int sink_block_coid = -1;
/* Data outside buffers: the capture's header, DROPPED slots after a buffer. */
static _Alignas(8) uint8_t small[BLOCKLOG_DATA_BYTES];
static uint32_t small_bytes;
static bool sink_block_is_full; /* from now on only small data is written: previous state */

static int sink_block_request_sectors(uint16_t type, uint64_t sector, uint32_t sectors,
                                      const void *out, void *in)
{
    const struct diskmsg head = {type, 0, sectors, sector};
    size_t bytes = (size_t)sectors * DISKMSG_SECTOR;
    iov_t parts[2], room;

    SETIOV(&parts[0], &head, sizeof(head));
    SETIOV(&parts[1], out, bytes);
    SETIOV(&room, in, bytes);
    long result = MsgSendv(sink_block_coid, parts, out ? 2 : 1, &room, in ? 1 : 0);
    /* The driver has ended, or considers the disk gone. */
    return result >= 0 ? 0 : errno == EIO || errno == EROFS ? -errno : -ENODEV;
}

static int sink_block_disk_read(void *context, uint64_t sector, void *data, uint32_t sectors)
{
    (void)context;
    return sink_block_request_sectors(DISKMSG_READ, sector, sectors, NULL, data);
}

static int sink_block_disk_write(void *context, uint64_t sector, const void *data, uint32_t sectors)
{
    (void)context;
    return sink_block_request_sectors(DISKMSG_WRITE, sector, sectors, data, NULL);
}

static int sink_block_disk_flush(void *context)
{
    (void)context;
    return sink_block_request_sectors(DISKMSG_FLUSH, 0, 0, NULL, NULL);
}

static struct blocklog_disk sink_block_disk_calls = {
    .read = sink_block_disk_read, .write = sink_block_disk_write, .flush = sink_block_disk_flush};

/* A driver that still searches for its disk has only its other name: the name that is waited for is
 * attached later, or the driver ends. Returns the connection, or -1: there is no driver. */
static int driver_open(void)
{
    struct kymo_name driver;
    bool looks;

    for (unsigned ms = 0;; ms += LOOK_MS) {
        looks = NameLookup(DISKMSG_DRIVER, &driver) == 0; /* before the other name is looked up */
        int found = name_open(DISKMSG_NAME, 0);
        if (found >= 0 || !looks) {
            return found;
        }
        if (ms == SAY_MS) {
            printf("tracelogger: waiting for diskd, which is looking for its disk\n");
        }
        usleep(LOOK_MS * 1000);
    }
}

static int sink_block_open_disk(void)
{
    const struct diskmsg head = {.type = DISKMSG_INFO};
    struct diskmsg_info info;

    sink_block_coid = driver_open();
    if (sink_block_coid < 0) {
        printf("tracelogger: diskd is not running: start it first\n");
        errno = 0;
        return -1;
    }
    if (MsgSend(sink_block_coid, &head, sizeof(head), &info, sizeof(info)) < 0) {
        return -1;
    }
    if (info.read_only) {
        errno = EROFS;
        return -1;
    }
    sink_block_disk_calls.sectors = info.sectors;
    sink_block_disk_calls.physical_bytes = info.physical_bytes;
    return 0;
}

/* Reports once that a search takes a while. */
static void sink_block_report_search(void *said, uint64_t done, uint64_t sectors)
{
    if (done > 0 && !*(bool *)said) {
        *(bool *)said = true;
        printf("tracelogger: searching all %llu MB of the disk for captures; --format --force "
               "skips the search\n",
               (unsigned long long)(sectors / (1048576u / DISKMSG_SECTOR)));
    }
}

/* The disk has no description of a log; records may exist nevertheless. */
static void say_no_log(int result)
{
    if (result == -EFBIG) {
        printf(
            "tracelogger: the block log on the disk was made for a larger disk: kymo extract takes "
            "its captures off\n");
    } else if (blocklog_holds_captures(&sink_block_log_state, &sink_block_disk_calls, small) > 0) {
        printf("tracelogger: the block log on the disk is damaged: kymo extract takes its captures "
               "off\n");
    } else {
        printf("tracelogger: the disk has no block log: --format makes one; all that is on the "
               "disk is "
               "lost\n");
    }
}

static int sink_block_open_log(void)
{
    static bool said;

    sink_block_log_state.progress = sink_block_report_search;
    sink_block_log_state.progress_what = &said;
    /* A disk is formatted only if no capture is lost by it, or on request. */
    int result = sink_settings.format && !sink_settings.force
                     ? blocklog_holds_captures(&sink_block_log_state, &sink_block_disk_calls, small)
                     : 0;

    if (result > 0) {
        printf("tracelogger: captures are on the disk: kymo extract takes them off; --reclaim "
               "deletes the oldest when the disk is full, --format --force all\n");
        return -EEXIST;
    }
    if (result != 0) {
        return result;
    }
    result = sink_settings.format ? blocklog_format(&sink_block_log_state, &sink_block_disk_calls,
                                                    ClockCycles() ^ (uint64_t)time(NULL) << 32)
                                  : blocklog_open(&sink_block_log_state, &sink_block_disk_calls);

    sink_block_log_state.reclaims = sink_settings.reclaim;
    if (result == -EILSEQ || result == -EFBIG) {
        say_no_log(result);
    }
    return result;
}

static int sink_block_open(const char *name)
{
    if (sink_block_open_disk() != 0) {
        return -1;
    }
    int result = sink_block_open_log();

    if (result == 0) {
        /* 0: the board has no real-time clock, and the time was not set. */
        time_t now = time(NULL);
        uint64_t known = now >= (time_t)BLOCKLOG_TIME_LEAST ? (uint64_t)now : 0;

        result = blocklog_begin(&sink_block_log_state, *name ? name : "trace.kev", known);
        if (result == -ENOSPC) {
            printf("tracelogger: the disk is full of captures: --reclaim deletes the oldest\n");
        }
    }
    if (result != 0) {
        name_close(sink_block_coid);
        bool said = result == -EILSEQ || result == -EFBIG || result == -EEXIST;

        errno = said ? 0 : -result; /* by sink_block_open_log() */
        return -1;
    }
    return 0;
}

static int disk_is_full(void)
{
    if (!sink_block_is_full) {
        printf("tracelogger: write: %s: the events from here on are only counted\n",
               strerror(ENOSPC));
    }
    sink_block_is_full = true;
    return SINK_FULL;
}

/* Writes the small data as a separate record. Losing it would leave an unreadable capture, or an
 * unrecorded loss, so a failure ends the capture. There is room for it on a full disk, too. */
static int append_small(void)
{
    uint32_t bytes = small_bytes;
    int result = 0;

    small_bytes = 0;
    if (bytes > 0 && !sink_block_is_full) {
        result = blocklog_append(&sink_block_log_state, small, bytes, 0, 0);
    }
    if (bytes > 0 && (sink_block_is_full || result == -ENOSPC)) {
        disk_is_full();
        result = blocklog_append_last(&sink_block_log_state, small, bytes);
    }
    errno = -result;
    return result == 0 ? 0 : -1;
}

static long sink_block_write(const void *data, size_t bytes)
{
    for (size_t done = 0, part; done < bytes; done += part) {
        size_t room = sizeof(small) - small_bytes;

        part = bytes - done < room ? bytes - done : room;
        memcpy(small + small_bytes, (const uint8_t *)data + done, part);
        small_bytes += (uint32_t)part;
        if (small_bytes == sizeof(small) && append_small() != 0) {
            return -1;
        }
    }
    return (long)bytes;
}

static void block_buffers(struct sink_buffer *buffers, unsigned count)
{
    struct blocklog_buffer pieces[SINK_TOGETHER];
    /* On a full disk they wait for the end: few frames are left. */
    bool bad = !sink_block_is_full && append_small() != 0;

    for (unsigned i = 0; i < count; i++) {
        pieces[i] = (struct blocklog_buffer){buffers[i].slots,
                                             (uint32_t)(buffers[i].count * TRACE_SLOT_BYTES),
                                             (uint32_t)buffers[i].count,
                                             (uint16_t)buffers[i].cpu,
                                             -ENOSPC,
                                             BLOCKLOG_CHECKED};
    }
    for (unsigned i = 0; (bad || sink_block_is_full) && i < count; i++) {
        blocklog_lose(&sink_block_log_state, pieces[i].slots);
    }
    if (!bad && !sink_block_is_full) {
        blocklog_append_all(&sink_block_log_state, pieces, count);
    }
    for (unsigned i = 0; i < count; i++) {
        int result = pieces[i].result;

        if (bad || result == 0) {
            buffers[i].result = bad ? -1 : 0;
        } else if (result == -ENOSPC) {
            buffers[i].result = disk_is_full();
        } else {
            errno = -result;
            buffers[i].result = result == -EIO ? SINK_LOST : -1;
        }
    }
}

static int block_close(void)
{
    int result = append_small() == 0 ? 0 : -errno;
    int ended = blocklog_end(&sink_block_log_state);

    if (sink_block_log_state.tries > 0) {
        printf("tracelogger: the disk failed %u times; %u places of it were passed over\n",
               (unsigned)sink_block_log_state.tries, (unsigned)sink_block_log_state.passed_over);
    }
    name_close(sink_block_coid);
    result = result == 0 ? ended : result;
    errno = -result;
    return result == 0 ? 0 : -1;
}

/* A capture without its end is listed as incomplete; pending small data isn't written. */
static void block_abandon(bool useless)
{
    if (!useless) {
        append_small();
    }
    name_close(sink_block_coid);
}

const struct sink sink_block = {
    .prefix = "block:",
    .open = sink_block_open,
    .write = sink_block_write,
    .buffers = block_buffers,
    .adds_trailers = true,
    .close = block_close,
    .abandon = block_abandon,
};

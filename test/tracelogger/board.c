/* SPDX-License-Identifier: BSD-2-Clause */
/* See board.h. */
#include "test/tracelogger/board.h"

#include <errno.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/diskmsg.h>
#include <sys/dispatch.h>
#include <sys/linkmsg.h>
#include <time.h>

#include "abi/sys/kymo.h"
#include "abi/sys/neutrino.h"
#include "abi/sys/trace.h"
#include "abi/syspage.h"
#include "lib/include/kymo.h"
#include "trace/slot.h"
#include "tracelogger/lag.h"
#include "tracelogger/object.h"

#define DISK 1
#define LINK 2
#define BUFFER_BYTES (TRACE_BUFFER_SLOTS * TRACE_SLOT_BYTES)

struct board board;

uint64_t board_random(uint64_t below)
{
    board.random ^= board.random << 13;
    board.random ^= board.random >> 7;
    board.random ^= board.random << 17;
    return board.random % below;
}

void board_begin(uint64_t seed, uint8_t *got, size_t room)
{
    board = (struct board){.random = seed * 0x9e3779b97f4a7c15u + 88172645463325252u,
                           .got = got,
                           .room = room,
                           .time = 1};
    board.cpus = 1 + (unsigned)board_random(4);
    board.page_bytes = (uint32_t)(sizeof(struct kymo_syspage) + board_random(40000));
    board.left = (unsigned)board_random(80);
    board.block = calloc(BOARD_BUFFERS, BUFFER_BYTES);
    model_begin(&board.disk, BOARD_SECTORS, seed);
    board.disk.disk.physical_bytes = seed % 2 ? 512 : 4096;
}

/* ---- the kernel -------------------------------------------------------------------- */

static void fill(struct trace_slot *slots, const struct kymo_trace_buffer *buffer)
{
    for (uint32_t i = 0; i < buffer->slots; i++) {
        bool dropped = i == 2 && board_random(4) == 0;
        uint32_t class = dropped || i < 2 ? TRACE_CLASS_CONTROL : TRACE_CLASS_USER;
        uint32_t event = dropped ? TRACE_CONTROL_DROPPED : (uint32_t)board_random(1024);

        slots[i] =
            (struct trace_slot){TRACE_HEADER(buffer->cpu, TRACE_STRUCT_S, class, event),
                                (uint32_t)board.time++, (uint32_t)board_random(UINT32_MAX), i};
        if (dropped) {
            uint32_t of = 1 + (uint32_t)board_random(KYMO_TRACE_CLASSES - 1);

            slots[i].d1 = (1 + (uint32_t)board_random(2)) << 8 | of;
            board.made[buffer->cpu][of] += slots[i].d2;
        } else {
            board.made[buffer->cpu][class] += class != TRACE_CLASS_CONTROL;
        }
    }
    slots[0].header =
        TRACE_HEADER(buffer->cpu, TRACE_STRUCT_S, TRACE_CLASS_CONTROL, TRACE_CONTROL_BUFFER);
    slots[0].d2 = buffer->slots;
    slots[1].header =
        TRACE_HEADER(buffer->cpu, TRACE_STRUCT_S, TRACE_CLASS_CONTROL, TRACE_CONTROL_TIME);
}

/* True if the disk never takes what begins with this slot. */
static bool is_refused(const struct trace_slot *first)
{
    return board.refuses && TRACE_GET_CLASS(first->header) == TRACE_CLASS_CONTROL &&
           TRACE_GET_EVENT(first->header) == TRACE_CONTROL_BUFFER && first->d1 % 8 == 0;
}

static int take(struct kymo_trace_buffer *buffer)
{
    if (board.ready == 0) {
        errno = EAGAIN;
        return -1;
    }
    board.ready--;
    board.left--;
    board.in_hand++;
    board.at_once = board.in_hand > board.at_once ? board.in_hand : board.at_once;
    uint32_t cpu = (uint32_t)board_random(board.cpus);
    uint32_t slots_most = board_random(4) ? TRACE_BUFFER_SLOTS - 1 : 1; /* some have no events */
    *buffer = (struct kymo_trace_buffer){cpu, board.taken++ % BOARD_BUFFERS, ++board.sequence[cpu],
                                         2 + (uint32_t)board_random(slots_most)};
    struct trace_slot *slots = (void *)(board.block + (size_t)buffer->index * BUFFER_BYTES);
    fill(slots, buffer);
    board.refused += is_refused(slots) ? buffer->slots : 0;
    /* Without events, its TIME is what is lost. */
    board.made[cpu][TRACE_CLASS_CONTROL] += is_refused(slots) && buffer->slots == 2;
    return 0;
}

/* What the stream does not tell of: the same however often it is asked. Asked once by each CPU. */
static void losses(uint32_t cpu, struct kymo_trace_loss *loss)
{
    *loss = (struct kymo_trace_loss){0};
    for (uint32_t reason = 1; reason < KYMO_TRACE_REASONS; reason++) {
        loss->pending[reason][(reason * 5 + cpu) % KYMO_TRACE_CLASSES] = reason % 3 ? cpu * 7 : 0;
    }
    loss->pending[1][TRACE_CLASS_USER] = UINT64_C(0x100000005);
    for (uint32_t i = 0; i < KYMO_TRACE_REASONS * KYMO_TRACE_CLASSES; i++) {
        board.made[cpu][i % KYMO_TRACE_CLASSES] +=
            loss->pending[i / KYMO_TRACE_CLASSES][i % KYMO_TRACE_CLASSES];
    }
}

int TraceEvent(int cmd, ...)
{
    va_list list;
    int result = 0;

    va_start(list, cmd);
    if ((uint32_t)cmd == KYMO_TRACE_TAKEBUFFER) {
        result = take(va_arg(list, struct kymo_trace_buffer *));
    } else if ((uint32_t)cmd == KYMO_TRACE_GIVEBUFFER) {
        memset(board.block + (size_t)va_arg(list, uint32_t) * BUFFER_BYTES, 0x5a, BUFFER_BYTES);
        board.in_hand--;
    } else if ((uint32_t)cmd == KYMO_TRACE_QUERYLOSS) {
        uint32_t cpu = va_arg(list, uint32_t);
        losses(cpu, va_arg(list, struct kymo_trace_loss *));
    } else {
        abort();
    }
    va_end(list);
    return result;
}

long SyspageRead(size_t offset, void *buffer, size_t bytes)
{
    struct kymo_syspage page = {.magic = KYMO_SYSPAGE_MAGIC,
                                .size = board.page_bytes,
                                .ncpu = board.cpus,
                                .boot_time = 1600000000,
                                .board = "none",
                                .cpu_name = "any"};
    uint8_t *to = buffer;
    size_t n = 0;

    for (; n < bytes && offset + n < board.page_bytes; n++) {
        size_t at = offset + n;

        to[n] = at < sizeof(page) ? ((const uint8_t *)&page)[at] : (uint8_t)(at * 131);
    }
    return (long)n;
}

unsigned kymo_cpus(void)
{
    return board.cpus;
}

uint64_t ClockCycles(void)
{
    return 12345;
}

time_t time(time_t *now)
{
    if (now) {
        *now = 1700000000;
    }
    return 1700000000;
}

int clock_gettime(clockid_t clock, struct timespec *now)
{
    (void)clock;
    *now = (struct timespec){.tv_sec = 1700000000, .tv_nsec = 5000};
    return 0;
}

void lag_note(const struct kymo_trace_buffer *taken, const struct trace_slot *slots)
{
    if (taken->slots != slots[0].d2) {
        abort();
    }
}

/* ---- what is written --------------------------------------------------------------- */

static long store(const void *data, size_t bytes)
{
    if (bytes > board.room - board.bytes) {
        abort();
    }
    memcpy(board.got + board.bytes, data, bytes);
    board.bytes += bytes;
    return (long)bytes;
}

long HostCall(int op, const void *a, size_t b, int c)
{
    (void)c;
    board.ended = op == KYMO_HOST_CLOSE;
    return op == KYMO_HOST_WRITE ? store(a, b) : 0;
}

int name_open(const char *path, int flags)
{
    (void)flags;
    return strcmp(path, DISKMSG_NAME) == 0 ? DISK : LINK;
}

/* The disk's driver has long found it. */
int NameLookup(const char *name, struct kymo_name *out)
{
    memset(out, 0, sizeof(*out));
    return strcmp(name, DISKMSG_DRIVER) == 0 ? 0 : -1;
}

int name_close(int coid)
{
    return coid > 0 ? 0 : -1;
}

int TimerTimeout(int clockid, unsigned flags, const struct sigevent *notify, const uint64_t *ntime,
                 uint64_t *otime)
{
    (void)clockid, (void)flags, (void)notify, (void)ntime, (void)otime;
    return 0;
}

long MsgSend(int coid, const void *smsg, size_t sbytes, void *rmsg, size_t rbytes)
{
    const struct blocklog_disk *disk = &board.disk.disk;
    const struct diskmsg_info info = {disk->sectors, disk->physical_bytes, 0};

    (void)smsg;
    if (coid != DISK || sbytes != sizeof(struct diskmsg) || rbytes != sizeof(info)) {
        abort();
    }
    memcpy(rmsg, &info, sizeof(info));
    return 0;
}

/* A fault is one of the next operations, now and then; diskd answers with errors as this. */
static long diskd(const struct diskmsg *msg, const void *out, void *in)
{
    struct model *model = &board.disk;
    int result = -EINVAL;

    if (board.faults && model->fail_times == 0 && model_random(model, 6) == 0) {
        model->fail_at = (int64_t)model_random(model, 3);
        model->fail_times = 1;
    }
    if (msg->type == DISKMSG_READ) {
        result = model->disk.read(model, msg->sector, in, msg->sectors);
    } else if (msg->type == DISKMSG_WRITE && is_refused(out)) {
        result = -EIO;
    } else if (msg->type == DISKMSG_WRITE) {
        result = model->disk.write(model, msg->sector, out, msg->sectors);
    } else if (msg->type == DISKMSG_FLUSH) {
        result = model->disk.flush(model);
    }
    errno = -result;
    return result == 0 ? 0 : -1;
}

long MsgSendv(int coid, const iov_t *siov, size_t sparts, const iov_t *riov, size_t rparts)
{
    const struct diskmsg *msg = GETIOVBASE(&siov[0]);
    size_t bytes = (size_t)msg->sectors * DISKMSG_SECTOR;

    if (coid != DISK || msg->sectors > DISKMSG_SECTORS_MOST ||
        (sparts == 2 && GETIOVLEN(&siov[1]) != bytes) ||
        (rparts == 1 && GETIOVLEN(riov) != bytes)) {
        abort();
    }
    return diskd(msg, sparts == 2 ? GETIOVBASE(&siov[1]) : NULL,
                 rparts == 1 ? GETIOVBASE(riov) : NULL);
}

long MsgSendvs(int coid, const iov_t *siov, size_t sparts, void *rmsg, size_t rbytes)
{
    const struct linkmsg *msg = GETIOVBASE(&siov[0]);

    (void)rmsg, (void)rbytes;
    if (coid != LINK || sparts != 2 || msg->bytes != GETIOVLEN(&siov[1])) {
        abort();
    }
    board.ended = msg->type == LINKMSG_END;
    if (msg->type == LINKMSG_ASK) {
        return 1;
    }
    return msg->type == LINKMSG_DATA ? store(GETIOVBASE(&siov[1]), msg->bytes) : 0;
}

const char *object_name(const char *name)
{
    return name;
}

int object_make(const char *name, uint64_t size, unsigned mode)
{
    (void)name, (void)mode;
    return size <= board.room ? 3 : -1;
}

int MemMap(struct kymo_map *map)
{
    bool trace = map->flags & KYMO_MAP_TRACE;

    map->vaddr = (uintptr_t)(trace ? board.block : board.got);
    map->len = trace ? (uint64_t)BOARD_BUFFERS * BUFFER_BYTES : board.room;
    return 0;
}

int MemUnmap(void *addr, size_t len)
{
    (void)addr, (void)len;
    return 0;
}

int ObjectSize(int id, size_t bytes)
{
    (void)id;
    board.bytes = bytes;
    return 0;
}

int ObjectClose(int id)
{
    (void)id;
    board.ended = true;
    return 0;
}

int ObjectUnlink(const char *name)
{
    (void)name;
    return 0;
}

/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * apps/linkd/line_virtio.c and apps/virtio/virtio.c against a console device that says anything:
 * bytes and hosts as they come, lengths that are wrong or change, buffers that it was never given,
 * more control messages than it has room for, and a device that is gone. The queues' memory is of
 * its very length, so that ASan sees an access beside it. KYMO_SEED=n repeats the random part.
 */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <cmocka.h>

#include "abi/sys/kymo.h"
#include "abi/sys/neutrino.h"
#include "apps/linkd/line.h"
#include "apps/virtio/transport.h"

#define QUEUES 6
#define PHYS UINT64_C(0x100000)
#define BUFFER 8192u
#define LINE 130
#define ROUNDS 2000

enum { CONTROL_IN = 2, CONTROL_OUT = 3, PORT_IN = 4, PORT_OUT = 5 };
enum { DEVICE_READY = 0, DEVICE_ADD = 1, PORT_OPEN = 6 };

struct control {
    uint32_t port;
    uint16_t event, value;
};

static uint8_t *memory;
static size_t memory_bytes;
static struct virtio_queue *queues[QUEUES]; /* as the driver has placed them */
static uint16_t taken[QUEUES];              /* buffers that the device has taken */
static unsigned begun, unmasked, notified;
static bool exists, refuses;

/* ---- what the driver calls --------------------------------------------------------- */

int MemMap(struct kymo_map *map)
{
    assert_null(memory);
    assert_int_equal(map->flags, KYMO_PROT_READ | KYMO_PROT_WRITE);
    memory = aligned_alloc(VIRTIO_PAGE, map->len);
    memory_bytes = map->len;
    map->vaddr = (uintptr_t)memory;
    map->phys = PHYS;
    return 0;
}

int InterruptAttachEvent(int line, const struct sigevent *event, unsigned flags)
{
    assert_true(line == LINE && event && flags == 0);
    return 7;
}

int InterruptUnmask(int line, int id)
{
    assert_true(line == LINE && id == 7);
    unmasked++;
    return 0;
}

bool virtio_find(struct virtio_device *device, uint32_t kind)
{
    assert_int_equal(kind, 3);
    device->interrupt = LINE;
    errno = ENODEV;
    return exists;
}

bool virtio_begin(struct virtio_device *device, uint32_t needed, uint32_t wanted)
{
    (void)device;
    assert_true(needed == 2 && wanted == 0);
    memset(taken, 0, sizeof(taken));
    begun++;
    return !refuses;
}

void virtio_ready(struct virtio_device *device)
{
    (void)device;
}

void virtio_interrupt(struct virtio_device *device)
{
    (void)device;
}

bool virtio_queue_place(struct virtio_queue *queue, uint64_t phys)
{
    assert_true(queue->index < QUEUES && phys % VIRTIO_PAGE == 0);
    assert_ptr_equal(queue->descriptors, memory + (phys - PHYS));
    queues[queue->index] = queue;
    return true;
}

void virtio_queue_notify(struct virtio_queue *queue)
{
    (void)queue;
    notified++;
}

/* ---- the device -------------------------------------------------------------------- */

/* The buffer that the driver gave next, NULL: none. It lies in the driver's memory. */
static uint8_t *take(unsigned q, uint32_t *index, uint32_t *bytes)
{
    struct virtio_queue *queue = queues[q];

    if (taken[q] == queue->available[1]) {
        return NULL;
    }
    *index = queue->available[2 + taken[q]++ % VIRTIO_BUFFERS];
    assert_true(*index < VIRTIO_BUFFERS);
    const uint64_t at = queue->descriptors[*index].address;
    *bytes = queue->descriptors[*index].bytes;
    assert_true(at >= PHYS && *bytes <= memory_bytes && at - PHYS <= memory_bytes - *bytes);
    return memory + (at - PHYS);
}

static volatile uint32_t *used_pair(unsigned q)
{
    return (volatile uint32_t *)(queues[q]->used + 2) + queues[q]->used[1] % VIRTIO_BUFFERS * 2;
}

static void give_back(unsigned q, uint32_t index, uint32_t bytes)
{
    volatile uint32_t *pair = used_pair(q);

    pair[0] = index;
    pair[1] = bytes;
    queues[q]->used[1] = (uint16_t)(queues[q]->used[1] + 1);
}

/* False: the driver has given no buffer for it. */
static bool device_sends(unsigned q, const void *bytes, uint32_t count)
{
    uint32_t index, room;
    uint8_t *buffer = take(q, &index, &room);

    if (!buffer) {
        return false;
    }
    assert_true(count <= room);
    memcpy(buffer, bytes, count);
    give_back(q, index, count);
    return true;
}

static bool device_says(uint32_t port, uint16_t event, uint16_t value)
{
    const struct control message = {port, event, value};

    return device_sends(CONTROL_IN, &message, sizeof(message));
}

/* What the driver has said, until it is read. Returns its bytes. */
static uint32_t device_reads(unsigned q, void *to)
{
    uint32_t index, bytes;
    const uint8_t *buffer = take(q, &index, &bytes);

    if (!buffer) {
        return 0;
    }
    memcpy(to, buffer, bytes);
    give_back(q, index, 0);
    return bytes;
}

static int begin(void **state)
{
    (void)state;
    exists = true;
    refuses = false;
    begun = unmasked = notified = 0;
    return 0;
}

/* Opened anew: the driver's variables are as they were left, as after a device that was reset. */
static void open_line(void)
{
    struct control said;

    free(memory);
    memory = NULL;
    assert_int_equal(line_virtio.open(1, 1), 0);
    assert_int_equal(device_reads(CONTROL_OUT, &said), sizeof(said));
    assert_true(said.event == DEVICE_READY && said.value == 1);
}

static void plug(void)
{
    assert_true(device_says(1, DEVICE_ADD, 0) && device_says(1, PORT_OPEN, 1));
    assert_int_equal(line_virtio.interrupt(), LINE_PLUGGED);
}

/* ---- tests ------------------------------------------------------------------------- */

static void no_device_is_told_from_one_that_refuses(void **state)
{
    (void)state;
    exists = false;
    assert_int_equal(line_virtio.open(1, 1), -1);
    assert_int_equal(errno, ENODEV); /* the next kind of line is tried */
    exists = refuses = true;
    assert_int_equal(line_virtio.open(1, 1), -1);
    assert_int_equal(errno, EIO);
}

static void bytes_go_both_ways(void **state)
{
    uint8_t out[3 * BUFFER], in[BUFFER], got[64];
    size_t done = 0;

    (void)state;
    open_line();
    plug();
    line_virtio.rearm();
    assert_int_equal(unmasked, 1);
    for (size_t i = 0; i < sizeof(out); i++) {
        out[i] = (uint8_t)(i * 7 + i / 256);
    }
    assert_true(device_sends(PORT_IN, out, 100) && device_sends(PORT_IN, out + 100, 1));
    for (size_t n; (n = line_virtio.read(got, sizeof(got))) > 0; done += n) {
        assert_memory_equal(got, out + done, n);
    }
    assert_int_equal(done, 101);
    for (done = 0; done < sizeof(out);) {
        done += line_virtio.write(out + done, sizeof(out) - done);
    }
    line_virtio.flush();
    for (done = 0; done < sizeof(out); done += BUFFER) {
        assert_int_equal(device_reads(PORT_OUT, in), BUFFER);
        assert_memory_equal(in, out + done, BUFFER);
    }
    assert_int_equal(device_reads(PORT_OUT, in), 0);
}

static void empty_buffers_hide_none_behind_them(void **state)
{
    uint8_t got[8];

    (void)state;
    open_line();
    for (unsigned i = 1; i < VIRTIO_BUFFERS; i++) {
        assert_true(device_sends(PORT_IN, "", 0));
    }
    assert_true(device_sends(PORT_IN, "x", 1));
    assert_int_equal(line_virtio.read(got, sizeof(got)), 1);
    assert_int_equal(got[0], 'x');
    assert_int_equal(line_virtio.read(got, sizeof(got)), 0);
}

/* A buffer's length becomes less while it is read, or it was never as long. */
static void a_length_that_changes(void **state)
{
    uint8_t bytes[BUFFER] = {0}, got[256];
    size_t all = 0;

    (void)state;
    open_line();
    volatile uint32_t *pair = used_pair(PORT_IN);
    assert_true(device_sends(PORT_IN, bytes, 1000));
    all += line_virtio.read(got, sizeof(got));
    pair[1] = 10;
    for (unsigned i = 0; i < 1000; i++) {
        all += line_virtio.read(got, sizeof(got));
    }
    assert_int_equal(all, 1000);
    pair = used_pair(PORT_IN);
    assert_true(device_sends(PORT_IN, bytes, 1));
    pair[0] = UINT32_MAX;
    pair[1] = UINT32_MAX;
    for (all = 0; line_virtio.read(got, sizeof(got)) > 0;) {
        all += sizeof(got);
    }
    assert_int_equal(all, BUFFER);
}

/* It returns buffers that it was never given: they aren't read. */
static void more_than_it_was_given(void **state)
{
    uint8_t got[256];

    (void)state;
    open_line();
    plug();
    queues[PORT_IN]->used[1] = 5000;
    queues[CONTROL_IN]->used[1] = 5000;
    queues[PORT_OUT]->used[1] = 5000;
    assert_int_equal(line_virtio.read(got, sizeof(got)), 0);
    assert_int_equal(line_virtio.interrupt(), LINE_STEADY);
    size_t written = 0;
    for (unsigned i = 0; i < 1000; i++) {
        written += line_virtio.write(got, sizeof(got));
    }
    assert_int_equal(written, VIRTIO_BUFFERS * BUFFER);
}

static void a_storm_of_control_messages(void **state)
{
    struct control said;

    (void)state;
    open_line();
    for (unsigned i = 0; i < 100; i++) {
        while (device_says(i, DEVICE_ADD, 0)) {
        }
        line_virtio.interrupt();
        assert_int_equal(line_virtio.interrupt(), LINE_STEADY);
    }
    assert_true(device_sends(CONTROL_IN, "abc", 3)); /* too short */
    assert_int_equal(line_virtio.interrupt(), LINE_STEADY);
    while (device_reads(CONTROL_OUT, &said) > 0) {
        assert_true(said.port == 0 || said.port == 1);
    }
}

/* Nothing that is written is taken, or comes: the driver waits, and begins it again when the host
 * went; if it refuses then, the line is dead but the process is not. */
static void a_device_that_is_gone(void **state)
{
    uint8_t bytes[BUFFER] = {0};
    size_t written = 0;

    (void)state;
    open_line();
    plug();
    for (unsigned i = 0; i < 100; i++) {
        written += line_virtio.write(bytes, sizeof(bytes));
        line_virtio.flush();
    }
    assert_int_equal(written, VIRTIO_BUFFERS * BUFFER);
    assert_int_equal(line_virtio.read(bytes, sizeof(bytes)), 0);
    unsigned before = begun;
    assert_true(device_says(1, PORT_OPEN, 0));
    assert_int_equal(line_virtio.interrupt(), LINE_UNPLUGGED);
    assert_int_equal(begun, before + 1);
    assert_int_equal(line_virtio.write(bytes, 1), 1);
    line_virtio.flush();
    plug();
    refuses = true;
    assert_true(device_says(1, PORT_OPEN, 0));
    assert_int_equal(line_virtio.interrupt(), LINE_UNPLUGGED);
    assert_int_equal(line_virtio.read(bytes, sizeof(bytes)), 0);
}

static void spoil(unsigned q)
{
    volatile uint16_t *used = queues[q]->used;

    switch (rand() % 3) {
    case 0:
        used[1] = (uint16_t)(used[1] + rand() % 20);
        break;
    case 1:
        used[2 + rand() % (VIRTIO_BUFFERS * 4)] = (uint16_t)rand();
        break;
    default:
        give_back(q, (uint32_t)rand(), (uint32_t)(rand() % 2 ? rand() : rand() % 20));
    }
}

static void devices_at_random(void **state)
{
    const char *given = getenv("KYMO_SEED");
    const unsigned seed = given ? (unsigned)strtoul(given, NULL, 10) : (unsigned)getpid();
    uint8_t bytes[BUFFER] = {0};

    (void)state;
    printf("KYMO_SEED=%u\n", seed);
    fflush(stdout);
    srand(seed);
    for (unsigned i = 0; i < ROUNDS; i++) {
        if (i % 20 == 0) {
            open_line();
        }
        switch (rand() % 6) {
        case 0:
            device_says((uint32_t)rand() % 3, (uint16_t)(rand() % 8), (uint16_t)(rand() % 2));
            break;
        case 1:
            device_sends(PORT_IN, bytes, (uint32_t)rand() % BUFFER);
            break;
        case 2:
            line_virtio.write(bytes, (size_t)rand() % BUFFER + 1);
            break;
        case 3:
            line_virtio.flush();
            break;
        default:
            spoil(2 + (unsigned)rand() % 4);
        }
        line_virtio.interrupt();
        for (unsigned n = 0; n < 10 && line_virtio.read(bytes, 256) > 0; n++) {
        }
    }
}

static int end(void **state)
{
    (void)state;
    free(memory);
    memory = NULL;
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(no_device_is_told_from_one_that_refuses, begin, end),
        cmocka_unit_test_setup_teardown(bytes_go_both_ways, begin, end),
        cmocka_unit_test_setup_teardown(empty_buffers_hide_none_behind_them, begin, end),
        cmocka_unit_test_setup_teardown(a_length_that_changes, begin, end),
        cmocka_unit_test_setup_teardown(more_than_it_was_given, begin, end),
        cmocka_unit_test_setup_teardown(a_storm_of_control_messages, begin, end),
        cmocka_unit_test_setup_teardown(a_device_that_is_gone, begin, end),
        cmocka_unit_test_setup_teardown(devices_at_random, begin, end),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}

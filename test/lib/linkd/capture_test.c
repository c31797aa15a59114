/* SPDX-License-Identifier: BSD-2-Clause */
/* The service capture: its bytes, and clients and hosts that go. */
#include "test/lib/linkd/tests.h"

static void expect_message(struct world *w, int channel, const void *bytes, size_t count)
{
    size_t got;
    uint8_t *message = host_message(w, channel, &got);

    assert_non_null(message);
    assert_int_equal(got, count);
    assert_memory_equal(message, bytes, count);
    free(message);
}

#define PIECES 20
#define PIECE 9000

void begin_capture(struct world *w, int client, int channel)
{
    struct request *request = client_request(w, client, LINKMSG_BEGIN, "trace.kev", 9);
    uint8_t expected[sizeof(struct link_capture) + 9] = {LINK_CAPTURE_BEGIN};

    client_wait(w, request);
    assert_false(request->refused);
    memcpy(expected + sizeof(struct link_capture), "trace.kev", 9);
    expect_message(w, channel, expected, sizeof(expected));
}

/* Returns the capture's bytes that the message has; `head` becomes its head. */
static uint8_t *capture_message(struct world *w, int channel, struct link_capture *head,
                                size_t *bytes)
{
    uint8_t *message = host_message(w, channel, bytes);

    if (message) {
        assert_true(*bytes >= sizeof(*head));
        memcpy(head, message, sizeof(*head));
        *bytes -= sizeof(*head);
    }
    return message;
}

static void write_piece(struct world *w, int client, int channel, unsigned number)
{
    static uint8_t piece[PIECE];
    struct link_capture head;
    size_t bytes;

    fill(piece, PIECE, number);
    struct request *request = client_request(w, client, LINKMSG_DATA, piece, PIECE);
    uint8_t *message = capture_message(w, channel, &head, &bytes);
    assert_non_null(message);
    assert_int_equal(head.kind, LINK_CAPTURE_DATA);
    assert_int_equal(bytes, PIECE);
    assert_memory_equal(message + sizeof(head), piece, PIECE);
    free(message);
    client_wait(w, request);
    assert_false(request->refused);
    assert_int_equal(request->status, PIECE);
}

static void end_capture(struct world *w, int client, int channel, int32_t result)
{
    struct request *request = client_request(w, client, LINKMSG_END, NULL, 0);
    struct link_capture head;
    size_t bytes;
    uint8_t *message = capture_message(w, channel, &head, &bytes);

    assert_non_null(message);
    free(message);
    assert_int_equal(head.kind, LINK_CAPTURE_END);
    assert_int_equal(head.bytes, (uint64_t)PIECES * PIECE);
    assert_true(request->waits); /* until the host has stored it */
    const struct link_capture stored = {
        .kind = LINK_CAPTURE_STORED, .result = result, .bytes = head.bytes};
    host_send(w, channel, &stored, sizeof(stored));
    client_wait(w, request);
    assert_int_equal(request->refused, result != 0);
    assert_int_equal(request->status, -result);
}

static void capture_whole(struct line_faults faults)
{
    struct world *w = world_make(faults);
    int channel = host_open(w, "capture");

    for (unsigned round = 0; round < 2; round++) { /* the second client, when the first has ended */
        begin_capture(w, (int)round, channel);
        for (unsigned i = 0; i < PIECES; i++) {
            write_piece(w, (int)round, channel, i);
        }
        end_capture(w, (int)round, channel, 0);
        client_kill(w, (int)round);
    }
    begin_capture(w, 2, channel);
    for (unsigned i = 0; i < PIECES; i++) {
        write_piece(w, 2, channel, i);
    }
    end_capture(w, 2, channel, -ENOSPC);
    assert_int_equal(host_reason(w, channel), -ENOSPC);
    world_free(w);
}

void test_capture(void **state)
{
    (void)state;
    capture_whole(clean);
    capture_whole(torn);
}

/* The client is killed while its bytes go into frames: the host sees its channel close. */
void test_capture_client_killed(void **state)
{
    static uint8_t bytes[100000];

    (void)state;
    for (uint32_t after = 0; after < 60; after += 3) {
        struct world *w = world_make(clean);
        int channel = host_open(w, "capture");

        begin_capture(w, 0, channel);
        write_piece(w, 0, channel, 1);
        client_request(w, 0, LINKMSG_DATA, bytes, sizeof(bytes));
        world_run(w, after);
        client_kill(w, 0);
        world_run(w, 1);
        assert_int_equal(host_reason(w, channel), -ECANCELED);
        channel = host_open(w, "capture"); /* and the next one is whole */
        begin_capture(w, 1, channel);
        write_piece(w, 1, channel, 2);
        world_free(w);
    }
}

/* A killed client is noticed by the next one's message, if that is earlier than its own end. */
void test_capture_client_forgotten(void **state)
{
    struct world *w = world_make(clean);
    int channel = host_open(w, "capture");

    (void)state;
    begin_capture(w, 0, channel);
    w->client_gone[0] = true;
    w->request[1].waits = false;
    struct request *request = client_request(w, 1, LINKMSG_BEGIN, "b", 1);
    assert_true(request->refused); /* its host was the first one's, and is gone with it */
    assert_int_equal(request->status, EAGAIN);
    assert_int_equal(host_reason(w, channel), -ECANCELED);
    world_free(w);
}

/* The host goes in the middle: the client gets EPIPE, now or with its next request. */
void test_capture_host_gone(void **state)
{
    static uint8_t bytes[500000];

    (void)state;
    for (int waits = 0; waits < 2; waits++) {
        struct world *w = world_make(clean);
        int channel = host_open(w, "capture");

        begin_capture(w, 0, channel);
        struct request *request;
        if (waits) { /* the host is killed, and the next one's hello shows it */
            request = client_request(w, 0, LINKMSG_DATA, bytes, sizeof(bytes));
            world_run(w, 10);
            world_host_new(w);
            client_wait(w, request);
        } else {
            link_bye(&w->host);
            while (link_is_up(&w->linkd.link)) {
                world_run(w, 1);
            }
            request = client_request(w, 0, LINKMSG_DATA, bytes, 10);
        }
        assert_true(request->refused);
        assert_int_equal(request->status, EPIPE);
        request = client_request(w, 0, LINKMSG_DATA, bytes, 10); /* there is no capture now */
        assert_int_equal(request->status, EPIPE);
        world_free(w);
    }
}

void test_capture_waits_for_host(void **state)
{
    struct world *w = world_make(clean);
    struct request *request = client_request(w, 0, LINKMSG_ASK, NULL, 0);

    (void)state;
    assert_int_equal(request->status, 0);
    request = client_request(w, 0, LINKMSG_WAIT, NULL, 0);
    assert_true(request->waits);
    assert_int_equal(client_request(w, 1, LINKMSG_WAIT, NULL, 0)->status, EBUSY);
    host_open(w, "capture");
    client_wait(w, request);
    assert_int_equal(request->status, 1);
    assert_int_equal(client_request(w, 1, LINKMSG_ASK, NULL, 0)->status, 1);
    world_free(w);
    w = world_make(clean); /* one that goes while it waits is not answered, and blocks no other */
    client_request(w, 0, LINKMSG_WAIT, NULL, 0);
    client_kill(w, 0);
    request = client_request(w, 1, LINKMSG_WAIT, NULL, 0);
    assert_true(request->waits);
    client_kill(w, 2);
    host_open(w, "capture");
    client_wait(w, request);
    assert_int_equal(request->status, 1);
    world_free(w);
    w = world_make(clean);
    client_request(w, 0, LINKMSG_WAIT, NULL, 0);
    client_kill(w, 0);
    host_open(w, "capture"); /* port_reply() would see an answer to nobody */
    world_run(w, 20);
    world_free(w);
}

/* The host says that it has stored a capture that has not ended, or another number of bytes. */
void test_capture_host_errs(void **state)
{
    struct link_capture stored = {.kind = LINK_CAPTURE_STORED};
    struct link_capture head;
    size_t bytes;

    (void)state;
    for (int ends = 0; ends < 2; ends++) {
        struct world *w = world_make(clean);
        int channel = host_open(w, "capture");

        begin_capture(w, 0, channel);
        write_piece(w, 0, channel, 1);
        client_kill(w, 1); /* another one's end is not its */
        write_piece(w, 0, channel, 2);
        struct request *request = &w->request[1];
        stored.bytes = 2 * PIECE;
        if (ends) {
            request = client_request(w, 0, LINKMSG_END, NULL, 0);
            free(capture_message(w, channel, &head, &bytes));
            stored.bytes++;
        }
        host_send(w, channel, &stored, sizeof(stored));
        assert_int_equal(host_reason(w, channel), -EIO);
        if (!ends) {
            request = client_request(w, 0, LINKMSG_DATA, "more", 4);
        }
        assert_true(request->refused);
        assert_int_equal(request->status, EIO);
        world_free(w);
    }
}

static int refused_with(struct world *w, int client, uint16_t type, size_t bytes)
{
    static const uint8_t zeros[LINKMSG_DATA_MOST + 1];
    const struct request *request = client_request(w, client, type, zeros, bytes);

    assert_true(request->refused);
    return (int)request->status;
}

void test_capture_refuses(void **state)
{
    struct world *w = world_make(clean);

    (void)state;
    assert_int_equal(refused_with(w, 0, LINKMSG_BEGIN, 1), EAGAIN);
    int channel = host_open(w, "capture");
    assert_int_equal(refused_with(w, 0, LINKMSG_BEGIN, 0), EINVAL);
    assert_int_equal(refused_with(w, 0, LINKMSG_BEGIN, LINKMSG_PATH_MOST + 1), EINVAL);
    assert_int_equal(refused_with(w, 0, 0x1234, 0), ENOSYS);
    assert_int_equal(refused_with(w, 0, LINKMSG_DATA, 1), EPIPE);
    begin_capture(w, 0, channel);
    assert_int_equal(refused_with(w, 1, LINKMSG_BEGIN, 1), EBUSY);
    assert_int_equal(refused_with(w, 1, LINKMSG_DATA, 1), EBUSY);
    assert_int_equal(refused_with(w, 1, LINKMSG_ASK, 0), EBUSY);
    assert_int_equal(refused_with(w, 0, LINKMSG_DATA, 0), EINVAL);
    assert_int_equal(refused_with(w, 0, LINKMSG_DATA, LINKMSG_DATA_MOST + 1), EINVAL);
    host_send(w, channel, "?", 1);
    assert_int_equal(host_reason(w, channel), -EMSGSIZE);
    world_free(w);
}

/* SPDX-License-Identifier: BSD-2-Clause */
/* The services dtrace and program: requests, their answers and who may name what. */
#include <stdio.h>

#include "test/lib/linkd/tests.h"

/* ---- D ------------------------------------------------------------------------------ */

/* Sends a request and returns the answer's head; *out, unless it is NULL: what follows. */
static struct kymo_d_call d_call(struct world *w, int channel, const struct d_request *request,
                                 uint8_t **out)
{
    struct kymo_d_call answer;
    size_t bytes;

    host_send(w, channel, request, sizeof(request->call) + request->call.in_bytes);
    uint8_t *message = host_message(w, channel, &bytes);
    assert_non_null(message);
    assert_true(bytes >= sizeof(answer));
    memcpy(&answer, message, sizeof(answer));
    assert_int_equal(bytes, sizeof(answer) + answer.out_bytes);
    memmove(message, message + sizeof(answer), answer.out_bytes);
    if (out) {
        *out = message;
    } else {
        free(message);
    }
    return answer;
}

uint32_t d_create(struct world *w, int channel, struct d_request *request)
{
    request->call = (struct kymo_d_call){.command = KYMO_D_CREATE, .in_bytes = sizeof(request->in)};
    struct kymo_d_call answer = d_call(w, channel, request, NULL);

    assert_int_equal(answer.result, 0);
    assert_int_not_equal(answer.handle, 0);
    return answer.handle;
}

static void program_and_back(struct line_faults faults)
{
    struct world *w = world_make(faults);
    int channel = host_open(w, "dtrace");
    struct d_request request;
    uint8_t *out;

    fill(request.in, sizeof(request.in), 5);
    uint32_t handle = d_create(w, channel, &request);
    request.call = (struct kymo_d_call){
        .command = KYMO_D_BUFFER, .handle = handle, .out_bytes = sizeof(request.in)};
    struct kymo_d_call answer = d_call(w, channel, &request, &out);
    assert_int_equal(answer.result, 0);
    assert_int_equal(answer.out_bytes, sizeof(request.in));
    assert_memory_equal(out, request.in, sizeof(request.in));
    free(out);
    request.call = (struct kymo_d_call){.command = KYMO_D_GO, .handle = handle};
    assert_int_equal(d_call(w, channel, &request, NULL).result, -ENOSYS);
    world_free(w); /* destroys the consumer, which it checks */
}

void test_dtrace(void **state)
{
    (void)state;
    program_and_back(clean);
    program_and_back(torn);
}

/* A channel names no consumer of another, and has at most LINKD_CONSUMERS. */
void test_dtrace_owns(void **state)
{
    struct world *w = world_make(clean);
    int one = host_open(w, "dtrace"), two = host_open(w, "dtrace");
    struct d_request request = {0};

    (void)state;
    uint32_t handle = d_create(w, one, &request);
    unsigned calls = w->calls;
    request.call = (struct kymo_d_call){.command = KYMO_D_DESTROY, .handle = handle};
    assert_int_equal(d_call(w, two, &request, NULL).result, -EBADF);
    assert_int_equal(w->calls, calls);
    for (int i = 1; i < LINKD_CONSUMERS; i++) {
        d_create(w, one, &request);
    }
    request.call = (struct kymo_d_call){.command = KYMO_D_CREATE};
    assert_int_equal(d_call(w, one, &request, NULL).result, -EAGAIN);
    d_create(w, two, &request);
    request.call = (struct kymo_d_call){.command = KYMO_D_DESTROY, .handle = handle};
    assert_int_equal(d_call(w, one, &request, NULL).result, 0);
    d_create(w, one, &request);
    link_close(&w->host, (unsigned)one, 0);
    w->channel[one].open = false;
    world_run(w, 20);
    unsigned left = 0;
    for (int i = 0; i < D_CONSUMERS; i++) {
        left += w->consumers[i] != 0;
    }
    assert_int_equal(left, 1);
    world_free(w);
}

/* Without a piece of the heap memory comes from the system; without both the answer is ENOMEM, and
 * the channel goes on. */
void test_dtrace_memory(void **state)
{
    static struct d_request request;
    struct world *w = world_make(clean);
    int channel = host_open(w, "dtrace");

    (void)state;
    world_run(w, 10);
    heap_most = 2000; /* less than the program has */
    uint32_t handle = d_create(w, channel, &request);
    w->map_fails = true;
    request.call = (struct kymo_d_call){.command = KYMO_D_CREATE, .in_bytes = sizeof(request.in)};
    assert_int_equal(d_call(w, channel, &request, NULL).result, -ENOMEM);
    request.call = (struct kymo_d_call){
        .command = KYMO_D_BUFFER, .handle = handle, .out_bytes = sizeof(request.in)};
    assert_int_equal(d_call(w, channel, &request, NULL).result, -ENOMEM);
    w->map_fails = false;
    heap_most = SIZE_MAX;
    assert_int_equal(d_call(w, channel, &request, NULL).result, 0);
    w->map_fails = true;
    heap_most = 0; /* but the channel keeps its piece, because it has a consumer */
    assert_int_equal(d_call(w, channel, &request, NULL).result, 0);
    heap_most = SIZE_MAX;
    request.call = (struct kymo_d_call){.command = KYMO_D_DESTROY, .handle = handle};
    assert_int_equal(d_call(w, channel, &request, NULL).result, 0);
    world_free(w);
}

void test_dtrace_refuses(void **state)
{
    static const struct kymo_d_call wrong[] = {
        {.command = KYMO_D_BUFFER, .in_bytes = 1},
        {.command = KYMO_D_BUFFER, .out_bytes = KYMO_D_OUT_MOST + 1},
    };
    struct world *w = world_make(clean);
    int channel;

    (void)state;
    for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
        channel = host_open(w, "dtrace");
        host_send(w, channel, &wrong[i], sizeof(wrong[i]));
        assert_int_equal(host_reason(w, channel), -EMSGSIZE);
    }
    channel = host_open(w, "dtrace");
    host_send(w, channel, &wrong[0], sizeof(wrong[0]) - 1);
    assert_int_equal(host_reason(w, channel), -EMSGSIZE);
    assert_int_equal(w->calls, 0);
    world_free(w);
}

/* ---- programs ----------------------------------------------------------------------- */

struct program_request {
    struct link_program head;
    char line[40];
};

static struct link_program program_ask(struct world *w, int channel, struct link_program head,
                                       const char *line, char *text, size_t room)
{
    struct program_request request = {.head = head};
    struct link_program answer;
    size_t bytes;

    snprintf(request.line, sizeof(request.line), "%s", line);
    host_send(w, channel, &request, sizeof(request.head) + strlen(line));
    uint8_t *message = host_message(w, channel, &bytes);
    assert_non_null(message);
    memcpy(&answer, message, sizeof(answer));
    assert_true(bytes - sizeof(answer) < room);
    memcpy(text, message + sizeof(answer), bytes - sizeof(answer));
    text[bytes - sizeof(answer)] = '\0';
    free(message);
    return answer;
}

static struct link_program program_call(struct world *w, int channel, uint32_t kind,
                                        const char *line, char *text, size_t room)
{
    return program_ask(w, channel, (struct link_program){.kind = kind}, line, text, room);
}

void test_program(void **state)
{
    struct world *w = world_make(torn);
    int channel = host_open(w, "program");
    char text[100];

    (void)state;
    assert_int_equal(program_call(w, channel, LINK_PROGRAM_START, "nothing", text, 100).result,
                     -ENOENT);
    assert_string_equal(text, "hello\nidle\n");
    assert_int_equal(program_call(w, channel, LINK_PROGRAM_RUN, "", text, 100).result, -ESRCH);
    assert_int_equal(program_call(w, channel, LINK_PROGRAM_ENDED, "", text, 100).result, -ESRCH);
    assert_int_equal(program_call(w, channel, 99, "", text, 100).result, -EINVAL);
    struct link_program answer =
        program_call(w, channel, LINK_PROGRAM_START, "hello world", text, 100);
    assert_int_equal(answer.result, 0);
    assert_int_equal(answer.pid, 4711);
    assert_int_equal(program_call(w, channel, LINK_PROGRAM_START, "hello world", text, 100).result,
                     -EBUSY);
    assert_true(w->program_held);
    assert_int_equal(program_call(w, channel, LINK_PROGRAM_RUN, "", text, 100).result, 0);
    assert_true(w->program_ran);
    assert_int_equal(program_call(w, channel, LINK_PROGRAM_ENDED, "", text, 100).result, -EAGAIN);
    w->program_over = true;
    answer = program_call(w, channel, LINK_PROGRAM_ENDED, "", text, 100);
    assert_int_equal(answer.result, 0);
    assert_int_equal(answer.status, 3 << 8);
    world_free(w);
}

static void find(struct world *w, int channel, int from, const char *name, int pid,
                 const char *found)
{
    const struct link_program head = {.kind = LINK_PROGRAM_FIND, .pid = from};
    char text[100];
    const struct link_program answer = program_ask(w, channel, head, name, text, 100);

    assert_int_equal(answer.result, pid ? 0 : -ESRCH);
    assert_int_equal(answer.pid, pid);
    assert_string_equal(text, found);
}

/* Processes are found whether the channel has started one or not. */
void test_program_find(void **state)
{
    struct world *w = world_make(torn);
    int channel = host_open(w, "program");
    char text[100];

    (void)state;
    find(w, channel, -7, "", 17, "hello");
    find(w, channel, 18, "", 18, "idle");
    find(w, channel, 0, "idle", 18, "idle");
    program_call(w, channel, LINK_PROGRAM_START, "hello world", text, 100);
    find(w, channel, 18, "hello", 19, "hello");
    find(w, channel, 20, "", 0, "");
    find(w, channel, INT32_MAX, "", 0, "");
    find(w, channel, 1, "hell", 0, "");
    assert_int_equal(program_call(w, channel, LINK_PROGRAM_RUN, "", text, 100).result, 0);
    world_free(w);
}

/* One request at a time on a channel of dtrace and of program. */
void test_second_request(void **state)
{
    static const struct kymo_d_call call = {.command = KYMO_D_STATUS};
    static const struct link_program ended = {.kind = LINK_PROGRAM_ENDED};
    struct world *w = world_make(clean);
    int channel = host_open(w, "dtrace");

    (void)state;
    w->to_target.stalled_until = w->now + 20; /* both arrive at once */
    host_send(w, channel, &call, sizeof(call));
    host_send(w, channel, &call, sizeof(call));
    assert_int_equal(host_reason(w, channel), -EBUSY);
    channel = host_open(w, "program");
    w->to_target.stalled_until = w->now + 20; /* both arrive at once */
    host_send(w, channel, &ended, sizeof(ended));
    host_send(w, channel, &ended, sizeof(ended));
    assert_int_equal(host_reason(w, channel), -EBUSY);
    world_free(w);
}

/* With its channel a held program ends; a message that is too long closes the channel. */
void test_program_closes(void **state)
{
    static const char much[sizeof(struct link_program) + LINK_PROGRAM_LINE + 1];
    struct world *w = world_make(clean);
    int channel = host_open(w, "program");
    char text[100];

    (void)state;
    program_call(w, channel, LINK_PROGRAM_START, "hello world", text, 100);
    host_send(w, channel, much, sizeof(much));
    assert_int_equal(host_reason(w, channel), -EMSGSIZE);
    assert_true(w->program_ended_held);
    assert_int_equal(w->program, 0);
    world_free(w);
}

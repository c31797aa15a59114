/* SPDX-License-Identifier: BSD-2-Clause */
/* See world.h. */
#include <stdio.h>
#include <time.h>

#include "test/lib/linkd/world.h"

#define HANG_MS 600000 /* longer than anything takes, even on a bad line */

size_t heap_most = SIZE_MAX;

void *__real_malloc(size_t bytes);
void *__wrap_malloc(size_t bytes);
void *__wrap_malloc(size_t bytes)
{
    return bytes <= heap_most ? __real_malloc(bytes) : NULL;
}

/* ---- the target's port ------------------------------------------------------------- */

static size_t port_read(void *context, uint8_t *bytes, size_t room)
{
    struct world *w = context;

    return line_get(&w->to_target, w->now, bytes, 1 + random_below((uint32_t)room));
}

static size_t port_write(void *context, const uint8_t *bytes, size_t count)
{
    struct world *w = context;

    return line_put(&w->to_host, w->now, bytes, count);
}

static void port_flush(void *context)
{
    (void)context;
}

static uint32_t port_now(void *context)
{
    return ((struct world *)context)->now;
}

static void port_defer(void *context, enum linkd_event event)
{
    ((struct world *)context)->deferred[event]++;
}

static void port_host_time(void *context, uint64_t ns)
{
    ((struct world *)context)->host_time = ns;
}

static void port_stranger(void *context, unsigned version)
{
    assert_int_not_equal(version, LINK_VERSION);
    ((struct world *)context)->strangers++;
}

static struct request *request_of(struct world *w, int number)
{
    assert_in_range(number, 1, CLIENTS);
    assert_true(w->request[number].waits);
    return &w->request[number];
}

static void port_reply(void *context, int number, long status)
{
    struct request *request = request_of(context, number);

    request->waits = request->refused = false;
    request->status = status;
}

static void port_refuse(void *context, int number, int error)
{
    struct request *request = request_of(context, number);

    assert_true(error > 0);
    request->waits = false;
    request->refused = true;
    request->status = error;
}

static long port_request_read(void *context, int number, void *to, size_t bytes, size_t offset)
{
    struct world *w = context;
    const struct request *request = &w->request[number];

    if (w->client_gone[request->client]) {
        return -ESRCH;
    }
    assert_true(request->waits);
    size_t left = offset < request->bytes ? request->bytes - offset : 0;
    bytes = bytes < left ? bytes : left;
    memcpy(to, request->message + offset, bytes);
    return (long)bytes;
}

static bool port_request_waits(void *context, int number)
{
    return ((struct world *)context)->request[number].waits;
}

static bool port_client_exists(void *context, int client)
{
    return !((struct world *)context)->client_gone[client];
}

char console_byte(uint64_t position)
{
    return (char)('a' + position % 23);
}

static int port_console_open(void *context)
{
    (void)context;
    return 0;
}

static long port_console_read(void *context, uint64_t *position, void *text, size_t room)
{
    struct world *w = context;
    uint64_t kept = w->console_bytes > CONSOLE_KEPT ? w->console_bytes - CONSOLE_KEPT : 0;
    uint64_t at = *position > kept ? *position : kept;
    size_t bytes = w->console_bytes - at < room ? (size_t)(w->console_bytes - at) : room;

    for (size_t i = 0; i < bytes; i++) {
        ((char *)text)[i] = console_byte(at + i);
    }
    w->console_asked |= bytes == 0;
    *position = bytes > 0 ? at : *position;
    return (long)bytes;
}

static int port_console_type(void *context, const void *text, size_t bytes)
{
    struct world *w = context;

    assert_in_range(bytes, 1, LINK_CONSOLE_MOST);
    memcpy(w->typed, text, bytes);
    w->typed_bytes = bytes;
    return 0;
}

/* The machine is not here: CREATE makes a handle, BUFFER answers with the program's bytes. */
static int port_dtrace(void *context, struct kymo_d_call *call, const void *in, void *out)
{
    static uint8_t program[KYMO_D_IN_MOST];
    struct world *w = context;
    uint32_t *found = NULL;

    w->calls++;
    for (unsigned i = 0; i < D_CONSUMERS; i++) {
        bool makes = call->command == KYMO_D_CREATE;

        if (!found && w->consumers[i] == (makes ? 0 : call->handle)) {
            found = &w->consumers[i];
        }
    }
    assert_true(call->handle == 0 || found); /* linkd lets nobody name a stranger's */
    if (call->command == KYMO_D_CREATE) {
        if (call->in_bytes > 0) { /* `in` is NULL if not */
            memcpy(program, in, call->in_bytes);
        }
        call->handle = *found = ++w->next_handle;
        call->out_bytes = 0;
    } else if (call->command == KYMO_D_DESTROY) {
        *found = 0;
        call->out_bytes = 0;
    } else if (call->command == KYMO_D_BUFFER) {
        if (call->out_bytes > 0) {
            memcpy(out, program, call->out_bytes);
        }
    } else {
        return -ENOSYS;
    }
    return 0;
}

static void *port_memory_map(void *context, size_t bytes)
{
    struct world *w = context;

    if (w->map_fails) {
        return NULL;
    }
    w->mapped++;
    return calloc(1, bytes);
}

static void port_memory_unmap(void *context, void *at, size_t bytes)
{
    (void)bytes;
    ((struct world *)context)->mapped--;
    free(at);
}

static int port_program_start(void *context, char *line, char *text, size_t *bytes)
{
    struct world *w = context;

    if (strcmp(line, "hello world") != 0) {
        *bytes = (size_t)sprintf(text, "hello\nidle\n");
        return -ENOENT;
    }
    w->program = 4711;
    w->program_held = true;
    return w->program;
}

static int port_program_run(void *context, int pid)
{
    struct world *w = context;

    assert_int_equal(pid, w->program);
    assert_true(w->program_held);
    w->program_held = false;
    w->program_ran = true;
    return 0;
}

static int port_program_ended(void *context, int pid, int *status)
{
    struct world *w = context;

    assert_int_equal(pid, w->program);
    *status = 3 << 8;
    return w->program_over;
}

static void port_program_disown(void *context, int pid)
{
    struct world *w = context;

    assert_int_equal(pid, w->program);
    w->program_ended_held = w->program_held;
    w->program = 0;
}

/* hello is 17 and 19, idle is 18. */
static int port_program_find(void *context, int from, char *text, size_t *bytes)
{
    static const char *const names[] = {"hello", "idle", "hello"};

    (void)context;
    assert_true(from >= 1);
    for (int i = from < 17 ? 0 : from - 17; i < 3; i++) {
        if (!*text || strcmp(text, names[i]) == 0) {
            *bytes = strlen(names[i]);
            memcpy(text, names[i], *bytes);
            return 17 + i;
        }
    }
    return -ESRCH;
}

static const struct linkd_port port = {
    .read = port_read,
    .write = port_write,
    .flush = port_flush,
    .now = port_now,
    .defer = port_defer,
    .host_time = port_host_time,
    .stranger = port_stranger,
    .reply = port_reply,
    .refuse = port_refuse,
    .request_read = port_request_read,
    .request_waits = port_request_waits,
    .client_exists = port_client_exists,
    .console_open = port_console_open,
    .console_read = port_console_read,
    .console_type = port_console_type,
    .dtrace = port_dtrace,
    .memory_map = port_memory_map,
    .memory_unmap = port_memory_unmap,
    .program_start = port_program_start,
    .program_run = port_program_run,
    .program_ended = port_program_ended,
    .program_disown = port_program_disown,
    .program_find = port_program_find,
};

/* ---- the host's end ---------------------------------------------------------------- */

static void message_free(struct message *message)
{
    if (message) {
        free(message->data);
        free(message);
    }
}

static void channel_forget(struct host_channel *c)
{
    while (c->first) {
        struct message *next = c->first->next;

        message_free(c->first);
        c->first = next;
    }
    message_free(c->partial);
    *c = (struct host_channel){.end = &c->first};
}

static void host_up(void *context)
{
    ((struct world *)context)->ups++;
}

static void host_down(void *context, enum link_down why)
{
    struct world *w = context;

    (void)why;
    w->downs++;
    for (int i = 0; i < LINKD_CHANNELS; i++) {
        w->channel[i].reason = w->channel[i].open ? -EPIPE : w->channel[i].reason;
        w->channel[i].open = false;
    }
}

static long host_open_came(void *context, unsigned channel, const char *service)
{
    (void)context;
    (void)channel;
    (void)service;
    return -ENOSYS; /* no target opens channels */
}

static void host_opened(void *context, unsigned channel)
{
    ((struct world *)context)->channel[channel].opened = true;
}

static void host_data(void *context, unsigned channel, const uint8_t *bytes, size_t count,
                      size_t offset, size_t total)
{
    struct world *w = context;
    struct host_channel *c = &w->channel[channel];
    struct message *m = c->partial;

    if (offset == 0) {
        m = c->partial = calloc(1, sizeof(*m));
        m->bytes = total;
        m->data = calloc(1, total + 1); /* malloc() is the target's, and may fail */
    }
    assert_true(m && m->got == offset && m->bytes == total);
    memcpy(m->data + offset, bytes, count);
    m->got += count;
    if (m->got == total) {
        *c->end = m;
        c->end = &m->next;
        c->partial = NULL;
    }
    link_credit(&w->host, channel, link_cost(count, offset));
}

static size_t host_fetch(void *context, unsigned channel, size_t most, const uint8_t **bytes)
{
    struct host_channel *c = &((struct world *)context)->channel[channel];

    *bytes = c->out + c->out_at;
    c->out_at += most;
    return most;
}

static void host_sent(void *context, unsigned channel)
{
    ((struct world *)context)->channel[channel].sending = false;
}

static void host_closed(void *context, unsigned channel, int reason)
{
    struct host_channel *c = &((struct world *)context)->channel[channel];

    c->open = c->sending = false;
    c->reason = reason;
}

static void host_stranger(void *context, unsigned version)
{
    (void)context;
    fail_msg("the target has version %u", version);
}

static void host_start(struct world *w)
{
    static const struct link_user user = {
        .up = host_up,
        .down = host_down,
        .open = host_open_came,
        .opened = host_opened,
        .data = host_data,
        .fetch = host_fetch,
        .sent = host_sent,
        .closed = host_closed,
        .stranger = host_stranger,
    };
    const struct link_clock clock = {.seconds = w->host_clock};

    memcpy(w->host_build_id, &clock, sizeof(clock));
    const struct link_config config = {
        .user = &user,
        .context = w,
        .memory = w->host_memory,
        .channel = w->host_channels,
        .frame_most = FRAME_MOST,
        .window = WINDOW,
        .channels = LINKD_CHANNELS,
        .role = LINK_HOST,
        .hello_ms = 200,
        .seed = 1 + random_below(0x7fffffff),
        .build_id = w->host_build_id,
    };
    assert_int_equal(link_init(&w->host, &config, w->now), 0);
}

static void host_step(struct world *w)
{
    uint8_t bytes[300];
    const uint8_t *out;
    size_t count;

    while ((count = line_get(&w->to_host, w->now, bytes, 1 + random_below(sizeof(bytes)))) > 0) {
        link_input(&w->host, w->now, bytes, count);
    }
    while ((count = link_output(&w->host, w->now, &out)) > 0) {
        size_t taken = line_put(&w->to_target, w->now, out, count);

        link_output_done(&w->host, taken);
        if (taken < count) {
            break;
        }
    }
}

int host_open(struct world *w, const char *service)
{
    for (uint32_t ms = 0; !link_is_up(&w->host); ms++) {
        assert_true(ms < HANG_MS);
        world_run(w, 1);
    }
    int channel = link_open(&w->host, service, LINK_MESSAGE_MOST);
    assert_true(channel >= 0);
    channel_forget(&w->channel[channel]);
    w->channel[channel].open = true;
    w->channel[channel].reason = 1;
    for (uint32_t ms = 0; w->channel[channel].open && !w->channel[channel].opened; ms++) {
        assert_true(ms < HANG_MS);
        world_run(w, 1);
    }
    return channel;
}

void host_send(struct world *w, int channel, const void *message, size_t bytes)
{
    struct host_channel *c = &w->channel[channel];

    for (uint32_t ms = 0; c->open && c->sending; ms++) {
        assert_true(ms < HANG_MS);
        world_run(w, 1);
    }
    c->out = message;
    c->out_at = 0;
    c->sending = link_send(&w->host, (unsigned)channel, bytes) == 0;
}

uint8_t *host_message(struct world *w, int channel, size_t *bytes)
{
    struct host_channel *c = &w->channel[channel];

    for (uint32_t ms = 0; !c->first; ms++) {
        if (!c->open) {
            return NULL;
        }
        assert_true(ms < HANG_MS);
        world_run(w, 1);
    }
    struct message *m = c->first;
    uint8_t *data = m->data;
    c->first = m->next;
    c->end = c->first ? c->end : &c->first;
    *bytes = m->bytes;
    free(m);
    return data;
}

int host_reason(struct world *w, int channel)
{
    for (uint32_t ms = 0; w->channel[channel].open; ms++) {
        assert_true(ms < HANG_MS);
        world_run(w, 1);
    }
    return w->channel[channel].reason;
}

/* ---- the world --------------------------------------------------------------------- */

struct world *world_make(struct line_faults faults)
{
    static const struct linkd_service *const services[] = {
        &linkd_dtrace, &linkd_console, &linkd_capture, &linkd_source, &linkd_program, NULL,
    };
    static const uint8_t build_id[20] = "a build id, twenty b";
    const char *given = getenv("KYMO_SEED");
    uint64_t seed = given ? strtoull(given, NULL, 0) : (uint64_t)time(NULL) * 1000003u + clock();
    struct world *w = calloc(1, sizeof(*w));

    assert_non_null(w);
    print_message("KYMO_SEED=%llu\n", (unsigned long long)seed);
    random_seed(seed);
    w->now = random_below(0xffffffff); /* it may wrap */
    w->to_target.faults = w->to_host.faults = faults;
    w->to_target.bytes_per_ms = w->to_host.bytes_per_ms = 2000;
    w->to_target.stalled_until = w->to_host.stalled_until = w->now;
    const struct linkd_config config = {
        .port = &port,
        .context = w,
        .services = services,
        .memory = w->memory,
        .frame_most = FRAME_MOST,
        .window = WINDOW,
        .seed = 1 + random_below(0x7fffffff),
        .board = "memory",
        .build_id = build_id,
    };
    assert_int_equal(linkd_init(&w->linkd, &config), 0);
    for (int i = 0; i < LINKD_CHANNELS; i++) {
        w->channel[i].end = &w->channel[i].first;
    }
    host_start(w);
    return w;
}

void world_host_new(struct world *w)
{
    for (int i = 0; i < LINKD_CHANNELS; i++) {
        channel_forget(&w->channel[i]);
    }
    host_start(w);
}

void world_run(struct world *w, uint32_t ms)
{
    for (; ms > 0; ms--) {
        w->now++;
        host_step(w);
        linkd_input(&w->linkd);
        for (unsigned event = 0; event < 2; event++) {
            for (; w->deferred[event] > 0; w->deferred[event]--) {
                linkd_event(&w->linkd, (enum linkd_event)event);
            }
        }
        uint32_t wait = linkd_output(&w->linkd);
        assert_true(wait > 0);
    }
}

void world_free(struct world *w)
{
    link_lost(&w->host);
    linkd_lost(&w->linkd);
    for (int i = 0; i < LINKD_CHANNELS; i++) {
        channel_forget(&w->channel[i]);
        assert_null(w->linkd.service[i]);
    }
    for (int i = 0; i <= CLIENTS; i++) {
        free(w->request[i].message);
    }
    for (int i = 0; i < D_CONSUMERS; i++) {
        assert_int_equal(w->consumers[i], 0);
    }
    assert_int_equal(w->mapped, 0);
    free(w);
}

/* ---- clients and the console ------------------------------------------------------- */

struct request *client_request(struct world *w, int client, uint16_t type, const void *data,
                               size_t bytes)
{
    struct request *request = &w->request[client + 1];
    const struct linkmsg head = {.type = type, .bytes = (uint32_t)bytes};

    free(request->message);
    *request = (struct request){.waits = true, .client = client, .bytes = sizeof(head) + bytes};
    request->message = malloc(request->bytes);
    memcpy(request->message, &head, sizeof(head));
    if (bytes > 0) {
        memcpy(request->message + sizeof(head), data, bytes);
    }
    size_t had = request->bytes < sizeof(head) + LINKMSG_PATH_MOST
                     ? request->bytes
                     : sizeof(head) + LINKMSG_PATH_MOST;
    linkd_request(&w->linkd, client + 1, client, request->message, had, request->bytes);
    return request;
}

void client_wait(struct world *w, struct request *request)
{
    for (uint32_t ms = 0; request->waits; ms++) {
        assert_true(ms < HANG_MS);
        world_run(w, 1);
    }
}

void client_kill(struct world *w, int client)
{
    w->client_gone[client] = true;
    w->request[client + 1].waits = false;
    linkd_client_gone(&w->linkd, client);
}

void console_print(struct world *w, unsigned bytes)
{
    w->console_bytes += bytes;
    if (w->console_asked) {
        w->console_asked = false;
        w->deferred[LINKD_EVENT_CONSOLE]++;
    }
}

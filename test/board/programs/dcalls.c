/* SPDX-License-Identifier: BSD-2-Clause */
/* See dcalls.h. */
#include "test/board/programs/dcalls.h"

#define PLACEHOLDER 0x12345678u /* in test/board/life/peek.d, for an address */
#define PIECE 16384u            /* bytes that it records; header of a record: 12 */

uint64_t d_in[IN_BYTES / 8], d_out[OUT_BYTES / 8];

int d_call(struct kymo_d_call *call, unsigned command, size_t in_bytes, size_t out_bytes)
{
    call->command = command;
    call->in_bytes = (uint32_t)in_bytes;
    call->out_bytes = (uint32_t)out_bytes;
    return DtraceControl(call, d_in, d_out);
}

void d_provide_calls(void)
{
    static const char calls[] = "syscall\0\0\0";
    struct kymo_d_call call = {0};

    memcpy(d_in, calls, sizeof(calls));
    EXPECT_EQ(d_call(&call, KYMO_D_PROVIDE, sizeof(calls), 0), 0);
}

void d_do(uint32_t handle, unsigned command)
{
    struct kymo_d_call call = {.handle = handle};

    EXPECT_EQ(d_call(&call, command, 0, 0), 0);
}

static size_t load(const char *name)
{
    long n = ImageRead(name, 0, d_in, sizeof(d_in));

    EXPECT(n > 0);
    return n > 0 ? (size_t)n : 0;
}

uint32_t d_log(const char *name)
{
    struct kymo_d_call call = {.flags = DTRACE_CREATE_LOG};
    int r = d_call(&call, KYMO_D_CREATE, load(name), sizeof(d_out));

    return r == 0 ? call.handle : 0;
}

uint32_t dt_try(const char *name)
{
    struct kymo_d_call call = {0};
    int r = d_call(&call, KYMO_D_CREATE, load(name), sizeof(d_out));

    return r == 0 ? call.handle : 0;
}

uint32_t d_create(const char *name)
{
    uint32_t handle = dt_try(name);

    if (!handle) {
        check_fail(name, 0, "refused: errno %d, reason %u", errno,
                   (unsigned)((uint32_t *)d_out)[3]);
    }
    return handle;
}

uint32_t d_create_at(const char *name, uint64_t address)
{
    struct kymo_d_call call = {0};
    size_t bytes = load(name);
    unsigned places = 0;

    for (size_t i = 0; i < bytes / 8; i++) {
        if (d_in[i] == PLACEHOLDER) {
            d_in[i] = address;
            places++;
        }
    }
    EXPECT(places > 0);
    EXPECT_EQ(d_call(&call, KYMO_D_CREATE, bytes, sizeof(d_out)), 0);
    return call.handle;
}

uint32_t d_take(uint32_t handle, unsigned command, unsigned cpu)
{
    struct kymo_d_call call = {.handle = handle, .cpu = cpu};

    EXPECT_EQ(d_call(&call, command, 0, sizeof(d_out)), 0);
    return call.out_bytes > SNAP_BYTES ? call.out_bytes - SNAP_BYTES : 0;
}

uint64_t d_faults(uint32_t handle, uint64_t *twice)
{
    struct kymo_d_call call = {.handle = handle};

    EXPECT_EQ(d_call(&call, KYMO_D_STATUS, 0, sizeof(d_out)), 0);
    EXPECT_EQ(call.out_bytes, STATUS_BYTES);
    if (twice) {
        *twice = d_out[STATUS_BYTES / 8 - 1];
    }
    return d_out[STATUS_BYTES / 8 - 2];
}

/* ---- something to trace ------------------------------------------------------------ */

struct server {
    int chid;
    unsigned sends;
};

static void *serve(void *arg)
{
    const struct server *self = arg;

    for (unsigned i = 0; i < self->sends; i++) {
        char text[8];
        int rcvid = MsgReceive(self->chid, text, sizeof(text), NULL);
        MsgReply(rcvid, 0, text, sizeof(text));
    }
    return NULL;
}

void d_talk(unsigned sends)
{
    char text[8] = "hello";
    struct link to = make_link(0);
    struct server server = {to.chid, sends};
    int tid = start_thread(serve, &server, 0);

    for (unsigned i = 0; i < sends; i++) {
        EXPECT_EQ(MsgSend(to.coid, text, sizeof(text), text, sizeof(text)), 0);
    }
    join(tid);
    drop_link(&to);
}

/* ---- counts ------------------------------------------------------------------------ */

struct entry { /* of an aggregation; then the keys, and last a count's value */
    uint32_t id, size, hash, next;
};

static uint32_t variable_of(uint32_t handle, uint32_t id)
{
    struct {
        uint32_t id, epid, variable, size, nrecs, pad;
        uint64_t recs[16]; /* of at most four */
    } desc = {0};
    struct kymo_d_call call = {
        .command = KYMO_D_AGG, .handle = handle, .id = id, .out_bytes = sizeof(desc)};

    EXPECT_EQ(DtraceControl(&call, NULL, &desc), 0);
    return desc.variable;
}

static void add_counts(uint32_t handle, unsigned cpu, struct counts *n)
{
    static uint64_t entries[OUT_BYTES / 8];
    uint32_t bytes = d_take(handle, KYMO_D_AGGREGATION, cpu);

    EXPECT_EQ(d_out[2], 0); /* drops */
    memcpy(entries, &d_out[5], bytes);
    for (uint32_t at = 0; at < bytes;) {
        const struct entry *e = (const void *)((const char *)entries + at);
        uint32_t variable = variable_of(handle, e->id);
        EXPECT(variable < COUNT(n->of));
        n->of[variable % COUNT(n->of)] += *(const uint64_t *)((const char *)e + e->size - 8);
        at += e->size;
    }
}

struct counts d_counts(uint32_t handle)
{
    struct counts n = {{0}};

    for (unsigned cpu = 0; cpu < cpu_end(); cpu = cpu_after(cpu)) {
        add_counts(handle, cpu, &n);
    }
    return n;
}

uint64_t d_count_of(uint32_t handle, uint32_t variable)
{
    return d_counts(handle).of[variable];
}

/* ---- the world --------------------------------------------------------------------- */

static uint64_t mix(uint64_t hash, const void *bytes, size_t n)
{
    const uint32_t *word = bytes;

    for (size_t i = 0; i < n / 4; i++) {
        hash = (hash ^ word[i]) * 0x100000001b3u;
    }
    return hash;
}

static void recorded_by_begin(uint32_t handle, void *to, size_t bytes)
{
    d_do(handle, KYMO_D_GO);
    d_do(handle, KYMO_D_STOP);
    uint32_t n = d_take(handle, KYMO_D_BUFFER, 0);
    EXPECT(n >= 12 + bytes && n <= 16 + bytes);
    memcpy(to, (const char *)&d_out[5] + (n - bytes), bytes);
    d_do(handle, KYMO_D_DESTROY);
}

static uint64_t hash_piece(uint64_t hash, uint64_t address)
{
    static uint32_t piece[PIECE / 4];

    recorded_by_begin(d_create_at("peek.dif", address), piece, sizeof(piece));
    return mix(hash, piece, sizeof(piece));
}

/* From after the vectors to where fbt's slots begin: test/board/programs.mk. */
static uint64_t hash_text(void)
{
    uint64_t range[2] = {0, 0}, hash = 0xcbf29ce484222325u;

    recorded_by_begin(d_create("range.dif"), range, sizeof(range));
    EXPECT(range[1] - range[0] > 4 * PIECE && range[1] - range[0] < 256 * PIECE);
    for (uint64_t at = range[0]; range[1] - at >= PIECE && at < range[1]; at += PIECE) {
        hash = hash_piece(hash, at);
    }
    return hash_piece(hash, range[1] - PIECE);
}

uint64_t d_objects(void)
{
    struct kymo_proc_info p = {0};
    uint64_t sum = 0;

    for (int at = 1; ProcInfo(at, &p) > 0; at = p.pid + 1) {
        sum += p.memory * 4096 + p.nthreads + p.nchannels + p.nconnections + p.ntimers + p.nmaps;
    }
    return sum;
}

uint64_t d_memory(void)
{
    struct kymo_d_call call = {0};

    EXPECT_EQ(d_call(&call, KYMO_D_INFO, 0, sizeof(struct kymo_d_info)), 0);
    return ((const struct kymo_d_info *)d_out)->memory;
}

struct world d_world(void)
{
    struct world w = {.text = hash_text(), .objects = d_objects()};

    w.memory = d_memory();
    return w;
}

/* All places are free: as many consumers as there can be, and not one more. */
static void all_places(void)
{
    uint32_t handles[CONSUMERS];

    for (unsigned i = 0; i < CONSUMERS; i++) {
        handles[i] = d_create("range.dif");
    }
    EXPECT_EQ(dt_try("range.dif"), 0);
    EXPECT_EQ(errno, EAGAIN);
    for (unsigned i = 0; i < CONSUMERS; i++) {
        d_do(handles[i], KYMO_D_DESTROY);
    }
}

void d_world_is(const struct world *before)
{
    all_places();
    struct world now = d_world();
    EXPECT_EQ(now.memory, before->memory);
    EXPECT_EQ(now.objects, before->objects);
    EXPECT(now.text == before->text);
}

uint32_t d_random(uint64_t *state)
{
    *state = *state * 6364136223846793005u + 1442695040888963407u;
    return (uint32_t)(*state >> 33);
}

/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Fires the D programs 0.dif, 1.dif … of its image, each alone, by what the image's file `modes`
 * says of it, two characters a program: what fires its probes, and how the values are chosen. Each
 * firing is between marks, for test/bench/firing.py, which makes both. A program is read out now
 * and then, so that there is room for its records.
 *
 * At last dtrace_max_cost is lowered by what the file `limits` says, a program's number and its
 * bound a line, the highest bound first: the program is made, and with a limit that is 1 lower it
 * is refused, with this bound in the message.
 */
#include <errno.h>
#include <kymo.h>
#include <stdio.h>
#include <string.h>
#include <sys/dtrace.h>
#include <sys/mman.h>
#include <sys/neutrino.h>
#include <sys/trace.h>

#include "test/bench/mark.h"
#include "trace/dtrace/dtrace.h"
#include "trace/dtrace/hash.h"

enum { INTERVAL = 0, ROUNDS = 24, ROUNDS_COLLIDING = 56, READ_EVERY = 6, CODE = 7, BUFFERS = 2 };
enum { IMAGE_MOST = 65536, OUT_MOST = 36864, TEXT_BYTES = 8192, NEAR_END = 300, MAPPINGS = 64 };
/* The second character, a hexadecimal digit, is a sum of these; the first is an enum operation. */
enum { LOGS = 1, COLLIDES_ENTRY = 2, COLLIDES_VARIABLE = 4, POINTS = 8 };
enum operation { SIMPLE = 'u', TEXT = 't', PULSE = 's' };

static uint64_t image[IMAGE_MOST / 8];
static union {
    uint8_t bytes[OUT_MOST];
    struct dtrace_refusal refusal;
    uint64_t aligned;
} out;
static char modes[1024], limits[16384], *text;
static int chid, coid;
static uint64_t state = 0x9e3779b97f4a7c15u;

static int failed(const char *what)
{
    printf("firing: %s: %s\n", what, strerror(errno));
    return 1;
}

static uint64_t drawn(void)
{
    state ^= state << 13;
    state ^= state >> 7;
    return state ^= state << 17;
}

static uint32_t hash_of(uint64_t key, uint32_t number)
{
    return dtrace_hash_end(dtrace_hash_add(DTRACE_HASH_START, key), number);
}

/* Returns a key whose hash has no bit in the lowest 12: they are all on one chain. */
static uint64_t colliding(uint32_t number)
{
    uint64_t key = drawn();

    while (hash_of(key, number) & 0xfff) {
        key = drawn();
    }
    return key;
}

/* Returns the nth key whose hash is 0: dtrace_hash_end() has a product with 0 then. */
static uint64_t alike(uint32_t number, unsigned n)
{
    uint32_t wanted = (uint32_t)(DTRACE_HASH_END >> 32) ^ number, low = n * 977 + 1, high = wanted;
    uint64_t key;

    do {
        key = ((uint64_t)high-- << 32 | low) ^ DTRACE_HASH_START;
    } while (hash_of(key, number) != 0 && wanted - high < 1u << 20);
    return key;
}

static uint64_t value_of(unsigned flags, unsigned round)
{
    if (flags & (COLLIDES_ENTRY | COLLIDES_VARIABLE)) {
        uint32_t number = flags & COLLIDES_ENTRY ? 1 : 0; /* the first one's */
        return round % 4 == 0 ? alike(number, round / 4) : colliding(number);
    }
    if (flags & POINTS) { /* to the text; each fourth time so that its end is near */
        size_t at = round % 4 == 3 ? TEXT_BYTES - 1 - drawn() % NEAR_END : drawn() % 4096;
        return (uintptr_t)(text + at);
    }
    return round % 3 == 0 ? drawn() : round % 5;
}

static int fire(enum operation operation, uint64_t value)
{
    unsigned low = (unsigned)value, high = (unsigned)(value >> 32);
    struct _pulse pulse;
    int r;

    switch (operation) {
    case SIMPLE:
        OPEN(INTERVAL);
        r = trace_logi(CODE, low, high);
        CLOSE(INTERVAL);
        return r < 0 ? failed("trace_logi") : 0;
    case TEXT:
        OPEN(INTERVAL);
        r = trace_logs(CODE, text + value % 64);
        CLOSE(INTERVAL);
        return r < 0 ? failed("trace_logs") : 0;
    default:
        OPEN(INTERVAL);
        r = MsgSendPulse(coid, -1, 1, (int)low);
        CLOSE(INTERVAL);
        return r < 0 || MsgReceivePulse(chid, &pulse, sizeof(pulse), NULL) < 0 ? failed("pulse")
                                                                               : 0;
    }
}

/* Returns a file's bytes, which come in pieces; 0: there is no such file. */
static uint32_t read_file(const char *name, void *to, size_t room)
{
    uint32_t bytes = 0;
    long n;

    while (bytes < room && (n = ImageRead(name, bytes, (char *)to + bytes, room - bytes)) > 0) {
        bytes += (uint32_t)n;
    }
    return bytes;
}

static int command(uint32_t number, uint32_t handle)
{
    struct kymo_d_call call = {.command = number, .handle = handle};

    if (number == KYMO_D_BUFFER || number == KYMO_D_STATUS) {
        call.out_bytes = sizeof(out);
    }
    return DtraceControl(&call, NULL, &out);
}

/* Returns the flags of this program. */
static unsigned flags_of(unsigned n)
{
    char digit = modes[2 * n + 1];

    return (unsigned)(digit <= '9' ? digit - '0' : digit - 'a' + 10);
}

static uint32_t create_file(const char *name, uint32_t flags)
{
    struct kymo_d_call call = {.command = KYMO_D_CREATE, .flags = flags, .out_bytes = sizeof(out)};

    call.in_bytes = read_file(name, image, sizeof(image));
    return DtraceControl(&call, image, &out) < 0 ? 0 : call.handle;
}

/* Returns its handle, or 0 if it is refused: the refusal is in out. */
static uint32_t create(unsigned n)
{
    char name[16];

    snprintf(name, sizeof(name), "%u.dif", n);
    return create_file(name, flags_of(n) & LOGS ? DTRACE_CREATE_LOG : 0);
}

/* Another program, with many clauses of ERROR, which the faults of the others are to pass by. */
static uint32_t crowd_begin(void)
{
    uint32_t handle = create_file("crowd.dif", 0);

    return handle && command(KYMO_D_GO, handle) == 0 ? handle : 0;
}

static int run(unsigned n, enum operation operation, unsigned flags)
{
    unsigned rounds = flags & (COLLIDES_ENTRY | COLLIDES_VARIABLE) ? ROUNDS_COLLIDING : ROUNDS;
    uint32_t handle = create(n);

    if (!handle) {
        printf("firing: %u is refused, reason %u: %s\n", n, (unsigned)out.refusal.reason,
               out.refusal.text);
        return failed("CREATE");
    }
    int status = command(KYMO_D_GO, handle) < 0 ? failed("GO") : 0;
    for (unsigned round = 0; round < rounds && status == 0; round++) {
        status = fire(operation, value_of(flags, round));
        if (round % READ_EVERY == READ_EVERY - 1) {
            command(KYMO_D_BUFFER, handle); /* of a log, or a ring, there is none */
        }
    }
    printf("firing: %u: %u rounds\n", n, rounds);
    return command(KYMO_D_DESTROY, handle) < 0 ? failed("DESTROY") : status;
}

static int limit(uint32_t cost)
{
    struct kymo_d_call call = {.command = KYMO_D_LIMIT, .id = cost};

    return DtraceControl(&call, NULL, NULL) < 0 || call.id != cost ? failed("LIMIT") : 0;
}

/* The kernel's own figure is that bound. */
static int limited(unsigned n, uint32_t bound)
{
    char wanted[48];
    uint32_t handle;

    if (limit(bound) || (handle = create(n)) == 0 || command(KYMO_D_DESTROY, handle) < 0) {
        printf("firing: %u: with its bound %u: %s\n", n, (unsigned)bound, out.refusal.text);
        return failed("the bound");
    }
    snprintf(wanted, sizeof(wanted), "takes up to %u instructions", (unsigned)bound);
    if (limit(bound - 1) || create(n) != 0 || errno != E2BIG || !strstr(out.refusal.text, wanted)) {
        printf("firing: %u: below its bound %u: %s\n", n, (unsigned)bound, out.refusal.text);
        return failed("below the bound");
    }
    return 0;
}

static int limited_all(void)
{
    unsigned n, bound, count = 0;
    int used;

    if (read_file("limits", limits, sizeof(limits) - 1) == 0) {
        return failed("limits");
    }
    for (const char *at = limits; sscanf(at, "%u %u%n", &n, &bound, &used) == 2; at += used) {
        if (limited(n, bound)) {
            return 1;
        }
        count++;
    }
    printf("firing: %u limits\n", count);
    return 0;
}

/* A text of all sorts: paths, numbers, lists, words, with long stretches of each. */
static void text_make(void)
{
    static const char *const parts[] = {"/usr/local/../share//kymo/./file.txt",
                                        "{\"a\":{\"b\":[1,2,3]}}",
                                        "            42 0x7fffffff -12345678901234567890",
                                        "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaab",
                                        "////////////////////////////////////////////////",
                                        "a,b;c,d;e,f;,,,,,,,,,,;;;;;;;;;;;,;,;,;,;,;,;,"};
    size_t at = 0;

    while (at < TEXT_BYTES - 1) {
        const char *part = parts[drawn() % (sizeof(parts) / sizeof(*parts))];
        for (; *part && at < TEXT_BYTES - 1; part++) {
            text[at++] = *part;
        }
        if (drawn() % 8 == 0 && at < TEXT_BYTES - 1) {
            text[at++] = '\0';
        }
    }
    text[at] = 'x'; /* the string ends where memory does */
}

/* A firing that reads a process's memory searches its mappings: the more there are, the longer. */
static void map_many(void)
{
    for (unsigned i = 0; i < MAPPINGS; i++) {
        if (mmap(NULL, 4096, i % 2 ? PROT_READ : PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANON,
                 NOFD, 0) == MAP_FAILED) {
            return;
        }
    }
}

static int log_start(void)
{
    uint64_t paddr;

    TraceEvent((int)_NTO_TRACE_DELALLCLASSES);
    if (TraceEvent((int)_NTO_TRACE_ALLOCBUFFER, BUFFERS, &paddr) < 0 ||
        TraceEvent((int)_NTO_TRACE_SETRINGMODE) < 0 ||
        TraceEvent((int)_NTO_TRACE_STARTNOSTATE) < 0) {
        return failed("the log");
    }
    return 0;
}

int main(void)
{
    uint32_t bytes = read_file("modes", modes, sizeof(modes) - 1);

    chid = ChannelCreate(0);
    coid = ConnectAttach(0, 0, chid, _NTO_SIDE_CHANNEL, 0);
    text = mmap(NULL, TEXT_BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANON, NOFD, 0);
    if (bytes == 0 || chid < 0 || coid < 0 || text == MAP_FAILED) {
        return failed("modes");
    }
    text_make();
    int status = log_start();
    map_many();
    uint32_t crowd = crowd_begin();
    if (!crowd) {
        return failed("the crowd");
    }
    for (unsigned n = 0; modes[2 * n] && status == 0; n++) {
        status = run(n, (enum operation)modes[2 * n], flags_of(n));
        if (command(KYMO_D_STATUS, crowd) < 0) { /* it is still there */
            status = failed("the crowd");
        }
    }
    command(KYMO_D_DESTROY, crowd);
    if (status == 0 && (status = limited_all()) == 0) {
        puts("firing: all done");
    }
    return status;
}

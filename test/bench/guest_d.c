/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What D adds to an event: the same call between two marks, with no probe on, then with each script
 * of test/bench/d on it; and a message with all function probes on. `bench_d static`: a pass of a
 * static probe with an empty clause on it. Read by test/bench/bench.
 */
#include <errno.h>
#include <kymo.h>
#include <kymo_probe.h>
#include <stdio.h>
#include <stdbool.h>
#include <string.h>
#include <sys/dispatch.h>
#include <sys/dtrace.h>
#include <sys/neutrino.h>
#include <unistd.h>

#include "test/bench/mark.h"
#include "trace/dtrace/image.h"

#define ROUNDS 40
#define IMAGE_MOST 8192

enum { INTERVAL_D_OFF = 4, INTERVAL_D };

static const char *const scripts[] = {
    "d_empty",    "d_trace",     "d_count", "d_count_execname", "d_pred_false", "d_pred_cached",
    "d_insn_few", "d_insn_many", "d_self",  "d_latency_pair",   "fbt_entry",    "fbt_return"};
#define SCRIPTS ((int)(sizeof(scripts) / sizeof(*scripts)))

static uint64_t image[IMAGE_MOST / 8], out[32];

static int failed(const char *what)
{
    printf("bench_d: %s: %s\n", what, strerror(errno));
    return 1;
}

static int take(int chid, int r)
{
    struct _pulse pulse;

    return r < 0 || MsgReceivePulse(chid, &pulse, sizeof(pulse), NULL) < 0 ? failed("pulse") : 0;
}

static int without(int coid, int chid)
{
    int status = 0;

    for (int i = 0; i < ROUNDS; i++) {
        OPEN(INTERVAL_D_OFF);
        int r = MsgSendPulse(coid, -1, 1, 0);
        CLOSE(INTERVAL_D_OFF);
        status |= take(chid, r);
    }
    return status;
}

static int with(int coid, int chid)
{
    int status = 0;

    for (int i = 0; i < ROUNDS; i++) {
        OPEN(INTERVAL_D);
        int r = MsgSendPulse(coid, -1, 1, 0);
        CLOSE(INTERVAL_D);
        status |= take(chid, r);
    }
    return status;
}

/* To another process of higher priority, as msg_rt_8 does. */
static int messages(int coid, int chid)
{
    char text[8] = "message";

    (void)chid;
    for (int i = 0; i < ROUNDS; i++) {
        OPEN(INTERVAL_D);
        long r = MsgSend(coid, text, sizeof(text), text, sizeof(text));
        CLOSE(INTERVAL_D);
        if (r < 0) {
            return failed("MsgSend");
        }
    }
    return 0;
}

/* Passes of a static probe of this program. */
static int static_passes(int coid, int chid)
{
    (void)coid;
    (void)chid;
    for (int i = 0; i < ROUNDS; i++) {
        OPEN(INTERVAL_D);
        KYMO_PROBE(bench, passed, i, coid);
        CLOSE(INTERVAL_D);
    }
    return 0;
}

/* A function of this program, with probes at its entry and its return. */
#if defined(__x86_64__)
__asm__(".pushsection .text\n"
        "probed: lea 1(%rdi), %rax\n"
        "probed_return: ret\n"
        ".popsection\n");
long probed(long n);
extern const char probed_return[];

/* Of an instruction of the function: where it is, or how long. */
static uint32_t probed_at(bool returns)
{
    return returns ? (uint32_t)(probed_return - (const char *)(uintptr_t)probed) : 0;
}

static uint8_t probed_bytes(bool returns)
{
    return returns ? 1 : (uint8_t)probed_at(true);
}
#else
#if defined(__thumb__)
typedef uint16_t insn_t;
#define RETURNS 0x4770
#else
typedef uint32_t insn_t;
#define RETURNS 0xd65f03c0u
#endif

static __attribute__((noinline)) long probed(long n)
{
    __asm__ volatile("" : "+r"(n));
    return n + 1;
}

static uint32_t probed_at(bool returns)
{
    const insn_t *code = (const insn_t *)((uintptr_t)probed & ~(uintptr_t)1);
    uint32_t n = 0;

    for (; returns && code[n] != RETURNS && n < 64; n++) {
    }
    return n * (uint32_t)sizeof(*code);
}

static uint8_t probed_bytes(bool returns)
{
    (void)returns;
    return sizeof(insn_t);
}
#endif

/* Where its instructions are: without Thumb's mark of 1. */
static uintptr_t probed_code(void)
{
#if defined(__thumb__)
    return (uintptr_t)probed & ~(uintptr_t)1;
#else
    return (uintptr_t)probed;
#endif
}

static int probed_calls(int coid, int chid)
{
    (void)coid;
    (void)chid;
    for (int i = 0; i < ROUNDS; i++) {
        OPEN(INTERVAL_D);
        long r = probed(i);
        CLOSE(INTERVAL_D);
        if (r != i + 1) {
            return failed("probed");
        }
    }
    return 0;
}

/* Returns false where there are no probes of programs. */
static bool probes_made(void)
{
    enum { SIZE = sizeof(struct kymo_d_user_place) + 16 };
    static const char *const names[] = {"entry", "return"};
    struct kymo_d_user head = {.pid = getpid(), .count = 2};
    struct kymo_d_user_made made = {0};
    struct kymo_d_call call = {
        .command = KYMO_D_USER, .in_bytes = sizeof(head) + 2 * SIZE, .out_bytes = sizeof(made)};
    char *to = (char *)image;

    memset(image, 0, sizeof(image));
    memcpy(to, &head, sizeof(head));
    for (unsigned i = 0; i < 2; i++) {
        const uint32_t offset = probed_at(i);
        struct kymo_d_user_place place = {.address = probed_code() + offset,
                                          .offset = offset,
                                          .size = SIZE,
                                          .bytes = probed_bytes(i),
                                          .kind = i ? KYMO_D_USER_RETURN : KYMO_D_USER_ENTRY};
        memcpy(&place.insn, (const char *)probed_code() + offset, place.bytes);
        memcpy(to + sizeof(head) + i * SIZE, &place, sizeof(place));
        memcpy(to + sizeof(head) + i * SIZE + sizeof(place), "probed", sizeof("probed"));
        memcpy(to + sizeof(head) + i * SIZE + sizeof(place) + sizeof("probed"), names[i],
               strlen(names[i]) + 1);
    }
    return DtraceControl(&call, image, out) == 0 && memcpy(&made, out, sizeof(made)) &&
           made.made == 2;
}

static int with_script(const char *script, int (*calls)(int coid, int chid), int coid, int chid)
{
    char name[32];
    struct kymo_d_call call = {.command = KYMO_D_CREATE, .out_bytes = sizeof(out)};
    struct dtrace_image head;

    snprintf(name, sizeof(name), "%s.dif", script);
    if (ImageRead(name, 0, image, sizeof(image)) < (long)sizeof(head)) {
        return failed(name);
    }
    memcpy(&head, image, sizeof(head));
    call.in_bytes = head.size; /* kymo dtrace --compile writes the source after it */
    if (DtraceControl(&call, image, out) < 0) {
        return failed(name);
    }
    call = (struct kymo_d_call){.command = KYMO_D_GO, .handle = call.handle};
    if (DtraceControl(&call, NULL, NULL) < 0 || calls(coid, chid) != 0) {
        return failed(name);
    }
    call = (struct kymo_d_call){.command = KYMO_D_DESTROY, .handle = call.handle};
    return DtraceControl(&call, NULL, NULL) < 0 ? failed(name) : 0;
}

/* ---- 500 probes at once ------------------------------------------------------------ */

#define MANY 500
#define EIGHT(x) x x x x x x x x
enum { MANY_SIZE = sizeof(struct kymo_d_user_place) + 16 };

/* So many stores, each an instruction; it is never called. */
static __attribute__((noinline)) void many(volatile long *sink)
{
    EIGHT(EIGHT(EIGHT(*sink = 0;)))
}
void (*volatile many_kept)(volatile long *) = many;

static uint64_t many_places[(sizeof(struct kymo_d_user) + MANY * MANY_SIZE) / 8];

static uint32_t many_message(void)
{
    const uint32_t *code = (const uint32_t *)(uintptr_t)many_kept;
    struct kymo_d_user head = {.pid = getpid(), .count = MANY};
    char *to = (char *)many_places + sizeof(head);

    memcpy(many_places, &head, sizeof(head));
    for (uint32_t i = 0; i < MANY; i++, to += MANY_SIZE) {
        const struct kymo_d_user_place place = {.address = (uintptr_t)(code + i),
                                                .insn = code[i],
                                                .offset = i * 4,
                                                .size = MANY_SIZE,
                                                .bytes = 4,
                                                .kind = KYMO_D_USER_OFFSET};
        memcpy(to, &place, sizeof(place));
        snprintf(to + sizeof(place), MANY_SIZE - sizeof(place), "many%c%x", 0, (unsigned)i * 4);
    }
    return sizeof(many_places);
}

static uint32_t held(void)
{
    struct kymo_d_call call = {.command = KYMO_D_INFO, .out_bytes = sizeof(struct kymo_d_info)};
    struct kymo_d_info info;

    return DtraceControl(&call, NULL, out) == 0 ? memcpy(&info, out, sizeof(info)), info.held : 0;
}

/* Three intervals: they are made, enabled, and taken away; what they hold is printed. */
static int many_probes(void)
{
    struct kymo_d_user_made made;
    struct kymo_d_call call = {
        .command = KYMO_D_USER, .in_bytes = many_message(), .out_bytes = sizeof(made)};
    const uint32_t before = held();

    OPEN(INTERVAL_D);
    int error = DtraceControl(&call, many_places, out);
    CLOSE(INTERVAL_D);
    memcpy(&made, out, sizeof(made));
    if (error || made.made != MANY) {
        return failed("many places");
    }
    const uint32_t probes = held();
    long bytes = ImageRead("pid_many.dif", 0, image, sizeof(image));
    call = (struct kymo_d_call){
        .command = KYMO_D_CREATE, .in_bytes = (uint32_t)bytes, .out_bytes = sizeof(out)};
    if (bytes < 0 || DtraceControl(&call, image, out) < 0) {
        return failed("pid_many");
    }
    call = (struct kymo_d_call){.command = KYMO_D_GO, .handle = call.handle};
    OPEN(INTERVAL_D);
    error = DtraceControl(&call, NULL, NULL);
    CLOSE(INTERVAL_D);
    const uint32_t enabled = held();
    call = (struct kymo_d_call){.command = KYMO_D_DESTROY, .handle = call.handle};
    OPEN(INTERVAL_D);
    error |= DtraceControl(&call, NULL, NULL);
    CLOSE(INTERVAL_D);
    printf("bench_d: 500 probes hold %u bytes, their consumer %u\n", (unsigned)(probes - before),
           (unsigned)(enabled - probes));
    return error ? failed("pid_many") : 0;
}

/* What many_places() counts on. */
#ifdef __aarch64__
enum { INSNS_OF_4_BYTES = 1 };
#else
enum { INSNS_OF_4_BYTES = 0 };
#endif

int main(int argc, char **argv)
{
    if (argc > 1 && strcmp(argv[1], "static") == 0) {
        return with_script("static_d", static_passes, 0, 0);
    }
    int chid = ChannelCreate(0);
    int coid = ConnectAttach(0, 0, chid, _NTO_SIDE_CHANNEL, 0);
    int status = without(coid, chid);

    for (int n = 0; n < SCRIPTS; n++) {
        status |= with_script(scripts[n], with, coid, chid);
    }
    int server = name_open("bench", 0);
    if (server < 0) {
        return failed("name_open");
    }
    status |= with_script("fbt_all_rt", messages, server, 0);
    if (probes_made()) {
        status |= with_script("pid_entry", probed_calls, 0, 0);
        status |= with_script("pid_return", probed_calls, 0, 0);
        status |= INSNS_OF_4_BYTES ? many_probes() : 0;
    }
    return status;
}

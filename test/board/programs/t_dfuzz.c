/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * DtraceControl() called at random: by a process that may (real programs with bytes, words and
 * pieces changed, fields and sizes of the call, addresses), by one that may observe only its own
 * processes, and by one that may not. Each call ends
 * with a documented errno and writes nothing after its room; the kernel lives, and when the
 * callers are gone all is as before. `t_dfuzz [SEED [CHILDREN]]`, SEED 0: another one each time;
 * `t_dfuzz may|own|not SEED` is a caller. Under icount a seed repeats a run. Its D programs are
 * those of test/board/life, faults and fbt, and one on what KYMO_D_USER
 * makes probes of: pieces of d_random(), in this process, in others', and where none is.
 */
#include "test/board/programs/dcalls.h"

#include "trace/dtrace/image.h"

#include <stdio.h>
#include <stdlib.h>

#define CALLS 400 /* of a child */
#define HANDLES 4
#define GUARD 0xa5
#define COMMANDS KYMO_D_USER /* the last one */

static const char *const programs[] = {
    "life_calls.dif",    "life_vars.dif", "life_faults.dif", "life_ticks.dif",   "life_fbt.dif",
    "life_exit.dif",     "life_slow.dif", "faults_one.dif",  "faults_user.dif",  "faults_twice.dif",
    "faults_string.dif", "fbt_one.dif",   "peek.dif",        "dfuzz_places.dif",
};
static uint64_t state = 1;
static unsigned children = 8;
static uint32_t handles[HANDLES];

static uint32_t below(uint32_t n)
{
    return d_random(&state) % n;
}

/* ---- a caller ---------------------------------------------------------------------- */

static uint32_t telling(void)
{
    static const uint32_t values[] = {0,   1,          2,          3,          8,         255,
                                      256, 0x7fffffff, 0x80000000, 0xfffffffe, 0xffffffff};

    return below(2) ? values[below(COUNT(values))] : below(64);
}

static void change_once(size_t bytes)
{
    uint8_t *in = (uint8_t *)d_in;
    uint32_t at = below((uint32_t)bytes), value;

    switch (below(5)) {
    case 0:
        in[at] ^= (uint8_t)(1u << below(8));
        break;
    case 1:
        in[at] = (uint8_t)d_random(&state);
        break;
    case 2: /* the header's tables and the options are in front */
        at %= 256;
        __attribute__((fallthrough));
    case 3:
        value = telling();
        at &= ~3u;
        memcpy(in + at, &value, bytes - at < 4 ? bytes - at : 4);
        break;
    default:
        for (uint32_t n = 1 + below(16), from = below((uint32_t)bytes); n > 0; n--) {
            in[(at + n) % bytes] = in[(from + n) % bytes];
        }
    }
}

static size_t some_program(void)
{
    long n = ImageRead(programs[below(COUNT(programs))], 0, d_in, sizeof(d_in));

    EXPECT(n > 0);
    for (unsigned i = below(4); i > 0 && n > 0; i--) {
        change_once((size_t)n);
    }
    return n > 0 ? (size_t)n : 0;
}

static size_t some_description(void)
{
    static const char *const words[] = {"",        "fbt",   "profile", "tick-7ms", "*",
                                        "syscall", "entry", "[",       "[!a",      "\\",
                                        "sdt",     "ker_*", "???"};
    char *in = (char *)d_in;
    size_t at = 0;

    for (unsigned i = 0; i < 4; i++) {
        const char *word = words[below(COUNT(words))];
        memcpy(in + at, word, strlen(word) + 1);
        at += strlen(word) + 1;
    }
    return below(8) ? at : below((uint32_t)at + 8);
}

/* A place in this program or in another one, mostly at an instruction that is there. */
static void some_place(struct kymo_d_user_place *place)
{
    const uintptr_t thumb = sizeof(void *) == 4; /* bit 0 of a function's address */
    const uintptr_t at = ((uintptr_t)d_random & ~thumb) + (below(2) ? 0 : 4 * below(16));
    static const char names[] = "d_random\0entry";

    *place = (struct kymo_d_user_place){.address = below(8) ? at : telling(),
                                        .offset = below(64),
                                        .size = sizeof(*place) + 16,
                                        .bytes = below(4) ? 4 : (uint8_t)below(17),
                                        .kind = (uint8_t)below(KYMO_D_USER_OFFSET + 2)};
    memcpy(&place->insn, (const void *)at, sizeof(place->insn));
    memcpy(place->strings, names, sizeof(names));
}

static size_t some_places(void)
{
    const uint32_t n = 1 + below(4),
                   pids[] = {(uint32_t)self_pid(), (uint32_t)below(16), telling()};
    const size_t size = sizeof(struct kymo_d_user_place) + 16;
    const struct kymo_d_user head = {.pid = (int32_t)pids[below(COUNT(pids))], .count = n};

    memset(d_in, 0, sizeof(head) + n * size);
    memcpy(d_in, &head, sizeof(head));
    for (uint32_t i = 0; i < n; i++) {
        some_place((void *)((char *)d_in + sizeof(head) + i * size));
    }
    for (unsigned i = below(3); i > 0; i--) {
        change_once(sizeof(head) + n * size);
    }
    return sizeof(head) + n * size;
}

static bool documented(int error)
{
    static const int all[] = {EPERM,  EINVAL, EBADF, EMSGSIZE, EFAULT,  EAGAIN,          ENOMEM,
                              ENOENT, ESRCH,  E2BIG, ENOSPC,   ENOTSUP, KYMO_D_ESHUTDOWN};
    bool found = false;

    for (unsigned i = 0; i < COUNT(all); i++) {
        found |= all[i] == error;
    }
    return found;
}

static struct kymo_d_call some_call(void)
{
    struct kymo_d_call call = {.command = below(40) ? 1 + below(COMMANDS) : telling()};
    uint32_t handle = handles[below(HANDLES)];

    if (call.command >= KYMO_D_GO && call.command <= KYMO_D_AGG) {
        call.handle = handle;
    } else if (call.command == KYMO_D_DESTROY || call.command == KYMO_D_SIZES ||
               call.command == KYMO_D_NOTES || call.command == KYMO_D_PASS) {
        call.handle = handle;
    }
    if (call.command == KYMO_D_PASS) {
        call.flags = below(4);
    }
    if (call.command == KYMO_D_BUFFER || call.command == KYMO_D_AGGREGATION) {
        call.cpu = below(cpu_end() + 1);
    }
    if (call.command == KYMO_D_EPID || call.command == KYMO_D_AGG ||
        call.command == KYMO_D_PROBES || call.command == KYMO_D_PROCESS) {
        call.id = below(3) ? below(8) : telling();
    }
    call.in_bytes = call.command == KYMO_D_CREATE    ? (uint32_t)some_program()
                    : call.command == KYMO_D_PROVIDE ? (uint32_t)some_description()
                    : call.command == KYMO_D_USER    ? (uint32_t)some_places()
                    : call.command == KYMO_D_NOTES   ? below(sizeof(d_in))
                                                     : 0;
    call.out_bytes = below(4) ? sizeof(d_out) : below(sizeof(d_out));
    if (below(12) == 0) {
        ((uint32_t *)&call)[below(8)] = telling();
    }
    if (call.command == KYMO_D_LIMIT && call.id != 0) {
        call.id |= 1u << 31; /* it holds for good: a small one would refuse all further programs */
    }
    return call;
}

/* An address that isn't this program's, or is so only in part. */
static void *wild(void *good)
{
    switch (below(40)) {
    case 0:
        return NULL;
    case 1:
        return (void *)(uintptr_t)telling();
    case 2:
        return (char *)good + below(9);
    case 3:
        return (void *)((uintptr_t)wild & ~(uintptr_t)7);
    default:
        return good;
    }
}

static void note(const struct kymo_d_call *call, int r, uint32_t asked, uint32_t handle)
{
    if (r == 0 && asked == KYMO_D_CREATE) {
        handles[below(HANDLES)] = call->handle; /* the one there before lives on unseen */
    }
    if (r == 0 && asked == KYMO_D_DESTROY) {
        for (unsigned i = 0; i < HANDLES; i++) {
            handles[i] = handles[i] == handle ? 0 : handles[i];
        }
    }
}

static void one_call(int must_be)
{
    struct kymo_d_call call = some_call(), asked = call;
    void *in = wild(d_in), *out = wild(d_out);

    memset(d_out, GUARD, sizeof(d_out));
    int r = DtraceControl(wild(&call), in, out);
    if (r != 0 && (must_be ? errno != must_be : !documented(errno))) {
        check_fail("call", (int)asked.command, "errno %d", errno);
    }
    EXPECT(r == 0 || r == -1);
    EXPECT(!must_be || r != 0);
    for (size_t at = asked.out_bytes; out == d_out && at < sizeof(d_out); at++) {
        if (((uint8_t *)d_out)[at] != GUARD) {
            check_fail("guard", (int)asked.command, "room %u, at %u", (unsigned)asked.out_bytes,
                       (unsigned)at);
            break;
        }
    }
    note(&call, r, asked.command, asked.handle);
}

enum kind { MAY, OWN, NOT };
static const struct {
    char name[4], run[12];
    uint32_t ability;
} kinds[] = {
    [MAY] = {"may", "dfuzz-may", ABILITY_TRACE | ABILITY_DTRACE_KERNEL},
    [OWN] = {"own", "dfuzz-own", ABILITY_DTRACE_USER | ABILITY_DTRACE_DESTRUCTIVE},
    [NOT] = {"not", "dfuzz-not", ABILITY_TRACE | ABILITY_DTRACE_DESTRUCTIVE},
};

static int must_be;
static void t_calls(void)
{
    for (unsigned i = 0; i < CALLS; i++) {
        one_call(must_be);
    }
}

static int child(enum kind kind)
{
    static const struct check table[] = {{"calls", t_calls}};

    must_be = kind == NOT ? EPERM : 0;
    return check_run(kinds[kind].run, table, 1);
}

/* ---- the parent -------------------------------------------------------------------- */

/* Instructions, each with a place for as many probes as one can have. */
enum { STAY_SITES = 256, STAY_PROBES = 8 };
#if defined(__x86_64__)
#define STAYS "lea 8(%rdi), %rax\n"
#elif defined(__ARM_ARCH_7EM__)
#define STAYS "add.w r0, r0, #8\n"
#else
#define STAYS "add x0, x0, #8\n"
#endif
__asm__(".pushsection .text\n.balign 8\ndfuzz_stays: .rept 256\n" STAYS ".endr\n.popsection\n");
extern const char dfuzz_stays[];

/* Makes a child's probes, as many as there can be. */
static int fill(void)
{
    const size_t size = sizeof(struct kymo_d_user_place) + 16;
    const struct kymo_d_user head = {.pid = self_pid(), .count = STAY_SITES};

    for (unsigned k = 0; k < STAY_PROBES; k++) {
        struct kymo_d_call call = {0};
        memset(d_in, 0, sizeof(d_in));
        memcpy(d_in, &head, sizeof(head));
        for (unsigned i = 0; i < STAY_SITES; i++) {
            struct kymo_d_user_place *p = (void *)((char *)d_in + sizeof(head) + i * size);
            *p = (struct kymo_d_user_place){
                .address = (uintptr_t)dfuzz_stays + 4ul * i, .size = (uint16_t)size, .bytes = 4};
            memcpy(&p->insn, dfuzz_stays + 4ul * i, sizeof(p->insn));
            /* another name than the place before has, so that each is a probe of its own */
            snprintf(p->strings, 16, "stays%c%u", 0, (i + k) % STAY_PROBES);
        }
        if (d_call(&call, KYMO_D_USER, sizeof(head) + STAY_SITES * size, sizeof(d_out)) != 0) {
            return 1;
        }
    }
    const struct kymo_d_user_made *made = (const void *)d_out;
    return made->refused != 1; /* the last one: there are 2,047 */
}

/* What is made once and stays: probes of calls, functions, programs and rates, as many as there can
 * be. */
static void make_what_stays(void)
{
    static bool made;
    int status = -1;

    if (made) {
        return;
    }
    made = true;
    const int pid = spawn("t_dfuzz", ABILITY_DTRACE_KERNEL, 9, "fill", NULL, NULL);

    EXPECT(pid > 0);
    EXPECT_EQ(ProcWait(pid, &status, 0), pid);
    EXPECT_EQ(status, 0);
    d_provide_calls();
    d_do(d_create("fbt_all.dif"), KYMO_D_DESTROY);
    for (unsigned i = 0; i < 1000; i++) {
        struct kymo_d_call call = {0};
        char *in = (char *)d_in;
        size_t n = (size_t)snprintf(in, 32, "profile%c%c%ctick-%ums", 0, 0, 0, 1000 + i);
        EXPECT_EQ(d_call(&call, KYMO_D_PROVIDE, n + 1, 0), 0);
    }
}

/* One that some program has made deaf is ended in the end. */
static void run_child(enum kind kind)
{
    char seed[24];
    int status = -1, ended = 0;

    snprintf(seed, sizeof(seed), "%lu", (unsigned long)d_random(&state));
    int pid = spawn("t_dfuzz", kinds[kind].ability, 9, kinds[kind].name, seed, NULL);
    EXPECT(pid > 0);
    for (unsigned i = 0; i < 3000 && ended == 0; i++) {
        sleep_ms(10);
        ended = ProcWait(pid, &status, KYMO_WAIT_NOHANG);
    }
    EXPECT_EQ(ended, pid);
    if (status != 0) {
        check_fail("child", (int)kind, "seed %s: status %x", seed, (unsigned)status);
    }
}

static void run_children(enum kind kind)
{
    make_what_stays();
    struct world before = d_world();
    for (unsigned i = 0; i < children; i++) {
        run_child(kind);
    }
    d_world_is(&before);
}

static void t_may(void)
{
    run_children(MAY);
}
static void t_own(void)
{
    run_children(OWN);
}
static void t_not(void)
{
    run_children(NOT);
}

/* ---- the longest call -------------------------------------------------------------- */

/* So many descriptions, without actions, whose function is this pattern. */
static size_t describe(uint8_t *at, unsigned n, const char *pattern, size_t bytes)
{
    struct dtrace_image *i = (void *)at;
    struct dtrace_image_ecb *ecb = (void *)(at + sizeof(*i));
    uint32_t strings = (uint32_t)(sizeof(*i) + n * sizeof(*ecb));
    const struct dtrace_image_table none = {sizeof(*i), 0};

    memset(at, 0, strings);
    *i = (struct dtrace_image){.magic = DTRACE_IMAGE_MAGIC,
                               .version = DTRACE_IMAGE_VERSION,
                               .pointer_bytes = sizeof(void *),
                               .dif_version = DIF_VERSION,
                               .options = none,
                               .ecbs = {sizeof(*i), n},
                               .actions = none,
                               .objects = none,
                               .variables = none,
                               .text = none,
                               .ints = none,
                               .strings = {strings, (uint32_t)bytes + 2}};
    i->size = (strings + (uint32_t)bytes + 2 + 7) & ~7u;
    memcpy(at + strings + 1, pattern, bytes);
    at[strings + 1 + bytes] = '\0';
    for (unsigned k = 0; k < n; k++) {
        ecb[k].function = 1; /* the others: "" */
    }
    return i->size;
}

static void refused(uint8_t *at, unsigned n, const char *pattern, size_t bytes)
{
    struct kymo_d_call call = {.command = KYMO_D_CREATE, .flags = 1, .out_bytes = sizeof(d_out)};

    call.in_bytes = (uint32_t)describe(at, n, pattern, bytes);
    EXPECT_ERR(DtraceControl(&call, at, d_out), E2BIG);
}

/* Descriptions that would take minutes to match, all else held up: they are refused soon. */
static void t_longest(void)
{
    struct kymo_map map = {.len = KYMO_D_IN_MOST, .flags = KYMO_PROT_READ | KYMO_PROT_WRITE};
    static char set[100000];

    EXPECT_EQ(MemMap(&map), 0);
    uint8_t *at = (void *)(uintptr_t)map.vaddr;
    memset(set, '!', sizeof(set));
    memcpy(set, "*[1", 3);
    memcpy(set + sizeof(set) - 2, "]x", 2);
    refused(at, 1, set, sizeof(set));
    refused(at, 3000, set, sizeof(set));
    refused(at, 6000, "*e*n*t*r*y*x", 12);
    refused(at, 6000, "", 0);
    refused(at, 6000, "*", 1);
    EXPECT_EQ(MemUnmap(at, map.len), 0);
}

static const struct check table[] = {
    {"the longest call", t_longest},
    {"one that may", t_may},
    {"one that may observe its own", t_own},
    {"one that may not", t_not},
};

int main(int argc, char **argv)
{
    unsigned kind = 0;

    while (kind < COUNT(kinds) && !(argc > 2 && strcmp(argv[1], kinds[kind].name) == 0)) {
        kind++;
    }
    bool is_child = kind < COUNT(kinds);

    if (argc > 1 && strcmp(argv[1], "fill") == 0) {
        return fill();
    }
    if (argc > 1) {
        state = strtoull(argv[is_child ? 2 : 1], NULL, 0);
    }
    if (is_child) {
        return child((enum kind)kind);
    }
    children = argc > 2 ? (unsigned)atoi(argv[2]) : children;
    state = state ? state : ClockCycles();
    say("dfuzz: seed %lu", (unsigned long)state);
    return check_run("dfuzz", table, COUNT(table));
}

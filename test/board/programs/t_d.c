/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * D in the kernel, by the call DtraceControl(): what it refuses, that records and counts are what
 * happened, that loads which fault end a clause and nothing else, and that after many consumers all
 * memory is back. Its D programs are test/board/d, compiled into the boot image.
 */
#include "test/board/programs/dcalls.h"

#include "trace/slot.h"

#include <time.h>

#define SENDS 20
#define NOPS 10

static void t_info(void)
{
    const struct kymo_d_info *info = (const void *)d_out;

    d_memory();
    EXPECT_EQ(info->version, KYMO_D_VERSION);
    EXPECT_EQ(info->pointer_bytes, sizeof(void *));
    EXPECT(info->cpus >= 1 && info->strsize >= 64 && info->clock_hz > 1000000);
    EXPECT(info->board[0] != '\0');
}

static void t_errors(void)
{
    struct kymo_d_call call = {.handle = 77};

    EXPECT_ERR(d_call(&call, 0, 0, 0), EINVAL);
    EXPECT_ERR(d_call(&call, 999, 0, 0), EINVAL);
    EXPECT_ERR(d_call(&call, KYMO_D_GO, 0, 0), EBADF);
    EXPECT_ERR(d_call(&call, KYMO_D_STATUS, 0, sizeof(d_out)), EBADF);
    EXPECT_ERR(d_call(&call, KYMO_D_INFO, 0, sizeof(d_out)), EINVAL); /* it has no handle */
    call = (struct kymo_d_call){0};
    EXPECT_ERR(d_call(&call, KYMO_D_INFO, 0, 8), EMSGSIZE);
    EXPECT_ERR(d_call(&call, KYMO_D_CREATE, KYMO_D_IN_MOST + 1, sizeof(d_out)), EMSGSIZE);
    memset(d_in, 0x5a, 256);
    EXPECT_ERR(d_call(&call, KYMO_D_CREATE, 256, sizeof(d_out)), EINVAL);
    EXPECT_ERR(DtraceControl(NULL, NULL, NULL), EFAULT);
    call = (struct kymo_d_call){.command = KYMO_D_INFO, .out_bytes = sizeof(struct kymo_d_info)};
    EXPECT_ERR(DtraceControl(&call, NULL, (void *)8), EFAULT);
}

static bool has(const struct kymo_d_probe *p, const char *provider, const char *name)
{
    const char *s = p->strings;
    bool same = strcmp(s, provider) == 0;

    for (unsigned i = 0; i < 3; i++) {
        s += strlen(s) + 1;
    }
    return same && strcmp(s, name) == 0;
}

static unsigned calls_count(void)
{
    return 0
#define KERCALL(number, NAME, handler, ...) +1
#include "abi/kercalls.def"
#undef KERCALL
        ;
}

static void t_probes(void)
{
    static const char calls[] = "syscall\0\0\0return"; /* are made on demand */
    struct kymo_d_call call = {0};
    unsigned n = 0, found = 0;

    memcpy(d_in, calls, sizeof(calls));
    EXPECT_EQ(d_call(&call, KYMO_D_PROVIDE, sizeof(calls), 0), 0);
    EXPECT_EQ(d_call(&call, KYMO_D_PROVIDE, sizeof(calls), 0), 0); /* once each */
    for (uint32_t last = 0; d_call(&call, KYMO_D_PROBES, 0, sizeof(d_out)) == 0;) {
        for (uint32_t at = 0; at < call.out_bytes;) {
            const struct kymo_d_probe *p = (const void *)((const char *)d_out + at);
            found += has(p, "msg", "send") + has(p, "sched", "on-cpu") +
                     has(p, "syscall", "return") + has(p, "sdt", "comm_snd_message");
            EXPECT(p->id > last && p->size % 8 == 0 && p->size > sizeof(*p));
            last = p->id;
            at += p->size;
            n++;
        }
    }
    EXPECT_EQ(errno, ENOENT);
    EXPECT(n > 150);
    EXPECT_EQ(found, calls_count() + 3); /* a return of every call, and three */
}

/* Of this size each, on all CPUs. */
static unsigned records_of(uint32_t handle, uint32_t size)
{
    unsigned n = 0;

    for (unsigned cpu = 0; cpu < cpu_end(); cpu = cpu_after(cpu)) {
        EXPECT_EQ(d_take(handle, KYMO_D_BUFFER, cpu), d_out[0]);
        EXPECT_EQ(d_out[2], 0);
        EXPECT_EQ(d_out[3], 0);
        n += (unsigned)d_out[0] / size;
    }
    return n;
}

static void t_records(void)
{
    uint32_t handle = d_create("msg.dif");

    d_do(handle, KYMO_D_GO);
    d_talk(SENDS);
    sleep_ms(300);
    d_do(handle, KYMO_D_STOP);
    /* Header and int32: 16 bytes; trace(arg1) is 64 bits: 24. One BEGIN and one END. */
    unsigned n = records_of(handle, 8);
    EXPECT_EQ(n, SENDS * 3 + 2 * 2);
    int bytes = 0;
    for (unsigned cpu = 0; cpu < cpu_end(); cpu = cpu_after(cpu)) {
        bytes += (int)d_take(handle, KYMO_D_AGGREGATION, cpu);
    }
    EXPECT(bytes > 100);
    d_do(handle, KYMO_D_DESTROY);
}

/* Makes that call a few times; how many clauses faulted. */
static unsigned fire_nop(uint32_t handle)
{
    d_do(handle, KYMO_D_GO);
    for (int i = 0; i < NOPS; i++) {
        const uintptr_t args[6] = {0, (uintptr_t) "text"};
        raw_call(0, args);
    }
    d_do(handle, KYMO_D_STOP);
    return (unsigned)d_faults(handle, NULL);
}

/* Addresses 0 and -1, a string at 0 and at the end, a division: on any board. */
static void t_bad_loads(void)
{
    uint32_t handle = d_create("bad.dif");
    unsigned faults = fire_nop(handle);

    EXPECT(faults >= 5 * NOPS);
    EXPECT(faults <= 9 * NOPS);
    d_do(handle, KYMO_D_DESTROY);
}

/* This is at least the third function. */
static void t_depth(void)
{
    uint32_t handle = d_create("depth.dif");

    EXPECT_EQ(fire_nop(handle), 0);
    EXPECT_EQ(records_of(handle, 16), NOPS);
    d_do(handle, KYMO_D_DESTROY);
}

/* Enabled and disabled in a storm of what it listens on. */
static void t_on_and_off(void)
{
    for (int i = 0; i < 20; i++) {
        uint32_t handle = d_create("all.dif");
        d_do(handle, KYMO_D_GO);
        d_talk(SENDS);
        d_do(handle, i % 2 ? KYMO_D_STOP : KYMO_D_DESTROY);
        if (i % 2) {
            d_do(handle, KYMO_D_DESTROY);
        }
    }
}

static void t_memory_is_back(void)
{
    uint64_t before = d_memory();

    for (int i = 0; i < 200; i++) {
        uint32_t handle = d_create(i % 3 ? "msg.dif" : "all.dif");
        if (i % 2) {
            d_do(handle, KYMO_D_GO);
        }
        d_do(handle, KYMO_D_DESTROY);
    }
    EXPECT_EQ(d_memory(), before);
}

static uint32_t held(void)
{
    d_memory();
    return ((const struct kymo_d_info *)d_out)->held;
}

/* Before anything else has made memory: test/bench/d_ram.py adds the static part and has
 * a limit. */
static void t_weight(void)
{
    static const char functions[] = "fbt\0kernel\0\0";
    struct kymo_d_call call = {0};
    uint32_t probes = held();

    memcpy(d_in, functions, sizeof(functions));
    EXPECT_EQ(d_call(&call, KYMO_D_PROVIDE, sizeof(functions), 0), 0);
    uint32_t all = held(), handle = d_create("least.dif");
    d_do(handle, KYMO_D_GO);
    uint32_t consumer = held() - all;
    EXPECT(probes > 1000 && all > probes && consumer > 128);
    say("D holds: probes %u, of functions %u, least consumer %u", (unsigned)probes,
        (unsigned)(all - probes), (unsigned)consumer);
    d_do(handle, KYMO_D_DESTROY);
    EXPECT_EQ(held(), all);
}

/* A program whose records or keys and values may not fit is refused when it is made, not later. */
static void t_logs(void)
{
    uint32_t handle = d_log("logs.dif");

    EXPECT(handle != 0);
    d_do(handle, KYMO_D_DESTROY);
    handle = d_log("logs_wide.dif");
    if (TRACE_BUFFER_SLOTS == 64) {
        EXPECT_EQ(handle, 0);
        EXPECT_EQ(errno, E2BIG);
        return;
    }
    EXPECT(handle != 0);
    d_do(handle, KYMO_D_DESTROY);
}

/* ---- memory that goes while it is written to ----------------------------------------- */

#define FULL_BYTES (64u << 10) /* of full.d's buffer; its records have 32 bytes at most */
#define CUTS 40                /* at least; until both have happened, at most CUTS_MOST */
#define CUTS_MOST 400
#define CUT_STEP_US 5

struct leaver {
    void *at;
    size_t len;
    unsigned us; /* after which its memory goes */
};

static void *unmap_later(void *arg)
{
    const struct leaver *leaver = arg;
    struct timespec wait = {.tv_nsec = (long)leaver->us * 1000};

    nanosleep(&wait, NULL);
    EXPECT_EQ(MemUnmap(leaver->at, leaver->len), 0);
    return NULL;
}

/* The answer's bytes; 0: its memory was gone. */
static uint32_t take_into_leaving(uint32_t handle, unsigned us)
{
    struct kymo_map map = {.len = FULL_BYTES + 4096, .flags = KYMO_PROT_READ | KYMO_PROT_WRITE};
    struct kymo_d_call call = {
        .command = KYMO_D_BUFFER, .handle = handle, .out_bytes = (uint32_t)map.len};

    EXPECT_EQ(MemMap(&map), 0);
    struct leaver leaver = {(void *)(uintptr_t)map.vaddr, (size_t)map.len, us};
    int tid = start_thread(unmap_later, &leaver, own_priority() + 1);
    int result = DtraceControl(&call, NULL, leaver.at);
    int error = result < 0 ? errno : 0;
    join(tid);
    EXPECT(error == 0 || error == EFAULT);
    return error ? 0 : call.out_bytes;
}

/* A long answer is given in pieces, between which another thread may unmap where it goes. */
static void t_leaving(void)
{
    uint32_t handle = d_create("full.dif");
    unsigned whole = 0, gone = 0;

    d_do(handle, KYMO_D_GO);
    for (unsigned cut = 0; cut < CUTS || (cut < CUTS_MOST && (!whole || !gone)); cut++) {
        for (unsigned i = 0; i < FULL_BYTES / 16; i++) {
            const uintptr_t args[6] = {0};
            raw_call(0, args);
        }
        uint32_t bytes = take_into_leaving(handle, cut % CUTS * CUT_STEP_US);
        whole += bytes > 0;
        gone += bytes == 0;
    }
    say("D: %u buffers taken, %u into memory that went", whole, gone);
    EXPECT(whole > 0 && gone > 0);
    d_do(handle, KYMO_D_STOP);
    EXPECT(d_take(handle, KYMO_D_AGGREGATION, 0) == 0);
    d_do(handle, KYMO_D_DESTROY);
}

/* ---- another process dumps and stops amid the call ----------------------------------- */

#define DUMPS "dumps"
#define TAKES 60

/* The D call that is under way is left again and again meanwhile. */
static int make_dumps(void)
{
    uint64_t paddr;

    if (TraceEvent((int)_NTO_TRACE_ALLOCBUFFER, 8, &paddr) < 0 ||
        TraceEvent((int)_NTO_TRACE_ADDALLCLASSES) < 0) {
        say("dumps: errno %d", errno);
        return 1;
    }
    for (;;) {
        TraceEvent((int)_NTO_TRACE_START);
        TraceEvent((int)_NTO_TRACE_STOP);
        TraceEvent((int)KYMO_TRACE_FLUSHCPUS);
        struct kymo_trace_buffer taken;
        while (TraceEvent((int)KYMO_TRACE_TAKEBUFFER, &taken) == 0) {
            TraceEvent((int)KYMO_TRACE_GIVEBUFFER, taken.index);
        }
    }
}

/* Records are whole, and where they belong. */
static void check_taken(const uint64_t *answer, uint32_t bytes)
{
    EXPECT(bytes >= SNAP_BYTES && answer[0] == bytes - SNAP_BYTES);
    for (uint32_t at = SNAP_BYTES / 8; at < bytes / 8; at++) {
        if (answer[at] == 0xdddddddddddddddd) {
            check_fail("taken", 0, "bytes from %u on of %u are not there", (unsigned)at * 8,
                       (unsigned)bytes);
            return;
        }
    }
}

static void t_amid_dumps(void)
{
    struct kymo_map map = {.len = FULL_BYTES + 4096, .flags = KYMO_PROT_READ | KYMO_PROT_WRITE};
    uint32_t handle = d_create("full.dif");
    int status, pid = spawn("t_d", ABILITY_TRACE, own_priority(), DUMPS, NULL, NULL);

    EXPECT(pid > 0);
    EXPECT_EQ(MemMap(&map), 0);
    uint64_t *answer = (uint64_t *)(uintptr_t)map.vaddr;
    d_do(handle, KYMO_D_GO);
    for (unsigned n = 0; n < TAKES; n++) {
        struct kymo_d_call call = {.command = KYMO_D_BUFFER,
                                   .handle = handle,
                                   .cpu = cpu_in_turn(n),
                                   .out_bytes = (uint32_t)map.len};
        for (unsigned i = 0; i < FULL_BYTES / 16; i++) {
            const uintptr_t args[6] = {0};
            raw_call(0, args);
        }
        memset(answer, 0xdd, (size_t)map.len);
        EXPECT_EQ(DtraceControl(&call, NULL, answer), 0);
        check_taken(answer, call.out_bytes);
    }
    EXPECT_EQ(SignalKill(0, pid, 0, KYMO_SIGKILL, 0, 0), 0);
    EXPECT_EQ(ProcWait(pid, &status, 0), pid);
    EXPECT_EQ(KYMO_STATUS_SIGNAL(status), KYMO_SIGKILL);
    d_do(handle, KYMO_D_STOP);
    d_do(handle, KYMO_D_DESTROY);
    MemUnmap(answer, (size_t)map.len);
}

static const struct check table[] = {
    {"what the target is", t_info},
    {"what it weighs", t_weight},
    {"refusals", t_errors},
    {"probes", t_probes},
    {"records", t_records},
    {"bad loads", t_bad_loads},
    {"how deep the stack is", t_depth},
    {"on and off", t_on_and_off},
    {"an answer's memory goes", t_leaving},
    {"a dump ends amid an answer", t_amid_dumps},
    {"what a trace buffer can hold", t_logs},
    {"memory comes back", t_memory_is_back},
};

int main(int argc, char **argv)
{
    if (argc > 1 && strcmp(argv[1], DUMPS) == 0) {
        return make_dumps();
    }
    return check_run("d", table, COUNT(table));
}

/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The worst case of each command of TraceEvent() and DtraceControl(), for the table in
 * docs/reference/bounds.md: part of bench_latency. test/bench/bounds.py fails if a command of
 * sys/trace.h or sys/dtrace.h has no row here.
 *
 * The commands come in an order in which each finds something to do: on buffers that are there,
 * while the log runs with all classes on and limits set, with a D program that has a clause at
 * every kernel call. What a command refuses (ENOTSUP, ENOENT) is measured as it is.
 */
#include <errno.h>
#include <kymo.h>
#include <kymo_probe.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <sys/dispatch.h>
#include <sys/dtrace.h>
#include <sys/neutrino.h>
#include <sys/trace.h>

#include "abi/sys/trace.h"
#include "test/bench/latency.h"
#include "trace/dtrace/dtrace.h"

static uint64_t paddr;
static union {
    struct kymo_trace_buffer buffer;
    struct kymo_trace_loss loss;
    struct kymo_trace_owner owner;
    struct kymo_trace_stopped stopped;
    struct kymo_retained retained;
    char room[KYMO_TRACE_READ_MOST];
} out;
static struct kymo_trace_refusal refusal;
static uint32_t words[KYMO_TRACE_USER_COMBINE_MAX / 4];
static uint32_t user_word;
static struct kymo_probe_site sites[KYMO_TRACE_SITES_MOST];
static char text[KYMO_TRACE_USER_COMBINE_MAX];
static int object;

/* The arguments are words: a pointer is one, too. */
struct trace_row {
    const char *name;
    uint32_t command;
    uintptr_t args[4];
};
#define BUFFERS (sizeof(void *) == 8 ? 64 : 16)
#define AT(x) ((uintptr_t)(x))
#define NTO(NAME, ...) \
    { \
#NAME, _NTO_TRACE_##NAME, \
        { \
            __VA_ARGS__ \
        } \
    }
#define OWN(NAME, ...) \
    { \
#NAME, KYMO_TRACE_##NAME, \
        { \
            __VA_ARGS__ \
        } \
    }

static const struct trace_row *row;

static int run_row(void)
{
    return TraceEvent((int)row->command, row->args[0], row->args[1], row->args[2], row->args[3]);
}

static void run_rows(const struct trace_row *rows, unsigned n)
{
    for (row = rows; row < rows + n; row++) {
        latency_measure("TraceEvent_", row->name, run_row);
    }
}
#define RUN(rows) run_rows(rows, sizeof(rows) / sizeof(*(rows)))

/* Buffers of an object's memory, and retained ones, each freed again. */
static void rows_of_allocations(void)
{
    const struct trace_row in_object[] = {OWN(ALLOCOBJECT, 2, AT(object), 0)};
    const struct trace_row retained[] = {OWN(ALLOCRETAINED, BUFFERS, AT(&paddr))};

    object = ObjectOpen("/bounds", KYMO_OBJECT_CREATE | KYMO_OBJECT_WRITE, 0);
    ObjectSize(object, 2 * 16384);
    RUN(in_object);
    TraceEvent((int)_NTO_TRACE_DEALLOCBUFFER);
    ObjectUnlink("/bounds");
    ObjectClose(object);
    RUN(retained);
    TraceEvent((int)_NTO_TRACE_DEALLOCBUFFER);
}

/* What sets filters: for a class and an event with many relatives, and for all. */
static void rows_of_filters(void)
{
    const uintptr_t pid = (uintptr_t)ProcSelf(NULL, NULL);
    const struct trace_row rows[] = {
        NTO(DELALLCLASSES),
        NTO(ADDALLCLASSES),
        NTO(DELCLASS, _NTO_TRACE_KERCALL),
        NTO(ADDCLASS, _NTO_TRACE_KERCALL),
        NTO(DELEVENT, _NTO_TRACE_THREAD, 0xffff),
        NTO(ADDEVENT, _NTO_TRACE_THREAD, 0xffff),
        NTO(ADDEVENTHANDLER),
        NTO(DELEVENTHANDLER),
        NTO(ADDCLASSEVHANDLER),
        NTO(DELCLASSEVHANDLER),
        NTO(SETALLCLASSESFAST),
        NTO(SETALLCLASSESWIDE),
        NTO(SETCLASSFAST, _NTO_TRACE_KERCALL),
        NTO(SETCLASSWIDE, _NTO_TRACE_KERCALL),
        NTO(SETEVENTFAST, _NTO_TRACE_KERCALL, 11),
        NTO(SETEVENTWIDE, _NTO_TRACE_KERCALL, 11),
        NTO(SETCLASSPID, _NTO_TRACE_KERCALL, pid),
        NTO(SETCLASSTID, _NTO_TRACE_KERCALL, pid, 1),
        NTO(SETEVENTPID, _NTO_TRACE_KERCALL, 11, pid),
        NTO(SETEVENTTID, _NTO_TRACE_KERCALL, 11, pid, 1),
        NTO(CLREVENTPID, _NTO_TRACE_KERCALL, 11),
        NTO(CLREVENTTID, _NTO_TRACE_KERCALL, 11),
        NTO(CLRCLASSPID, _NTO_TRACE_KERCALL),
        NTO(CLRCLASSTID, _NTO_TRACE_KERCALL),
        OWN(CLRALLTHREADS),
    };

    RUN(rows);
}

/* Nobody takes buffers, so all but one are READY. */
static void fill_buffers(void)
{
    for (unsigned i = 0; i < BUFFERS * 32; i++) {
        TraceEvent((int)_NTO_TRACE_INSERTCUSEREVENT, 1, words, sizeof(words) / 4);
    }
}

/* ---- what an earlier boot has left ----------------------------------------------- */

bool bounds_is_first_boot(void)
{
    return TraceEvent((int)KYMO_TRACE_QUERYRETAINED, &out.retained) == 0 && out.retained.boots == 1;
}

static bool window_is_free(void)
{
    return TraceEvent((int)KYMO_TRACE_QUERYRETAINED, &out.retained) == 0 && out.retained.found == 0;
}

/* Fills the window with buffers, and these with events; then a panic, whose record stays, too. */
void bounds_leave_window(void)
{
    unsigned count = 1024;

    while (count > 2 && TraceEvent((int)KYMO_TRACE_ALLOCRETAINED, count, &paddr) < 0) {
        count -= count > 64 ? 16 : 1;
    }
    TraceEvent((int)_NTO_TRACE_SETRINGMODE);
    TraceEvent((int)_NTO_TRACE_ADDALLCLASSES);
    TraceEvent((int)_NTO_TRACE_SETALLCLASSESWIDE);
    TraceEvent((int)_NTO_TRACE_STARTNOSTATE);
    for (unsigned i = 0; i < count * 32; i++) {
        TraceEvent((int)_NTO_TRACE_INSERTCUSEREVENT, 1, words, sizeof(words) / 4);
    }
    printf("bench_latency: %u buffers are retained\n", count);
    SystemCtl(KYMO_SYSTEM_ON_PANIC, KYMO_PANIC_RESETS);
    SystemCtl(KYMO_SYSTEM_PANIC, 0);
}

/* Events as long as they can be, in a recording that survives a panic: each makes as much of a
 * closed buffer due to be sealed. */
static int run_seal(void)
{
    for (unsigned i = 0; i < 256; i++) {
        TraceEvent((int)_NTO_TRACE_INSERTUSRSTREVENT, 1, text);
    }
    return 0;
}

static int seals(void)
{
    memset(text, 't', sizeof(text) - 1);
    int error = TraceEvent((int)KYMO_TRACE_ALLOCRETAINED, 8, &paddr) < 0;

    TraceEvent((int)_NTO_TRACE_SETRINGMODE);
    TraceEvent((int)_NTO_TRACE_ADDALLCLASSES);
    error = error || TraceEvent((int)_NTO_TRACE_STARTNOSTATE) < 0 ||
            latency_measure("", "retained_seal", run_seal) < 0;
    TraceEvent((int)_NTO_TRACE_STOP);
    TraceEvent((int)_NTO_TRACE_SETLINEARMODE);
    return error || TraceEvent((int)_NTO_TRACE_DEALLOCBUFFER) < 0;
}

static int keep_notes(void)
{
    return d_call(KYMO_D_NOTES, 0, sizeof(image), image);
}

/* The claim of a window writes into it what it has of each process, and the notes of D programs
 * that log. What comes after this is done with a window that is this boot's. */
int bounds_of_retained(void)
{
    const struct trace_row rows[] = {OWN(QUERYRETAINED, AT(&out)),
                                     OWN(READRETAINED, 0, AT(&out), KYMO_TRACE_READ_MOST),
                                     OWN(DROPRETAINED)};
    /* Looked at first: a boot that the first one has reset and that finds nothing has failed. */
    int error =
        window_is_free() || out.retained.ring == 0 || out.retained.panic == 0 || begin_calls();

    TraceEvent((int)_NTO_TRACE_ALLOCBUFFER, BUFFERS, &paddr);
    TraceEvent((int)_NTO_TRACE_STARTNOSTATE);
    d_flags = DTRACE_CREATE_LOG;
    error = error || d_call(KYMO_D_CREATE, 0, image_bytes, image) < 0;
    d_flags = 0;
    error = error || latency_measure("Dtrace_", "NOTES", keep_notes) < 0;
    RUN(rows);
    error = error || !window_is_free() || latency_measure("Dtrace_", "NOTES", keep_notes) < 0 ||
            d_call(KYMO_D_DESTROY, 0, 0, NULL) < 0;
    TraceEvent((int)_NTO_TRACE_STOP);
    return error || TraceEvent((int)_NTO_TRACE_DEALLOCBUFFER) < 0 || seals();
}

/* As many static probes as a process may have, which all commands after this switch, too. One
 * place will do for all: each is looked at and written. */
static void fill_sites(void)
{
    extern const struct kymo_probe_site __kymo_probes_start[];

    KYMO_PROBE(bench, a__place);
    for (unsigned i = 0; i < KYMO_TRACE_SITES_MOST; i++) {
        sites[i] = __kymo_probes_start[0];
    }
}

static void rows_of_log(void)
{
    const struct trace_row before[] = {
        NTO(ALLOCBUFFER, BUFFERS, AT(&paddr)),
        NTO(QUERYVERSION),
        NTO(QUERYSUPPORT),
        NTO(SKIPBUFFER),
        NTO(OVERWRITEBUFFER),
        OWN(SETFILLMODE),
        NTO(SETRINGMODE),
        NTO(SETLINEARMODE),
        OWN(SETHIGHWATER, 700),
        OWN(USERWORD, AT(&user_word)),
        OWN(USERSITES, AT(sites), KYMO_TRACE_SITES_MOST),
        NTO(SETBUFFER),
        NTO(LOGGER_ATTACH),
        NTO(WAITBUFFER),
        NTO(LOGGER_DETACH),
        NTO(PMU_CONFIG),
        NTO(PMU_QUERYEVENTS),
    };
    const struct trace_row start[] = {NTO(START)};
    const struct trace_row during[] = {
        NTO(INSERTEVENT, 0x2c01, 0, 1, 2),
        NTO(INSERTSUSEREVENT, 1, 2, 3),
        NTO(INSERTCUSEREVENT, 1, AT(words), sizeof(words) / 4),
        NTO(INSERTUSRSTREVENT, 1, AT(text)),
        OWN(INSERTPROBE, AT(words), sizeof(words) / 4),
        NTO(INSERTSCLASSEVENT, _NTO_TRACE_USER, 1, 2, 3),
        NTO(INSERTCCLASSEVENT, _NTO_TRACE_USER, 1, AT(words), sizeof(words) / 4),
        NTO(QUERYEVENTS),
        OWN(QUERYLOSS, 0, AT(&out)),
        OWN(QUERYOWNER, AT(&out)),
        NTO(FLUSHBUFFER),
        OWN(FLUSHCPUS, 1, 0),
        OWN(TAKEBUFFER, AT(&out)),
    };
    memset(text, 't', sizeof(text) - 1);
    fill_sites();
    RUN(before);
    TraceEvent((int)_NTO_TRACE_ADDCLASS, KYMO_TRACE_SYSTEM_PROBES);
    rows_of_filters();
    RUN(start);
    fill_buffers();
    RUN(during);
}

/* A buffer has been taken. */
static void rows_of_end(void)
{
    static const char gate[] = "gated.dif";
    const struct trace_row rows[] = {
        OWN(GIVEBUFFER, out.buffer.index),    NTO(STOP),         OWN(QUERYSTOPPED, 0, AT(&out)),
        OWN(SETGATE, AT(gate), AT(&refusal)), NTO(STARTNOSTATE), NTO(DEALLOCBUFFER),
    };

    RUN(rows);
    if (refusal.reason != 0) {
        printf("bench_latency: the gate was refused\n");
    }
    TraceEvent((int)KYMO_TRACE_SETGATE, NULL, &refusal);
}

/* ---- losses ---------------------------------------------------------------------- */

/* Events of as many classes as a program can make. */
static void make_events(unsigned n)
{
    int chid = ChannelCreate(0), to = ConnectAttach(0, 0, chid, _NTO_SIDE_CHANNEL, 0);
    struct _pulse pulse;

    for (unsigned i = 0; i < n; i++) {
        TraceEvent((int)_NTO_TRACE_INSERTCUSEREVENT, 1, words, sizeof(words) / 4);
        TraceEvent((int)_NTO_TRACE_INSERTSCLASSEVENT, _NTO_TRACE_SYSTEM, 100, 2, 3);
        ProcSelf(NULL, NULL);
        if (MsgSendPulse(to, SIGEV_PULSE_PRIO_INHERIT, 1, 0) == 0) {
            MsgReceivePulse(chid, &pulse, sizeof(pulse), NULL);
        }
        SchedYield();
    }
    ConnectDetach(to);
    ChannelDestroy(chid);
}

/* Buffers that hold losses give way to others, which report them. */
static int run_overwrite(void)
{
    make_events(BUFFERS * 32);
    return 0;
}

/* Likewise, while the logger has all buffers but two. */
static int run_overwrite_taken(void)
{
    for (unsigned i = 0; i < BUFFERS - 2; i++) {
        TraceEvent((int)KYMO_TRACE_TAKEBUFFER, &out);
    }
    make_events(128);
    return 0;
}

/* They report what is pending, and are discarded. */
static int run_stop(void)
{
    for (unsigned i = 0; i < BUFFERS / 2; i++) {
        TraceEvent((int)KYMO_TRACE_GIVEBUFFER, i);
    }
    return TraceEvent((int)_NTO_TRACE_STOP);
}

static int run_discard(void)
{
    return TraceEvent((int)_NTO_TRACE_SETLINEARMODE);
}

static int run_query(void)
{
    return TraceEvent((int)KYMO_TRACE_QUERYLOSS, 0, &out);
}

/* Losses of each class for several reasons. */
static void rows_of_losses(void)
{
    TraceEvent((int)_NTO_TRACE_ALLOCBUFFER, BUFFERS, &paddr);
    TraceEvent((int)_NTO_TRACE_SETLINEARMODE);
    TraceEvent((int)_NTO_TRACE_ADDALLCLASSES);
    for (unsigned i = 0; i < 2; i++) {
        TraceEvent((int)_NTO_TRACE_SKIPBUFFER);
        TraceEvent((int)_NTO_TRACE_STARTNOSTATE);
        make_events(BUFFERS * 32);
        TraceEvent((int)_NTO_TRACE_OVERWRITEBUFFER);
        latency_measure("", "losses_overwrite", run_overwrite);
        latency_measure("", "losses_overwrite_taken", run_overwrite_taken);
        latency_measure("", "losses_query", run_query);
        latency_measure("", "losses_stop", run_stop);
        latency_measure("", "losses_discard", run_discard);
    }
    TraceEvent((int)_NTO_TRACE_DEALLOCBUFFER);
}

/* ---- the end of a logger ---------------------------------------------------------- */

static int hook = -1; /* the attachment */

/* Is the logger of a linear recording, which has losses, too; has taken half of its buffers. */
static int logger_begin(void)
{
    int chid = ChannelCreate(0), own = ConnectAttach(0, 0, chid, _NTO_SIDE_CHANNEL, 0);
    struct sigevent event;

    SIGEV_PULSE_INIT(&event, own, SIGEV_PULSE_PRIO_INHERIT, 1, 0);
    hook = InterruptAttachEvent(_NTO_HOOK_TRACE, &event, 0);
    if (hook < 0 || TraceEvent((int)_NTO_TRACE_ALLOCBUFFER, BUFFERS, &paddr) < 0) {
        return 1;
    }
    TraceEvent((int)_NTO_TRACE_SETLINEARMODE);
    TraceEvent((int)_NTO_TRACE_ADDALLCLASSES);
    TraceEvent((int)_NTO_TRACE_SETALLCLASSESWIDE);
    TraceEvent((int)_NTO_TRACE_SKIPBUFFER);
    int error = TraceEvent((int)_NTO_TRACE_STARTNOSTATE) < 0;
    make_events(BUFFERS * 32);
    TraceEvent((int)_NTO_TRACE_OVERWRITEBUFFER);
    make_events(BUFFERS * 32);
    for (unsigned i = 0; i < BUFFERS / 2; i++) {
        error |= TraceEvent((int)KYMO_TRACE_TAKEBUFFER, &out) < 0;
    }
    make_events(128);
    return error;
}

int bounds_logger(void)
{
    int to = name_open(FILLED, 0);

    if (to >= 0 && logger_begin() == 0) {
        MsgSend(to, NULL, 0, NULL, 0);
    }
    return 1;
}

static int run_detach(void)
{
    return InterruptDetach(hook);
}

/* Whether it has stopped. */
static bool log_is_over(void)
{
    return TraceEvent((int)KYMO_TRACE_QUERYOWNER, &out.owner) == 0 && !out.owner.running;
}

/* The recording stops, because its logger detaches the hook, or is killed. */
static int ends_of_logger(void)
{
    int error = logger_begin() || log_is_over() ||
                latency_measure("", "hook_detach", run_detach) < 0 || !log_is_over() ||
                TraceEvent((int)_NTO_TRACE_DEALLOCBUFFER) < 0;

    error = error || child_begin("logger", ABILITY_TRACE) || log_is_over() ||
            latency_measure("", "logger_dies", child_kill) < 0 || !log_is_over() ||
            TraceEvent((int)_NTO_TRACE_DEALLOCBUFFER) < 0;
    if (error) {
        printf("bench_latency: the end of a logger: %s\n", strerror(errno));
    }
    return error;
}

/* ---- D --------------------------------------------------------------------------- */

struct d_row {
    const char *name;
    uint32_t command, id, in_bytes;
    const void *in;
};

static const struct d_row *d_row;

static int run_d_row(void)
{
    return d_call(d_row->command, d_row->id, d_row->in_bytes, d_row->in);
}

#define D(NAME, ...) \
    { \
#NAME, KYMO_D_##NAME, __VA_ARGS__ \
    }

static int d_rows(void)
{
    static const char all[] = "\0\0\0", functions[] = "fbt\0\0\0entry";
    static const struct kymo_d_user no_place = {.pid = 0x3fffffff, .count = 1};
    const struct d_row rows[] = {
        D(INFO, 0, 0, NULL),
        D(PROBES, 0, sizeof(all), all),
        D(PROVIDE, 0, sizeof(functions), functions),
        D(LIMIT, 0, 0, NULL),
        D(PROCESS, 0x3fffffff, 0, NULL),
        D(LOOK, 0, 0, NULL),
        D(CLAIM, 0, 0, NULL),
        D(RESUME, 0x3fffffff, 0, NULL),
        D(CREATE, 0, image_bytes, image),
        D(SIZES, 0, 0, NULL),
        D(GO, 0, 0, NULL),
        D(STATUS, 0, 0, NULL),
        D(USER, 0, sizeof(no_place), &no_place),
        D(AGGREGATION, 0, 0, NULL),
        D(EPID, 1, 0, NULL),
        D(AGG, 1, 0, NULL),
        D(OVER, 0, 0, NULL),
        D(NOTES, 0, 0, NULL),
        D(PASS, 0, 0, NULL),
        D(STOP, 0, 0, NULL),
        D(DESTROY, 0, 0, NULL),
    };

    for (d_row = rows; d_row < rows + sizeof(rows) / sizeof(*rows); d_row++) {
        int result = latency_measure("Dtrace_", d_row->name, run_d_row);

        if (result < 0 && (d_row->command == KYMO_D_CREATE || d_row->command == KYMO_D_GO)) {
            printf("bench_latency: %s: %s\n", d_row->name, strerror(errno));
            return 1;
        }
    }
    return 0;
}

/* A full buffer, and the end of the program that it is of. */
#define RECORDS_BYTES (256u << 10)

static int run_buffer(void)
{
    return d_call(KYMO_D_BUFFER, 0, 0, NULL);
}

static int d_records(void)
{
    struct kymo_map map = {.len = RECORDS_BYTES + 4096, .flags = KYMO_PROT_READ | KYMO_PROT_WRITE};
    void *const before = answer_at;
    const uint32_t room = answer_room;

    if (image_read("latency_records.dif") || MemMap(&map) < 0 ||
        d_call(KYMO_D_CREATE, 0, image_bytes, image) < 0 || d_call(KYMO_D_GO, 0, 0, NULL) < 0) {
        printf("bench_latency: no records: %s\n", strerror(errno));
        return 1;
    }
    for (unsigned i = 0; i < RECORDS_BYTES / 24 + 1; i++) {
        uint64_t now;
        ClockTime(CLOCK_MONOTONIC, NULL, &now);
    }
    answer_at = (void *)(uintptr_t)map.vaddr;
    answer_room = (uint32_t)map.len;
    int error = latency_measure("Dtrace_", "BUFFER", run_buffer);
    if (error || answer_bytes < RECORDS_BYTES) {
        printf("bench_latency: %u bytes of records: %s\n", (unsigned)answer_bytes, strerror(errno));
        error = 1;
    }
    answer_at = before;
    answer_room = room;
    MemUnmap((void *)(uintptr_t)map.vaddr, (size_t)map.len);
    return error || d_call(KYMO_D_DESTROY, 0, 0, NULL) < 0;
}

/* ---- two that control ------------------------------------------------------------ */

static volatile bool controls;

/* Of the same priority as the caller: begins a command while the other's dump is under way. */
static void *role_controls(void *unused)
{
    while (controls) {
        d_call(KYMO_D_CREATE, 0, image_bytes, image);
        d_call(KYMO_D_DESTROY, 0, 0, NULL);
    }
    return unused;
}

static int run_ring_stop(void)
{
    return TraceEvent((int)_NTO_TRACE_STOP);
}

/* The end of a ring's recording dumps the state, then stops it while another's command stands
 * between two steps. */
static int stop_beside_command(void)
{
    pthread_t other;
    int error = image_read("latency_functions.dif");

    TraceEvent((int)_NTO_TRACE_ALLOCBUFFER, BUFFERS, &paddr);
    TraceEvent((int)_NTO_TRACE_SETRINGMODE);
    TraceEvent((int)_NTO_TRACE_ADDALLCLASSES);
    error = error || TraceEvent((int)_NTO_TRACE_START) < 0;
    controls = true;
    if (!error && pthread_create(&other, NULL, role_controls, NULL) == 0) {
        error = latency_measure("", "ring_stop", run_ring_stop) < 0;
        controls = false;
        pthread_join(other, NULL);
    }
    TraceEvent((int)_NTO_TRACE_SETLINEARMODE);
    return error || TraceEvent((int)_NTO_TRACE_DEALLOCBUFFER) < 0;
}

int bounds_trace(void)
{
    rows_of_allocations();
    rows_of_log();
    rows_of_end();
    rows_of_losses();
    return ends_of_logger() || begin_calls() || d_rows() || d_records() || stop_beside_command();
}

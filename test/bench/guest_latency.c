/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Each operation that could take the kernel long, between two marks, with the tables full and most
 * of RAM in use: `latency_worst` and `irq_masked_worst` of `make bench`. test/bench/count.c records
 * of each interval the longest stretch without a preemption point; test/bench/bench names it by the
 * line that is printed here before.
 *
 *   bench_latency             fills the tables by children, then does each operation of `table`,
 *                             and each kernel call (guest_bounds.c)
 *   bench_latency hold        a child: takes of each table what it gets, says so, and stays
 *   bench_latency end|crash   likewise, then ends by itself, or by a fault
 *   bench_latency serve       a child: receives messages of 64 parts, reads, writes, replies
 *   bench_latency logger      a child: has the trace's hook and buffers, says so, and stays
 */
#include <errno.h>
#include <kymo.h>
#include <pthread.h>
#include <spawn.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/dispatch.h>
#include <sys/dtrace.h>
#include <sys/neutrino.h>
#include <sys/trace.h>

#include "abi/sys/trace.h"
#include "test/bench/latency.h"
#include "test/bench/mark.h"

#define INTERVAL 7
#define LARGE (sizeof(void *) == 8 ? 64u << 20 : 256u << 10)
#define RAM_KEPT (sizeof(void *) == 8 ? 96u << 20 : 2u << 20) /* for the operations */
#define CONSOLE_BYTES 2000
#define READY_SECONDS 2  /* in which a child has taken what there is, or can't say so */
#define BEGIN_SECONDS 60 /* in which it says so at the latest, if it can */
#define SERVER "bench_latency"

static int coid; /* to the server */
static volatile uintptr_t unmapped = 4;

/* ---- children ----------------------------------------------------------------------- */

static int child(const char *what, uint32_t ability)
{
    char *const argv[] = {"bench_latency", (char *)what, NULL};
    struct kymo_spawn_attr attr = {.priority = 9, .ability = ability};

    return kymo_spawn(argv[0], argv, &attr);
}

static void sleep_long(void)
{
    const uint64_t ns = UINT64_C(1) << 50;

    for (;;) {
        TimerTimeout(CLOCK_MONOTONIC, _NTO_TIMEOUT_NANOSLEEP, NULL, &ns, NULL);
    }
}

static void *thread_sleeps(void *unused)
{
    sleep_long();
    return unused;
}

static void fill_threads(void)
{
    pthread_attr_t attr;
    pthread_t thread;

    pthread_attr_init(&attr);
    pthread_attr_setstacksize(&attr, sizeof(void *) == 8 ? 16384 : 1024);
    while (pthread_create(&thread, &attr, thread_sleeps, NULL) == 0) {
    }
}

/* Channels, connections to each and to the parent, pulses in their queues, timers, names. */
static void fill_ipc(const struct _server_info *server)
{
    const struct _itimer late = {UINT64_C(1) << 50, 0};
    struct sigevent event;
    int chid, own = -1, timer;
    char name[32];

    while ((chid = ChannelCreate(0)) >= 0) {
        own = ConnectAttach(0, 0, chid, _NTO_SIDE_CHANNEL, 0);
        snprintf(name, sizeof(name), "latency/%d/%d", ProcSelf(NULL, NULL), chid);
        NameAttach(name, chid);
    }
    while (ConnectAttach(0, 0, 1, _NTO_SIDE_CHANNEL, 0) >= 0) {
    }
    while (ConnectAttach(0, server->pid, server->chid, 0, 0) >= 0) {
    }
    SIGEV_PULSE_INIT(&event, own, SIGEV_PULSE_PRIO_INHERIT, 1, 0);
    while ((timer = TimerCreate(CLOCK_MONOTONIC, &event)) >= 0) {
        TimerSettime(timer, 0, &late, NULL);
    }
    for (int i = 0; i < 100000 && MsgSendPulse(own, i % 64, 1, i) == 0; i++) {
    }
}

static void fill_maps(void)
{
    struct kymo_map map;

    do {
        map = (struct kymo_map){.len = 4096, .flags = RW};
    } while (MemMap(&map) == 0);
}

/* Takes what there is, then says so by a message. */
static __attribute__((noreturn)) void fill(const char *then)
{
    int to = name_open(FILLED, 0);
    struct _server_info server;

    ConnectServerInfo(0, to, &server);
    fill_ipc(&server);
    fill_threads();
    fill_maps();
    MsgSend(to, NULL, 0, NULL, 0); /* returns when the parent lets it go on */
    if (strcmp(then, "crash") == 0) {
        *(volatile int *)unmapped = 1;
    }
    if (strcmp(then, "hold") == 0) {
        sleep_long();
    }
    ProcExit(0);
}

char parts[PARTS][PART_BYTES + 4], answers[PARTS][PART_BYTES + 4];

void parts_of(iov_t iov[PARTS], char in[PARTS][PART_BYTES + 4])
{
    for (unsigned i = 0; i < PARTS; i++) {
        SETIOV(&iov[i], in[i] + i % 4, PART_BYTES);
    }
}

static int serve(void)
{
    iov_t iov[PARTS], back[PARTS];
    name_attach_t *name = name_attach(NULL, SERVER, 0);

    parts_of(iov, parts);
    parts_of(back, answers);
    for (int rcvid; name;) {
        rcvid = MsgReceivev(name->chid, iov, PARTS, NULL);
        if (rcvid > 0) {
            MsgReadv(rcvid, iov, PARTS, 8);
            MsgWritev(rcvid, back, PARTS, 8);
            MsgReplyv(rcvid, 0, back, PARTS);
        }
    }
    return 1;
}

/* ---- the operations ----------------------------------------------------------------- */

static struct kymo_map large;

static int op_map(void)
{
    large = (struct kymo_map){.len = LARGE, .flags = RW};
    return MemMap(&large);
}

static int op_protect(void)
{
    return MemProtect((void *)(uintptr_t)large.vaddr, (size_t)large.len,
                      KYMO_PROT_READ | KYMO_PROT_EXEC);
}

static int op_unmap(void)
{
    return MemUnmap((void *)(uintptr_t)large.vaddr, (size_t)large.len);
}

static int op_object(void)
{
    int id = ObjectOpen("/latency", KYMO_OBJECT_CREATE | KYMO_OBJECT_WRITE, 0);
    int error = ObjectSize(id, LARGE);

    ObjectUnlink("/latency");
    return error < 0 || ObjectClose(id) < 0;
}

static int op_message(void)
{
    iov_t out[PARTS], in[PARTS];

    parts_of(out, parts);
    parts_of(in, answers);
    return (int)MsgSendv(coid, out, PARTS, in, PARTS);
}

char big[16384];

static int op_message_long(void)
{
    return (int)MsgSend(coid, big + 1, sizeof(big) - 1, big, sizeof(big));
}

static int op_spawn(void)
{
    static char text[40];
    char *argv[16] = {"bench_latency", "nothing", text, text, text, text, NULL};
    int pid, status;

    memset(text, 'x', sizeof(text) - 1);
    pid = kymo_spawn(argv[0], argv, &(struct kymo_spawn_attr){.priority = 10});
    return pid < 0 || ProcWait(pid, &status, 0) != pid;
}

static void *ends(void *unused)
{
    return unused;
}

static int op_thread(void)
{
    pthread_t thread;
    int error = pthread_create(&thread, NULL, ends, NULL);

    return error || pthread_join(thread, NULL);
}

static int filled_chid, filled_rcvid, filled_pid;

/* A child's message; not a pulse that reports the end of one before. -1: the child finds no
 * connection any more to send it over. */
static int receive_filled(unsigned seconds)
{
    const uint64_t ns = UINT64_C(1000000000) * seconds;
    int rcvid;

    do {
        TimerTimeout(CLOCK_MONOTONIC, _NTO_TIMEOUT_RECEIVE, NULL, &ns, NULL);
        rcvid = MsgReceive(filled_chid, NULL, 0, NULL);
    } while (rcvid == 0);
    return rcvid;
}

int child_begin(const char *role, uint32_t ability)
{
    filled_pid = child(role, ability);
    filled_rcvid = filled_pid < 0 ? -1 : receive_filled(BEGIN_SECONDS);
    return filled_rcvid < 0;
}

/* Not counted: a child fills the tables and waits. */
static int begin_end(void)
{
    return child_begin("end", ABILITY_SPAWN);
}

static int begin_crash(void)
{
    return child_begin("crash", ABILITY_SPAWN);
}

static int begin_hold(void)
{
    return child_begin("hold", ABILITY_SPAWN);
}

static int op_end(void)
{
    int status;

    MsgReply(filled_rcvid, 0, NULL, 0);
    return ProcWait(filled_pid, &status, 0) != filled_pid;
}

int child_kill(void)
{
    int status;

    return SignalKill(0, filled_pid, 0, KYMO_SIGKILL, 0, 0) < 0 ||
           ProcWait(filled_pid, &status, 0) != filled_pid;
}

#define TIMERS 64

static int timers[TIMERS], timer_chid, timer_coid;

static int begin_timers(void)
{
    struct sigevent event;
    uint64_t now;

    timer_chid = ChannelCreate(0);
    timer_coid = ConnectAttach(0, 0, timer_chid, _NTO_SIDE_CHANNEL, 0);
    SIGEV_PULSE_INIT(&event, timer_coid, 9, 1, 0);
    ClockTime(CLOCK_MONOTONIC, NULL, &now);
    for (unsigned i = 0; i < TIMERS; i++) {
        timers[i] = TimerCreate(CLOCK_MONOTONIC, &event);
        const struct _itimer at = {now + 20000000, 0};
        if (timers[i] >= 0) {
            TimerSettime(timers[i], TIMER_ABSTIME, &at, NULL);
        }
    }
    return timers[0] < 0;
}

/* All are due at once. */
static int op_timers(void)
{
    const uint64_t ns = 25000000;

    TimerTimeout(CLOCK_MONOTONIC, _NTO_TIMEOUT_NANOSLEEP, NULL, &ns, NULL);
    return 0;
}

static int op_timers_end(void)
{
    for (unsigned i = 0; i < TIMERS && timers[i] >= 0; i++) {
        TimerDestroy(timers[i]);
    }
    ConnectDetach(timer_coid);
    return ChannelDestroy(timer_chid);
}

static sync_t wake_mutex, wake_cond;
static volatile int waiting;

static void *waits(void *unused)
{
    SyncMutexLock(&wake_mutex);
    waiting++;
    SyncCondvarWait(&wake_cond, &wake_mutex);
    SyncMutexUnlock(&wake_mutex);
    return unused;
}

static pthread_t waiters[WAITERS];

static int begin_broadcast(void)
{
    unsigned n = 0;

    SyncTypeCreate(_NTO_SYNC_MUTEX_FREE, &wake_mutex, NULL);
    SyncTypeCreate(_NTO_SYNC_COND, &wake_cond, NULL);
    while (n < WAITERS && pthread_create(&waiters[n], NULL, waits, NULL) == 0) {
        n++;
    }
    while (waiting < (int)n) {
        SchedYield();
    }
    SyncMutexLock(&wake_mutex);
    return n == 0;
}

static int op_broadcast(void)
{
    return SyncCondvarSignal(&wake_cond, 1) || SyncMutexUnlock(&wake_mutex);
}

static int op_join(void)
{
    for (int i = 0; i < waiting; i++) {
        pthread_join(waiters[i], NULL);
    }
    return 0;
}

/* A channel with all that one process can bring: connections, pulses, clients, notices. */
static int crowd_chid, crowd_coid;
static volatile int crowd_waiting;
static int crowd_more; /* connections beside the first */

static void *crowd_sends(void *unused)
{
    crowd_waiting++;
    MsgSend(crowd_coid, NULL, 0, NULL, 0);
    return unused;
}

static int begin_crowd(void)
{
    unsigned n = 0;

    crowd_chid = ChannelCreate(_NTO_CHF_DISCONNECT);
    crowd_coid = ConnectAttach(0, 0, crowd_chid, _NTO_SIDE_CHANNEL, 0);
    while (n < WAITERS && pthread_create(&waiters[n], NULL, crowd_sends, NULL) == 0) {
        n++;
    }
    while (crowd_waiting < (int)n) {
        SchedYield();
    }
    while (MsgSendPulse(crowd_coid, SIGEV_PULSE_PRIO_INHERIT, 1, 0) == 0) {
    }
    while (ConnectAttach(0, 0, crowd_chid, _NTO_SIDE_CHANNEL, 0) >= 0) {
        crowd_more++;
    }
    return n == 0 || crowd_coid < 0;
}

static int op_crowd(void)
{
    return ChannelDestroy(crowd_chid);
}

static int op_crowd_end(void)
{
    for (int i = 0; i < crowd_waiting; i++) {
        pthread_join(waiters[i], NULL);
    }
    for (int i = 0; i <= crowd_more; i++) {
        ConnectDetach(crowd_coid + i);
    }
    return 0;
}

static int op_names(void)
{
    struct kymo_name found;

    NameLookup("a name that nobody has attached", &found);
    return NameLookup(SERVER, &found) < 0;
}

/* Nobody is this client: all that are there were looked at, if they were. */
static int op_clients(void)
{
    struct _client_info info;

    return ConnectClientInfo(0x3fffffff, &info, 0) == 0;
}

static int op_console(void)
{
    static char text[CONSOLE_BYTES];

    memset(text, '.', sizeof(text) - 1);
    text[sizeof(text) - 1] = '\n';
    return ConsoleWrite(text, sizeof(text)) < 0;
}

static int op_image(void)
{
    return ImageRead("bench_latency", 1, big, sizeof(big)) < 0;
}

static int op_info(void)
{
    struct kymo_proc_info info;
    struct kymo_thread_info thread;

    for (int pid = 1; (pid = ProcInfo(pid, &info)) > 0; pid++) {
        for (int tid = 1; (tid = ThreadInfo(pid, tid, &thread)) > 0; tid++) {
        }
    }
    return SyspageRead(0, big, sizeof(big)) < 0;
}

/* ---- the trace and D ----------------------------------------------------------------- */

static int op_trace_alloc(void)
{
    uint64_t paddr;

    return TraceEvent((int)_NTO_TRACE_ALLOCBUFFER, sizeof(void *) == 8 ? 64 : 16, &paddr);
}

static int op_trace_classes(void)
{
    return TraceEvent((int)_NTO_TRACE_DELALLCLASSES) < 0 ||
           TraceEvent((int)_NTO_TRACE_ADDALLCLASSES) < 0 ||
           TraceEvent((int)_NTO_TRACE_SETALLCLASSESWIDE) < 0 ||
           TraceEvent((int)KYMO_TRACE_CLRALLTHREADS) < 0;
}

static int op_trace_start(void)
{
    return TraceEvent((int)_NTO_TRACE_START);
}

static int op_trace_flush(void)
{
    return TraceEvent((int)_NTO_TRACE_FLUSHBUFFER);
}

static int op_trace_stop(void)
{
    return TraceEvent((int)_NTO_TRACE_STOP);
}

static int op_trace_dealloc(void)
{
    return TraceEvent((int)_NTO_TRACE_DEALLOCBUFFER);
}

uint64_t image[IMAGE_MOST / 8];
uint32_t image_bytes;
static uint64_t answer[IMAGE_MOST / 8];
void *answer_at = answer;
uint32_t answer_room = sizeof(answer), answer_bytes;
static uint32_t consumer;
uint32_t d_flags;

int d_call(uint32_t command, uint32_t id, uint32_t in_bytes, const void *in)
{
    struct kymo_d_call call = {.command = command,
                               .handle = consumer,
                               .flags = d_flags,
                               .id = id,
                               .in_bytes = in_bytes,
                               .out_bytes = answer_room};
    int result = DtraceControl(&call, in, answer_at);

    answer_bytes = call.out_bytes;

    if (command == KYMO_D_CREATE || command == KYMO_D_DESTROY) {
        consumer = command == KYMO_D_CREATE ? call.handle : 0;
    }
    return result;
}

int image_read(const char *name)
{
    long n = ImageRead(name, 0, image, sizeof(image));

    image_bytes = (uint32_t)n;
    return n < 0 || (size_t)n >= sizeof(image);
}

int begin_calls(void)
{
    return image_read("latency_calls.dif");
}

static int begin_functions(void)
{
    return image_read("latency_functions.dif");
}

static int op_d_create(void)
{
    return d_call(KYMO_D_CREATE, 0, image_bytes, image);
}

static int op_d_go(void)
{
    return d_call(KYMO_D_GO, 0, 0, NULL);
}

static int op_d_snapshot(void)
{
    return d_call(KYMO_D_AGGREGATION, 0, 0, NULL) < 0 || d_call(KYMO_D_BUFFER, 0, 0, NULL) < 0 ||
           d_call(KYMO_D_STATUS, 0, 0, NULL) < 0;
}

static int op_d_provide(void)
{
    static const char functions[] = "fbt\0\0\0entry";

    return d_call(KYMO_D_PROVIDE, 0, sizeof(functions), functions) < 0;
}

static int op_d_probes(void)
{
    return d_call(KYMO_D_PROBES, 0, 0, NULL) < 0;
}

static int op_d_stop(void)
{
    return d_call(KYMO_D_STOP, 0, 0, NULL);
}

static int op_d_destroy(void)
{
    return d_call(KYMO_D_DESTROY, 0, 0, NULL);
}

/* ---- full tables ---------------------------------------------------------------------- */

/* Takes all of RAM but RAM_KEPT. */
static void fill_memory(void)
{
    struct kymo_map kept = {.len = RAM_KEPT, .flags = RW}, map;

    MemMap(&kept);
    for (size_t len = 1u << 29; len >= RAM_KEPT / 4; len /= 2) {
        map = (struct kymo_map){.len = len, .flags = RW};
        MemMap(&map);
    }
    MemUnmap((void *)(uintptr_t)kept.vaddr, (size_t)kept.len);
}

#define HOLDERS 256
static int holder[HOLDERS];
static unsigned holders;

static int end_holder(void)
{
    int pid = holder[--holders], status;

    return SignalKill(0, pid, 0, KYMO_SIGKILL, 0, 0) < 0 || ProcWait(pid, &status, 0) != pid;
}

/* Children that hold what they get of each table; then room again for the operations. */
static int fill_tables(void)
{
    while (holders < HOLDERS && (holder[holders] = child("hold", ABILITY_SPAWN)) >= 0) {
        int rcvid = receive_filled(READY_SECONDS);

        holders++;
        if (rcvid < 0) {
            break;
        }
        MsgReply(rcvid, 0, NULL, 0);
    }
    printf("bench_latency: %u children hold what there is\n", holders);
    return holders < 2 || end_holder() != 0;
}

static int op_hold_end(void)
{
    int error = 0;

    while (holders > 0) {
        error |= end_holder();
    }
    return error;
}

/* ---- all of them --------------------------------------------------------------------- */

#define BOUNDS "bounds" /* where bounds_all() is due */

static const struct {
    const char *name;
    int (*begin)(void); /* not counted; NULL: none */
    int (*run)(void);
} table[] = {
    {"map", NULL, op_map},
    {"protect", NULL, op_protect},
    {"unmap", NULL, op_unmap},
    {"object", NULL, op_object},
    {"message_64_parts", NULL, op_message},
    {"message_16k", NULL, op_message_long},
    {"spawn", NULL, op_spawn},
    {"thread", NULL, op_thread},
    {"broadcast", begin_broadcast, op_broadcast},
    {"join", NULL, op_join},
    {"names", NULL, op_names},
    {"client_info", NULL, op_clients},
    {"console_write", NULL, op_console},
    {"image_read", NULL, op_image},
    {"info", NULL, op_info},
    {"trace_alloc", NULL, op_trace_alloc},
    {"trace_classes", NULL, op_trace_classes},
    {"trace_start", NULL, op_trace_start},
    {"trace_flush", NULL, op_trace_flush},
    {"trace_stop", NULL, op_trace_stop},
    {"trace_dealloc", NULL, op_trace_dealloc},
    {"d_create", begin_calls, op_d_create},
    {"d_go", NULL, op_d_go},
    {"d_snapshot", NULL, op_d_snapshot},
    {"d_stop", NULL, op_d_stop},
    {"d_destroy", NULL, op_d_destroy},
    {"d_provide_fbt", NULL, op_d_provide},
    {"d_probes", NULL, op_d_probes},
    {"d_create_fbt", begin_functions, op_d_create},
    {"d_destroy_fbt", NULL, op_d_destroy},
    {BOUNDS, bounds_all, NULL},
    /* From here on only one process has what there is: the one that ends, or this one. */
    {"hold_end", NULL, op_hold_end},
    {"end_full", begin_end, op_end},
    {"kill_full", begin_hold, child_kill},
    {"crash_full", begin_crash, op_end},
    {"channel", begin_crowd, op_crowd},
    {"channel_clients", NULL, op_crowd_end},
    {"timers_due", begin_timers, op_timers},
    {"timers_end", NULL, op_timers_end},
};

int latency_measure(const char *prefix, const char *name, int (*run)(void))
{
    printf("latency: %s%s\n", prefix, name);
    OPEN(INTERVAL);
    int result = run();
    CLOSE(INTERVAL);
    return result;
}

static int run(unsigned i)
{
    if (table[i].begin && table[i].begin() != 0) {
        printf("bench_latency: %s can't begin: %s\n", table[i].name, strerror(errno));
        return 1;
    }
    int error = table[i].run ? latency_measure("", table[i].name, table[i].run) : 0;

    if (error < 0 || error == 1) {
        printf("bench_latency: %s: %s\n", table[i].name, strerror(errno));
        return 1;
    }
    return 0;
}

static int run_all(void)
{
    name_attach_t *name = name_attach(NULL, FILLED, 0);
    int error = name == NULL;

    if (bounds_is_first_boot()) {
        bounds_leave_window();
    }
    filled_chid = error ? -1 : name->chid;
    coid = name_open(SERVER, 0);
    fill_memory();
    error |= coid < 0 || fill_tables() != 0 || bounds_of_retained() != 0;
    for (unsigned i = 0; i < sizeof(table) / sizeof(*table) && !error; i++) {
        error = run(i);
    }
    printf("latency: %s\n", error ? "failed" : "all done");
    return error;
}

int main(int argc, char **argv)
{
    if (argc < 2) {
        return run_all();
    }
    if (strcmp(argv[1], "serve") == 0) {
        return serve();
    }
    if (strcmp(argv[1], "logger") == 0) {
        return bounds_logger();
    }
    if (strcmp(argv[1], "nothing") != 0) {
        fill(argv[1]);
    }
    return 0;
}

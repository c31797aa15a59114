/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * QNX's numbers, typed in from what is publicly known of them: slots, classes, events, kernel
 * calls, TraceEvent()'s commands, thread states. The tables must agree, or captures can't be read
 * by the parsers that people have.
 */
#include "test/trace/look.h"

#include <string.h>

#include "abi/sys/neutrino.h"
#include "abi/sys/states.h"
#include "trace/hook.h"

/* ---- slots ------------------------------------------------------------------------- */

static void worked_headers(void **state)
{
    (void)state;
    assert_int_equal(sizeof(struct trace_slot), 16);
    assert_int_equal(TRACE_BUFFER_SLOTS, 1024);
    assert_int_equal(TRACE_BUFFER_BYTES, 16384);
    assert_int_equal(TRACE_HIGH_WATER, 715);
    assert_int_equal(TRACE_HEADER(2, TRACE_STRUCT_S, TRACE_CLASS_PR_TH, 1), 0x02001001);
    assert_int_equal(TRACE_HEADER(0, 0, TRACE_CLASS_KER_CALL, 11), 0x0000080b);
    assert_int_equal(TRACE_HEADER(0, 0, TRACE_CLASS_KER_CALL, 11 | TRACE_KERCALL_EXIT), 0x0000088b);
    assert_int_equal(TRACE_HEADER(0, 0, TRACE_CLASS_KER_CALL, 11 | TRACE_KERCALL_INT), 0x0000090b);
    assert_int_equal(TRACE_HEADER(0, 0, trace_kercall_class(99), 99), 0x00000863);
    assert_int_equal(TRACE_HEADER(0, 0, trace_kercall_class(100), 100), 0x00003464);
    assert_int_equal(TRACE_HEADER(0, 0, trace_kercall_class(100 | 128), 100 | 128), 0x000034e4);
    assert_int_equal(TRACE_HEADER(0, 0, trace_kercall_class(127 | 256), 127 | 256), 0x0000357f);
    assert_int_equal(TRACE_HEADER(0, 0, trace_kercall_class(99 | 256), 99 | 256), 0x00000963);
    assert_int_equal(TRACE_HEADER(0, 0, TRACE_CLASS_CONTROL, TRACE_CONTROL_TIME), 0x00000401);
    assert_int_equal(TRACE_HEADER(0, 0, TRACE_CLASS_CONTROL, TRACE_CONTROL_BUFFER), 0x00000402);
    assert_int_equal(TRACE_HEADER(1, TRACE_STRUCT_CB, TRACE_CLASS_PR_TH, 192), 0x410010c0);
    assert_int_equal(TRACE_HEADER(1, TRACE_STRUCT_CC, TRACE_CLASS_PR_TH, 192), 0x810010c0);
    assert_int_equal(TRACE_HEADER(1, TRACE_STRUCT_CE, TRACE_CLASS_PR_TH, 192), 0xc10010c0);
    assert_int_equal(TRACE_HEADER(63, TRACE_STRUCT_CE, 31, 1023), 0xff007fff);
    assert_int_equal(TRACE_GET_CPU(0xff007fff), 63);
    assert_int_equal(TRACE_GET_CLASS(0xff007fff), 31);
    assert_int_equal(TRACE_GET_EVENT(0xff007fff), 1023);
    assert_int_equal(TRACE_GET_STRUCT(0xff007fff), 0xc0000000);
    assert_int_equal(TRACE_EVENT_64, 512);
}

/* The same headers, as they are written. */
static void headers_in_the_buffer(void **state)
{
    static const uint32_t expected[] = {0x02000402, 0x02000401, 0x02001001, 0x420010c0, 0x820010c0,
                                        0xc20010c0, 0x0200080b, 0x0200088b, 0x0200090b};
    static const struct trace_values two = {.value = {1, 2}, .n = 2};
    const struct trace_slot *slot;

    (void)state;
    fake_boot(3);
    start_tracing(2, _NTO_TRACE_SETLINEARMODE);
    fake_on(2);
    trace_thread_state(STATE_RUNNING, 1, 2, 10, 1);
    trace_proc_create_name(1, 2, "eight by");
    trace_kercall(11, &two);
    trace_kercall(128 + 11, &two);
    trace_kercall(256 + 11, &two);
    slot = look_slots(2, 0);
    for (unsigned i = 0; i < sizeof(expected) / sizeof(expected[0]); i++) {
        assert_int_equal(slot[i].header, expected[i]);
    }
    assert_memory_equal(&slot[4].d1, "eight by", 8);
    assert_int_equal(slot[5].d1, 0);
    assert_int_equal(slot[3].time, slot[5].time);
    assert_int_equal(look_active_slots(2), sizeof(expected) / sizeof(expected[0]));
    fake_back((struct fake_where){0, 0});
    assert_int_equal(command(_NTO_TRACE_DEALLOCBUFFER), 0);
}

/* ---- events: class and number in the slot, external class, words of the fast form ---- */

struct event {
    const char *name;
    unsigned class, number, external;
    const char *fast;
};
static const struct event events[] = {
    {"TIME", 1, 1, 1, "msb lsb"},
    {"BUFFER", 1, 2, 1, "sequence num_events"},
    {"DROPPED", 1, 8, 1, "reason_class events"},
    {"BUFFER_END", 1, 4, 1, "d1 d2"},
    {"CHECK", 1, 16, 1, "sum_low sum_high"},
    {"END", 1, 17, 1, "buffers last"},
    {"INT_ENTR", 3, 1, 7, "interrupt ip"},
    {"INT_EXIT", 3, 2, 8, "interrupt inkernel"},
    {"INT_HANDLER_ENTR", 3, 3, 15, "pid interrupt ip area"},
    {"INT_HANDLER_EXIT", 3, 4, 16, "interrupt notify coid code value"},
    {"THDEAD", 4, 0, 10, "pid tid"},
    {"THRUNNING", 4, 1, 10, "pid tid"},
    {"THREADY", 4, 2, 10, "pid tid"},
    {"THSTOPPED", 4, 3, 10, "pid tid"},
    {"THSEND", 4, 4, 10, "pid tid"},
    {"THRECEIVE", 4, 5, 10, "pid tid"},
    {"THREPLY", 4, 6, 10, "pid tid"},
    {"THWAITTHREAD", 4, 8, 10, "pid tid"},
    {"THNANOSLEEP", 4, 12, 10, "pid tid"},
    {"THMUTEX", 4, 13, 10, "pid tid"},
    {"THCONDVAR", 4, 14, 10, "pid tid"},
    {"THJOIN", 4, 15, 10, "pid tid"},
    {"THINTR", 4, 16, 10, "pid tid"},
    {"THSEM", 4, 17, 10, "pid tid"},
    {"THWAITCTX", 4, 18, 10, "pid tid"},
    {"THCREATE", 4, 24, 10, "pid tid"},
    {"THDESTROY", 4, 25, 10, "pid tid"},
    {"PROCDESTROY", 4, 128, 9, "ppid pid"},
    {"PROCCREATE_NAME", 4, 192, 9, "ppid pid name"},
    {"PROCTHREAD_NAME", 4, 320, 9, "pid tid name"},
    {"PATHMGR_OPEN", 5, 2, 13, "pid tid path"},
    {"MMAP", 5, 6, 13, "pid addr len flags"},
    {"MUNMAP", 5, 7, 13, "pid addr len"},
    {"MAPNAME", 5, 8, 13, "pid addr len name"},
    {"ADDRESS", 5, 9, 13, "addr word"},
    {"FUNC_ENTER", 5, 10, 13, "thisfn call_site"},
    {"FUNC_EXIT", 5, 11, 13, "thisfn call_site"},
    {"SLOG", 5, 12, 13, "opcode severity text"},
    {"SND_MESSAGE", 7, 0, 14, "rcvid pid"},
    {"SND_PULSE", 7, 1, 14, "scoid pid"},
    {"REC_MESSAGE", 7, 2, 14, "rcvid pid"},
    {"REC_PULSE", 7, 3, 14, "scoid pid"},
    {"SND_PULSE_EXE", 7, 4, 14, "scoid pid"},
    {"SND_PULSE_DIS", 7, 5, 14, "scoid pid"},
    {"SND_PULSE_DEA", 7, 6, 14, "scoid pid"},
    {"SND_PULSE_UN", 7, 7, 14, "scoid pid"},
    {"SIGNAL", 7, 9, 14, "si_signo si_code"},
    {"REPLY_MESSAGE", 7, 10, 14, "tid pid"},
    {"MSG_ERROR", 7, 11, 14, "tid pid"},
};

#define A(type, name) #name
#define FAST(...) \
    { \
        __VA_ARGS__ \
    }
static const struct row {
    const char *name;
    unsigned class, number, external;
    const char *fast[10];
} rows[] = {
#define EVENT(name, CLASS, number, EXT, NAME, fast, wide, doc) \
    {#NAME, TRACE_CLASS_##CLASS, number, _NTO_TRACE_##EXT, fast},
#include "trace/events.def"
#undef EVENT
};

/* `names` is the row's arguments, with a blank between them. */
static void check_names(const struct row *row, const char *names)
{
    char joined[100] = "";

    for (unsigned i = 0; i < 10 && row->fast[i]; i++) {
        strcat(strcat(joined, i > 0 ? " " : ""), row->fast[i]);
    }
    assert_string_equal(joined, names);
}

static void events_have_their_numbers(void **state)
{
    size_t n = sizeof(rows) / sizeof(rows[0]), known = sizeof(events) / sizeof(events[0]);

    (void)state;
    for (size_t i = 0; i < n || i < known; i++) {
        const char *name = i < n ? rows[i].name : "no more",
                   *mine = i < known ? events[i].name : "no more";

        if (strcmp(name, mine) != 0) {
            fail_msg("trace/events.def has %s where this test has %s", name, mine);
        }
        assert_int_equal(rows[i].class, events[i].class);
        assert_int_equal(rows[i].number, events[i].number);
        assert_int_equal(rows[i].external, events[i].external);
        check_names(&rows[i], events[i].fast);
    }
}

static void states_have_their_numbers(void **state)
{
    static const char *const names[] = {
        "DEAD",    "RUNNING",    "READY",    "STOPPED",    "SEND",        "RECEIVE",   "REPLY",
        "STACK",   "WAITTHREAD", "WAITPAGE", "SIGSUSPEND", "SIGWAITINFO", "NANOSLEEP", "MUTEX",
        "CONDVAR", "JOIN",       "INTR",     "SEM",        "WAITCTX",     "NET_SEND",  "NET_REPLY"};
    unsigned n = 0;

    (void)state;
#define STATE(number, name, text, emitted) \
    assert_int_equal(number, n); \
    assert_string_equal(#name, names[n]); \
    assert_string_equal(text, "TH" #name); \
    n++;
    THREAD_STATE_LIST(STATE)
#undef STATE
    assert_int_equal(n, sizeof(names) / sizeof(names[0]));
}

/* ---- documented names of events: what ADDEVENT takes ------------------------------- */

static const struct {
    unsigned value, class;
    uint32_t qnx;
    const char *row; /* NULL: Kymo has no such event */
} documented[] = {
    {_NTO_TRACE_THDEAD, _NTO_TRACE_THREAD, 1u << 0, "THDEAD"},
    {_NTO_TRACE_THRUNNING, _NTO_TRACE_THREAD, 1u << 1, "THRUNNING"},
    {_NTO_TRACE_THREADY, _NTO_TRACE_THREAD, 1u << 2, "THREADY"},
    {_NTO_TRACE_THSTACK, _NTO_TRACE_THREAD, 1u << 7, NULL},
    {_NTO_TRACE_THSEM, _NTO_TRACE_THREAD, 1u << 17, "THSEM"},
    {_NTO_TRACE_THNET_REPLY, _NTO_TRACE_THREAD, 1u << 20, NULL},
    {_NTO_TRACE_THCREATE, _NTO_TRACE_THREAD, 1u << 24, "THCREATE"},
    {_NTO_TRACE_THDESTROY, _NTO_TRACE_THREAD, 1u << 25, "THDESTROY"},
    {_NTO_TRACE_PROCCREATE, _NTO_TRACE_PROCESS, 1u << 0, NULL},
    {_NTO_TRACE_PROCDESTROY, _NTO_TRACE_PROCESS, 1u << 1, "PROCDESTROY"},
    {_NTO_TRACE_PROCCREATE_NAME, _NTO_TRACE_PROCESS, 1u << 2, "PROCCREATE_NAME"},
    {_NTO_TRACE_PROCDESTROY_NAME, _NTO_TRACE_PROCESS, 1u << 3, NULL},
    {_NTO_TRACE_PROCTHREAD_NAME, _NTO_TRACE_PROCESS, 1u << 4, "PROCTHREAD_NAME"},
    {_NTO_TRACE_SYS_PATHMGR, _NTO_TRACE_SYSTEM, 2, "PATHMGR_OPEN"},
    {_NTO_TRACE_SYS_APS_NAME, _NTO_TRACE_SYSTEM, 3, NULL},
    {_NTO_TRACE_SYS_APS_BUDGETS, _NTO_TRACE_SYSTEM, 4, NULL},
    {_NTO_TRACE_SYS_APS_BNKR, _NTO_TRACE_SYSTEM, 5, NULL},
    {_NTO_TRACE_SYS_MMAP, _NTO_TRACE_SYSTEM, 6, "MMAP"},
    {_NTO_TRACE_SYS_MUNMAP, _NTO_TRACE_SYSTEM, 7, "MUNMAP"},
    {_NTO_TRACE_SYS_MAPNAME, _NTO_TRACE_SYSTEM, 8, "MAPNAME"},
    {_NTO_TRACE_SYS_ADDRESS, _NTO_TRACE_SYSTEM, 9, "ADDRESS"},
    {_NTO_TRACE_SYS_FUNC_ENTER, _NTO_TRACE_SYSTEM, 10, "FUNC_ENTER"},
    {_NTO_TRACE_SYS_FUNC_EXIT, _NTO_TRACE_SYSTEM, 11, "FUNC_EXIT"},
    {_NTO_TRACE_SYS_SLOG, _NTO_TRACE_SYSTEM, 12, "SLOG"},
    {_NTO_TRACE_COMM_SMSG, _NTO_TRACE_COMM, 0, "SND_MESSAGE"},
    {_NTO_TRACE_COMM_SPULSE, _NTO_TRACE_COMM, 1, "SND_PULSE"},
    {_NTO_TRACE_COMM_RMSG, _NTO_TRACE_COMM, 2, "REC_MESSAGE"},
    {_NTO_TRACE_COMM_RPULSE, _NTO_TRACE_COMM, 3, "REC_PULSE"},
    {_NTO_TRACE_COMM_SPULSE_EXE, _NTO_TRACE_COMM, 4, "SND_PULSE_EXE"},
    {_NTO_TRACE_COMM_SPULSE_DIS, _NTO_TRACE_COMM, 5, "SND_PULSE_DIS"},
    {_NTO_TRACE_COMM_SPULSE_DEA, _NTO_TRACE_COMM, 6, "SND_PULSE_DEA"},
    {_NTO_TRACE_COMM_SPULSE_UN, _NTO_TRACE_COMM, 7, "SND_PULSE_UN"},
    {_NTO_TRACE_COMM_SPULSE_QUN, _NTO_TRACE_COMM, 8, NULL},
    {_NTO_TRACE_COMM_SIGNAL, _NTO_TRACE_COMM, 9, "SIGNAL"},
    {_NTO_TRACE_COMM_REPLY, _NTO_TRACE_COMM, 10, "REPLY_MESSAGE"},
    {_NTO_TRACE_COMM_ERROR, _NTO_TRACE_COMM, 11, "MSG_ERROR"},
};

/* Each has QNX's value and selects its event and no other; those of other kernels select none. */
static void documented_names_select_their_event(void **state)
{
    static const char *const names[TRACE_EV_ENTRIES] = {
#define EVENT(name, CLASS, number, EXT, NAME, ...) #NAME,
#define EVENT_CONTROL(...)
#include "trace/events.def"
#undef EVENT
#undef EVENT_CONTROL
    };

    (void)state;
    for (size_t i = 0; i < sizeof(documented) / sizeof(documented[0]); i++) {
        unsigned selected = 0;

        assert_int_equal(documented[i].value, documented[i].qnx);
        for (unsigned id = 0; id < TRACE_EV_ENTRIES; id++) {
            if (trace_filter_names(documented[i].class, documented[i].value, id)) {
                assert_non_null(documented[i].row);
                assert_string_equal(names[id], documented[i].row);
                selected++;
            }
        }
        assert_int_equal(selected, documented[i].row ? 1 : 0);
    }
    assert_int_equal(_NTO_TRACE_GETEVENT(0x02001001u), 1);
    assert_int_equal(_NTO_TRACE_GETEVENT_C(0x02001001u), 4 << 10);
    assert_int_equal(_NTO_TRACE_GETCPU(0x02001001u), 2);
    assert_int_equal(_NTO_TRACE_INTLAST, 0xffffffffu);
    assert_int_equal(_NTO_TRACE_USERLAST, 1023);
    assert_int_equal(_NTO_TRACE_KERCALLLAST, 127);
}

/* ---- kernel calls of QNX 6.4 ------------------------------------------------------- */

static const char *const calls[100] = {
    [0] = "NOP",
    [1] = "TRACE_EVENT",
    [10] = "MSG_CURRENT",
    [11] = "MSG_SENDV",
    [12] = "MSG_SENDVNC",
    [13] = "MSG_ERROR",
    [14] = "MSG_RECEIVEV",
    [15] = "MSG_REPLYV",
    [16] = "MSG_READV",
    [17] = "MSG_WRITEV",
    [18] = "MSG_READWRITEV",
    [19] = "MSG_INFO",
    [20] = "MSG_SEND_PULSE",
    [21] = "MSG_DELIVER_EVENT",
    [22] = "MSG_KEYDATA",
    [23] = "MSG_READIOV",
    [24] = "MSG_RECEIVEPULSEV",
    [25] = "MSG_VERIFY_EVENT",
    [26] = "SIGNAL_KILL",
    [27] = "SIGNAL_RETURN",
    [28] = "SIGNAL_FAULT",
    [29] = "SIGNAL_ACTION",
    [30] = "SIGNAL_PROCMASK",
    [31] = "SIGNAL_SUSPEND",
    [32] = "SIGNAL_WAITINFO",
    [35] = "CHANNEL_CREATE",
    [36] = "CHANNEL_DESTROY",
    [37] = "CHANCON_ATTR",
    [39] = "CONNECT_ATTACH",
    [40] = "CONNECT_DETACH",
    [41] = "CONNECT_SERVER_INFO",
    [42] = "CONNECT_CLIENT_INFO",
    [43] = "CONNECT_FLAGS",
    [46] = "THREAD_CREATE",
    [47] = "THREAD_DESTROY",
    [48] = "THREAD_DESTROYALL",
    [49] = "THREAD_DETACH",
    [50] = "THREAD_JOIN",
    [51] = "THREAD_CANCEL",
    [52] = "THREAD_CTL",
    [55] = "INTERRUPT_ATTACH",
    [56] = "INTERRUPT_DETACH_FUNC",
    [57] = "INTERRUPT_DETACH",
    [58] = "INTERRUPT_WAIT",
    [59] = "INTERRUPT_MASK",
    [60] = "INTERRUPT_UNMASK",
    [65] = "CLOCK_TIME",
    [66] = "CLOCK_ADJUST",
    [67] = "CLOCK_PERIOD",
    [68] = "CLOCK_ID",
    [70] = "TIMER_CREATE",
    [71] = "TIMER_DESTROY",
    [72] = "TIMER_SETTIME",
    [73] = "TIMER_INFO",
    [74] = "TIMER_ALARM",
    [75] = "TIMER_TIMEOUT",
    [78] = "SYNC_CREATE",
    [79] = "SYNC_DESTROY",
    [80] = "SYNC_MUTEX_LOCK",
    [81] = "SYNC_MUTEX_UNLOCK",
    [82] = "SYNC_CONDVAR_WAIT",
    [83] = "SYNC_CONDVAR_SIGNAL",
    [84] = "SYNC_SEM_POST",
    [85] = "SYNC_SEM_WAIT",
    [86] = "SYNC_CTL",
    [87] = "SYNC_MUTEX_REVIVE",
    [88] = "SCHED_GET",
    [89] = "SCHED_SET",
    [90] = "SCHED_YIELD",
    [91] = "SCHED_INFO",
    [92] = "SCHED_CTL",
};

static void kernel_calls_have_their_numbers(void **state)
{
    unsigned n = 0, last = 0;

    (void)state;
#define KERCALL(number, NAME, handler, flags, arguments, enter, enter_wide, exit_wide, doc) \
    assert_in_range(number, last, 127); \
    last = number + 1; \
    if (number < 100) { \
        assert_non_null(calls[number % 100]); \
        assert_string_equal(calls[number % 100], #NAME); \
        n++; \
    }
#include "abi/kercalls.def"
#undef KERCALL
    assert_true(n >= 48);
    assert_int_equal(__KER_TRACE_EVENT, 1);
    assert_int_equal(__KER_MSG_SENDV, 11);
    assert_int_equal(__KER_INTERRUPT_DETACH_FUNC, 56);
    assert_int_equal(__KER_SYNC_MUTEX_REVIVE, 87);
    assert_int_equal(__KER_SCHED_CTL, 92);
}

/* ---- TraceEvent() ------------------------------------------------------------------ */

struct number {
    uint32_t is;
    unsigned args, number;
};

static void commands_have_their_numbers(void **state)
{
    static const struct number commands[] = {
        {_NTO_TRACE_ADDALLCLASSES, 1, 1},
        {_NTO_TRACE_DELALLCLASSES, 1, 2},
        {_NTO_TRACE_ADDCLASS, 2, 3},
        {_NTO_TRACE_DELCLASS, 2, 4},
        {_NTO_TRACE_ADDEVENT, 3, 5},
        {_NTO_TRACE_DELEVENT, 3, 6},
        {_NTO_TRACE_START, 1, 10},
        {_NTO_TRACE_STOP, 1, 11},
        {_NTO_TRACE_ALLOCBUFFER, 3, 12},
        {_NTO_TRACE_DEALLOCBUFFER, 1, 13},
        {_NTO_TRACE_FLUSHBUFFER, 1, 14},
        {_NTO_TRACE_QUERYEVENTS, 1, 15},
        {_NTO_TRACE_SETALLCLASSESFAST, 1, 16},
        {_NTO_TRACE_SETALLCLASSESWIDE, 1, 17},
        {_NTO_TRACE_SETCLASSFAST, 2, 18},
        {_NTO_TRACE_SETCLASSWIDE, 2, 19},
        {_NTO_TRACE_SETEVENTFAST, 3, 20},
        {_NTO_TRACE_SETEVENTWIDE, 3, 21},
        {_NTO_TRACE_SETCLASSPID, 3, 22},
        {_NTO_TRACE_SETCLASSTID, 4, 23},
        {_NTO_TRACE_SETEVENTPID, 4, 24},
        {_NTO_TRACE_SETEVENTTID, 5, 25},
        {_NTO_TRACE_CLRCLASSPID, 2, 26},
        {_NTO_TRACE_CLRCLASSTID, 2, 27},
        {_NTO_TRACE_CLREVENTPID, 3, 28},
        {_NTO_TRACE_CLREVENTTID, 3, 29},
        {_NTO_TRACE_INSERTSUSEREVENT, 4, 30},
        {_NTO_TRACE_INSERTCUSEREVENT, 4, 31},
        {_NTO_TRACE_INSERTUSRSTREVENT, 3, 32},
        {_NTO_TRACE_STARTNOSTATE, 1, 33},
        {_NTO_TRACE_SETRINGMODE, 1, 34},
        {_NTO_TRACE_SETLINEARMODE, 1, 35},
        {_NTO_TRACE_SKIPBUFFER, 1, 38},
        {_NTO_TRACE_OVERWRITEBUFFER, 1, 39},
        {_NTO_TRACE_QUERYVERSION, 1, 40},
        {_NTO_TRACE_QUERYSUPPORT, 1, 41},
        {KYMO_TRACE_TAKEBUFFER, 2, 0x1000},
        {KYMO_TRACE_GIVEBUFFER, 2, 0x1001},
        {KYMO_TRACE_SETFILLMODE, 1, 0x1002},
        {KYMO_TRACE_SETHIGHWATER, 2, 0x1003},
        {KYMO_TRACE_QUERYLOSS, 3, 0x1004},
        {KYMO_TRACE_QUERYOWNER, 2, 0x1005},
        {KYMO_TRACE_CLRALLTHREADS, 1, 0x1006},
        {KYMO_TRACE_FLUSHCPUS, 3, 0x1007},
    };

    (void)state;
    for (unsigned i = 0; i < sizeof(commands) / sizeof(commands[0]); i++) {
        assert_int_equal(commands[i].is, (uint32_t)commands[i].args << 28 | commands[i].number);
        assert_int_equal(_NTO_TRACE_GET_COUNT(commands[i].is), commands[i].args);
        assert_int_equal(_NTO_TRACE_GET_FLAG(commands[i].is), commands[i].number);
    }
}

static void external_classes_have_their_numbers(void **state)
{
    static const unsigned classes[] = {_NTO_TRACE_EMPTY,
                                       _NTO_TRACE_CONTROL,
                                       _NTO_TRACE_KERCALL,
                                       _NTO_TRACE_KERCALLENTER,
                                       _NTO_TRACE_KERCALLEXIT,
                                       _NTO_TRACE_KERCALLINT,
                                       _NTO_TRACE_INT,
                                       _NTO_TRACE_INTENTER,
                                       _NTO_TRACE_INTEXIT,
                                       _NTO_TRACE_PROCESS,
                                       _NTO_TRACE_THREAD,
                                       _NTO_TRACE_VTHREAD,
                                       _NTO_TRACE_USER,
                                       _NTO_TRACE_SYSTEM,
                                       _NTO_TRACE_COMM,
                                       _NTO_TRACE_INT_HANDLER_ENTER,
                                       _NTO_TRACE_INT_HANDLER_EXIT};

    (void)state;
    for (unsigned i = 0; i < sizeof(classes) / sizeof(classes[0]); i++) {
        assert_int_equal(classes[i], i);
    }
}

static void the_hook_has_its_number(void **state)
{
    (void)state;
    assert_int_equal((uint32_t)_NTO_HOOK_TRACE, 0x7fff0000);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(worked_headers),
        cmocka_unit_test(headers_in_the_buffer),
        cmocka_unit_test(events_have_their_numbers),
        cmocka_unit_test(states_have_their_numbers),
        cmocka_unit_test(documented_names_select_their_event),
        cmocka_unit_test(kernel_calls_have_their_numbers),
        cmocka_unit_test(commands_have_their_numbers),
        cmocka_unit_test(external_classes_have_their_numbers),
        cmocka_unit_test(the_hook_has_its_number),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}

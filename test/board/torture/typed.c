/* SPDX-License-Identifier: BSD-2-Clause */
/* Random kernel calls, typed by abi/kercalls.def: see typed.h. */
#include "test/board/torture/typed.h"

#include "abi/sys/dtrace.h"

/* ---- the table of calls ---------------------------------------------------------------- */

enum how { HOW_NONE, HOW_VALUE, HOW_IN, HOW_OUT, HOW_INOUT, HOW_STRING, HOW_MESSAGE };
struct argument {
    uint8_t how;
    uint16_t bytes;
    const char *name;
};
#define ARGUMENTS_MAX 6
static const struct call {
    uint8_t number;
    const char *handler;
    struct argument args[ARGUMENTS_MAX];
} calls[] = {
#define A(...) \
    { \
        __VA_ARGS__ \
    }
#define NONE \
    { \
        HOW_NONE, 0, NULL \
    }
#define VAL(name) \
    { \
        HOW_VALUE, 0, #name \
    }
#define IN(name, bytes) \
    { \
        HOW_IN, bytes, #name \
    }
#define OUT(name, bytes) \
    { \
        HOW_OUT, bytes, #name \
    }
#define INOUT(name, bytes) \
    { \
        HOW_INOUT, bytes, #name \
    }
#define STR(name) \
    { \
        HOW_STRING, KYMO_NAME_MAX, #name \
    }
#define MSG(name) \
    { \
        HOW_MESSAGE, 0, #name \
    }
#define KERCALL(number, NAME, handler, flags, args, ...) {number, #handler, args},
#include "abi/kercalls.def"
#undef KERCALL
};

/* ---- what a value means ----------------------------------------------------------------- */

/* Up to SORT_ADDRESS: what a call has returned is remembered, and passed to others. */
enum sort {
    SORT_COID,
    SORT_CHID,
    SORT_RCVID,
    SORT_SCOID,
    SORT_PID,
    SORT_TID,
    SORT_TIMER,
    SORT_INTERRUPT,
    SORT_NAME,
    SORT_OBJECT,
    SORT_CLOCK,
    SORT_ADDRESS,
    SORT_REMEMBERED,
    SORT_SMALL = SORT_REMEMBERED, /* below 16 */
    SORT_BITS,
    SORT_BYTES,
    SORT_PRIORITY,
    SORT_POINTER,
    SORT_CODE,
    SORT_ZERO,
    SORT_ANY,
    SORT_ID, /* of what the call's name begins with */
    SORT_SILENT
};

/* By the name of an argument in the table of calls. */
static const struct {
    const char *name;
    uint8_t sort;
} sorts[] = {
    {"coid", SORT_COID},
    {"chid", SORT_CHID},
    {"rcvid", SORT_RCVID},
    {"scoid", SORT_SCOID},
    {"pid", SORT_PID},
    {"tid", SORT_TID},
    {"id", SORT_ID},
    {"clock", SORT_CLOCK},
    {"addr", SORT_ADDRESS},
    {"address", SORT_POINTER},
    {"cmd", SORT_SMALL},
    {"flags", SORT_BITS},
    {"mask", SORT_BITS},
    {"bits", SORT_BITS},
    {"mode", SORT_BITS},
    {"options", SORT_BITS},
    {"prot", SORT_SMALL},
    {"bytes", SORT_BYTES},
    {"len", SORT_BYTES},
    {"offset", SORT_BYTES},
    {"size", SORT_BYTES},
    {"sparts", SORT_SMALL},
    {"rparts", SORT_SMALL},
    {"priority", SORT_PRIORITY},
    {"buffer", SORT_POINTER},
    {"text", SORT_POINTER},
    {"data", SORT_POINTER},
    {"in", SORT_POINTER},
    {"out", SORT_POINTER},
    {"attr", SORT_POINTER},
    {"reserved", SORT_POINTER},
    {"func", SORT_CODE},
    {"canstub", SORT_CODE},
    {"nd", SORT_ZERO},
    {"index", SORT_ZERO},
    {"error", SORT_SMALL},
    {"status", SORT_ANY},
    {"signo", SORT_SMALL},
    {"code", SORT_SMALL},
    {"value", SORT_ANY},
    {"intr", SORT_SMALL},
    {"type", SORT_SMALL},
    {"try_only", SORT_SMALL},
    {"all", SORT_SMALL},
    {"policy", SORT_SMALL},
    {"ngroups", SORT_SMALL},
    {"arg", SORT_ANY},
    {"what", SORT_SMALL},
    {"level", SORT_SMALL},
    {"op", SORT_SMALL},
    {"a", SORT_ANY},
    {"b", SORT_ANY},
    {"c", SORT_ANY},
    {"a1", SORT_ANY},
    {"a2", SORT_ANY},
    {"a3", SORT_ANY},
    {"a4", SORT_ANY},
};
#define UNKNOWN 0xff

static uint8_t sort_named(const char *name)
{
    for (unsigned i = 0; i < COUNT(sorts); i++) {
        if (strcmp(sorts[i].name, name) == 0) {
            return sorts[i].sort;
        }
    }
    return UNKNOWN;
}

/* `id` is a timer's in timer_settime, and so on. */
static uint8_t sort_of_id(const char *handler)
{
    static const struct {
        const char *begin;
        uint8_t sort;
    } of[] = {{"timer_", SORT_TIMER},
              {"interrupt_", SORT_INTERRUPT},
              {"name_", SORT_NAME},
              {"object_", SORT_OBJECT},
              {"clock_", SORT_CLOCK}};

    for (unsigned i = 0; i < COUNT(of); i++) {
        if (strncmp(handler, of[i].begin, strlen(of[i].begin)) == 0) {
            return of[i].sort;
        }
    }
    return UNKNOWN;
}

static uint8_t sort_of(const struct call *call, unsigned arg)
{
    uint8_t sort = sort_named(call->args[arg].name);

    return sort == SORT_ID ? sort_of_id(call->handler) : sort;
}

bool typed_complete(const char **name)
{
    for (unsigned i = 0; i < COUNT(calls); i++) {
        for (unsigned arg = 0; arg < ARGUMENTS_MAX; arg++) {
            *name = calls[i].args[arg].name;
            if (calls[i].args[arg].how == HOW_VALUE && sort_of(&calls[i], arg) == UNKNOWN) {
                return false;
            }
        }
    }
    return true;
}

/* What a call's result is. */
static const struct {
    uint8_t number, sort;
} results[] = {
    {NUMBER_CHANNEL_CREATE, SORT_CHID}, {NUMBER_CONNECT_ATTACH, SORT_COID},
    {NUMBER_MSG_RECEIVEV, SORT_RCVID},  {NUMBER_THREAD_CREATE, SORT_TID},
    {NUMBER_TIMER_CREATE, SORT_TIMER},  {NUMBER_INTERRUPT_ATTACH, SORT_INTERRUPT},
    {NUMBER_NAME_ATTACH, SORT_NAME},    {NUMBER_OBJECT_OPEN, SORT_OBJECT},
    {NUMBER_PROC_SPAWN, SORT_PID},      {NUMBER_CLOCK_ID, SORT_CLOCK},
};

/* ---- what is known ---------------------------------------------------------------------- */

#define KNOWN 8
static volatile uintptr_t known[SORT_REMEMBERED][KNOWN]; /* any thread; none is worth a lock */
union typed_area typed_area;
volatile uintptr_t typed_shifting[TYPED_SHIFTING];
static struct torture_addresses told;
static uint8_t sort_table[COUNT(calls)][ARGUMENTS_MAX];
static void (*thread_code)(void *);
static _Alignas(64) uint8_t stacks[TYPED_STACKS][TYPED_STACK];
static uint32_t stacks_used; /* atomic */

static void remember(struct typed *t, enum sort sort, uintptr_t value)
{
    known[sort][torture_pick(&t->random, KNOWN)] = value;
}

void typed_start(const struct torture_addresses *addresses, const int coids[2],
                 void (*thread)(void *))
{
    told = *addresses;
    thread_code = thread;
    for (unsigned i = 0; i < COUNT(calls); i++) {
        for (unsigned arg = 0; arg < ARGUMENTS_MAX; arg++) {
            bool value = calls[i].args[arg].how == HOW_VALUE;
            sort_table[i][arg] = value ? sort_of(&calls[i], arg) : UNKNOWN;
        }
    }
    for (unsigned i = 0; i < KNOWN; i++) {
        known[SORT_COID][i] = (uintptr_t)coids[i % 2];
        known[SORT_CHID][i] = i;
        known[SORT_TID][i] = i % 5;
        known[SORT_PID][i] = (uintptr_t)(i % 4 == 0   ? told.judge_pid
                                         : i % 4 == 1 ? told.server_pid
                                                      : 0);
        known[SORT_CLOCK][i] = i % 3;
        known[SORT_TIMER][i] = i % 3;
    }
}

/* ---- values ----------------------------------------------------------------------------- */

static uintptr_t wild(struct typed *t)
{
    static const uintptr_t telling[] = {0,
                                        1,
                                        8,
                                        16,
                                        0x1000,
                                        0x7fffffff,
                                        0x80000000u,
                                        (uintptr_t)-1,
                                        (uintptr_t)-16,
                                        0x20000000,
                                        0x40000000,
                                        0x40200000,
                                        0xe000e000u};

    switch (torture_pick(&t->random, 8)) {
    case 0:
        return torture_random(&t->random);
    case 1:
        return (uintptr_t)torture_random(&t->random) << 12;
    case 2:
        return (uintptr_t)&telling; /* memory that can only be read */
    case 3:
        return (uintptr_t)(typed_area.bytes + TYPED_AREA - torture_pick(&t->random, 32));
    default:
        return telling[torture_pick(&t->random, COUNT(telling))];
    }
}

static uintptr_t some_pointer(struct typed *t)
{
    uint32_t which = torture_pick(&t->random, 16);

    if (which == 0) {
        return wild(t);
    }
    if (which < 5) {
        return typed_shifting[torture_pick(&t->random, TYPED_SHIFTING)] +
               torture_pick(&t->random, 4096);
    }
    uintptr_t at = (uintptr_t)&typed_area.bytes[torture_pick(&t->random, TYPED_AREA)];
    return which < 14 ? at & ~(uintptr_t)7 : at;
}

static uintptr_t some_length(struct typed *t)
{
    static const uint16_t telling[] = {0, 1, 4, 8, 63, 64, 65, 128, 4095, 4096, 4097, 60000};

    if (torture_pick(&t->random, 2)) {
        return torture_pick(&t->random, 300);
    }
    uint32_t i = torture_pick(&t->random, COUNT(telling) + 1);
    return i < COUNT(telling) ? telling[i] : wild(t);
}

static uintptr_t value_of(struct typed *t, uint8_t sort)
{
    if (torture_pick(&t->random, 20) == 0) {
        return wild(t);
    }
    if (sort < SORT_REMEMBERED) {
        return known[sort][torture_pick(&t->random, KNOWN)];
    }
    switch (sort) {
    case SORT_SMALL:
        return torture_pick(&t->random, 16);
    case SORT_BITS:
        return torture_pick(&t->random, 2) << torture_pick(&t->random, 9) |
               torture_pick(&t->random, 2) << torture_pick(&t->random, 9);
    case SORT_BYTES:
        return some_length(t);
    case SORT_PRIORITY:
        return 1 + torture_pick(&t->random, 63);
    case SORT_POINTER:
        return some_pointer(t);
    case SORT_CODE:
        return (uintptr_t)thread_code;
    case SORT_ZERO:
        return 0;
    default:
        return torture_pick(&t->random, 2) ? torture_random(&t->random) : wild(t);
    }
}

/* ---- structures ------------------------------------------------------------------------- */

/* Of the process's own: another thread may write to the same bytes at the same time. */
static void *some_area(struct typed *t, size_t bytes)
{
    return typed_area.bytes + (torture_pick(&t->random, (uint32_t)(TYPED_AREA - bytes)) & ~7u);
}

static void fill_event(struct typed *t, void *to)
{
    static const uint8_t kinds[] = {
        SIGEV_PULSE, SIGEV_PULSE, SIGEV_PULSE, SIGEV_UNBLOCK, SIGEV_INTR, SIGEV_NONE, 7};
    struct sigevent event = {.sigev_notify = kinds[torture_pick(&t->random, COUNT(kinds))]};

    event.sigev_coid = (int)value_of(t, SORT_COID);
    event.sigev_code = (int16_t)torture_pick(&t->random, 140);
    event.sigev_priority = (int16_t)torture_pick(&t->random, 64);
    memcpy(to, &event, sizeof(event));
}

static void fill_map(struct typed *t, void *to)
{
    struct kymo_map map = {.len = 1 + torture_pick(&t->random, 20000)};

    map.flags = KYMO_PROT_READ | KYMO_PROT_WRITE;
    switch (torture_pick(&t->random, 8)) {
    case 0:
        map.flags = torture_pick(&t->random, 256);
        break;
    case 1:
        map.flags |= KYMO_MAP_OBJECT;
        map.phys = value_of(t, SORT_OBJECT);
        break;
    case 2:
        map.flags |= KYMO_MAP_STACK;
        break;
    case 3:
        map.len = wild(t);
        break;
    default:
        break;
    }
    memcpy(to, &map, sizeof(map));
}

/* A stack is used once: two threads on one would only crash each other. */
static void fill_thread(struct typed *t, void *to)
{
    struct _thread_attr attr = {.flags = torture_pick(&t->random, 3),
                                .priority = (int32_t)torture_pick(&t->random, 66),
                                .policy = (int32_t)torture_pick(&t->random, 5),
                                .runmask = torture_pick(&t->random, 4)};
    uint32_t i = __atomic_fetch_add(&stacks_used, 1, __ATOMIC_RELAXED);

    if (i < TYPED_STACKS) {
        attr.stackaddr = stacks[i];
        attr.stacksize = TYPED_STACK;
    } else {
        attr.stackaddr = torture_pick(&t->random, 2) ? NULL : (void *)wild(t);
        attr.stacksize = some_length(t);
    }
    memcpy(to, &attr, sizeof(attr));
}

static uint64_t some_time(struct typed *t)
{
    static const uint64_t telling[] = {0, 1, 100000, 1000000, 500000000, (uint64_t)-1};
    uint32_t i = torture_pick(&t->random, 2 * COUNT(telling));

    return i < COUNT(telling) ? telling[i] : torture_pick(&t->random, 2000000);
}

static void fill_times(struct typed *t, void *to)
{
    uint64_t times[2] = {some_time(t), some_time(t)};

    memcpy(to, times, sizeof(times));
}

/* Decimal digits of n, most significant first, and a NUL; returns the bytes written. */
static unsigned write_number(char *to, uint32_t n)
{
    char digits[10];
    unsigned count = 0, at = 0;

    do {
        digits[count++] = (char)('0' + n % 10);
        n /= 10;
    } while (n != 0);
    while (count > 0) {
        to[at++] = digits[--count];
    }
    to[at++] = '\0';
    return at;
}

/* Another hostile process, mostly; it tells nobody of its calls, and is ended by the judge. */
static void fill_spawn(struct typed *t, void *to)
{
    struct kymo_spawn *spawn = to;
    unsigned at = 0;

    memset(spawn, 0, sizeof(*spawn));
    memcpy(spawn->program, "t_torture", sizeof("t_torture"));
    spawn->priority = (int32_t)torture_pick(&t->random, 66);
    spawn->policy = (int32_t)torture_pick(&t->random, 4);
    spawn->ability = torture_pick(&t->random, 2) ? 0 : 1u << torture_pick(&t->random, 10);
    spawn->heap_size = 16384;
    spawn->flags = torture_pick(&t->random, 4) ? 0 : KYMO_SPAWN_HOLD;
    spawn->flags |= torture_pick(&t->random, 4) ? 0 : KYMO_SPAWN_GROUP;
    spawn->limits = torture_pick(&t->random, 2) ? 0 : torture_pick(&t->random, 1u << KYMO_LIMITS);
    for (unsigned i = 0; i < KYMO_LIMITS; i++) {
        spawn->limit[i] = torture_pick(&t->random, 64) * (i == KYMO_LIMIT_RAM ? 16384u : 1u);
    }
    memcpy(spawn->args, "other\0hostile", sizeof("other\0hostile"));
    at = sizeof("other\0hostile");
    at += write_number(spawn->args + at, torture_random(&t->random));
    spawn->argc = 3;
    spawn->arg_bytes = at;
    if (torture_pick(&t->random, 8) == 0) {
        ((uint8_t *)spawn)[torture_pick(&t->random, sizeof(*spawn))] ^= 0x40;
    }
}

static void fill_parameter(struct typed *t, void *to)
{
    struct sched_param_kymo param = {.sched_priority = (int32_t)torture_pick(&t->random, 66)};

    memcpy(to, &param, sizeof(param));
}

/* Those that are created are mostly initialised before they are used: SYNC_CREATE. */
static void *some_sync(struct typed *t)
{
    return typed_area.bytes + 64 * sizeof(sync_t) + 8 * torture_pick(&t->random, 6);
}

static const struct {
    const char *name;
    void (*fill)(struct typed *t, void *to);
} fills[] = {
    {"event", fill_event}, {"notify", fill_event}, {"map", fill_map},
    {"attr", fill_thread}, {"spawn", fill_spawn},  {"param", fill_parameter},
    {"itime", fill_times}, {"ntime", fill_times},  {"new_ns", fill_times},
};

static uintptr_t structure(struct typed *t, const struct argument *arg)
{
    if (arg->how == HOW_OUT) {
        return torture_pick(&t->random, 8) ? some_pointer(t) : 0;
    }
    if (arg->bytes == sizeof(sync_t) && arg->how == HOW_INOUT) {
        return torture_pick(&t->random, 8) ? (uintptr_t)some_sync(t) : some_pointer(t);
    }
    for (unsigned i = 0; i < COUNT(fills); i++) {
        if (strcmp(fills[i].name, arg->name) == 0 && torture_pick(&t->random, 12) != 0) {
            void *to = some_area(t, arg->bytes < 16 ? 16 : arg->bytes);
            fills[i].fill(t, to);
            return (uintptr_t)to;
        }
    }
    return some_pointer(t);
}

static uintptr_t some_string(struct typed *t)
{
    char *to = some_area(t, 16);

    memcpy(to, "/torture0", sizeof("/torture0"));
    to[8] = (char)('0' + torture_pick(&t->random, 6));
    return torture_pick(&t->random, 8) ? (uintptr_t)to : some_pointer(t);
}

/* A message: a buffer, or parts in an array that other threads scribble on. Sets its length. */
static uintptr_t message(struct typed *t, uintptr_t *length)
{
    unsigned n = torture_pick(&t->random, 5);

    if (n == 0 || torture_pick(&t->random, 2)) {
        *length = -some_length(t);
        return some_pointer(t);
    }
    iov_t *parts = some_area(t, 5 * sizeof(iov_t));
    for (unsigned i = 0; i < n; i++) {
        SETIOV(&parts[i], some_pointer(t), some_length(t));
    }
    *length = torture_pick(&t->random, 16) ? n : wild(t);
    return (uintptr_t)parts;
}

/* ---- calls ------------------------------------------------------------------------------ */

static void fill_arguments(struct typed *t, unsigned i, uintptr_t args[ARGUMENTS_MAX])
{
    for (unsigned arg = 0; arg < ARGUMENTS_MAX; arg++) {
        const struct argument *a = &calls[i].args[arg];

        switch (a->how) {
        case HOW_NONE:
            args[arg] = 0;
            break;
        case HOW_VALUE:
            args[arg] = value_of(t, sort_table[i][arg]);
            break;
        case HOW_STRING:
            args[arg] = some_string(t);
            break;
        case HOW_MESSAGE:
            args[arg] = message(t, &args[arg + 1]);
            arg++;
            break;
        default:
            args[arg] = structure(t, a);
        }
    }
}

/* Those that end or stop the thread or the process rather than testing come rarely. */
static bool too_often(struct typed *t, unsigned number)
{
    switch (number) {
    case NUMBER_PROC_EXIT:
    case NUMBER_THREAD_DESTROY:
    case NUMBER_THREAD_CANCEL:
    case NUMBER_SIGNAL_KILL:
    case NUMBER_THREAD_CTL:
    case NUMBER_TIMER_ALARM:
    case NUMBER_PROC_SPAWN:
        return torture_pick(&t->random, 64) != 0;
    default:
        return false;
    }
}

/* Nearly every call that could block for good gets a timeout. */
static void set_timeout(struct typed *t)
{
    uint64_t ns = torture_pick(&t->random, 300000);
    uintptr_t args[6] = {CLOCK_MONOTONIC, ~_NTO_TIMEOUT_NANOSLEEP, 0, (uintptr_t)&ns, 0, 0};

    if (torture_pick(&t->random, 256) != 0) {
        typed_raw(t, NUMBER_TIMER_TIMEOUT, args);
    }
}

static void remember_result(struct typed *t, unsigned number, const uintptr_t *args, long value)
{
    for (unsigned i = 0; i < COUNT(results); i++) {
        if (results[i].number == number) {
            remember(t, results[i].sort, (uintptr_t)value);
        }
    }
    if (number == NUMBER_MEM_MAP && args[0] - (uintptr_t)&typed_area < TYPED_AREA - 64) {
        struct kymo_map map;
        memcpy(&map, (const void *)args[0], sizeof(map));
        remember(t, SORT_ADDRESS, (uintptr_t)map.vaddr);
    }
}

struct raw_result typed_raw(struct typed *t, unsigned number, const uintptr_t args[6])
{
    t->calls++;
    return raw_call(number, args);
}

void typed_call(struct typed *t)
{
    unsigned i = torture_pick(&t->random, COUNT(calls)), number = calls[i].number;
    uintptr_t args[ARGUMENTS_MAX];

    if (too_often(t, number)) {
        return;
    }
    fill_arguments(t, i, args);
    if (number == NUMBER_CONSOLE_WRITE) {
        args[1] = torture_pick(&t->random, 2) ? 0 : (uintptr_t)-1; /* nothing that can be read */
    }
    set_timeout(t);
    struct raw_result result = typed_raw(t, number, args);
    if (result.error == 0) {
        remember_result(t, number, args, result.value);
    }
}

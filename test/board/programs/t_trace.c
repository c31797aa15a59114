/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * TraceEvent() from a program's side: every command's effect and errors, the hook, the mark. What
 * becomes of events when buffers run out is t_policy.c's. Runs alone: no tracelogger.
 */
#include <sys/trace.h>

#include "test/board/programs/tracing.h"

static void t_no_buffers(void)
{
    struct kymo_trace_buffer b;
    uint64_t paddr;

    EXPECT_ERR(command(_NTO_TRACE_START), ECANCELED);
    EXPECT_ERR(command(_NTO_TRACE_STARTNOSTATE), ECANCELED);
    EXPECT_ERR(command(_NTO_TRACE_SETRINGMODE), ECANCELED);
    EXPECT_ERR(command(_NTO_TRACE_SETLINEARMODE), ECANCELED);
    EXPECT_ERR(command(_NTO_TRACE_FLUSHBUFFER), EFAULT);
    EXPECT_ERR(command(_NTO_TRACE_QUERYEVENTS), EFAULT);
    EXPECT_EQ(TraceEvent((int)KYMO_TRACE_TAKEBUFFER, &b), -1);
    EXPECT_ERR(TraceEvent((int)_NTO_TRACE_ALLOCBUFFER, 1025, &paddr), EINVAL);
    EXPECT_ERR(TraceEvent((int)_NTO_TRACE_ALLOCBUFFER, 0, &paddr), EINVAL);
    EXPECT_ERR(TraceEvent((int)_NTO_TRACE_ALLOCBUFFER, 4, (void *)3), EFAULT);
    EXPECT_EQ(command(_NTO_TRACE_QUERYSUPPORT), 1);
    EXPECT(command(_NTO_TRACE_QUERYVERSION) > 0);
}

/* Maps memory in pieces of 128 MB down to 8 MB, until no such piece is left. */
static unsigned take_memory(struct kymo_map *pieces, unsigned most)
{
    unsigned n = 0;

    for (size_t len = 128u << 20; len >= 8u << 20; len /= 2) {
        pieces[n] = (struct kymo_map){.len = len, .flags = KYMO_PROT_READ | KYMO_PROT_WRITE};
        while (n + 1 < most && MemMap(&pieces[n]) == 0) {
            pieces[n + 1] = (struct kymo_map){.len = len, .flags = pieces[n].flags};
            n++;
        }
    }
    return n;
}

/* With most of the memory taken, 16 MB of buffers for each CPU can't be contiguous. Smaller buffers
 * are never so many. */
static void t_no_memory(void)
{
    struct kymo_map pieces[12];
    unsigned n = take_memory(pieces, COUNT(pieces));
    uint64_t paddr;

    if (TRACE_BUFFER_SLOTS == 1024) {
        EXPECT_ERR(TraceEvent((int)_NTO_TRACE_ALLOCBUFFER, 1024, &paddr), ENOMEM);
    }
    EXPECT_ERR(command(_NTO_TRACE_START), ECANCELED);
    while (n > 0) {
        n--;
        EXPECT_EQ(MemUnmap((void *)(uintptr_t)pieces[n].vaddr, (size_t)pieces[n].len), 0);
    }
}

static void t_unknown(void)
{
    EXPECT_ERR(command(_NTO_TRACE_CMD(5, 7)), ENOTSUP); /* ADDEVENTHANDLER */
    EXPECT_ERR(command(_NTO_TRACE_CMD(1, 0)), ENOTSUP);
    EXPECT_ERR(command(_NTO_TRACE_CMD(1, 0xfff)), ENOTSUP);
    EXPECT_ERR(command(_NTO_TRACE_CMD(1, 0x1fff)), ENOTSUP);
    EXPECT_ERR(command(0xffffffffu), ENOTSUP);
}

static void t_classes(void)
{
    EXPECT_ERR(TraceEvent((int)_NTO_TRACE_ADDCLASS, 99), ENOTSUP);
    EXPECT_ERR(TraceEvent((int)_NTO_TRACE_DELCLASS, 0xffffffffu), ENOTSUP);
    EXPECT_ERR(TraceEvent((int)_NTO_TRACE_ADDEVENT, _NTO_TRACE_THREAD, 1u << 30), ENOTSUP);
    EXPECT_ERR(TraceEvent((int)_NTO_TRACE_SETCLASSWIDE, 99), ENOTSUP);
    for (unsigned c = _NTO_TRACE_CONTROL; c <= _NTO_TRACE_INT_HANDLER_EXIT; c++) {
        if (c != _NTO_TRACE_VTHREAD) {
            EXPECT_EQ(TraceEvent((int)_NTO_TRACE_ADDCLASS, c), 0);
            EXPECT_EQ(TraceEvent((int)_NTO_TRACE_DELCLASS, c), 0);
        }
    }
    EXPECT_EQ(TraceEvent((int)_NTO_TRACE_ADDEVENT, _NTO_TRACE_KERCALLENTER, 11), 0);
    EXPECT_EQ(TraceEvent((int)_NTO_TRACE_DELEVENT, _NTO_TRACE_KERCALLENTER, 11), 0);
    EXPECT_EQ(command(_NTO_TRACE_SETALLCLASSESWIDE), 0);
    EXPECT_EQ(command(_NTO_TRACE_SETALLCLASSESFAST), 0);
    EXPECT_ERR(TraceEvent((int)KYMO_TRACE_SETHIGHWATER, 15), EINVAL);
    EXPECT_ERR(TraceEvent((int)KYMO_TRACE_SETHIGHWATER, 1025), EINVAL);
    EXPECT_EQ(TraceEvent((int)KYMO_TRACE_SETHIGHWATER, TRACE_HIGH_WATER), 0);
}

/* The kernel's word says whether an event of class USER would be recorded; the library asks it. */
static void user_word(void)
{
    static volatile uint32_t words[2] = {7, 7};
    const char *odd = (const char *)words + 1;
    struct kymo_map page = {.len = 4096, .flags = KYMO_PROT_READ | KYMO_PROT_WRITE};

    EXPECT_ERR(TraceEvent((int)KYMO_TRACE_USERWORD, odd), EINVAL);
    EXPECT_ERR(TraceEvent((int)KYMO_TRACE_USERWORD, (void *)4), EFAULT);
    EXPECT_EQ(TraceEvent((int)KYMO_TRACE_USERWORD, &words[0]), 0);
    EXPECT(words[0] == 0 && words[1] == 7);
    open_buffers();
    EXPECT_EQ(words[0], 0);
    EXPECT_EQ(command(_NTO_TRACE_STARTNOSTATE), 0);
    EXPECT_EQ(words[0], 1);
    EXPECT_EQ(TraceEvent((int)_NTO_TRACE_DELCLASS, _NTO_TRACE_USER), 0);
    EXPECT_EQ(words[0], 0);
    EXPECT_EQ(TraceEvent((int)_NTO_TRACE_ADDEVENT, _NTO_TRACE_USER, 1023), 0);
    EXPECT_EQ(words[0], 1);
    EXPECT_EQ(TraceEvent((int)KYMO_TRACE_USERWORD, &words[1]), 0); /* one word each */
    EXPECT_EQ(words[1], 1);
    EXPECT_EQ(command(_NTO_TRACE_STOP), 0);
    EXPECT(words[0] == 1 && words[1] == 0);
    EXPECT_EQ(MemMap(&page), 0);
    volatile uint32_t *mapped = (volatile uint32_t *)(uintptr_t)page.vaddr;
    EXPECT_EQ(TraceEvent((int)KYMO_TRACE_USERWORD, mapped), 0);
    EXPECT_EQ(MemUnmap((void *)(uintptr_t)page.vaddr, (size_t)page.len), 0);
    EXPECT_EQ(command(_NTO_TRACE_STARTNOSTATE), 0); /* nowhere to write */
    EXPECT_EQ(TraceEvent((int)KYMO_TRACE_USERWORD, NULL), 0);
    EXPECT_EQ(command(_NTO_TRACE_STOP), 0);
    EXPECT_EQ(words[1], 0);
    EXPECT_EQ(TraceEvent((int)KYMO_TRACE_USERWORD, &kymo_user_wanted), 0); /* the library's */
    close_buffers();
}

/* The library's helpers drop nothing that would be recorded, and notice each START and STOP. */
static void user_helpers(void)
{
    open_buffers();
    EXPECT_EQ(trace_logi(1, 1, 2), 0); /* asks */
    for (unsigned round = 0; round < 3; round++) {
        uint64_t made = loss().made;
        EXPECT_EQ(trace_logi(1, 1, 2) | trace_logs(2, "text") | trace_logf(3, "%d", 4), 0);
        EXPECT(loss().made == made);
        EXPECT_ERR(trace_logi(1024, 1, 2), EINVAL);
        EXPECT_EQ(command(_NTO_TRACE_STARTNOSTATE), 0);
        EXPECT_EQ(trace_logi(1, 1, 2) | trace_logs(2, "text") | trace_logf(3, "%d", 4) |
                      trace_logb(4, &made, sizeof(made)),
                  0);
        EXPECT(loss().made == made + 4);
        EXPECT_EQ(command(_NTO_TRACE_STOP), 0);
    }
    close_buffers();
}

static void t_users(void)
{
    static uint32_t words[65];
    char longest[300];

    memset(longest, 'x', sizeof(longest));
    longest[sizeof(longest) - 1] = '\0';
    EXPECT_ERR(TraceEvent((int)_NTO_TRACE_INSERTSUSEREVENT, 1024, 0, 0), EINVAL);
    EXPECT_ERR(TraceEvent((int)_NTO_TRACE_INSERTCUSEREVENT, 1024, words, 1), EINVAL);
    EXPECT_ERR(TraceEvent((int)_NTO_TRACE_INSERTCUSEREVENT, 1, words, 65), EINVAL);
    EXPECT_ERR(TraceEvent((int)_NTO_TRACE_INSERTCUSEREVENT, 1, words, 0x40000001), EINVAL);
    EXPECT_ERR(TraceEvent((int)_NTO_TRACE_INSERTCUSEREVENT, 1, (void *)4, 4), EFAULT);
    EXPECT_ERR(TraceEvent((int)_NTO_TRACE_INSERTUSRSTREVENT, 1, (void *)4), EFAULT);
    EXPECT_ERR(TraceEvent((int)_NTO_TRACE_INSERTUSRSTREVENT, 1, longest), EINVAL);
    EXPECT_EQ(TraceEvent((int)_NTO_TRACE_INSERTCUSEREVENT, 1, words, 64), 0);
    EXPECT_EQ(TraceEvent((int)_NTO_TRACE_INSERTUSRSTREVENT, 1, "text"), 0);
    EXPECT_EQ(TraceEvent((int)_NTO_TRACE_INSERTSUSEREVENT, 1023, 1, 2), 0);
    user_word();
    user_helpers();
}

static void t_owner(void)
{
    struct kymo_trace_owner owner;

    EXPECT_ERR(TraceEvent((int)KYMO_TRACE_QUERYOWNER, &owner), EFAULT);
    open_buffers();
    EXPECT_ERR(TraceEvent((int)KYMO_TRACE_QUERYOWNER, (void *)4), EFAULT);
    EXPECT_EQ(TraceEvent((int)KYMO_TRACE_QUERYOWNER, &owner), 0);
    EXPECT_EQ(owner.pid, self_pid());
    EXPECT(strcmp(owner.name, "t_trace") == 0);
    EXPECT(!owner.gone && !owner.running);
    EXPECT_EQ(owner.per_cpu, PER_CPU);
    close_buffers();
}

static void t_flush(void)
{
    uint64_t paddr;
    struct found f;

    open_buffers();
    EXPECT_ERR(TraceEvent((int)_NTO_TRACE_ALLOCBUFFER, PER_CPU, &paddr), EEXIST);
    EXPECT_EQ(command(_NTO_TRACE_STARTNOSTATE), 0);
    EXPECT_EQ(command(_NTO_TRACE_STARTNOSTATE), 0); /* it runs already */
    EXPECT_ERR(command(_NTO_TRACE_SETRINGMODE), ECANCELED);
    insert(0, 10);
    EXPECT(command(_NTO_TRACE_QUERYEVENTS) >= 10);
    EXPECT_EQ(command(_NTO_TRACE_FLUSHBUFFER), 0);
    f = take_all();
    EXPECT_EQ(f.users, 10);
    EXPECT_EQ(f.first, 0);
    EXPECT_EQ(f.last, 9);
    EXPECT(!f.gaps);
    EXPECT_EQ(command(_NTO_TRACE_STOP), 0);
    insert(10, 5); /* not made: nothing runs */
    f = take_all();
    EXPECT_EQ(f.users, 0);
    EXPECT_EQ(loss().made, 10);
    close_buffers();
}

static void t_hook(void)
{
    struct link to = make_link(0);
    struct sigevent event = {0};
    struct _pulse pulse;
    uint64_t ns = 1000 * MS;
    int id;

    SIGEV_PULSE_INIT(&event, to.coid, 30, 1, 0);
    open_buffers();
    id = InterruptAttachEvent((int)_NTO_HOOK_TRACE, &event, 0);
    EXPECT(id >= 0);
    EXPECT_EQ(command(_NTO_TRACE_STARTNOSTATE), 0);
    insert(0, TRACE_HIGH_WATER);
    /* Sequence; index in the bits above. On several CPUs START gives a first buffer of each. */
    uint32_t sequence = cpu_count() > 1 ? 2 : 1;
    do {
        TimerTimeout(CLOCK_MONOTONIC, _NTO_TIMEOUT_RECEIVE, NULL, &ns, NULL);
        EXPECT_EQ(MsgReceivePulse(to.chid, &pulse, sizeof(pulse), NULL), 0);
    } while (sequence == 2 && (pulse.value.sival_int & 0x7ff) == 1);
    EXPECT_EQ(pulse.value.sival_int & 0x7ff, sequence);
    EXPECT((unsigned)pulse.value.sival_int >> 13 < PER_CPU);
    EXPECT(take_all().users >= TRACE_HIGH_WATER - 8);
    EXPECT_EQ(InterruptDetach(id), 0); /* nobody would take: linear tracing stops */
    insert(0, 3);
    EXPECT_EQ(command(_NTO_TRACE_FLUSHBUFFER) == 0 || errno == ECANCELED, 1);
    take_all();
    close_buffers();
    drop_link(&to);
}

/* A buffer is handed over at the mark that was set, give or take what the call itself records. */
static void t_high_water(void)
{
    struct kymo_trace_buffer b = {0};

    open_buffers();
    EXPECT_EQ(TraceEvent((int)KYMO_TRACE_SETHIGHWATER, 40), 0);
    EXPECT_EQ(command(_NTO_TRACE_STARTNOSTATE), 0);
    insert(0, 37); /* with BUFFER and TIME: 39 */
    EXPECT_ERR(TraceEvent((int)KYMO_TRACE_TAKEBUFFER, &b), EAGAIN);
    insert(37, 3);
    EXPECT_EQ(TraceEvent((int)KYMO_TRACE_TAKEBUFFER, &b), 0);
    EXPECT(b.slots > 40 && b.slots <= 42);
    EXPECT_EQ(TraceEvent((int)KYMO_TRACE_GIVEBUFFER, b.index), 0);
    EXPECT_EQ(command(_NTO_TRACE_STOP), 0);
    EXPECT_EQ(TraceEvent((int)KYMO_TRACE_SETHIGHWATER, TRACE_HIGH_WATER), 0);
    take_all();
    close_buffers();
}

static const struct check table[] = {
    {"without buffers", t_no_buffers},
    {"no contiguous memory", t_no_memory},
    {"unknown commands", t_unknown},
    {"classes", t_classes},
    {"user events' errors", t_users},
    {"the buffers' owner", t_owner},
    {"flush", t_flush},
    {"hook", t_hook},
    {"high-water mark", t_high_water},
};

int main(void)
{
    ThreadCtl(_NTO_TCTL_RUNMASK, (void *)1);
    SchedYield();
    return check_run("trace", table, COUNT(table));
}

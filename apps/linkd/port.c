/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The functions that lib/linkd/ needs of the system (struct linkd_port), on Kymo: kernel calls, the
 * console server (apps/console/protocol.h), the line (line.h), and lines of start scripts
 * (apps/init/script.h). linkd can give a program only the abilities that it has itself.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/dispatch.h>
#include <sys/mman.h>

#include "abi/sys/dtrace.h"
#include "abi/sys/neutrino.h"
#include "apps/console/protocol.h"
#include "apps/init/script.h"
#include "apps/linkd/line.h"
#include "apps/linkd/process.h"
#include "lib/include/kymo.h"
#include "lib/include/signal.h"

#define PRIORITY_DEFAULT 10                             /* a start script's */
#define YEAR_2000_NS (UINT64_C(946684800) * 1000000000) /* a clock before that counts from boot */

/* ---- the line and the clock -------------------------------------------------------- */

static size_t port_line_read(void *context, uint8_t *bytes, size_t room)
{
    (void)context;
    return linkd_line->read(bytes, room);
}

static size_t port_line_write(void *context, const uint8_t *bytes, size_t count)
{
    (void)context;
    return linkd_line->write(bytes, count);
}

static void port_line_flush(void *context)
{
    (void)context;
    if (linkd_line->flush) {
        linkd_line->flush();
    }
}

static uint32_t linkd_port_now_ms(void *context)
{
    uint64_t ns = 0;

    (void)context;
    ClockTime(CLOCK_MONOTONIC, NULL, &ns);
    return (uint32_t)(ns / 1000000);
}

static void linkd_port_defer_event(void *context, enum linkd_event event)
{
    (void)context;
    MsgSendPulse(linkd_coid, SIGEV_PULSE_PRIO_INHERIT,
                 event == LINKD_EVENT_CONSOLE ? PULSE_CONSOLE : PULSE_CAPTURE, 0);
}

/* A board without a real-time clock takes the host's time. Without the ability `clock` it keeps
 * counting from its start. */
static void linkd_port_set_host_time(void *context, uint64_t ns)
{
    uint64_t own;

    (void)context;
    if (ClockTime(CLOCK_REALTIME, NULL, &own) == 0 && own < YEAR_2000_NS) {
        ClockTime(CLOCK_REALTIME, &ns, NULL);
    }
}

static void linkd_port_report_stranger(void *context, unsigned version)
{
    (void)context;
    printf("linkd: the host's link has version %u, this one %u\n", version, LINK_VERSION);
}

/* ---- capture: a request is an rcvid, a client an scoid ----------------------------- */

static void linkd_port_reply_client(void *context, int request, long status)
{
    (void)context;
    MsgReply(request, status, NULL, 0);
}

static void linkd_port_refuse_client(void *context, int request, int error)
{
    (void)context;
    MsgError(request, error);
}

static long request_read(void *context, int request, void *to, size_t bytes, size_t offset)
{
    (void)context;
    return MsgRead(request, to, bytes, offset);
}

static bool request_waits(void *context, int request)
{
    struct _msg_info info;

    (void)context;
    return MsgInfo(request, &info) == 0;
}

static bool client_exists(void *context, int client)
{
    struct _client_info info;

    (void)context;
    return ConnectClientInfo(client, &info, 0) >= 0;
}

/* ---- console ----------------------------------------------------------------------- */

static int linkd_port_console_coid; /* connection to the console server, 0: none yet */

static int linkd_port_console_open(void *context)
{
    (void)context;
    if (linkd_port_console_coid == 0) {
        int coid = name_open("console", 0);

        if (coid < 0) {
            return -ENOENT;
        }
        linkd_port_console_coid = coid;
    }
    return 0;
}

static long console_read(void *context, uint64_t *position, void *text, size_t room)
{
    const struct console_listen ask = {
        .type = CONSOLE_LISTEN,
        .chid = linkd_chid,
        .code = PULSE_CONSOLE,
        .position = *position,
    };
    struct console_heard heard;
    iov_t send, parts[2];

    (void)context;
    SETIOV(&send, &ask, sizeof(ask));
    SETIOV(&parts[0], &heard, sizeof(heard));
    SETIOV(&parts[1], text, room);
    long count = MsgSendv(linkd_port_console_coid, &send, 1, parts, 2);
    if (count > 0) {
        *position = heard.position;
    }
    return count < 0 ? -errno : count;
}

static int console_type(void *context, const void *text, size_t bytes)
{
    const struct console_listen head = {.type = CONSOLE_TYPE, .bytes = (uint32_t)bytes};
    iov_t parts[2];

    (void)context;
    SETIOV(&parts[0], &head, sizeof(head));
    SETIOV(&parts[1], text, bytes);
    return MsgSendv(linkd_port_console_coid, parts, 2, NULL, 0) < 0 ? -errno : 0;
}

/* ---- dtrace ------------------------------------------------------------------------ */

static int linkd_port_call_dtrace(void *context, struct kymo_d_call *call, const void *in,
                                  void *out)
{
    (void)context;
    return DtraceControl(call, in, out) < 0 ? -errno : 0;
}

static void *linkd_port_memory_map(void *context, size_t bytes)
{
    void *at = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

    (void)context;
    return at == MAP_FAILED ? NULL : at;
}

static void memory_unmap(void *context, void *at, size_t bytes)
{
    (void)context;
    munmap(at, bytes);
}

/* ---- program ----------------------------------------------------------------------- */

static int program_start(void *context, char *text, char *answer, size_t *bytes)
{
    struct line line;
    const char *wrong = line_parse(text, &line);

    (void)context;
    if (!wrong && (line.nwords == 0 || line.background)) {
        wrong = line.nwords ? "& has no meaning here" : "no program";
    }
    if (wrong) {
        *bytes = strlen(wrong);
        memmove(answer, wrong, *bytes);
        return -EINVAL;
    }
    if (line.exceeds) {
        return -EPERM;
    }
    const char *program = line.words[0];
    line.words[0] = line.name ? line.name : program;
    line.attr.priority = line.attr.priority ? line.attr.priority : PRIORITY_DEFAULT;
    line.attr.flags = KYMO_SPAWN_HOLD;
    int pid = kymo_spawn(program, (char *const *)line.words, &line.attr);
    int error = pid < 0 ? -errno : 0;
    if (error == -ENOENT) {
        /* The names are in a file of the image, which scripts/mkcpio.c makes. */
        long count = ImageRead("boot/programs", 0, answer, LINK_PROGRAM_TEXT);

        *bytes = count > 0 ? (size_t)count : 0;
    }
    return error ? error : pid;
}

static int program_run(void *context, int pid)
{
    (void)context;
    return kill(pid, SIGCONT) == 0 ? 0 : -errno;
}

static int program_ended(void *context, int pid, int *status)
{
    (void)context;
    int ended = ProcWait(pid, status, KYMO_WAIT_NOHANG);

    return ended < 0 ? -errno : ended > 0;
}

static void program_disown(void *context, int pid)
{
    (void)context;
    ProcWait(pid, NULL, KYMO_WAIT_DISOWN);
}

/* A process without threads has ended, and exists until its parent collects its status. */
static int program_find(void *context, int from, char *text, size_t *bytes)
{
    struct kymo_proc_info info;
    int pid = ProcInfo(from, &info);

    (void)context;
    while (pid > 0 && (info.nthreads == 0 || (*text && strcmp(info.name, text) != 0))) {
        pid = ProcInfo(pid + 1, &info);
    }
    if (pid < 0) {
        return -errno;
    }
    *bytes = strnlen(info.name, sizeof(info.name));
    memcpy(text, info.name, *bytes);
    return pid;
}

const struct linkd_port linkd_port = {
    .read = port_line_read,
    .write = port_line_write,
    .flush = port_line_flush,
    .now = linkd_port_now_ms,
    .defer = linkd_port_defer_event,
    .host_time = linkd_port_set_host_time,
    .stranger = linkd_port_report_stranger,
    .reply = linkd_port_reply_client,
    .refuse = linkd_port_refuse_client,
    .request_read = request_read,
    .request_waits = request_waits,
    .client_exists = client_exists,
    .console_open = linkd_port_console_open,
    .console_read = console_read,
    .console_type = console_type,
    .dtrace = linkd_port_call_dtrace,
    .memory_map = linkd_port_memory_map,
    .memory_unmap = memory_unmap,
    .program_start = program_start,
    .program_run = program_run,
    .program_ended = program_ended,
    .program_disown = program_disown,
    .program_find = program_find,
};

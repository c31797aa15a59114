/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * linkd: the target's end of the link to the host, lib/linkd/ as a process. Needs the abilities
 * device and interrupt for the line, trace for the service "dtrace", spawn for "program", clock to
 * take the host's time. Sleeps in MsgReceive() until the line, a timer, the console or a program
 * with a capture has an event; except for a line that can only be polled (rtt), nothing polls, and
 * no timer runs while no host is connected. docs/reference/link.md.
 *
 *   linkd [KIND]   over this kind of line; without KIND, over the first of the board's that is
 *                  present
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/dispatch.h>
#include <sys/linkmsg.h>

#include "abi/sys/neutrino.h"
#include "abi/syspage.h"
#include "apps/linkd/line.h"
#include "apps/linkd/process.h"
#include "lib/include/kymo.h"

/* Memory for frames, set by the board's makefile: apps/apps.mk. */
#define FRAME_MOST LINKD_FRAME_MOST
#define WINDOW LINKD_WINDOW

/* The board's kinds, in the order in which they are probed. */
static const struct line_driver *const linkd_line_kinds[] = {LINK_LINES};
#define LINES (sizeof(linkd_line_kinds) / sizeof(linkd_line_kinds[0]))
const struct line_driver *linkd_line;

int linkd_chid, linkd_coid;

static struct linkd linkd_state;
static uint8_t linkd_memory_block[LINKD_MEMORY(FRAME_MOST, WINDOW)];
static int linkd_timer;
static struct kymo_syspage linkd_syspage;
static uint8_t build_id[20];

static int linkd_print_error(const char *what)
{
    printf("linkd: %s: %s\n", what, strerror(errno));
    return -1;
}

static int begin_link(void)
{
    static const struct linkd_service *const services[] = {
        &linkd_dtrace, &linkd_console, &linkd_capture, &linkd_source, &linkd_program, NULL,
    };
    const struct linkd_config config = {
        .port = &linkd_port,
        .services = services,
        .memory = linkd_memory_block,
        .frame_most = FRAME_MOST,
        .window = WINDOW,
        .seed = (uint32_t)ClockCycles(),
        .board = linkd_syspage.board,
        .build_id = build_id,
    };

    if (SyspageRead(0, &linkd_syspage, sizeof(linkd_syspage)) == (long)sizeof(linkd_syspage)) {
        linkd_syspage.board[sizeof(linkd_syspage.board) - 1] = '\0';
        if (linkd_syspage.build_id_len <= sizeof(build_id)) {
            SyspageRead(linkd_syspage.build_id_off, build_id, linkd_syspage.build_id_len);
        }
    }
    return linkd_init(&linkd_state, &config);
}

/* A device that is present but can't be used ends the search: its host would wait in vain. kind:
 * the only one to probe, or NULL. */
static int open_line(const char *kind)
{
    errno = ENODEV;
    for (size_t i = 0; i < LINES; i++) {
        if (kind && strcmp(kind, linkd_line_kinds[i]->name) != 0) {
            continue;
        }
        linkd_line = linkd_line_kinds[i];
        if (linkd_line->open(linkd_coid, PULSE_LINE) == 0) {
            return 0;
        }
        if (errno != ENODEV) {
            break;
        }
    }
    return linkd_print_error(errno == ENODEV ? "no line" : linkd_line->name);
}

static int linkd_open_line(const char *kind)
{
    struct sigevent event;
    name_attach_t *name = kymo_name_attach(LINKMSG_NAME, KYMO_NAME_FLAGS);

    if (!name) {
        return linkd_print_error(LINKMSG_NAME);
    }
    linkd_chid = name->chid;
    linkd_coid = ConnectAttach(0, 0, linkd_chid, _NTO_SIDE_CHANNEL, 0);
    SIGEV_PULSE_INIT(&event, linkd_coid, SIGEV_PULSE_PRIO_INHERIT, PULSE_TIME, 0);
    linkd_timer = TimerCreate(CLOCK_MONOTONIC, &event);
    if (linkd_coid < 0 || linkd_timer < 0) {
        return linkd_print_error("timer");
    }
    if (begin_link() != 0) {
        return linkd_print_error("link");
    }
    return open_line(kind);
}

/* Sends as much as the line takes, then arms the timer for the next due event. */
static void linkd_send_output(void)
{
    uint32_t ms = linkd_output(&linkd_state);
    const struct _itimer when = {ms == LINKD_NO_TIMER ? 0 : ms * UINT64_C(1000000), 0};

    TimerSettime(linkd_timer, 0, &when, NULL);
}

static void linkd_take_pulse(const struct _pulse *pulse)
{
    switch (pulse->code) {
    case PULSE_LINE:
        if (linkd_line->interrupt && linkd_line->interrupt() != LINE_STEADY) {
            linkd_lost(&linkd_state);
        }
        linkd_input(&linkd_state);
        linkd_send_output();
        linkd_line->rearm();
        return;
    case PULSE_CONSOLE:
        linkd_event(&linkd_state, LINKD_EVENT_CONSOLE);
        break;
    case PULSE_CAPTURE:
        linkd_event(&linkd_state, LINKD_EVENT_CAPTURE);
        break;
    case _PULSE_CODE_DISCONNECT:
        linkd_client_gone(&linkd_state, pulse->scoid);
        ConnectDetach(pulse->scoid);
        break;
    default:
        break;
    }
    linkd_send_output();
}

/* Returns whether this kind is one of the board's; if not, prints those. */
static bool is_kind(const char *kind)
{
    for (size_t i = 0; i < LINES; i++) {
        if (strcmp(kind, linkd_line_kinds[i]->name) == 0) {
            return true;
        }
    }
    printf("linkd: no line %s here; there are:", kind);
    for (size_t i = 0; i < LINES; i++) {
        printf(" %s", linkd_line_kinds[i]->name);
    }
    printf("\n");
    return false;
}

int main(int argc, char **argv)
{
    static union {
        struct _pulse pulse;
        uint8_t bytes[sizeof(struct linkmsg) + LINKMSG_PATH_MOST];
    } in;
    struct _msg_info info;

    if (argc > 2) {
        printf("usage: linkd [KIND]\n");
        return 2;
    }
    if (argc == 2 && !is_kind(argv[1])) {
        return 2;
    }
    if (linkd_open_line(argv[1]) != 0) {
        return 1;
    }
    const int own = kymo_own_scoid(linkd_coid);
    linkd_send_output();
    for (;;) {
        int rcvid = MsgReceive(linkd_chid, &in, sizeof(in), &info);

        if (rcvid == 0) {
            /* The console sends this pulse: linkd only reads the console then, whichever process
             * sent it. */
            if (kymo_pulse_trusted(own, &in.pulse) || in.pulse.code == PULSE_CONSOLE) {
                linkd_take_pulse(&in.pulse);
            }
        } else if (rcvid > 0) {
            linkd_request(&linkd_state, rcvid, info.scoid, &in, info.msglen, info.srcmsglen);
            linkd_send_output();
        }
    }
}

/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * linkd: the target's end of the link to the host. Needs the abilities device and interrupt for the
 * line, trace for the service "dtrace". Sleeps in MsgReceive() until the line, a timer, the console
 * or a program with a capture has an event; nothing polls, and no timer runs while no host is
 * connected. Whatever the host sends, linkd continues: a link that is lost or broken takes its
 * channels with it, and the next hello starts over. docs/link.md.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/dispatch.h>
#include <sys/linkmsg.h>

#include "apps/linkd/line.h"
#include "lib/include/kymo.h"
#include "abi/sys/neutrino.h"
#include "abi/syspage.h"
#include "apps/linkd/linkd.h"

/* The board's makefile says how much memory frames get: apps/apps.mk. */
#define FRAME_MOST LINKD_FRAME_MOST
#define WINDOW LINKD_WINDOW

struct link linkd_link;
int linkd_chid, linkd_coid;

static struct link_channel channels[LINKD_CHANNELS];
static uint8_t memory[LINK_MEMORY(FRAME_MOST, WINDOW)];
static int timer;
static struct kymo_syspage page;
static uint8_t build_id[20];

static uint32_t now(void)
{
    uint64_t ns = 0;

    ClockTime(CLOCK_MONOTONIC, NULL, &ns);
    return (uint32_t)(ns / 1000000);
}

static int trouble(const char *what)
{
    printf("linkd: %s: %s\n", what, strerror(errno));
    return -1;
}

static void read_identity(void)
{
    if (SyspageRead(0, &page, sizeof(page)) != (long)sizeof(page)) {
        return;
    }
    page.board[sizeof(page.board) - 1] = '\0';
    if (page.build_id_len <= sizeof(build_id)) {
        SyspageRead(page.build_id_off, build_id, page.build_id_len);
    }
}

static int begin_link(void)
{
    const struct link_config config = {
        .user = &serve_user,
        .memory = memory,
        .channel = channels,
        .frame_most = FRAME_MOST,
        .window = WINDOW,
        .channels = LINKD_CHANNELS,
        .role = LINK_TARGET,
        .seed = (uint32_t)ClockCycles(),
        .board = page.board,
        .build_id = build_id,
    };

    return link_init(&linkd_link, &config, now());
}

static int begin(void)
{
    struct sigevent event;
    name_attach_t *name = kymo_name_attach(LINKMSG_NAME, KYMO_NAME_FLAGS);

    if (!name) {
        return trouble(LINKMSG_NAME);
    }
    linkd_chid = name->chid;
    linkd_coid = ConnectAttach(0, 0, linkd_chid, _NTO_SIDE_CHANNEL, 0);
    SIGEV_PULSE_INIT(&event, linkd_coid, SIGEV_PULSE_PRIO_INHERIT, PULSE_TIME, 0);
    timer = TimerCreate(CLOCK_MONOTONIC, &event);
    if (linkd_coid < 0 || timer < 0) {
        return trouble("timer");
    }
    read_identity();
    if (begin_link() != 0 || link_line.open(linkd_coid, PULSE_LINE) != 0) {
        return trouble(link_line.name);
    }
    return 0;
}

/* Everything that is to go and that the line takes; then the timer, for what is due later. */
static void output(void)
{
    const uint8_t *bytes;
    uint64_t tick = console_tick(now());
    size_t count;

    while ((count = link_output(&linkd_link, now(), &bytes)) > 0) {
        size_t taken = link_line.write(bytes, count);

        link_output_done(&linkd_link, taken);
        if (taken < count) {
            break;
        }
    }
    link_line.flush();
    uint64_t ms = link_wait(&linkd_link, now());
    ms = ms < tick ? ms : tick;
    struct _itimer when = {(ms > 0 ? ms : 1) * 1000000, 0};
    if (!link_is_up(&linkd_link) && ms >= 60000) {
        when.nsec = 0; /* disarmed */
    }
    TimerSettime(timer, 0, &when, NULL);
}

static void input(void)
{
    uint8_t bytes[256];
    size_t count;

    while ((count = link_line.read(bytes, sizeof(bytes))) > 0) {
        link_input(&linkd_link, now(), bytes, count);
    }
}

static void line_pulse(void)
{
    enum line_state state = link_line.interrupt();

    if (state != LINE_STEADY) {
        link_lost(&linkd_link);
    }
    input();
    output();
    link_line.rearm();
}

static void pulse(const struct _pulse *pulse)
{
    switch (pulse->code) {
    case PULSE_LINE:
        line_pulse();
        return;
    case PULSE_CONSOLE:
        console_pulse();
        break;
    case PULSE_CAPTURE:
        capture_pulse();
        break;
    case _PULSE_CODE_DISCONNECT:
        capture_disconnect(pulse->scoid);
        ConnectDetach(pulse->scoid);
        break;
    default:
        break;
    }
    output();
}

int main(void)
{
    static union {
        struct _pulse pulse;
        uint8_t bytes[sizeof(struct linkmsg) + LINKMSG_PATH_MOST];
    } in;
    struct _msg_info info;

    if (begin() != 0) {
        return 1;
    }
    output();
    for (;;) {
        int rcvid = MsgReceive(linkd_chid, &in, sizeof(in), &info);

        if (rcvid == 0) {
            pulse(&in.pulse);
        } else if (rcvid > 0) {
            capture_message(rcvid, &info, &in, info.msglen);
            output();
        }
    }
}

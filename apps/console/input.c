/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * See input.h. CR is a newline; ^D on an empty line ends the file once; ^C drops the line and all
 * unread input, and then either ends a line of the program that requested ^C, if it is reading, or
 * sends it a pulse.
 */
#include "apps/console/input.h"

#include <errno.h>
#include <string.h>

#include "apps/console/edit.h"
#include "apps/io_probe.h"

#ifndef CONSOLE_KEPT
#define CONSOLE_KEPT 4096
#endif
#define KEPT CONSOLE_KEPT
#define READERS 8

static char done[KEPT];  /* finished, not read */
static size_t ready;     /* bytes of it */
static int end_of_files; /* number of ^D typed and not yet reported */

static struct {
    int rcvid, pid;
    size_t bytes;
} readers[READERS];
static size_t nreaders;

/* The receiver of ^C. */
static int interrupts; /* connection to it, 0: none */
static int interrupts_pid, interrupts_chid, interrupts_code;

static size_t line_end(size_t most)
{
    const char *newline = memchr(done, '\n', ready);
    size_t bytes = newline ? (size_t)(newline - done) + 1 : ready;

    return bytes < most ? bytes : most;
}

/* Replies to the first reader. If it is gone, its line stays for the next. */
static void answer(void)
{
    size_t bytes = line_end(readers[0].bytes);
    int gone = MsgReply(readers[0].rcvid, (long)bytes, done, bytes) < 0;

    io_ended((uint32_t)readers[0].bytes, IO_READ, gone ? errno : 0, readers[0].pid, 0);
    nreaders--;
    memmove(readers, readers + 1, nreaders * sizeof(readers[0]));
    if (gone) {
        return;
    }
    if (ready == 0) {
        end_of_files--;
        return;
    }
    ready -= bytes;
    memmove(done, done + bytes, ready);
}

static void serve(void)
{
    while (nreaders > 0 && (ready > 0 || end_of_files > 0)) {
        answer();
    }
}

int input_read(int rcvid, int pid, size_t bytes)
{
    if (nreaders == READERS) {
        return -EAGAIN;
    }
    readers[nreaders].rcvid = rcvid;
    readers[nreaders].pid = pid;
    readers[nreaders].bytes = bytes;
    nreaders++;
    io_started((uint32_t)bytes, IO_READ, pid, 0);
    serve();
    return 0;
}

bool input_full(void)
{
    return ready + EDIT_LINE_MOST + 1 > KEPT;
}

static void finish(edit_echo echo)
{
    size_t bytes;
    const char *line = edit_line(&bytes);

    if (ready + bytes + 1 > KEPT) {
        echo("\a", 1);
        return;
    }
    memcpy(done + ready, line, bytes);
    ready += bytes;
    done[ready++] = '\n';
    edit_begin();
    echo("\n", 1);
    serve();
}

static void interrupts_end(void)
{
    if (interrupts > 0) {
        ConnectDetach(interrupts);
    }
    interrupts = 0;
}

static void interrupt(edit_echo echo)
{
    edit_begin();
    ready = 0;
    end_of_files = 0;
    echo("^C\n", 3);
    if (interrupts == 0) {
        return;
    }
    if (nreaders > 0 && readers[0].pid == interrupts_pid) {
        done[ready++] = '\n';
        serve();
        ready = 0; /* if that reader is gone */
    } else if (MsgSendPulse(interrupts, SIGEV_PULSE_PRIO_INHERIT, interrupts_code, 0) < 0) {
        interrupts_end();
    }
}

void input_char(int c, edit_echo echo)
{
    switch (edit_char(c, echo)) {
    case EDIT_FINISHED:
        finish(echo);
        break;
    case EDIT_INTERRUPT:
        interrupt(echo);
        break;
    case EDIT_END:
        end_of_files++;
        serve();
        break;
    case EDIT_MORE:
        break;
    }
}

int input_interrupts(const struct console_listen *msg, const struct _msg_info *info)
{
    if (interrupts > 0 && info->pid == interrupts_pid && msg->chid == interrupts_chid) {
        return 0;
    }
    int coid = ConnectAttach(0, info->pid, msg->chid, _NTO_SIDE_CHANNEL, 0);
    if (coid < 0) {
        return -errno;
    }
    interrupts_end();
    interrupts = coid;
    interrupts_pid = info->pid;
    interrupts_chid = msg->chid;
    interrupts_code = msg->code;
    return 0;
}

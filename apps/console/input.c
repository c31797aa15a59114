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

static char input_finished[KEPT];    /* finished, not read */
static size_t input_finished_length; /* bytes of it */
static int end_of_files;             /* number of ^D typed and not yet reported */

static struct {
    int rcvid, pid;
    size_t bytes;
} readers[READERS];
static size_t input_nreaders;

/* The receiver of ^C. */
static int input_interrupt_receiver; /* connection to it, 0: none */
static int interrupts_pid, interrupts_chid, interrupts_code;

static size_t input_line_end(size_t most)
{
    const char *newline = memchr(input_finished, '\n', input_finished_length);
    size_t bytes = newline ? (size_t)(newline - input_finished) + 1 : input_finished_length;

    return bytes < most ? bytes : most;
}

/* Replies to the first reader. If it has gone, its line is kept for the next one. */
static void input_answer_reader(void)
{
    size_t bytes = input_line_end(readers[0].bytes);
    int gone = MsgReply(readers[0].rcvid, (long)bytes, input_finished, bytes) < 0;

    io_ended((uint32_t)readers[0].bytes, IO_READ, gone ? errno : 0, readers[0].pid, 0);
    input_nreaders--;
    memmove(readers, readers + 1, input_nreaders * sizeof(readers[0]));
    if (gone) {
        return;
    }
    if (input_finished_length == 0) {
        end_of_files--;
        return;
    }
    input_finished_length -= bytes;
    memmove(input_finished, input_finished + bytes, input_finished_length);
}

static void input_answer_readers(void)
{
    while (input_nreaders > 0 && (input_finished_length > 0 || end_of_files > 0)) {
        input_answer_reader();
    }
}

int input_read(int rcvid, int pid, size_t bytes)
{
    if (input_nreaders == READERS) {
        return -EAGAIN;
    }
    readers[input_nreaders].rcvid = rcvid;
    readers[input_nreaders].pid = pid;
    readers[input_nreaders].bytes = bytes;
    input_nreaders++;
    io_started((uint32_t)bytes, IO_READ, pid, 0);
    input_answer_readers();
    return 0;
}

bool input_full(void)
{
    return input_finished_length + EDIT_LINE_MOST + 1 > KEPT;
}

static void input_finish_line(edit_echo echo)
{
    size_t bytes;
    const char *line = edit_line(&bytes);

    if (input_finished_length + bytes + 1 > KEPT) {
        echo("\a", 1);
        return;
    }
    memcpy(input_finished + input_finished_length, line, bytes);
    input_finished_length += bytes;
    input_finished[input_finished_length++] = '\n';
    edit_begin();
    echo("\n", 1);
    input_answer_readers();
}

static void interrupts_end(void)
{
    if (input_interrupt_receiver > 0) {
        ConnectDetach(input_interrupt_receiver);
    }
    input_interrupt_receiver = 0;
}

static void input_send_interrupt(edit_echo echo)
{
    edit_begin();
    input_finished_length = 0;
    end_of_files = 0;
    echo("^C\n", 3);
    if (input_interrupt_receiver == 0) {
        return;
    }
    if (input_nreaders > 0 && readers[0].pid == interrupts_pid) {
        input_finished[input_finished_length++] = '\n';
        input_answer_readers();
        input_finished_length = 0; /* if that reader is gone */
    } else if (MsgSendPulse(input_interrupt_receiver, SIGEV_PULSE_PRIO_INHERIT, interrupts_code,
                            0) < 0) {
        interrupts_end();
    }
}

void input_char(int c, edit_echo echo)
{
    switch (edit_char(c, echo)) {
    case EDIT_FINISHED:
        input_finish_line(echo);
        break;
    case EDIT_INTERRUPT:
        input_send_interrupt(echo);
        break;
    case EDIT_END:
        end_of_files++;
        input_answer_readers();
        break;
    case EDIT_MORE:
        break;
    }
}

int input_interrupts(const struct console_listen *msg, const struct _msg_info *info)
{
    if (input_interrupt_receiver > 0 && info->pid == interrupts_pid &&
        msg->chid == interrupts_chid) {
        return 0;
    }
    int coid = ConnectAttach(0, info->pid, msg->chid, _NTO_SIDE_CHANNEL, 0);
    if (coid < 0) {
        return -errno;
    }
    interrupts_end();
    input_interrupt_receiver = coid;
    interrupts_pid = info->pid;
    interrupts_chid = msg->chid;
    interrupts_code = msg->code;
    return 0;
}

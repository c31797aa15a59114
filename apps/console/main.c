/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * console: the UART's driver process and the server behind every program's standard files. Needs
 * the abilities device and interrupt. Serves the messages of sys/iomsg.h under the name "console",
 * and protocol.h's, by which linkd shares it with a host; others are answered ENOSYS. Output is
 * written at once, by ConsoleWrite(): the kernel prints on the same console, and keeps both
 * separate.
 */
#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/dispatch.h>
#include <sys/iomsg.h>
#include <sys/stat.h>

#include "apps/console/input.h"
#include "apps/io_probe.h"
#include "apps/console/listen.h"
#include "apps/console/uart.h"
#include "lib/include/kymo.h"
#include "abi/sys/neutrino.h"

#define PULSE_RX 1
#define CHUNK 256

static volatile uint32_t *console_registers;
static int console_interrupt_id;
static bool console_output_held; /* the input is full: the interrupt stays masked */

union message {
    struct _pulse pulse;
    struct {
        struct _io_msg head;
        char data[CHUNK];
    } io;
    struct {
        struct console_listen head;
        char data[CHUNK];
    } listen;
};

static void console_write_text(const char *text, size_t bytes)
{
    while (bytes > 0) {
        long written = ConsoleWrite(text, bytes);

        if (written <= 0) {
            break;
        }
        text += written;
        bytes -= (size_t)written;
    }
    listen_notify();
}

/* Reads in pieces the data that did not come with the first one. The status is the number of bytes
 * written, even if the client's buffer proves to be invalid half way. */
static void console_serve_write(int rcvid, const union message *msg, const struct _msg_info *info)
{
    char piece[CHUNK];
    size_t total = msg->io.head.bytes;
    size_t at = info->msglen - sizeof(msg->io.head);

    io_started((uint32_t)total, IO_WRITE, info->pid, 0);
    at = at < total ? at : total;
    console_write_text(msg->io.data, at);
    while (at < total) {
        size_t left = total - at;
        long got = MsgRead(rcvid, piece, left < CHUNK ? left : CHUNK, sizeof(msg->io.head) + at);

        if (got <= 0) {
            break;
        }
        console_write_text(piece, (size_t)got);
        at += (size_t)got;
    }
    io_ended((uint32_t)total, IO_WRITE, 0, info->pid, 0);
    MsgReply(rcvid, (long)at, NULL, 0);
}

static void serve_stat(int rcvid)
{
    static const struct _io_stat answer = {S_IFCHR | 0666, CHUNK, 0};

    MsgReply(rcvid, 0, &answer, sizeof(answer));
}

static void serve_type(int rcvid, const union message *msg, size_t received)
{
    size_t bytes = received - sizeof(msg->listen.head);

    bytes = bytes < msg->listen.head.bytes ? bytes : msg->listen.head.bytes;
    MsgReply(rcvid, (long)bytes, NULL, 0);
    for (size_t i = 0; i < bytes; i++) {
        input_char((uint8_t)msg->listen.data[i], console_write_text);
    }
}

static void serve_listen(int rcvid, const union message *msg, const struct _msg_info *info)
{
    if (info->msglen < sizeof(msg->listen.head)) {
        MsgError(rcvid, EINVAL);
    } else if (msg->io.head.type == CONSOLE_TYPE) {
        serve_type(rcvid, msg, info->msglen);
    } else if (msg->io.head.type == CONSOLE_INTERRUPTS) {
        int error = input_interrupts(&msg->listen.head, info);

        if (error) {
            MsgError(rcvid, -error);
        } else {
            MsgReply(rcvid, 0, NULL, 0);
        }
    } else {
        listen_message(rcvid, &msg->listen.head, info);
    }
}

/*
 * Takes the device's received characters. Acknowledged first: a character that arrives after the
 * last check raises the interrupt again. While the input is full the device keeps them, with its
 * interrupt masked; under an emulator the sender then waits.
 */
static void console_receive_input(void)
{
    int c;

    console_uart.acknowledge(console_registers);
    while (!input_full() && (c = console_uart.get(console_registers)) >= 0) {
        input_char(c, console_write_text);
    }
    console_output_held = input_full();
}

static void serve_interrupt(void)
{
    console_receive_input();
    if (!console_output_held) {
        InterruptUnmask(console_uart.interrupt, console_interrupt_id);
    }
}

/* Called when a reader has made room. */
static void receive_again(void)
{
    if (console_output_held && !input_full()) {
        serve_interrupt();
    }
}

static void serve_message(int rcvid, const union message *msg, const struct _msg_info *info)
{
    size_t received = info->msglen;
    int error = received < sizeof(msg->io.head) ? EINVAL : 0;

    switch (error ? 0 : msg->io.head.type) {
    case _IO_WRITE:
        console_serve_write(rcvid, msg, info);
        return;
    case _IO_READ:
        error = -input_read(rcvid, info->pid, msg->io.head.bytes);
        receive_again();
        break;
    case _IO_STAT:
        serve_stat(rcvid);
        return;
    case _IO_CONNECT:
    case _IO_CLOSE:
        MsgReply(rcvid, 0, NULL, 0);
        return;
    case CONSOLE_LISTEN:
    case CONSOLE_TYPE:
    case CONSOLE_INTERRUPTS:
        serve_listen(rcvid, msg, info);
        return;
    case _IO_LSEEK:
        error = ESPIPE;
        break;
    default:
        error = error ? error : ENOSYS;
        break;
    }
    if (error) {
        MsgError(rcvid, error);
    }
}

static void console_serve_messages(int chid)
{
    union message msg;
    struct _msg_info info;

    for (;;) {
        int rcvid = MsgReceive(chid, &msg, sizeof(msg), &info);

        if (rcvid > 0) {
            serve_message(rcvid, &msg, &info);
        } else if (rcvid == 0 && msg.pulse.code == PULSE_RX) {
            serve_interrupt();
        } else if (rcvid == 0 && msg.pulse.code == _PULSE_CODE_DISCONNECT) {
            ConnectDetach(msg.pulse.scoid);
        }
    }
}

/* Maps the UART's registers or, where they are ports, gets access to those. 0, or -1 and errno. */
static int open_device(void)
{
    struct kymo_map map = {
        .phys = console_uart.registers,
        .len = console_uart.length,
        .flags = KYMO_MAP_DEVICE | KYMO_PROT_READ | KYMO_PROT_WRITE,
    };

    if (console_uart.length == 0) {
        return ThreadCtl(_NTO_TCTL_IO, 0);
    }
    if (MemMap(&map) < 0) {
        return -1;
    }
    console_registers = (volatile uint32_t *)(uintptr_t)map.vaddr;
    return 0;
}

static int attach_device(int chid)
{
    struct sigevent event;

    if (open_device() < 0) {
        return -1;
    }
    int coid = ConnectAttach(0, 0, chid, _NTO_SIDE_CHANNEL, 0);
    if (coid < 0) {
        return -1;
    }
    SIGEV_PULSE_INIT(&event, coid, SIGEV_PULSE_PRIO_INHERIT, PULSE_RX, 0);
    console_interrupt_id = InterruptAttachEvent(console_uart.interrupt, &event, 0);
    if (console_interrupt_id < 0) {
        return -1;
    }
    console_uart.start(console_registers);
    /* Earlier characters have raised no interrupt, and a UART without a FIFO that holds one
     * receives no more. */
    console_receive_input();
    return 0;
}

int main(void)
{
    name_attach_t *name = kymo_name_attach("console", KYMO_NAME_FLAGS);

    if (!name || attach_device(name->chid) != 0) {
        printf("console: %s: %s\n", console_uart.name,
               errno == EPERM ? "it needs the abilities device and interrupt" : strerror(errno));
        return 1;
    }
    console_serve_messages(name->chid);
}

/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The console server's messages for linkd, which carries the console to a host, and for the shell,
 * in addition to those of sys/iomsg.h. Text has a position: bytes printed on the console since
 * boot.
 */
#ifndef APPS_CONSOLE_PROTOCOL_H
#define APPS_CONSOLE_PROTOCOL_H

#include <stdint.h>

/*
 * Returns the text from `position` on, as much as the reply holds: struct console_heard, then the
 * bytes; status: how many. Text that is too old is left out, as heard.position shows. None yet:
 * status 0, and once there is some, a pulse of code `code` to channel `chid` of the sender.
 */
#define CONSOLE_LISTEN 0x4b31
/* The following bytes are handled as if typed. */
#define CONSOLE_TYPE 0x4b32
/*
 * From now on ^C goes to the sender: if the sender is reading, its read returns an empty line, else
 * a pulse of code `code` is sent to channel `chid` of the sender, each time. The newest sender
 * counts.
 */
#define CONSOLE_INTERRUPTS 0x4b33

struct console_listen {
    uint16_t type; /* CONSOLE_* */
    uint16_t zero;
    int32_t chid, code;
    uint32_t bytes; /* TYPE: that follow */
    uint64_t position;
};

struct console_heard {
    uint64_t position; /* of the first byte that follows */
};

#endif

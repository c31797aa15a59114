/* SPDX-License-Identifier: BSD-2-Clause */
/* The sink "block:NAME" on a board that has no disk: refused. */
#include <errno.h>
#include <stdio.h>

#include "tracelogger/sink.h"

static int sink_block_none_open(const char *name)
{
    (void)name;
    printf("tracelogger: this board has no disk\n");
    errno = ENODEV;
    return -1;
}

const struct sink sink_block = {
    .prefix = "block:",
    .open = sink_block_none_open,
};

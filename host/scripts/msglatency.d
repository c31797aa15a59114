#!/usr/bin/env -S kymo dtrace -s
/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * How long clients wait for replies, by program.
 *
 * Microseconds from MsgSend() to its return, by program, as a
 * histogram, and the longest.
 *
 *   kymo dtrace -s msglatency.d [SECONDS]     default 1
 */
#pragma D option quiet
#pragma D option defaultargs

inline int SECONDS = $1 ? $1 : 1;

syscall::msg_sendv*:entry
/pid != $pid/
{
        self->sent = timestamp;
}

syscall::msg_sendv*:return
/self->sent/
{
        this->us = (timestamp - self->sent) / 1000;
        @us[execname] = quantize(this->us);
        @longest[execname] = max(this->us);
        self->sent = 0;
}

tick-1s
/++seconds >= SECONDS/
{
        exit(0);
}

END
{
        printa("%s: us from send to reply%@d\n", @us);
        printf("%-20s %s\n", "PROGRAM", "LONGEST (us)");
        printa("%-20s %@12d\n", @longest);
}

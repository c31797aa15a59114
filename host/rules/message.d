/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * No thread waits longer than $1 ns for the reply to a message: from MsgSend() to its return, as
 * its caller sees it. A message without a reply at the capture's end is a breach if its time has
 * passed. A thread that ends while it waits has no reply to wait for.
 *
 *   kymo assert --message 2ms FILE
 */
syscall::msg_sendv:entry, syscall::msg_sendvnc:entry
/pid/
{
        sent[pid, tid] = timestamp;
        @due[pid, tid] = sum(timestamp + $1);
}

syscall::msg_sendv:return, syscall::msg_sendvnc:return
/sent[pid, tid]/
{
        @checked = count();
        @due[pid, tid] = sum(-(sent[pid, tid] + $1));
        this->ns = timestamp - sent[pid, tid];
}

syscall::msg_sendv:return, syscall::msg_sendvnc:return
/sent[pid, tid] && this->ns > $1/
{
        printf("%d.%06d ms for the reply to a message", this->ns / 1000000, this->ns % 1000000);
}

syscall::msg_sendv:return, syscall::msg_sendvnc:return
/sent[pid, tid]/
{
        sent[pid, tid] = 0;
}

proc:::lwp-exit
/sent[args[0], args[1]]/
{
        @due[args[0], args[1]] = sum(-(sent[args[0], args[1]] + $1));
        sent[args[0], args[1]] = 0;
}

/* SPDX-License-Identifier: BSD-2-Clause */
/* In retained memory from the boot on: test/board/dretain.py looks at what a crash leaves of it. */
#pragma D option quiet
#pragma D option retain
#pragma D option bufpolicy=ring
#pragma D option bufsize=8k
#pragma D option aggsize=8k

int n[int];

syscall::trace_event:entry, syscall::msg_sendv:entry, profile-97
{
        n[cpu]++;
        printf("record %d %d\n", cpu, n[cpu]);
        @count["count", cpu] = count();
        @sum["sum", cpu] = sum(n[cpu]);
        @average["average", cpu] = avg(n[cpu]);
        @spread[cpu] = quantize(n[cpu]);
}

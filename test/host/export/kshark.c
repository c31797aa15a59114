/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * kshark FILE: what KernelShark's library has of a trace.dat, an event a line: CPU, ns, pid, event;
 * for test/host/export/kernelshark.py. Missed events are lines, too.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include <kernelshark/libkshark.h>

int main(int argc, char **argv)
{
    struct kshark_context *context = NULL;
    struct kshark_entry **rows = NULL;

    if (argc != 2 || !kshark_instance(&context)) {
        return 2;
    }
    int stream = kshark_open(context, argv[1]);
    ssize_t n = stream < 0 ? -1 : kshark_load_entries(context, stream, &rows);

    for (ssize_t i = 0; i < n; i++) {
        char *name = kshark_get_event_name(rows[i]);

        printf("%d %" PRId64 " %d %s\n", rows[i]->cpu, rows[i]->ts, kshark_get_pid(rows[i]), name);
        free(name);
    }
    kshark_free(context);
    return n < 0;
}

/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * pidin: lists processes and threads. `pidin` threads with state; `pidin info` each process's
 * resources; `pidin limits` its resources and limits; `pidin mem` memory objects. A snapshot thread
 * by thread: the system keeps running meanwhile. Processes without threads have ended and wait for
 * their parent (zombies). Tested by the boot suites test and memory.
 */
#include <stdio.h>
#include <string.h>

#include "apps/pidin/print.h"

static void list_threads(const struct kymo_proc_info *proc)
{
    struct kymo_thread_info thread;

    for (int tid = 1; (tid = ThreadInfo(proc->pid, tid, &thread)) > 0; tid++) {
        print_thread(proc, &thread);
    }
    if (proc->nthreads == 0) {
        printf("%6d   - %-20.20s (zombie, status 0x%x)\n", (int)proc->pid, proc->name,
               (unsigned)proc->status_or_zero);
    }
}

static void pidin_list_processes(void (*each)(const struct kymo_proc_info *proc))
{
    struct kymo_proc_info proc;

    for (int pid = 1; (pid = ProcInfo(pid, &proc)) > 0; pid++) {
        each(&proc);
    }
}

static void list_objects(void)
{
    struct kymo_object_info object;

    print_objects_head();
    for (int i = 0; (i = ObjectInfo(KYMO_OBJECT_AT + i, &object)) >= 0; i++) {
        print_object(&object);
    }
}

static const char pidin_help_text[] =
    "usage: pidin [info | limits | mem]\n"
    "  without a word   every thread: priority, state and what it waits for\n"
    "  info             every process: threads, channels, maps, memory, abilities\n"
    "  limits           every process and group: what it holds / may hold; the system's reserve\n"
    "  mem              every memory object: size, memory it takes, its creator and its users\n";

int main(int argc, char **argv)
{
    if (argc > 1 && strcmp(argv[1], "--help") == 0) {
        fputs(pidin_help_text, stdout);
    } else if (argc > 1 && strcmp(argv[1], "info") == 0) {
        print_info_head();
        pidin_list_processes(print_info);
    } else if (argc > 1 && strcmp(argv[1], "limits") == 0) {
        print_limits_head();
        pidin_list_processes(print_limits);
        print_limits_system();
    } else if (argc > 1 && strcmp(argv[1], "mem") == 0) {
        list_objects();
    } else if (argc > 1) {
        fputs(pidin_help_text, stdout);
        return 2;
    } else {
        print_threads_head();
        pidin_list_processes(list_threads);
    }
    return 0;
}

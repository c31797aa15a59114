/* SPDX-License-Identifier: BSD-2-Clause */
/* What one CPU asks another one to do between two of its probe firings, for CPUs that are
 * threads. */
#ifndef TEST_TOOL_THREADS_CROSSCALL_H
#define TEST_TOOL_THREADS_CROSSCALL_H

/* The number of this thread's CPU, which its test sets. */
extern _Thread_local unsigned thread_cpu;

/* Has the CPU call fn(arg), and returns when it has. One caller at a time for each CPU. */
void threads_run_on(unsigned cpu, void (*fn)(void *arg), void *arg);
/* Does what this CPU has been asked to do, if anything. */
void threads_serve(void);
/* Serves until this has been called on all `cpus` CPUs. Once in a process. */
void threads_serve_to_the_end(unsigned cpus);

#endif

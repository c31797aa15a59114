/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What causes every probe of the kernel, once a pass and with arguments that it tells: for
 * test/dtrace/causes.py, which compares them with what D saw. Telling is a kernel call that does
 * nothing, with words in its arguments, which D sees as syscall::nop:entry. All on CPU 0, above
 * every other program, so that nothing comes between.
 */
#ifndef TEST_BOARD_PROGRAMS_CAUSES_H
#define TEST_BOARD_PROGRAMS_CAUSES_H

#include "test/board/programs/check.h"

#define CAUSES_PRIORITY 40

/* A value that the next probes' arguments are compared with. */
void fact(const char *name, uint64_t value);
/* A thread that runs at once, up to where it waits: its priority is one more than the caller's. */
int helper(void *(*func)(void *), void *arg);

/* The steps. Each leaves nothing behind. */
void cause_child(void);
void cause_fault(void);
void cause_kill(void);
void cause_alarm(void);
void cause_taken(void);
void cause_dump(void);
void cause_message(void);
void cause_refused(void);
void cause_pulse(void);
void cause_event(void);
void cause_disconnect(void);
void cause_dead(void);
void cause_unblock(void);
void cause_mutex(void);
void cause_semaphore(void);
void cause_condvar(void);
void cause_join(void);
void cause_sleep(void);
void cause_yield(void);
void cause_remain(void);
void cause_quantum(void);
void cause_timer(void);
void cause_interrupt(void);
void cause_map(void);
void cause_names(void);
void cause_scarce(void);
void cause_places(void);
void cause_user(void);
void cause_calls_1(void);
void cause_calls_2(void);
void cause_calls_3(void);
void cause_calls_4(void);
void cause_calls_5(void);
void cause_spin(void);
void cause_work(void);

#endif

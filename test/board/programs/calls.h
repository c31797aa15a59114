/* SPDX-License-Identifier: BSD-2-Clause */
/* Steps of t_calls.c: kernel calls that succeed, and what their events must have. */
#ifndef TEST_BOARD_PROGRAMS_CALLS_H
#define TEST_BOARD_PROGRAMS_CALLS_H

void calls_messages(void);
void calls_pulses(void);
void calls_connections(void);
void calls_mutexes(void);
void calls_semaphores(void);
void calls_condvars(void);
void calls_timers(void);
void calls_timeouts(void);
void calls_too_late(void);
void calls_in_time(void);
void calls_cancelled(void);
void calls_killed(void);
void calls_clocks(void);
void calls_threads(void);
void calls_scheduling(void);
void calls_processes(void);
void calls_memory(void);
void calls_names(void);

#endif

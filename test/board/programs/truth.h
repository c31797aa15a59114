/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What test programs tell of the events that they cause, for test/board/events.py, which looks into
 * the capture. A step begins with a mark in the trace; what is told after it belongs to it. Told by
 * one thread at a time, when what happened is over: telling is a kernel call too.
 */
#ifndef TEST_BOARD_PROGRAMS_TRUTH_H
#define TEST_BOARD_PROGRAMS_TRUTH_H

#include <stdint.h>

#define TRUTH_MARK 999 /* user event: d0 the number of the step */

void truth_step(void);
/* A line of `kymo print -n`, without its head and with one blank for many; after `fast:` or `wide:`
 * one of that form only, after `never ` one that is not there. A value `within:FIRST:BYTES` is one
 * in that range, BYTES 0: any. */
void truth(const char *format, ...) __attribute__((format(printf, 1, 2)));
/* The same of a text too long for one line of the console: its length and a letter of it. */
void truth_long(const char *head, const char *text);
/* First of all: whose steps follow. */
void truth_begin(const char *program);

/* How an address is printed, of an event whose values all have at most 32 bits. */
#define TRUTH_P "0x%08lx"
#define TRUTH_PTR(p) ((unsigned long)(uintptr_t)(p))

/* How an errno is printed, with its name. */
#define TRUTH_E "%d (%s)"
#define TRUTH_ERROR(error) (error), truth_error_name(error)
const char *truth_error_name(int error);

#endif

/* SPDX-License-Identifier: BSD-2-Clause */
/* The system of test/trace/alone: a clock, a mask, one CPU, a file. */
#ifndef TEST_TRACE_ALONE_ALONE_H
#define TEST_TRACE_ALONE_ALONE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

extern volatile uint32_t alone_ticks; /* the clock: begins shortly before a wrap */
extern bool alone_exit_wanted;        /* the log asks for trace_kernel_exit() */

/* start.c: appends to the capture, through semihosting. */
void alone_write(const void *from, size_t bytes);
/* embedder.cpp: logs an event from a program in C++. */
void alone_cxx_event(uint32_t i);

#endif

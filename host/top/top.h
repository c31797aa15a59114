/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * kymo top: what runs on a target, interval by interval. A D program on the target sums up each
 * interval (script in cmd.c); read.c makes a frame of what it prints, show.c a table of the frame.
 * Names come from the target and are never believed. Proof: test/host/top.
 */
#ifndef HOST_TOP_TOP_H
#define HOST_TOP_TOP_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#define TOP_ENTRIES 262144 /* of an interval; more are counted in left_out */
#define TOP_CPUS 64
#define TOP_IDLE_PID 1 /* its thread n is CPU n - 1's idle thread */
#define TOP_NAME 64

/* A thread in an interval. While a frame is read, one line of the D program about it. */
struct top_row {
    int32_t pid, tid;
    uint64_t cpu_ns; /* it ran, on all CPUs */
    uint64_t runs;   /* times it got a CPU */
    uint64_t sent;   /* messages */
    char name[TOP_NAME];
};

struct top_frame {
    struct top_row *rows;
    unsigned nrows, room;
    unsigned left_out; /* lines that no memory or room was left for */
    uint64_t at_ns,
        before_ns; /* the target's time at the interval's end and beginning; 0: unknown */
    uint64_t interrupts;
    unsigned ncpu; /* CPUs are numbered below this */
    uint64_t cpus; /* that run, one bit per CPU */
    uint64_t idle_ns[TOP_CPUS];
};

enum top_line { TOP_MORE, TOP_WHOLE, TOP_UNKNOWN };
enum top_sort { TOP_BY_CPU, TOP_BY_RUNS, TOP_BY_SENT, TOP_BY_NAME };

/* Takes a line of the D program, without its newline. TOP_WHOLE: the interval is complete, a row a
 * thread, and stays so until the next line. An interval without any sums is joined to the next. */
enum top_line top_frame_line(struct top_frame *frame, const char *line);
void top_frame_sort(struct top_frame *frame, enum top_sort sort);
/* The interval's length in ns; 0: unknown, of the first one. */
uint64_t top_frame_span(const struct top_frame *frame);
void top_frame_free(struct top_frame *frame);

struct top_style {
    const char *target;
    const char *notice; /* the last message of the D program's consumer; NULL: none */
    uint64_t drops;     /* records and keys that were lost so far */
    enum top_sort sort;
    bool is_paused;
    /* The terminal's size; 0: there is none, and nothing is cut. */
    unsigned lines, columns;
    unsigned rows; /* at most; 0: all */
};

void top_show(FILE *to, const struct top_frame *frame, const struct top_style *style);
/* As one JSON object on a line. */
void top_show_json(FILE *to, const struct top_frame *frame, const struct top_style *style);

#endif

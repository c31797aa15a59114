/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A control loop for host/scripts/{malloc,heap,slowloop,follow}.d: `controller [STEPS]` reads a
 * value, filters it, keeps it in a history that grows, and sleeps for a millisecond; each 16th step
 * also sorts what it has. Built without any flag of its own: what the scripts find is in any
 * program.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "lib/include/kymo.h"

enum { STEPS = 400, SORTED_EACH = 16, KEPT_EACH = 4 };

struct sample {
    struct sample *next;
    uint32_t value;
    char text[40];
};

static struct sample *history;
static uint32_t seed = 1;
volatile uint32_t controller_output;
char *volatile controller_frame; /* so that no compiler leaves it out */

__attribute__((noinline)) static uint32_t read_input(void)
{
    char *frame = controller_frame = malloc(64 + seed % 512);
    uint64_t now = 0;

    ClockTime(CLOCK_MONOTONIC, NULL, &now);
    seed = seed * 1664525 + 1013904223;
    if (frame) {
        memset(frame, (int)now, 64);
    }
    free(frame);
    return seed >> 20;
}

__attribute__((noinline)) static void keep(uint32_t value)
{
    struct sample *s = malloc(sizeof(*s));

    if (s) {
        s->value = value;
        snprintf(s->text, sizeof(s->text), "%u", (unsigned)value);
        s->next = history;
        history = s;
    }
}

__attribute__((noinline)) static void sort_history(void)
{
    for (struct sample *a = history; a; a = a->next) {
        for (struct sample *b = a->next; b; b = b->next) {
            if (b->value < a->value) {
                const uint32_t value = a->value;
                a->value = b->value;
                b->value = value;
            }
        }
    }
}

__attribute__((noinline)) static uint32_t filter(uint32_t value)
{
    return controller_output - controller_output / 8 + value / 8;
}

__attribute__((noinline)) static void step(unsigned n)
{
    const uint32_t value = read_input();

    controller_output = filter(value);
    if (n % KEPT_EACH == 0) {
        keep(value);
    }
    if (n % SORTED_EACH == SORTED_EACH - 1) {
        sort_history();
    }
}

int main(int argc, char **argv)
{
    const unsigned steps = argc > 1 ? (unsigned)atoi(argv[1]) : STEPS;

    for (unsigned n = 0; n < steps; n++) {
        step(n);
        usleep(1000);
    }
    return 0;
}

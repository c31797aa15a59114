/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Stacks of every shape, for test/dtrace/stacks.py: recursion, leaves, tail calls, frames whose
 * size is computed, large frames, callbacks of the C library, calls through pointers, calls of the
 * kernel. Two threads do them until they are ended.
 */
#include <alloca.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/neutrino.h>
#include <time.h>

#define SHAPE __attribute__((noinline, noclone))

static volatile unsigned sink;

SHAPE static unsigned leaf(unsigned n)
{
    unsigned sum = 1;

    for (unsigned i = 0; i < n; i++) {
        sum = sum * 33 + i;
    }
    return sum;
}

SHAPE static unsigned tail(unsigned n)
{
    sink += n;
    return leaf(n + 3);
}

SHAPE static unsigned fall(unsigned depth)
{
    unsigned below = depth ? fall(depth - 1) : leaf(60);

    __asm__ volatile(""); /* it is no loop */
    return below * 3 + depth;
}

SHAPE static unsigned odd(unsigned n);

SHAPE static unsigned even(unsigned n)
{
    return n ? odd(n - 1) + sink : tail(n);
}

SHAPE static unsigned odd(unsigned n)
{
    return n ? even(n - 1) * 7 : 1;
}

/* The stack pointer moves by what is computed, in a loop. */
SHAPE static unsigned computed(unsigned n)
{
    unsigned sum = 0;

    for (unsigned i = 1; i < n; i++) {
        char *some = alloca(i * 5);
        memset(some, (int)i, i * 5);
        sum += fall(i % 3) + (unsigned char)some[i];
    }
    return sum;
}

SHAPE static unsigned array(unsigned n)
{
    unsigned values[n];

    for (unsigned i = 0; i < n; i++) {
        values[i] = leaf(i);
    }
    return computed(n / 2) + values[n - 1];
}

SHAPE static unsigned large(unsigned n)
{
    volatile unsigned values[1500];

    values[n] = n;
    return array(n % 7 + 2) + values[n];
}

/* Returns early, before it has made its frame. */
SHAPE static unsigned early(unsigned n)
{
    if (n & 1) {
        return n;
    }
    return fall(2) + leaf(n);
}

SHAPE static unsigned many(unsigned a, unsigned b, unsigned c, unsigned d, unsigned e, unsigned f,
                           unsigned g, unsigned h, unsigned i, unsigned j)
{
    return early(a + j) + early(b + i) * c + d * e + f * g + h;
}

static unsigned (*const shapes[])(unsigned) = {leaf, tail, fall, even, computed, large, early};

SHAPE static unsigned by_pointer(unsigned n)
{
    unsigned sum = 0;

    for (unsigned i = 0; i < sizeof(shapes) / sizeof(*shapes); i++) {
        sum += shapes[i](n % 5 + 1);
    }
    return sum;
}

static int compare(const void *a, const void *b)
{
    const unsigned *x = a, *y = b;

    return (int)(leaf(*x % 4) + *x) - (int)(leaf(*y % 4) + *y);
}

SHAPE static unsigned library(unsigned n)
{
    unsigned values[12];
    char text[80];

    for (unsigned i = 0; i < 12; i++) {
        values[i] = (i * 7919 + n) % 13;
    }
    qsort(values, 12, sizeof(*values), compare);
    snprintf(text, sizeof(text), "%u %s %g", values[3], "library", (double)n / 3);
    return (unsigned)strtoul(text, NULL, 10) + (unsigned)strlen(text);
}

SHAPE static unsigned divides(unsigned n)
{
    volatile unsigned long long big = 0x123456789abcdefull;

    return (unsigned)(big / (n + 3) + big % (n + 7));
}

SHAPE static void waits(void)
{
    struct timespec t = {.tv_nsec = 3000000};

    nanosleep(&t, NULL);
    SchedYield();
}

SHAPE static void work(unsigned n)
{
    for (unsigned i = 0; i < 8; i++) {
        sink += by_pointer(n + i);
    }
    sink += library(n);
    sink += divides(n);
    sink += many(n, n + 1, n + 2, n + 3, 5, 6, 7, 8, 9, n);
    waits();
}

static void *other(void *arg)
{
    for (unsigned n = 0;; n++) {
        work(n);
    }
    return arg;
}

int main(void)
{
    pthread_attr_t attr;
    pthread_t thread;

    pthread_attr_init(&attr);
    pthread_attr_setstacksize(&attr, 32768);
    if (pthread_create(&thread, &attr, other, NULL)) {
        return 1;
    }
    for (unsigned n = 0;; n++) {
        work(n + 1);
    }
}

/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Work of a known number of instructions, for test/board/counters.py.
 *
 * counted THREADS REPEATS TURNS...: each thread, bound to the CPU of its number, executes loops of
 * 2 * TURNS instructions, for each number of turns in order, so often, between two user events of
 * its own: 1 before, 2 after it, with the thread's number and the number of turns.
 * counted switch ROUNDS: a thread sends another one on its CPU ROUNDS messages, with loops of 1000
 * and 3000 turns between them, an event 3 before the first and 4 after the last message.
 */
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include <sys/trace.h>

#include "lib/include/kymo.h"
#include "test/board/programs/check.h"

enum { THREADS_MOST = 8, FIRST = 3 };

static char **words;
static int word_count, repeats;
static unsigned rounds;
static struct link to_server;

/* Two instructions a turn. */
__attribute__((noinline)) void counted_loop(unsigned long turns)
{
    __asm__ volatile("1:\n\tsubs %0, %0, #1\n\tb.ne 1b" : "+r"(turns)::"cc");
}

static void *counts(void *arg)
{
    const unsigned number = (unsigned)(uintptr_t)arg;

    ThreadCtl(_NTO_TCTL_RUNMASK, (void *)(uintptr_t)(1u << number));
    for (int i = 0; i < repeats * (word_count - FIRST); i++) {
        unsigned long turns = strtoul(words[FIRST + i % (word_count - FIRST)], NULL, 0);
        trace_logi(1, number, (unsigned)turns);
        counted_loop(turns);
        trace_logi(2, number, (unsigned)turns);
    }
    return NULL;
}

static void *serves(void *arg)
{
    char text[8];
    int rcvid;

    ThreadCtl(_NTO_TCTL_RUNMASK, (void *)(uintptr_t)1);
    trace_logi(3, 2, 0);
    for (unsigned n = 0; n < rounds; n++) {
        rcvid = MsgReceive(to_server.chid, text, sizeof(text), NULL);
        counted_loop(3000);
        if (n + 1 == rounds) {
            trace_logi(4, 2, rounds);
        }
        MsgReply(rcvid, 0, text, sizeof(text));
    }
    return arg;
}

static void exchange(void)
{
    pthread_t server;
    char text[8] = "";

    ThreadCtl(_NTO_TCTL_RUNMASK, (void *)(uintptr_t)1);
    to_server = make_link(0);
    pthread_create(&server, NULL, serves, NULL);
    trace_logi(3, 1, 0);
    for (unsigned n = 0; n < rounds; n++) {
        counted_loop(1000);
        MsgSend(to_server.coid, text, sizeof(text), text, sizeof(text));
    }
    trace_logi(4, 1, rounds);
    pthread_join(server, NULL);
}

int main(int argc, char **argv)
{
    pthread_t threads[THREADS_MOST];
    unsigned number = argc > 1 ? (unsigned)atoi(argv[1]) : 0;

    if (argc == 3 && strcmp(argv[1], "switch") == 0) {
        rounds = (unsigned)atoi(argv[2]);
        exchange();
        return 0;
    }
    words = argv;
    word_count = argc;
    repeats = argc > FIRST ? atoi(argv[2]) : 0;
    for (unsigned n = 0; n < number && n < THREADS_MOST; n++) {
        pthread_create(&threads[n], NULL, counts, (void *)(uintptr_t)n);
    }
    for (unsigned n = 0; n < number && n < THREADS_MOST; n++) {
        pthread_join(threads[n], NULL);
    }
    return 0;
}

/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Proves the account of losses from a capture alone, without believing any counter of the ring:
 * producers number their events (apps/evstorm: user event P, d1 and d2 the low and high word of
 * 0, 1, 2, …), so what is missing shows as gaps.
 *
 *   count_user_events CAPTURE CPUS P=MADE...
 *
 * CPUS: how many there are (producer P runs on CPU P modulo CPUS); MADE: what P says it made. Every
 * producer must be named: one of whose events none is in the file has lost them all.
 *
 * Exact means: every number from 0 to MADE - 1 comes once at most; per CPU, the numbers missing of
 * the producers bound to it are as many as that CPU's DROPPED events of class USER say; and nothing
 * else of class USER is there. Prints the account; status 0 if it is exact, 1 if not, 2 if it can't
 * be told. Reads any size in one pass, a bit per event. Proved by test/tool/programs/check.
 */
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "trace/slot.h"

#define PRODUCERS 16
#define CPUS 64
#define MOST (UINT64_C(1) << 28) /* events of one producer */

static struct producer {
    uint64_t made, seen, twice;
    uint8_t *bits; /* one for each event, NULL: no such producer */
    int cpu;       /* that it is bound to */
} producers[PRODUCERS];
static uint64_t dropped[CPUS], others, strange;

static void die(const char *what, const char *name)
{
    fprintf(stderr, "count_user_events: %s: %s\n", name, what);
    exit(2);
}

static void take_event(const struct trace_slot *slot)
{
    uint32_t p = TRACE_GET_EVENT(slot->header);
    uint64_t n = (uint64_t)slot->d2 << 32 | slot->d1;
    struct producer *producer = &producers[p % PRODUCERS];

    if (p >= PRODUCERS || producer->bits == NULL || n >= producer->made ||
        TRACE_GET_STRUCT(slot->header) != TRACE_STRUCT_S ||
        producer->cpu != (int)TRACE_GET_CPU(slot->header)) {
        strange++;
    } else if (producer->bits[n / 8] >> (n % 8) & 1) {
        producer->twice++;
    } else {
        producer->bits[n / 8] |= (uint8_t)(1u << (n % 8));
        producer->seen++;
    }
}

static void take_slot(const struct trace_slot *slot)
{
    unsigned class = TRACE_GET_CLASS(slot->header);

    if (class == TRACE_CLASS_USER) {
        take_event(slot);
    } else if (class == TRACE_CLASS_CONTROL &&
               TRACE_GET_EVENT(slot->header) == TRACE_CONTROL_DROPPED &&
               (slot->d1 & 0xff) == TRACE_CLASS_USER) {
        dropped[TRACE_GET_CPU(slot->header)] += slot->d2;
    } else {
        others++;
    }
}

/* Leaves the file at its first slot: attributes, then as many bytes as TRACE_SYSPAGE_LEN says. */
static void skip_header(FILE *f, const char *name)
{
    static char text[65536];
    size_t n = fread(text, 1, sizeof(text) - 1, f);
    const char *end = NULL, *len = NULL;

    for (size_t i = 0; i + 18 <= n; i++) {
        if (len == NULL && memcmp(text + i, "TRACE_SYSPAGE_LEN:", 18) == 0) {
            len = text + i + 19;
        }
        if (end == NULL && memcmp(text + i, "TRACE_HEADER_END::", 18) == 0) {
            end = text + i + 18;
        }
    }
    if (end == NULL || len == NULL || len > end) {
        die("no capture", name);
    }
    if (fseek(f, (end - text) + strtol(len, NULL, 10), SEEK_SET) != 0) {
        die("too short", name);
    }
}

/* `P=MADE` of the command line. */
static void add_producer(const char *text, int cpus)
{
    char *rest;
    unsigned long p = strtoul(text, &rest, 10);
    uint64_t made = rest != text && *rest == '=' ? strtoull(rest + 1, &rest, 10) : MOST;

    if (p >= PRODUCERS || made >= MOST || *rest != '\0' || producers[p].bits != NULL) {
        die("not PRODUCER=MADE", text);
    }
    producers[p].made = made;
    producers[p].cpu = (int)p % cpus;
    producers[p].bits = calloc(1, made / 8 + 1);
    if (producers[p].bits == NULL) {
        die("no memory", text);
    }
}

/* What is missing of the producers of one CPU. */
static uint64_t missing_on(int cpu)
{
    uint64_t missing = 0;

    for (unsigned p = 0; p < PRODUCERS; p++) {
        if (producers[p].bits != NULL && producers[p].cpu == cpu) {
            missing += producers[p].made - producers[p].seen;
        }
    }
    return missing;
}

static bool producers_exact(void)
{
    bool exact = strange == 0;

    for (unsigned p = 0; p < PRODUCERS; p++) {
        const struct producer *producer = &producers[p];

        if (producer->bits != NULL) {
            printf("producer %u cpu %d: made %" PRIu64 " in file %" PRIu64 " twice %" PRIu64 "\n",
                   p, producer->cpu, producer->made, producer->seen, producer->twice);
            exact &= producer->twice == 0;
        }
    }
    return exact;
}

static bool cpus_exact(void)
{
    bool exact = true;

    for (int cpu = 0; cpu < CPUS; cpu++) {
        uint64_t missing = missing_on(cpu);

        if (missing != 0 || dropped[cpu] != 0) {
            printf("cpu %d: missing %" PRIu64 " DROPPED %" PRIu64 "\n", cpu, missing, dropped[cpu]);
            exact &= missing == dropped[cpu];
        }
    }
    return exact;
}

static int account(void)
{
    uint64_t made = 0, seen = 0, lost = 0;
    bool exact = producers_exact() & cpus_exact();

    for (unsigned p = 0; p < PRODUCERS; p++) {
        made += producers[p].made;
        seen += producers[p].seen;
    }
    for (int cpu = 0; cpu < CPUS; cpu++) {
        lost += dropped[cpu];
    }
    exact &= made == seen + lost;
    printf("made %" PRIu64 " = in file %" PRIu64 " + DROPPED %" PRIu64 ": %s (%" PRIu64
           " other events, %" PRIu64 " strange)\n",
           made, seen, lost, exact ? "exact" : "NOT EXACT", others, strange);
    return exact ? 0 : 1;
}

int main(int argc, char **argv)
{
    static struct trace_slot slots[1024];
    size_t n;
    FILE *f = argc > 3 ? fopen(argv[1], "rb") : NULL;
    int cpus = argc > 3 ? atoi(argv[2]) : 0;

    if (argc <= 3) {
        die("count_user_events CAPTURE CPUS P=MADE...", "usage");
    }
    if (f == NULL || cpus < 1 || cpus > CPUS) {
        die(f == NULL ? "can't read" : "how many CPUs?", argv[f == NULL ? 1 : 2]);
    }
    for (int i = 3; i < argc; i++) {
        add_producer(argv[i], cpus);
    }
    skip_header(f, argv[1]);
    while ((n = fread(slots, sizeof(slots[0]), sizeof(slots) / sizeof(slots[0]), f)) != 0) {
        for (size_t i = 0; i < n; i++) {
            take_slot(&slots[i]);
        }
    }
    return account();
}

/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Proves the account of losses from a capture alone, without believing any counter of the ring:
 * producers number their events (apps/evstorm: user event P, d1 and d2 the low and high word of
 * 0, 1, 2, …), so what is missing shows as gaps.
 *
 *   count_user_events CAPTURE CPUS [P=MADE]...
 *
 * CPUS: how many there are (producer P runs on CPU P modulo CPUS); MADE: what P says it made.
 *
 * Exact means: no number comes twice; per CPU, the numbers missing of the producers bound to it are
 * as many as that CPU's DROPPED events of class USER say; and nothing else of class USER is there.
 * Prints the account; status 0 if it is exact. Reads any size in one pass, a bit per event.
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
    uint64_t made, seen, twice, most; /* most: highest number + 1 */
    uint8_t *bits;
    int cpu; /* that it is bound to */
    bool told;
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

    if (p >= PRODUCERS || n >= MOST || TRACE_GET_STRUCT(slot->header) != TRACE_STRUCT_S) {
        strange++;
        return;
    }
    if (producer->bits == NULL && (producer->bits = calloc(1, MOST / 8)) == NULL) {
        die("no memory", "producer");
    }
    if (producer->cpu != (int)TRACE_GET_CPU(slot->header)) {
        strange++; /* they are bound to their CPUs */
    }
    producer->twice += producer->bits[n / 8] >> (n % 8) & 1;
    producer->bits[n / 8] |= (uint8_t)(1u << (n % 8));
    producer->seen++;
    producer->most = n + 1 > producer->most ? n + 1 : producer->most;
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

/* What is missing of the producers of one CPU. */
static uint64_t missing_on(int cpu)
{
    uint64_t missing = 0;

    for (unsigned p = 0; p < PRODUCERS; p++) {
        const struct producer *producer = &producers[p];
        uint64_t made = producer->told ? producer->made : producer->most;

        if (producer->cpu == cpu) {
            missing += made - producer->seen;
        }
    }
    return missing;
}

static bool print_producers(void)
{
    bool good = strange == 0;

    for (unsigned p = 0; p < PRODUCERS; p++) {
        const struct producer *producer = &producers[p];

        if (producer->seen != 0 || producer->told) {
            printf("producer %u cpu %d: made %" PRIu64 " in file %" PRIu64 " twice %" PRIu64 "\n",
                   p, producer->cpu, producer->told ? producer->made : producer->most,
                   producer->seen, producer->twice);
            good &= producer->twice == 0 && (!producer->told || producer->most <= producer->made);
        }
    }
    return good;
}

int main(int argc, char **argv)
{
    FILE *f = argc > 2 ? fopen(argv[1], "rb") : NULL;
    int cpus = argc > 2 ? atoi(argv[2]) : 0;
    uint64_t made = 0, seen = 0, lost = 0;
    struct trace_slot slot;
    bool good;

    if (f == NULL || cpus < 1 || cpus > CPUS) {
        die("can't read", argc > 1 ? argv[1] : "usage: count_user_events CAPTURE CPUS [P=MADE]...");
    }
    for (unsigned p = 0; p < PRODUCERS; p++) {
        producers[p].cpu = (int)p % cpus;
    }
    for (int i = 3; i < argc; i++) {
        char *rest;
        unsigned long p = strtoul(argv[i], &rest, 10);

        if (p >= PRODUCERS || *rest != '=') {
            die("not PRODUCER=MADE", argv[i]);
        }
        producers[p].told = true;
        producers[p].made = strtoull(rest + 1, NULL, 10);
    }
    skip_header(f, argv[1]);
    while (fread(&slot, sizeof(slot), 1, f) == 1) {
        take_slot(&slot);
    }
    good = print_producers();
    for (int cpu = 0; cpu < CPUS; cpu++) {
        uint64_t missing = missing_on(cpu);

        if (missing != 0 || dropped[cpu] != 0) {
            printf("cpu %d: missing %" PRIu64 " DROPPED %" PRIu64 "\n", cpu, missing, dropped[cpu]);
            good &= missing == dropped[cpu];
        }
        lost += dropped[cpu];
    }
    for (unsigned p = 0; p < PRODUCERS; p++) {
        made += producers[p].told ? producers[p].made : producers[p].most;
        seen += producers[p].seen;
    }
    printf("made %" PRIu64 " = in file %" PRIu64 " + DROPPED %" PRIu64 ": %s (%" PRIu64
           " other events, %" PRIu64 " strange)\n",
           made, seen, lost, good && made == seen + lost ? "exact" : "NOT EXACT", others, strange);
    return good && made == seen + lost ? 0 : 1;
}

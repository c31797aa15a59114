/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Prints findings as text or as JSON, a line each. Names and texts of a capture may hold anything:
 * they are escaped. See diagnose.h; docs/guide/diagnose.md has the fields.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "host/diagnose/diagnose.h"
#include "host/escape.h"
#include "host/json_text.h"
#include "host/kymo.h"

/* A line's text without control characters; for free(). */
static char *diagnose_out_plain(const char *text)
{
    size_t n = strlen(text);
    char *to = kymo_memory(malloc(ESCAPE_MOST(n) + 1));

    to[escape_line(text, n, to)] = '\0';
    return to;
}

static void diagnose_out_string(const char *key, const char *text)
{
    printf(",\"%s\":", key);
    json_put(stdout, text);
}

static void diagnose_out_why(const struct finding *f, const char *path, char *to, size_t room)
{
    snprintf(to, room, "%s %s", f->why, path);
}

void diagnose_json(const struct diagnosis_result *result, const char *path)
{
    char why[4352];

    for (unsigned i = 0; i < result->count; i++) {
        const struct finding *f = &result->findings[i];

        printf("{\"finding\":\"%s\",\"confidence\":\"%s\",\"harm\":%" PRId64
               ",\"unit\":\"%s\",\"count\":%" PRIu64 ",\"from\":%" PRId64 ",\"to\":%" PRId64,
               finding_name(f->kind), finding_confidence(f->kind), f->harm, finding_unit(f->kind),
               f->count, f->from, f->to);
        if (f->cpu >= 0) {
            printf(",\"cpu\":%" PRId32, f->cpu);
        }
        if (f->pid >= 0) {
            printf(",\"pid\":%" PRId32, f->pid);
            if (f->tid >= 0) {
                printf(",\"tid\":%" PRId32, f->tid);
            }
            diagnose_out_string("process", f->name);
        }
        diagnose_out_string("title", finding_title(f->kind));
        diagnose_out_string("text", f->text);
        if (f->why[0]) {
            diagnose_out_why(f, path, why, sizeof(why));
            diagnose_out_string("why", why);
        }
        printf(",\"guide\":\"docs/guide/diagnose.md#%s\"}\n", finding_name(f->kind));
    }
    for (unsigned kind = 0; kind < FINDINGS; kind++) {
        if (result->untold[kind].reason[0]) {
            printf("{\"untold\":\"%s\"", finding_name(kind));
            diagnose_out_string("reason", result->untold[kind].reason);
            diagnose_out_string("remedy", result->untold[kind].remedy);
            puts("}");
        }
    }
}

static void diagnose_out_finding(const struct finding *f, const char *path)
{
    char *text = diagnose_out_plain(f->text), why[4352];

    printf("%" PRId64 ".%06" PRId64 " %s: %s", f->from / 1000000000, f->from / 1000 % 1000000,
           finding_name(f->kind), text);
    free(text);
    if (f->count > 1) {
        printf(" (and %" PRIu64 " more)", f->count - 1);
    }
    putchar('\n');
    if (f->why[0]) {
        diagnose_out_why(f, path, why, sizeof(why));
        text = diagnose_out_plain(why);
        printf("    %s\n", text);
        free(text);
    }
}

/* Kinds that cannot be told for the same reason have one line, in the place of the first. */
static void diagnose_out_untold(const struct diagnosis_result *result, unsigned first)
{
    const struct untold *u = &result->untold[first];

    for (unsigned kind = 0; kind < FINDINGS; kind++) {
        const struct untold *other = &result->untold[kind];

        if (strcmp(u->reason, other->reason) == 0 && strcmp(u->remedy, other->remedy) == 0) {
            if (kind < first) {
                return; /* it had its line */
            }
            printf("%s%s", kind == first ? "" : ", ", finding_name(kind));
        }
    }
    printf(": can't tell: %s; %s\n", u->reason, u->remedy);
}

void diagnose_text(const struct diagnosis_result *result, const char *path)
{
    for (unsigned i = 0; i < result->count; i++) {
        diagnose_out_finding(&result->findings[i], path);
    }
    for (unsigned kind = 0; kind < FINDINGS; kind++) {
        if (result->untold[kind].reason[0]) {
            diagnose_out_untold(result, kind);
        }
    }
    if (result->count == 0) {
        puts("no finding");
    }
}

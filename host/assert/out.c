/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Output of `kymo assert`: breaches and verdicts as text or as JSON, and the JUnit XML file. Texts
 * of a capture may hold anything: they are escaped (host/escape.h), then for XML or JSON. See
 * assert.h.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "host/assert/assert.h"
#include "host/escape.h"
#include "host/kymo.h"
#include "host/output.h"
#include "host/when.h"

static const char *const assert_verdict_names[] = {"kept", "breached", "undecided"};

/* Printable text; for free(). */
static char *assert_plain_text(const char *text)
{
    size_t n = strlen(text);
    char *to = malloc(ESCAPE_MOST(n) + 1);

    if (!to) {
        kymo_no_memory();
    }
    to[escape_whole(text, n, to)] = '\0';
    return to;
}

/* A time of the trace clock since the capture's start, as other commands print it. */
static int64_t since_start(const struct assertion *a, uint64_t ns)
{
    unsigned __int128 cycles = ((unsigned __int128)ns * a->hz + 999999999u) / 1000000000u;

    return kymo_when_ns((uint64_t)cycles, a->start, a->hz);
}

/* In seconds, as --from of other commands takes it. */
static void time_text(int64_t at, char to[32])
{
    uint64_t size = at < 0 ? 0 - (uint64_t)at : (uint64_t)at;

    snprintf(to, 32, "%s%" PRIu64 ".%09" PRIu64, at < 0 ? "-" : "", size / 1000000000,
             size % 1000000000);
}

/* ---- JSON -------------------------------------------------------------------------- */

static void put_json(FILE *out, const char *text)
{
    char *clean = assert_plain_text(text);

    putc('"', out);
    for (const char *at = clean; *at; at++) {
        if (*at == '"' || *at == '\\') {
            putc('\\', out);
        }
        if (*at == '\n' || *at == '\t') {
            fputs(*at == '\n' ? "\\n" : "\\t", out);
        } else {
            putc(*at, out);
        }
    }
    putc('"', out);
    free(clean);
}

/* The command that shows a breach's cause, for free(). */
static char *breach_why(const struct assertion *a, const struct breach *b)
{
    char *why = NULL;

    if (asprintf(&why, "%s %s", b->why, a->path) < 0) {
        kymo_no_memory();
    }
    return why;
}

static void breach_json(const struct assertion *a, const struct rule *rule, const struct breach *b,
                        const char *time, int64_t ns)
{
    fputs("{\"rule\":", stdout);
    put_json(stdout, rule->name);
    printf(",\"time\":\"%s\",\"ns\":%" PRId64, time, ns);
    if (b->cpu >= 0) {
        printf(",\"cpu\":%" PRId32, b->cpu);
    }
    if (b->pid != 0) {
        printf(",\"pid\":%" PRId32 ",\"tid\":%" PRId32 ",\"process\":", b->pid, b->tid);
        put_json(stdout, b->name);
    }
    fputs(",\"text\":", stdout);
    put_json(stdout, b->text);
    printf(",\"values\":[%s]", b->values);
    if (b->why[0]) {
        char *why = breach_why(a, b);

        fputs(",\"why\":", stdout);
        put_json(stdout, why);
        free(why);
    }
    puts("}");
}

static void verdict_json(const struct rule *rule)
{
    fputs("{\"rule\":", stdout);
    put_json(stdout, rule->name);
    printf(",\"verdict\":\"%s\",\"breaches\":%" PRIu64, assert_verdict_names[judge_verdict(rule)],
           rule->breaches);
    if (rule->has_checked) {
        printf(",\"checked\":%" PRIu64, rule->checked);
    }
    if (rule->reasons[0]) {
        fputs(",\"reasons\":", stdout);
        put_json(stdout, rule->reasons);
    }
    puts("}");
}

/* ---- text -------------------------------------------------------------------------- */

/* A breach as a line, for free(). */
static char *breach_line(const struct rule *rule, const struct breach *b, const char *time)
{
    char cpu[16] = "", who[BREACH_NAME + 32] = "", *line = NULL;

    if (b->cpu >= 0) {
        snprintf(cpu, sizeof(cpu), " CPU %" PRId32, b->cpu);
    }
    if (b->pid != 0) {
        snprintf(who, sizeof(who), " %s[%" PRId32 ".%" PRId32 "]", *b->name ? b->name : "?", b->pid,
                 b->tid);
    }
    if (asprintf(&line, "%s%s%s %s: %s", time, cpu, who, rule->name, b->text) < 0) {
        kymo_no_memory();
    }
    char *clean = assert_plain_text(line);
    free(line);
    return clean;
}

void out_breach(struct assertion *a, struct rule *rule, const struct breach *b)
{
    char time[32];
    bool keeps = a->junit && rule->breaches < RULE_KEPT;
    int64_t ns = since_start(a, b->ns);

    time_text(ns, time);
    char *line = a->json && !keeps ? NULL : breach_line(rule, b, time);
    kymo_progress_end();
    if (a->json) {
        breach_json(a, rule, b, time, ns);
    } else if (!a->quiet) {
        puts(line);
        if (b->why[0]) {
            char *why = breach_why(a, b), *plain = assert_plain_text(why);

            printf("    %s\n", plain);
            free(plain);
            free(why);
        }
    }
    if (keeps) {
        rule->kept[rule->breaches] = line;
    } else {
        free(line);
    }
    rule->breaches++;
}

static void verdict_text(const struct rule *rule, FILE *out)
{
    enum verdict verdict = judge_verdict(rule);
    char *name = assert_plain_text(rule->name), *reasons = assert_plain_text(rule->reasons);

    fprintf(out, "%s: %s", name,
            verdict == VERDICT_UNDECIDED  ? "can't tell"
            : verdict == VERDICT_BREACHED ? "breached"
                                          : "kept");
    if (verdict == VERDICT_BREACHED) {
        fprintf(out, ", %" PRIu64 " breach%s", rule->breaches, rule->breaches == 1 ? "" : "es");
    }
    if (rule->has_checked) {
        fprintf(out, ", %" PRIu64 " checked", rule->checked);
    }
    if (rule->reasons[0]) {
        fprintf(out, "%s: %s", verdict == VERDICT_BREACHED ? ", and there may be more" : "",
                reasons);
    }
    putc('\n', out);
    free(name);
    free(reasons);
}

void out_verdict(const struct assertion *a, const struct rule *rule)
{
    if (a->json) {
        verdict_json(rule);
    } else if (!a->quiet || judge_verdict(rule) != VERDICT_KEPT) {
        verdict_text(rule, stdout);
    }
}

static void assert_count_verdicts(const struct assertion *a, unsigned n[3])
{
    for (unsigned i = 0; i < a->nrules; i++) {
        n[judge_verdict(&a->rules[i])]++;
    }
}

int out_end(const struct assertion *a)
{
    unsigned n[3] = {0};
    bool bad;

    assert_count_verdicts(a, n);
    bad = n[VERDICT_BREACHED] || n[VERDICT_UNDECIDED];
    if (bad) {
        kymo_error("%s: of %u rule%s %u kept, %u breached, %u undecided", a->path, a->nrules,
                   a->nrules == 1 ? "" : "s", n[VERDICT_KEPT], n[VERDICT_BREACHED],
                   n[VERDICT_UNDECIDED]);
    }
    return bad ? KYMO_FAILURE : KYMO_OK;
}

/* ---- JUnit ------------------------------------------------------------------------- */

static void put_xml(FILE *out, const char *text)
{
    char *clean = assert_plain_text(text);

    for (const char *at = clean; *at; at++) {
        switch (*at) {
        case '&':
            fputs("&amp;", out);
            break;
        case '<':
            fputs("&lt;", out);
            break;
        case '>':
            fputs("&gt;", out);
            break;
        case '"':
            fputs("&quot;", out);
            break;
        case '\n':
            fputs("&#10;", out);
            break;
        default:
            putc(*at, out);
        }
    }
    free(clean);
}

static void put_rule(FILE *out, const struct rule *rule)
{
    enum verdict verdict = judge_verdict(rule);

    fputs("  <testcase classname=\"kymo.assert\" name=\"", out);
    put_xml(out, rule->name);
    if (verdict == VERDICT_KEPT) {
        fputs("\"/>\n", out);
        return;
    }
    fputs(verdict == VERDICT_BREACHED ? "\">\n    <failure type=\"breach\" message=\""
                                      : "\">\n    <error type=\"undecided\" message=\"",
          out);
    if (verdict == VERDICT_BREACHED) {
        fprintf(out, "%" PRIu64 " breach%s%s", rule->breaches, rule->breaches == 1 ? "" : "es",
                rule->reasons[0] ? ", and there may be more: " : "");
    }
    put_xml(out, rule->reasons);
    fputs("\">", out);
    for (unsigned i = 0; i < RULE_KEPT && rule->kept[i]; i++) {
        put_xml(out, rule->kept[i]);
        putc('\n', out);
    }
    if (rule->breaches > RULE_KEPT) {
        fprintf(out, "and %" PRIu64 " more\n", rule->breaches - RULE_KEPT);
    }
    fputs(verdict == VERDICT_BREACHED ? "</failure>\n  </testcase>\n" : "</error>\n  </testcase>\n",
          out);
}

bool out_junit(const struct assertion *a)
{
    struct output output;
    unsigned n[3] = {0};
    FILE *out;

    if (output_open(&output, a->junit, OUTPUT_REPLACE) != 0) {
        return false;
    }
    out = output_stream(&output);
    if (!out) {
        output_abandon(&output);
        return false;
    }
    assert_count_verdicts(a, n);
    fputs("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuite name=\"kymo assert ", out);
    put_xml(out, a->path);
    fprintf(out, "\" tests=\"%u\" failures=\"%u\" errors=\"%u\">\n", a->nrules, n[VERDICT_BREACHED],
            n[VERDICT_UNDECIDED]);
    for (unsigned i = 0; i < a->nrules; i++) {
        put_rule(out, &a->rules[i]);
    }
    fputs("</testsuite>\n", out);
    return output_commit(&output) == 0;
}

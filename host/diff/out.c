/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Prints what changed, as tables or as JSON, and the verdicts on limits. Names are of captures, and
 * escaped. The same captures, options and seed give the same bytes. See diff.h.
 */
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "host/diff/diff.h"
#include "host/escape.h"
#include "host/json_text.h"
#include "host/kymo.h"

enum { NAME_MOST = 460, NAME_COLUMNS = 44, TEXT_ROOM = 48 };

static const char *const verdict_names[DIFF_VERDICTS] = {
    "same", "changed", "new", "gone", "too few", "undecided",
};
static const char *const diff_out_limit_names[] = {"kept", "breached", "undecided"};

/* ---- text -------------------------------------------------------------------------- */

/* A name in a line of its own. */
static char *diff_out_plain_name(const char *name, char text[ESCAPE_MOST(NAME_MOST) + 1])
{
    size_t length = strlen(name);

    text[escape_line(name, length < NAME_MOST ? length : NAME_MOST, text)] = '\0';
    return text;
}

static const char *value_text(const struct diff_result *result, unsigned side, char text[TEXT_ROOM])
{
    static const char *const units[] = {"ns", "us", "ms", "s"};
    double value = result->value[side];
    unsigned unit = 0;

    if (result->series->part[side].captures == 0) {
        snprintf(text, TEXT_ROOM, "-");
    } else if (isinf(value)) {
        snprintf(text, TEXT_ROOM, "no end");
    } else if (result->metric == DIFF_SUM) {
        snprintf(text, TEXT_ROOM, result->series->kind == DIFF_CPU ? "%.2f %%" : "%.2f/s",
                 result->series->kind == DIFF_CPU ? 100 * value : value);
    } else {
        for (; value >= 10000 && unit < 3; unit++) {
            value /= 1000;
        }
        snprintf(text, TEXT_ROOM, unit == 0 ? "%.0f %s" : "%.1f %s", value, units[unit]);
    }
    return text;
}

static const char *change_text(double change, char text[TEXT_ROOM])
{
    double percent = 100 * expm1(change);

    if (isinf(change)) {
        snprintf(text, TEXT_ROOM, "%s", change < 0 ? "-100 %" : "any");
    } else {
        snprintf(text, TEXT_ROOM, fabs(percent) < 100 ? "%+.1f %%" : "%+.0f %%", percent);
    }
    return text;
}

static void result_put(const struct diff_result *result)
{
    char name[ESCAPE_MOST(NAME_MOST) + 1], a[TEXT_ROOM], b[TEXT_ROOM], c[TEXT_ROOM], low[TEXT_ROOM],
        high[TEXT_ROOM];
    static const char *const metrics[] = {"", " p50", " p90", " p99"};
    size_t length = strlen(diff_out_plain_name(result->series->name, name));

    if (result->metric != DIFF_SUM) {
        snprintf(name + length, sizeof(name) - length, "%s", metrics[result->metric]);
    } else if (result->series->kind == DIFF_MESSAGE || result->series->kind == DIFF_INTERRUPT) {
        snprintf(name + length, sizeof(name) - length, " rate");
    }
    printf("  %-*s %12s %12s", NAME_COLUMNS, name, value_text(result, 0, a),
           value_text(result, 1, b));
    if (result->verdict == DIFF_SAME || result->verdict == DIFF_CHANGED) {
        printf(" %9s  %s ... %s", change_text(result->change, c), change_text(result->low, low),
               change_text(result->high, high));
    } else {
        printf(" %9s", verdict_names[result->verdict]);
    }
    if (result->verdict == DIFF_SAME) {
        printf("  same");
    }
    printf(result->reason[0] != '\0' ? "  (%s)\n" : "\n",
           diff_out_plain_name(result->reason, name));
}

static bool diff_out_is_shown(const struct diff *diff, const struct diff_result *result)
{
    return diff->all || result->verdict == DIFF_CHANGED || result->verdict == DIFF_NEW ||
           result->verdict == DIFF_GONE;
}

static void kind_put(const struct diff *diff, enum diff_kind kind)
{
    static const char *const titles[DIFF_KINDS] = {
        "CPU by thread, percent of one CPU",
        "Messages, from send to reply",
        "Interrupts, from entry to exit",
        "Events a second",
    };
    bool titled = false;

    for (size_t i = 0; i < diff->nresults; i++) {
        if (diff->results[i].series->kind != kind || !diff_out_is_shown(diff, &diff->results[i])) {
            continue;
        }
        if (!titled) {
            printf("\n%-*s %12s %12s %9s  %s\n", NAME_COLUMNS + 2, titles[kind], "A", "B", "change",
                   "interval");
            titled = true;
        }
        result_put(&diff->results[i]);
    }
}

static void sides_put(const struct diff *diff)
{
    char text[ESCAPE_MOST(NAME_MOST) + 1];

    for (unsigned side = 0; side < 2; side++) {
        for (unsigned i = 0; i < diff->side[side].ncaptures; i++) {
            const struct diff_capture *capture = &diff->side[side].captures[i];

            printf("%c  %s", "AB"[side], diff_out_plain_name(capture->path, text));
            printf("  %s, %u CPU%s, %.6f s, %.1f %% covered\n",
                   diff_out_plain_name(capture->board, text), capture->cpus,
                   capture->cpus == 1 ? "" : "s", capture->seconds,
                   capture->seconds > 0 ? 100 * capture->covered / capture->seconds : 0);
        }
    }
    printf("Intervals of %g %%, %u resamples of %u blocks, seed %" PRIu64 "\n",
           100 * diff->confidence, diff->resamples, diff->blocks, diff->seed);
}

static const struct diff_result *first_of(const struct diff *diff, enum diff_verdict verdict)
{
    for (size_t i = 0; i < diff->nresults; i++) {
        if (diff->results[i].verdict == verdict) {
            return &diff->results[i];
        }
    }
    return NULL;
}

static void counts_take(const struct diff *diff, size_t counts[DIFF_VERDICTS])
{
    memset(counts, 0, DIFF_VERDICTS * sizeof(*counts));
    for (size_t i = 0; i < diff->nresults; i++) {
        counts[diff->results[i].verdict]++;
    }
}

static void summary_put(const struct diff *diff)
{
    size_t n[DIFF_VERDICTS];
    char text[ESCAPE_MOST(NAME_MOST) + 1];
    bool differs = false;

    counts_take(diff, n);
    for (unsigned side = 0; side < 2; side++) {
        for (unsigned i = 0; i < diff->side[side].ncaptures; i++) {
            const struct diff_capture *capture = &diff->side[side].captures[i];

            differs |= strcmp(capture->board, diff->side[0].captures[0].board) != 0 ||
                       capture->cpus != diff->side[0].captures[0].cpus;
        }
    }
    printf("\n%zu changed, %zu new, %zu gone, %zu not shown to differ, %zu too few to compare, "
           "%zu can't tell\n",
           n[DIFF_CHANGED], n[DIFF_NEW], n[DIFF_GONE], n[DIFF_SAME], n[DIFF_FEW],
           n[DIFF_UNDECIDED]);
    if (n[DIFF_CHANGED] > 0) {
        printf("Of %zu compared about %.1f differ by chance\n", n[DIFF_CHANGED] + n[DIFF_SAME],
               (1 - diff->confidence) * (double)(n[DIFF_CHANGED] + n[DIFF_SAME]));
    }
    if (n[DIFF_UNDECIDED] > 0) {
        printf("Can't tell: %s\n",
               diff_out_plain_name(first_of(diff, DIFF_UNDECIDED)->reason, text));
    }
    if (differs) {
        printf("The captures are of different boards, or numbers of CPUs\n");
    }
    if (diff->side[0].ncaptures == 1 || diff->side[1].ncaptures == 1) {
        printf("One capture on a side: how much one run differs from the next is unknown\n");
    }
}

static void limit_put(const struct diff_limit *limit)
{
    static const char *const texts[] = {"kept", "breached", "can't tell"};
    char name[ESCAPE_MOST(NAME_MOST) + 1], change[TEXT_ROOM], low[TEXT_ROOM], high[TEXT_ROOM];

    printf("%s %s: %s, %u checked", limit->drop ? "max-drop" : "max",
           diff_out_plain_name(limit->text, name), texts[limit->verdict], limit->checked);
    if (limit->past > 0) {
        printf(", %u past it", limit->past);
    }
    if (limit->undecided > 0) {
        printf(", %u undecided", limit->undecided);
    }
    if (limit->few > 0) {
        printf(", %u too few to compare", limit->few);
    }
    if (limit->checked == 0) {
        printf(": there is nothing to compare");
    }
    if (limit->worst != NULL) {
        const struct diff_result *worst = limit->worst;

        printf(": %s", diff_out_plain_name(worst->series->name, name));
        if (worst->verdict == DIFF_NEW || worst->verdict == DIFF_GONE) {
            printf(" is %s", verdict_names[worst->verdict]);
        } else {
            printf(" %s (%s ... %s)", change_text(worst->change, change),
                   change_text(worst->low, low), change_text(worst->high, high));
        }
    }
    putchar('\n');
}

void diff_text(const struct diff *diff)
{
    sides_put(diff);
    for (unsigned kind = 0; kind < DIFF_KINDS; kind++) {
        kind_put(diff, kind);
    }
    summary_put(diff);
    for (unsigned i = 0; i < diff->nlimits; i++) {
        limit_put(&diff->limits[i]);
    }
}

/* ---- JSON -------------------------------------------------------------------------- */

/* null: there is none, or it is not bounded. */
static void diff_out_number_put(const char *key, double value)
{
    if (isfinite(value)) {
        printf(",\"%s\":%.9g", key, value);
    } else {
        printf(",\"%s\":null", key);
    }
}

static void result_json(const struct diff *diff, const struct diff_result *result)
{
    const struct diff_series *series = result->series;
    bool compared = result->verdict == DIFF_SAME || result->verdict == DIFF_CHANGED;

    printf("{\"metric\":\"%s\",\"name\":", diff_metric_names[series->kind][result->metric]);
    json_put(stdout, series->name);
    printf(",\"verdict\":\"%s\"", verdict_names[result->verdict]);
    diff_out_number_put("a", series->part[0].captures > 0 ? result->value[0] : NAN);
    diff_out_number_put("b", series->part[1].captures > 0 ? result->value[1] : NAN);
    diff_out_number_put("change", compared ? expm1(result->change) : NAN);
    diff_out_number_put("low", compared ? expm1(result->low) : NAN);
    diff_out_number_put("high", compared ? expm1(result->high) : NAN);
    printf(",\"in\":[%u,%u],\"of\":[%u,%u]", series->part[0].captures, series->part[1].captures,
           diff->side[0].ncaptures, diff->side[1].ncaptures);
    if (result->reason[0] != '\0') {
        printf(",\"reason\":");
        json_put(stdout, result->reason);
    }
    printf("}\n");
}

void diff_json(const struct diff *diff)
{
    for (unsigned side = 0; side < 2; side++) {
        for (unsigned i = 0; i < diff->side[side].ncaptures; i++) {
            const struct diff_capture *capture = &diff->side[side].captures[i];

            printf("{\"side\":\"%c\",\"capture\":", "AB"[side]);
            json_put(stdout, capture->path);
            printf(",\"board\":");
            json_put(stdout, capture->board);
            printf(",\"cpus\":%u", capture->cpus);
            diff_out_number_put("seconds", capture->seconds);
            diff_out_number_put("covered", capture->covered);
            printf("}\n");
        }
    }
    for (size_t i = 0; i < diff->nresults; i++) {
        result_json(diff, &diff->results[i]);
    }
    for (unsigned i = 0; i < diff->nlimits; i++) {
        const struct diff_limit *limit = &diff->limits[i];

        printf("{\"limit\":");
        json_put(stdout, limit->text);
        printf(",\"drop\":%s,\"verdict\":\"%s\",\"checked\":%u,\"past\":%u,\"undecided\":%u,"
               "\"few\":%u}\n",
               limit->drop ? "true" : "false", diff_out_limit_names[limit->verdict], limit->checked,
               limit->past, limit->undecided, limit->few);
    }
    printf("{\"seed\":%" PRIu64 ",\"resamples\":%u,\"blocks\":%u", diff->seed, diff->resamples,
           diff->blocks);
    diff_out_number_put("confidence", diff->confidence);
    printf("}\n");
}

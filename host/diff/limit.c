/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Limits of the command line: how much a metric may grow or fall. A limit is kept if all of the
 * interval is within it, breached if all of the interval is past it, and else nobody can tell. See
 * diff.h.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "host/diff/diff.h"
#include "host/kymo.h"
#include "host/when.h"

/* ---- the command line --------------------------------------------------------------- */

static bool metric_parse(struct diff_limit *limit, const char *text, size_t length)
{
    static const char *const lists[] = {"new", "gone"};

    for (unsigned i = 0; i < 2; i++) {
        if (strlen(lists[i]) == length && strncmp(text, lists[i], length) == 0) {
            limit->lists = true;
            limit->listed = i == 0 ? DIFF_NEW : DIFF_GONE;
            return true;
        }
    }
    for (unsigned kind = 0; kind < DIFF_KINDS; kind++) {
        for (unsigned metric = 0; metric < DIFF_METRICS; metric++) {
            const char *name = diff_metric_names[kind][metric];

            if (name != NULL && strlen(name) == length && strncmp(text, name, length) == 0) {
                limit->kind = kind;
                limit->metric = metric;
                return true;
            }
        }
    }
    return false;
}

/* Returns false if the text is no limit of that metric. */
static bool diff_limit_parse_most(struct diff_limit *limit, const char *text)
{
    size_t length = strlen(text);
    struct kymo_when when;
    char *end;

    if (length == 0 || text[0] < '0' || text[0] > '9') {
        return false;
    }
    limit->most = strtod(text, &end);
    if (limit->lists) {
        return *end == '\0' && limit->most == floor(limit->most);
    }
    if (strcmp(end, "%") == 0) {
        limit->most /= 100;
        return true;
    }
    limit->in_ns = true;
    if (limit->metric == DIFF_SUM || kymo_parse_when(text, &when) != 0 || when.absolute ||
        text[length - 1] != 's') {
        return false;
    }
    limit->most = (double)kymo_when_cycles(&when, 0, 1000000000);
    return true;
}

int limit_add(struct diff *diff, const char *text, bool drop)
{
    struct diff_limit *more = realloc(diff->limits, (diff->nlimits + 1) * sizeof(*more));
    struct diff_limit limit = {.text = text, .drop = drop};
    const char *value = strrchr(text, '='), *option = drop ? "--max-drop" : "--max";
    size_t length = strcspn(text, ":=");

    if (more == NULL) {
        kymo_error("out of memory");
        return KYMO_FAILURE;
    }
    diff->limits = more;
    if (value == NULL || !metric_parse(&limit, text, length) || (drop && limit.lists)) {
        return kymo_usage("diff",
                          "diff: %s %s: METRIC=LIMIT or METRIC:NAME=LIMIT with cpu, rate, "
                          "message.p50 p90 p99 rate, interrupt.p50 p90 p99 rate%s",
                          option, text, drop ? "" : ", new, gone");
    }
    if (!diff_limit_parse_most(&limit, value + 1)) {
        return kymo_usage("diff", "diff: %s %s: a limit is %s", option, text,
                          limit.lists                ? "a number"
                          : limit.metric == DIFF_SUM ? "as 5%"
                                                     : "as 5% or 200us");
    }
    if (text[length] == ':') {
        limit.name = strndup(text + length + 1, (size_t)(value - text) - length - 1);
        if (limit.name == NULL) {
            kymo_error("out of memory");
            return KYMO_FAILURE;
        }
    }
    diff->limits[diff->nlimits++] = limit;
    return -1;
}

/* ---- the verdict -------------------------------------------------------------------- */

static void worst_note(struct diff_limit *limit, const struct diff_result *result)
{
    limit->worst = limit->worst == NULL ? result : limit->worst;
}

/* A new or a vanished thread; one that may only have been missed. */
static void thread_judge(struct diff_limit *limit, const struct diff_result *result)
{
    unsigned side = limit->listed == DIFF_NEW ? 0 : 1;

    limit->checked++;
    if (result->verdict == limit->listed) {
        limit->past++;
        worst_note(limit, result);
    } else if (result->verdict == DIFF_UNDECIDED) {
        const struct diff_part *part = &result->series->part[side];

        limit->undecided += part->captures == 0;
    }
}

/* Growth, or fall, as a fraction of A's value, or in ns. */
static double diff_limit_change_of(const struct diff_limit *limit, const struct diff_result *result,
                                   double change)
{
    double by = limit->drop ? -expm1(change) : expm1(change);

    return limit->in_ns ? by * result->value[0] : by;
}

static void result_check(const struct diff *diff, struct diff_limit *limit,
                         const struct diff_result *result)
{
    bool appears = result->verdict == DIFF_NEW, vanishes = result->verdict == DIFF_GONE;
    double least = diff_limit_change_of(limit, result, limit->drop ? result->high : result->low);
    double most = diff_limit_change_of(limit, result, limit->drop ? result->low : result->high);

    if (result->verdict == DIFF_FEW) {
        limit->few++;
        return;
    }
    limit->checked++;
    if (result->verdict == DIFF_UNDECIDED) {
        limit->undecided++;
    } else if (appears || vanishes) {
        limit->past += limit->drop ? vanishes : appears;
        if (limit->drop ? vanishes : appears) {
            worst_note(limit, result);
        }
    } else if (least > limit->most) {
        limit->past++;
        if (limit->worst == NULL ||
            diff_limit_change_of(limit, result, result->change) >
                diff_limit_change_of(limit, limit->worst, limit->worst->change)) {
            limit->worst = result;
        }
    } else if (!(most <= limit->most) && !diff->accept[DOUBT_NOISE]) {
        limit->undecided++;
    }
}

static bool diff_limit_is_for_metric(const struct diff_limit *limit,
                                     const struct diff_result *result)
{
    if (limit->lists) {
        return result->series->kind == DIFF_CPU &&
               (limit->name == NULL || strcmp(limit->name, result->series->name) == 0);
    }
    return result->series->kind == limit->kind && result->metric == limit->metric &&
           (limit->name == NULL || strcmp(limit->name, result->series->name) == 0);
}

void limits_judge(struct diff *diff)
{
    for (unsigned i = 0; i < diff->nlimits; i++) {
        struct diff_limit *limit = &diff->limits[i];

        for (size_t n = 0; n < diff->nresults; n++) {
            if (!diff_limit_is_for_metric(limit, &diff->results[n])) {
                continue;
            }
            if (limit->lists) {
                thread_judge(limit, &diff->results[n]);
            } else {
                result_check(diff, limit, &diff->results[n]);
            }
        }
        if (limit->lists ? limit->past > limit->most : limit->past > 0) {
            limit->verdict = LIMIT_BREACHED;
        } else if (limit->undecided > 0 || limit->checked == 0) {
            limit->verdict = LIMIT_UNDECIDED;
        }
    }
}

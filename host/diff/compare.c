/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Compares what was measured. All differences are of logarithms, so that an interval is one of
 * ratios. A sum (a share of a CPU, a rate) varies as its resamples do. Of a percentile the share of
 * values up to it is resampled, and its bounds are the values at the bounds of that share
 * (Woodruff, 1952): so steps and gaps of a distribution are in the interval. The bounds of the two
 * sides are joined as Zou and Donner do (2008), with Student's distribution for few blocks or few
 * captures. See diff.h.
 */
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "host/diff/diff.h"

const char *const diff_metric_names[DIFF_KINDS][DIFF_METRICS] = {
    [DIFF_CPU] = {"cpu"},
    [DIFF_MESSAGE] = {"message.rate", "message.p50", "message.p90", "message.p99"},
    [DIFF_INTERRUPT] = {"interrupt.rate", "interrupt.p50", "interrupt.p90", "interrupt.p99"},
    [DIFF_EVENT] = {"rate"},
};

static const double diff_compare_share_table[DIFF_METRICS] = {0, 0.5, 0.9, 0.99};

/* ---- Student's distribution --------------------------------------------------------- */

/* The probability that |t| is below it: the finite series for whole degrees of freedom. */
static double student_within(double t, unsigned freedom)
{
    double angle = atan(t / sqrt(freedom)), cosine = cos(angle), term, sum;
    unsigned first = freedom % 2;

    term = first ? cosine : 1;
    sum = freedom == 1 ? 0 : term;
    for (unsigned i = 2 + first; i + 1 < freedom; i += 2) {
        term *= cosine * cosine * (i - 1) / i;
        sum += term;
    }
    return first ? 2 / M_PI * (angle + sin(angle) * sum) : sin(angle) * sum;
}

double compare_student(double confidence, double freedom)
{
    unsigned whole = freedom < 1 ? 1 : freedom > 1000 ? 1000 : (unsigned)freedom;
    double low = 0, high = 1e9;

    for (unsigned i = 0; i < 100; i++) {
        double middle = (low + high) / 2;

        if (student_within(middle, whole) < confidence) {
            low = middle;
        } else {
            high = middle;
        }
    }
    return high;
}

/* ---- resampling -------------------------------------------------------------------- */

static uint64_t random_next(uint64_t *state) /* splitmix64 */
{
    uint64_t z = *state += 0x9e3779b97f4a7c15u;

    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
    z = (z ^ z >> 27) * 0x94d049bb133111ebu;
    return z ^ z >> 31;
}

static unsigned random_below(uint64_t *state, unsigned n)
{
    return (unsigned)(((random_next(state) >> 32) * n) >> 32);
}

/* Draws as many blocks as a capture has, of those that are covered. */
static void blocks_draw(const struct diff *diff, const struct diff_capture *capture,
                        uint64_t *random, double *weights)
{
    unsigned used[1024], n = 0;

    for (unsigned i = 0; i < diff->blocks; i++) {
        if (capture->time[i] > 0) {
            used[n++] = i;
        }
    }
    for (unsigned i = 0; i < n; i++) {
        weights[used[random_below(random, n)]]++;
    }
}

static bool weights_make(struct diff *diff, struct diff_side *side, uint64_t *random)
{
    size_t width = (size_t)side->ncaptures * diff->blocks;

    side->weights = calloc(diff->resamples * width, sizeof(double));
    for (unsigned r = 0; r < diff->resamples && side->weights != NULL; r++) {
        for (unsigned i = 0; i < side->ncaptures; i++) {
            unsigned drawn = side->ncaptures == 1 ? 0 : random_below(random, side->ncaptures);

            blocks_draw(diff, &side->captures[drawn], random,
                        side->weights + r * width + (size_t)drawn * diff->blocks);
        }
    }
    return side->weights != NULL;
}

struct spread {      /* of a side */
    double value;    /* all blocks together */
    double variance; /* of its logarithm, or of the share */
    double freedom;
};

/* How the ratio of two sums over blocks varies. */
static void ratio_spread(const struct diff *diff, const struct diff_side *side, const double *above,
                         const double *below, bool logarithm, struct spread *spread)
{
    size_t width = (size_t)side->ncaptures * diff->blocks;
    double sum = 0, squares = 0, a = 0, b = 0, units = 0;
    unsigned n = 0;

    for (size_t i = 0; i < width; i++) {
        a += above[i];
        b += below[i];
        units += below[i] > 0;
    }
    units = side->ncaptures > 1 ? side->ncaptures : units;
    spread->value = b > 0 ? a / b : 0;
    spread->freedom = units > 2 ? units - 1 : 1;
    for (unsigned r = 0; r < diff->resamples; r++) {
        const double *weights = side->weights + r * width;
        double x = 0, y = 0;

        for (size_t i = 0; i < width; i++) {
            x += weights[i] * above[i];
            y += weights[i] * below[i];
        }
        if (y > 0 && (x > 0 || !logarithm)) {
            double v = logarithm ? log(x / y / spread->value) : x / y - spread->value;

            n++;
            sum += v;
            squares += v * v;
        }
    }
    spread->variance = n > 1 ? (squares - sum * sum / n) / (n - 1) : 0;
    spread->variance = spread->variance > 0 ? spread->variance : 0;
    spread->variance *= (spread->freedom + 1) / spread->freedom;
}

/* The t by which both sides' deviations are multiplied (Welch and Satterthwaite). */
static double diff_compare_welch_factor(const struct diff *diff, const struct spread spread[2])
{
    double a = spread[0].variance, b = spread[1].variance;
    double least = fmin(spread[0].freedom, spread[1].freedom);
    double by = a * a / spread[0].freedom + b * b / spread[1].freedom;

    return compare_student(diff->confidence, by > 0 ? (a + b) * (a + b) / by : least);
}

/* ---- sums -------------------------------------------------------------------------- */

static double *times_of(const struct diff *diff, const struct diff_side *side)
{
    double *times = calloc((size_t)side->ncaptures * diff->blocks, sizeof(*times));

    for (unsigned i = 0; i < side->ncaptures && times != NULL; i++) {
        memcpy(times + (size_t)i * diff->blocks, side->captures[i].time,
               diff->blocks * sizeof(*times));
    }
    return times;
}

static unsigned blocks_filled(const struct diff *diff, const struct diff_side *side,
                              const struct diff_part *part)
{
    unsigned n = 0;

    for (size_t i = 0; i < (size_t)side->ncaptures * diff->blocks; i++) {
        n += part->sums[i] > 0;
    }
    return n;
}

/* A side in too few blocks to know how it varies is taken to be one of random, independent
 * occurrences; nothing as half of one. */
static void sparse_spread(unsigned filled, double others_size, double time, struct spread *spread)
{
    spread->variance = 1 / (filled + 0.5);
    spread->freedom = 1000;
    if (filled == 0 && time > 0) {
        spread->value = others_size / 2 / time;
    }
}

static void result_few(struct diff_result *result, const char *reason)
{
    result->verdict = DIFF_FEW;
    result->low = -INFINITY;
    result->high = INFINITY;
    snprintf(result->reason, sizeof(result->reason), "%s", reason);
}

static void result_judge(const struct diff *diff, struct diff_result *result)
{
    if ((result->low > 0 || result->high < 0) && fabs(result->change) >= log1p(diff->least)) {
        result->verdict = DIFF_CHANGED;
    }
}

static void sums_compare(const struct diff *diff, double *const times[2],
                         struct diff_result *result)
{
    const struct diff_series *series = result->series;
    struct spread spread[2];
    unsigned filled[2];
    double time[2] = {0, 0}, deviation;

    for (unsigned i = 0; i < 2; i++) {
        filled[i] = blocks_filled(diff, &diff->side[i], &series->part[i]);
        ratio_spread(diff, &diff->side[i], series->part[i].sums, times[i], true, &spread[i]);
        result->value[i] = spread[i].value;
        for (unsigned n = 0; n < diff->side[i].ncaptures; n++) {
            time[i] += diff->side[i].captures[n].covered;
        }
    }
    if (filled[0] < DIFF_SPARSE && filled[1] < DIFF_SPARSE) {
        result_few(result, "it happened too seldom to compare");
    } else {
        for (unsigned i = 0; i < 2; i++) {
            if (filled[i] < DIFF_SPARSE) {
                sparse_spread(filled[i],
                              series->kind == DIFF_CPU ? spread[!i].value * time[!i] / filled[!i]
                                                       : 1,
                              time[i], &spread[i]);
            }
        }
        if (spread[0].value > 0 && spread[1].value > 0) {
            deviation = diff_compare_welch_factor(diff, spread) *
                        sqrt(spread[0].variance + spread[1].variance);
            result->change = log(spread[1].value / spread[0].value);
            result->low = result->change - deviation;
            result->high = result->change + deviation;
            result_judge(diff, result);
        } else {
            result_few(result, "a side has no covered time");
        }
    }
    if (series->kind == DIFF_CPU && result->value[0] < diff->least_cpu &&
        result->value[1] < diff->least_cpu) {
        result_few(result, "it takes too little of a CPU");
    }
    if (series->kind == DIFF_CPU ? !series->part[0].captures || !series->part[1].captures
                                 : result->verdict == DIFF_CHANGED && !(filled[0] && filled[1])) {
        bool is_new = series->kind == DIFF_CPU ? !series->part[0].captures : filled[0] == 0;

        result->verdict = is_new ? DIFF_NEW : DIFF_GONE;
        result->change = is_new ? INFINITY : -INFINITY;
    }
}

/* ---- percentiles ------------------------------------------------------------------- */

static int value_order(const void *a, const void *b)
{
    const struct diff_value *x = a, *y = b;

    return x->ns < y->ns ? -1 : x->ns > y->ns;
}

/* The value that a share of them does not exceed. */
static double diff_value_at(const struct diff_part *part, double share)
{
    double rank = ceil(share * (double)part->nvalues);
    size_t at = rank < 1 ? 0 : rank > (double)part->nvalues ? part->nvalues - 1 : (size_t)rank - 1;

    return part->values[at].ns == INT64_MAX ? INFINITY : fmax(1, (double)part->values[at].ns);
}

/* The spread of the share of values up to `most`, and of those below it: the larger one. */
static bool share_spread(const struct diff *diff, const struct diff_side *side,
                         const struct diff_part *part, double most, struct spread *spread)
{
    size_t width = (size_t)side->ncaptures * diff->blocks;
    double *below = calloc(2 * width, sizeof(*below));
    struct spread other;

    if (below == NULL) {
        return false;
    }
    for (unsigned pass = 0; pass < 2; pass++) {
        memset(below, 0, width * sizeof(*below));
        for (size_t i = 0; i < part->nvalues; i++) {
            const struct diff_value *value = &part->values[i];

            below[(size_t)value->capture * diff->blocks + value->block] +=
                pass == 0 ? (double)value->ns <= most : (double)value->ns < most;
        }
        ratio_spread(diff, side, below, part->sums, false, pass == 0 ? spread : &other);
    }
    spread->variance = fmax(spread->variance, other.variance);
    free(below);
    return true;
}

static bool percentile_compare(const struct diff *diff, struct diff_result *result)
{
    const struct diff_series *series = result->series;
    double share = diff_compare_share_table[result->metric], bound[2][2], t;
    struct spread spread[2];

    for (unsigned i = 0; i < 2; i++) {
        const struct diff_part *part = &series->part[i];

        if (part->nvalues > 0) {
            result->value[i] = diff_value_at(part, share);
        }
        if ((double)part->nvalues * (1 - share) < DIFF_TAIL ||
            blocks_filled(diff, &diff->side[i], part) < DIFF_SPARSE) {
            result_few(result, "too few of them for the percentile");
        }
    }
    if (result->verdict == DIFF_FEW) {
        return true;
    }
    for (unsigned i = 0; i < 2; i++) {
        if (isinf(result->value[i])) {
            result->verdict = DIFF_UNDECIDED;
            snprintf(result->reason, sizeof(result->reason),
                     "%c: more messages than the percentile allows have no reply", "AB"[i]);
            return true;
        }
        if (!share_spread(diff, &diff->side[i], &series->part[i], result->value[i], &spread[i])) {
            return false;
        }
    }
    t = diff_compare_welch_factor(diff, spread);
    for (unsigned i = 0; i < 2; i++) {
        const struct diff_part *part = &series->part[i];
        double off = t * sqrt(spread[i].variance), half = 0.5 / (double)part->nvalues;

        bound[i][0] = share - off < half ? -INFINITY : log(diff_value_at(part, share - off));
        bound[i][1] = share + off > 1 - half ? INFINITY : log(diff_value_at(part, share + off));
    }
    double a = log(result->value[0]), b = log(result->value[1]);
    result->change = b - a;
    result->low = result->change - hypot(b - bound[1][0], bound[0][1] - a);
    result->high = result->change + hypot(bound[1][1] - b, a - bound[0][0]);
    result_judge(diff, result);
    return true;
}

/* ---- all ---------------------------------------------------------------------------- */

bool compare_all(struct diff *diff)
{
    uint64_t random = diff->seed;
    double *times[2] = {times_of(diff, &diff->side[0]), times_of(diff, &diff->side[1])};
    bool good = times[0] != NULL && times[1] != NULL;

    good = good && weights_make(diff, &diff->side[0], &random) &&
           weights_make(diff, &diff->side[1], &random);
    diff->results = calloc(diff->nseries * DIFF_METRICS + 1, sizeof(*diff->results));
    good = good && diff->results != NULL;
    for (size_t i = 0; i < diff->nseries && good; i++) {
        struct diff_series *series = diff->series[i];

        for (unsigned side = 0; side < 2; side++) {
            if (series->part[side].nvalues > 0) {
                qsort(series->part[side].values, series->part[side].nvalues,
                      sizeof(struct diff_value), value_order);
            }
        }
        for (unsigned metric = 0; metric < DIFF_METRICS && good; metric++) {
            struct diff_result *result = &diff->results[diff->nresults];

            if (diff_metric_names[series->kind][metric] == NULL) {
                continue;
            }
            *result = (struct diff_result){.series = series, .metric = metric};
            if (metric == DIFF_SUM) {
                sums_compare(diff, times, result);
            } else {
                good = percentile_compare(diff, result);
            }
            doubt_judge(diff, result);
            diff->nresults++;
        }
    }
    free(times[0]);
    free(times[1]);
    return good;
}

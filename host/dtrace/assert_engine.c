/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A rule of `kymo assert` in its own process: `kymo dtrace -r` with its program, whose records
 * become breaches instead of output (host/assert/assert.h). What may hide a breach is written as a
 * reason: then nobody can tell.
 */
#include <ctype.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "host/after/target.h"
#include "host/assert/assert.h"
#include "host/dtrace/command.h"
#include "host/dtrace/consume/consume.h"
#include "host/kymo.h"
#include "host/memory_stream.h"
#include "host/output.h"

struct engine {
    struct command command;
    const struct rule *rule;
    FILE *notes;
    uint64_t breaches, checked;
    bool has_checked, ended;
};

static void assert_engine_add_note(struct engine *e, const struct note *n)
{
    fwrite(n, sizeof(*n), 1, e->notes);
}

static void assert_engine_set_reason(struct engine *e, const char *text)
{
    struct note n = {.kind = NOTE_REASON};

    snprintf(n.text, sizeof(n.text), "%s", text);
    assert_engine_add_note(e, &n);
}

static void assert_engine_add_breach(struct engine *e, const struct breach *b)
{
    e->breaches++;
    assert_engine_add_note(e, &(struct note){.kind = NOTE_BREACH});
    fwrite(b, sizeof(*b), 1, e->notes);
}

/* ---- records ----------------------------------------------------------------------- */

/* Runs `print` on a stream of memory, whose bytes but NUL are copied to `to`. */
static char *assert_engine_print_to_text(struct consumer *c,
                                         void (*print)(struct consumer *, const void *),
                                         const void *arg)
{
    FILE *out = c->printer.out;
    char *text = NULL;
    size_t size = 0, kept = 0;

    c->printer.out = memory_stream(&text, &size);
    if (c->printer.out) {
        print(c, arg);
    }
    if (!c->printer.out || fclose(c->printer.out) != 0) {
        fputs("dtrace: out of memory\n", stderr);
        exit(KYMO_FAILURE);
    }
    c->printer.out = out;
    for (size_t i = 0; i < size; i++) {
        text[kept] = text[i];
        kept += text[i] != '\0';
    }
    text[kept] = '\0';
    return text;
}

struct one_record {
    unsigned cpu;
    const uint8_t *data;
    const struct epid_info *info;
};

static void assert_engine_print_text(struct consumer *c, const void *arg)
{
    const struct one_record *r = arg;
    const struct dt_probe_info *probe = &r->info->probe;

    record_print(c, r->cpu, r->data, r->info, NULL);
    if (r->info->desc.nrecs == 0) { /* a clause without actions: that it fires is the breach */
        fprintf(c->printer.out, "%s:%s:%s:%s", probe->provider, probe->module, probe->function,
                probe->name);
    }
}

static void print_values(struct consumer *c, const void *arg)
{
    const struct one_record *r = arg;
    const char *comma = "";

    for (uint32_t i = 0; i < r->info->desc.nrecs; i++) {
        const struct dtrace_recdesc *rec = &r->info->recs[i];
        if (rec->size && rec->kind != DTRACE_ACT_EXIT && rec->kind != DTRACE_ACT_TRACEMEM &&
            rec->kind != DTRACE_ACT_TRACEMEM_DYNSIZE) {
            fputs(comma, c->printer.out);
            json_datum(&c->printer, rec, r->data);
            comma = ",";
        }
    }
}

static void find_thread(struct engine *e, struct breach *b, const struct dt_probe_info *probe)
{
    struct target *t = e->command.target;
    bool leaves = strcmp(probe->provider, "sched") == 0 && strcmp(probe->name, "off-cpu") == 0;

    if (strcmp(probe->provider, "dtrace") != 0 && strncmp(probe->name, "tick-", 5) != 0 &&
        t->ops->ran(t, (unsigned)b->cpu, b->ns, leaves, &b->pid, &b->tid)) {
        snprintf(b->name, sizeof(b->name), "%s", t->ops->name(t, b->pid));
    } else if (strcmp(probe->provider, "dtrace") == 0 || strncmp(probe->name, "tick-", 5) == 0) {
        b->cpu = -1;
    }
}

/* Each line that the record prints is a breach. */
static void engine_record(void *arg, struct consumer *c, unsigned cpu, const uint8_t *data,
                          const struct epid_info *info)
{
    struct engine *e = arg;
    struct one_record record = {cpu, data, info};
    struct dtrace_record head;
    static struct breach b;
    char *rest = NULL, *values = NULL;
    char *text = assert_engine_print_to_text(c, assert_engine_print_text, &record);

    memcpy(&head, data, sizeof(head));
    for (char *line = strtok_r(text, "\n", &rest); line; line = strtok_r(NULL, "\n", &rest)) {
        size_t n = strlen(line);
        while (n > 0 && isspace((unsigned char)line[n - 1])) {
            line[--n] = '\0';
        }
        line += strspn(line, " \t\r");
        if (*line == '\0') {
            continue;
        }
        if (!values) {
            values = assert_engine_print_to_text(c, print_values, &record);
            b = (struct breach){.ns = (uint64_t)head.time_high << 32 | head.time_low,
                                .cpu = (int32_t)cpu};
            find_thread(e, &b, &info->probe);
            bool fits = strlen(values) < sizeof(b.values);
            snprintf(b.values, sizeof(b.values), "%s", fits ? values : "");
        }
        snprintf(b.text, sizeof(b.text), "%s", line);
        assert_engine_add_breach(e, &b);
    }
    free(values);
    free(text);
}

/* ---- aggregations ------------------------------------------------------------------ */

/* The keys of a row of @due after its thread. */
struct due {
    const struct aggregation *a;
    const struct agg_row *row;
    uint32_t first;
};

static void print_keys(struct consumer *c, const void *arg)
{
    const struct due *d = arg;

    for (uint32_t i = d->first; i + 1 < d->a->nrecs; i++) {
        fputs(i == d->first ? "" : ",", c->printer.out);
        json_datum(&c->printer, &d->a->recs[i], d->row->data);
    }
}

/* A row of @due: what was to happen by the time that is its value, and has not. */
static void due_row(struct engine *e, struct consumer *c, const struct aggregation *a,
                    const struct agg_row *row, uint64_t now)
{
    static struct breach b;
    struct due due = {.a = a, .row = row};
    uint64_t at = (uint64_t)agg_number(a, row, false);
    int32_t who[2] = {0, 0};

    if (at == 0 || at >= now) {
        return;
    }
    for (; due.first < 2 && due.first + 1 < a->nrecs && a->recs[due.first].size <= 8 &&
           datum_is_number(a->recs[due.first].size);
         due.first++) {
        const struct dtrace_recdesc *r = &a->recs[due.first];
        who[due.first] = (int32_t)datum_signed(row->data + r->offset, r->size);
    }
    char *keys = assert_engine_print_to_text(c, print_keys, &due);
    b = (struct breach){.ns = at, .cpu = -1, .pid = who[0], .tid = who[1]};
    snprintf(b.name, sizeof(b.name), "%s", b.pid ? c->target->ops->name(c->target, b.pid) : "");
    snprintf(b.values, sizeof(b.values), "%s", strlen(keys) < sizeof(b.values) ? keys : "");
    snprintf(b.text, sizeof(b.text),
             "due now, and not done %" PRIu64 ".%06" PRIu64 " ms later, at the end%s%.*s",
             (now - at) / 1000000, (now - at) % 1000000, *keys ? ": " : "", 512, keys);
    assert_engine_add_breach(e, &b);
    free(keys);
}

static int by_time(const void *a, const void *b)
{
    const struct agg_row *const *left = a, *const *right = b;
    uint64_t l = *(*left)->value, r = *(*right)->value;

    return l < r ? -1 : l > r;
}

static void engine_aggregation(void *arg, struct consumer *c, struct aggregation *a)
{
    struct engine *e = arg;
    bool due = strcmp(a->info->name, "due") == 0;
    struct aggregation *one[1] = {a};
    size_t n = 0;
    struct agg_row **rows;

    if ((!due && strcmp(a->info->name, "checked") != 0) || a->nrows == 0) {
        return;
    }
    rows = agg_join(one, 1, &c->printer.style, &n);
    if (due) {
        qsort(rows, n, sizeof(*rows), by_time);
    }
    for (size_t i = 0; i < n; i++) {
        if (due) {
            due_row(e, c, a, rows[i], c->target->ops->now(c->target));
        } else {
            e->checked += (uint64_t)agg_number(a, rows[i], false);
        }
    }
    e->has_checked |= !due;
    free(rows);
}

/* ---- the end ----------------------------------------------------------------------- */

static void engine_end(void *arg, struct consumer *c, bool missing)
{
    struct engine *e = arg;
    char text[160];

    if (c->status && e->breaches == 0) {
        static struct breach b;
        b = (struct breach){.ns = c->target->ops->now(c->target), .cpu = -1};
        snprintf(b.text, sizeof(b.text), "exit(%d)", c->status);
        assert_engine_add_breach(e, &b);
    }
    if (missing) {
        assert_engine_set_reason(e, "events that the rule needs are missing");
    }
    if (c->drops || c->faults) {
        snprintf(text, sizeof(text),
                 "the rule's program had %" PRIu64 " drops and %" PRIu64 " faults", c->drops,
                 c->faults);
        assert_engine_set_reason(e, text);
    }
    if (c->failed || c->write_error) {
        assert_engine_set_reason(e, "an action of the rule failed");
    }
    e->ended = true;
}

/* Whether anything of the image can be a breach. */
static bool can_breach(const struct engine *e)
{
    const struct dt_session *d = e->command.session;

    for (uint32_t i = 1; i <= dt_session_aggregations(d); i++) {
        if (strcmp(dt_session_aggregation(d, i)->name, "due") == 0) {
            return true;
        }
    }
    return e->command.prints;
}

void engine_run(const struct assertion *assertion, const struct rule *rule, FILE *notes)
{
    static struct engine e;
    const struct consumer_sink sink = {
        .arg = &e, .record = engine_record, .aggregation = engine_aggregation, .end = engine_end};
    struct command *c = &e.command;

    e.rule = rule;
    e.notes = notes;
    *c = (struct command){.run_gate = -1, .sink = &sink, .capture = assertion->path};
    command_set(c, "quiet", NULL, NULL);
    if (rule->shares) {
        command_set(c, "argref", NULL, NULL);
    }
    command_source(c, rule->kind == RULE_SCRIPT, DT_SPEC_NAME, rule->source);
    for (unsigned i = 0; i < rule->nargs; i++) {
        command_argument(c, rule->args[i]);
    }
    output_reads(assertion->path);
    c->out = fopen("/dev/null", "w");
    c->target = c->out ? after_target_open(c->capture, command_interrupted()) : NULL;
    c->target_spec = c->capture;
    if (c->target) {
        c->target->ops->watch(c->target);
        command_run(c);
    }
    if (*command_interrupted()) {
        assert_engine_set_reason(&e, "interrupted");
    } else if (!e.ended) {
        assert_engine_set_reason(&e, "the rule could not run on this capture");
    } else if (!can_breach(&e)) {
        assert_engine_set_reason(
            &e, "the rule prints nothing, so it has no breach: printf() what breaks it");
    }
    if (c->left_out) {
        assert_engine_set_reason(&e, "probes that the rule names are in no event of this capture");
    }
    if (e.has_checked) {
        assert_engine_add_note(&e, &(struct note){.kind = NOTE_CHECKED, .number = e.checked});
    }
    assert_engine_add_note(&e, &(struct note){.kind = NOTE_DONE});
    fflush(notes);
    fflush(stderr);
    _exit(KYMO_OK);
}

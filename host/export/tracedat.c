/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * --trace-dat: a file of trace-cmd, version 6, for `trace-cmd report` and KernelShark; its manual
 * page trace-cmd.dat.v6(5) has the format, tracedat_types.c what events look like. Each CPU's pages
 * of the ring buffer are spooled, and written after the header, which needs all types. Formats and
 * the names of threads that have ended are spooled, too, so memory grows with neither. Losses are
 * reported at the head of a page, where the readers look for it, and by an event kymo/lost.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "host/export/spool.h"
#include "host/export/tracedat.h"
#include "host/kymo.h"
#include "trace/slot.h"

#define PAGE SPOOL_BLOCK
#define PAGE_HEAD 16
#define COUNT_BYTES 8 /* room for the count of lost events, after a page's events */
#define MISSED (1u << 31)
#define MISSED_COUNT (1u << 30)
#define DELTA_BITS 27
#define TYPE_EXTEND 30
#define TYPE_LONGEST 28
#define EVENT_MOST (PAGE - PAGE_HEAD - COUNT_BYTES - 16)

struct tracedat_cpu {
    struct spool_chain chain;
    uint8_t page[PAGE];
    size_t used;   /* bytes after its head */
    uint64_t last; /* ns of the last event of the CPU */
    uint64_t lost;
    bool missed; /* before the page in the making events were lost: `lost`, 0: not known */
    bool fresh;  /* in the page are at most events of class CONTROL */
};

/* Formats of its events, each with its size before it. */
struct tracedat_system {
    struct spool_text formats;
    uint32_t count;
};

struct tracedat_name { /* of a thread that lives; its mark is the index */
    struct flow_thread *thread;
    char *text;
};

struct tracedat {
    struct flow *flow;
    struct spool spool;
    struct types types;
    struct record record;
    struct tracedat_cpu cpus[FLOW_CPUS];
    unsigned ncpus;
    struct tracedat_system systems[TRACEDAT_SYSTEMS];
    struct tracedat_name *living;
    size_t nliving, living_room;
    struct spool_text names; /* of threads that have ended, as saved_cmdlines has them */
    bool failed;             /* to spool one: reported */
};

static struct tracedat *tracedat_of(const struct export *export)
{
    return export->state;
}

/* ---- pages ------------------------------------------------------------------------- */

static int page_end(struct tracedat *tracedat, struct tracedat_cpu *cpu)
{
    uint64_t commit = cpu->used;

    if (cpu->used == 0) {
        return 0;
    }
    if (cpu->missed) {
        commit |= MISSED;
        if (cpu->lost > 0) {
            commit |= MISSED_COUNT;
            memcpy(cpu->page + PAGE_HEAD + cpu->used, &cpu->lost, sizeof(cpu->lost));
        }
    }
    memcpy(cpu->page + 8, &commit, sizeof(commit));
    cpu->used = 0;
    cpu->lost = 0;
    cpu->missed = false;
    cpu->fresh = true;
    if (spool_add(&tracedat->spool, &cpu->chain, cpu->page) != 0) {
        return -1;
    }
    memset(cpu->page, 0, sizeof(cpu->page));
    return 0;
}

static void tracedat_word_put(struct tracedat_cpu *cpu, uint32_t word)
{
    memcpy(cpu->page + PAGE_HEAD + cpu->used, &word, sizeof(word));
    cpu->used += sizeof(word);
}

/* The record as an event of the ring buffer. A page's first event has its time from the page. */
static int event_store(struct tracedat *tracedat, struct tracedat_cpu *cpu, uint64_t ns)
{
    const struct record *record = &tracedat->record;
    uint32_t words = (uint32_t)(record->used + 3) / 4;
    uint64_t delta;

    if (cpu->used + 16 + 4 * words > PAGE - PAGE_HEAD - COUNT_BYTES &&
        page_end(tracedat, cpu) != 0) {
        return -1;
    }
    if (cpu->used == 0) {
        memcpy(cpu->page, &ns, sizeof(ns));
        cpu->last = ns;
    }
    delta = ns - cpu->last;
    cpu->last = ns;
    if (delta >> DELTA_BITS != 0) {
        tracedat_word_put(cpu, TYPE_EXTEND | (uint32_t)(delta & ((1u << DELTA_BITS) - 1)) << 5);
        tracedat_word_put(cpu, (uint32_t)(delta >> DELTA_BITS));
        delta = 0;
    }
    tracedat_word_put(cpu, (words > TYPE_LONGEST ? 0 : words) | (uint32_t)delta << 5);
    if (words > TYPE_LONGEST) {
        tracedat_word_put(cpu, 4 * words + 4);
    }
    memset(cpu->page + PAGE_HEAD + cpu->used + 4 * words - 4, 0, 4);
    memcpy(cpu->page + PAGE_HEAD + cpu->used, record->bytes, record->used);
    cpu->used += 4 * words;
    return 0;
}

/* ---- events ------------------------------------------------------------------------ */

static struct tracedat_cpu *cpu_of(struct tracedat *tracedat, int32_t number)
{
    unsigned cpu = number < 0 || number >= FLOW_CPUS ? 0 : (unsigned)number;

    tracedat->ncpus = cpu >= tracedat->ncpus ? cpu + 1 : tracedat->ncpus;
    return &tracedat->cpus[cpu];
}

/* 0 or -1. */
static int name_spool(struct tracedat *tracedat, const struct flow_thread *thread, const char *text)
{
    char number[16];
    int n = snprintf(number, sizeof(number), "%" PRId32 " ", linux_tid(thread));
    int status = spool_text_add(&tracedat->spool, &tracedat->names, number, (size_t)n);

    status |= spool_text_add(&tracedat->spool, &tracedat->names, text, strlen(text));
    return status | spool_text_add(&tracedat->spool, &tracedat->names, "\n", 1);
}

/* Keeps the text: what a thread that lives is called now. 0 or -1. */
static int name_keep(struct tracedat *tracedat, struct flow_thread *thread, char *text)
{
    struct tracedat_name *to, *bigger;

    if (tracedat->nliving == tracedat->living_room) {
        size_t room = 2 * tracedat->living_room + 64;

        bigger = realloc(tracedat->living, room * sizeof(*bigger));
        if (bigger == NULL) {
            free(text);
            kymo_error("out of memory");
            return -1;
        }
        tracedat->living = bigger;
        tracedat->living_room = room;
    }
    if (thread->mark == FLOW_UNMARKED) {
        thread->mark = (uint32_t)tracedat->nliving++;
        tracedat->living[thread->mark] = (struct tracedat_name){.thread = thread};
    }
    to = &tracedat->living[thread->mark];
    free(to->text);
    to->text = text;
    return 0;
}

/* Takes what a thread is called now. The event that ends a thread may be the first one of it: then
 * no other name can come, and the thread is freed before the next event. 0 or -1. */
static int name_note(struct export *export, struct flow_thread *thread, bool again)
{
    struct tracedat *tracedat = tracedat_of(export);
    char name[512], *text;
    int status;

    if (thread == NULL || thread->idle || (thread->mark != FLOW_UNMARKED && !again)) {
        return 0;
    }
    linux_comm(export, thread, name, sizeof(name));
    text = types_line(name, strlen(name));
    if (text == NULL) {
        kymo_error("out of memory");
        return -1;
    }
    if (flow_find(tracedat->flow, thread->pid, thread->tid) == thread) {
        return name_keep(tracedat, thread, text);
    }
    status = name_spool(tracedat, thread, text);
    free(text);
    return status;
}

/* The last name of a thread counts: no other one can come. */
static void tracedat_gone(void *arg, const struct flow_thread *thread, int64_t ns)
{
    struct tracedat *tracedat = tracedat_of(arg);

    (void)ns;
    if (thread->mark == FLOW_UNMARKED) {
        return;
    }
    struct tracedat_name *name = &tracedat->living[thread->mark];
    const struct tracedat_name *last = &tracedat->living[--tracedat->nliving];

    tracedat->failed |= name_spool(tracedat, name->thread, name->text) != 0;
    free(name->text);
    *name = *last;
    name->thread->mark = thread->mark;
}

static int format_declare(struct export *export, const struct kev_item *item, struct type *type)
{
    struct tracedat *tracedat = tracedat_of(export);
    struct tracedat_system *system = &tracedat->systems[tracedat_system(type->role)];
    char *text = tracedat_declare(export, item, type->role, type->id);
    uint64_t size;
    int status;

    if (text == NULL) {
        kymo_error("out of memory");
        return -1;
    }
    size = strlen(text);
    status = spool_text_add(&tracedat->spool, &system->formats, &size, sizeof(size));
    status |= spool_text_add(&tracedat->spool, &system->formats, text, size);
    system->count++;
    free(text);
    return status;
}

/* An event that no page can hold, in parts. */
static int parts_store(struct export *export, const struct kev_item *item,
                       const struct flow_step *step, struct tracedat_cpu *cpu, uint64_t ns)
{
    struct tracedat *tracedat = tracedat_of(export);
    const struct type *type = types_find(&tracedat->types, export, item, TRACEDAT_PART);
    unsigned part = 0;

    if (type == NULL) {
        return -1;
    }
    while (record_part(&tracedat->record, export, item, step, type, part)) {
        if (event_store(tracedat, cpu, ns) != 0) {
            return -1;
        }
        part++;
    }
    return tracedat->record.failed ? -1 : 0;
}

static int tracedat_event_take(struct export *export, const struct kev_item *item)
{
    struct tracedat *tracedat = tracedat_of(export);
    struct tracedat_cpu *cpu = cpu_of(tracedat, item->cpu);
    const struct type *type;
    struct flow_step step;
    enum linux_event role;
    uint64_t ns;

    if (export_flow_take(tracedat->flow, item, &step) != 0 || tracedat->failed ||
        name_note(export, step.owner, false) != 0 ||
        name_note(export, linux_named(tracedat->flow, item), true) != 0) {
        return -1;
    }
    role = linux_event_of(item, &step);
    type = types_find(&tracedat->types, export, item, (int)role);
    if (type == NULL || (item->class_id == TRACE_CLASS_CONTROL &&
                         item->code == TRACE_CONTROL_BUFFER && page_end(tracedat, cpu) != 0)) {
        return -1;
    }
    ns = step.ns < 0 ? 0 : (uint64_t)step.ns;
    ns = ns < cpu->last ? cpu->last : ns;
    cpu->fresh &= item->class_id == TRACE_CLASS_CONTROL;
    record_event(&tracedat->record, export, item, &step, type);
    if (!tracedat->record.failed && tracedat->record.used > EVENT_MOST) {
        return parts_store(export, item, &step, cpu, ns);
    }
    return tracedat->record.failed ? -1 : event_store(tracedat, cpu, ns);
}

/* The events that open the buffer after a loss come before those that report it. */
static int tracedat_loss_take(struct export *export, const struct kev_item *item)
{
    struct tracedat *tracedat = tracedat_of(export);
    struct tracedat_cpu *cpu = cpu_of(tracedat, item->cpu);
    const struct type *type = types_find(&tracedat->types, export, item, TYPES_LOST);
    uint64_t ns = item->ns < 0 ? 0 : (uint64_t)item->ns;

    if (type == NULL || (!cpu->fresh && page_end(tracedat, cpu) != 0)) {
        return -1;
    }
    cpu->missed = true;
    cpu->lost += item->loss->events;
    record_lost(&tracedat->record, item, type);
    return tracedat->record.failed ? -1
                                   : event_store(tracedat, cpu, ns < cpu->last ? cpu->last : ns);
}

static int tracedat_item(struct export *export, const struct kev_item *item)
{
    return item->kind == KEV_ITEM_EVENT  ? tracedat_event_take(export, item)
           : item->kind == KEV_ITEM_LOSS ? tracedat_loss_take(export, item)
                                         : 0;
}

/* ---- the file ---------------------------------------------------------------------- */

static const char header_page[] = "\tfield: u64 timestamp;\toffset:0;\tsize:8;\tsigned:0;\n"
                                  "\tfield: local_t commit;\toffset:8;\tsize:8;\tsigned:1;\n"
                                  "\tfield: int overwrite;\toffset:8;\tsize:1;\tsigned:1;\n"
                                  "\tfield: char data;\toffset:16;\tsize:4080;\tsigned:1;\n";
static const char header_event[] = "# compressed entry header\n"
                                   "\ttype_len    :    5 bits\n"
                                   "\ttime_delta  :   27 bits\n"
                                   "\tarray       :   32 bits\n\n"
                                   "\tpadding     : type == 29\n"
                                   "\ttime_extend : type == 30\n"
                                   "\ttime_stamp : type == 31\n"
                                   "\tdata max type_len  == 28\n";

/* The file up to its pages, which are after `at` bytes. */
struct head {
    struct out *out;
    uint64_t at;
};

static void head_put(struct head *head, const void *bytes, size_t size)
{
    out_bytes(head->out, bytes, size);
    head->at += size;
}

static void u32_put(struct head *head, uint32_t value)
{
    head_put(head, &value, sizeof(value));
}

static void u64_put(struct head *head, uint64_t value)
{
    head_put(head, &value, sizeof(value));
}

/* A size of 8 bytes, and so many bytes. */
static void sized_put(struct head *head, const char *text)
{
    u64_put(head, strlen(text));
    head_put(head, text, strlen(text));
}

/* 0 or -1. */
static int spooled_put(const struct tracedat *tracedat, struct head *head,
                       const struct spool_text *text)
{
    head->at += text->bytes;
    return spool_text_copy(&tracedat->spool, text, head->out);
}

/* Writes the description of the pages. Returns 0 or -1. */
static int formats_put(const struct tracedat *tracedat, struct head *head)
{
    bool little = __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__;

    head_put(head, "\x17\x08\x44tracing6\0", 12);
    head_put(head, little ? "\0\x8" : "\1\x8", 2);
    u32_put(head, PAGE);
    head_put(head, "header_page", 12);
    sized_put(head, header_page);
    head_put(head, "header_event", 13);
    sized_put(head, header_event);
    u32_put(head, 0); /* formats of ftrace's own events */
    u32_put(head, TRACEDAT_SYSTEMS);
    for (unsigned i = 0; i < TRACEDAT_SYSTEMS; i++) {
        head_put(head, tracedat_system_names[i], strlen(tracedat_system_names[i]) + 1);
        u32_put(head, tracedat->systems[i].count);
        if (spooled_put(tracedat, head, &tracedat->systems[i].formats) != 0) {
            return -1;
        }
    }
    u32_put(head, 0); /* kallsyms */
    u32_put(head, 0); /* trace_printk's formats */
    u64_put(head, tracedat->names.bytes);
    return spooled_put(tracedat, head, &tracedat->names);
}

/* The header, to a page's end. 0 or -1. */
static int header_put(const struct tracedat *tracedat, struct out *out)
{
    static const uint8_t zeros[PAGE];
    struct head head = {.out = out};
    uint64_t at;

    if (formats_put(tracedat, &head) != 0) {
        return -1;
    }
    u32_put(&head, tracedat->ncpus);
    head_put(&head, "options  ", 10);
    head_put(&head, "\0\0", 2);
    head_put(&head, "flyrecord", 10);
    at = head.at + 16 * (uint64_t)tracedat->ncpus;
    at = (at + PAGE - 1) / PAGE * PAGE;
    for (unsigned cpu = 0; cpu < tracedat->ncpus; cpu++) {
        uint64_t bytes = tracedat->cpus[cpu].chain.blocks * PAGE;

        u64_put(&head, at);
        u64_put(&head, bytes);
        at += bytes;
    }
    head_put(&head, zeros, (PAGE - head.at % PAGE) % PAGE);
    return 0;
}

static int tracedat_end(struct export *export)
{
    struct tracedat *tracedat = tracedat_of(export);

    for (unsigned cpu = 0; cpu < tracedat->ncpus; cpu++) {
        if (page_end(tracedat, &tracedat->cpus[cpu]) != 0) {
            return -1;
        }
    }
    for (size_t i = 0; i < tracedat->nliving; i++) {
        if (name_spool(tracedat, tracedat->living[i].thread, tracedat->living[i].text) != 0) {
            return -1;
        }
    }
    if (header_put(tracedat, export->out) != 0) {
        return -1;
    }
    for (unsigned cpu = 0; cpu < tracedat->ncpus; cpu++) {
        const struct spool_chain *chain = &tracedat->cpus[cpu].chain;

        if (spool_copy(&tracedat->spool, chain, chain->blocks * PAGE, export->out) != 0) {
            return -1;
        }
    }
    return 0;
}

static const struct flow_ops tracedat_ops = {.gone = tracedat_gone};

static int tracedat_begin(struct export *export)
{
    struct tracedat *tracedat = calloc(1, sizeof(*tracedat));

    export->state = tracedat;
    if (tracedat == NULL) {
        kymo_error("out of memory");
        return -1;
    }
    tracedat->spool.fd = -1;
    tracedat->ncpus = export->facts->cpus < FLOW_CPUS ? export->facts->cpus : FLOW_CPUS;
    tracedat->types.most = TRACEDAT_TYPES;
    tracedat->types.declare = format_declare;
    for (unsigned cpu = 0; cpu < FLOW_CPUS; cpu++) {
        tracedat->cpus[cpu].fresh = true;
    }
    tracedat->flow = export_flow_new(export, &tracedat_ops);
    return tracedat->flow == NULL ? -1 : spool_open(&tracedat->spool);
}

static void tracedat_discard(struct export *export)
{
    struct tracedat *tracedat = tracedat_of(export);

    if (tracedat == NULL) {
        return;
    }
    record_free(&tracedat->record);
    types_free(&tracedat->types);
    spool_close(&tracedat->spool);
    flow_free(tracedat->flow);
    for (size_t i = 0; i < tracedat->nliving; i++) {
        free(tracedat->living[i].text);
    }
    free(tracedat->living);
    free(tracedat);
}

const struct export_format export_tracedat = {.name = "trace-dat",
                                              .binary = true,
                                              .begin = tracedat_begin,
                                              .item = tracedat_item,
                                              .end = tracedat_end,
                                              .discard = tracedat_discard};

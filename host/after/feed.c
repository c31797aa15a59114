/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * An event of the capture becomes what it was in the kernel: the words of its site, for which
 * trace_port_fire() (trace/dtrace/site/sites.c) fires the probes. The events also tell what runs
 * where. An event of a state dump fires no probe: nothing happened. Older captures don't mark
 * those; in them an event that changes nothing fires none. See after.h.
 */
#include "host/after/after.h"

#include "abi/sys/states.h"
#include "host/kymo.h"
#include "host/record.h"
#include "trace/filter.h"
#include "trace/loss.h"
#include "trace/port.h"

#include <stdlib.h>
#include <string.h>

enum { FORMS = 2, TEXT_ROOM = 4 * KEV_WORDS_MAX + 8, NO_WORD = -1, STATE_COUNT = 24 };

struct after_lost after_lost;
uint16_t after_wanted[TRACE_EV_COUNT];
uint32_t after_needed[TRACE_EV_COUNT];

static uint64_t after_feed_cycles_hz;
static bool is_64;        /* the target's words */
static bool dumps_marked; /* the capture says which events are of a state dump */
static uint32_t after_feed_sequences[KEV_CPUS]; /* of a CPU's last buffer; 0: none */
static uint32_t after_feed_epochs[KEV_CPUS];    /* in which its current thread was learnt */
static char *after_feed_text_room;              /* what a clause may read during this event */
static size_t text_bytes;
/* By class, number and form: the entry, and the word of the site that each field is. */
static struct known {
    const struct after_event *entry; /* NULL: not looked up */
    bool none;
    int8_t word[FORMS][KEV_ARGS_MAX];
    bool mapped[FORMS];
} * known[KEV_CLASSES];

/* Addresses of 32-bit programs' types have 32 bits, so that what they name must lie there. */
void after_feed_init(const struct kev_info *info)
{
    after_feed_cycles_hz = info->cycles_per_sec;
    is_64 = info->word_bits == 64;
    dumps_marked = info->dumps_marked;
    after_feed_text_room = dtrace_port_alloc(TEXT_ROOM);
}

uint64_t after_ns(uint64_t cycles)
{
    return (uint64_t)((unsigned __int128)cycles * 1000000000u / after_feed_cycles_hz);
}

bool after_readable(uint64_t address, size_t bytes)
{
    uint64_t at = address - (uintptr_t)after_feed_text_room;

    return at < text_bytes && bytes <= text_bytes - at;
}

/* ---- words --------------------------------------------------------------------------- */

static uintptr_t after_feed_keep_text(const void *from, size_t bytes)
{
    bytes = bytes < TEXT_ROOM - 8 ? bytes : TEXT_ROOM - 8;
    memcpy(after_feed_text_room, from, bytes);
    memset(after_feed_text_room + bytes, 0, 8);
    text_bytes = bytes + 8;
    return (uintptr_t)after_feed_text_room;
}

static struct known *known_of(unsigned slot_class, unsigned number)
{
    if (!known[slot_class]) {
        known[slot_class] = calloc(TRACE_EVENT_64, sizeof(struct known));
        if (!known[slot_class]) {
            kymo_no_memory();
        }
    }
    struct known *k = &known[slot_class][number];
    if (!k->entry && !k->none) {
        k->entry = after_event_of(slot_class, number);
        k->none = !k->entry;
    }
    return k->none ? NULL : k;
}

/* A capture names its events' words itself: an older one has those that it has. */
static const int8_t *map_of(struct known *k, const struct kev_list *list, bool wide)
{
    int8_t *word = k->word[wide];

    for (unsigned i = 0; i < list->n && !k->mapped[wide]; i++) {
        word[i] = NO_WORD;
        for (int8_t n = 0; k->entry->wide[n]; n++) {
            word[i] = strcmp(k->entry->wide[n], list->args[i].name) == 0 ? n : word[i];
        }
    }
    k->mapped[wide] = true;
    return word;
}

/* Fills in the words of the entry's site that the event has; returns bits of them. */
static uint32_t after_feed_words_of(struct known *k, const struct kev *kev,
                                    const struct kev_event *e, uint64_t words[AFTER_WORDS])
{
    const struct kev_desc *desc = kev_describe(kev, e->class, e->number);
    struct kev_field fields[KEV_ARGS_MAX];
    unsigned n = desc ? kev_decode(e, desc, fields) : 0, wide_n = 0;
    uint32_t present = ~0u;

    memset(words, 0, AFTER_WORDS * sizeof(*words));
    while (k->entry->wide[wide_n]) {
        present &= ~(1u << wide_n++);
    }
    if (n == 0) {
        return present;
    }
    bool wide = fields[0].arg != desc->fast.args;
    const int8_t *word = map_of(k, wide ? &desc->wide : &desc->fast, wide);
    for (unsigned i = 0; i < n; i++) {
        if (word[i] != NO_WORD) {
            words[word[i]] = fields[i].text ? after_feed_keep_text(fields[i].text, fields[i].len)
                                            : fields[i].value;
            present |= 1u << word[i];
        }
    }
    return present;
}

/* Whether an event happened, so that its probes fire. news: it changes what is known. */
static bool has_happened(const struct kev_event *e, bool news)
{
    return !e->injected && (dumps_marked ? !e->dumped : news);
}

/* ---- firing -------------------------------------------------------------------------- */

static void set_now(unsigned cpu)
{
    after_now.cpu = cpu;
    after_now.thread = after_current(cpu);
    trace_host_cpu = cpu;
}

void after_fire(unsigned site, const uint64_t *words, uint32_t present)
{
    if (!after_wanted[site]) {
        return;
    }
    if (after_needed[site] & ~present) {
        after_lost.short_of[site]++;
        return;
    }
    trace_port_fire(site, words);
}

/* ---- threads ------------------------------------------------------------------------- */

static bool is_known(const struct after_thread *t)
{
    return t->epoch == after_epoch;
}

/* As the kernel's leave_cpu() (kernel/thread/thread.c): in the context of the thread that goes. */
static void fire_switch(unsigned cpu, const struct after_thread *next)
{
    const struct after_thread *left = after_current(cpu);
    const uint64_t words[AFTER_WORDS] = {(uint32_t)left->pid, (uint32_t)left->tid,
                                         left->priority < 0 ? 0 : (uint32_t)left->priority,
                                         (uint32_t)next->pid, (uint32_t)next->tid};

    if (left->pid != 0) {
        after_fire(TRACE_EV_cpu_switch, words, left->priority < 0 ? ~4u : ~0u);
    }
}

static void learn_state(struct after_thread *t, unsigned state, unsigned cpu)
{
    t->state = (uint8_t)state;
    t->epoch = after_epoch;
    if (state == STATE_RUNNING) {
        after_current_set(cpu, t);
        after_feed_epochs[cpu] = after_epoch;
    }
}

/* The state before is DEAD, from which no probe's thread comes, if it is unknown. */
static void feed_state(struct known *k, const struct kev *kev, const struct kev_event *e)
{
    enum { STATE = 4, BEFORE, ONE };
    uint64_t words[AFTER_WORDS];
    uint32_t present = after_feed_words_of(k, kev, e, words);
    unsigned state = k->entry->number;
    struct after_thread *t = after_thread_get((int32_t)words[0], (int32_t)words[1]);
    bool news = !is_known(t) || t->state != state;

    if (present >> 2 & 1) {
        t->priority = (int32_t)words[2];
        t->policy = (int32_t)words[3];
    }
    words[STATE] = state;
    words[BEFORE] = is_known(t) ? t->state : STATE_DEAD;
    words[ONE] = 1;
    if (state == STATE_DEAD && after_current(e->cpu) == t) {
        after_current_set(e->cpu, NULL);
    }
    if (has_happened(e, news)) {
        set_now(e->cpu);
        if (state == STATE_RUNNING && (news || after_current(e->cpu) != t)) {
            fire_switch(e->cpu, t);
            after_current_set(e->cpu, t);
            set_now(e->cpu);
        }
        after_fire(TRACE_EV_thread_state, words, present);
    }
    learn_state(t, state, e->cpu);
}

/* ---- processes ----------------------------------------------------------------------- */

/* Notes where a process has its text. Returns whether that is news. */
static bool learn_text(struct after_process *p, uint64_t text)
{
    bool news = !p->mapped;

    p->moved |= p->text != 0 && p->text != text;
    p->mapped = true;
    p->text = text;
    return news;
}

/* Whether the event changes something, as far as its words tell; also learns from it. */
static bool is_news(const struct kev_event *e, unsigned site, const uint64_t *words)
{
    bool happened = has_happened(e, false); /* it says so itself */
    struct after_process *p;

    switch (site) {
    case TRACE_EV_proc_create_name:
        p = after_process_get((int32_t)words[1]);
        if (!happened &&
            strncmp(p->name, (const char *)(uintptr_t)words[2], sizeof(p->name) - 1) == 0 &&
            p->ppid == (int32_t)words[0]) {
            return false; /* pids are reused late: it lives, or has ended and is dumped */
        }
        p->moved |= p->text != 0; /* the pid's program was another one before */
        p->lives = true;
        p->mapped = false;
        p->ppid = (int32_t)words[0];
        strncpy(p->name, (const char *)(uintptr_t)words[2], sizeof(p->name) - 1);
        return true;
    case TRACE_EV_mapname:
        p = after_process_find((int32_t)words[0]);
        return !p || learn_text(p, words[1]);
    case TRACE_EV_proc_destroy:
        p = after_process_get((int32_t)words[1]);
        if (!p->lives && p->name[0]) {
            return false; /* the end of a ring dumps those that have ended */
        }
        p->ppid = (int32_t)words[0];
        return true;
    case TRACE_EV_thread_create:
        return !after_thread_find((int32_t)words[0], (int32_t)words[1]);
    default:
        return true;
    }
}

static void feed_entry(struct known *k, const struct kev *kev, const struct kev_event *e)
{
    uint64_t words[AFTER_WORDS];
    uint32_t present = after_feed_words_of(k, kev, e, words);
    unsigned site = k->entry->site;
    bool news = is_news(e, site, words);
    struct after_thread *t;

    if (site == TRACE_EV_function_enter) { /* ustack() in its probe has the function itself */
        after_stack_enter(after_current(e->cpu), words[0], words[1]);
    }

    if (has_happened(e, news)) {
        set_now(e->cpu);
        after_fire(site, words, present);
    }
    switch (site) {
    case TRACE_EV_comm_snd_message:
        after_message_sent((uint32_t)words[0], after_current(e->cpu)->pid);
        break;
    case TRACE_EV_function_exit:
        after_stack_exit(after_current(e->cpu), words[0]);
        break;
    case TRACE_EV_thread_create:
        after_thread_get((int32_t)words[0], (int32_t)words[1]);
        break;
    case TRACE_EV_thread_destroy:
        t = after_thread_find((int32_t)words[0], (int32_t)words[1]);
        if (t) {
            after_thread_end(t);
        }
        break;
    case TRACE_EV_proc_destroy:
        after_process_end(after_process_get((int32_t)words[1]));
        break;
    default:
        break;
    }
}

/* ---- kernel calls and user events ---------------------------------------------------- */

/* A number that took 32 bits on a 64-bit target was signed, as C's int is. */
static uint64_t call_word(const struct kev_field *f, bool is_signed)
{
    return is_64 && !f->wide && is_signed ? (uint64_t)(int64_t)(int32_t)f->value : f->value;
}

static void feed_call(const struct kev *kev, const struct kev_event *e)
{
    const struct kev_desc *desc = kev_describe(kev, e->class, e->number);
    struct kev_field fields[KEV_ARGS_MAX];
    uint64_t words[AFTER_WORDS] = {0};
    bool is_return = desc && desc->kind == KEV_CALL_EXIT;
    unsigned n =
        desc && (is_return || desc->kind == KEV_CALL_ENTER) ? kev_decode(e, desc, fields) : 0;
    unsigned site = is_return ? TRACE_EV_kercall_exit : TRACE_EV_kercall_enter;

    if (!(after_wanted[site] || after_wanted[TRACE_EV_msg_receive] ||
          after_wanted[TRACE_EV_msg_read] || after_wanted[TRACE_EV_msg_write]) ||
        !desc || desc->kind == KEV_CALL_INT) {
        return;
    }
    set_now(e->cpu);
    if (is_return) {
        bool big = n > 0 && fields[0].wide;
        words[0] = n == 0 ? 0 : big ? fields[0].value : (uint64_t)(int64_t)(int32_t)fields[0].value;
        words[1] = words[0];
        after_now.error = words[0] == UINT64_MAX ? (int32_t)kev_word(e, big ? 2 : 1) : 0;
        after_message_return(desc->number, (int64_t)words[0]);
        after_call_fire(desc->number, true, words);
        return;
    }
    const int8_t *at = n ? after_call_words(desc->number, fields[0].arg != desc->fast.args) : NULL;
    for (unsigned i = 0; at && i < n; i++) {
        if (at[i] >= 0) {
            words[at[i]] =
                call_word(&fields[i], after_call_is_signed(desc->number, (unsigned)at[i]));
        }
    }
    after_message_call(desc->number, (uint32_t)words[0]);
    after_call_fire(desc->number, false, words);
}

/* A copy of the event's words, in the target's order. */
static uint64_t keep_words(const struct kev_event *e)
{
    uint32_t *to = (uint32_t *)after_feed_keep_text(e->words, (size_t)e->nwords * sizeof(uint32_t));

    for (unsigned i = 0; i < e->nwords; i++) {
        to[i] = kev_word(e, i);
    }
    return (uintptr_t)to;
}

static bool is_system_probe(const struct kev_event *e)
{
    return e->number == KYMO_LOG_SYSTEM_CODE && e->combined && kev_event_is_log(e);
}

static void feed_user(const struct kev *kev, const struct kev_event *e)
{
    enum { SIMPLE, COMBINE, STRING }; /* as in trace/user.c */
    const uint64_t first = (uint64_t)kev_word(e, 1) << 32 | kev_word(e, 0);
    uint64_t words[AFTER_WORDS] = {e->number, kev_word(e, 0), kev_word(e, 1)};
    size_t len;

    if (is_system_probe(e)) {
        if (after_wanted[TRACE_EV_system_probe]) {
            words[1] = keep_words(e);
            words[2] = e->nwords;
            words[3] = first;
            set_now(e->cpu);
            after_fire(TRACE_EV_system_probe, words, ~(1u << 2));
        }
        return;
    }
    if (!after_wanted[TRACE_EV_user_event]) {
        return;
    }
    after_lost.texts +=
        after_wants_text && !e->log_text && kev_event_is_log(e) && !log_is_probe(kev, e);
    words[6] = 1;
    words[8] = first;
    if (record_user_text(e, &len)) {
        words[1] = len;
        words[2] = 0;
        words[3] = after_feed_keep_text(e->words, len);
        words[4] = STRING;
    } else if (e->combined) {
        words[1] = e->nwords;
        words[2] = 0;
        words[3] = keep_words(e);
        words[4] = COMBINE;
    }
    set_now(e->cpu);
    after_fire(TRACE_EV_user_event, words, ~(1u << 7));
}

/* ---- losses -------------------------------------------------------------------------- */

/* A gap hides what a CPU's threads did meanwhile, and what the other CPUs' threads did to them. */
static void after_feed_forget_cpu(unsigned cpu)
{
    after_epoch++;
    after_current_forget(cpu);
    after_messages_forget();
    after_stacks_forget();
}

static void feed_control(const struct kev_event *e)
{
    uint32_t word = kev_word(e, 0), events = kev_word(e, 1), lost_class = word & 0xff;

    if (e->number == TRACE_CONTROL_DROPPED && word >> 8 != KYMO_DROP_RECYCLED && events > 0) {
        bool any = lost_class == 0 || lost_class >= KEV_CLASSES; /* a class that isn't known */
        after_lost.events[any ? 0 : lost_class] += events;
        if (any || lost_class == TRACE_CLASS_PR_TH) {
            after_feed_forget_cpu(e->cpu);
        } else if (trace_class_is_call(lost_class)) {
            after_messages_forget();
        } else if (lost_class == TRACE_CLASS_SYSTEM) {
            after_stacks_forget();
        }
    } else if (e->number == TRACE_CONTROL_BUFFER) {
        uint32_t last = after_feed_sequences[e->cpu];
        if (last && word > last + 1) {
            after_lost.buffers += word - last - 1;
            after_feed_forget_cpu(e->cpu);
        }
        after_feed_sequences[e->cpu] = word;
    }
}

/* ---- an event ------------------------------------------------------------------------ */

void after_feed(const struct kev *kev, const struct kev_event *e)
{
    unsigned number = e->number & (TRACE_EVENT_64 - 1);
    uint64_t ns = after_ns(e->time);
    struct known *k;

    after_lost.unknown += after_now.missed;
    after_now.missed = false;
    after_ticks_until(ns);
    after_now.ns = ns > after_now.ns ? ns : after_now.ns;
    text_bytes = 0;
    if (e->gap) {
        after_feed_forget_cpu(e->cpu);
    }
    switch (e->class) {
    case TRACE_CLASS_CONTROL:
        feed_control(e);
        return;
    case TRACE_CLASS_KER_CALL:
    case TRACE_CLASS_KYMO_CALL:
        feed_call(kev, e);
        return;
    case TRACE_CLASS_USER:
        feed_user(kev, e);
        return;
    default:
        break;
    }
    k = e->class < TRACE_CLASS_MAX ? known_of(e->class, number) : NULL;
    if (k && k->entry->is_state) {
        feed_state(k, kev, e);
    } else if (k) {
        feed_entry(k, kev, e);
    }
}

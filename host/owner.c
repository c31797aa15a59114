/* SPDX-License-Identifier: BSD-2-Clause */
/* See owner.h. Names are in an array in the order of their coming, found by a tree of ids. */
#include "host/owner.h"

#include <stdlib.h>
#include <string.h>

#include "abi/sys/states.h"
#include "host/event_numbers.h"
#include "host/id_tree.h"
#include "host/pr_th.h"
#include "trace/slot.h"

#define NAME_MOST TRACE_TEXT_BYTES

struct entry {
    struct id_node node;
    int32_t pid, tid; /* tid: OWNER_NONE of a process */
    int32_t ppid;
    bool ended;
    bool told;   /* owners_learn() has seen it begin, be named or end */
    char *name;  /* NULL: unknown */
    char *early; /* from owners_learn(): what it is called at the beginning, or NULL */
};

struct running {
    bool known, dying;
    int32_t pid, tid;
    int32_t dead_pid, dead_tid; /* dying: between its THDEAD and its THDESTROY */
    bool buffers;               /* a BUFFER slot has been seen */
    uint32_t sequence;
};

struct owners {
    const struct kev *kev;
    struct running cpus[KEV_CPUS];
    bool no_memory; /* a name is missing for that */
    bool lost;      /* owners_learn(): THREAD events may be missing before here */
    struct entry **entries;
    uint32_t count, room;
    struct id_tree ids; /* of them, by pid and tid */
};

struct owners *owners_new(const struct kev *kev)
{
    struct owners *owners = calloc(1, sizeof(*owners));

    if (owners != NULL) {
        owners->kev = kev;
    }
    return owners;
}

void owners_free(struct owners *owners)
{
    if (owners == NULL) {
        return;
    }
    for (uint32_t i = 0; i < owners->count; i++) {
        free(owners->entries[i]->name);
        free(owners->entries[i]->early);
        free(owners->entries[i]);
    }
    free(owners->entries);
    free(owners);
}

/* ---- entries ----------------------------------------------------------------------- */

static struct entry *entry_find(const struct owners *owners, int32_t pid, int32_t tid)
{
    return (struct entry *)id_tree_find(&owners->ids, id_tree_pair(pid, tid));
}

static struct entry *entry_make(struct owners *owners, int32_t pid, int32_t tid)
{
    struct entry *entry = entry_find(owners, pid, tid);

    if (entry != NULL || owners->count == OWNER_NAMES) {
        return entry;
    }
    if (owners->count == owners->room) {
        uint32_t room = owners->room == 0 ? 64 : 2 * owners->room;
        struct entry **more = realloc(owners->entries, room * sizeof(*more));

        if (more == NULL) {
            owners->no_memory = true;
            return NULL;
        }
        owners->entries = more;
        owners->room = room;
    }
    entry = malloc(sizeof(*entry));
    if (entry == NULL) {
        owners->no_memory = true;
        return NULL;
    }
    *entry = (struct entry){.pid = pid, .tid = tid};
    id_tree_add(&owners->ids, &entry->node, id_tree_pair(pid, tid));
    owners->entries[owners->count++] = entry;
    return entry;
}

/* The string after an event's first two words; NULL if there is none, or no memory. */
static char *owner_event_text(const struct kev_event *event, bool *no_memory)
{
    const char *text = (const char *)(event->words + 2);
    size_t room = event->nwords > 2 ? 4 * (size_t)(event->nwords - 2) : 0;
    size_t len = strnlen(text, room < NAME_MOST ? room : NAME_MOST);

    char *copy = len == 0 ? NULL : strndup(text, len);

    *no_memory |= len > 0 && copy == NULL;
    return copy;
}

char *owners_told(const struct kev_event *event, bool *no_memory)
{
    unsigned number = event->number & ~(unsigned)TRACE_EVENT_64;
    bool tells = event->class == TRACE_CLASS_PR_TH &&
                 (number == PR_TH_PROCCREATE_NAME || number == PR_TH_PROCDESTROY_NAME);

    return tells ? owner_event_text(event, no_memory) : NULL;
}

/* ---- what an event says of a name -------------------------------------------------- */

enum change { NOTHING, BORN, NAMED, GONE };

/* Which process or thread an event of class PR_TH names, begins or ends. */
static enum change owner_change_of(const struct kev_event *event, unsigned number, int32_t *pid,
                                   int32_t *tid)
{
    int32_t first = (int32_t)kev_word(event, 0), second = (int32_t)kev_word(event, 1);
    bool process = number >= PR_TH_PROCCREATE && number != PR_TH_PROCTHREAD_NAME;

    *pid = process ? second : first;
    *tid = process ? OWNER_NONE : second;
    switch (number) {
    case PR_TH_CREATE:
    case PR_TH_PROCCREATE:
        return BORN;
    case PR_TH_DESTROY:
    case PR_TH_PROCDESTROY:
    case PR_TH_PROCDESTROY_NAME:
        return GONE;
    case PR_TH_PROCCREATE_NAME:
    case PR_TH_PROCTHREAD_NAME:
        return NAMED;
    default:
        return NOTHING;
    }
}

static unsigned owner_number_of(const struct kev_event *event)
{
    return event->number & ~(unsigned)TRACE_EVENT_64;
}

/* Returns true if THREAD and PROCESS events may be missing right before this event. */
static bool is_gap(struct owners *owners, const struct kev_event *event)
{
    struct running *cpu = &owners->cpus[event->cpu];
    bool gap = event->gap;

    if (event->class != TRACE_CLASS_CONTROL || !kev_info(owners->kev)->kymo) {
        return gap;
    }
    if (event->number == TRACE_CONTROL_BUFFER) {
        gap |= cpu->buffers && kev_word(event, 0) != cpu->sequence + 1;
        cpu->buffers = true;
        cpu->sequence = kev_word(event, 0);
    }
    return gap || (event->number == TRACE_CONTROL_DROPPED && kev_word(event, 1) > 0 &&
                   (kev_word(event, 0) & 0xff) == TRACE_CLASS_PR_TH);
}

void owners_learn(struct owners *owners, const struct kev_event *event)
{
    struct entry *entry;
    enum change change;
    int32_t pid, tid;

    owners->lost |= is_gap(owners, event);
    if (event->class != TRACE_CLASS_PR_TH) {
        return;
    }
    change = owner_change_of(event, owner_number_of(event), &pid, &tid);
    /* A state dump reports a thread as created, before it names the thread. */
    if (change == NOTHING || (change == BORN && tid != OWNER_NONE)) {
        return;
    }
    entry = entry_make(owners, pid, tid);
    if (entry != NULL && !entry->told) {
        bool named = change == NAMED || owner_number_of(event) == PR_TH_PROCDESTROY_NAME;

        entry->early = named && !owners->lost ? owner_event_text(event, &owners->no_memory) : NULL;
        entry->ppid = tid == OWNER_NONE ? (int32_t)kev_word(event, 0) : 0;
        entry->told = true;
    }
}

static char *text_copy(const char *text, bool *no_memory)
{
    char *copy = text == NULL ? NULL : strdup(text);

    *no_memory |= text != NULL && copy == NULL;
    return copy;
}

void owners_begin(struct owners *owners)
{
    memset(owners->cpus, 0, sizeof(owners->cpus));
    for (uint32_t i = 0; i < owners->count; i++) {
        free(owners->entries[i]->name);
        owners->entries[i]->name = text_copy(owners->entries[i]->early, &owners->no_memory);
        owners->entries[i]->ended = false;
    }
}

static void name_follow(struct owners *owners, const struct kev_event *event, unsigned number)
{
    int32_t pid, tid;
    enum change change = owner_change_of(event, number, &pid, &tid);
    struct entry *entry = change == NAMED     ? entry_make(owners, pid, tid)
                          : change != NOTHING ? entry_find(owners, pid, tid)
                                              : NULL;

    if (entry == NULL) {
        return;
    }
    entry->ended = change == GONE;
    if (change == GONE) {
        return; /* messages that tell of it may follow: it keeps its name */
    }
    free(entry->name);
    entry->name = change == NAMED ? owner_event_text(event, &owners->no_memory) : NULL;
    entry->ppid = tid == OWNER_NONE ? (int32_t)kev_word(event, 0) : 0;
}

/* ---- the running thread ------------------------------------------------------------ */

static bool is_thread(const struct kev_event *event, unsigned number)
{
    return event->class == TRACE_CLASS_PR_TH && number < PR_TH_VTHREADS;
}

static void thread_follow(struct running *cpu, const struct kev_event *event, unsigned number)
{
    int32_t pid = (int32_t)kev_word(event, 0), tid = (int32_t)kev_word(event, 1);

    if (number == STATE_RUNNING) {
        cpu->known = true;
        cpu->dying = false;
        cpu->pid = pid;
        cpu->tid = tid;
    } else if (number == STATE_DEAD) {
        cpu->dying = true;
        cpu->dead_pid = pid;
        cpu->dead_tid = tid;
    } else if (number == PR_TH_DESTROY) {
        cpu->dying = false;
    }
}

static void about_fill(struct owner *owner, const struct kev_event *event, unsigned number)
{
    if (event->class == TRACE_CLASS_SYSTEM && number == NUMBER_mapname) {
        owner->about = true;
        owner->about_pid = (int32_t)kev_word(event, 0);
        owner->about_tid = OWNER_NONE;
    } else if (event->class == TRACE_CLASS_PR_TH && number >= PR_TH_PROCCREATE) {
        owner->about =
            owner_change_of(event, number, &owner->about_pid, &owner->about_tid) != NOTHING;
    }
}

struct owner owners_follow(struct owners *owners, const struct kev_event *event)
{
    struct running *cpu = &owners->cpus[event->cpu];
    unsigned number = owner_number_of(event);
    struct owner owner;

    if (is_gap(owners, event)) {
        cpu->known = cpu->dying = false;
    }
    if (event->class == TRACE_CLASS_CONTROL) {
        return (struct owner){.known = false};
    }
    if (event->class == TRACE_CLASS_PR_TH) {
        name_follow(owners, event, number);
    }
    if (is_thread(event, number)) {
        thread_follow(cpu, event, number);
        return (struct owner){
            .known = true, .pid = (int32_t)kev_word(event, 0), .tid = (int32_t)kev_word(event, 1)};
    }
    if (cpu->dying && trace_class_is_call(event->class) &&
        (event->number & TRACE_KERCALL_INT) != 0) {
        return (struct owner){.known = true, .pid = cpu->dead_pid, .tid = cpu->dead_tid};
    }
    owner = owners_running(owners, event->cpu);
    about_fill(&owner, event, number);
    return owner;
}

struct owner owners_running(const struct owners *owners, unsigned cpu)
{
    const struct running *running = &owners->cpus[cpu];

    return (struct owner){.known = running->known,
                          .pid = running->known ? running->pid : 0,
                          .tid = running->known ? running->tid : 0};
}

const char *owners_process(const struct owners *owners, int32_t pid)
{
    const struct entry *entry = entry_find(owners, pid, OWNER_NONE);

    return entry == NULL ? NULL : entry->name;
}

const char *owners_thread(const struct owners *owners, int32_t pid, int32_t tid)
{
    const struct entry *entry = tid == OWNER_NONE ? NULL : entry_find(owners, pid, tid);

    return entry == NULL ? NULL : entry->name;
}

bool owners_lack_memory(const struct owners *owners)
{
    return owners->no_memory;
}

bool owners_next_name(const struct owners *owners, uint32_t *at, struct owner_name *name)
{
    for (; *at < owners->count; (*at)++) {
        const struct entry *entry = owners->entries[*at];

        if (!entry->ended && entry->name != NULL) {
            *name = (struct owner_name){entry->pid, entry->tid, entry->ppid, entry->name};
            (*at)++;
            return true;
        }
    }
    return false;
}

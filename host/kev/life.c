/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The lives of processes and threads: an id's first event to its end, and again if it is used
 * again. The dump of the state at START reports what exists as if it were made, so a life that is
 * reported again continues. A process that is made again ends what its threads of before were
 * (docs/inside/flow.md, "Lives"). Proof: test/host/kev/kev_test.c.
 */
#include <stdlib.h>
#include <string.h>

#include "host/id_tree.h"
#include "host/kev/capture.h"
#include "host/pr_th.h"
#include "trace/slot.h"

#define LIVES_MOST 1000000
#define NO_LIFE UINT32_MAX

struct life_id {
    struct id_node node;
    uint32_t last; /* index of its last life */
    /* A thread that lives is in the list of its process. */
    struct life_id *sibling, **sibling_at;
    struct life_id *threads; /* of a process: those that live */
};

struct lives {
    struct kev_life *lives;
    uint32_t count, room;
    struct id_tree ids; /* the last life of each */
    uint32_t *sorted;   /* lives by id and time; NULL: not finished */
    bool overflow;
    bool marked; /* events of state dumps are marked as such: one has come */
};

struct lives *lives_new(void)
{
    return calloc(1, sizeof(struct lives));
}

void lives_free(struct lives *lives)
{
    struct id_node *id;

    if (lives == NULL) {
        return;
    }
    for (uint32_t i = 0; i < lives->count; i++) {
        free((char *)lives->lives[i].name);
    }
    while ((id = id_tree_take(&lives->ids)) != NULL) {
        free(id);
    }
    free(lives->lives);
    free(lives->sorted);
    free(lives);
}

/* ---- the last life of an id -------------------------------------------------------- */

static struct life_id *life_id_find(const struct lives *lives, int32_t pid, int32_t tid)
{
    return (struct life_id *)id_tree_find(&lives->ids, id_tree_pair(pid, tid));
}

static bool lives_grow(struct lives *lives)
{
    uint32_t room = lives->room == 0 ? 64 : 2 * lives->room;
    struct kev_life *more;

    if (lives->count < lives->room) {
        return true;
    }
    more = realloc(lives->lives, room * sizeof(*more));
    if (more == NULL) {
        return false;
    }
    lives->lives = more;
    lives->room = room;
    return true;
}

/* Returns NULL if there is no memory. */
static struct life_id *life_id_get(struct lives *lives, int32_t pid, int32_t tid)
{
    struct life_id *id = life_id_find(lives, pid, tid);

    if (id == NULL) {
        id = calloc(1, sizeof(*id));
        if (id != NULL) {
            id->last = NO_LIFE;
            id_tree_add(&lives->ids, &id->node, id_tree_pair(pid, tid));
        }
    }
    return id;
}

static bool life_id_lives(const struct lives *lives, const struct life_id *id)
{
    return id != NULL && id->last != NO_LIFE && lives->lives[id->last].to_ns == KEV_NEVER;
}

static void life_begin(struct lives *lives, struct life_id *id, struct life_id *process)
{
    id->last = lives->count++;
    if (process != NULL) {
        id->sibling = process->threads;
        id->sibling_at = &process->threads;
        if (id->sibling != NULL) {
            id->sibling->sibling_at = &id->sibling;
        }
        process->threads = id;
    }
}

static void life_end(struct lives *lives, struct life_id *id, int64_t ns)
{
    lives->lives[id->last].to_ns = ns;
    if (id->sibling_at != NULL) {
        *id->sibling_at = id->sibling;
        if (id->sibling != NULL) {
            id->sibling->sibling_at = id->sibling_at;
        }
        id->sibling = NULL;
        id->sibling_at = NULL;
    }
}

/* The life of an id that goes on, or a new one. NULL: no memory, or too many. */
static struct kev_life *life_get(struct lives *lives, int32_t pid, int32_t tid, int64_t ns)
{
    struct life_id *id = life_id_find(lives, pid, tid), *process = NULL;
    struct kev_life *life;

    if (life_id_lives(lives, id)) {
        return &lives->lives[id->last];
    }
    if (lives->count == LIVES_MOST) {
        lives->overflow = true;
        return NULL;
    }
    if (!lives_grow(lives)) {
        return NULL;
    }
    id = life_id_get(lives, pid, tid);
    process = tid == KEV_NOBODY ? NULL : life_id_get(lives, pid, KEV_NOBODY);
    if (id == NULL || (tid != KEV_NOBODY && process == NULL)) {
        return NULL;
    }
    life_begin(lives, id, process);
    life = &lives->lives[id->last];
    *life = (struct kev_life){
        .pid = pid, .tid = tid, .parent = KEV_NOBODY, .from_ns = ns, .to_ns = KEV_NEVER};
    return life;
}

/* ---- events ------------------------------------------------------------------------ */

/* Returns false if there is no memory. */
static bool life_name(struct kev_life *life, const struct kev_event *event)
{
    const char *text = (const char *)(event->words + 2);
    size_t room = event->nwords > 2 ? 4 * (size_t)(event->nwords - 2) : 0;
    char *name = strndup(text, strnlen(text, room));

    if (name != NULL && name[0] != '\0') {
        free((char *)life->name);
        life->name = name;
        return true;
    }
    if (name == NULL) {
        return false;
    }
    free(name);
    return true;
}

/* An id that is made again, other than by a state dump, is another one: the ends of the life before
 * and, of a process, of those of its threads are not in the capture. */
static void life_replace(struct lives *lives, int32_t pid, int32_t tid, int64_t ns)
{
    struct life_id *id = life_id_find(lives, pid, tid);

    for (struct life_id *of = id == NULL ? NULL : id->threads, *next; of != NULL; of = next) {
        next = of->sibling;
        if (lives->lives[of->last].from_ns < ns) {
            life_end(lives, of, ns);
        }
    }
    if (life_id_lives(lives, id) && lives->lives[id->last].from_ns < ns) {
        life_end(lives, id, ns);
    }
}

bool lives_take(struct lives *lives, const struct kev_event *event, int64_t ns)
{
    unsigned number = event->number & ~(unsigned)TRACE_EVENT_64;
    bool process = number >= PR_TH_PROCCREATE && number != PR_TH_PROCTHREAD_NAME;
    int32_t first = (int32_t)kev_word(event, 0), second = (int32_t)kev_word(event, 1);
    struct kev_life *life;
    bool good = true;

    if (event->class != TRACE_CLASS_PR_TH ||
        (number >= PR_TH_VTHREADS && number < PR_TH_PROCCREATE)) {
        return true;
    }
    lives->marked |= event->dumped;
    if (lives->marked && !event->dumped && !event->injected) {
        if (number == PR_TH_CREATE) {
            life_replace(lives, first, second, ns);
        } else if (number == PR_TH_PROCCREATE || number == PR_TH_PROCCREATE_NAME) {
            life_replace(lives, second, KEV_NOBODY, ns);
        }
    }
    life = process ? life_get(lives, second, KEV_NOBODY, ns) : life_get(lives, first, second, ns);
    if (life == NULL) {
        return lives->overflow;
    }
    if (process) {
        life->parent = first;
    }
    if (number == PR_TH_PROCCREATE_NAME || number == PR_TH_PROCDESTROY_NAME ||
        number == PR_TH_PROCTHREAD_NAME) {
        good = life_name(life, event);
    }
    if (number == PR_TH_DESTROY || number == PR_TH_PROCDESTROY ||
        number == PR_TH_PROCDESTROY_NAME) {
        life_end(lives, life_id_find(lives, life->pid, life->tid), ns);
    }
    return good;
}

/* ---- by id and time ---------------------------------------------------------------- */

static int life_order(const struct kev_life *a, int32_t pid, int32_t tid, int64_t from)
{
    if (a->pid != pid) {
        return a->pid < pid ? -1 : 1;
    }
    if (a->tid != tid) {
        return a->tid < tid ? -1 : 1;
    }
    return a->from_ns < from ? -1 : a->from_ns > from;
}

static int sorted_order(const void *a, const void *b, void *arg)
{
    const struct kev_life *lives = arg, *y = &lives[*(const uint32_t *)b];
    uint32_t i = *(const uint32_t *)a, j = *(const uint32_t *)b;
    int order = life_order(&lives[i], y->pid, y->tid, y->from_ns);

    return order != 0 ? order : i < j ? -1 : i > j;
}

int lives_finish(struct lives *lives)
{
    lives->sorted = malloc((lives->count + 1) * sizeof(*lives->sorted));
    if (lives->sorted == NULL) {
        return KEV_FAILED;
    }
    for (uint32_t i = 0; i < lives->count; i++) {
        lives->sorted[i] = i;
    }
    if (lives->count > 0) {
        qsort_r(lives->sorted, lives->count, sizeof(*lives->sorted), sorted_order, lives->lives);
    }
    return lives->overflow ? KEV_LOSSY : KEV_COMPLETE;
}

const struct kev_life *kev_capture_life(const struct kev_capture *capture, unsigned index)
{
    const struct lives *lives = capture->lives;

    return lives == NULL || index >= lives->count ? NULL : &lives->lives[index];
}

/* The last life that began at `ns` or before, if it has not ended before. */
const struct kev_life *kev_capture_life_at(const struct kev_capture *capture, int32_t pid,
                                           int32_t tid, int64_t ns)
{
    const struct lives *lives = capture->lives;
    uint32_t low = 0, high = lives == NULL || lives->sorted == NULL ? 0 : lives->count;
    const struct kev_life *life;

    while (low < high) {
        uint32_t middle = low + (high - low) / 2;

        if (life_order(&lives->lives[lives->sorted[middle]], pid, tid, ns) <= 0) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    if (low == 0) {
        return NULL;
    }
    life = &lives->lives[lives->sorted[low - 1]];
    return life->pid == pid && life->tid == tid && life->to_ns >= ns ? life : NULL;
}

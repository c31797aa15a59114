/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Findings on messages at the capture's end: nobody has received one, or nobody has answered it. A
 * message may rightly wait long, as one of read() does: it is judged by others of its kind, which
 * have the same server and the same first word. See diagnose.h.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "abi/sys/kercalls.h"
#include "host/diagnose/own.h"
#include "host/event_numbers.h"
#include "host/kymo.h"
#include "host/when.h"
#include "trace/slot.h"

enum {
    MESSAGES_KINDS = 1024,
    MESSAGES_SERVERS = 1024,
    MESSAGES_WAIT_MS = 1000,
    MESSAGES_ANSWERED = 3,    /* messages of the same kind that got their replies ... */
    MESSAGES_TIMES = 10,      /* ... each so many times faster */
    MESSAGES_IO_READ = 0x101, /* lib/include/sys/iomsg.h: it waits for input */
};

struct messages_kind {
    int32_t pid;
    uint32_t word;
    uint64_t answered;
    int64_t longest;
};

struct messages_server {
    int32_t pid;
    int64_t received; /* when it received its newest message, of whichever client */
};

struct messages_thread { /* by serial */
    int64_t sent;        /* its message that has no reply yet; 0 */
    uint32_t word;       /* the message's first */
    int16_t state;       /* in which it is at the capture's end; 0: no wait for a message */
};

struct messages {
    union {
        struct family_each each;
        struct {
            struct messages_thread *threads; /* by serial */
            uint32_t nthreads;
        };
    };
    struct messages_kind kinds[MESSAGES_KINDS];
    unsigned nkinds;
    struct messages_server servers[MESSAGES_SERVERS];
    unsigned nservers;
    int64_t received; /* the newest message of a process for which there is no room */
};

/* The wait of a thread that lasts at the capture's end: the flow ends all then. */
static void messages_span(struct diagnosis *d, void *self, const struct flow_thread *thread,
                          const struct flow_state *state, int64_t to, bool ended)
{
    struct messages *b = self;
    bool lasts = d->ended && !ended && (state->state == STATE_SEND || state->state == STATE_REPLY);

    (void)to;
    b->threads[thread->serial].state = lasts ? state->state : 0;
}

static struct messages_kind *messages_kind_of(struct messages *b, int32_t pid, uint32_t word)
{
    for (unsigned i = 0; i < b->nkinds; i++) {
        if (b->kinds[i].pid == pid && b->kinds[i].word == word) {
            return &b->kinds[i];
        }
    }
    if (b->nkinds == MESSAGES_KINDS) {
        return NULL;
    }
    b->kinds[b->nkinds] = (struct messages_kind){.pid = pid, .word = word};
    return &b->kinds[b->nkinds++];
}

static void messages_received(struct messages *b, int32_t pid, int64_t ns)
{
    unsigned i = 0;

    while (i < b->nservers && b->servers[i].pid != pid) {
        i++;
    }
    if (i == MESSAGES_SERVERS) {
        b->received = ns;
        return;
    }
    b->nservers += i == b->nservers;
    b->servers[i] = (struct messages_server){.pid = pid, .received = ns};
}

/* Returns when a process received its newest message, or a later time; -1: never. */
static int64_t messages_newest(const struct messages *b, int32_t pid)
{
    for (unsigned i = 0; i < b->nservers; i++) {
        if (b->servers[i].pid == pid) {
            return b->servers[i].received;
        }
    }
    return b->nservers == MESSAGES_SERVERS ? b->received : -1;
}

static void messages_step(struct diagnosis *d, void *self, const struct flow_step *step)
{
    struct messages *b = self;
    struct messages_kind *kind;
    struct messages_thread *t;
    const uint32_t *words;
    unsigned n;

    if (step->role == FLOW_BEGIN && step->thread != NULL && step->slice->kind == FLOW_CALL &&
        (step->slice->what == __KER_MSG_SENDV || step->slice->what == __KER_MSG_SENDVNC)) {
        n = kev_capture_words(d->capture, &words); /* of the wide form, or of the fast one */
        b->threads[step->thread->serial].word = n > 3 ? words[3] : n > 1 ? words[1] : 0;
    }
    if (d->item->class_id == TRACE_CLASS_COMM && d->item->code == NUMBER_comm_rec_message &&
        kev_capture_words(d->capture, &words) >= 2) {
        messages_received(b, (int32_t)words[1], step->ns);
    }
    if (step->message == FLOW_NONE || step->client == NULL) {
        return;
    }
    t = &b->threads[step->client->serial];
    if (step->message == FLOW_SENT) {
        t->sent = step->ns;
        return;
    }
    if (step->message != FLOW_REPLIED) {
        messages_received(b, step->client->server, step->ns);
        return;
    }
    kind = messages_kind_of(b, step->client->server, t->word);
    if (kind != NULL && t->sent > 0) {
        kind->answered++;
        kind->longest = step->ns - t->sent > kind->longest ? step->ns - t->sent : kind->longest;
    }
    t->sent = 0;
}

static void messages_late(struct diagnosis *d, struct messages *b, const struct flow_thread *thread)
{
    const struct messages_thread *t = &b->threads[thread->serial];
    const struct messages_kind *kind = messages_kind_of(b, thread->server, t->word);
    int64_t waited = d->now - t->sent;
    char name[96], server[96], time[32], longest[32];
    struct finding f;

    if (waited < (int64_t)MESSAGES_WAIT_MS * DIAGNOSE_MS) {
        return;
    }
    f = diagnosis_finding(d, FINDING_NOT_RECEIVED, thread, t->sent, d->now);
    f.harm = waited;
    diagnosis_name(d, thread, name);
    diagnosis_process(d, thread->server, server);
    if (t->state == STATE_SEND && messages_newest(b, thread->server) < t->sent && !d->lossy) {
        snprintf(f.text, sizeof(f.text),
                 "%s has waited %s for %s to receive its message; the process has received none "
                 "in that time",
                 name, kymo_length_text(waited, time), server);
        diagnosis_add(d, &f);
    } else if (t->state == STATE_REPLY && kind != NULL && (t->word & 0xffff) != MESSAGES_IO_READ &&
               kind->answered >= MESSAGES_ANSWERED && waited / MESSAGES_TIMES >= kind->longest) {
        f.kind = FINDING_UNANSWERED;
        snprintf(f.text, sizeof(f.text),
                 "%s has waited %s for the reply of %s; %" PRIu64 " messages of the same kind were "
                 "answered, each within %s",
                 name, kymo_length_text(waited, time), server, kind->answered,
                 kymo_length_text(kind->longest, longest));
        diagnosis_add(d, &f);
    }
}

/* What another process that had this pid did says nothing of the next one. */
static void messages_process_ended(struct diagnosis *d, void *self, int32_t pid)
{
    struct messages *b = self;
    unsigned n = 0;

    (void)d;
    for (unsigned i = 0; i < b->nkinds; i++) {
        if (pid >= 0 && b->kinds[i].pid != pid) {
            b->kinds[n++] = b->kinds[i];
        }
    }
    b->nkinds = n;
}

static void messages_end(struct diagnosis *d, void *self)
{
    struct messages *b = self;

    for (uint32_t i = 0; i < d->nliving; i++) {
        const struct messages_thread *t = &b->threads[d->living[i]];

        if (t->state != 0 && t->sent > 0) {
            messages_late(d, b, d->threads[d->living[i]]);
        }
    }
}

const struct family family_messages = {.bytes = sizeof(struct messages),
                                       .each = sizeof(struct messages_thread),
                                       .span = messages_span,
                                       .step = messages_step,
                                       .ended = messages_process_ended,
                                       .end = messages_end};

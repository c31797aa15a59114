/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The target's probes: each description is asked for once, after the target's providers made what
 * it wants; what came is kept.
 */
#include "host/remote/remote.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum { NAMES_MAX = 1024, BATCH = 16 << 10, BATCH_SMALL = 4 << 10 };

static const struct remote_probe *remote_probes_find_known(const struct remote *r, uint32_t id)
{
    return id && id <= r->nprobes ? r->probes[id - 1] : NULL;
}

/* ---- what an answer says of one probe ---------------------------------------------- */

static bool attributes_ok(const struct kymo_d_probe *head)
{
    for (unsigned i = 0; i < 5; i++) {
        if (head->name[i] > DTRACE_STANDARD || head->data[i] > DTRACE_STANDARD ||
            head->dependency[i] > DTRACE_COMMON) {
            return false;
        }
    }
    return true;
}

/* The texts after the head, copied, one pointer each; NULL: they are not well-formed. */
static char **copy_texts(const char *from, size_t bytes, unsigned n)
{
    char **texts = calloc(1, (n + 1) * sizeof(*texts) + bytes + 1);
    char *at = texts ? (char *)(texts + n + 1) : NULL;

    if (!texts) {
        return NULL;
    }
    memcpy(at, from, bytes);
    for (unsigned i = 0; i < n; i++) {
        if (!remote_text_ok(at, bytes)) {
            free(texts);
            return NULL;
        }
        texts[i] = at;
        bytes -= strlen(at) + 1;
        at += strlen(at) + 1;
    }
    return texts;
}

static struct remote_probe *remote_probes_parse_answer(const struct kymo_d_probe *head,
                                                       const char *strings)
{
    unsigned n = 4u + head->arguments;
    struct remote_probe *p = calloc(1, sizeof(*p));
    char **texts = copy_texts(strings, head->size - sizeof(*head), n);

    if (!p || !texts || !*texts[3]) {
        free(p);
        free(texts);
        return NULL;
    }
    p->types = texts + 4;
    p->ntypes = head->arguments;
    p->info.id = head->id;
    p->info.provider = texts[0];
    p->info.module = texts[1];
    p->info.function = texts[2];
    p->info.name = texts[3];
    memcpy(&p->info.attributes, head->name, sizeof(p->info.attributes));
    p->info.argument_attributes = p->info.attributes;
    return p;
}

static void free_probe(struct remote_probe *p)
{
    if (p) {
        free(p->types - 4);
        free(p);
    }
}

static bool remote_probes_keep(struct remote *r, struct remote_probe *p)
{
    uint32_t id = p->info.id;

    if (id > r->nprobes) {
        uint32_t n = id + 256;
        struct remote_probe **bigger = realloc(r->probes, n * sizeof(*bigger));
        if (!bigger) {
            free_probe(p);
            return false;
        }
        memset(bigger + r->nprobes, 0, (n - r->nprobes) * sizeof(*bigger));
        r->probes = bigger;
        r->nprobes = n;
    }
    if (r->probes[id - 1]) {
        free_probe(p); /* what was said first stays: others point to it */
    } else {
        r->probes[id - 1] = p;
    }
    return true;
}

static bool add_id(struct remote_query *q, uint32_t id)
{
    uint32_t *bigger = q->nids & (q->nids + 1) ? q->ids : NULL;

    if (!bigger) { /* room grows at 0, 1, 3, 7 … */
        bigger = realloc(q->ids, (q->nids * 2u + 1) * sizeof(*bigger));
    }
    if (bigger) {
        q->ids = bigger;
        q->ids[q->nids++] = id;
    }
    return bigger != NULL;
}

/* ---- asking ------------------------------------------------------------------------ */

/* Takes an answer to PROBES: its ids lie above *last, which becomes the last one. */
static int take_batch(struct remote *r, struct remote_query *q, const uint8_t *out, uint32_t bytes,
                      uint32_t *last)
{
    for (uint32_t at = 0; at < bytes;) {
        struct kymo_d_probe head;
        if (bytes - at < sizeof(head)) {
            return remote_nonsense(r, "a probe is cut off");
        }
        memcpy(&head, out + at, sizeof(head));
        if (head.size < sizeof(head) || head.size > bytes - at || head.size % 8 ||
            head.id <= *last || head.id > REMOTE_PROBES_MAX || !attributes_ok(&head)) {
            return remote_nonsense(r, "a probe");
        }
        struct remote_probe *p =
            remote_probes_parse_answer(&head, (const char *)out + at + sizeof(head));
        if (!p) {
            return remote_nonsense(r, "a probe's names");
        }
        const bool nobodys = !*p->info.provider; /* free for the next process's */
        if (nobodys) {
            free_probe(p);
        } else if (!remote_probes_keep(r, p) || (q && !add_id(q, head.id))) {
            return -ENOMEM;
        }
        *last = head.id;
        at += head.size;
    }
    return 0;
}

/* Asks for a piece from `*after` on, which is advanced. -ENOENT: there is no more. */
static int ask_batch(struct remote *r, struct remote_query *q, uint32_t *after)
{
    struct kymo_d_call call = {
        .command = KYMO_D_PROBES,
        .id = *after,
        .in_bytes = q ? (uint32_t)q->bytes : 0,
        .out_bytes = r->info.pointer_bytes == 8 ? BATCH : BATCH_SMALL,
    };
    const uint8_t *out;
    uint32_t last = *after;
    int error = remote_call(r, &call, q ? q->names : NULL, &out);

    error = error ? error : take_batch(r, q, out, call.out_bytes, &last);
    if (error) {
        return error;
    }
    if (call.id <= *after || call.id < last || call.id > REMOTE_PROBES_MAX) {
        return remote_nonsense(r, "where probes go on");
    }
    *after = call.id;
    return 0;
}

static int remote_probes_ask_target(struct remote *r, struct remote_query *q)
{
    struct kymo_d_call call = {.command = KYMO_D_PROVIDE, .in_bytes = (uint32_t)q->bytes};
    const uint8_t *out;
    uint32_t after = 0;
    int error = remote_call(r, &call, q->names, &out);

    while (!error) {
        error = ask_batch(r, q, &after);
    }
    return error == -ENOENT ? 0 : error;
}

static struct remote_query *remote_probes_query_pattern(struct remote *r,
                                                        const char *const pattern[4])
{
    char names[NAMES_MAX];
    size_t bytes = 0;

    for (unsigned i = 0; i < 4; i++) {
        size_t n = strlen(pattern[i]) + 1;
        if (n > sizeof(names) - bytes) {
            return NULL;
        }
        memcpy(names + bytes, pattern[i], n);
        bytes += n;
    }
    for (struct remote_query *q = r->queries; q; q = q->next) {
        if (q->bytes == bytes && memcmp(q->names, names, bytes) == 0) {
            return q;
        }
    }
    struct remote_query *q = calloc(1, sizeof(*q) + bytes);
    if (q) {
        q->names = memcpy(q + 1, names, bytes);
        q->bytes = bytes;
        q->next = r->queries;
        r->queries = q;
        remote_pid_provide(r, pattern);
        remote_probes_ask_target(r,
                                 q); /* if that failed it matches nothing, and r->gone says why */
    }
    return q;
}

static const struct remote_probe *remote_probes_query_id(struct remote *r, uint32_t id)
{
    uint32_t after = id - 1;

    if (id && id <= REMOTE_PROBES_MAX && !remote_probes_find_known(r, id)) {
        ask_batch(r, NULL, &after);
    }
    return remote_probes_find_known(r, id);
}

/* ---- for the compiler and -l ------------------------------------------------------- */

static unsigned remote_probes_call_each(void *arg, const char *provider, const char *module,
                                        const char *function, const char *name, uint32_t id,
                                        bool (*fn)(void *fn_arg, const struct dt_probe_info *),
                                        void *fn_arg)
{
    const char *const pattern[4] = {provider, module, function, name};
    struct remote *r = arg;
    unsigned calls = 0;

    if (id) {
        const struct remote_probe *p = remote_probes_query_id(r, id);
        return p ? (fn(fn_arg, &p->info), 1) : 0;
    }
    const struct remote_query *q = remote_probes_query_pattern(r, pattern);
    while (q && calls < q->nids) {
        if (!fn(fn_arg, &remote_probes_find_known(r, q->ids[calls++])->info)) {
            break;
        }
    }
    return calls;
}

static const char *remote_probes_argument_type(void *arg, uint32_t id, unsigned n)
{
    const struct remote_probe *p = remote_probes_query_id(arg, id);

    return p && n < p->ntypes ? p->types[n] : NULL;
}

bool remote_probe_names(struct target *t, uint32_t id, struct dt_probe_info *info)
{
    const struct remote_probe *p = remote_probes_query_id((struct remote *)t, id);

    if (p) {
        *info = p->info;
    }
    return p != NULL;
}

static const char *why_none(void *arg, struct dt_session *session, const char *const fields[4])
{
    return strcmp(fields[0], "cpc") == 0 ? remote_cpc_why_none(arg, fields)
                                         : remote_pid_why_none(arg, session, fields);
}

void remote_probes_init(struct remote *r)
{
    r->source = (struct dt_probe_source){.each = remote_probes_call_each,
                                         .argument_type = remote_probes_argument_type,
                                         .arg = r,
                                         .module = remote_pid_module,
                                         .why_none = why_none};
}

void remote_probes_free(struct remote *r)
{
    for (uint32_t i = 0; i < r->nprobes; i++) {
        free_probe(r->probes[i]);
    }
    free(r->probes);
    for (struct remote_query *q = r->queries, *next; q; q = next) {
        next = q->next;
        free(q->ids);
        free(q);
    }
}

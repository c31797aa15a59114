/* SPDX-License-Identifier: BSD-2-Clause */
/* See scripted.h. */
#include "test/host/dtrace/command/scripted.h"

#include "host/self/target.h"
#include "host/temporary.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct scripted scripted;

static const struct target_ops *self_ops;
static struct target_ops ops;

static const struct scripted_pass *now(void)
{
    unsigned last = scripted.npasses - 1;

    return &scripted.passes[scripted.pass < last ? scripted.pass : last];
}

static unsigned cpus(struct target *t)
{
    (void)t;
    return CPUS;
}

static int go(struct target *t, unsigned *begin_cpu)
{
    int error = self_ops->go(t, begin_cpu);

    *begin_cpu = scripted.begin_cpu;
    return error;
}

static int stop(struct target *t, unsigned *end_cpu)
{
    int error = self_ops->stop(t, end_cpu);

    *end_cpu = scripted.end_cpu;
    return error;
}

static void do_not_wait(struct target *t, uint64_t ns)
{
    (void)t;
    (void)ns;
    usleep(100);
}

static int status(struct target *t, struct dtrace_status *s)
{
    (void)t;
    *s = now()->status;
    s->state = s->state ? s->state : DTRACE_STATE_ACTIVE;
    return now()->error;
}

/* CPU 0's aggregations are the first thing of a pass, the last CPU's records the last. */
static int aggregation(struct target *t, unsigned cpu, void *to, size_t room,
                       struct dtrace_snap *snap)
{
    (void)t;
    (void)to;
    (void)room;
    scripted.aggregations += cpu == 0;
    *snap = (struct dtrace_snap){.drops = now()->aggregation_drops[cpu]};
    return 0;
}

static unsigned asked; /* CPUs, in this pass */

/* Bytes, 0 if they have no room. */
static size_t put(struct target *t, const struct scripted_record *r, char *to, size_t room)
{
    struct dtrace_record head = {r->epid, (uint32_t)(r->time >> 32), (uint32_t)r->time};
    struct dtrace_epid_desc desc = {.size = sizeof(head)};
    struct dtrace_recdesc recs[5];
    uint32_t n = r->fault[0] ? 5 : 0;

    if (n) {
        assert_int_equal(self_ops->epid(t, r->epid, &desc, recs, &n), 0);
        assert_int_equal(desc.clause, DTRACE_CLAUSE_FAULT);
    }
    if (desc.size > room) {
        return 0;
    }
    memset(to, 0, desc.size);
    memcpy(to, &head, sizeof(head));
    for (uint32_t i = 0; i < n; i++) {
        memcpy(to + recs[i].offset, &r->fault[i], sizeof(r->fault[i]));
    }
    return desc.size;
}

static int buffer(struct target *t, unsigned cpu, void *to, size_t room, struct dtrace_snap *snap)
{
    const struct scripted_pass *p = now();
    size_t n = 0;

    *snap = (struct dtrace_snap){.taken = p->taken[cpu], .drops = p->drops[cpu]};
    for (const struct scripted_record *r = p->records; r->epid && scripted.pass < scripted.npasses;
         r++) {
        if (r->cpu == cpu) {
            n += put(t, r, (char *)to + n, room - n);
        }
    }
    snap->size = n;
    if (++asked % CPUS == 0) {
        scripted.pass++;
    }
    return 0;
}

static int epid(struct target *t, uint32_t number, struct dtrace_epid_desc *desc,
                struct dtrace_recdesc *recs, uint32_t *n)
{
    int error = self_ops->epid(t, number, desc, recs, n);

    if (scripted.probes && !error) {
        desc->probe = scripted.probes[number].id;
    }
    return error;
}

static bool probe_names(struct target *t, uint32_t id, struct dt_probe_info *info)
{
    const struct scripted_probe *p = scripted.probes;

    if (!p) {
        return self_ops->probe_names(t, id, info);
    }
    while (p->id != id) {
        p++;
    }
    *info = (struct dt_probe_info){
        .id = id, .provider = p->provider, .module = "", .function = p->function, .name = p->name};
    return true;
}

struct target *target_open(const char *spec, const char **why)
{
    struct target *t = self_target_open();

    (void)spec;
    *why = "";
    self_ops = t->ops;
    ops = *t->ops;
    ops.cpus = cpus;
    ops.go = go;
    ops.stop = stop;
    ops.wait = do_not_wait;
    ops.status = status;
    ops.aggregation = aggregation;
    ops.buffer = buffer;
    ops.epid = epid;
    ops.probe_names = probe_names;
    t->ops = &ops;
    return t;
}

/* ---- running ----------------------------------------------------------------------- */

struct redirected {
    int fd, saved;
    FILE *file;
};

static struct redirected redirect(int fd)
{
    struct redirected r = {fd, dup(fd), temporary_stream()};

    assert_non_null(r.file);
    fflush(NULL);
    dup2(fileno(r.file), fd);
    return r;
}

static void give_back(struct redirected *r, char *to, size_t room)
{
    fflush(NULL);
    dup2(r->saved, r->fd);
    close(r->saved);
    rewind(r->file);
    to[fread(to, 1, room - 1, r->file)] = '\0';
    fclose(r->file);
}

void scripted_run(const struct scripted_pass *passes, unsigned npasses, const char *first, ...)
{
    char *argv[24] = {strdup("dtrace"), strdup(first)};
    const char *next;
    int argc = 2;
    va_list more;

    va_start(more, first);
    while (argc < 23 && (next = va_arg(more, const char *)) != NULL) {
        argv[argc++] = strdup(next); /* the command writes to them */
    }
    va_end(more);
    scripted.passes = passes;
    scripted.npasses = npasses;
    scripted.pass = asked = 0;
    struct redirected out = redirect(1), err = redirect(2);
    scripted.status = kymo_dtrace_command.run(argc, argv);
    give_back(&out, scripted.out, sizeof(scripted.out));
    give_back(&err, scripted.err, sizeof(scripted.err));
    while (argc > 0) {
        free(argv[--argc]);
    }
}

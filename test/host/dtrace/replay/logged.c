/* SPDX-License-Identifier: BSD-2-Clause */
/* See logged.h. */
#include "test/host/dtrace/replay/logged.h"

#include "host/kymo.h"
#include "host/remote/target.h"
#include "host/remote/wire.h"
#include "host/target/target.h"
#include "abi/sys/dtrace.h"
#include "trace/dtrace/log_event.h"
#include "trace/dtrace/notes.h"
#include "trace/dtrace/action.h"
#include "trace/slot.h"

#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct mk *logged_capture;
void (*logged_change)(struct logged_strings *);
uint32_t logged_handle = LOGGED_HANDLE;
struct logged_bytes logged_newest_record, logged_newest_entry;

enum { ROOM = 1 << 20 };

/* ---- the capture ------------------------------------------------------------------- */

void logged_event(unsigned cpu, unsigned event, const uint32_t *words, unsigned nwords,
                  const void *bytes, size_t n)
{
    uint32_t all[300] = {0};

    struct logged_bytes *newest = event == DTRACE_LOG_RECORD  ? &logged_newest_record
                                  : event == DTRACE_LOG_ENTRY ? &logged_newest_entry
                                                              : NULL;

    memcpy(all, words, nwords * sizeof(*words));
    memcpy(all + nwords, bytes, n);
    if (newest && bytes != newest->bytes && n <= sizeof(newest->bytes)) {
        memcpy(newest->bytes, bytes, n);
        newest->n = n;
    }
    mk_event(logged_capture, cpu, 10, TRACE_CLASS_D, event, all, nwords + (unsigned)(n + 3) / 4);
}

static void log_notes(const uint8_t *notes, uint32_t total)
{
    for (uint32_t at = 0; at < total; at += DTRACE_LOG_NOTES_PART) {
        uint32_t n = total - at < DTRACE_LOG_NOTES_PART ? total - at : DTRACE_LOG_NOTES_PART;
        logged_event(0, DTRACE_LOG_NOTES, (uint32_t[]){logged_handle, total, at}, 3, notes + at, n);
    }
}

void logged_save(const char *path)
{
    mk_flush_all(logged_capture);
    if (mk_save(logged_capture, path) != 0) {
        perror(path);
        abort();
    }
    mk_free(logged_capture);
    logged_capture = NULL;
}

/* ---- what the program was compiled from -------------------------------------------- */

struct saved_head { /* host/dtrace/saved.c */
    uint32_t magic, strings;
};

void logged_add(struct logged_strings *s, const char *name, const char *value)
{
    if (s->n + 2 <= LOGGED_STRINGS) {
        s->text[s->n++] = name;
        s->text[s->n++] = value;
    }
}

void logged_remove(struct logged_strings *s, const char *name, const char *value)
{
    for (uint32_t i = 0; i < s->n; i += 2) {
        if (strcmp(s->text[i], name) == 0 && strcmp(s->text[i + 1], value) == 0) {
            memmove(&s->text[i], &s->text[i + 2], (s->n - i - 2) * sizeof(*s->text));
            s->n -= 2;
            i -= 2;
        }
    }
}

/* The notes with the strings changed; malloc'ed. */
static uint8_t *changed(const uint8_t *notes, uint32_t *bytes)
{
    struct logged_strings s = {.n = 0};
    struct notes_head head;
    struct saved_head saved;
    uint8_t *to = malloc(*bytes + 65536), *at;

    memcpy(&head, notes, sizeof(head));
    memcpy(&saved, notes + sizeof(head), sizeof(saved));
    const char *text = (const char *)notes + sizeof(head) + sizeof(saved);
    for (; s.n < saved.strings && s.n < LOGGED_STRINGS; text += strlen(text) + 1) {
        s.text[s.n++] = text;
    }
    if (logged_change) {
        logged_change(&s);
    }
    saved.strings = s.n;
    at = to + sizeof(head) + sizeof(saved);
    for (uint32_t i = 0; i < s.n; i++) {
        at = (uint8_t *)stpcpy((char *)at, s.text[i]) + 1;
    }
    size_t transcript = *bytes - sizeof(head) - head.saved;
    memcpy(at, notes + sizeof(head) + head.saved, transcript);
    head.saved = (uint32_t)(at - to - sizeof(head));
    memcpy(to, &head, sizeof(head));
    memcpy(to + sizeof(head), &saved, sizeof(saved));
    *bytes = (uint32_t)(at - to + transcript);
    return to;
}

/* ---- the wire: a board's kernel in front of `loop` --------------------------------- */

struct recording {
    struct wire base;
    struct wire *inner;
    uint8_t *notes, *room;
    uint32_t nnotes, made[LOGGED_CPUS];
    uint32_t handle, begin_cpu, end_cpu;
    struct kymo_d_call answer; /* of the wire itself, if `waits` */
    uint8_t out[64 + sizeof(struct dtrace_status)];
    bool waits;
};

static struct recording *of(struct wire *wire)
{
    return (struct recording *)wire;
}

/* Asks the machine; bytes of the answer in r->room, after its head. */
static uint32_t ask(struct recording *r, uint32_t command, uint32_t cpu, uint32_t id, uint32_t room)
{
    struct kymo_d_call call = {
        .command = command, .handle = r->handle, .cpu = cpu, .id = id, .out_bytes = room};

    if (r->inner->ops->send(r->inner, &call, sizeof(call)) != 0 ||
        r->inner->ops->receive(r->inner, r->room, ROOM, 0) < 0) {
        abort();
    }
    memcpy(&call, r->room, sizeof(call));
    return call.result ? 0 : call.out_bytes;
}

static uint32_t record_size(struct recording *r, const uint8_t *record)
{
    struct dtrace_epid_desc desc;
    uint32_t epid;
    uint8_t *keep = r->room;

    memcpy(&epid, record, sizeof(epid));
    r->room = malloc(ROOM);
    uint32_t got = epid ? ask(r, KYMO_D_EPID, 0, epid, 65536) : 0;
    memcpy(&desc, r->room + sizeof(struct kymo_d_call), sizeof(desc));
    free(r->room);
    r->room = keep;
    return got ? desc.size : 4;
}

static void log_records(struct recording *r, uint32_t pass, uint32_t cpu)
{
    const uint8_t *data = r->room + sizeof(struct kymo_d_call);
    uint32_t size, epid, bytes = ask(r, KYMO_D_BUFFER, cpu, 0, ROOM / 2);
    struct dtrace_snap snap = {0};

    memcpy(&snap, data, sizeof(snap));
    for (uint32_t at = sizeof(snap); at + 4 <= bytes; at += size) {
        size = record_size(r, data + at);
        memcpy(&epid, data + at, sizeof(epid));
        if (epid) {
            logged_event(cpu, DTRACE_LOG_RECORD, (uint32_t[]){logged_handle, r->made[cpu]++}, 2,
                         data + at, size);
        }
    }
    logged_event(cpu, DTRACE_LOG_TAKEN, (uint32_t[]){logged_handle, pass, r->made[cpu], 0}, 4,
                 &snap, sizeof(snap));
}

static void log_entries(struct recording *r, uint32_t pass, uint32_t cpu)
{
    const uint8_t *data = r->room + sizeof(struct kymo_d_call);
    uint32_t n = 0, bytes = ask(r, KYMO_D_AGGREGATION, cpu, 0, ROOM / 2);
    struct dtrace_agg_entry e;

    for (uint32_t at = sizeof(struct dtrace_snap); at + sizeof(e) <= bytes; at += e.size) {
        memcpy(&e, data + at, sizeof(e));
        logged_event(cpu, DTRACE_LOG_ENTRY, (uint32_t[]){logged_handle, pass, cpu, n++}, 4,
                     data + at, e.size);
    }
    logged_event(cpu, DTRACE_LOG_ENTRIES, (uint32_t[]){logged_handle, pass, cpu, n, 0, 0}, 6, "",
                 0);
}

static void log_pass(struct recording *r, struct kymo_d_call *call)
{
    struct dtrace_status status;

    for (uint32_t cpu = 0; cpu < LOGGED_CPUS; cpu++) {
        log_entries(r, call->id, cpu);
        log_records(r, call->id, cpu);
    }
    ask(r, KYMO_D_STATUS, 0, 0, sizeof(status));
    memcpy(&status, r->room + sizeof(*call), sizeof(status));
    logged_event(0, DTRACE_LOG_STATUS,
                 (uint32_t[]){logged_handle, call->id,
                              call->flags & (DTRACE_LOG_LAST | DTRACE_LOG_INTERRUPTED),
                              r->begin_cpu | r->end_cpu << 16},
                 4, &status, sizeof(status));
    memcpy(r->out, &status, sizeof(status));
    call->out_bytes = sizeof(status);
    call->id = 1;
}

static void take_notes(struct recording *r, struct kymo_d_call *call, const uint8_t *in)
{
    if (call->in_bytes) {
        r->nnotes = call->in_bytes;
        free(r->notes);
        r->notes = changed(in, &r->nnotes);
        log_notes(r->notes, r->nnotes);
    }
    call->id = UINT32_MAX >> 1; /* all of them */
    call->out_bytes = 0;
}

static int recording_send(struct wire *wire, const void *message, size_t bytes)
{
    struct recording *r = of(wire);
    struct kymo_d_call call;
    uint8_t *copy = malloc(bytes);

    memcpy(&call, message, sizeof(call));
    memcpy(copy, message, bytes);
    r->waits = call.command == KYMO_D_NOTES || call.command == KYMO_D_PASS;
    if (call.command == KYMO_D_NOTES) {
        take_notes(r, &call, copy + sizeof(call));
    } else if (call.command == KYMO_D_PASS) {
        log_pass(r, &call);
    }
    call.in_bytes = 0;
    r->answer = call;
    if (call.command == KYMO_D_CREATE) {
        memcpy(&call, message, sizeof(call));
        call.flags &= ~(uint32_t)DTRACE_CREATE_LOG;
        memcpy(copy, &call, sizeof(call));
    }
    int error = r->waits ? 0 : r->inner->ops->send(r->inner, copy, bytes);
    free(copy);
    return error;
}

static long recording_receive(struct wire *wire, void *message, size_t room, int timeout_ms)
{
    struct recording *r = of(wire);
    struct kymo_d_call call;

    if (r->waits) {
        memcpy(message, &r->answer, sizeof(r->answer));
        memcpy((uint8_t *)message + sizeof(r->answer), r->out, r->answer.out_bytes);
        return (long)(sizeof(r->answer) + r->answer.out_bytes);
    }
    long bytes = r->inner->ops->receive(r->inner, message, room, timeout_ms);
    memcpy(&call, message, sizeof(call));
    if (call.command == KYMO_D_INFO) {
        struct kymo_d_info *info = (void *)((uint8_t *)message + sizeof(call));
        info->cpus = info->cpus < LOGGED_CPUS ? info->cpus : LOGGED_CPUS;
        info->bufsize = info->aggsize = 65536;
    }
    r->handle = call.command == KYMO_D_CREATE ? call.handle : r->handle;
    r->begin_cpu = call.command == KYMO_D_GO ? call.cpu : r->begin_cpu;
    r->end_cpu = call.command == KYMO_D_STOP ? call.cpu : r->end_cpu;
    return bytes;
}

static const char *recording_reason(struct wire *wire)
{
    return of(wire)->inner->ops->reason(of(wire)->inner);
}

static void recording_close(struct wire *wire)
{
    struct recording *r = of(wire);

    r->inner->ops->close(r->inner);
    free(r->notes);
    free(r->room);
    free(r);
}

static const struct wire_ops recording_ops = {recording_send, recording_receive, recording_reason,
                                              recording_close, NULL};

struct target *target_open(const char *spec, const char **why)
{
    struct recording *r = calloc(1, sizeof(*r));

    (void)spec;
    r->base.ops = &recording_ops;
    r->inner = wire_loop(why);
    r->room = malloc(ROOM);
    return remote_target_open(&r->base, false, why);
}

/* ---- running it -------------------------------------------------------------------- */

static int redirected(int fd, const char *path)
{
    int saved = dup(fd), file = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);

    dup2(file, fd);
    close(file);
    return saved;
}

int logged_dtrace(int argc, const char *const *argv, const char *out, const char *err)
{
    char *copy[32] = {strdup("dtrace")};
    int n = 1;

    for (; n <= argc && n < 31; n++) {
        copy[n] = strdup(argv[n - 1]); /* the command writes to them */
    }
    fflush(NULL);
    int saved_out = out ? redirected(1, out) : -1, saved_err = err ? redirected(2, err) : -1;
    int status = kymo_dtrace_command.run(n, copy);
    fflush(NULL);
    if (out) {
        dup2(saved_out, 1);
        close(saved_out);
    }
    if (err) {
        dup2(saved_err, 2);
        close(saved_err);
    }
    while (n > 0) {
        free(copy[--n]);
    }
    return status;
}

int logged_record(const char *first, ...)
{
    const char *argv[32] = {"-t", "loop", "-x", "log=1", "-x", "strsize=64", first};
    int argc = 7;
    va_list more;

    va_start(more, first);
    while (argc < 31 && (argv[argc] = va_arg(more, const char *)) != NULL) {
        argc++;
    }
    va_end(more);
    if (!logged_capture) {
        logged_capture = mk_new(&(struct mk_options){.ncpu = LOGGED_CPUS, .start = 1000});
    }
    return logged_dtrace(argc, argv, NULL, NULL);
}

/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The service "program": starts a program of the boot image for the host, which traces it (-c of
 * `kymo dtrace`). The program is held until the host releases it; then it runs like any other. One
 * program and one request at a time on a channel. If the channel closes, a program that is still
 * held is ended; a running one continues. Needs the ability spawn, and can give only linkd's own.
 * Refuses a second program (EBUSY) and a message that is too long (EMSGSIZE). Context: linkd's
 * loop. Proved by test/boot/dlink.py.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "apps/init/script.h"
#include "apps/linkd/linkd.h"
#include "lib/include/signal.h"
#include "lib/link/service.h"

#define PRIORITY_DEFAULT 10 /* a start script's */

static struct starter {
    struct link_program head; /* of the request, then of the answer */
    size_t got, at;           /* bytes of the request, of the answer that were fetched */
    size_t text_bytes;
    int pid; /* 0: none started */
    bool held, answering;
    char text[LINK_PROGRAM_TEXT]; /* the line, then the answer's text */
} * starters[LINKD_CHANNELS];

_Static_assert(LINK_PROGRAM_LINE < LINK_PROGRAM_TEXT, "a NUL is added");

static long program_open(unsigned channel)
{
    starters[channel] = calloc(1, sizeof(*starters[channel]));
    return starters[channel] ? LINKD_CREDIT : -ENOMEM;
}

static void program_closed(unsigned channel)
{
    struct starter *s = starters[channel];

    starters[channel] = NULL;
    if (s->pid) {
        ProcWait(s->pid, NULL, KYMO_WAIT_DISOWN); /* ends it if it is held */
    }
    free(s);
}

/* ---- requests ---------------------------------------------------------------------- */

/* The names are a file of the image, which scripts/mkcpio.c makes. */
static void list_programs(struct starter *s)
{
    long bytes = ImageRead("boot/programs", 0, s->text, sizeof(s->text));

    s->text_bytes = bytes > 0 ? (size_t)bytes : 0;
}

static int refuse(struct starter *s, int error, const char *why)
{
    s->text_bytes = strlen(why);
    memmove(s->text, why, s->text_bytes);
    return error;
}

static int start(struct starter *s)
{
    struct line line;

    if (s->pid) {
        return refuse(s, -EBUSY, "");
    }
    s->text[s->text_bytes] = '\0';
    const char *wrong = line_parse(s->text, &line);
    if (!wrong && (line.nwords == 0 || line.background)) {
        wrong = line.nwords ? "& has no meaning here" : "no program";
    }
    if (wrong) {
        return refuse(s, -EINVAL, wrong);
    }
    if (line.exceeds) {
        return refuse(s, -EPERM, "");
    }
    const char *program = line.words[0];
    line.words[0] = line.name ? line.name : program;
    line.attr.priority = line.attr.priority ? line.attr.priority : PRIORITY_DEFAULT;
    line.attr.flags = KYMO_SPAWN_HOLD;
    int pid = kymo_spawn(program, (char *const *)line.words, &line.attr);
    int error = pid < 0 ? -errno : 0;
    s->text_bytes = 0;
    if (error == -ENOENT) {
        list_programs(s);
    }
    if (!error) {
        s->head.pid = s->pid = pid;
        s->held = true;
    }
    return error;
}

static int run(struct starter *s)
{
    if (!s->held) {
        return -ESRCH;
    }
    s->held = false;
    return kill(s->pid, SIGCONT) == 0 ? 0 : -errno;
}

static int ended(struct starter *s)
{
    int status = 0;
    int pid = s->pid ? ProcWait(s->pid, &status, KYMO_WAIT_NOHANG) : -1;

    if (pid == 0) {
        return -EAGAIN;
    }
    if (pid < 0) {
        return -ESRCH;
    }
    s->pid = 0;
    s->held = false;
    s->head.status = status;
    return 0;
}

static int answer_to(struct starter *s)
{
    uint32_t kind = s->head.kind;

    s->head = (struct link_program){.kind = kind};
    if (kind == LINK_PROGRAM_START) {
        return start(s);
    }
    s->text_bytes = 0;
    return kind == LINK_PROGRAM_RUN ? run(s) : kind == LINK_PROGRAM_ENDED ? ended(s) : -EINVAL;
}

/* ---- the channel ------------------------------------------------------------------- */

static void give_up(unsigned channel, int error)
{
    program_closed(channel);
    serve_close(channel, error);
}

static void take(struct starter *s, const uint8_t *bytes, size_t count, size_t offset)
{
    for (size_t i = 0; i < count; i++) {
        size_t at = offset + i;

        if (at < sizeof(s->head)) {
            ((uint8_t *)&s->head)[at] = bytes[i];
        } else {
            s->text[at - sizeof(s->head)] = (char)bytes[i];
        }
    }
}

static void program_data(unsigned channel, const uint8_t *bytes, size_t count, size_t offset,
                         size_t total)
{
    struct starter *s = starters[channel];

    if (s->answering || total < sizeof(s->head) || total > sizeof(s->head) + LINK_PROGRAM_LINE) {
        give_up(channel, s->answering ? -EBUSY : -EMSGSIZE);
        return;
    }
    take(s, bytes, count, offset);
    link_credit(&linkd_link, channel, link_cost(count, offset));
    if (offset + count < total) {
        return;
    }
    s->text_bytes = total - sizeof(s->head);
    s->head.result = answer_to(s);
    s->answering = true;
    s->at = 0;
    int error = link_send(&linkd_link, channel, sizeof(s->head) + s->text_bytes);
    if (error) {
        give_up(channel, error);
    }
}

static size_t program_fetch(unsigned channel, size_t most, const uint8_t **bytes)
{
    struct starter *s = starters[channel];
    size_t head = sizeof(s->head), end = s->at < head ? head : head + s->text_bytes;
    size_t count = most < end - s->at ? most : end - s->at;

    *bytes = s->at < head ? (const uint8_t *)&s->head + s->at
                          : (const uint8_t *)s->text + (s->at - head);
    s->at += count;
    return count;
}

static void program_sent(unsigned channel)
{
    starters[channel]->answering = false;
}

const struct service service_program = {
    .name = "program",
    .open = program_open,
    .data = program_data,
    .fetch = program_fetch,
    .sent = program_sent,
    .closed = program_closed,
};

/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * -c and -p on a board: the link's service "program" (lib/link/service.h) starts a program of its
 * image, held, and lets it run when tracing is on; and it knows which processes run. An answer is
 * checked like those of D's control call. Tests: test/board/dlink.py, test/board/grab.py,
 * test/host/remote/board_test.c.
 */
#include "host/remote/remote.h"
#include "lib/link/service.h"

#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

struct answer {
    struct link_program head;
    char text[LINK_PROGRAM_TEXT + 1];
    size_t text_bytes;
};

static int remote_program_fail_with(char *why, size_t room, int error, const char *text)
{
    if (why) {
        snprintf(why, room, "%s", text);
    }
    return error;
}

static int remote_program_receive_answer(struct remote *r, uint32_t kind, struct answer *a,
                                         char *why, size_t room)
{
    char message[sizeof(a->head) + LINK_PROGRAM_TEXT];
    long bytes = remote_wait_for(r->programs, message, sizeof(message));

    if (bytes == -EINTR || bytes == -EAGAIN) {
        return remote_program_fail_with(why, room, -EPIPE, "the target did not answer");
    }
    if (bytes < 0 && bytes != -EMSGSIZE) {
        return remote_program_fail_with(why, room, -EPIPE, r->programs->ops->reason(r->programs));
    }
    if (bytes < (long)sizeof(a->head)) {
        return remote_program_fail_with(why, room, -EPROTO, "malformed answer from the target");
    }
    memcpy(&a->head, message, sizeof(a->head));
    a->text_bytes = (size_t)bytes - sizeof(a->head);
    memcpy(a->text, message + sizeof(a->head), a->text_bytes);
    a->text[a->text_bytes] = '\0';
    if (a->head.kind != kind || a->head.result > 0 || a->head.result < -4095) {
        return remote_program_fail_with(why, room, -EPROTO, "malformed answer from the target");
    }
    return 0;
}

/* 0, or why there is no answer. The target's result is in the answer. */
static int remote_program_ask_target(struct remote *r, uint32_t kind, int32_t pid, const char *line,
                                     struct answer *a, char *why, size_t room)
{
    char message[sizeof(struct link_program) + LINK_PROGRAM_LINE];
    const struct link_program head = {.kind = kind, .pid = pid};
    size_t bytes = strlen(line);

    if (bytes > LINK_PROGRAM_LINE) {
        return remote_program_fail_with(why, room, -E2BIG, "the command is too long");
    }
    memcpy(message, &head, sizeof(head));
    memcpy(message + sizeof(head), line, bytes);
    if (r->programs->ops->send(r->programs, message, sizeof(head) + bytes) != 0) {
        return remote_program_fail_with(why, room, -EPIPE, r->programs->ops->reason(r->programs));
    }
    return remote_program_receive_answer(r, kind, a, why, room);
}

/* Names, one a line, become one line. Other bytes than a name's come from no target of ours. */
static void join_lines(char *text)
{
    size_t length = strlen(text);

    for (size_t i = 0; i < length; i++) {
        text[i] = isgraph((unsigned char)text[i]) ? text[i] : ' ';
    }
    while (length && text[length - 1] == ' ') {
        text[--length] = '\0';
    }
}

static int remote_program_not_started(struct answer *a, char *why, size_t room)
{
    int error = remote_error(a->head.result);

    join_lines(a->text);
    if (error == -ENOENT && *a->text) {
        snprintf(why, room, "No such program in the boot image, which has: %s", a->text);
    } else if (error == -EPERM) {
        snprintf(why, room,
                 "linkd may not start it: its line in the start script needs ability=spawn and the "
                 "abilities that the program is to have");
    } else {
        snprintf(why, room, "%s", *a->text ? a->text : strerror(-error));
    }
    return error;
}

static int open_service(struct remote *r, const char *reason, char *why, size_t room)
{
    if (!r->programs && r->wire->ops->beside) {
        r->programs = r->wire->ops->beside(r->wire, "program", &reason);
    }
    return r->programs ? 0 : remote_program_fail_with(why, room, -ENOSYS, reason);
}

int remote_program_start(struct target *t, const char *line, int32_t *pid, char *why, size_t room)
{
    struct remote *r = remote_of(t);
    struct answer a;
    int error = open_service(r, "the target starts no programs", why, room);

    if (error) {
        return error;
    }
    error = remote_program_ask_target(r, LINK_PROGRAM_START, 0, line, &a, why, room);
    if (error) {
        return error;
    }
    if (a.head.result) {
        return remote_program_not_started(&a, why, room);
    }
    if (a.head.pid < 1) {
        return remote_program_fail_with(why, room, -EPROTO, "malformed answer from the target");
    }
    *pid = a.head.pid;
    return 0;
}

int remote_program_run(struct target *t)
{
    struct answer a;
    int error = remote_program_ask_target(remote_of(t), LINK_PROGRAM_RUN, 0, "", &a, NULL, 0);

    return error ? error : a.head.result ? remote_error(a.head.result) : 0;
}

/* Somebody else may have ended it and taken its status: that is an end, too. */
int remote_program_ended(struct target *t, int *status)
{
    struct answer a;
    int error = remote_program_ask_target(remote_of(t), LINK_PROGRAM_ENDED, 0, "", &a, NULL, 0);

    error = error ? error : a.head.result ? remote_error(a.head.result) : 0;
    *status = error ? 0 : a.head.status;
    return error == -EAGAIN ? 0 : error && error != -ESRCH ? error : 1;
}

/* EINVAL is an older target's answer. */
int remote_process_find(struct target *t, int32_t from, const char *wanted,
                        char name[KYMO_NAME_MAX], char *why, size_t room)
{
    static const char unable[] = "the target can't say what runs";
    struct remote *r = remote_of(t);
    struct answer a;
    int error = open_service(r, unable, why, room);

    error = error ? error
                  : remote_program_ask_target(r, LINK_PROGRAM_FIND, from, wanted, &a, why, room);
    if (error) {
        return error;
    }
    if (a.head.result) {
        error = remote_error(a.head.result);
        return remote_program_fail_with(why, room, error,
                                        error == -EINVAL ? unable : strerror(-error));
    }
    if (a.head.pid < from || a.text_bytes >= KYMO_NAME_MAX || strlen(a.text) != a.text_bytes ||
        !remote_text_ok(a.text, a.text_bytes + 1) || (*wanted && strcmp(a.text, wanted) != 0)) {
        return remote_program_fail_with(why, room, -EPROTO, "malformed answer from the target");
    }
    memcpy(name, a.text, a.text_bytes + 1);
    return a.head.pid;
}

void remote_program_close(struct remote *r)
{
    if (r->programs) {
        r->programs->ops->close(r->programs);
    }
}

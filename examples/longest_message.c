/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Finds the message that took longest from its send to its reply, with the names of its client and
 * its server.
 *
 *   cc -o longest_message longest_message.c $(pkg-config --cflags --libs kev)
 *   ./longest_message trace.kev
 *
 * What a loss may hide is not guessed: messages that are open at one are forgotten.
 */
#include <inttypes.h>
#include <kev.h>
#include <stdio.h>
#include <string.h>

#define MOST 4096

/* A message that waits for its reply, of one client thread. */
struct message {
    int32_t pid, tid, server;
    int64_t sent, replied;
};

static struct message open_messages[MOST], longest;
static unsigned nopen;

static struct message *message_of(int32_t pid, int32_t tid)
{
    for (unsigned i = 0; i < nopen; i++) {
        if (open_messages[i].pid == pid && open_messages[i].tid == tid) {
            return &open_messages[i];
        }
    }
    return NULL;
}

static void message_forget(struct message *message)
{
    if (message != NULL) {
        *message = open_messages[--nopen];
    }
}

static int32_t number_of(struct kev_capture *capture, const char *name)
{
    const struct kev_value *value = kev_capture_value_of(capture, name);

    return value == NULL ? KEV_NOBODY : (int32_t)value->integer;
}

/* The sender is the thread whose event it is; a reply names the thread that gets it. */
static void message_event(struct kev_capture *capture, const struct kev_item *item)
{
    int32_t pid = number_of(capture, "pid"), tid = number_of(capture, "tid");
    struct message *message = message_of(pid, tid);

    if (strcmp(item->name, "SND_MESSAGE") == 0) {
        message_forget(message_of(item->pid, item->tid));
        if (item->pid != KEV_NOBODY && nopen < MOST) {
            open_messages[nopen++] =
                (struct message){item->pid, item->tid, pid, item->ns, item->ns};
        }
    } else if (message != NULL &&
               (strcmp(item->name, "REPLY_MESSAGE") == 0 || strcmp(item->name, "MSG_ERROR") == 0)) {
        message->replied = item->ns;
        if (message->replied - message->sent > longest.replied - longest.sent) {
            longest = *message;
        }
        message_forget(message);
    }
}

static void item_take(struct kev_capture *capture, const struct kev_item *item)
{
    if (item->kind == KEV_ITEM_LOSS) {
        nopen = 0;
    } else if (item->kind == KEV_ITEM_EVENT && item->name != NULL) {
        if (strcmp(item->class_name, "COMM") == 0) {
            message_event(capture, item);
        } else if (item->state >= 0 && strcmp(item->name, "THREADY") == 0) {
            message_forget(message_of(item->pid, item->tid)); /* it waits for no reply */
        }
    }
}

static const char *name_at(struct kev_capture *capture, int32_t pid, int32_t tid, int64_t ns)
{
    const struct kev_life *life = kev_capture_life_at(capture, pid, tid, ns);

    return life == NULL || life->name == NULL ? "?" : life->name;
}

int main(int argc, char **argv)
{
    struct kev_capture *capture = kev_capture_new();
    const struct kev_item *item;
    int outcome;

    if (capture == NULL || argc != 2) {
        fprintf(stderr, "usage: longest_message FILE\n");
        return 2;
    }
    outcome = kev_capture_open(capture, argv[1]);
    if (outcome >= KEV_COMPLETE) {
        outcome = kev_capture_learn(capture);
    }
    while (outcome >= KEV_COMPLETE && (outcome = kev_capture_next(capture, &item)) == KEV_GIVEN) {
        item_take(capture, item);
    }
    if (longest.server != 0) {
        printf("%" PRId64 " ns, from %" PRId64 " ns on: %s (%" PRId32 ", thread %" PRId32
               " %s) to %s (%" PRId32 ")\n",
               longest.replied - longest.sent, longest.sent,
               name_at(capture, longest.pid, KEV_NOBODY, longest.sent), longest.pid, longest.tid,
               name_at(capture, longest.pid, longest.tid, longest.sent),
               name_at(capture, longest.server, KEV_NOBODY, longest.sent), longest.server);
    }
    if (outcome != KEV_COMPLETE) {
        fprintf(stderr, "longest_message: %s\n", kev_capture_fault(capture)->text);
    }
    kev_capture_free(capture);
    return outcome == KEV_COMPLETE ? 0 : 1;
}

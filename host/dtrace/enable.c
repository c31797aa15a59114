/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Enables the command's program on the target, and reports the sizes that the target had to lower.
 * Tested by test/dtrace/rows/command.rows.
 */
#include "host/dtrace/command.h"
#include "host/dtrace/consume/consume.h"

#include <errno.h>
#include <stdlib.h>

/* The limit of a width in a format: the largest that a format can express
 * (host/dt/clause/printf_parse.c); for a program that is not the user's, a line of a wide
 * terminal. */
enum { WIDTH_MOST = 1000000, WIDTH_MOST_FOREIGN = 1024 };

/* Reports a lowered size in the largest unit that is not larger than it, if it is a multiple of
 * that: 134217728 is "128m", 196608000 is "196608000 bytes". Up to 8 bytes are alignment's, and are
 * not reported. */
static void say_lowered(const char *what, uint64_t asked, uint64_t got)
{
    char text[SIZE_TEXT];

    if (got == 0 || got >= asked || asked - got <= sizeof(uint64_t)) {
        return;
    }
    if (message_size(text, got) && strtoull(text, NULL, 10) < 1024) {
        fprintf(stderr, "dtrace: %s lowered to %s\n", what, text);
    } else {
        fprintf(stderr, "dtrace: %s lowered to %llu bytes\n", what, (unsigned long long)got);
    }
}

int command_fail(const char *what, const char *why)
{
    fprintf(stderr, "dtrace: %s: %s\n", what, why);
    return 1;
}

static void say_size(const char *before, const char *name, uint64_t size)
{
    char text[SIZE_TEXT];

    message_size(text, size);
    fprintf(stderr, "%s%s=%s", before, name, text);
}

/* Reports why the target refused the program; for want of memory also the sizes that did not
 * fit. */
static int enable_report_refusal(const struct command *c, const struct dtrace_refusal *why)
{
    static const char *const names[] = {"bufsize", "aggsize", "specsize", "dynvarsize"};
    uint64_t memory = c->target->ops->memory ? c->target->ops->memory(c->target) : 0;

    command_fail("could not enable tracing", dtrace_refusal_text(why));
    if (why->error == -ENOMEM) {
        for (unsigned i = 0; i < sizeof(names) / sizeof(*names); i++) {
            say_size(i ? ", " : "dtrace: asked for ", names[i],
                     dtrace_option(c->session, names[i]));
        }
        if (memory) {
            say_size("; the target has ", "memory", memory);
        }
        fputs(": ask for less, or let bufresize=auto lower them\n", stderr);
    }
    if (why->reason == DTRACE_REASON_OTHER_KERNEL) {
        fputs("dtrace: the target has started another kernel: start the command again\n", stderr);
    }
    return 1;
}

/* No target has a larger buffer in one piece: a larger size is that of a buffer which the program
 * does not use. */
static uint64_t room_for(uint64_t size)
{
    return size < (uint64_t)1 << 30 ? size : (uint64_t)1 << 30;
}

void command_say_enabled(struct command *c, const struct consumer *consumer)
{
    const struct dtrace_sizes *got = &consumer->sizes;
    const struct dt_session *d = c->session;

    if (!c->claim) {
        command_say_matched(c);
    }
    say_lowered("buffer size", dtrace_option(d, "bufsize") & ~(uint64_t)7, got->bufsize);
    say_lowered("aggregation size", dtrace_option(d, "aggsize") & ~(uint64_t)7, got->aggsize);
    say_lowered("speculation size", dtrace_option(d, "specsize") & ~(uint64_t)7, got->specsize);
    say_lowered("dynamic variable size", dtrace_option(d, "dynvarsize") & ~(uint64_t)7,
                got->dynvarsize);
    dt_option_notes(c->session, stderr);
    if (dt_option_on(c->session, "destructive") && !dt_option_on(c->session, "quiet")) {
        fputs("dtrace: allowing destructive actions\n", stderr);
    }
}

int command_enable(struct command *c, struct consumer *consumer, const void *image, size_t size)
{
    struct dtrace_refusal refusal;
    struct dtrace_sizes *sizes = &consumer->sizes;
    uint32_t matched;
    unsigned flags = dt_option_on(c->session, "zdefs") ? DTRACE_CREATE_ZERO_OK : 0;

    flags |= dt_option_on(c->session, "log") ? DTRACE_CREATE_LOG : 0;
    if (dt_option_on(c->session, "log") && dt_option_on(c->session, "retain")) {
        return command_fail("could not enable tracing", "log=1 or retain, not both");
    }
    if (!c->claim && dt_option_on(c->session, "grabanon")) {
        return command_fail("could not enable tracing",
                            "No anonymous tracing state (-a claims one)");
    }
    if (!c->claim && c->target->ops->create(c->target, image, size, flags, &refusal) != 0) {
        return enable_report_refusal(c, &refusal);
    }
    c->target->ops->sizes(c->target, sizes, &matched);
    consumer->target = c->target;
    consumer->session = c->session;
    consumer->bufsize = sizes->bufsize > (1u << 16) ? room_for(sizes->bufsize) : 1u << 16;
    consumer->aggsize = room_for(sizes->aggsize);
    consumer->json = c->json;
    consumer->acts = !c->foreign || c->destructive;
    consumer->printer.width_most = c->foreign ? WIDTH_MOST_FOREIGN : WIDTH_MOST;
    consumer->retains = dt_option_on(c->session, "retain");
    consumer->temporal = dt_option_on(c->session, "temporal") &&
                         dtrace_option(c->session, "bufpolicy") == DTRACE_POLICY_SWITCH;
    if (!consumer_init(consumer)) {
        return command_fail("could not enable tracing", "Not enough space");
    }
    return 0;
}

/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * `kymo dtrace -r FILE` with a program: the capture is the target, its events are the probes
 * (docs/guide/d-after.md). Tested by test/host/after.
 */
#include "host/after/target.h"
#include "host/dtrace/command.h"
#include "host/kymo.h"
#include "host/output.h"

/* Options that need something that runs. Returns false after a message. */
static bool is_of_a_capture(const struct command *c)
{
    const struct {
        bool given;
        const char *option, *why;
    } rows[] = {
        {c->target_spec != NULL, "-t", "the capture is the target"},
        {c->claim, "-a", "nothing runs that could be claimed"},
        {c->run != NULL, "-c", "what a capture has recorded is over"},
        {c->grab != NULL, "-p",
         "what a capture has recorded is over: /pid == N/ selects a process"},
        {c->compile_to != NULL, "--compile", "the program is executed here"},
    };

    for (unsigned i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
        if (rows[i].given) {
            fprintf(stderr, "dtrace: -r: %s is not available: %s\n", rows[i].option, rows[i].why);
            return false;
        }
    }
    return true;
}

int command_after(struct command *c)
{
    if (!is_of_a_capture(c)) {
        return 2;
    }
    output_reads(c->capture);
    if (!c->output && output_stdout_is_read()) {
        kymo_error("%s: would be written to while it is read: give another file", c->capture);
        return 1;
    }
    c->target = after_target_open(c->capture, command_interrupted());
    c->target_spec = c->capture;
    return c->target ? command_run(c) : 1;
}

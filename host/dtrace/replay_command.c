/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * `kymo dtrace -r FILE`: compiles each program that logged into a capture again from its notes,
 * with its own options, and prints its records. -o, --json, --elf, -L and -w are the user's. The
 * capture may be an attacker's: without -w its programs execute nothing, write nothing and read no
 * file. Tested by test/host/dtrace/replay.
 */
#include "host/dtrace/command.h"
#include "host/dtrace/replay/replay.h"
#include "host/dtrace/saved.h"
#include "host/escape.h"
#include "host/kymo.h"
#include "host/output.h"
#include "host/remote/target.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

static int replay_fail_with(const char *why)
{
    fprintf(stderr, "dtrace: %s\n", why);
    return 1;
}

/* Prints one program's records, as a command of its own. */
static int print_one(const struct command *given, struct replay *r)
{
    struct command c = {.target_spec = given->capture,
                        .json = given->json,
                        .destructive = given->destructive,
                        .foreign = true,
                        .out = given->out,
                        .replay = r,
                        .run_gate = -1};
    const char *why = NULL;
    bool destructive = false;
    size_t bytes;
    const void *saved = replay_saved(r, &bytes);
    struct wire *wire = replay_wire(r, &why);
    int status = 1;

    if (!wire) {
        return replay_fail_with(why);
    }
    for (unsigned i = 0; i < given->nsettings; i++) {
        command_set(&c, given->settings[i].name, given->settings[i].value, NULL);
    }
    c.target = remote_target_open(wire, false, &why);
    bool valid = c.target && saved_read_strings(&c, saved, bytes);
    for (unsigned i = 0; i < c.nsettings; i++) {
        destructive |= strcmp(c.settings[i].name, "destructive") == 0;
    }
    if (!c.target) {
        replay_fail_with(why);
    } else if (!valid) {
        replay_fail_with("the program's description in the capture is invalid");
    } else if (destructive && !given->destructive) {
        replay_fail_with("this program may be destructive on this machine: -w allows it");
    } else {
        for (unsigned i = 0; i < given->nelf_files; i++) {
            command_add_elf(&c, given->elf_files[i]);
        }
        status = command_run(&c);
    }
    command_clean_up(&c);
    return status;
}

int command_replay(struct command *c)
{
    static struct escape_stream escaped;
    int status = 0;

    if (c->nsources || c->list) {
        return command_after(c);
    }
    /* The saved program has its own sources and options, and needs no target. */
    bool alone =
        !c->nargs && !c->claim && !c->compile_only && !c->run && !c->grab && !c->target_spec;
    for (unsigned i = 0; i < c->nsettings; i++) {
        alone = alone && (strcmp(c->settings[i].name, "destructive") == 0 ||
                          strcmp(c->settings[i].name, "libdir") == 0);
    }
    if (!alone) {
        fputs("dtrace: -r takes the program and its options from the capture: only -o, -w, -L, "
              "--json and --elf go with it\n",
              stderr);
        return 2;
    }
    output_reads(c->capture);
    if (!c->output && output_stdout_is_read()) {
        kymo_error("%s: would be written to while it is read: give another file", c->capture);
        return 1;
    }
    struct replay *first = replay_read(c->capture);
    if (!first) {
        return 1;
    }
    c->out = c->output ? output_append(c->output)
             : !c->destructive && isatty(STDOUT_FILENO)
                 ? escape_stream_open(&escaped, STDOUT_FILENO)
                 : stdout;
    if (!c->out) {
        fprintf(stderr, "dtrace: failed to open output file '%s': %s\n", c->output,
                strerror(errno));
        status = 1;
    }
    for (struct replay *r = first; r && c->out; r = r->next) {
        int its = print_one(c, r);
        status = status ? status : its; /* the first failure is the status */
    }
    status = status ? status : first->broken;
    replay_free(first);
    return status;
}

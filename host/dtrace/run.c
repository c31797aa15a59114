/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * `kymo dtrace` from end to end: opens the target, compiles, lists or traces, cleans up. Tested by
 * test/dtrace/rows/command.rows.
 */
#include "host/dtrace/command.h"
#include "host/dtrace/saved.h"
#include "host/kymo.h"
#include "host/output.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* Does what is asked for with the compiled programs. */
static int dtrace_run_trace_programs(struct command *c, const void *image, size_t size)
{
    if (dt_option_on(c->session, "log") && (c->claim || c->compile_to)) {
        fputs("dtrace: log=1 is not available for a program that the boot traces\n", stderr);
        return 1;
    }
    if (c->claim) {
        return command_take_claim(c, image, size) ? command_trace(c, image, size) : 1;
    }
    command_report(c);
    if (c->compile_only) {
        if (c->verbose) {
            command_costs(c, image);
        }
        return !command_affordable(c, image) ? 1
               : c->compile_to && image      ? saved_write(c, image, size)
                                             : 0;
    }
    if (c->target->ops->only_compiles) {
        fputs("dtrace: the target is an ELF file, which runs nothing: give --compile or -e\n",
              stderr);
        return 1;
    }
    if (!command_any_matched(c) && !dt_option_on(c->session, "zdefs")) {
        command_say_matched(c);
        fprintf(stderr, "dtrace: no probes %s\n", c->nsources ? "matched" : "specified");
        return 1;
    }
    return command_affordable(c, image) ? command_trace(c, image, size) : 1;
}

static int compile_and_run(struct command *c)
{
    size_t size;

    int failed = command_compile(c);
    if (c->target->ops->left_out) {
        c->left_out = c->target->ops->left_out(c->target);
    }
    if (failed) {
        return 1;
    }
    for (unsigned i = 0; i < c->nsources && !c->out; i++) {
        if (c->sources[i].is_script) {
            output_reads(c->sources[i].text);
        }
    }
    if (!c->out) {
        c->out = c->output ? output_append(c->output) : stdout;
    }
    if (!c->out) {
        fprintf(stderr, "dtrace: failed to open output file '%s': %s\n", c->output,
                strerror(errno));
        return 1;
    }
    void *image = c->nsources ? command_image(c, &size) : NULL;
    c->prints = command_prints(image);
    bool allowed = command_allows(c, image) && (!image || !c->target->ops->allows || c->list ||
                                                c->target->ops->allows(c->target, image));
    int status = !allowed  ? 1
                 : c->list ? command_list(c, image)
                           : dtrace_run_trace_programs(c, image, size);
    free(image);
    return status;
}

/* Reports a lost target as the reason of what failed before. Returns true if it is lost. */
static bool say_gone(const struct command *c)
{
    const struct target_ops *ops = c->target->ops;
    const char *why = ops->gone ? ops->gone(c->target) : NULL;

    if (why) {
        fprintf(stderr, "dtrace: lost the target: %s\n", why);
    }
    return why != NULL;
}

int command_run(struct command *c)
{
    const char *named = c->target_spec ? c->target_spec : getenv("KYMO_TARGET");
    bool ready = true;

    c->target_spec = named && *named ? named : "boot";
    if (c->list || c->claim) {
        command_set(c, "zdefs", NULL, NULL);
    }
    int status = command_open(c);
    if (status) {
        return status;
    }
    if (c->run) {
        ready = command_start_child(c);
    } else if (c->grab) {
        ready = command_grab_process(c);
    }
    command_name_processes(c);
    if (!ready || (c->claim && command_look_at_claim(c))) {
        say_gone(c);
        return 1;
    }
    command_tell_targets(c);
    status = compile_and_run(c);
    command_drop_child(c);
    return say_gone(c) ? 1 : status;
}

void command_clean_up(struct command *c)
{
    if (c->session) {
        dt_session_free(c->session);
    }
    if (c->target) {
        c->target->ops->close(c->target);
    }
    for (unsigned i = 0; i < c->nsources; i++) {
        free((char *)c->sources[i].name);
        free(c->sources[i].path);
        free(c->sources[i].argv);
    }
    free(c->sources);
    free(c->settings);
    free(c->elf_files);
    free(c->args);
    free(c->claimed);
    free(c->processes);
}

static int run_dtrace_command(int argc, char **argv)
{
    struct command c = {.run_gate = -1};
    int status = command_parse(&c, argc, argv);

    if (status == 0 && c.version) {
        puts("dtrace: Sun D 1.13");
    } else if (status == 0) {
        status = c.capture ? command_replay(&c) : command_run(&c);
        if (c.out && fflush(c.out) != 0 && status == 0) {
            fprintf(stderr, "dtrace: failed to write output: %s\n", strerror(errno));
            status = 1;
        }
        if (c.out && c.out != stdout) {
            fclose(c.out);
        }
    }
    command_clean_up(&c);
    return status;
}

const struct kymo_command kymo_dtrace_command = {
    .name = "dtrace",
    .summary = "run D programs on a target and print what they record",
    .run = run_dtrace_command,
    .help = command_help,
};

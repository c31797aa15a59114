/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The command line of `kymo dtrace`. Internal to host/dtrace.
 */
#ifndef HOST_DTRACE_COMMAND_H
#define HOST_DTRACE_COMMAND_H

#include "host/dt/dt.h"
#include "host/target/target.h"

#include <sys/types.h>

/* A program of -n, -P, -m, -f, -i or -s. */
struct program_source {
    bool is_script;
    enum dt_spec spec;
    const char *text;     /* the description, or the script's path */
    const char *contents; /* of the script; NULL: they are in the file */
    const char *name;     /* the same as messages show it: up to the first { / or ; */
    const char **argv;    /* $0, $1 … */
    struct dt_program *program;
};

struct consumer;

struct setting { /* -x, -b, -D …, in order */
    const char *name, *value;
    const char *shown; /* as an error message names it: "-x NAME", "-b VALUE" */
    enum dt_option_origin origin;
};

struct command {
    const char *target_spec; /* -t; NULL: the default */
    struct program_source *sources;
    unsigned nsources;
    const char **elves; /* --elf */
    unsigned nelves;
    struct setting *settings;
    unsigned nsettings;
    const char **args; /* what is left: $1 … */
    int nargs;
    bool list, verbose, disassemble, compile_only, version, json;
    unsigned bits;           /* -32, -64; 0: what the target has */
    bool claim, destructive; /* -a, -w */
    bool foreign;            /* the sources came in a capture or from the target */
    void *claimed;           /* the file that came with the boot's consumer */
    const char *compile_to;  /* --compile */
    const char *capture;     /* -r */
    struct replay *replay;   /* of it: the consumer that is printed; NULL: a target runs */
    const char *output;
    const char *run; /* -c */
    pid_t pid;       /* -p, or of -c; 0: none */
    bool ended;      /* that process is gone */
    int run_gate;    /* -c: written to when the command may start; -1: none */
    int run_report;  /* -c: read from, why it could not start */
    FILE *out;       /* standard output, or -o's file */
    struct target *target;
    struct dt_session *session;
};

/* ---- its parts --------------------------------------------------------------------- */

/* 0, or the exit status with which to end now. */
int command_parse(struct command *, int argc, char **argv);
void command_usage(FILE *);
extern const char command_help[];
/* As -x name=value does. shown: see struct setting. */
void command_set(struct command *, const char *name, const char *value, const char *shown);
struct program_source *command_source(struct command *, bool is_script, enum dt_spec,
                                      const char *text);
void command_argument(struct command *, const char *text);
void command_add_elf(struct command *, const char *path);
/* -l: the probes of the compiled programs; image NULL: all */
int command_list(struct command *, const void *image);
/* With -v: stability of each clause; and its bounds */
void command_report(struct command *);
void command_costs(struct command *, const void *image);
/* False: a clause may take more than -x maxinsns allows; that was said. */
bool command_affordable(struct command *, const void *image);
/* open.c: the target, and a session with the command's options: 0, or the exit status. */
int command_open(struct command *);
/* compile.c: all programs: 0, or the exit status. */
int command_compile(struct command *);
/* How many probes each program matches, unless with -q. */
void command_say_matched(struct command *);
bool command_any_matched(const struct command *);
void *command_image(struct command *, size_t *size); /* freed by the caller */
/* False, after a message: the image's programs came from elsewhere, ask for what acts on this
 * machine, and there is no -w. image NULL: there are no programs. */
bool command_allows(const struct command *, const void *image);
/* claim.c, with -a: what the boot traces, as c->claimed: 0, or 1. */
int command_look_at_claim(struct command *);
/* Takes it over, if the image is it. */
bool command_take_claim(struct command *, const void *image, size_t size);
/* enable.c: enables the image, unless with -a, and makes the consumer ready: 0 or 1. */
int command_enable(struct command *, struct consumer *, const void *image, size_t size);
/* Once tracing is on and before its first record: what matched, which sizes the target lowered. */
void command_say_enabled(struct command *, const struct consumer *);
int command_fail(const char *what, const char *why); /* says it; 1 */
/* Enables, consumes, ends: the exit status. With -a what is enabled already. */
int command_trace(struct command *, const void *image, size_t size);
/* -r: prints what the programs in a capture recorded: the exit status. */
int command_replay(struct command *);
/* Compiles and does what is asked for, on c->target or the one that it opens. */
int command_run(struct command *);
void command_clean_up(struct command *);
/* -c: starts it, waiting at the gate. False: it can't be started. */
bool command_start_child(struct command *);
/* -p: false: there is no such process. */
bool command_grab(struct command *);
void command_release_child(struct command *);
void command_drop_child(struct command *);
bool command_child_ended(struct command *);
/* ELFs for a target that is this machine: the one that -c will run; that of -p's process; those of
 * --elf (false: one can't be read, already reported). */
void command_add_program(struct command *, const char *path);
void command_add_process(struct command *);
bool command_add_elves_here(struct command *);

#endif

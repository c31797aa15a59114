/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The command line of `kymo dtrace`. Internal to host/dtrace.
 */
#ifndef HOST_DTRACE_COMMAND_H
#define HOST_DTRACE_COMMAND_H

#include "host/dt/dt.h"
#include "host/target/target.h"
#include "abi/sys/kymo.h"

#include <signal.h>
#include <sys/types.h>

/* A program of -n, -P, -m, -f, -i or -s. */
struct program_source {
    bool is_script;
    enum dt_spec spec;
    const char *text;     /* the description, or the script's path */
    const char *contents; /* of the script; NULL: read the file */
    const char *name;     /* the text as messages show it: up to the first { / or ; */
    const char **argv;    /* $0, $1 … */
    char *path;           /* of a script that was found by its name; NULL: by no search */
    struct dt_program *program;
};

struct consumer;
struct consumer_sink;

struct setting { /* -x, -b, -D …, in order */
    const char *name, *value;
    const char *shown; /* as an error message names it: "-x NAME", "-b VALUE" */
    enum dt_option_origin origin;
};

enum { COMMAND_PROCESSES_MOST = 64 }; /* of one name */

struct command_processes { /* of a name that a description has, or -p */
    char name[KYMO_NAME_MAX];
    int32_t pids[COMMAND_PROCESSES_MOST];
    unsigned n;
};

struct command_target {
    int32_t pid;
    bool ended;
};

struct command {
    const char *target_spec; /* -t; NULL: the default */
    struct program_source *sources;
    unsigned nsources;
    const char **elf_files; /* --elf: paths of ELF files */
    unsigned nelf_files;
    struct setting *settings;
    unsigned nsettings;
    const char **args; /* the other arguments: $1 … */
    int nargs;
    bool list, verbose, disassemble, compile_only, version, json;
    unsigned bits;                    /* -32, -64; 0: what the target has */
    bool claim, destructive;          /* -a, -w */
    bool prints;                      /* some clause of the compiled programs has output */
    bool foreign;                     /* the sources came in a capture or from the target */
    void *claimed;                    /* the compiled program (saved.h) of the boot's consumer */
    const char *compile_to;           /* --compile */
    const char *capture;              /* -r */
    const struct consumer_sink *sink; /* NULL: what is recorded is printed */
    unsigned left_out;                /* probes that a description names and a capture can't have */
    struct replay *replay;            /* the consumer in it that is printed; NULL: a target runs */
    const char *output;
    const char *run;  /* -c */
    const char *grab; /* -p: a number, or a process's name; NULL: none */
    pid_t pid;        /* of -c or -p; of several, the first; 0: none */
    struct command_target targets[COMMAND_PROCESSES_MOST]; /* $target: pid and the others */
    unsigned ntargets;
    bool watches;                        /* of a board: their ends can be learned */
    bool ended;                          /* all of them have ended */
    struct command_processes *processes; /* by name */
    unsigned nprocesses;
    char why[600];  /* there is no such process */
    int run_gate;   /* -c: written to when the command may start; -1: none */
    int run_report; /* -c: an errno is read from it if the command could not start */
    FILE *out;      /* standard output, or -o's file */
    struct target *target;
    struct dt_session *session;
};

/* ---- its parts ---------------------------------------------------------------------- */

/* command.c. Returns 0, or the exit status with which to end now. */
int command_parse(struct command *, int argc, char **argv);
void command_usage(FILE *);
extern const char command_help[];
/* Sets an option as -x name=value does. shown: see struct setting. */
void command_set(struct command *, const char *name, const char *value, const char *shown);
struct program_source *command_source(struct command *, bool is_script, enum dt_spec,
                                      const char *text);
void command_argument(struct command *, const char *text);
void command_add_elf(struct command *, const char *path);
/* list.c. Lists the probes of the compiled programs; image NULL: all. */
int command_list(struct command *, const void *image);
/* Prints, with -v, the stability of each program. */
void command_report(struct command *);
/* Prints the most that each clause can cost. */
void command_costs(struct command *, const void *image);
/* Returns false after a message if a clause may take more than -x maxinsns allows. */
bool command_affordable(struct command *, const void *image);
/* open.c. Opens the target, and a session with the command's options; returns 0, or the exit
 * status. */
int command_open(struct command *);
/* scripts.c. Returns the path of the script with this name that came with the command, to be freed;
 * NULL: there is none, or the name is a path or one of a file in the current folder. */
char *scripts_find(const char *name);
int scripts_list(void); /* prints them, one a line; returns the exit status */
/* compile.c. Compiles all programs; returns 0, or the exit status. */
int command_compile(struct command *);
/* Reports how many probes each program matches, unless with -q. */
void command_say_matched(struct command *);
bool command_any_matched(const struct command *);
void *command_image(struct command *, size_t *size); /* freed by the caller */
/* Returns false after a message if the image's programs came from elsewhere, have an action on this
 * machine, and there is no -w. image NULL: there are no programs. */
bool command_allows(const struct command *, const void *image);
/* Returns true if some clause records what is printed. image NULL: there are no programs. */
bool command_prints(const void *image);
/* claim.c, with -a. Reads the boot's program into c->claimed; returns 0, or 1 after a message. */
int command_look_at_claim(struct command *);
/* Claims the boot's program. Returns false after a message, also if the image is another
 * program. */
bool command_take_claim(struct command *, const void *image, size_t size);
/* enable.c. Enables the image, unless with -a, and makes the consumer ready; returns 0 or 1. */
int command_enable(struct command *, struct consumer *, const void *image, size_t size);
/* Once tracing is on, before its first record: reports matches and sizes that the target
 * lowered. */
void command_say_enabled(struct command *, const struct consumer *);
int command_fail(const char *what, const char *why); /* prints it; returns 1 */
/* trace.c. Enables the program (with -a it is enabled already), consumes, ends; returns the exit
 * status. */
int command_trace(struct command *, const void *image, size_t size);
/* replay_command.c, -r. Prints what the programs in a capture recorded; returns the exit status. */
int command_replay(struct command *);
/* after_command.c, -r with a program or -l. The capture's events are the probes; returns the exit
 * status. */
int command_after(struct command *);
/* trace.c. Not 0: the user wants an end. */
const volatile sig_atomic_t *command_interrupted(void);
/* From here on ^C and SIGTERM are noted there, or end the command again. */
void command_catch_signals(bool);
/* run.c. Compiles and does what is asked for, on c->target or the one that it opens. */
int command_run(struct command *);
void command_clean_up(struct command *);
/* child.c, -c. Starts the command, which waits at the gate. Returns false after a message if it
 * can't be started. */
bool command_start_child(struct command *);
/* -p on this machine. Returns false after a message if there is no such process. */
bool command_grab(struct command *);
/* grab.c, -p: c->pid or c->targets from c->grab. Returns false after a message if there is none. */
bool command_grab_process(struct command *);
/* Returns true if this process of -p is known to have ended, on a board. */
bool command_process_gone(struct command *, int32_t pid);
/* Lets descriptions pid:NAME:… mean all processes of that name. */
void command_name_processes(struct command *);
/* Notes one more process of the name, of which the printed program was compiled. Returns false if
 * a name can't have so many. */
bool command_knows_process(struct command *, const char *name, int32_t pid);
/* Adds a process that $target means; c->pid is the first. Returns false if there are too many. */
bool command_add_target(struct command *, int32_t pid);
/* Removes the first n if there are others. */
void command_replace_targets(struct command *, unsigned n);
/* Tells the session what $target means. */
void command_tell_targets(struct command *);
/* Opens the gate. */
void command_release_child(struct command *);
void command_drop_child(struct command *);
/* Returns true if all processes of -c or -p have ended; reports each once. */
bool command_child_ended(struct command *);

#endif

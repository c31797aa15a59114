/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * `kymo assert`: rules that a capture keeps or breaks (docs/guide/ci.md). A ready rule on losses or
 * waits is in C (loss.c, waits.c). Any other rule is a D program, run on the capture as `kymo
 * dtrace -r` runs it (docs/guide/d-after.md); each line that it prints is a breach. Each program
 * runs in a process of its own, so that no variable of one is another's, and one that fails takes
 * no other along. Internal to host/assert. Proof: test/host/assert/check.
 */
#ifndef HOST_ASSERT_ASSERT_H
#define HOST_ASSERT_ASSERT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "host/kev/kev.h"

enum {
    RULE_ARGS = 8,       /* $1 … of a ready rule */
    RULE_REASONS = 2048, /* bytes of text that are kept of why nobody can tell */
    RULE_KEPT = 100,     /* breaches of a rule that a JUnit file names */
    BREACH_TEXT = 4096,  /* bytes of a breach's text, and of its values */
    BREACH_NAME = 64,    /* of its process's name, with the NUL */
};

enum rule_kind { RULE_SCRIPT, RULE_TEXT, RULE_LOSS, RULE_WAITS };
enum verdict { VERDICT_KEPT, VERDICT_BREACHED, VERDICT_UNDECIDED };

struct rule {
    enum rule_kind kind;
    char *name;   /* as output has it */
    char *source; /* the script's path, or the program; of RULE_WAITS the rule's name */
    const char **args;
    unsigned nargs;
    bool counts; /* a ready rule: that nothing was checked is no keeping */
    bool shares; /* its arguments are those of other rules, too: it need not use all */
    /* The rule's result. */
    uint64_t breaches, checked;
    bool has_checked;
    bool done; /* its process has come to the end */
    char reasons[RULE_REASONS];
    char *kept[RULE_KEPT];
};

/* A breach on its way from a rule's process. Strings may hold any bytes but NUL. */
struct breach {
    uint64_t ns;           /* of the trace clock */
    int32_t cpu, pid, tid; /* -1: of no CPU; pid 0: of no thread, or it isn't known */
    char name[BREACH_NAME];
    char text[BREACH_TEXT];
    char values[BREACH_TEXT]; /* JSON, without the brackets */
    char why[160];            /* the command that shows its cause, without the file; "": none */
};

struct assertion {
    const char *path, *junit;
    bool json, quiet, accept_gate, accept_pauses, accept_unknown;
    const char **args; /* of the user's rules */
    unsigned nargs;
    struct rule *rules;
    unsigned nrules;
    /* The capture's facts. */
    uint64_t hz, start;
    char doubt[RULE_REASONS]; /* why no rule on events can be decided; "": nothing */
};

/* ---- rules.c: the rules of the command line ------------------------------------------ */

/* These return 0, or the exit status after a message. option: of the ready rules, OPT_RULE and up;
 * more: the words after its value, of which *taken are the rule's. */
int rules_add_script(struct assertion *, const char *path);
int rules_add_text(struct assertion *, const char *text);
int rules_add_ready(struct assertion *, unsigned ready, const char *value, char **more,
                    unsigned *taken);
void rules_list(FILE *);
void rules_free(struct assertion *);
enum { OPT_RULE = 512, READY_RULES = 5 };
/* The name of ready rule `ready`, and how many words it takes. */
const char *rules_ready(unsigned ready, unsigned *words);

/* ---- host/dtrace/assert_engine.c: in the rule's process ------------------------------ */

/* Messages that the process writes to the pipe: one of these, then a struct breach of a breach. */
struct note {
    enum { NOTE_BREACH, NOTE_CHECKED, NOTE_REASON, NOTE_DONE } kind;
    uint64_t number;
    char text[160]; /* of NOTE_REASON */
};
/* Runs the rule and writes notes; never returns. */
void engine_run(const struct assertion *, const struct rule *, FILE *notes)
    __attribute__((noreturn));

/* ---- judge.c: runs the rules --------------------------------------------------------- */

/* Returns false after a message: the capture can't be read. */
bool judge_open(struct assertion *);
void judge_rule(struct assertion *, struct rule *);
void judge_reason(struct rule *, const char *text);
enum verdict judge_verdict(const struct rule *);

/* ---- loss.c */
void loss_rule(struct assertion *, struct rule *);
void waits_rule(struct assertion *, struct rule *);

/* ---- out.c --------------------------------------------------------------------------- */

void out_breach(struct assertion *, struct rule *, const struct breach *);
void out_verdict(const struct assertion *, const struct rule *);
/* Returns the exit status. */
int out_end(const struct assertion *);
/* Returns false after a message. */
bool out_junit(const struct assertion *);

#endif

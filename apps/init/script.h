/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Start scripts: what one line says. Syntax (docs/guide/app.md):
 *
 *   # comment
 *   [pri=10 policy=rr heap=64k stack=8k ability=trace,host runmask=3 name=x] program arg "an arg" &
 *   waitname NAME     until a server has attached NAME
 *   sleep MS          milliseconds
 *   wait              until every program started with & has ended, except servers
 *   shutdown [STATUS] ends the machine
 *   (status=any in the brackets: the program may fail; server=yes: `wait` doesn't wait for it)
 *   (limit=timers:8,ram:1m: its limits, at most init's own; group=…: of it and all it spawns)
 *   reset             restarts the machine
 *   onpanic reset     a panic restarts the machine at its end; or: stop
 */
#ifndef APPS_INIT_SCRIPT_H
#define APPS_INIT_SCRIPT_H

#include <stdbool.h>

#include "lib/include/kymo.h"

#define LINE_WORDS 32

/* Whether `wait` leaves a program out. By default those are servers whose name a `waitname` of the
 * script has found: a server runs for as long as the system does. */
enum line_server { SERVER_IF_NAMED, SERVER_YES, SERVER_NO };

struct line {
    struct kymo_spawn_attr attr;
    const char *name;              /* argv[0] to use instead of the program's, or NULL */
    const char *words[LINE_WORDS]; /* program or command, then arguments; NULL at the end */
    int nwords;                    /* 0: nothing on this line */
    bool background;
    enum line_server server;
    bool may_fail;  /* status=any: its failure isn't a failure of the system */
    bool bracketed; /* had [...] : then it can only be a program */
    bool exceeds;   /* names an ability that this process lacks; attr is without it */
};

/* Parses one line and splits it in place (words point into it). Returns NULL, or a description of
 * the error. */
const char *line_parse(char *text, struct line *line);
/* Parses 123, 0x7b, 64k, 2m. Returns false if the text is none of these, or more than `most`. */
bool script_number(const char *text, uint32_t most, uint32_t *value);
/* Parses the options between the brackets. Returns as line_parse() does. */
const char *options_parse(char *text, struct line *line);

#endif

/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Processes by name: -p NAME, and descriptions pid:NAME:function:probe. All processes of that name
 * are meant; with -Z the first is waited for. A name is looked for once, so that all descriptions
 * mean the same processes. Tested by test/board/grab.py and test/host/remote/board_test.c.
 */
#include "host/dtrace/command.h"
#include "host/kymo.h"
#include "host/memory_stream.h"

#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { NAP_MS = 50, LISTED_MOST = 40, ASKED_MOST = 4096 };

static const char grab_unable_text[] = "the target can't say what runs";

static int grab_find_process(struct command *c, int32_t from, const char *wanted,
                             char name[KYMO_NAME_MAX], char *why, size_t room)
{
    snprintf(why, room, "%s", grab_unable_text);
    return c->target->ops->process_find
               ? c->target->ops->process_find(c->target, from, wanted, name, why, room)
               : -ENOSYS;
}

/* ---- what to say of a name --------------------------------------------------------- */

/* With the names of all that run, each once. */
static void grab_say_none(struct command *c, const char *wanted)
{
    char name[KYMO_NAME_MAX], why[200], seen[LISTED_MOST][KYMO_NAME_MAX];
    char *text = NULL;
    size_t size;
    FILE *out = memory_stream(&text, &size);
    unsigned i = 0, n = 0, asked = 0;
    int pid;

    for (int from = 1; out && n < LISTED_MOST && asked++ < ASKED_MOST && from > 0 &&
                       (pid = grab_find_process(c, from, "", name, why, sizeof(why))) > 0;
         from = pid < INT32_MAX ? pid + 1 : 0) {
        for (i = 0; i < n && strcmp(seen[i], name) != 0; i++) {
        }
        if (i == n) {
            fprintf(out, "%s%s", n ? ", " : "", name);
            strcpy(seen[n++], name);
        }
    }
    if (out && (n == LISTED_MOST || asked > ASKED_MOST)) {
        fputs(", …", out);
    }
    if (out) {
        fclose(out);
    }
    snprintf(c->why, sizeof(c->why), "no process is called %s; there are: %s", wanted,
             text ? text : "");
    free(text);
}

/* ---- all of that name -------------------------------------------------------------- */

/* Waits for a process of the name. Returns its pid, or what grab_find_process() said last. */
static int grab_wait_process(struct command *c, const char *name, char *why, size_t room)
{
    char found[KYMO_NAME_MAX];
    int pid;

    command_catch_signals(true);
    if (!dt_option_on(c->session, "quiet") && !c->json) {
        fprintf(stderr, "dtrace: waiting for %s\n", name);
    }
    while ((pid = grab_find_process(c, 1, name, found, why, room)) == -ESRCH &&
           !*command_interrupted()) {
        nanosleep(&(struct timespec){0, NAP_MS * 1000000}, NULL);
    }
    if (pid < 0 && *command_interrupted()) {
        snprintf(why, room, "interrupted while waiting for it");
    }
    command_catch_signals(false);
    return pid;
}

/* Only the newest name grows: a capture has the processes of a name one after the other. */
bool command_knows_process(struct command *c, const char *name, int32_t pid)
{
    struct command_processes *of = c->nprocesses ? &c->processes[c->nprocesses - 1] : NULL;

    if (!of || strcmp(of->name, name) != 0) {
        c->processes =
            kymo_memory(realloc(c->processes, (c->nprocesses + 1) * sizeof(*c->processes)));
        of = &c->processes[c->nprocesses++];
        *of = (struct command_processes){.n = 0};
        snprintf(of->name, sizeof(of->name), "%s", name);
    }
    if (of->n == COMMAND_PROCESSES_MOST) {
        return false;
    }
    of->pids[of->n++] = pid;
    return true;
}

/* Notes all processes of that name from this one on. Returns false with c->why set if there are too
 * many, or the target can no longer answer. */
static bool grab_note_all(struct command *c, const char *name, int pid)
{
    char found[KYMO_NAME_MAX];

    while (pid > 0) {
        if (!command_knows_process(c, name, pid)) {
            snprintf(c->why, sizeof(c->why), "more than %d processes are called %s: give numbers",
                     COMMAND_PROCESSES_MOST, name);
            return false;
        }
        pid = pid == INT32_MAX ? -ESRCH
                               : grab_find_process(c, pid + 1, name, found, c->why, sizeof(c->why));
    }
    return pid == -ESRCH;
}

/* Returns the processes of that name; NULL with *why set if there is none. */
static const struct command_processes *grab_processes_of(struct command *c, const char *name,
                                                         const char **why)
{
    const bool waits = dt_option_on(c->session, "zdefs") && !c->list && !c->compile_only;
    char found[KYMO_NAME_MAX];

    for (unsigned i = 0; i < c->nprocesses; i++) {
        if (strcmp(c->processes[i].name, name) == 0) {
            return &c->processes[i];
        }
    }
    *why = c->why;
    if (strlen(name) >= KYMO_NAME_MAX) {
        snprintf(c->why, sizeof(c->why), "no process has so long a name");
        return NULL;
    }
    int pid = grab_find_process(c, 1, name, found, c->why, sizeof(c->why));
    if (pid == -ESRCH && waits) {
        pid = grab_wait_process(c, name, c->why, sizeof(c->why));
    } else if (pid == -ESRCH) {
        grab_say_none(c, name);
    }
    if (pid <= 0) {
        return NULL;
    }
    if (!grab_note_all(c, name, pid)) {
        c->nprocesses--; /* the name is asked for again */
        return NULL;
    }
    return &c->processes[c->nprocesses - 1];
}

static unsigned grab_name_processes(void *arg, const char *name, const int32_t **pids,
                                    const char **why)
{
    const struct command_processes *of = grab_processes_of(arg, name, why);

    *pids = of ? of->pids : NULL;
    return of ? of->n : 0;
}

/* ---- -p ---------------------------------------------------------------------------- */

/* Another machine may be unable to say what runs: then the number is taken as it is. */
static bool grab_number(struct command *c)
{
    char name[KYMO_NAME_MAX], why[200];

    if (c->target->ops->is_here) {
        return command_grab(c);
    }
    const int pid = grab_find_process(c, c->pid, "", name, why, sizeof(why));
    c->watches = pid == c->pid;
    if (pid == -ESRCH || (pid > 0 && pid != c->pid)) {
        fprintf(stderr, "dtrace: failed to grab pid %d: no such process\n", (int)c->pid);
        return false;
    }
    return true;
}

bool command_grab_process(struct command *c)
{
    const char *why;
    char *end;
    const long number = strtol(c->grab, &end, 10);
    const bool is_number = *c->grab && !*end;

    if (is_number ? number < 1 || number > INT32_MAX
                  : c->target->ops->is_here || !isalpha((unsigned char)*c->grab)) {
        fprintf(stderr, "dtrace: invalid pid: %s\n", c->grab);
        return false;
    }
    if (is_number) {
        c->pid = (pid_t)number;
        return grab_number(c);
    }
    const struct command_processes *of = grab_processes_of(c, c->grab, &why);

    c->watches = of != NULL;
    if (!of) {
        fprintf(stderr, "dtrace: failed to grab %s: %s\n", c->grab, why);
    }
    for (unsigned i = 0; of && i < of->n; i++) {
        command_add_target(c, of->pids[i]);
    }
    return of != NULL;
}

bool command_process_gone(struct command *c, int32_t pid)
{
    char name[KYMO_NAME_MAX], why[200];
    const int found = c->watches ? grab_find_process(c, pid, "", name, why, sizeof(why)) : pid;

    return found == -ESRCH || (found > 0 && found != pid);
}

void command_name_processes(struct command *c)
{
    if (c->target->ops->process_find || c->nprocesses) {
        dt_session_processes(c->session, grab_name_processes, c);
    }
}

bool command_add_target(struct command *c, int32_t pid)
{
    if (c->ntargets == COMMAND_PROCESSES_MOST) {
        return false;
    }
    c->targets[c->ntargets++].pid = pid;
    c->pid = c->targets[0].pid;
    return true;
}

void command_replace_targets(struct command *c, unsigned n)
{
    if (n > 0 && c->ntargets > n) {
        c->ntargets -= n;
        memmove(c->targets, c->targets + n, c->ntargets * sizeof(*c->targets));
        c->pid = c->targets[0].pid;
    }
}

void command_tell_targets(struct command *c)
{
    int32_t pids[COMMAND_PROCESSES_MOST];

    if (c->pid && c->ntargets == 0) { /* of -c, or of a number */
        command_add_target(c, c->pid);
    }
    for (unsigned i = 0; i < c->ntargets; i++) {
        pids[i] = c->targets[i].pid;
    }
    dt_session_targets(c->session, pids, c->ntargets);
}

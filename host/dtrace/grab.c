/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Processes by name: -p NAME, and descriptions pid:NAME:function:probe. One process of that name is
 * meant; with -Z it is waited for. A name is looked for once, so that all descriptions mean the
 * same process. Tested by test/board/grab.py and test/host/remote/board_test.c.
 */
#include "host/dtrace/command.h"
#include "host/kymo.h"
#include "host/memory_stream.h"

#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { NAP_MS = 50, LISTED_MOST = 40 };

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

/* Returns the pids of that name, or with wanted "" the names of all, each once; freed by the
 * caller. */
static char *grab_list_pids(struct command *c, const char *wanted, unsigned *count)
{
    char name[KYMO_NAME_MAX], why[200], seen[LISTED_MOST][KYMO_NAME_MAX];
    char *text = NULL;
    size_t size;
    FILE *out = memory_stream(&text, &size);
    unsigned i = 0, n = 0;
    int pid;

    *count = 0;
    for (int from = 1; out && n < LISTED_MOST &&
                       (pid = grab_find_process(c, from, wanted, name, why, sizeof(why))) > 0;
         from = pid + 1) {
        for (i = 0; !*wanted && i < n && strcmp(seen[i], name) != 0; i++) {
        }
        ++*count;
        if (*wanted) {
            fprintf(out, "%s%d", n++ ? ", " : "", pid);
        } else if (i == n) {
            fprintf(out, "%s%s", n ? ", " : "", name);
            strcpy(seen[n++], name);
        }
        if (pid == INT32_MAX) {
            break;
        }
    }
    if (out && n == LISTED_MOST) {
        fputs(", …", out);
    }
    if (out) {
        fclose(out);
    }
    return text;
}

static const char *none_of(struct command *c, const char *name)
{
    unsigned n;
    char *text = grab_list_pids(c, "", &n);

    snprintf(c->why, sizeof(c->why), "no process is called %s; there are: %s", name,
             text ? text : "");
    free(text);
    return c->why;
}

/* Returns NULL if only one process has the name. */
static const char *too_many_of(struct command *c, const char *name)
{
    unsigned n;
    char *text = grab_list_pids(c, name, &n);

    snprintf(c->why, sizeof(c->why), "%u processes are called %s: give the number: %s", n, name,
             text ? text : "");
    free(text);
    return n > 1 ? c->why : NULL;
}

/* ---- one of that name -------------------------------------------------------------- */

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

static void grab_remember_pid(struct command *c, const char *name, int32_t pid)
{
    c->processes = kymo_memory(realloc(c->processes, (c->nprocesses + 1) * sizeof(*c->processes)));
    snprintf(c->processes[c->nprocesses].name, KYMO_NAME_MAX, "%s", name);
    c->processes[c->nprocesses++].pid = pid;
}

void command_knows_process(struct command *c, const char *name, int32_t pid)
{
    grab_remember_pid(c, name, pid);
}

static int32_t grab_process_of(struct command *c, const char *name, const char **why)
{
    const bool waits = dt_option_on(c->session, "zdefs") && !c->list && !c->compile_only;
    char found[KYMO_NAME_MAX];

    for (unsigned i = 0; i < c->nprocesses; i++) {
        if (strcmp(c->processes[i].name, name) == 0) {
            return c->processes[i].pid;
        }
    }
    *why = c->why;
    if (strlen(name) >= KYMO_NAME_MAX) {
        snprintf(c->why, sizeof(c->why), "no process has so long a name");
        return 0;
    }
    int pid = grab_find_process(c, 1, name, found, c->why, sizeof(c->why));
    if (pid == -ESRCH && waits) {
        pid = grab_wait_process(c, name, c->why, sizeof(c->why));
    } else if (pid == -ESRCH) {
        *why = none_of(c, name);
    }
    if (pid <= 0 || too_many_of(c, name)) {
        return 0;
    }
    grab_remember_pid(c, name, pid);
    return pid;
}

static int32_t grab_name_process(void *arg, const char *name, const char **why)
{
    return grab_process_of(arg, name, why);
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
    c->pid = grab_process_of(c, c->grab, &why);
    c->watches = c->pid > 0;
    if (!c->watches) {
        fprintf(stderr, "dtrace: failed to grab %s: %s\n", c->grab, why);
    }
    return c->watches;
}

bool command_process_gone(struct command *c)
{
    char name[KYMO_NAME_MAX], why[200];
    const int pid = c->watches ? grab_find_process(c, c->pid, "", name, why, sizeof(why)) : c->pid;

    return pid == -ESRCH || (pid > 0 && pid != c->pid);
}

void command_name_processes(struct command *c)
{
    if (c->target->ops->process_find || c->nprocesses) {
        dt_session_processes(c->session, grab_name_process, c);
    }
}

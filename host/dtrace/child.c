/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * -c and -p: a process that waits until tracing is on, and whose end ends tracing. On this machine
 * the text of -c is split at blanks, as dtrace(1M) does: there is no shell, no quoting. On a board
 * it is a line of a start script. Tested by test/d/rows/process.rows and test/boot/dlink.py.
 */
#include "host/dtrace/command.h"
#include "abi/sys/kymo.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static char **split(char *text)
{
    static const char blanks[] = " \f\n\r\t\v";
    char **words = calloc(strlen(text) / 2 + 2, sizeof(*words));
    char *rest = NULL;
    size_t n = 0;

    for (char *word = strtok_r(text, blanks, &rest); words && word;
         word = strtok_r(NULL, blanks, &rest)) {
        words[n++] = word;
    }
    return words;
}

/* In the child: waits for the gate to open, then becomes the command; what fails goes
 * to `report`. */
static void become(int gate, int report, char **words)
{
    char go;

    signal(SIGPIPE, SIG_DFL);
    if (read(gate, &go, 1) == 1 && go == 'g') {
        execvp(words[0], words);
    }
    int error = errno;
    if (write(report, &error, sizeof(error)) < 0) {
        _exit(126);
    }
    _exit(127);
}

/* execvp() fails only when tracing is on already, so that a command that isn't there is looked for
 * before. */
static int find_command(const char *name, char full[PATH_MAX])
{
    const char *path = getenv("PATH");
    char *all, *rest = NULL;
    int error = ENOENT;

    if (strchr(name, '/')) {
        snprintf(full, PATH_MAX, "%s", name);
        return access(name, X_OK) == 0 ? 0 : errno;
    }
    all = strdup(path ? path : "/bin:/usr/bin");
    for (char *folder = all ? strtok_r(all, ":", &rest) : NULL; folder && error;
         folder = strtok_r(NULL, ":", &rest)) {
        snprintf(full, PATH_MAX, "%s/%s", folder, name);
        error = access(full, X_OK) == 0 ? 0 : error;
    }
    free(all);
    return error;
}

static bool failed_to_start(const char *name, int error)
{
    fprintf(stderr, "dtrace: failed to execute %s: %s\n", name, strerror(error));
    return false;
}

static bool start(struct command *c, char **words)
{
    int gate[2], report[2];
    char path[PATH_MAX];
    int error = words && words[0] ? find_command(words[0], path) : ENOENT;

    if (error || pipe2(gate, O_CLOEXEC) != 0 || pipe2(report, O_CLOEXEC) != 0) {
        return failed_to_start(words && words[0] ? words[0] : "", error ? error : errno);
    }
    fflush(NULL);
    c->pid = fork();
    if (c->pid == 0) {
        close(gate[1]);
        become(gate[0], report[1], words);
    }
    close(gate[0]);
    close(report[1]);
    c->run_gate = gate[1];
    c->run_report = report[0];
    command_add_program(c, path);
    return c->pid > 0 || failed_to_start(words[0], errno);
}

static bool start_there(struct command *c)
{
    char why[2300];
    int32_t pid;

    if (!c->target->ops->program_start) {
        snprintf(why, sizeof(why), "the target starts no programs");
    } else if (c->target->ops->program_start(c->target, c->run, &pid, why, sizeof(why)) == 0) {
        c->pid = pid;
        return true;
    }
    fprintf(stderr, "dtrace: failed to execute %s: %s\n", c->run, why);
    return false;
}

bool command_start_child(struct command *c)
{
    if (!c->target->ops->is_here) {
        return start_there(c);
    }
    char *text = strdup(c->run);
    char **words = text ? split(text) : NULL;
    bool ok = start(c, words);

    free(words);
    free(text);
    return ok;
}

bool command_grab(struct command *c)
{
    if (kill(c->pid, 0) != 0 && errno == ESRCH) {
        fprintf(stderr, "dtrace: failed to grab pid %d: no such process\n", (int)c->pid);
        return false;
    }
    command_add_process(c);
    return true;
}

void command_release_child(struct command *c)
{
    int error;

    if (c->run && !c->target->ops->is_here) {
        error = c->target->ops->program_run(c->target);
        if (error) {
            failed_to_start(c->run, -error);
        }
    }
    if (c->run_gate < 0) {
        return;
    }
    if (write(c->run_gate, "g", 1) == 1 &&
        read(c->run_report, &error, sizeof(error)) == (ssize_t)sizeof(error)) {
        failed_to_start(c->run, error);
    }
    close(c->run_gate);
    close(c->run_report);
    c->run_gate = -1;
}

/* Drops a child that never ran, because tracing could not be enabled. */
void command_drop_child(struct command *c)
{
    if (c->run_gate >= 0) {
        close(c->run_gate);
        close(c->run_report);
        c->run_gate = -1;
        waitpid(c->pid, NULL, 0);
    }
}

/* A board's numbers of signals are QNX's. */
static const char *signal_name(const struct command *c, int number)
{
    static const struct {
        int number;
        const char *name;
    } rows[] = {{KYMO_SIGILL, "ILL"},   {KYMO_SIGABRT, "ABRT"}, {KYMO_SIGFPE, "FPE"},
                {KYMO_SIGKILL, "KILL"}, {KYMO_SIGBUS, "BUS"},   {KYMO_SIGSEGV, "SEGV"},
                {KYMO_SIGTERM, "TERM"}, {KYMO_SIGCONT, "CONT"}, {SIGHUP, "HUP"},
                {SIGINT, "INT"},        {SIGQUIT, "QUIT"},      {SIGTRAP, "TRAP"}};

    if (c->target->ops->is_here) {
        return sigabbrev_np(number);
    }
    for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
        if (rows[i].number == number) {
            return rows[i].name;
        }
    }
    return NULL;
}

static void say_ended(const struct command *c, int status)
{
    const char *name = WIFSIGNALED(status) ? signal_name(c, WTERMSIG(status)) : NULL;

    fflush(stdout);
    if (name) {
        fprintf(stderr, "dtrace: pid %d terminated by SIG%s\n", (int)c->pid, name);
    } else if (WIFSIGNALED(status)) {
        fprintf(stderr, "dtrace: pid %d terminated by signal %d\n", (int)c->pid, WTERMSIG(status));
    } else if (WEXITSTATUS(status)) {
        fprintf(stderr, "dtrace: pid %d exited with status %d\n", (int)c->pid, WEXITSTATUS(status));
    } else {
        fprintf(stderr, "dtrace: pid %d has exited\n", (int)c->pid);
    }
}

/* A target that is gone can't say: what asks it next finds that out. */
static bool is_over(struct command *c, int *status)
{
    if (!c->target->ops->is_here) {
        return c->run && c->target->ops->program_ended(c->target, status) == 1;
    }
    return c->run ? waitpid(c->pid, status, WNOHANG) == c->pid
                  : kill(c->pid, 0) != 0 && errno == ESRCH;
}

bool command_child_ended(struct command *c)
{
    uint64_t quiet = c->session ? dtrace_option(c->session, "quiet") : 0;
    int status = 0;

    if (!c->pid || c->ended) {
        return c->ended;
    }
    c->ended = is_over(c, &status);
    if (c->ended && (quiet == 0 || quiet == DT_OPTION_UNSET)) {
        say_ended(c, status);
    }
    return c->ended;
}

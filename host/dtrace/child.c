/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * -c and -p: a process that waits until tracing is on, and whose end ends tracing. On this machine
 * the text of -c is split at blanks, as dtrace(1M) does, without a shell and without quoting; on a
 * board it is a line of a start script. A process of this machine gives the session its ELF file;
 * its types and symbols have the file's name before the backquote. Tested by
 * test/dtrace/rows/process.rows, test/dtrace/rows/programs.rows and test/board/dlink.py.
 */
#include "host/dtrace/command.h"
#include "abi/sys/kymo.h"

#include <errno.h>
#include <fcntl.h>
#include <gelf.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

/* ---- the ELF file of a process ------------------------------------------------------ */

/* Finds how far from its linked address a process has its file `path`, which `link` opens: the
 * lowest mapping against the page of the first segment. Returns 0 if that is unknown. */
static uint64_t load_bias(pid_t pid, const char *link, const char *path)
{
    int fd = open(link, O_RDONLY | O_CLOEXEC);
    char maps[40], line[PATH_MAX + 128];
    unsigned long long start = 0;
    bool linked = false, loaded = false;
    GElf_Phdr header;
    size_t n = 0;

    elf_version(EV_CURRENT);
    Elf *elf = elf_begin(fd, ELF_C_READ, NULL);
    if (elf && elf_getphdrnum(elf, &n) == 0) {
        for (size_t i = 0; i < n && !linked; i++) {
            linked = gelf_getphdr(elf, (int)i, &header) && header.p_type == PT_LOAD;
        }
    }
    elf_end(elf);
    if (fd >= 0) {
        close(fd);
    }
    snprintf(maps, sizeof(maps), "/proc/%d/maps", (int)pid);
    FILE *f = fopen(maps, "re");
    while (f && !loaded && fgets(line, sizeof(line), f)) {
        char *name = strchr(line, '/');
        line[strcspn(line, "\n")] = '\0';
        loaded = name && strcmp(name, path) == 0 && sscanf(line, "%llx-", &start) == 1;
    }
    if (f) {
        fclose(f);
    }
    return linked && loaded ? start - (header.p_vaddr & ~(uint64_t)(sysconf(_SC_PAGESIZE) - 1)) : 0;
}

/* ---- -c ----------------------------------------------------------------------------- */

/* In the child: waits for the gate to open, then executes the command; an errno goes to
 * `report`. */
static void dtrace_child_exec_after_gate(int gate, int report, char **words)
{
    char go;

    signal(SIGPIPE, SIG_DFL);
    signal(SIGXFSZ, SIG_DFL);
    if (read(gate, &go, 1) == 1 && go == 'g') {
        execvp(words[0], words);
    }
    int error = errno;
    if (write(report, &error, sizeof(error)) < 0) {
        _exit(126);
    }
    _exit(127);
}

/* Finds the command in PATH before tracing is on: execvp() would fail only later. Returns 0, or an
 * errno. */
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

static void failed_to_start(const char *name, int error)
{
    fprintf(stderr, "dtrace: failed to execute %s: %s\n", name, strerror(error));
}

/* text: split in place. */
static bool dtrace_child_start_command(struct command *c, char *text)
{
    static const char blanks[] = " \f\n\r\t\v";
    char **words = calloc(strlen(text) / 2 + 2, sizeof(*words));
    char path[PATH_MAX], *rest = NULL;
    int gate[2], report[2];
    size_t n = 0;

    for (char *word = strtok_r(text, blanks, &rest); words && word;
         word = strtok_r(NULL, blanks, &rest)) {
        words[n++] = word;
    }
    int error = n ? find_command(words[0], path) : ENOENT;

    if (error || pipe2(gate, O_CLOEXEC) != 0 || pipe2(report, O_CLOEXEC) != 0) {
        failed_to_start(n ? words[0] : "", error ? error : errno);
        free(words);
        return false;
    }
    fflush(NULL);
    c->pid = fork();
    if (c->pid == 0) {
        close(gate[1]);
        dtrace_child_exec_after_gate(gate[0], report[1], words);
    }
    close(gate[0]);
    close(report[1]);
    c->run_gate = gate[1];
    c->run_report = report[0];
    dt_session_add_elf(c->session, path, basename(path), false);
    if (c->pid < 0) {
        failed_to_start(words[0], errno);
    }
    free(words);
    return c->pid > 0;
}

bool command_start_child(struct command *c)
{
    char why[2300] = "the target starts no programs";
    int32_t pid;

    if (c->target->ops->is_here) {
        char *text = strdup(c->run);
        bool ok = text && dtrace_child_start_command(c, text);
        free(text);
        return ok;
    }
    if (c->target->ops->program_start &&
        c->target->ops->program_start(c->target, c->run, &pid, why, sizeof(why)) == 0) {
        c->pid = pid;
        return true;
    }
    fprintf(stderr, "dtrace: failed to execute %s: %s\n", c->run, why);
    return false;
}

bool command_grab(struct command *c)
{
    char link[40], path[PATH_MAX];

    if (kill(c->pid, 0) != 0 && errno == ESRCH) {
        fprintf(stderr, "dtrace: failed to grab pid %d: no such process\n", (int)c->pid);
        return false;
    }
    snprintf(link, sizeof(link), "/proc/%d/exe", (int)c->pid);
    ssize_t n = readlink(link, path, sizeof(path) - 1);
    if (n > 0) {
        path[n] = '\0';
        dt_session_add_elf_at(c->session, link, basename(path), false,
                              load_bias(c->pid, link, path));
    }
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

/* Ends a child that was never released, because tracing could not be enabled. */
void command_drop_child(struct command *c)
{
    if (c->run_gate >= 0) {
        close(c->run_gate);
        close(c->run_report);
        c->run_gate = -1;
        waitpid(c->pid, NULL, 0);
    }
}

/* A board's signals have QNX's numbers. */
static void say_ended(const struct command *c, int32_t pid, int status)
{
    static const struct {
        int number;
        const char *name;
    } board[] = {{KYMO_SIGILL, "ILL"},   {KYMO_SIGABRT, "ABRT"}, {KYMO_SIGFPE, "FPE"},
                 {KYMO_SIGKILL, "KILL"}, {KYMO_SIGBUS, "BUS"},   {KYMO_SIGSEGV, "SEGV"},
                 {KYMO_SIGTERM, "TERM"}, {KYMO_SIGCONT, "CONT"}, {SIGHUP, "HUP"},
                 {SIGINT, "INT"},        {SIGQUIT, "QUIT"},      {SIGTRAP, "TRAP"}};
    int number = WIFSIGNALED(status) ? WTERMSIG(status) : 0;
    const char *name = number && c->target->ops->is_here ? sigabbrev_np(number) : NULL;

    for (size_t i = 0; i < sizeof(board) / sizeof(*board) && !c->target->ops->is_here; i++) {
        name = board[i].number == number ? board[i].name : name;
    }
    fflush(stdout);
    if (name) {
        fprintf(stderr, "dtrace: pid %d terminated by SIG%s\n", (int)pid, name);
    } else if (number) {
        fprintf(stderr, "dtrace: pid %d terminated by signal %d\n", (int)pid, number);
    } else if (WEXITSTATUS(status)) {
        fprintf(stderr, "dtrace: pid %d exited with status %d\n", (int)pid, WEXITSTATUS(status));
    } else {
        fprintf(stderr, "dtrace: pid %d has exited\n", (int)pid);
    }
}

static bool dtrace_child_has_ended(struct command *c, int32_t pid, int *status)
{
    if (!c->target->ops->is_here) {
        return c->run ? c->target->ops->program_ended(c->target, status) == 1
                      : command_process_gone(c, pid);
    }
    return c->run ? waitpid(pid, status, WNOHANG) == pid : kill(pid, 0) != 0 && errno == ESRCH;
}

/* A lost target can't report the end: the next request to it fails. */
bool command_child_ended(struct command *c)
{
    uint64_t quiet = c->session ? dtrace_option(c->session, "quiet") : 0;
    bool all = c->ntargets > 0;

    for (unsigned i = 0; i < c->ntargets && !c->ended; i++) {
        struct command_target *t = &c->targets[i];
        int status = 0;

        if (!t->ended) {
            t->ended = dtrace_child_has_ended(c, t->pid, &status);
            if (t->ended && (quiet == 0 || quiet == DT_OPTION_UNSET)) {
                say_ended(c, t->pid, status);
            }
        }
        all = all && t->ended;
    }
    c->ended = all;
    return all;
}

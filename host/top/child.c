/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * `kymo dtrace` as a child that runs the D program on the target. It ends with this process,
 * however that ends, and what it began on the target ends with it.
 */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "host/kymo.h"
#include "host/top/child.h"

static _Noreturn void top_exec_child(pid_t parent, const int out[2], const int err[2],
                                     char *const *argv)
{
    int null = open("/dev/null", O_RDONLY);

    prctl(PR_SET_PDEATHSIG, SIGTERM);
    if (getppid() != parent || null < 0 || dup2(null, STDIN_FILENO) < 0 ||
        dup2(out[1], STDOUT_FILENO) < 0 || dup2(err[1], STDERR_FILENO) < 0) {
        _exit(127);
    }
    /* ^C at the terminal is this process's, which ends the child in order. */
    setpgid(0, 0);
    execv("/proc/self/exe", argv);
    _exit(127);
}

bool top_child_start(struct top_child *child, char *const *argv)
{
    int out[2], err[2] = {-1, -1};
    pid_t parent = getpid();

    if (pipe2(out, O_CLOEXEC) != 0) {
        kymo_error("top: cannot make a pipe: %s", strerror(errno));
        return false;
    }
    if (pipe2(err, O_CLOEXEC) != 0 || (child->pid = fork()) < 0) {
        kymo_error("top: cannot start kymo dtrace: %s", strerror(errno));
        close(out[0]);
        close(out[1]);
        if (err[0] >= 0) {
            close(err[0]);
            close(err[1]);
        }
        return false;
    }
    if (child->pid == 0) {
        top_exec_child(parent, out, err, argv);
    }
    close(out[1]);
    close(err[1]);
    child->out.fd = out[0];
    child->err.fd = err[0];
    return true;
}

bool top_lines_read(struct top_lines *lines)
{
    if (lines->used == sizeof(lines->text)) { /* a line that long is none of ours */
        lines->used = 0;
        lines->is_cut = true;
    }
    ssize_t n = read(lines->fd, lines->text + lines->used, sizeof(lines->text) - lines->used);

    if (n > 0) {
        lines->used += (size_t)n;
    }
    return n > 0 || (n < 0 && (errno == EINTR || errno == EAGAIN));
}

bool top_lines_next(struct top_lines *lines, char line[TOP_LINE])
{
    char *end = memchr(lines->text, '\n', lines->used);

    if (end == NULL) {
        return false;
    }
    size_t length = (size_t)(end - lines->text);
    size_t kept = length < TOP_LINE ? length : TOP_LINE - 1;
    memcpy(line, lines->text, kept);
    line[lines->is_cut ? 0 : kept] = '\0';
    lines->is_cut = false;
    lines->used -= length + 1;
    memmove(lines->text, end + 1, lines->used);
    return true;
}

void top_child_end(struct top_child *child)
{
    kill(child->pid, SIGINT);
    close(child->out.fd);
    close(child->err.fd);
    while (waitpid(child->pid, NULL, 0) < 0 && errno == EINTR) {
        kill(child->pid, SIGTERM); /* a second ^C */
    }
}

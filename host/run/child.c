/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * QEMU as a child: its exit status is ours, it ends with us whatever ends us, and it ends by
 * itself when the time is up. Signals are taken with sigtimedwait(), so nothing runs in a handler.
 */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <termios.h>
#include <time.h>
#include <unistd.h>

#include "host/run/run.h"

#define GRACE_SECONDS 2
#define CTRL_BRACKET 0x1d

static void run_child_exec(struct run *run, pid_t parent, const sigset_t *mask)
{
    sigprocmask(SIG_SETMASK, mask, NULL);
    signal(SIGPIPE, SIG_DFL);
    signal(SIGXFSZ, SIG_DFL);
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != parent) {
        _exit(127);
    }
    /* In the background of a terminal QEMU would be stopped as soon as it sets the terminal's
     * modes. */
    if (isatty(STDIN_FILENO) && tcgetpgrp(STDIN_FILENO) != getpgrp()) {
        int null = open("/dev/null", O_RDONLY);

        dup2(null, STDIN_FILENO);
    }
    if (chdir(run->dir) != 0) {
        fprintf(stderr, "kymo: %s: %s\n", run->dir, strerror(errno));
        _exit(127);
    }
    execvp(run->argv[0], run->argv);
    fprintf(stderr, "kymo: cannot run %s: %s\n", run->argv[0], strerror(errno));
    _exit(127);
}

static time_t run_child_now(void)
{
    struct timespec time;

    clock_gettime(CLOCK_MONOTONIC, &time);
    return time.tv_sec;
}

/* Takes the child's status if it has ended. */
static bool run_child_take_status(pid_t pid, int *status)
{
    return waitpid(pid, status, WNOHANG) == pid;
}

static void child_stop(pid_t pid, const sigset_t *signals, int *status)
{
    time_t until = run_child_now() + GRACE_SECONDS;

    kill(pid, SIGTERM);
    while (run_child_now() < until) {
        struct timespec wait = {.tv_nsec = 100000000};

        if (run_child_take_status(pid, status)) {
            return;
        }
        sigtimedwait(signals, NULL, &wait);
    }
    kill(pid, SIGKILL);
    while (waitpid(pid, status, 0) < 0 && errno == EINTR) {
    }
}

/* QEMU's device isa-debug-exit makes n of the guest 2n + 1; 0 leaves by another way, so that 1 is
 * QEMU's own failure. */
static int status_of(const struct run *run, int status)
{
    static const char device[] = "isa-debug-exit";
    bool doubled = false;

    if (!WIFEXITED(status)) {
        return 128 + WTERMSIG(status);
    }
    status = WEXITSTATUS(status);
    for (int i = 0; i < run->argc; i++) {
        doubled |= strncmp(run->argv[i], device, strlen(device)) == 0;
    }
    return doubled && status > 1 && status % 2 == 1 ? status / 2 : status;
}

static int child_wait(const struct run *run, pid_t pid, const sigset_t *signals)
{
    time_t until = run_child_now() + (time_t)run->timeout;
    int status = 0;

    for (;;) {
        struct timespec wait = {.tv_sec = 1};
        int signo;

        if (run_child_take_status(pid, &status)) {
            return status_of(run, status);
        }
        if (run->timeout != 0 && run_child_now() >= until) {
            child_stop(pid, signals, &status);
            kymo_error("stopped: still running after %u s (--timeout)", run->timeout);
            return RUN_TIMEOUT;
        }
        signo = sigtimedwait(signals, NULL, &wait);
        if (signo > 0 && signo != SIGCHLD) {
            child_stop(pid, signals, &status);
            return 128 + signo;
        }
    }
}

/* ^C is the guest's (its shell ends a program by it); the interrupt key is ^] meanwhile. */
static void interrupt_key_set(const struct termios *modes)
{
    struct termios ours = *modes;

    ours.c_cc[VINTR] = CTRL_BRACKET;
    tcsetattr(STDIN_FILENO, TCSADRAIN, &ours);
    kymo_error("^] ends the emulator; ^C goes to the board");
}

int run_child(struct run *run)
{
    bool terminal = isatty(STDIN_FILENO);
    struct termios modes;
    sigset_t signals, before;
    pid_t parent = getpid(), pid;
    int status;

    sigemptyset(&signals);
    sigaddset(&signals, SIGCHLD);
    sigaddset(&signals, SIGINT);
    sigaddset(&signals, SIGTERM);
    sigaddset(&signals, SIGHUP);
    sigaddset(&signals, SIGQUIT);
    sigprocmask(SIG_BLOCK, &signals, &before);
    terminal =
        terminal && tcgetpgrp(STDIN_FILENO) == getpgrp() && tcgetattr(STDIN_FILENO, &modes) == 0;
    if (terminal) {
        interrupt_key_set(&modes);
    }
    fflush(NULL);
    pid = fork();
    if (pid == 0) {
        run_child_exec(run, parent, &before);
    }
    if (pid < 0) {
        kymo_error("cannot start QEMU: %s", strerror(errno));
        return KYMO_FAILURE;
    }
    status = child_wait(run, pid, &signals);
    if (terminal) {
        tcsetattr(STDIN_FILENO, TCSADRAIN, &modes);
    }
    sigprocmask(SIG_SETMASK, &before, NULL);
    return status;
}

/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * shell: reads commands from its standard input and runs programs of the boot image. Needs the
 * ability spawn; programs that it starts have its abilities. The console edits the lines and has
 * their history (apps/console/edit.h). Tested by test/board/shell.py.
 */
#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "apps/shell/foreground.h"
#include "lib/include/kymo.h"
#include "lib/include/signal.h"

#define LINE 256
#define WORDS 24

static const char shell_help_text[] =
    "programs           the programs of this boot image\n"
    "pidin              processes and threads; info: what they hold; mem: memory objects\n"
    "run PROGRAM ...    start a program and wait; with & at the end: do not wait\n"
    "PROGRAM ...        the same\n"
    "kill [-N] PID      send a process signal N (default 15: most end by it, 9: all)\n"
    "trace start [...]  start tracelogger with these options, until trace stop\n"
    "trace stop         end it; the capture is then complete\n"
    "exit               leave the shell (the system continues)\n"
    "shutdown [STATUS]  end the machine, under an emulator with this exit status\n"
    "reset              restart the machine: retained memory is preserved\n"
    "panic              make the kernel panic\n"
    "onpanic reset      what a panic does at its end; or: stop\n"
    "\n"
    "^C ends the program that is waited for, or the line. Up and down: earlier lines.\n";

static void show_status(const char *program, int status)
{
    if (KYMO_STATUS_SIGNAL(status)) {
        printf("%s: ended by signal %d\n", program, KYMO_STATUS_SIGNAL(status));
    } else if (KYMO_STATUS_CODE(status)) {
        printf("%s: status %d\n", program, KYMO_STATUS_CODE(status));
    }
}

/* Collects background children that have ended, so that they are not listed forever. */
static void shell_reap_children(void)
{
    int status, pid;

    while ((pid = ProcWait(0, &status, KYMO_WAIT_NOHANG)) > 0) {
        printf("[%d ended]\n", pid);
    }
}

static void shell_not_started(const char *program)
{
    if (errno == ENOENT) {
        printf("%s: no such program in the boot image; `programs` lists them\n", program);
    } else {
        printf("%s: %s\n", program, errno == ENOEXEC ? "is not a program" : strerror(errno));
    }
}

static void shell_run_program(char **words, int count)
{
    struct kymo_spawn_attr attr = {.ability = kymo_abilities()};
    bool background = count > 0 && strcmp(words[count - 1], "&") == 0;
    int status = 0;

    if (background) {
        words[--count] = NULL;
    }
    if (count == 0) {
        printf("run what?\n");
        return;
    }
    int pid = kymo_spawn(words[0], words, &attr);
    if (pid < 0) {
        shell_not_started(words[0]);
    } else if (background) {
        printf("[%d]\n", pid);
    } else if (foreground_wait(pid, &status) == pid) {
        show_status(words[0], status);
    }
}

/* The image builder (scripts/mkcpio.c) lists them in a file of the image. */
static void list_programs(void)
{
    char text[256];
    size_t at = 0;
    long got;

    while ((got = ImageRead("boot/programs", at, text, sizeof(text))) > 0) {
        fwrite(text, 1, (size_t)got, stdout);
        at += (size_t)got;
    }
    if (got < 0) {
        printf("programs: %s\n", strerror(errno));
    }
}

static void shell_run_trace(char **words, int count)
{
    char *command[WORDS + 2] = {"tracelogger", "-c"};
    char *stop[] = {"tracestop", NULL};

    if (count > 0 && strcmp(words[0], "stop") == 0) {
        shell_run_program(stop, 1);
    } else if (count > 0 && strcmp(words[0], "start") == 0) {
        memcpy(command + 2, words + 1, (size_t)(count - 1) * sizeof(words[0]));
        command[count + 1] = "&";
        shell_run_program(command, count + 2);
    } else {
        printf("trace start [options] or trace stop\n");
    }
}

/* Returns -1 if the word is not a decimal number of at most nine digits. */
static int shell_number_of(const char *word)
{
    const size_t digits = strspn(word, "0123456789");

    return digits > 0 && digits <= 9 && word[digits] == '\0' ? atoi(word) : -1;
}

/* To kill(), 0 means the caller's process: here that would be the shell. */
static void send_signal(char **words)
{
    const char *given = words[1] && words[1][0] == '-' ? words[1] : NULL;
    const char *pid = words[given ? 2 : 1];
    const int signo = given ? shell_number_of(given + 1) : SIGTERM;

    if (!pid) {
        printf("kill: which PID?\n");
    } else if (shell_number_of(pid) <= 0) {
        printf("kill: %s: not a PID\n", pid);
    } else if (signo < 0) {
        printf("kill: %s: not a signal's number\n", given);
    } else if (kill(shell_number_of(pid), signo) != 0) {
        printf("kill: %s\n", strerror(errno));
    }
}

static void system_ctl(const char *word, int what, int value)
{
    fflush(stdout);
    if (SystemCtl(what, value) != 0) {
        printf("%s: %s\n", word, strerror(errno));
    }
}

static void shell_shut_down(const char *text)
{
    char *end;
    unsigned long status = text ? strtoul(text, &end, 10) : 0;

    if (text && (*text < '0' || *text > '9' || *end || status > 255)) {
        printf("shutdown [STATUS], 0 to 255\n");
    } else {
        system_ctl("shutdown", KYMO_SYSTEM_SHUTDOWN, (int)status);
    }
}

static void shell_on_panic(const char *text)
{
    if (text && strcmp(text, "reset") == 0) {
        system_ctl("onpanic", KYMO_SYSTEM_ON_PANIC, KYMO_PANIC_RESETS);
    } else if (text && strcmp(text, "stop") == 0) {
        system_ctl("onpanic", KYMO_SYSTEM_ON_PANIC, KYMO_PANIC_STOPS);
    } else {
        printf("onpanic reset or stop\n");
    }
}

/* Handles commands about the machine. */
static bool shell_run_machine(char **words)
{
    if (strcmp(words[0], "shutdown") == 0) {
        shell_shut_down(words[1]);
    } else if (strcmp(words[0], "reset") == 0) {
        system_ctl(words[0], KYMO_SYSTEM_RESET, 0);
    } else if (strcmp(words[0], "panic") == 0) {
        system_ctl(words[0], KYMO_SYSTEM_PANIC, 0);
    } else if (strcmp(words[0], "onpanic") == 0) {
        shell_on_panic(words[1]);
    } else {
        return false;
    }
    return true;
}

/* Returns false to leave the shell. */
static bool shell_run_command(char **words, int count)
{
    if (strcmp(words[0], "exit") == 0) {
        return false;
    }
    if (strcmp(words[0], "help") == 0) {
        fputs(shell_help_text, stdout);
    } else if (strcmp(words[0], "programs") == 0) {
        list_programs();
    } else if (strcmp(words[0], "kill") == 0) {
        send_signal(words);
    } else if (strcmp(words[0], "trace") == 0) {
        shell_run_trace(words + 1, count - 1);
    } else if (strcmp(words[0], "run") == 0) {
        shell_run_program(words + 1, count - 1);
    } else if (!shell_run_machine(words)) {
        shell_run_program(words, count);
    }
    return true;
}

static int shell_split_line(char *line, char **words)
{
    char *rest;
    int count = 0;

    for (char *word = strtok_r(line, " \t\r\n", &rest); word && count < WORDS - 1;
         word = strtok_r(NULL, " \t\r\n", &rest)) {
        words[count++] = word;
    }
    words[count] = NULL;
    return count;
}

int main(void)
{
    static char line[LINE];
    char *words[WORDS];
    bool more = true;

    foreground_begin();
    printf("Kymo. `help` lists the commands.\n");
    while (more) {
        shell_reap_children();
        foreground_none();
        printf("$ ");
        fflush(stdout);
        if (!fgets(line, sizeof(line), stdin)) {
            break;
        }
        int count = shell_split_line(line, words);
        if (count > 0) {
            more = shell_run_command(words, count);
        }
    }
    return 0;
}

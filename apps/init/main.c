/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * init: the first program, with all abilities. Runs the boot image's start script (script.h), then
 * reaps children forever. A line that is wrong, or whose program can't be started, is reported with
 * its number and stops the script: half a system is worse than none. A machine that can be shut
 * down (an emulator under test) then ends with status 1, as it does after a program that fails
 * (children.h).
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "apps/init/children.h"
#include "apps/init/script.h"
#include "lib/capture/protocol.h"

#define NAME_WAIT_MS 10000
#define SLEEP_MOST_MS 1000000

static char init_message[128]; /* about the line that is wrong */

static const char *init_not_started(const char *program)
{
    const char *why = errno == ENOENT    ? "not in the boot image"
                      : errno == ENOEXEC ? "not a program for this board"
                                         : strerror(errno);

    snprintf(init_message, sizeof(init_message), "%s: %s", program, why);
    return init_message;
}

static const char *run_program(struct line *line)
{
    const char *program = line->words[0];

    if (line->name) {
        line->words[0] = line->name;
    }
    int pid = kymo_spawn(program, (char *const *)line->words, &line->attr);
    if (pid < 0) {
        return init_not_started(program);
    }
    if (children_add(pid, line) != 0) {
        return "more than 64 programs at a time";
    }
    return line->background || children_wait(pid) == 0 ? NULL : strerror(errno);
}

/* A program that should have attached the name may have failed: that is reported meanwhile. The
 * process that has attached it is a server, except for a tracelogger, whose recording has an
 * end. */
static const char *wait_name(const char *name)
{
    struct kymo_name found;

    for (int ms = 0; ms < NAME_WAIT_MS; ms += 10) {
        if (NameLookup(name, &found) == 0) {
            if (strcmp(name, TRACELOGGER_NAME) != 0) {
                children_named(found.pid);
            }
            return NULL;
        }
        children_reap();
        usleep(10000);
    }
    snprintf(init_message, sizeof(init_message),
             "waitname %s: no program has attached this name in 10 s", name);
    return init_message;
}

static const char *wait_all(void)
{
    return children_wait_background() == 0 ? NULL : strerror(errno);
}

static const char *sleep_ms(const char *text)
{
    uint32_t ms;

    if (!script_number(text, SLEEP_MOST_MS, &ms)) {
        return "sleep MS, at most 1000000";
    }
    return usleep((useconds_t)ms * 1000) == 0 ? NULL : strerror(errno);
}

static const char *init_shut_down(const char *text)
{
    uint32_t status = 0;

    if (text && !script_number(text, 255, &status)) {
        return "shutdown [STATUS], at most 255";
    }
    children_reap();
    if (status == 0 && children_failed()) {
        printf("init: shutdown with status 1: %s failed\n", children_failed());
    }
    fflush(stdout);
    SystemCtl(KYMO_SYSTEM_SHUTDOWN, (int)status); /* 0: 1 if a program has failed */
    return strerror(errno);
}

static const char *init_on_panic(const char *text)
{
    bool resets = strcmp(text, "reset") == 0;

    if (!resets && strcmp(text, "stop") != 0) {
        return "onpanic reset or stop";
    }
    return SystemCtl(KYMO_SYSTEM_ON_PANIC, resets ? KYMO_PANIC_RESETS : KYMO_PANIC_STOPS) == 0
               ? NULL
               : strerror(errno);
}

static const char *init_reset_machine(void)
{
    fflush(stdout);
    SystemCtl(KYMO_SYSTEM_RESET, 0);
    return strerror(errno);
}

/* Handles commands about the machine; *error: their result. */
static bool is_machines(const struct line *line, const char **error)
{
    const char *word = line->words[0];

    if (strcmp(word, "shutdown") == 0) {
        *error = line->nwords <= 2 ? init_shut_down(line->words[1]) : "shutdown [STATUS]";
    } else if (strcmp(word, "reset") == 0) {
        *error = line->nwords == 1 ? init_reset_machine() : "reset has no argument";
    } else if (strcmp(word, "onpanic") == 0) {
        *error = line->nwords == 2 ? init_on_panic(line->words[1]) : "onpanic reset or stop";
    } else {
        return false;
    }
    return true;
}

static const char *init_execute_line(struct line *line)
{
    const char *word = line->words[0];
    const char *argument = line->words[1];
    const char *error;

    if (line->bracketed || line->background) {
        return run_program(line);
    }
    if (strcmp(word, "waitname") == 0) {
        return line->nwords == 2 ? wait_name(argument) : "waitname NAME";
    }
    if (strcmp(word, "sleep") == 0) {
        return line->nwords == 2 ? sleep_ms(argument) : "sleep MS";
    }
    if (strcmp(word, "wait") == 0) {
        return line->nwords == 1 ? wait_all() : "wait has no argument";
    }
    return is_machines(line, &error) ? error : run_program(line);
}

static const char *script_line(char *text)
{
    struct line line;
    const char *error = line_parse(text, &line);

    return error || line.nwords == 0 ? error : init_execute_line(&line);
}

static int run_script(char *text)
{
    int number = 1;

    for (char *at = text; *at; number++) {
        char *end = at + strcspn(at, "\n");
        bool last = *end == '\0';

        *end = '\0';
        const char *error = script_line(at);
        if (error) {
            printf("init: start script line %d: %s\n", number, error);
            return -1;
        }
        at = last ? end : end + 1;
    }
    return 0;
}

/* Returns the script's text, or NULL. */
static char *read_script(void)
{
    static char text[SCRIPT_MAX + 1];
    long got = ImageRead("start", 0, text, SCRIPT_MAX + 1);

    if (got < 0 || got > SCRIPT_MAX) {
        if (got < 0) {
            printf("init: start script: %s\n", strerror(errno));
        } else {
            printf("init: start script: longer than %d bytes\n", SCRIPT_MAX);
        }
        return NULL;
    }
    text[got] = '\0';
    return text;
}

int main(void)
{
    char *text = read_script();

    if (!text || run_script(text) != 0) {
        SystemCtl(KYMO_SYSTEM_SHUTDOWN, 1);
    }
    for (;;) {
        if (children_wait_any() != 0) {
            usleep(100000);
        }
    }
}

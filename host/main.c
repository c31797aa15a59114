/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * kymo: the host command. Finds the subcommand and runs it; man page docs/man/kymo.1.
 */
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "host/kymo.h"
#include "host/log/log.h"
#include "host/nearest.h"
#include "host/reader/kev.h"

/* In the order of use, as docs/man/kymo.1 has them. */
static const struct group {
    const char *title;
    const struct kymo_command *commands[8]; /* NULL ends them */
} groups[] = {
    {"Run a system, take its captures",
     {&kymo_run_command, &kymo_console_command, &kymo_link_command, &kymo_capture_command,
      &kymo_collect_command, &kymo_extract_command}},
    {"Look at a capture, or at a target",
     {&kymo_stat_command, &kymo_print_command, &kymo_report_command, &kymo_view_command,
      &kymo_why_command, &kymo_top_command, &kymo_symbols_command}},
    {"Ask and check",
     {&kymo_diagnose_command, &kymo_dtrace_command, &kymo_assert_command, &kymo_diff_command,
      &kymo_verify_command}},
    {"Hand on", {&kymo_cut_command, &kymo_export_command, &kymo_query_command, &kymo_load_command}},
};
#define GROUPS (sizeof(groups) / sizeof(groups[0]))

static const struct kymo_command *command_find(const char *name)
{
    for (unsigned i = 0; i < GROUPS; i++) {
        for (const struct kymo_command *const *at = groups[i].commands; *at != NULL; at++) {
            if (strcmp((*at)->name, name) == 0) {
                return *at;
            }
        }
    }
    return NULL;
}

/* Reports a word that is no command, with the command that was probably meant. */
static int command_unknown(const char *word)
{
    static const struct option options[] = {
        {"help", no_argument, NULL, 0}, {"version", no_argument, NULL, 0}, {NULL, 0, NULL, 0}};
    struct nearest nearest = {.word = word};

    if (word[0] == '-') {
        nearest_offer_options(&nearest, options);
        return kymo_usage(NULL, "unknown option %s%s", word, nearest_hint(&nearest));
    }
    for (unsigned i = 0; i < GROUPS; i++) {
        for (const struct kymo_command *const *at = groups[i].commands; *at != NULL; at++) {
            nearest_offer(&nearest, (*at)->name);
        }
    }
    nearest_offer(&nearest, "help");
    return kymo_usage(NULL, "there is no command %s%s", word, nearest_hint(&nearest));
}

static int help_all(void)
{
    printf("Usage: kymo COMMAND [options]\n"
           "\n"
           "Boots Kymo systems, shows what their captures (.kev) hold, runs D programs.\n");
    for (unsigned i = 0; i < GROUPS; i++) {
        printf("\n%s:\n", groups[i].title);
        for (const struct kymo_command *const *at = groups[i].commands; *at != NULL; at++) {
            printf("  %-8s %s\n", (*at)->name, (*at)->summary);
        }
    }
    printf("\n"
           "  %-8s %s\n",
           "help", "print the help of a command");
    printf("\n"
           "`kymo help COMMAND` tells more; kymo --version prints the version; man pages kymo(1), "
           "kymo-COMMAND(1).\n"
           "Exit status: 0 success, 1 failure, 2 usage error.\n");
    return kymo_stdout_end(KYMO_OK);
}

static int main_print_help(const char *name)
{
    const struct kymo_command *command;

    if (name == NULL) {
        return help_all();
    }
    command = command_find(name);
    if (command == NULL) {
        return command_unknown(name);
    }
    return kymo_help(command);
}

/* A script's first line, "#!/usr/bin/kymo dtrace -qs", comes as "dtrace -qs" in one word. */
static int split_first(int argc, char ***argv)
{
    static const char blanks[] = " \t";
    static char **words; /* as long as the process */
    char *rest = NULL;
    int n = 0;

    words = kymo_memory(calloc((size_t)argc + strlen((*argv)[1]) + 1, sizeof(*words)));
    words[n++] = (*argv)[0];
    for (char *word = strtok_r((*argv)[1], blanks, &rest); word;
         word = strtok_r(NULL, blanks, &rest)) {
        words[n++] = word;
    }
    for (int i = 2; i < argc; i++) {
        words[n++] = (*argv)[i];
    }
    *argv = words;
    return n;
}

/* A standard stream that is closed would become the next file opened, and output would go into
 * that. What is put there instead can't be written (or read). */
static void hold_standard_streams(void)
{
    for (int fd = 0; fd <= 2; fd++) {
        if (fcntl(fd, F_GETFD) < 0 && open("/dev/null", fd == 0 ? O_WRONLY : O_RDONLY) < 0) {
            _exit(KYMO_FAILURE);
        }
    }
}

int main(int argc, char **argv)
{
    const struct kymo_command *command;

    hold_standard_streams();
    kymo_messages_start();
    kev_progress = kymo_progress;
    log_start();
    signal(SIGPIPE, SIG_IGN);
    signal(SIGXFSZ, SIG_IGN); /* a write beyond `ulimit -f` fails, which is reported */
    if (argc > 1 && strpbrk(argv[1], " \t")) {
        argc = split_first(argc, &argv);
    }
    if (argc < 2) {
        return kymo_usage(NULL, "which command?");
    }
    if (strcmp(argv[1], "--version") == 0) {
        printf("kymo %s\n", kymo_version);
        return kymo_stdout_end(KYMO_OK);
    }
    if (strcmp(argv[1], "--help") == 0 || strcmp(argv[1], "-h") == 0) {
        return main_print_help(NULL);
    }
    if (strcmp(argv[1], "help") == 0) {
        return main_print_help(argv[2]);
    }
    command = command_find(argv[1]);
    if (command == NULL) {
        return command_unknown(argv[1]);
    }
    int status = command->run(argc - 1, argv + 1);

    return status == KYMO_OK ? kymo_stdout_end(status) : status;
}

/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The command line of tracelogger, by the table options.def: letters may be combined (-cw), an
 * argument may be in the same word (-k5, --after=1) or in the next. A wrong one is exit status 2.
 * Not getopt(): the C libraries' versions differ in their messages.
 */
#include "tracelogger/options.h"

#include <stdio.h>
#include <string.h>

#include "lib/capture/idle.h"
#include "lib/include/kymo.h"
#include "tracelogger/option_set.h"

#define DEFAULT_LIMIT 32
#define HELP_COLUMN 16
#define USAGE_ERROR (2 + 1)

struct entry {
    char letter;
    const char *name, *argument, *takes;
    enum option_result (*set)(struct options *options, const char *text);
    const char *help;
};

static const struct entry logger_options_entry_table[] = {
#define OPTION(letter, name, argument, takes, set, help) \
    {letter, name, argument, takes, option_##set, help},
#include "tracelogger/options.def"
#undef OPTION
};
#define ENTRIES (sizeof(logger_options_entry_table) / sizeof(logger_options_entry_table[0]))

struct words {
    char **argv;
    int at, count; /* index of the current word */
};

/* "-k BUFFERS", "--reclaim". */
static int entry_print(const struct entry *entry, bool argument)
{
    char letter[] = {'-', entry->letter, '\0'};

    return printf("%s%s%s%s", entry->letter ? letter : "--", entry->letter ? "" : entry->name,
                  argument && entry->argument ? " " : "",
                  argument && entry->argument ? entry->argument : "");
}

static void help_entry(const struct entry *entry)
{
    printf("  ");
    int column = 2 + entry_print(entry, true);

    for (const char *line = entry->help; line;) {
        const char *end = strchr(line, '\n');
        int length = (int)(end ? (size_t)(end - line) : strlen(line));

        printf("%*s%.*s\n", HELP_COLUMN - column > 2 ? HELP_COLUMN - column : 2, "", length, line);
        line = end ? end + 1 : NULL;
        column = 0;
    }
}

static int logger_options_print_help(void)
{
    printf("usage: tracelogger [OPTION...]\nRecords the kernel's events into a capture.\n");
    for (unsigned i = 0; i < ENTRIES; i++) {
        help_entry(&logger_options_entry_table[i]);
    }
    printf(
        "`tracestop` stops the recording. Exit status: 0 success, 1 failure or incomplete capture, "
        "2 usage error.\n");
    return 0 + 1;
}

static int try_help(void)
{
    printf("Try: tracelogger --help\n");
    return USAGE_ERROR;
}

static int wrong_word(const char *word)
{
    bool option = word[0] == '-' && word[1];

    printf("tracelogger: %s %s\n", option ? "unknown option" : "unexpected argument", word);
    return try_help();
}

static int wrong_letter(char letter, const char *word)
{
    if (!word[2]) {
        return wrong_word(word);
    }
    printf("tracelogger: unknown option -%c in %s\n", letter, word);
    return try_help();
}

static int wrong_argument(const struct entry *entry)
{
    printf("tracelogger: --%s takes no argument\n", entry->name);
    return try_help();
}

static int wrong_value(const struct entry *entry)
{
    printf("tracelogger: ");
    entry_print(entry, false);
    printf(" takes %s\n", entry->takes);
    return try_help();
}

static const struct entry *by_letter(char letter)
{
    for (unsigned i = 0; i < ENTRIES; i++) {
        if (logger_options_entry_table[i].letter == letter) {
            return &logger_options_entry_table[i];
        }
    }
    return NULL;
}

/* `text`: the argument, if it is in the option's word. */
static int logger_options_take_entry(struct words *words, const struct entry *entry,
                                     const char *text, struct options *options)
{
    if (entry->argument && !text) {
        if (words->at + 1 >= words->count) {
            return wrong_value(entry);
        }
        text = words->argv[++words->at];
    }
    switch (entry->set(options, text)) {
    case OPTION_TAKEN:
        return 0;
    case OPTION_HELP:
        return logger_options_print_help();
    case OPTION_REFUSED:
        return USAGE_ERROR;
    default:
        return wrong_value(entry);
    }
}

/* Takes one word with options: --name, --name=argument, or letters. */
static int logger_options_take_word(struct words *words, struct options *options)
{
    const char *word = words->argv[words->at];

    if (word[0] != '-' || !word[1]) {
        return wrong_word(word);
    }
    if (word[1] == '-') {
        const char *name = word + 2;
        size_t length = strcspn(name, "=");
        const char *text = name[length] ? name + length + 1 : NULL;

        for (unsigned i = 0; i < ENTRIES && length > 0; i++) {
            if (strncmp(logger_options_entry_table[i].name, name, length) == 0 &&
                !logger_options_entry_table[i].name[length]) {
                return text && !logger_options_entry_table[i].argument
                           ? wrong_argument(&logger_options_entry_table[i])
                           : logger_options_take_entry(words, &logger_options_entry_table[i], text,
                                                       options);
            }
        }
        return wrong_word(word);
    }
    for (const char *at = word + 1; *at; at++) {
        const struct entry *entry = by_letter(*at);
        int result = entry ? logger_options_take_entry(
                                 words, entry, entry->argument && at[1] ? at + 1 : NULL, options)
                           : wrong_letter(*at, word);

        if (result != 0 || entry->argument) {
            return result;
        }
    }
    return 0;
}

/* Checks the options against each other. */
static int logger_options_check_together(struct options *options)
{
    uint32_t cpus = kymo_cpus();

    if (option_memory_agree(options) != 0 || option_together_agree(options) != 0) {
        return USAGE_ERROR;
    }
    if (options->mode == MODE_RING && options->flush_seconds > 0) {
        printf(
            "tracelogger: -D can't flush a ring, which is written only when it stops: leave out -D "
            "or -r\n");
        return USAGE_ERROR;
    }
    if (!options->limited) {
        bool endless = options->seconds > 0 || options->mode == MODE_RING || options->daemon;

        options->buffers = endless ? 0 : DEFAULT_LIMIT;
    }
    options->kernel_buffers += (options->more_buffers + cpus - 1) / cpus;
    if (options->kernel_buffers > KERNEL_BUFFERS_MOST) {
        printf("tracelogger: -k and -b together are %u buffers per CPU: give at most %u\n",
               (unsigned)options->kernel_buffers, KERNEL_BUFFERS_MOST);
        return USAGE_ERROR;
    }
    return 0;
}

int options_parse(int argc, char **argv, struct options *options)
{
    memset(options, 0, sizeof(*options));
    options->kernel_buffers = kymo_cpus() > 1 ? 8 : 32;
    options->idle_ms = CAPTURE_IDLE_MS;
    for (size_t i = 0, used = 0; i < (size_t)argc && used < sizeof(options->args); i++) {
        used += (size_t)snprintf(options->args + used, sizeof(options->args) - used, "%s%s",
                                 i ? " " : "", argv[i]);
    }
    struct words words = {argv, 1, argc};
    int result = 0;
    for (; words.at < argc && result == 0; words.at++) {
        result = logger_options_take_word(&words, options);
    }
    return result != 0 ? result : logger_options_check_together(options);
}

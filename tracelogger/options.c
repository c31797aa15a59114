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

struct row {
    char letter;
    const char *name, *argument, *takes;
    enum option_result (*set)(struct options *options, const char *text);
    const char *help;
};

static const struct row rows[] = {
#define OPTION(letter, name, argument, takes, set, help) \
    {letter, name, argument, takes, option_##set, help},
#include "tracelogger/options.def"
#undef OPTION
};
#define ROWS (sizeof(rows) / sizeof(rows[0]))

struct words {
    char **argv;
    int at, count; /* index of the current word */
};

/* "-k BUFFERS", "--reclaim". */
static int row_print(const struct row *row, bool argument)
{
    char letter[] = {'-', row->letter, '\0'};

    return printf("%s%s%s%s", row->letter ? letter : "--", row->letter ? "" : row->name,
                  argument && row->argument ? " " : "",
                  argument && row->argument ? row->argument : "");
}

static void help_row(const struct row *row)
{
    printf("  ");
    int column = 2 + row_print(row, true);

    for (const char *line = row->help; line;) {
        const char *end = strchr(line, '\n');
        int length = (int)(end ? (size_t)(end - line) : strlen(line));

        printf("%*s%.*s\n", HELP_COLUMN - column > 2 ? HELP_COLUMN - column : 2, "", length, line);
        line = end ? end + 1 : NULL;
        column = 0;
    }
}

static int help(void)
{
    printf("usage: tracelogger [OPTION...]\nRecords the kernel's events into a capture.\n");
    for (unsigned i = 0; i < ROWS; i++) {
        help_row(&rows[i]);
    }
    printf("`tracestop` tells it to stop. Exit status: 0 good, 1 capture incomplete, 2 usage.\n");
    return 0 + 1;
}

static int try_help(void)
{
    printf("Try: tracelogger --help\n");
    return USAGE_ERROR;
}

static int wrong_word(const char *word)
{
    printf("tracelogger: what is %s?\n", word);
    return try_help();
}

static int wrong_value(const struct row *row)
{
    printf("tracelogger: ");
    row_print(row, false);
    printf(" takes %s\n", row->takes);
    return try_help();
}

static const struct row *by_letter(char letter)
{
    for (unsigned i = 0; i < ROWS; i++) {
        if (rows[i].letter == letter) {
            return &rows[i];
        }
    }
    return NULL;
}

static const struct row *by_name(const char *name, size_t length)
{
    for (unsigned i = 0; i < ROWS; i++) {
        if (length > 0 && strncmp(rows[i].name, name, length) == 0 && !rows[i].name[length]) {
            return &rows[i];
        }
    }
    return NULL;
}

/* `text`: the argument, if it is in the option's word. */
static int take(struct words *words, const struct row *row, const char *text,
                struct options *options)
{
    if (row->argument && !text) {
        if (words->at + 1 >= words->count) {
            return wrong_value(row);
        }
        text = words->argv[++words->at];
    }
    switch (row->set(options, text)) {
    case OPTION_TAKEN:
        return 0;
    case OPTION_HELP:
        return help();
    case OPTION_REFUSED:
        return USAGE_ERROR;
    default:
        return wrong_value(row);
    }
}

static int take_long(struct words *words, const char *word, struct options *options)
{
    size_t length = strcspn(word + 2, "=");
    const struct row *row = by_name(word + 2, length);
    const char *text = word[2 + length] ? word + 2 + length + 1 : NULL;

    return !row || (text && !row->argument) ? wrong_word(word) : take(words, row, text, options);
}

static int take_letters(struct words *words, const char *word, struct options *options)
{
    int result = 0;

    for (const char *at = word + 1; *at && result == 0; at++) {
        const struct row *row = by_letter(*at);

        if (!row) {
            return wrong_word(word);
        }
        result = take(words, row, row->argument && at[1] ? at + 1 : NULL, options);
        if (row->argument) {
            break;
        }
    }
    return result;
}

static int take_all(int argc, char **argv, struct options *options)
{
    struct words words = {argv, 1, argc};
    int result = 0;

    for (; words.at < argc && result == 0; words.at++) {
        const char *word = argv[words.at];

        if (word[0] != '-' || !word[1]) {
            return wrong_word(word);
        }
        result =
            word[1] == '-' ? take_long(&words, word, options) : take_letters(&words, word, options);
    }
    return result;
}

/* Checks the options against each other. */
static int agree(struct options *options)
{
    uint32_t cpus = kymo_cpus();

    if (option_memory_agree(options) != 0 || option_together_agree(options) != 0) {
        return USAGE_ERROR;
    }
    if (options->mode == MODE_RING && options->flush_seconds > 0) {
        printf("tracelogger: -D can't flush a ring, which is written when it stops: leave out one "
               "of -D and -r\n");
        return USAGE_ERROR;
    }
    if (!options->limited) {
        bool endless = options->seconds > 0 || options->mode == MODE_RING || options->daemon;

        options->buffers = endless ? 0 : DEFAULT_LIMIT;
    }
    options->kernel_buffers += (options->more_buffers + cpus - 1) / cpus;
    if (options->kernel_buffers > KERNEL_BUFFERS_MOST) {
        printf("tracelogger: -k and -b are %u buffers per CPU: at most %u can be had\n",
               (unsigned)options->kernel_buffers, KERNEL_BUFFERS_MOST);
        return USAGE_ERROR;
    }
    return 0;
}

static void join_args(int argc, char **argv, struct options *options)
{
    size_t used = 0;

    for (int i = 0; i < argc && used < sizeof(options->args); i++) {
        used += (size_t)snprintf(options->args + used, sizeof(options->args) - used, "%s%s",
                                 i ? " " : "", argv[i]);
    }
}

int options_parse(int argc, char **argv, struct options *options)
{
    memset(options, 0, sizeof(*options));
    options->kernel_buffers = kymo_cpus() > 1 ? 8 : 32;
    options->idle_ms = CAPTURE_IDLE_MS;
    join_args(argc, argv, options);
    int result = take_all(argc, argv, options);

    return result != 0 ? result : agree(options);
}

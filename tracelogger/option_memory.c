/* SPDX-License-Identifier: BSD-2-Clause */
/* The options about memory objects: see option_set.h. A capture in memory needs to know
 * its size. */
#include <stdio.h>
#include <string.h>

#include "tracelogger/object.h"
#include "tracelogger/option_set.h"

#define DEFAULT_FILE "trace.kev"
#define NAME_MOST 48

enum option_result option_memory(struct options *options, const char *text)
{
    (void)text;
    options->memory = true;
    return OPTION_TAKEN;
}

enum option_result option_keep(struct options *options, const char *text)
{
    (void)text;
    options->keep = true;
    return OPTION_TAKEN;
}

enum option_result option_reuse(struct options *options, const char *text)
{
    (void)text;
    options->reuse = true;
    return OPTION_TAKEN;
}

enum option_result option_save(struct options *options, const char *text)
{
    options->save = text;
    return *text ? OPTION_TAKEN : OPTION_WRONG;
}

enum option_result option_remove(struct options *options, const char *text)
{
    options->remove = text;
    return *text ? OPTION_TAKEN : OPTION_WRONG;
}

static int option_memory_refuse_with(const char *why)
{
    printf("tracelogger: %s\nTry: tracelogger --help\n", why);
    return -1;
}

int option_memory_agree(struct options *options)
{
    static char name[sizeof(OBJECT_PREFIX) + NAME_MOST];
    const char *file = options->file;

    if (options->memory && file && strchr(file, ':') &&
        strncmp(file, OBJECT_PREFIX, strlen(OBJECT_PREFIX)) != 0) {
        return option_memory_refuse_with(
            "-M and -f name two destinations of the capture: leave out one of them");
    }
    if (options->memory) {
        snprintf(name, sizeof(name), "%s%s", OBJECT_PREFIX,
                 file ? object_name(file) : OBJECT_DEFAULT);
        options->file = name;
    } else if (!file) {
        options->file = DEFAULT_FILE;
    }
    if (strncmp(options->file, OBJECT_PREFIX, strlen(OBJECT_PREFIX)) == 0 && options->size == 0) {
        return option_memory_refuse_with(
            "a capture in memory needs -S SIZE, the size of its memory object");
    }
    return 0;
}

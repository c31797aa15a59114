/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Conflicting options: see option_set.h. An option without effect beside another is refused, so
 * that nobody assumes that it was applied. Tested by test/tracelogger.
 */
#include <stdio.h>
#include <string.h>

#include "tracelogger/object.h"
#include "tracelogger/option_set.h"

#define DISK_PREFIX "block:"

static int option_together_refuse_with(const char *why)
{
    printf("tracelogger: %s\nTry: tracelogger --help\n", why);
    return -1;
}

static bool option_together_begins_with(const char *text, const char *with)
{
    return strncmp(text, with, strlen(with)) == 0;
}

int option_together_agree(const struct options *options)
{
    bool kept = options->keep || options->reuse;
    bool retained = options->recover || options->discard;
    bool object = options->save || options->remove;
    bool records =
        options->retain || options->mode == MODE_RING || options->daemon || kept || options->gate;

    if (options->recover && options->discard) {
        return option_together_refuse_with(
            "--recover frees the retained memory when all is saved: leave out --discard");
    }
    if (retained && object) {
        return option_together_refuse_with(
            "--recover and --discard are for retained memory, --save and --remove for memory "
            "objects: give two commands");
    }
    if ((retained || object) && records) {
        return option_together_refuse_with(
            "--recover, --discard, --save and --remove record nothing: give two commands, and "
            "-r, -d1, -x, -P, -R and --retain to the command that records");
    }
    if (options->idle_given && options->mode == MODE_RING) {
        return option_together_refuse_with(
            "--idle has no effect on a ring, which is written only when it stops: leave out "
            "--idle or -r");
    }
    if (options->retain && kept) {
        return option_together_refuse_with(
            "--retain records in memory of its own: leave out -P and -R");
    }
    if (kept && option_together_begins_with(options->file, OBJECT_PREFIX) &&
        strcmp(object_name(options->file), OBJECT_KEPT) == 0) {
        return option_together_refuse_with("/" OBJECT_KEPT
                                           " is where -P keeps the buffers: give -f another name");
    }
    if ((options->format || options->reclaim) &&
        !option_together_begins_with(options->file, DISK_PREFIX)) {
        return option_together_refuse_with(
            "--format and --reclaim need a disk: give -f block:NAME");
    }
    if (options->force && !options->format) {
        return option_together_refuse_with(
            "--force has an effect only with --format: leave out --force");
    }
    return 0;
}

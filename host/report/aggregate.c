/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The aggregations of the D programs that logged into a capture, as `kymo dtrace -r --json` prints
 * them: by a process of its own, as a program of a capture is compiled again, and a capture may be
 * an attacker's. Proof: test/board/dlog.py, test/host/report/views.py.
 */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "host/kymo.h"
#include "host/reader/kev.h"
#include "host/report/report.h"
#include "host/temporary.h"

#define TEXT_MOST (8u << 20) /* of the text that is put into a page */
#define REPLAY_LOOK_MS 5     /* whether it has ended */

static const char aggregation_begin[] = "{\"aggregation\"";

/* The child: prints the aggregations of the capture. Between fork() and exec: other threads may run
 * in the parent, so nothing here takes a lock. */
static void replay_exec(const struct aggregate_source *source, int out, int err)
{
    char *const words[] = {(char *)"kymo", (char *)"dtrace",     (char *)"--json",
                           (char *)"-r",   (char *)source->path, NULL};

    if (dup2(out, STDOUT_FILENO) >= 0 && dup2(err, STDERR_FILENO) >= 0 &&
        (source->descriptor < 0 || fcntl(source->descriptor, F_SETFD, 0) == 0)) {
        execv("/proc/self/exe", words);
    }
    _exit(127);
}

/* Returns the wait status; -1: there is no process. An interrupt ends it. */
static int replay_run(const struct aggregate_source *source, int out, int err)
{
    int status;
    pid_t child = fork(), ended;

    if (child == 0) {
        replay_exec(source, out, err);
    }
    if (child < 0) {
        return -1;
    }
    while ((ended = waitpid(child, &status, WNOHANG)) == 0 || (ended < 0 && errno == EINTR)) {
        if (kev_interrupted != NULL && *kev_interrupted != 0) {
            kill(child, SIGKILL);
        }
        poll(NULL, 0, REPLAY_LOOK_MS);
    }
    return ended < 0 ? -1 : status;
}

/* The lines of aggregations; counts those that have no room. */
static unsigned aggregations_take(FILE *from, struct bytes *text)
{
    char *line = NULL;
    size_t room = 0;
    ssize_t length;
    unsigned left = 0;

    while ((length = getline(&line, &room, from)) > 0) {
        if (strncmp(line, aggregation_begin, sizeof(aggregation_begin) - 1) != 0) {
            continue;
        }
        if (text->used + (size_t)length > TEXT_MOST) {
            left++;
        } else {
            bytes_put(text, line, (size_t)length);
        }
    }
    free(line);
    return left;
}

/* The messages while they were printed: drops, and why there are none. */
static void said_take(FILE *from, struct bytes *json)
{
    char said[2000];
    size_t length = fread(said, 1, sizeof(said), from);

    bytes_json(json, said, length);
}

void aggregate_write(const struct aggregate_source *source, struct pack *pack, struct bytes *json)
{
    int out = temporary_open(), err = temporary_open();
    int status = out < 0 || err < 0 ? -1 : replay_run(source, out, err);
    FILE *printed = out < 0 ? NULL : fdopen(out, "r");
    FILE *said = err < 0 ? NULL : fdopen(err, "r");
    struct bytes text = {0};
    unsigned left = 0;

    bytes_text(json, ",\n\"aggregations\":{\"ended\":");
    bytes_number(json, status >= 0 && WIFEXITED(status));
    if (printed != NULL) {
        rewind(printed);
        left = aggregations_take(printed, &text);
        fclose(printed);
    }
    bytes_text(json, ",\"left\":");
    bytes_number(json, left);
    bytes_text(json, ",\"said\":");
    if (said != NULL && source->grows) { /* that its end is missing, above all */
        fclose(said);
        bytes_text(json, "\"\"");
    } else if (said != NULL) {
        rewind(said);
        said_take(said, json);
        fclose(said);
    } else {
        bytes_json(json, strerror(errno), strlen(strerror(errno)));
    }
    bytes_text(json, "}");
    pack->failed |= text.failed;
    if (text.used > 0) {
        pack_block(pack, "aggregations", 1, &text);
    }
    bytes_free(&text);
}

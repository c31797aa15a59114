/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The console's line editing: backspace, ^U kills the line, ^D ends the file at a line's start, CR
 * is a newline. Finished lines wait in one buffer; input beyond it is dropped with a bell.
 */
#include "apps/console/input.h"

#include <errno.h>
#include <string.h>

#include "kernel/abi/sys/neutrino.h"

#define LINE 256
#define READERS 8
#define CTRL(c) ((c) - '@')

static char line[LINE];  /* being edited */
static size_t length;    /* of it */
static char done[LINE];  /* finished, not read */
static size_t ready;     /* bytes of it */
static int end_of_files; /* ^D typed this often, not yet told */

static struct {
    int rcvid;
    size_t bytes;
} readers[READERS];
static size_t nreaders;

static size_t line_end(size_t most)
{
    const char *newline = memchr(done, '\n', ready);
    size_t bytes = newline ? (size_t)(newline - done) + 1 : ready;

    return bytes < most ? bytes : most;
}

/* The first reader's answer. If it is gone, its line stays for the next. */
static void answer(void)
{
    size_t bytes = line_end(readers[0].bytes);
    int gone = MsgReply(readers[0].rcvid, (long)bytes, done, bytes) < 0;

    nreaders--;
    memmove(readers, readers + 1, nreaders * sizeof(readers[0]));
    if (gone) {
        return;
    }
    if (ready == 0) {
        end_of_files--;
        return;
    }
    ready -= bytes;
    memmove(done, done + bytes, ready);
}

static void serve(void)
{
    while (nreaders > 0 && (ready > 0 || end_of_files > 0)) {
        answer();
    }
}

int input_read(int rcvid, size_t bytes)
{
    if (nreaders == READERS) {
        return -EAGAIN;
    }
    readers[nreaders].rcvid = rcvid;
    readers[nreaders].bytes = bytes;
    nreaders++;
    serve();
    return 0;
}

static void finish(void (*echo)(const char *text, size_t bytes))
{
    if (ready + length + 1 > LINE) {
        echo("\a", 1);
        return;
    }
    memcpy(done + ready, line, length);
    ready += length;
    done[ready++] = '\n';
    length = 0;
    echo("\n", 1);
    serve();
}

static void erase(size_t count, void (*echo)(const char *text, size_t bytes))
{
    for (; count > 0 && length > 0; count--, length--) {
        echo("\b \b", 3);
    }
}

void input_char(int c, void (*echo)(const char *text, size_t bytes))
{
    char text = (char)c;

    if (c == '\r' || c == '\n') {
        finish(echo);
    } else if (c == '\b' || c == 0x7f) {
        erase(1, echo);
    } else if (c == CTRL('U')) {
        erase(LINE, echo);
    } else if (c == CTRL('D')) {
        end_of_files += length == 0;
        serve();
    } else if (c >= ' ' && length < LINE - 1) {
        line[length++] = text;
        echo(&text, 1);
    } else {
        echo("\a", 1);
    }
}

/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * mkscript FILE CPUS [FILTER] <SCRIPT: a capture of the events that a script has, a line each, in
 * numbers:
 *
 *   e CPU AFTER CLASS EVENT WORD...     an event, AFTER cycles later
 *   s CPU AFTER CLASS EVENT WORD TEXT   the same with a text, which goes to the end of the line
 *   d CPU REASON CLASS EVENTS           DROPPED
 *   f CPU                               the CPU's buffer ends
 *   l CPU                               and the next one is missing
 *
 * FILTER is the header's FILTER_1. A line that is none of these ends it with status 1.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "test/host/fabricate/mkcapture.h"

#define WORDS 2000

static const char events[] = "3 1 INT_ENTR D:interrupt,P:ip =\n"
                             "3 2 INT_EXIT D:interrupt,H:inkernel =\n"
                             "3 3 INT_HANDLER_ENTR D:pid,D:interrupt,P:ip,P:area =\n"
                             "3 4 INT_HANDLER_EXIT D:interrupt,D:notify =\n"
                             "5 10 FUNC_ENTER P:thisfn,P:call_site =\n"
                             "5 11 FUNC_EXIT P:thisfn,P:call_site =\n";

static int line_take(struct mk *mk, const char *line)
{
    uint32_t words[WORDS];
    uint64_t after = 0;
    unsigned n = 0;
    char *end;
    const char *at = line + 1;

    while (n < WORDS && (line[0] != 's' || n < 5)) {
        uint64_t word = strtoull(at, &end, 0);

        words[n] = (uint32_t)word;
        after = n == 1 ? word : after;
        if (end == at) {
            break;
        }
        at = end;
        n++;
    }
    if (line[0] == 'e' && n >= 4) {
        mk_event(mk, words[0], after, words[2], words[3], words + 4, n - 4);
    } else if (line[0] == 's' && n == 5 && *at == ' ' && strlen(at) < 200) {
        mk_string(mk, words[0], after, words[2], words[3], words + 4, 1, at + 1);
    } else if (line[0] == 'd' && n == 4) {
        mk_dropped(mk, words[0], words[1], words[2], words[3]);
    } else if (line[0] == 'f' && n == 1) {
        mk_flush(mk, words[0]);
    } else if (line[0] == 'l' && n == 1) {
        mk_lose_buffer(mk, words[0]);
    } else {
        return -1;
    }
    return 0;
}

int main(int argc, char **argv)
{
    struct mk_options options = {.start = 1000, .checked = true, .events = events};
    char *line = NULL;
    size_t room = 0;
    ssize_t length;

    if (argc < 3) {
        fputs("Usage: mkscript FILE CPUS [FILTER] <SCRIPT\n", stderr);
        return 2;
    }
    options.ncpu = (unsigned)atoi(argv[2]);
    options.filters = argc > 3 ? argv[3] : "all classes";
    struct mk *mk = mk_new(&options);

    while ((length = getline(&line, &room, stdin)) > 0) {
        line[length - 1] = '\0';
        if (line_take(mk, line) != 0) {
            fprintf(stderr, "mkscript: %s\n", line);
            return 1;
        }
    }
    mk_flush_all(mk);
    mk_end(mk);
    free(line);
    if (mk_save(mk, argv[1]) != 0) {
        perror(argv[1]);
        return 1;
    }
    mk_free(mk);
    return 0;
}

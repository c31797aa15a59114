/* SPDX-License-Identifier: BSD-2-Clause */
/* The child of kymo top, `kymo dtrace`, and the lines of its pipes. */
#ifndef HOST_TOP_CHILD_H
#define HOST_TOP_CHILD_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#define TOP_LINE 512 /* bytes of a line; what is longer is cut */

struct top_lines {
    int fd;
    bool is_cut; /* the beginning of the line that is being read was thrown away */
    size_t used;
    char text[65536];
};

struct top_child {
    pid_t pid;
    struct top_lines out, err;
};

/* Starts this program with `argv`. False: it can't be, which has been said. */
bool top_child_start(struct top_child *child, char *const *argv);
/* Ends it. A signal meanwhile ends it the harder way. */
void top_child_end(struct top_child *child);

/* Reads what there is. Returns false at the end. */
bool top_lines_read(struct top_lines *lines);
/* The next whole line without its newline; false: there is none yet. */
bool top_lines_next(struct top_lines *lines, char line[TOP_LINE]);

#endif

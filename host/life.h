/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The name of one life of a thread: "5:2" is the first thread that had the pid 5 and the tid 2,
 * "5:2@3" the third one. Proof: test/host/stat/stat_test.c, test/host/stat/why.py.
 */
#ifndef HOST_LIFE_H
#define HOST_LIFE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define LIFE_TEXT 40

/* Writes "5:2" or "5:2@3"; returns `text`. */
const char *life_text(int32_t pid, int32_t tid, uint32_t life, char text[LIFE_TEXT]);
/* Writes "2" or "2@3", for a table that has the pid in another column. */
const char *life_tid_text(int32_t tid, uint32_t life, char text[LIFE_TEXT]);
/* Reads PID:TID, which any life of them has (*life: 0), or PID:TID@N. False: it is neither. */
bool life_parse(const char *text, int32_t *pid, int32_t *tid, uint32_t *life);
/* Writes the command, without the capture's name, that shows what the thread with these ids waited
 * for; from, to: ns since the capture's start. */
void life_why(int32_t pid, int32_t tid, int64_t from, int64_t to, char *text, size_t room);

#endif

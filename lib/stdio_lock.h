/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * One lock per FILE, for stdio_wrap.c of both C libraries. Recursive: stdio calls itself. stdin has
 * its own, so that a thread that waits for input never keeps others from printing; the rest share a
 * few.
 */
#ifndef LIB_STDIO_LOCK_H
#define LIB_STDIO_LOCK_H

void kymo_stdio_lock(int fd); /* descriptor of the FILE; below 0: a string, no lock */
void kymo_stdio_unlock(int fd);
/* The list of open FILEs (fopen, fclose). */
void kymo_stdio_list_lock(void);
void kymo_stdio_list_unlock(void);

#endif

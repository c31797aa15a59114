/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * picolibc's standard files: buffered, on descriptors 0-2. stdout is line buffered; stderr is
 * written at the end of every call (stdio_wrap.c flushes it), so a message is written in one piece.
 */
#include <stdio.h>
#include <stdio-bufio.h>
#include <stdlib.h>
#include <unistd.h>

#include "lib/thread.h"

#ifndef STDIO_BUFFER
#define STDIO_BUFFER 256
#endif

static char in_buffer[STDIO_BUFFER], out_buffer[STDIO_BUFFER], err_buffer[STDIO_BUFFER];

static struct __file_bufio in_file =
    FDEV_SETUP_BUFIO(0, in_buffer, STDIO_BUFFER, read, write, lseek, close, __SRD, 0);
static struct __file_bufio out_file =
    FDEV_SETUP_BUFIO(1, out_buffer, STDIO_BUFFER, read, write, lseek, close, __SWR, __BLBF);
static struct __file_bufio err_file =
    FDEV_SETUP_BUFIO(2, err_buffer, STDIO_BUFFER, read, write, lseek, close, __SWR, __BLBF);

FILE *const stdin = &in_file.xfile.cfile.file;
FILE *const stdout = &out_file.xfile.cfile.file;
FILE *const stderr = &err_file.xfile.cfile.file;

static void flush_all(void)
{
    fflush(stdout);
    fflush(stderr);
}

void kymo_libc_start(void)
{
    atexit(flush_all);
}

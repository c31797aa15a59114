/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Makes picolibc's stdio atomic per call: the library locks single characters only, so lines of two
 * threads would mix. The linker (--wrap, lib/lib.mk) wraps the entries in these functions.
 */
#include <stdarg.h>
#include <stdio.h>

#include "lib/stdio_lock.h"

static int picolibc_file_of(FILE *fp)
{
    return fp ? fileno(fp) : -1;
}

int __real_fflush(FILE *fp);

/* stderr is buffered only during a call. */
static void picolibc_leave_file(FILE *fp, int file)
{
    if (fp == stderr) {
        __real_fflush(fp);
    }
    kymo_stdio_unlock(file);
}

#define WRAP(type, name, parameters, arguments, fp) \
    type __real_##name parameters; \
    type __wrap_##name parameters; \
    type __wrap_##name parameters \
    { \
        int file = picolibc_file_of(fp); \
        kymo_stdio_lock(file); \
        type result = __real_##name arguments; \
        picolibc_leave_file(fp, file); \
        return result; \
    }

WRAP(int, vfprintf, (FILE * fp, const char *f, va_list v), (fp, f, v), fp)
WRAP(int, fputs, (const char *s, FILE *fp), (s, fp), fp)
WRAP(int, puts, (const char *s), (s), stdout)
WRAP(size_t, fwrite, (const void *p, size_t s, size_t n, FILE *fp), (p, s, n, fp), fp)
WRAP(int, fputc, (int c, FILE *fp), (c, fp), fp)
WRAP(int, putchar, (int c), (c), stdout)
WRAP(size_t, fread, (void *p, size_t s, size_t n, FILE *fp), (p, s, n, fp), fp)
WRAP(char *, fgets, (char *s, int n, FILE *fp), (s, n, fp), fp)
WRAP(int, fgetc, (FILE * fp), (fp), fp)
WRAP(int, getchar, (void), (), stdin)
WRAP(int, fflush, (FILE * fp), (fp), fp)

/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Makes newlib's stdio thread-safe. Debian's newlib has no locks in stdio at all, so the linker
 * (--wrap, lib/lib.mk) wraps the entries that use a FILE in these functions: each holds the FILE's
 * lock for the whole call, so lines of two threads do not mix. Public functions reach a FILE
 * through the _r ones, except those at the end, which newlib expands inline.
 */
#include <stdarg.h>
#include <stdio.h>
#include <stdio_ext.h>

#include "lib/stdio_lock.h"

/* A FILE that is only a buffer (snprintf) has _file -1 and belongs to one caller.
 * NULL: fflush(). */
static int newlib_file_of(FILE *fp)
{
    return fp ? fp->_file : -1;
}

#define WRAP(type, name, parameters, arguments, fp) \
    type __real_##name parameters; \
    type __wrap_##name parameters; \
    type __wrap_##name parameters \
    { \
        int file = newlib_file_of(fp); \
        kymo_stdio_lock(file); \
        type result = __real_##name arguments; \
        kymo_stdio_unlock(file); \
        return result; \
    }
#define WRAP_LIST(type, name, parameters, arguments) \
    type __real_##name parameters; \
    type __wrap_##name parameters; \
    type __wrap_##name parameters \
    { \
        kymo_stdio_list_lock(); \
        type result = __real_##name arguments; \
        kymo_stdio_list_unlock(); \
        return result; \
    }
#define R struct _reent *r

WRAP(int, _vfprintf_r, (R, FILE *fp, const char *f, va_list v), (r, fp, f, v), fp)
WRAP(int, _vfiprintf_r, (R, FILE *fp, const char *f, va_list v), (r, fp, f, v), fp)
WRAP(int, _vfscanf_r, (R, FILE *fp, const char *f, va_list v), (r, fp, f, v), fp)
WRAP(int, _puts_r, (R, const char *s), (r, s), _stdout_r(r))
WRAP(int, _fputs_r, (R, const char *s, FILE *fp), (r, s, fp), fp)
WRAP(int, _fputc_r, (R, int c, FILE *fp), (r, c, fp), fp)
WRAP(int, _putc_r, (R, int c, FILE *fp), (r, c, fp), fp)
WRAP(size_t, _fwrite_r, (R, const void *p, size_t s, size_t n, FILE *fp), (r, p, s, n, fp), fp)
WRAP(size_t, _fread_r, (R, void *p, size_t s, size_t n, FILE *fp), (r, p, s, n, fp), fp)
WRAP(char *, _fgets_r, (R, char *s, int n, FILE *fp), (r, s, n, fp), fp)
WRAP(int, _getc_r, (R, FILE *fp), (r, fp), fp)
WRAP(int, _fgetc_r, (R, FILE *fp), (r, fp), fp)
WRAP(int, _ungetc_r, (R, int c, FILE *fp), (r, c, fp), fp)
WRAP(int, _fflush_r, (R, FILE *fp), (r, fp), fp)
WRAP(int, _fseek_r, (R, FILE *fp, long o, int w), (r, fp, o, w), fp)
WRAP(long, _ftell_r, (R, FILE *fp), (r, fp), fp)
WRAP_LIST(FILE *, _fopen_r, (R, const char *p, const char *m), (r, p, m))
WRAP_LIST(FILE *, _fdopen_r, (R, int fd, const char *m), (r, fd, m))
WRAP_LIST(int, _fclose_r, (R, FILE *fp), (r, fp))

WRAP(int, fputc, (int c, FILE *fp), (c, fp), fp)
WRAP(int, putc, (int c, FILE *fp), (c, fp), fp)
WRAP(int, fgetc, (FILE * fp), (fp), fp)
WRAP(int, getc, (FILE * fp), (fp), fp)
WRAP(int, fputs, (const char *s, FILE *fp), (s, fp), fp)
WRAP(char *, fgets, (char *s, int n, FILE *fp), (s, n, fp), fp)
WRAP(size_t, fwrite, (const void *p, size_t s, size_t n, FILE *fp), (p, s, n, fp), fp)
WRAP(size_t, fread, (void *p, size_t s, size_t n, FILE *fp), (p, s, n, fp), fp)
WRAP(int, puts, (const char *s), (s), stdout)
WRAP(int, putchar, (int c), (c), stdout)
WRAP(int, getchar, (void), (), stdin)

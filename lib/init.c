/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Constructors and destructors: replaces the C libraries' own file, which requires _init() and
 * _fini() from start files that a Kymo program does not have.
 */
#include <stddef.h>

typedef void (*kymo_hook)(void);
extern kymo_hook __preinit_array_start[], __preinit_array_end[];
extern kymo_hook __init_array_start[], __init_array_end[];
extern kymo_hook __fini_array_start[], __fini_array_end[];

void __libc_init_array(void);
void __libc_fini_array(void);

void __libc_init_array(void)
{
    for (kymo_hook *hook = __preinit_array_start; hook < __preinit_array_end; hook++) {
        (*hook)();
    }
    for (kymo_hook *hook = __init_array_start; hook < __init_array_end; hook++) {
        (*hook)();
    }
}

void __libc_fini_array(void)
{
    for (kymo_hook *hook = __fini_array_end; hook > __fini_array_start;) {
        (*--hook)();
    }
}

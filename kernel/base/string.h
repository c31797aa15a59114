/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The kernel's memory and string functions, with their standard meanings (the compiler itself
 * generates calls of the first four). Any context, no lock. See kernel/base/string.c.
 */
#ifndef KERNEL_BASE_STRING_H
#define KERNEL_BASE_STRING_H

#include <stddef.h>

void *memcpy(void *restrict dst, const void *restrict src, size_t len);
void *memmove(void *dst, const void *src, size_t len);
void *memset(void *dst, int value, size_t len);
int memcmp(const void *a, const void *b, size_t len);
size_t strlen(const char *s);
int strcmp(const char *a, const char *b);
int strncmp(const char *a, const char *b, size_t len);

#endif

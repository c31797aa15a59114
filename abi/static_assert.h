/* SPDX-License-Identifier: BSD-2-Clause */
/* A static assertion for headers of programs, which may be in C11 or in C++. Anywhere else the
 * language's own is used. Proof: scripts/check-qnx, each header alone, in C++. */
#ifndef ABI_STATIC_ASSERT_H
#define ABI_STATIC_ASSERT_H

#ifdef __cplusplus
#define KYMO_STATIC_ASSERT(...) static_assert(__VA_ARGS__)
#else
#define KYMO_STATIC_ASSERT(...) _Static_assert(__VA_ARGS__)
#endif

#endif

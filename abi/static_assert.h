/* SPDX-License-Identifier: BSD-2-Clause */
/* A static assertion for headers that programs in C11 or in C++17 include: lib/include/, and those
 * that docs/guide/elsewhere.md lists. Source files use _Static_assert. Proof: scripts/check-qnx and
 * test/trace/alone/check, each header alone, in C++. */
#ifndef ABI_STATIC_ASSERT_H
#define ABI_STATIC_ASSERT_H

#ifdef __cplusplus
#define KYMO_STATIC_ASSERT(...) static_assert(__VA_ARGS__)
#else
#define KYMO_STATIC_ASSERT(...) _Static_assert(__VA_ARGS__)
#endif

#endif

/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Include this before abi/kercalls.def: A(...) is then whether the call reads a structure of its
 * caller by copy_in(). A sync_t doesn't count: programs change its memory at any time. May be
 * included more than once.
 */
#undef A
#undef VAL
#undef IN
#undef OUT
#undef INOUT
#undef STR
#undef MSG
#define A(...) READS_ANY(__VA_ARGS__, 0, 0, 0, 0, 0, 0)
#define READS_ANY(a, b, c, d, e, f, ...) ((a) | (b) | (c) | (d) | (e) | (f))
#define VAL(name) 0
#define IN(name, bytes) 1
#define OUT(name, bytes) 0
#define INOUT(name, bytes) READS_##name
#define READS_sync 0
#define READS_mutex 0
#define READS_map 1
#define READS_call 1
#define READS_position 1
#define STR(name) 0
#define MSG(name) 0

/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The raw kernel calls, one for each entry of abi/kercalls.def: kymo_raw_<NAME>() takes machine
 * words and returns the pair (value, errno). Used inside lib/ only; programs call the functions of
 * sys/neutrino.h and sys/kymo.h. lib/arch/<cpu>/machine.h defines them: as stubs in assembler
 * (svc.S, which includes this file, too), or as inline functions.
 */
#ifndef LIB_KERCALL_H
#define LIB_KERCALL_H

/* Number of arguments in A(...); A(NONE) counts as one, which harms nothing. */
#define KYMO_COUNT(...) KYMO_COUNT_PICK(__VA_ARGS__, 6, 5, 4, 3, 2, 1, 0)
#define KYMO_COUNT_PICK(a, b, c, d, e, f, n, ...) n

#ifndef __ASSEMBLER__

#include "lib/machine.h"

#define KYMO_WORDS_1 uintptr_t
#define KYMO_WORDS_2 KYMO_WORDS_1, uintptr_t
#define KYMO_WORDS_3 KYMO_WORDS_2, uintptr_t
#define KYMO_WORDS_4 KYMO_WORDS_3, uintptr_t
#define KYMO_WORDS_5 KYMO_WORDS_4, uintptr_t
#define KYMO_WORDS_6 KYMO_WORDS_5, uintptr_t
#define KYMO_WORDS_CAT(n) KYMO_WORDS_##n
#define KYMO_WORDS(n) KYMO_WORDS_CAT(n)

#define A(...) KYMO_COUNT(__VA_ARGS__)
#define KYMO_DEFINE(NAME, number, n) KYMO_RAW(NAME, number, n)
#define KERCALL(number, NAME, handler, flags, args, ...) KYMO_DEFINE(NAME, number, args)
#include "abi/kercalls.def"
#undef KERCALL
#undef KYMO_DEFINE
#undef A

#endif
#endif

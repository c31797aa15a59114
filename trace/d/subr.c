/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The table of subroutines, by their numbers. Solaris' and FreeBSD's own have no meaning here and
 * are an illegal operation; so is a call with too few arguments. Of a firing. That the table agrees
 * with opcodes.def is proved by test/d_machine/subr_test.c.
 */
#include "trace/d/run.h"
#include "trace/d/subr.h"

const struct d_subr d_subrs[DIF_SUBR_MAX + 1] = {
    [DIF_SUBR_rand] = {d_subr_rand, 0},           [DIF_SUBR_copyin] = {d_subr_copyin, 2},
    [DIF_SUBR_copyinstr] = {d_subr_copyinstr, 1}, [DIF_SUBR_speculation] = {d_subr_speculation, 0},
    [DIF_SUBR_progenyof] = {d_subr_progenyof, 1}, [DIF_SUBR_strlen] = {d_subr_strlen, 1},
    [DIF_SUBR_copyout] = {d_subr_copyout, 3},     [DIF_SUBR_copyoutstr] = {d_subr_copyoutstr, 3},
    [DIF_SUBR_alloca] = {d_subr_alloca, 1},       [DIF_SUBR_bcopy] = {d_subr_bcopy, 3},
    [DIF_SUBR_copyinto] = {d_subr_copyinto, 3},   [DIF_SUBR_strjoin] = {d_subr_strjoin, 2},
    [DIF_SUBR_lltostr] = {d_subr_lltostr, 1},     [DIF_SUBR_basename] = {d_subr_basename, 1},
    [DIF_SUBR_dirname] = {d_subr_dirname, 1},     [DIF_SUBR_cleanpath] = {d_subr_cleanpath, 1},
    [DIF_SUBR_strchr] = {d_subr_strchr, 2},       [DIF_SUBR_strrchr] = {d_subr_strrchr, 2},
    [DIF_SUBR_strstr] = {d_subr_strstr, 2},       [DIF_SUBR_strtok] = {d_subr_strtok, 2},
    [DIF_SUBR_substr] = {d_subr_substr, 2},       [DIF_SUBR_index] = {d_subr_index, 2},
    [DIF_SUBR_rindex] = {d_subr_rindex, 2},       [DIF_SUBR_htons] = {d_subr_swap16, 1},
    [DIF_SUBR_htonl] = {d_subr_swap32, 1},        [DIF_SUBR_htonll] = {d_subr_swap64, 1},
    [DIF_SUBR_ntohs] = {d_subr_swap16, 1},        [DIF_SUBR_ntohl] = {d_subr_swap32, 1},
    [DIF_SUBR_ntohll] = {d_subr_swap64, 1},       [DIF_SUBR_toupper] = {d_subr_toupper, 1},
    [DIF_SUBR_tolower] = {d_subr_tolower, 1},     [DIF_SUBR_memref] = {d_subr_memref, 2},
};

uint64_t d_subr(struct d_context *c, uint32_t number)
{
    struct d_subr s = d_subrs[number];

    if (!s.run) {
        s = d_subr_extra(number);
    }
    return s.run && c->nkeys >= s.least ? s.run(c) : d_illegal(c);
}

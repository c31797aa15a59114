/* SPDX-License-Identifier: BSD-2-Clause */
/* The frames that t_helper.d names. */
#ifndef TEST_BOARD_PROGRAMS_T_HELPER_H
#define TEST_BOARD_PROGRAMS_T_HELPER_H

enum { HELPED_MAGIC = 0x48656c70 };

struct helped {
    unsigned magic;
    const char *name;
    const struct helped *next; /* NULL: none */
};

#endif

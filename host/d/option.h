/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A session's options, inside. Internal to host/d's front end.
 */
#ifndef HOST_D_OPTION_H
#define HOST_D_OPTION_H

#include <stdbool.h>
#include <stdint.h>

enum d_option_name {
#define OPTION(name, kind, when, initial, who) D_O_##name,
#include "host/d/options.def"
    D_O_COUNT,
};

struct d_text_list {
    const char *text;
    struct d_text_list *next;
};

struct d_options {
    uint64_t values[D_O_COUNT];
    const char *texts[D_O_COUNT];         /* of text options, and of lists the last */
    struct d_text_list *lists[D_O_COUNT]; /* in the order given */
};

struct d_session;
void d_options_start(struct d_session *);

#endif

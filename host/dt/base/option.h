/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A session's options, inside. Internal to host/dt.
 */
#ifndef HOST_DT_BASE_OPTION_H
#define HOST_DT_BASE_OPTION_H

#include "host/dt/base/option_value.h"

enum dt_option_name {
#define OPTION(name, kind, when, initial, who) DT_O_##name,
#include "host/dt/options.def"
    DT_O_COUNT,
};

struct dt_text_list {
    const char *text;
    struct dt_text_list *next;
};

struct dt_options {
    uint64_t values[DT_O_COUNT];
    const char *texts[DT_O_COUNT];          /* of text options, and of lists the last */
    struct dt_text_list *lists[DT_O_COUNT]; /* in the order given */
};

struct dt_session;
void dt_options_start(struct dt_session *);

#endif

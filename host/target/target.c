/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Which target a name means. A new kind of target is a row.
 */
#include "host/target/target.h"

#include "host/nearest.h"
#include "host/remote/target.h"
#include "host/remote/wire.h"
#include "host/self/target.h"
#include "host/target/offline.h"

#include <stdio.h>
#include <string.h>

static struct target *open_self(const char *spec, const char **why)
{
    (void)spec;
    *why = "Not enough space";
    return self_target_open();
}

static struct target *open_loop(const char *spec, const char **why)
{
    struct wire *wire = wire_loop(why);

    (void)spec;
    return wire ? remote_target_open(wire, true, why) : NULL;
}

static struct target *open_link(const char *spec, const char **why)
{
    struct wire *wire = wire_link(spec, why);

    return wire ? remote_target_open(wire, false, why) : NULL;
}

static struct target *open_boot(const char *spec, const char **why)
{
    const char *colon = strchr(spec, ':');
    struct wire *wire = wire_boot(colon ? colon + 1 : NULL, why);

    return wire ? remote_target_open(wire, false, why) : NULL;
}

static struct target *target_open_elf(const char *spec, const char **why)
{
    return offline_target_open(spec + strlen("elf:"), why);
}

struct target *target_open(const char *spec, const char **why)
{
    static const struct {
        const char *spec;
        bool prefix;
        struct target *(*open)(const char *spec, const char **why);
    } rows[] = {
        {"self", false, open_self}, {"boot", false, open_boot},      {"boot:", true, open_boot},
        {"loop", false, open_loop}, {"elf:", true, target_open_elf}, {"unix:", true, open_link},
        {"tcp:", true, open_link},  {"/dev/", true, open_link},

    };

    for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
        size_t n = strlen(rows[i].spec);
        if (rows[i].prefix ? strncmp(spec, rows[i].spec, n) == 0
                           : strcmp(spec, rows[i].spec) == 0) {
            return rows[i].open(spec, why);
        }
    }
    static char text[200];
    struct nearest nearest = {.word = spec};
    nearest_offer(&nearest, "boot");
    nearest_offer(&nearest, "self");
    snprintf(text, sizeof(text),
             "no such target; there are: unix:PATH, tcp:HOST:PORT, /dev/tty...[@BAUD], "
             "boot[:BOARD[,icount][,image=IMAGE]], elf:PATH, self%s",
             nearest_hint(&nearest));
    *why = text;
    return NULL;
}

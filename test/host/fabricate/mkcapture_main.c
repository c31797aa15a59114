/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * mkcapture FILE CPUS EVENTS SEED [swapped|foreign|old|lossy|refused|build=N|full-id|date=TEXT|
 * boot=TEXT|wall=TEXT...]: writes a fabricated capture, the same bytes for the same arguments; old:
 * of format 1.01; refused: lossy, and a medium refused buffers; N (1-255): the last byte of the
 * build id; full-id: the build id has 20 bytes, as those of linkers, not 3; TEXT: the attributes
 * DATE, BOOT_DATE, WALL_CLOCK. The first event is at 4294.96 s of the trace clock.
 *
 * mkcapture simulate [--seed N] [--cpus N] [--steps N] [--loss] [--filter] [--fast] OUT.kev: writes
 * the capture of a simulated system (simulate.h) and prints the truth about it (truth.h).
 *
 * mkcapture hostile NAME N OUT.kev: writes a capture of mkhostile.c with N of what its name says.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "test/host/fabricate/simulate.h"

static bool given(int argc, char **argv, const char *kind)
{
    bool is = false;

    for (int i = 5; i < argc; i++) {
        is |= strcmp(argv[i], kind) == 0;
    }
    return is;
}

/* The TEXT of "KEY=TEXT"; `otherwise` if there is no such argument. */
static const char *text_given(int argc, char **argv, const char *key, const char *otherwise)
{
    size_t n = strlen(key);

    for (int i = 5; i < argc; i++) {
        if (strncmp(argv[i], key, n) == 0 && argv[i][n] == '=') {
            return argv[i] + n + 1;
        }
    }
    return otherwise;
}

static const char *build_given(int argc, char **argv)
{
    static char id[] = "12345678901234567\x12\x34\xab";
    enum { SHORT = sizeof("12345678901234567") - 1 };

    for (int i = 5; i < argc; i++) {
        if (strncmp(argv[i], "build=", 6) == 0) {
            id[SHORT + 2] = (char)atoi(argv[i] + 6);
        }
    }
    return given(argc, argv, "full-id") ? id : id + SHORT;
}

/* The number after option argv[*at]; 0: there is none. */
static uint64_t number_given(int argc, char **argv, int *at)
{
    return *at + 1 < argc ? strtoull(argv[++*at], NULL, 0) : 0;
}

static int simulate(int argc, char **argv)
{
    struct sim_options options = {.seed = 1, .cpus = 2, .steps = 1000};
    struct truth truth;
    const char *path = NULL;
    struct mk *mk;

    for (int i = 2; i < argc; i++) {
        if (strcmp(argv[i], "--seed") == 0) {
            options.seed = number_given(argc, argv, &i);
        } else if (strcmp(argv[i], "--cpus") == 0) {
            options.cpus = (unsigned)number_given(argc, argv, &i);
        } else if (strcmp(argv[i], "--steps") == 0) {
            options.steps = (unsigned)number_given(argc, argv, &i);
        } else {
            options.losses |= strcmp(argv[i], "--loss") == 0;
            options.filters |= strcmp(argv[i], "--filter") == 0;
            options.fast |= strcmp(argv[i], "--fast") == 0;
            path = argv[i][0] == '-' ? path : argv[i];
        }
    }
    mk = path == NULL ? NULL : sim_run(&options, &truth);
    if (mk == NULL) {
        fputs("Usage: mkcapture simulate [--seed N] [--cpus 1..8] [--steps N] [--loss] [--filter] "
              "[--fast] OUT.kev\n",
              stderr);
        return 2;
    }
    truth_print(&truth, stdout);
    if (mk_save(mk, path) != 0) {
        perror(path);
        return 1;
    }
    truth_free(&truth);
    mk_free(mk);
    return 0;
}

static int hostile(int argc, char **argv)
{
    struct mk *mk =
        argc != 5 ? NULL : mk_hostile_make(argv[2], (uint32_t)strtoul(argv[3], NULL, 0));

    if (mk == NULL) {
        fputs("Usage: mkcapture hostile NAME N OUT.kev; NAME is", stderr);
        for (const struct mk_hostile *kind = mk_hostiles; kind->name != NULL; kind++) {
            fprintf(stderr, " %s", kind->name);
        }
        fputs("\n", stderr);
        return 2;
    }
    if (mk_save(mk, argv[4]) != 0) {
        perror(argv[4]);
        return 1;
    }
    mk_free(mk);
    return 0;
}

int main(int argc, char **argv)
{
    struct mk_options options = {.start = 0xfffff000u};
    struct mk *mk;

    if (argc > 1 && strcmp(argv[1], "simulate") == 0) {
        return simulate(argc, argv);
    }
    if (argc > 1 && strcmp(argv[1], "hostile") == 0) {
        return hostile(argc, argv);
    }
    if (argc < 5) {
        fputs("Usage: mkcapture FILE CPUS EVENTS SEED "
              "[swapped|foreign|old|lossy|refused|build=N|full-id|date=TEXT|boot=TEXT|"
              "wall=TEXT...]\n",
              stderr);
        return 2;
    }
    options.ncpu = (unsigned)atoi(argv[2]);
    options.seed = strtoull(argv[4], NULL, 0);
    options.swapped = given(argc, argv, "swapped");
    options.refused = given(argc, argv, "refused");
    options.lossy = options.refused || given(argc, argv, "lossy");
    options.foreign = given(argc, argv, "foreign");
    options.checked = !options.foreign && !given(argc, argv, "old");
    options.date =
        text_given(argc, argv, "date", options.checked ? "Fri Jan  2 03:04:05 2026" : NULL);
    options.boot = text_given(argc, argv, "boot", NULL);
    options.wall = text_given(argc, argv, "wall", NULL);
    if (options.ncpu == 0 || options.ncpu > MK_CPUS) {
        return 2;
    }
    options.build_id = build_given(argc, argv);
    options.high_water = options.lossy ? 100 : 0;
    mk = mk_new(&options);
    mk_workload(mk, (unsigned)strtoul(argv[3], NULL, 0));
    mk_end(mk);
    if (mk_save(mk, argv[1]) != 0) {
        perror(argv[1]);
        return 1;
    }
    mk_free(mk);
    return 0;
}

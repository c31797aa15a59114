/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * mkcapture FILE CPUS EVENTS SEED [swapped|foreign|old|lossy|refused|build=N|full-id|date=TEXT|
 * boot=TEXT|wall=TEXT...]: writes a fabricated capture, the same bytes for the same arguments; old:
 * of format 1.01; refused: lossy, and a medium refused buffers; N (1-255): the last byte of the
 * build id; full-id: the build id has 20 bytes, as those of linkers, not 3; TEXT: the attributes
 * DATE, BOOT_DATE, WALL_CLOCK. The first event is at 4294.96 s of the trace clock.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "test/host/fabricate/mkcapture.h"

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

int main(int argc, char **argv)
{
    struct mk_options options = {.start = 0xfffff000u};
    struct mk *mk;

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

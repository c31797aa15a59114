/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * kymo run: builds an image, boots it in QEMU, and gives the guest's exit status.
 */
#include <errno.h>
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "host/link/spec.h"
#include "host/run/run.h"

static const char run_help[] =
    "Usage: kymo run [options] [-- QEMU arguments]\n"
    "\n"
    "Builds an image and boots it in QEMU, its console on this terminal. ^] ends it,\n"
    "^C goes to the board. A program of the start script that fails gives status 1.\n"
    "The exit status is the guest's; 124 if the time was up.\n"
    "\n"
    "  --board BOARD    virt-a64 (default), mps2-an386, or any other folder of boards/\n"
    "  --image IMAGE    demo (default), hello, shell, live (with a link), work (what\n"
    "                   kymo dtrace boots), crash, or one of your own\n"
    "  --smp N          number of CPUs, where the board has several\n"
    "  --capture FILE   where the guest's trace.kev goes; else build/BOARD/trace.kev,\n"
    "                   or of an installed kymo ./trace.kev\n"
    "  --force          replace FILE if it exists, once the run has made a capture\n"
    "  --link TARGET    put the board's link at unix:PATH or tcp:HOST:PORT, where\n"
    "                   kymo console, dtrace, capture find it\n"
    "  --disk FILE      the board's disk, a plain image: where `tracelogger -f block:`\n"
    "                   writes, and `kymo extract` reads\n"
    "  --timeout S      end QEMU after S seconds, 0: never (the default)\n"
    "  --icount         count instructions as time: the same run every time\n"
    "  --gdb            wait for a debugger on localhost:1234\n"
    "  --no-build       boot the existing image, do not run make\n"
    "  -h, --help       print this text\n";

enum {
    OPT_BOARD = 256,
    OPT_IMAGE,
    OPT_SMP,
    OPT_CAPTURE,
    OPT_FORCE,
    OPT_LINK,
    OPT_DISK,
    OPT_TIMEOUT,
    OPT_ICOUNT,
    OPT_GDB,
    OPT_NO_BUILD
};

static const struct option run_options[] = {
    {"board", required_argument, NULL, OPT_BOARD},
    {"image", required_argument, NULL, OPT_IMAGE},
    {"smp", required_argument, NULL, OPT_SMP},
    {"capture", required_argument, NULL, OPT_CAPTURE},
    {"force", no_argument, NULL, OPT_FORCE},
    {"link", required_argument, NULL, OPT_LINK},
    {"disk", required_argument, NULL, OPT_DISK},
    {"timeout", required_argument, NULL, OPT_TIMEOUT},
    {"icount", no_argument, NULL, OPT_ICOUNT},
    {"gdb", no_argument, NULL, OPT_GDB},
    {"no-build", no_argument, NULL, OPT_NO_BUILD},
    {"help", no_argument, NULL, 'h'},
    {NULL, 0, NULL, 0},
};

static bool number_ok(const char *text, unsigned long most, unsigned long *value)
{
    char *end;

    errno = 0;
    *value = strtoul(text, &end, 10);
    return errno == 0 && end != text && *end == '\0' && text[0] != '-' && *value <= most;
}

static int value_use(struct run *run, int option)
{
    unsigned long value;

    switch (option) {
    case OPT_BOARD:
        run->board = optarg;
        return run_name_ok(optarg) ? 0 : kymo_usage("run", "run: --board %s: not a board", optarg);
    case OPT_IMAGE:
        run->image = optarg;
        return run_name_ok(optarg) || strchr(optarg, '/')
                   ? 0
                   : kymo_usage("run", "run: --image %s: not an image", optarg);
    case OPT_SMP:
        run->smp = optarg;
        return number_ok(optarg, KEV_CPUS, &value) && value > 0
                   ? 0
                   : kymo_usage("run", "run: --smp %s: not a number of CPUs", optarg);
    case OPT_LINK:
        run->link = optarg;
        return spec_is_good(optarg) && optarg[0] != '/'
                   ? 0
                   : kymo_usage("run", "run: --link %s: not unix:PATH or tcp:HOST:PORT", optarg);
    case OPT_DISK:
        run->disk = optarg;
        return 0;
    case OPT_TIMEOUT:
        if (!number_ok(optarg, 1000000, &value)) {
            return kymo_usage("run", "run: --timeout %s: not a number of seconds", optarg);
        }
        run->timeout = (unsigned)value;
        return 0;
    default:
        run->capture = optarg;
        return *optarg && strcmp(optarg, "-") != 0
                   ? 0
                   : kymo_usage("run",
                                "run: --capture %s: not a file; the console is on "
                                "standard output",
                                optarg);
    }
}

static int run_option_use(struct run *run, int option, int argc, char **argv)
{
    switch (option) {
    case OPT_FORCE:
        run->force = true;
        return 0;
    case OPT_ICOUNT:
        run->icount = true;
        return 0;
    case OPT_GDB:
        run->gdb = true;
        return 0;
    case OPT_NO_BUILD:
        run->no_build = true;
        return 0;
    case '?':
    case ':':
        return kymo_bad_option("run", run_options, argc, argv, option);
    default:
        return value_use(run, option);
    }
}

/* Returns the exit status, -1 to continue. */
static int run_options_parse(struct run *run, int argc, char **argv)
{
    int option;

    opterr = 0;
    while ((option = getopt_long(argc, argv, "+:h", run_options, NULL)) != -1) {
        int status;

        if (option == 'h') {
            return kymo_help(&kymo_run_command);
        }
        status = run_option_use(run, option, argc, argv);
        if (status != 0) {
            return status;
        }
    }
    if (optind < argc && strcmp(argv[optind - 1], "--") != 0) {
        return kymo_usage("run", "run: unknown argument %s: QEMU's own arguments follow --",
                          argv[optind]);
    }
    run->extra = argv + optind;
    run->nextra = argc - optind;
    return -1;
}

static int run_boot_board(struct run *run)
{
    int status;

    if (run_args(run) != 0 || run_place(run) != 0) {
        return KYMO_FAILURE;
    }
    if (run->gdb) {
        kymo_error("waiting for a debugger: gdb-multiarch -ex 'target remote :1234' %s", run->elf);
    }
    status = run_child(run);
    return run_place_finish(run) != 0 && status == 0 ? KYMO_FAILURE : status;
}

static int run_main(int argc, char **argv)
{
    static struct run run = {.board = "virt-a64", .image = "demo"};
    int status = run_options_parse(&run, argc, argv);

    if (status >= 0) {
        return status;
    }
    status = KYMO_FAILURE;
    if (run_find_home(&run) == 0 && run_place_capture(&run) == 0 && run_build(&run) == 0) {
        status = run_boot_board(&run);
    }
    run_place_remove(&run);
    run_release(&run);
    run_args_free(&run);
    return status;
}

const struct kymo_command kymo_run_command = {
    .name = "run",
    .summary = "build an image and boot it in QEMU",
    .run = run_main,
    .help = run_help,
};
